// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * ornic_events DEVICE GID-INDEX CQS ROUNDS: so many CQs of one completion vector,
 * each with a UD QP. In each round all CQs are armed, each QP completes one send,
 * and each CQ must get its event, more at a time than an event queue holds.
 */
#include <poll.h>

#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "../verify/verbs.h"

namespace
{

struct source {
	cq_ptr cq;
	qp_ptr qp;
	bool fired;
};

void ready(const port &on, ibv_qp *qp)
{
	ibv_qp_attr attr = {};

	attr.qp_state = IBV_QPS_INIT;
	attr.port_num = 1;
	attr.qkey = ud_qkey;
	check(!ibv_modify_qp(qp, &attr,
			     IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT |
				     IBV_QP_QKEY),
	      on.name + ": INIT");
	attr.qp_state = IBV_QPS_RTR;
	check(!ibv_modify_qp(qp, &attr, IBV_QP_STATE), "RTR");
	attr.qp_state = IBV_QPS_RTS;
	check(!ibv_modify_qp(qp, &attr, IBV_QP_STATE | IBV_QP_SQ_PSN), "RTS");
}

source make(const port &on, ibv_comp_channel *channel, size_t number)
{
	source s = {};
	ibv_qp_init_attr init = {};

	s.cq.reset(ibv_create_cq(on.context.get(), 8,
				 reinterpret_cast<void *>(number), channel, 0));
	check(s.cq != nullptr, "create_cq");
	init.send_cq = init.recv_cq = s.cq.get();
	init.qp_type = IBV_QPT_UD;
	init.cap.max_send_wr = 4;
	init.cap.max_send_sge = 1;
	init.cap.max_inline_data = 16;
	s.qp.reset(ibv_create_qp(on.pd.get(), &init));
	check(s.qp != nullptr, "create_qp");
	ready(on, s.qp.get());
	return s;
}

void post(const source &s, ibv_ah *ah)
{
	static char text[] = "event";
	ibv_sge sge = { reinterpret_cast<uint64_t>(text), sizeof(text), 0 };
	ibv_send_wr wr = {}, *bad;

	wr.sg_list = &sge;
	wr.num_sge = 1;
	wr.opcode = IBV_WR_SEND;
	wr.send_flags = IBV_SEND_SIGNALED | IBV_SEND_INLINE;
	wr.wr.ud.ah = ah;
	wr.wr.ud.remote_qpn = s.qp->qp_num;
	wr.wr.ud.remote_qkey = ud_qkey;
	check(!ibv_post_send(s.qp.get(), &wr, &bad), "post_send");
}

void take_event(ibv_comp_channel *channel, std::vector<source> &all)
{
	void *number;
	ibv_cq *cq;
	ibv_wc wc;

	check(!ibv_get_cq_event(channel, &cq, &number), "get_cq_event");
	ibv_ack_cq_events(cq, 1);
	source &s = all[reinterpret_cast<size_t>(number)];
	check(!s.fired, "a second event of a CQ");
	s.fired = true;
	check(endpoint::wait_for(cq, timeout_ms(), wc), "no completion");
	check_wc(wc, IBV_WC_SUCCESS, "send");
}

void one_round(ibv_comp_channel *channel, std::vector<source> &all, ibv_ah *ah)
{
	pollfd fd = { channel->fd, POLLIN, 0 };

	for (source &s : all) {
		s.fired = false;
		check(!ibv_req_notify_cq(s.cq.get(), 0), "req_notify_cq");
	}
	for (const source &s : all)
		post(s, ah);
	for (size_t events = 0; events < all.size(); events++) {
		check(poll(&fd, 1, timeout_ms()) == 1,
		      std::to_string(all.size() - events) + " of " +
			      std::to_string(all.size()) + " events are lost");
		take_event(channel, all);
	}
}

void run(const char *device, int gid, size_t cqs, int rounds)
{
	port on(device, gid, "ornic");
	const channel_ptr channel(ibv_create_comp_channel(on.context.get()));
	ibv_ah_attr attr = path_to(on.gid, gid);
	std::vector<source> all;

	check(channel != nullptr, "create_comp_channel");
	const ah_ptr ah(ibv_create_ah(on.pd.get(), &attr));
	check(ah != nullptr, "create_ah");
	for (size_t i = 0; i < cqs; i++)
		all.push_back(make(on, channel.get(), i));
	for (int round = 0; round < rounds; round++)
		one_round(channel.get(), all, ah.get());
	std::printf("%d rounds of %zu events\n", rounds, cqs);
	while (!all.empty()) {
		all.back().qp.reset();
		all.pop_back();
	}
}

} /* namespace */

int main(int argc, char **argv)
{
	if (argc != 5) {
		std::fprintf(stderr,
			     "usage: ornic_events DEVICE GID CQS ROUNDS\n");
		return 2;
	}
	try {
		run(argv[1], std::atoi(argv[2]),
		    static_cast<size_t>(std::atoi(argv[3])),
		    std::atoi(argv[4]));
	} catch (const failure &what) {
		std::printf("%s\n", what.what());
		return 1;
	}
	return 0;
}
