// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Asynchronous events of QPs, each with what raises it. Those of SRQs are in
 * srq.cc, of CQs in cq.cc, SQ_DRAINED is in order.cc.
 */

#include "tests.h"

namespace
{

class events : public verify {};

constexpr size_t place = 4096;

/* IBTA 10.3.1.3: the first message that comes in RTR. */
TEST_F(events, event_comm_est)
{
	need_ornic_server(on);
	for (ibv_qp_type type : { IBV_QPT_RC, IBV_QPT_UC }) {
		options o;

		o.type = type;
		endpoint client(on.client, o), server(on.server, o);
		client.to_init();
		server.to_init();
		server.post_recv(0, place, 100);
		server.post_recv(1, place, 100);
		server.to_rtr(client);
		client.to_rtr(server);
		client.to_rts();
		expect_no_event(on.server);
		for (uint64_t id = 0; id < 2; id++) {
			client.post(request(IBV_WR_SEND, id),
				    { client.sge(0, 100) });
			(void)client.sent(id);
			(void)server.received(id);
		}
		expect_event(on.server, IBV_EVENT_COMM_EST, server.qp.get());
		expect_no_event(on.server);
		server.to_rts();
	}
}

/* IBTA 9.9.3, class C: the key does not allow it. */
TEST_F(events, event_access_err)
{
	need_ornic_server(on);
	pair p(on.client, on.server);
	ibv_send_wr wr = rdma(IBV_WR_RDMA_WRITE, 1, p.server, place);

	wr.wr.rdma.rkey ^= 0x5500;
	p.client.post(wr, { p.client.sge(0, 100) });
	check_wc(p.client.wait_send(), IBV_WC_REM_ACCESS_ERR, "write");
	expect_event(on.server, IBV_EVENT_QP_ACCESS_ERR, p.server.qp.get());
	p.server.wait_state(IBV_QPS_ERR);
	expect_no_event(on.server);
	if (!on.client.is_rxe)
		expect_no_event(on.client);
}

/* IBTA 9.9.3, class B: the QP does not allow it. */
TEST_F(events, event_req_err)
{
	need_ornic_server(on);
	options o;
	o.qp_access = IBV_ACCESS_LOCAL_WRITE;
	pair p(on.client, on.server, o);

	p.client.post(rdma(IBV_WR_RDMA_WRITE, 1, p.server, place),
		      { p.client.sge(0, 100) });
	check_wc(p.client.wait_send(), IBV_WC_REM_INV_REQ_ERR, "write");
	expect_event(on.server, IBV_EVENT_QP_REQ_ERR, p.server.qp.get());
	p.server.wait_state(IBV_QPS_ERR);
	expect_no_event(on.server);
	if (!on.client.is_rxe)
		expect_no_event(on.client);
}

} /* namespace */
