// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * What a call refuses, with the errno of its man page.
 */

#include <cerrno>

#include "tests.h"

namespace
{

class arguments : public verify {};

TEST_F(arguments, send_queue_full)
{
	if (on.client.is_rxe)
		skip("rxe of Linux 6.1 holds one more than max_send_wr");
	pair p(on.client, on.server, { .depth = 8 });
	uint32_t posted = 0;

	/* Without a receive at the server no request is ever done. */
	while (posted <= p.client.cap.max_send_wr) {
		const int status = p.client.try_post(
			request(IBV_WR_SEND, posted), { p.client.sge(0, 8) });

		if (status) {
			check_equal(status, ENOMEM, "post on a full queue");
			break;
		}
		posted++;
	}
	check(posted >= 8, "the queue holds less than asked for");
	check(posted <= p.client.cap.max_send_wr,
	      "the queue holds more than max_send_wr");
}

TEST_F(arguments, recv_queue_full)
{
	if (on.server.is_rxe)
		skip("rxe of Linux 6.1 holds one more than max_recv_wr");
	pair p(on.client, on.server, { .depth = 8 });
	ibv_sge sge = p.server.sge(0, 8);
	ibv_recv_wr wr{}, *bad = nullptr;
	uint32_t posted = 0;
	int status = 0;

	wr.sg_list = &sge;
	wr.num_sge = 1;
	while (posted <= p.server.cap.max_recv_wr &&
	       !(status = ibv_post_recv(p.server.qp.get(), &wr, &bad)))
		posted++;
	check(posted >= 8, "the queue holds less than asked for");
	check_equal(posted, p.server.cap.max_recv_wr, "receives that fit");
	check_equal(status, ENOMEM, "post on a full queue");
	check(bad == &wr, "bad_wr");
}

/* The requests before the bad one are posted, and bad_wr names it. */
TEST_F(arguments, bad_in_list)
{
	pair p(on.client, on.server);
	ibv_sge sge[2] = { p.client.sge(0, 8), p.client.sge(0, 8) };
	ibv_send_wr wr[2], *bad = nullptr;

	wr[0] = rdma(IBV_WR_RDMA_WRITE, 1, p.server, 0);
	wr[1] = rdma(IBV_WR_RDMA_WRITE, 2, p.server, 0);
	wr[0].sg_list = sge;
	wr[0].num_sge = 1;
	wr[0].next = &wr[1];
	wr[1].sg_list = sge;
	wr[1].num_sge = static_cast<int>(p.client.cap.max_send_sge) + 1;
	check(ibv_post_send(p.client.qp.get(), wr, &bad) != 0, "posted");
	check(bad == &wr[1], "bad_wr");
	(void)p.client.sent(1);
}

TEST_F(arguments, too_much_inline)
{
	pair p(on.client, on.server, { .inline_size = 32 });
	const uint32_t limit = p.client.cap.max_inline_data;

	check(p.client.try_post(request(IBV_WR_SEND, 1,
					IBV_SEND_SIGNALED | IBV_SEND_INLINE),
				{ p.client.sge(0, limit + 1) }) != 0,
	      "inline beyond max_inline_data");
}

TEST_F(arguments, post_before_rts)
{
	endpoint e(on.client, {});

	if (on.client.is_rxe)
		skip("rxe checks states in the kernel only");
	check(e.try_post(request(IBV_WR_SEND, 1), { e.sge(0, 8) }) != 0,
	      "send in RESET");
	e.to_init();
	check(e.try_post(request(IBV_WR_SEND, 1), { e.sge(0, 8) }) != 0,
	      "send in INIT");
}

int modify(const endpoint &e, ibv_qp_attr attr, int mask)
{
	return ibv_modify_qp(e.qp.get(), &attr, mask);
}

/* IBTA Table 91: transitions and their attributes. */
TEST_F(arguments, illegal_transitions)
{
	endpoint e(on.client, {});
	ibv_qp_attr attr{};

	for (ibv_qp_state s : { IBV_QPS_RTR, IBV_QPS_RTS, IBV_QPS_SQD }) {
		attr.qp_state = s;
		check_equal(modify(e, attr, IBV_QP_STATE), EINVAL,
			    "RESET to state " + std::to_string(s));
	}
	e.to_init();
	attr.qp_state = IBV_QPS_RTS;
	check_equal(modify(e, attr, IBV_QP_STATE), EINVAL, "INIT to RTS");
	attr.qp_state = IBV_QPS_RTR;
	check_equal(modify(e, attr, IBV_QP_STATE), EINVAL,
		    "INIT to RTR without its attributes");
	check_equal(e.state(), IBV_QPS_INIT, "state after refusals");
}

TEST_F(arguments, illegal_attributes)
{
	endpoint e(on.client, {});
	ibv_qp_attr attr{};
	const int init = IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT |
			 IBV_QP_ACCESS_FLAGS;

	attr.qp_state = IBV_QPS_INIT;
	attr.port_num = 1;
	check_equal(modify(e, attr, init & ~IBV_QP_PORT), EINVAL,
		    "INIT without a port");
	check_equal(modify(e, attr, init | IBV_QP_QKEY), EINVAL,
		    "Q_Key for RC");
	check_equal(modify(e, attr, init | IBV_QP_SQ_PSN), EINVAL,
		    "SQ PSN at INIT");
	attr.port_num = 2;
	check_equal(modify(e, attr, init), EINVAL, "port 2");
	attr.port_num = 1;
	attr.pkey_index = 1000;
	if (!on.client.is_rxe)
		check(modify(e, attr, init) != 0, "P_Key index 1000");
	attr.pkey_index = 0;
	attr.cur_qp_state = IBV_QPS_RTS;
	check_equal(modify(e, attr, init | IBV_QP_CUR_STATE), EINVAL,
		    "wrong current state");
	check_equal(e.state(), IBV_QPS_RESET, "state after refusals");
	e.to_init();
}

TEST_F(arguments, illegal_rtr)
{
	endpoint e(on.client, {});
	ibv_qp_attr attr{};
	const int rtr = IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU |
			IBV_QP_DEST_QPN | IBV_QP_RQ_PSN |
			IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER;

	e.to_init();
	attr.qp_state = IBV_QPS_RTR;
	attr.path_mtu = IBV_MTU_1024;
	attr.ah_attr.is_global = 1;
	attr.ah_attr.grh.dgid = on.server.gid;
	attr.ah_attr.grh.sgid_index = 200;
	attr.ah_attr.port_num = 1;
	check(modify(e, attr, rtr) != 0, "GID index 200");
	attr.ah_attr.grh.sgid_index = static_cast<uint8_t>(on.client.gid_index);
	attr.ah_attr.is_global = 0;
	check(modify(e, attr, rtr) != 0, "RoCE without a GRH");
	attr.ah_attr.is_global = 1;
	attr.path_mtu = static_cast<ibv_mtu>(9);
	check(modify(e, attr, rtr) != 0, "path MTU 9");
	attr.path_mtu = IBV_MTU_1024;
	if (!on.client.is_rxe) {
		attr.max_dest_rd_atomic = 255;
		check_equal(modify(e, attr, rtr), EINVAL, "255 READs");
	}
	check_equal(e.state(), IBV_QPS_INIT, "state after refusals");
}

/*
 * Of attributes narrower than their field the bits that go on the wire count,
 * as with the devices that programs are written on.
 */
TEST_F(arguments, wide_attributes)
{
	endpoint e(on.client, {});
	ibv_qp_attr attr{}, got{};
	ibv_qp_init_attr init{};
	const int rtr = IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU |
			IBV_QP_DEST_QPN | IBV_QP_RQ_PSN |
			IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER;
	const int rts = IBV_QP_STATE | IBV_QP_SQ_PSN | IBV_QP_TIMEOUT |
			IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY |
			IBV_QP_MAX_QP_RD_ATOMIC;

	if (on.client.is_rxe)
		skip("rxe keeps the bits that it does not use");
	e.to_init();
	attr.qp_state = IBV_QPS_RTR;
	attr.path_mtu = IBV_MTU_1024;
	attr.dest_qp_num = 0xff123456;
	attr.rq_psn = 0xff000007;
	attr.min_rnr_timer = 0xe0 | 12;
	attr.ah_attr.is_global = 1;
	attr.ah_attr.sl = 0xf8 | 3;
	attr.ah_attr.grh.dgid = on.server.gid;
	attr.ah_attr.grh.flow_label = 0xffffffff;
	attr.ah_attr.grh.sgid_index = static_cast<uint8_t>(on.client.gid_index);
	attr.ah_attr.port_num = 1;
	check_equal(modify(e, attr, rtr), 0, "modify to RTR");
	attr.qp_state = IBV_QPS_RTS;
	attr.sq_psn = 0xff000008;
	attr.timeout = 0xe0 | 14;
	attr.retry_cnt = 0xf8 | 5;
	attr.rnr_retry = 0xf8 | 6;
	check_equal(modify(e, attr, rts), 0, "modify to RTS");
	check_equal(ibv_query_qp(e.qp.get(), &got, IBV_QP_AV, &init), 0,
		    "ibv_query_qp");
	check_equal(got.dest_qp_num, 0x123456u, "dest_qp_num");
	check_equal(got.rq_psn, 7u, "rq_psn");
	check_equal(got.sq_psn, 8u, "sq_psn");
	check_equal(got.min_rnr_timer, 12, "min_rnr_timer");
	check_equal(got.timeout, 14, "timeout");
	check_equal(got.retry_cnt, 5, "retry_cnt");
	check_equal(got.rnr_retry, 6, "rnr_retry");
	check_equal(got.ah_attr.sl, 3, "sl");
	check_equal(got.ah_attr.grh.flow_label, 0xfffffu, "flow_label");
}

ibv_qp *try_qp(const endpoint &e, ibv_qp_type type, ibv_qp_cap cap)
{
	ibv_qp_init_attr attr{};

	attr.send_cq = e.send_cq.get();
	attr.recv_cq = e.recv_cq.get();
	attr.qp_type = type;
	attr.cap = cap;
	errno = 0;
	return ibv_create_qp(e.on.pd.get(), &attr);
}

void refused_qp(const endpoint &e, ibv_qp_type type, ibv_qp_cap cap,
		const std::string &what)
{
	ibv_qp *qp = try_qp(e, type, cap);

	if (qp)
		ibv_destroy_qp(qp);
	check(!qp, what + " was created");
	check(errno == EINVAL || errno == EOPNOTSUPP || errno == ENOSYS ||
		      errno == ENOMEM,
	      what + ": errno " + std::to_string(errno));
}

TEST_F(arguments, unusable_qps)
{
	const endpoint e(on.client, {});
	const auto wr = static_cast<uint32_t>(on.client.limits.max_qp_wr);
	const auto sge = static_cast<uint32_t>(on.client.limits.max_sge);

	refused_qp(e, IBV_QPT_RC, { wr + 1, 1, 1, 1, 0 }, "max_send_wr");
	refused_qp(e, IBV_QPT_RC, { 1, wr + 1, 1, 1, 0 }, "max_recv_wr");
	refused_qp(e, IBV_QPT_RC, { 1, 1, sge + 1, 1, 0 }, "max_send_sge");
	refused_qp(e, IBV_QPT_RC, { 1, 1, 1, sge + 1, 0 }, "max_recv_sge");
	refused_qp(e, IBV_QPT_RC, { 1, 1, 1, 1, 1 << 20 }, "inline 1 MiB");
	refused_qp(e, IBV_QPT_RAW_PACKET, { 1, 1, sge + 1, 1, 0 },
		   "raw packet QP with max_send_sge");
	refused_qp(e, static_cast<ibv_qp_type>(77), { 1, 1, 1, 1, 0 },
		   "QP type 77");
}

TEST_F(arguments, unusable_cqs)
{
	ibv_context *context = on.client.context.get();

	for (int cqe : { 0, -1, on.client.limits.max_cqe + 1 }) {
		const cq_ptr cq(
			ibv_create_cq(context, cqe, nullptr, nullptr, 0));

		check(!cq, std::to_string(cqe) + " CQEs");
	}
	const cq_ptr cq(ibv_create_cq(context, 8, nullptr, nullptr, 10000));
	check(!cq, "comp_vector 10000");
}

TEST_F(arguments, unusable_mrs)
{
	const memory m(8192);
	ibv_pd *pd = on.client.pd.get();
	const mr_ptr remote_only(ibv_reg_mr(pd, m.bytes().data(), 8192,
					    IBV_ACCESS_REMOTE_WRITE));

	check(!remote_only && errno == EINVAL,
	      "remote write without local write");
	const mr_ptr atomic_only(ibv_reg_mr(pd, m.bytes().data(), 8192,
					    IBV_ACCESS_REMOTE_ATOMIC));
	check(!atomic_only && errno == EINVAL,
	      "remote atomic without local write");
	const mr_ptr nowhere(ibv_reg_mr(pd, reinterpret_cast<void *>(0x1000),
					4096, IBV_ACCESS_LOCAL_WRITE));
	check(!nowhere && errno == EFAULT, "memory that is not mapped");
}

/* What is in use stays. */
TEST_F(arguments, busy_objects)
{
	endpoint e(on.client, {});

	check(ibv_destroy_cq(e.send_cq.get()) == EBUSY, "CQ in use");
	check(ibv_dealloc_pd(on.client.pd.get()) == EBUSY, "PD in use");
	e.to_init();
}

} /* namespace */
