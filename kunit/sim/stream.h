// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
// One direction of a QP pair: what is sent, what must arrive, and the memory
// of both ends as it must be, byte for byte.
#pragma once

#include <string>
#include <vector>

#include "wire.h"

namespace sim
{

// What the scenario allows to happen to messages.
struct rules {
	bool all_arrive; // even UC and UD
	bool in_order; // even UC and UD
	bool once; // even UC and UD
	bool may_die; // connections may end with exhausted retries
	bool refuses; // the responder refuses a message
	bool paged; // pages come on demand
	u32 longest; // bytes of a message
};

// An MR and its image: what the memory must hold.
class region {
public:
	~region();
	int make(ornic_th *th, u32 bytes, random &rng, u32 align, bool paged);

	[[nodiscard]] u32 key() const
	{
		return mr_.key;
	}
	[[nodiscard]] u64 va(u32 off) const
	{
		return mr_.iova + off;
	}
	[[nodiscard]] u32 size() const
	{
		return mr_.length;
	}
	// Write to the memory and the image, or to the image alone.
	void put(u32 off, const u8 *data, u32 len);
	void expect(u32 off, const u8 *data, u32 len);
	void read(u32 off, u8 *data, u32 len) const;
	// What the image has there.
	void image(u32 off, u8 *data, u32 len) const;
	// First offset where memory and image differ, -1 if none.
	[[nodiscard]] s64 check() const;
	int destroy();

private:
	ornic_th_mr mr_ = {};
	bool made_ = false;
	std::vector<u8> image_;
};

struct piece {
	u32 off;
	u32 len;
};

// What a READ reads.
enum class area : u8 {
	constant, // never written
	written, // what WRITEs write
	word, // what atomics change
	live, // what the receiver changes all the time
};

struct message {
	u32 id;
	u8 opcode;
	u8 flags;
	u32 length;
	bool signalled;
	bool takes_recv;
	std::vector<piece> local;
	u32 remote; // offset in the peer's area
	area where;
	u32 key; // a window: to be used, bound or invalidated; 0: none
	u64 swap_add;
	u64 compare;
	u64 orig; // what an atomic must find
	std::vector<u8> data; // sent, or to be read
};

class stream {
public:
	stream(random &rng, const rules &r, u32 index);

	// Connects @from (sender) to @to (receiver); both are made already. @to
	// takes its receives from @srq if it is not null.
	int setup(ornic_th_qp *from, ornic_th_qp *to, ornic_th_srq *srq,
		  u32 mtu, u32 ah);
	// Post a few sends or receives. True when there are more to come.
	bool post_sends();
	bool post_recvs();
	void on_send(const ornic_cqe &cqe);
	void on_recv(const ornic_cqe &cqe);
	// All completions that must come have come.
	[[nodiscard]] bool done() const;
	// After the end: is everything where it must be?
	void check_end();
	void destroy();

	[[nodiscard]] const std::string &failure() const
	{
		return failure_;
	}
	[[nodiscard]] std::string progress() const;
	[[nodiscard]] u32 send_qpn() const
	{
		return from_->qpn;
	}
	[[nodiscard]] u32 recv_qpn() const
	{
		return to_->qpn;
	}
	[[nodiscard]] ornic_th *recv_th() const
	{
		return to_->th;
	}
	[[nodiscard]] ornic_th *send_th() const
	{
		return from_->th;
	}
	[[nodiscard]] u64 messages() const
	{
		return next_send_;
	}
	// Of the messages posted; frames both ways, each message acknowledged alone.
	[[nodiscard]] u64 bytes() const;
	[[nodiscard]] u64 frames() const;
	[[nodiscard]] ornic_th_qp *sender() const
	{
		return from_;
	}
	// The receiver's program writes to the memory that is live.
	void change_live();
	// The receiver has another peer: the first message gets no response.
	void expect_no_response();
	// The receiver is gone: nothing succeeds any more.
	void orphan()
	{
		orphaned_ = true;
	}
	void post_all_recvs_first()
	{
		early_ = true;
	}

private:
	bool reliable() const
	{
		return from_->type == ORNIC_QPT_RC ||
		       from_->type == ORNIC_QPT_XRC_INI;
	}
	int make_windows();
	int bind_for_peer();
	void plan(u32 mtu, u32 n);
	void plan_flags(message &m, bool last);
	void plan_remote(message &m);
	void plan_key(message &m);
	void plan_window(message &m);
	void plan_refusal();
	bool overtakes(const message &m) const;
	u8 pick_opcode();
	u32 pick_length(u32 mtu, u8 opcode);
	std::vector<piece> place(u32 len, u32 &top);
	void model_atomic(message &m);
	void model_atomic_write(message &m);
	void fill_message(message &m) const;
	void fill_memory();
	void fill_messages(const std::vector<u8> &noise);
	u64 remote_address(const message &m) const;
	void on_failed_send(const ornic_cqe &cqe);
	void check_unreliable();
	void check_recv_bytes(const message &m, u32 slot);
	void check_way(const ornic_cqe &cqe, const message &m, u32 slot);
	void check_fetched(const message &m);
	const message *identify(const ornic_cqe &cqe, u32 slot);
	void fail(const char *fmt, ...) __attribute__((format(printf, 2, 3)));

	random &rng_;
	rules rules_;
	u32 index_;
	bool early_ = false;
	u32 mtu_ = 0;
	ornic_th_qp *from_ = nullptr;
	ornic_th_qp *to_ = nullptr;
	ornic_th_srq *srq_ = nullptr;
	u32 ah_ = 0;
	region src_, dst_, rcv_;
	u32 read_off_ = 0, read_len_ = 0, word_off_ = 0, write_off_ = 0;
	u32 live_off_ = 0;
	u64 live_ = 0;
	u32 write_bytes_ = 0; // of the area that WRITEs write
	u32 slot_bytes_ = 0;
	// Windows: of the sender, bound and invalidated again and again; of the
	// receiver, used by WRITEs and READs until a SEND invalidates them.
	u32 own_window_ = 0;
	bool own_bound_ = false;
	u32 windows_[2] = {};
	u32 next_window_ = 0;
	u32 base_ = 0; // index of the first WQE
	bool dead_ = false; // a message has failed
	bool orphaned_ = false;
	s64 refused_ = -1; // the message that fails, with this status:
	u8 refusal_ = 0;
	u32 nrecvs_ = 0;
	u64 word_ = 0;
	std::vector<message> msgs_;
	std::vector<u32> recv_order_; // messages that take a receive
	std::vector<u32> send_order_; // messages that are signalled
	std::vector<u8> arrived_;
	std::vector<std::vector<piece>> slots_;
	u32 next_send_ = 0, next_recv_ = 0;
	u32 send_cqes_ = 0, recv_cqes_ = 0;
	u32 done_ = 0; // messages up to the last completion
	s64 last_id_ = -1;
	std::string failure_;
};

} // namespace sim
