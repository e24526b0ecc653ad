// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
// Two engines and a wire that does what a trace tells.
#pragma once

#include <deque>
#include <string>
#include <vector>

#include "trace.h"

extern "C" {
#include "pair_fixture.h"
#include "peek.h"
}

namespace replay
{

struct result {
	std::string failure; // empty: all is well
	std::string diverged; // empty: each packet was the one of the model
	int complete = 0; // messages
	int error = 0; // as of the model
};

// The engines, which serve one connection after the other.
class engines {
public:
	engines() = default;
	~engines();
	engines(const engines &) = delete;
	engines &operator=(const engines &) = delete;

	[[nodiscard]] bool make();
	// Pieces of memory that were written beside.
	u32 destroy();

	ornic_th_pair pair = {};
	ornic_th_cq cq[4] = {}; // a send, a recv, b send, b recv
	ornic_th_mr am = {}, bm = {};
};

class connection {
public:
	connection(engines &e, const trace &t)
		: e_(e)
		, t_(t)
	{
	}
	~connection();
	connection(const connection &) = delete;
	connection &operator=(const connection &) = delete;

	result run();

private:
	using bytes = std::vector<u8>;
	struct packet {
		bytes frame;
		int type; // -1: a request
		int index;
	};
	// What is on its way in one direction, and what is late.
	struct direction {
		std::deque<packet> queue;
		std::deque<packet> late;
	};

	bool make();
	void fill();
	void post();
	void post_send(u32 i);
	void post_recv(int n);
	void replay(const event &e);
	void move_packet(const event &e, bool request);
	void timer(char what);
	void finish();
	bool finish_step();
	void deliver(packet p, bool request);
	void expire(u64 when);
	void settle();
	void collect(ornic_th *from);
	packet describe(const ornic_th_frame *f) const;
	bool is_quiet() const;
	void poll();
	void complete(const ornic_cqe &cqe);
	void check_window();
	void check_end();
	void check_memory(int executed);
	void check_received(int executed);
	void check_written(int executed);
	bool may_fail() const;
	int first_of(u32 message) const;
	void diverge(const std::string &how)
	{
		if (out_.diverged.empty())
			out_.diverged = how;
	}
	void fail(const std::string &why)
	{
		if (out_.failure.empty())
			out_.failure = why;
	}

	engines &e_;
	const trace &t_;
	ornic_th_qp a_ = {}, b_ = {};
	direction fwd_, rev_;
	result out_;
	int posted_ = 0; // receives
	int received_ = 0;
	int flushed_ = 0;
	bool cut_ = false;
};

} // namespace replay
