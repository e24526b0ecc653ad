// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
// What is measured, and on what: two QPs of one device or of two with a perfect
// wire between them, and the work that they do. microbench.cc takes the time of
// it, count.cc the instructions.
#pragma once

#include <deque>
#include <functional>
#include <string>
#include <utility>
#include <vector>

extern "C" {
#include "engine/dev.h"
#include "harness.h"
}

namespace bench
{

constexpr u32 mr_bytes = 1 << 20;

enum class link { LOOP, WIRE };

// Which call into the engine is looked at: that of the kick, with all that a
// message costs on one device, that of a request that arrives, that of an
// answer, or the looks of a poll thread until it has found a message.
enum class part { KICK, REQUEST, RESPONSE, POLL };

// @list messages of @bytes, posted at once. @idle more QPs do nothing. @odp: both ends
// have their memory on demand, and all of its pages are there.
struct work {
	const char *name;
	link where;
	u8 opcode;
	u32 bytes;
	u32 list;
	part what;
	u32 idle = 0;
	bool odp = false;
};

// Runs the part that is looked at. What the engine's host does meanwhile is put
// between pause and resume.
class meter {
public:
	virtual ~meter() = default;
	virtual void run(const std::function<void()> &part) = 0;
	virtual void pause()
	{
	}
	virtual void resume()
	{
	}
};

// Nothing is looked at.
class no_meter final : public meter {
public:
	void run(const std::function<void()> &part) override
	{
		part();
	}
};

class qp_pair {
public:
	explicit qp_pair(const work &w);
	~qp_pair();
	qp_pair(const qp_pair &) = delete;
	qp_pair &operator=(const qp_pair &) = delete;

	// Posts the list, and lets both ends work until it is complete. Returns
	// what the part is counted in: messages or packets.
	u64 round(meter &m);

private:
	// An end: its QP with the CQs and the memory of it.
	struct end {
		ornic_th_cq scq = {}, rcq = {};
		ornic_th_qp qp = {};
		ornic_th_mr mr = {};
	};

	static int tx_frame(void *host, ornic_tx *tx);
	static int xmit(void *host, const ornic_tx *tx);
	void replace_host(ornic_th *th, ornic_engine_ops &ops);
	void open(ornic_th *th, end &e);
	void add_memory(ornic_th *th, ornic_th_mr &mr) const;
	void look_at(meter &m, const std::function<void()> &part);
	void add_idle();
	void post_list();
	void kick();
	u64 deliver(ornic_th *from, ornic_th *to, meter &m);
	u64 settle(meter &m);
	void drain(ornic_th_cq &cq, u32 expected);

	const work work_;
	ornic_th_pair pair_ = {};
	end a_, b_;
	// Neither moves: the harness has pointers to them.
	ornic_th_cq idle_cq_ = {};
	std::deque<ornic_th_qp> idle_;
	std::vector<ornic_th_frame *> frames_;
	no_meter none_;
	ornic_engine_ops a_ops_, b_ops_;
};

// How the pages of an MR lie: in one run, none beside the next one, or on demand, all
// there.
enum class layout { RUN, SCATTERED, ODP };

constexpr std::pair<layout, const char *> translations[] = {
	{ layout::RUN, "translate/one run" },
	{ layout::SCATTERED, "translate/scattered" },
	{ layout::ODP, "translate/odp" },
};

// An MR of @pages pages, and how long it takes to find them.
class translation {
public:
	translation(u32 pages, layout where);
	~translation();
	translation(const translation &) = delete;
	translation &operator=(const translation &) = delete;

	// Returns the pieces.
	u32 run();

private:
	ornic_th *rig_;
	ornic_th_mr mr_ = {};
	std::vector<ornic_frag> frags_;
};

// The ICRC of a packet with @bytes after its BTH.
class checksum {
public:
	explicit checksum(u32 bytes);

	u32 run() const;

private:
	u8 header_[28] = { 0x45 };
	u8 bth_[12] = {};
	std::vector<u8> payload_;
};

// @count flow rules of one mask, and how long it takes to find what gets a frame.
class flow_rules {
public:
	explicit flow_rules(u32 count);
	~flow_rules();
	flow_rules(const flow_rules &) = delete;
	flow_rules &operator=(const flow_rules &) = delete;

	// Looks up @frames frames, of whose ports all have a rule.
	void run();

	static constexpr u32 frames = 512;

private:
	const u32 count_;
	ornic_th *rig_;
	ornic_th_cq cq_ = {};
	ornic_th_qp qp_ = {};
	u8 frame_[100] = {};
};

// All that is measured of the protocol.
extern const std::vector<work> works;

[[noreturn]] void die(const std::string &why);

} // namespace bench
