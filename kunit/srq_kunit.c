// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* Shared receive queues: taking, limit, errors, and what QPs do with them. */
#include <kunit/test.h>

#include "suite_fixture.h"
#include "engine/srq.h"

#define LOG_DEPTH 3
#define DEPTH (1u << LOG_DEPTH)
#define RC ORNIC_QPT_RC
#define UC ORNIC_QPT_UC
#define UD ORNIC_QPT_UD

/* The fixture's QP b and a third one, c, take from one SRQ; d sends to c. */
struct srq_test {
	struct ornic_fixture fix;
	struct ornic_th_srq srq;
	struct ornic_th_cq ccq;
	struct ornic_th_cq dcq;
	struct ornic_th_qp c;
	struct ornic_th_qp d;
	u32 posted;
};

static_assert(offsetof(struct srq_test, fix) == 0);

static int srq_init(struct kunit *test)
{
	return ornic_suite_alloc(test, sizeof(struct srq_test));
}

static int open_srq(struct srq_test *st, u8 type)
{
	struct ornic_th_qpinit init = { .type = type };
	struct ornic_fixture *fix = &st->fix;
	int status = ornic_fix_open(fix, ORNIC_FIX_LOOP, &init);

	if (!status)
		status = ornic_th_qp_fini(&fix->b);
	if (!status)
		status = ornic_th_srq_init(fix->pair.b, &st->srq, LOG_DEPTH, 4);
	if (!status)
		status = ornic_th_cq_init(fix->pair.b, &st->ccq, 8);
	if (!status)
		status = ornic_th_cq_init(fix->pair.b, &st->dcq, 8);
	if (!status)
		status = ornic_th_qp_init(fix->pair.b, &st->d, &init, &st->dcq,
					  &st->dcq);
	init.srq = &st->srq;
	if (!status)
		status = ornic_th_qp_init(fix->pair.b, &fix->b, &init,
					  &fix->bscq, &fix->brcq);
	if (!status)
		status = ornic_th_qp_init(fix->pair.b, &st->c, &init, &st->ccq,
					  &st->ccq);
	return status;
}

static struct srq_test *open_type(struct kunit *test, u8 type)
{
	struct srq_test *st = test->priv;

	KUNIT_ASSERT_EQ(test, open_srq(st, type), 0);
	KUNIT_ASSERT_EQ(test, ornic_fix_connect(&st->fix), 0);
	KUNIT_ASSERT_EQ(test, ornic_th_connect(&st->d, &st->c, ORNIC_TH_IPV4),
			0);
	ornic_fix_fill(&st->fix.am, 0, ORNIC_FIX_MR_BYTES, 1);
	return st;
}

static int post(struct srq_test *st, u32 n)
{
	struct ornic_lsge sge;
	u32 i;
	int err = 0;

	for (i = 0; i < n && !err; i++) {
		sge = ornic_fix_sge(&st->fix.bm, st->posted * 4096 % 65536,
				    4096);
		err = ornic_th_post_srq(&st->srq, st->posted, &sge, 1);
		if (!err)
			st->posted++;
	}
	return err;
}

/* Sends that are done give their slots back. */
static void drain(struct ornic_th_cq *cq)
{
	struct ornic_cqe cqe;

	while (ornic_th_poll(cq, &cqe))
		;
}

static void send_bytes(struct srq_test *st, struct ornic_th_qp *qp, u32 len)
{
	ornic_fix_post(qp, &st->fix.am, NULL, ORNIC_WQE_SEND, 0, 0, len);
	ornic_th_settle(&st->fix.pair);
}

/* The wr_id of the next receive in @cq, -1 if none, -2 if it failed. */
static int received(struct ornic_th_cq *cq, u32 qpn)
{
	struct ornic_cqe cqe;

	if (!ornic_th_poll(cq, &cqe))
		return -1;
	if (cqe.status || le32_to_cpu(cqe.qpn) != qpn)
		return -2;
	return (int)le64_to_cpu(cqe.wr_id);
}

static u32 events(struct srq_test *st, enum ornic_eqe_type type)
{
	return st->fix.pair.b->event_count[type];
}

static struct ornic_wq_record *record(struct srq_test *st)
{
	return (struct ornic_wq_record *)st->srq.mem;
}

/* ---- Taking ------------------------------------------------------------------- */

/* Two QPs, message by message: WQEs go out in the order of the ring. */
static void srq_serves_in_order(struct kunit *test)
{
	struct srq_test *st = open_type(test, RC);
	u32 i;

	for (i = 0; i < 5 * DEPTH; i++) {
		KUNIT_ASSERT_EQ(test, post(st, 1), 0);
		drain(&st->fix.ascq);
		drain(&st->dcq);
		send_bytes(st, i % 3 ? &st->d : &st->fix.a, 100 + i);
		if (i % 3)
			KUNIT_ASSERT_EQ(test, received(&st->ccq, st->c.qpn), i);
		else
			KUNIT_ASSERT_EQ(test,
					received(&st->fix.brcq, st->fix.b.qpn),
					i);
		KUNIT_ASSERT_EQ(test,
				ornic_fix_compare(&st->fix.bm, i * 4096 % 65536,
						  100 + i, 1),
				-1);
		KUNIT_EXPECT_EQ(test, le32_to_cpu(record(st)->taken), i + 1);
	}
	KUNIT_EXPECT_EQ(test,
			ornic_engine_stat(st->fix.pair.b->eng,
					  ORNIC_STAT_RECV_WQES),
			5 * DEPTH);
}

/*
 * A message that is not complete holds its WQE and not the slot: the other
 * QP goes through the ring several times meanwhile.
 */
static void srq_slot_is_free_when_taken(struct kunit *test)
{
	struct srq_test *st = open_type(test, RC);
	struct ornic_txinfo first = {
		.opcode = ORNIC_OP_SEND_FIRST,
		.psn = ORNIC_FIX_PSN,
	};
	u32 i;

	KUNIT_ASSERT_EQ(test, post(st, DEPTH), 0);
	KUNIT_EXPECT_EQ(test, post(st, 1), -ENOSPC);
	memset(st->fix.buf, 7, 1024);
	ornic_th_inject(&st->fix.b, &first, st->fix.buf, 1024);
	KUNIT_EXPECT_EQ(test, le32_to_cpu(record(st)->taken), 1);
	for (i = 1; i < 3 * DEPTH; i++) {
		KUNIT_ASSERT_EQ(test, post(st, 1), 0);
		drain(&st->dcq);
		send_bytes(st, &st->d, 1);
		KUNIT_ASSERT_EQ(test, received(&st->ccq, st->c.qpn), i);
	}
	KUNIT_EXPECT_EQ(test, received(&st->fix.brcq, st->fix.b.qpn), -1);
}

static void srq_counts_over_the_wrap(struct kunit *test)
{
	struct srq_test *st = open_type(test, UD);
	struct ornic_rsp_query_srq rsp;
	u32 i, start = -(u32)DEPTH / 2;
	struct ornic_srq *srq;

	ornic_rcu_read_lock();
	srq = ornic_table_lookup(&st->fix.pair.b->eng->dev.srqs, st->srq.srqn);
	srq->taken = start;
	ornic_rcu_read_unlock();
	st->srq.producer = start;
	record(st)->taken = cpu_to_le32(start);
	record(st)->producer = cpu_to_le32(start);
	for (i = 0; i < DEPTH; i++)
		KUNIT_ASSERT_EQ(test, post(st, 1), 0);
	KUNIT_EXPECT_EQ(test, post(st, 1), -ENOSPC);
	KUNIT_EXPECT_EQ(test, ornic_th_srq_query(&st->srq, &rsp), 0);
	KUNIT_EXPECT_EQ(test, le32_to_cpu(rsp.waiting), DEPTH);
	KUNIT_EXPECT_EQ(test, rsp.broken, 0);
}

/* IBTA 9.7.5.2.8: without a WQE RC is told to wait. */
static void srq_empty_is_rnr(struct kunit *test)
{
	struct srq_test *st = open_type(test, RC);
	struct ornic_cqe cqe;

	send_bytes(st, &st->fix.a, 10);
	KUNIT_EXPECT_EQ(test, ornic_fix_status(&st->fix.ascq, &cqe), 0xff);
	KUNIT_EXPECT_EQ(test,
			ornic_engine_stat(st->fix.pair.a->eng,
					  ORNIC_STAT_RNR_NAK_RCVD),
			1);
	KUNIT_ASSERT_EQ(test, post(st, 1), 0);
	ornic_th_advance(&st->fix.pair, 5 * ORNIC_TH_MS);
	KUNIT_EXPECT_EQ(test, ornic_fix_status(&st->fix.ascq, &cqe), 0);
	KUNIT_EXPECT_EQ(test, received(&st->fix.brcq, st->fix.b.qpn), 0);
}

static void srq_empty_drops_for_uc(struct kunit *test)
{
	struct srq_test *st = open_type(test, UC);
	struct ornic_cqe cqe;

	send_bytes(st, &st->fix.a, 3000);
	KUNIT_EXPECT_EQ(test, ornic_fix_status(&st->fix.ascq, &cqe), 0);
	KUNIT_ASSERT_EQ(test, post(st, 1), 0);
	send_bytes(st, &st->fix.a, 3000);
	KUNIT_EXPECT_EQ(test, received(&st->fix.brcq, st->fix.b.qpn), 0);
	KUNIT_EXPECT_EQ(test, ornic_th_state(&st->fix.b), ORNIC_QPS_RTS);
}

static void send_datagram(struct srq_test *st, u32 len)
{
	struct ornic_lsge sge = ornic_fix_sge(&st->fix.am, 0, len);
	struct ornic_th_wr wr = {
		.opcode = ORNIC_WQE_SEND,
		.nsge = 1,
		.sge = &sge,
		.dest_qpn = st->fix.b.qpn,
		.dest_qkey = 0x1234,
	};

	ornic_th_ah(st->fix.pair.a, &st->fix.a.conn.av, &wr.ah);
	ornic_th_post_send(&st->fix.a, &wr);
	ornic_th_settle(&st->fix.pair);
}

static void send_to(struct srq_test *st, u8 type, u32 len)
{
	if (type == UD)
		send_datagram(st, len);
	else
		send_bytes(st, &st->fix.a, len);
}

static const struct long_row {
	const char *desc;
	u8 type;
	u32 fits; /* bytes that the receives have room for */
} long_rows[] = {
	{ "UC", UC, 4096 },
	{ "UD", UD, 4096 - 40 },
};

KUNIT_ARRAY_PARAM_DESC(long, long_rows, desc);

/* IBTA 9.9.3, class E: the WQE completes in error, the QP goes on. */
static void srq_too_long_costs_a_wqe(struct kunit *test)
{
	const struct long_row *row = test->param_value;
	struct srq_test *st = open_type(test, row->type);
	struct ornic_th_cq *cq = &st->fix.brcq;
	struct ornic_cqe cqe;

	KUNIT_ASSERT_EQ(test, post(st, 2), 0);
	send_to(st, row->type, row->fits + 1);
	KUNIT_EXPECT_EQ(test, ornic_fix_status(cq, &cqe),
			ORNIC_CQE_LOC_LEN_ERR);
	send_to(st, row->type, row->fits);
	KUNIT_EXPECT_EQ(test, ornic_fix_status(cq, &cqe), 0);
	KUNIT_EXPECT_EQ(test, le64_to_cpu(cqe.wr_id), 1);
	KUNIT_EXPECT_EQ(test, ornic_th_state(&st->fix.b), ORNIC_QPS_RTS);
}

/* The SRQ has a PD of its own, and its SGEs belong to that. */
static void srq_uses_its_own_pd(struct kunit *test)
{
	struct srq_test *st = test->priv;
	struct ornic_th *th;

	KUNIT_ASSERT_EQ(test, open_srq(st, RC), 0);
	th = st->fix.pair.b;
	KUNIT_ASSERT_EQ(test, ornic_th_qp_fini(&st->c), 0);
	th->pdn++;
	KUNIT_ASSERT_EQ(test,
			ornic_th_qp_init(th, &st->c,
					 &(struct ornic_th_qpinit){
						 .type = RC, .srq = &st->srq },
					 &st->ccq, &st->ccq),
			0);
	th->pdn--;
	KUNIT_ASSERT_EQ(test, ornic_th_connect(&st->d, &st->c, ORNIC_TH_IPV4),
			0);
	KUNIT_ASSERT_EQ(test, post(st, 1), 0);
	send_bytes(st, &st->d, 64);
	KUNIT_EXPECT_EQ(test, received(&st->ccq, st->c.qpn), 0);
}

/* ---- The limit ---------------------------------------------------------------- */

static const struct limit_row {
	const char *name;
	u32 posted;
	u32 limit;
	u32 sends;
	u32 events; /* before the sends */
	u32 after;
} limit_rows[] = {
	{ "not armed", 4, 0, 4, 0, 0 },
	{ "reached", 4, 3, 1, 0, 0 },
	{ "below it", 4, 3, 2, 0, 1 },
	{ "once only", 4, 3, 4, 0, 1 },
	{ "below it when armed", 2, 3, 1, 1, 1 },
	{ "at it when armed", 3, 3, 0, 0, 0 },
	{ "the whole ring", DEPTH, DEPTH, 1, 0, 1 },
};

KUNIT_ARRAY_PARAM_DESC(limit, limit_rows, name);

static void srq_limit_fires_once(struct kunit *test)
{
	const struct limit_row *row = test->param_value;
	struct srq_test *st = open_type(test, RC);
	struct ornic_rsp_query_srq rsp;
	u32 i;

	KUNIT_ASSERT_EQ(test, post(st, row->posted), 0);
	KUNIT_ASSERT_EQ(test, ornic_th_srq_limit(&st->srq, row->limit), 0);
	KUNIT_EXPECT_EQ(test, events(st, ORNIC_EVENT_SRQ_LIMIT), row->events);
	KUNIT_ASSERT_EQ(test, ornic_th_srq_query(&st->srq, &rsp), 0);
	KUNIT_EXPECT_EQ(test, le32_to_cpu(rsp.limit),
			row->events ? 0 : row->limit);
	for (i = 0; i < row->sends; i++)
		send_bytes(st, &st->fix.a, 8);
	KUNIT_EXPECT_EQ(test, events(st, ORNIC_EVENT_SRQ_LIMIT), row->after);
	KUNIT_ASSERT_EQ(test, ornic_th_srq_query(&st->srq, &rsp), 0);
	KUNIT_EXPECT_EQ(test, le32_to_cpu(rsp.limit),
			row->after ? 0 : row->limit);
	KUNIT_EXPECT_EQ(test, le32_to_cpu(rsp.waiting),
			row->posted - row->sends);
}

static void srq_limit_is_armed_again(struct kunit *test)
{
	struct srq_test *st = open_type(test, RC);
	u32 i;

	for (i = 1; i < 4; i++) {
		KUNIT_ASSERT_EQ(test, post(st, 2), 0);
		KUNIT_ASSERT_EQ(test, ornic_th_srq_limit(&st->srq, 1), 0);
		send_bytes(st, &st->fix.a, 8);
		send_bytes(st, &st->d, 8);
		KUNIT_EXPECT_EQ(test, events(st, ORNIC_EVENT_SRQ_LIMIT), i);
	}
	KUNIT_EXPECT_EQ(test, ornic_th_srq_limit(&st->srq, DEPTH + 1),
			ORNIC_BAD_PARAM);
}

/* ---- Errors ------------------------------------------------------------------- */

/* IBTA 10.3.1: only what the QP has taken is flushed; then one event. */
static void srq_error_leaves_the_others_alone(struct kunit *test)
{
	struct srq_test *st = open_type(test, RC);
	struct ornic_txinfo first = {
		.opcode = ORNIC_OP_SEND_FIRST,
		.psn = ORNIC_FIX_PSN,
	};
	struct ornic_eqe last = {
		.obj = cpu_to_le32(st->fix.b.qpn),
		.type = ORNIC_EVENT_LAST_WQE,
	};
	struct ornic_cqe cqe;

	KUNIT_ASSERT_EQ(test, post(st, 3), 0);
	ornic_th_inject(&st->fix.b, &first, st->fix.buf, 1024);
	KUNIT_ASSERT_EQ(test, ornic_th_to(&st->fix.b, ORNIC_QPS_ERR), 0);
	ornic_th_run(st->fix.pair.b);
	KUNIT_EXPECT_EQ(test, ornic_fix_status(&st->fix.brcq, &cqe),
			ORNIC_CQE_WR_FLUSH_ERR);
	KUNIT_EXPECT_EQ(test, le64_to_cpu(cqe.wr_id), 0);
	KUNIT_EXPECT_EQ(test, ornic_fix_status(&st->fix.brcq, &cqe), 0xff);
	KUNIT_EXPECT_EQ(test, events(st, ORNIC_EVENT_LAST_WQE), 1);
	KUNIT_EXPECT_MEMEQ(test, &st->fix.pair.b->events[0], &last,
			   sizeof(last));
	ornic_th_kick(&st->fix.b);
	KUNIT_EXPECT_EQ(test, events(st, ORNIC_EVENT_LAST_WQE), 1);
	send_bytes(st, &st->d, 64);
	KUNIT_EXPECT_EQ(test, received(&st->ccq, st->c.qpn), 1);
	KUNIT_EXPECT_EQ(test, ornic_th_state(&st->c), ORNIC_QPS_RTS);
}

static void srq_last_wqe_comes_again_after_reset(struct kunit *test)
{
	struct srq_test *st = open_type(test, RC);
	u32 i;

	for (i = 1; i < 4; i++) {
		KUNIT_ASSERT_EQ(test, ornic_th_to(&st->fix.b, ORNIC_QPS_ERR),
				0);
		KUNIT_EXPECT_EQ(test, events(st, ORNIC_EVENT_LAST_WQE), i);
		KUNIT_ASSERT_EQ(test, ornic_th_to(&st->fix.b, ORNIC_QPS_RESET),
				0);
	}
}

static const struct producer_row {
	const char *name;
	u32 producer;
	u8 type;
	bool broken;
} producer_rows[] = {
	{ "as far as the ring goes", DEPTH, RC, false },
	{ "one too far", DEPTH + 1, RC, true },
	{ "backwards", -1u, RC, true },
	{ "half of the space away", 1u << 31, UC, true },
	{ "one too far, datagrams", DEPTH + 1, UD, true },
};

KUNIT_ARRAY_PARAM_DESC(producer, producer_rows, name);

static void srq_distrusts_the_producer(struct kunit *test)
{
	const struct producer_row *row = test->param_value;
	struct srq_test *st = open_type(test, RC);
	struct ornic_rsp_query_srq rsp;
	u32 n = row->broken;

	KUNIT_ASSERT_EQ(test, post(st, 1), 0);
	record(st)->producer = cpu_to_le32(row->producer);
	send_bytes(st, &st->fix.a, 8);
	KUNIT_EXPECT_EQ(test, events(st, ORNIC_EVENT_SRQ_ERR), n);
	KUNIT_EXPECT_EQ(test, events(st, ORNIC_EVENT_QP_FATAL), n);
	KUNIT_EXPECT_EQ(test, ornic_th_state(&st->fix.b),
			n ? ORNIC_QPS_ERR : ORNIC_QPS_RTS);
	KUNIT_ASSERT_EQ(test, ornic_th_srq_query(&st->srq, &rsp), 0);
	KUNIT_EXPECT_EQ(test, rsp.broken, n);
	KUNIT_EXPECT_EQ(test, ornic_th_srq_limit(&st->srq, 1),
			n ? ORNIC_BAD_STATE : ORNIC_OK);
	/* It does not heal, and the next QP to take finds out by itself. */
	record(st)->producer = cpu_to_le32(1);
	send_bytes(st, &st->d, 8);
	KUNIT_EXPECT_EQ(test, events(st, ORNIC_EVENT_SRQ_ERR), n);
	KUNIT_EXPECT_EQ(test, events(st, ORNIC_EVENT_QP_FATAL), 2 * n);
}

/* A WQE at fault ends the QP that took it and no other. */
static void srq_bad_wqe_ends_its_taker(struct kunit *test)
{
	struct srq_test *st = open_type(test, RC);
	struct ornic_lsge sge = ornic_fix_sge(&st->fix.bm, 0, 64);
	struct ornic_rq_hdr *hdr;
	struct ornic_cqe cqe;

	KUNIT_ASSERT_EQ(test, ornic_th_post_srq(&st->srq, 5, &sge, 1), 0);
	hdr = (struct ornic_rq_hdr *)(st->srq.mem + ORNIC_RING_OFFSET);
	hdr->num_sge = cpu_to_le16(5);
	KUNIT_ASSERT_EQ(test, post(st, 1), 0);
	send_bytes(st, &st->fix.a, 8);
	KUNIT_EXPECT_EQ(test, ornic_fix_status(&st->fix.brcq, &cqe),
			ORNIC_CQE_LOC_QP_OP_ERR);
	KUNIT_EXPECT_EQ(test, le64_to_cpu(cqe.wr_id), 5);
	KUNIT_EXPECT_EQ(test, ornic_fix_status(&st->fix.ascq, &cqe),
			ORNIC_CQE_REM_OP_ERR);
	KUNIT_EXPECT_EQ(test, ornic_th_state(&st->fix.b), ORNIC_QPS_ERR);
	KUNIT_EXPECT_EQ(test, events(st, ORNIC_EVENT_LAST_WQE), 1);
	send_bytes(st, &st->d, 8);
	KUNIT_EXPECT_EQ(test, received(&st->ccq, st->c.qpn), 0);
}

/* ---- Creating and destroying --------------------------------------------------- */

static const struct create_row {
	const char *name;
	u32 npages;
	u8 log_depth;
	u8 log_stride;
	u8 max_sge;
	int status;
	u8 flags;
} create_rows[] = {
	{ "a page of WQEs", 2, 7, 5, 1, ORNIC_OK },
	{ "one WQE", 2, 0, 6, 3, ORNIC_OK },
	{ "ring longer than its memory", 2, 8, 5, 1, ORNIC_BAD_PARAM },
	{ "no ring at all", 1, 0, 5, 1, ORNIC_BAD_PARAM },
	{ "as deep as any", 257, ORNIC_LOG_MAX_WQE, 5, 1, ORNIC_OK },
	{ "deeper than any", 513, ORNIC_LOG_MAX_WQE + 1, 5, 1,
	  ORNIC_BAD_PARAM },
	{ "depth that would wrap", 2, 64, 5, 1, ORNIC_BAD_PARAM },
	{ "stride too short", 2, 0, 4, 0, ORNIC_BAD_PARAM },
	{ "stride too long", 2, 0, 11, 1, ORNIC_BAD_PARAM },
	{ "SGEs beyond the stride", 2, 0, 6, 4, ORNIC_BAD_PARAM },
	{ "more SGEs than any", 2, 0, 10, 33, ORNIC_BAD_PARAM },
	{ "not DMA memory", 514, 0, 5, 1, ORNIC_BAD_ADDR },
	{ "unknown flag", 2, 7, 5, 1, ORNIC_BAD_PARAM, 0x80 },
	{ "IBTA A14.3: XRC without a CQ", 2, 7, 5, 1, ORNIC_BAD_PARAM,
	  ORNIC_SRQ_XRC },
};

KUNIT_ARRAY_PARAM_DESC(create, create_rows, name);

static void srq_create_checks(struct kunit *test)
{
	const struct create_row *row = test->param_value;
	struct srq_test *st = open_type(test, RC);
	u8 *mem = ornic_th_alloc(st->fix.pair.b, 513 * 4096);
	union ornic_req req = { .hdr.opcode = ORNIC_CMD_CREATE_SRQ };
	union ornic_rsp rsp;

	KUNIT_ASSERT_NOT_NULL(test, mem);
	req.create_srq.mem.addr = cpu_to_le64((u64)(uintptr_t)mem);
	req.create_srq.mem.npages = cpu_to_le32(row->npages);
	req.create_srq.mem.page_shift = ORNIC_PAGE_SHIFT;
	req.create_srq.log_depth = row->log_depth;
	req.create_srq.log_stride = row->log_stride;
	req.create_srq.max_sge = row->max_sge;
	req.create_srq.flags = row->flags;
	req.create_srq.cqn = cpu_to_le32(0xffff);
	KUNIT_EXPECT_EQ(test, ornic_th_cmd(st->fix.pair.b, &req, &rsp),
			row->status);
	if (!row->status)
		KUNIT_EXPECT_EQ(test,
				ornic_th_destroy_obj(st->fix.pair.b,
						     ORNIC_CMD_DESTROY_SRQ,
						     le32_to_cpu(rsp.hdr.obj)),
				0);
}

static void srq_destroy_waits_for_its_users(struct kunit *test)
{
	struct srq_test *st = open_type(test, RC);

	KUNIT_EXPECT_EQ(test, ornic_th_srq_fini(&st->srq), ORNIC_BUSY);
	KUNIT_EXPECT_EQ(test, ornic_th_qp_fini(&st->c), 0);
	KUNIT_EXPECT_EQ(test, ornic_th_srq_fini(&st->srq), ORNIC_BUSY);
	KUNIT_ASSERT_EQ(test, post(st, 1), 0);
	send_bytes(st, &st->fix.a, 8);
	KUNIT_EXPECT_EQ(test, received(&st->fix.brcq, st->fix.b.qpn), 0);
	KUNIT_EXPECT_EQ(test, ornic_th_qp_fini(&st->fix.b), 0);
	KUNIT_EXPECT_EQ(test, ornic_th_srq_fini(&st->srq), 0);
	KUNIT_EXPECT_EQ(test, ornic_th_srq_limit(&st->srq, 1), ORNIC_NOT_FOUND);
	KUNIT_EXPECT_EQ(test,
			ornic_th_destroy_obj(st->fix.pair.b,
					     ORNIC_CMD_DESTROY_SRQ,
					     st->srq.srqn),
			ORNIC_NOT_FOUND);
}

static void srq_that_is_not_there(struct kunit *test)
{
	struct srq_test *st = open_type(test, RC);
	struct ornic_th_srq none = { .srqn = 4711 };
	struct ornic_th_qpinit init = { .type = RC, .srq = &none };
	struct ornic_th_qp qp;

	KUNIT_EXPECT_EQ(test,
			ornic_th_qp_init(st->fix.pair.b, &qp, &init, &st->ccq,
					 &st->ccq),
			ORNIC_BAD_PARAM);
	/* The CQs are not held by what was not made. */
	KUNIT_EXPECT_EQ(test, ornic_th_qp_fini(&st->c), 0);
	KUNIT_EXPECT_EQ(test, ornic_th_cq_fini(&st->ccq), 0);
}

/* ---- Resizing ------------------------------------------------------------------ */

static const struct resize_row {
	const char *name;
	u32 before; /* WQEs taken before */
	u32 waiting;
	u32 limit;
	u8 log_depth;
	int status;
} resize_rows[] = {
	{ "larger, empty", 0, 0, 0, 5, ORNIC_OK },
	{ "larger, full", 0, DEPTH, 0, 5, ORNIC_OK },
	{ "larger, over the end of the ring", 5, DEPTH, 2, 4, ORNIC_OK },
	{ "the same size", 3, 2, 0, LOG_DEPTH, ORNIC_OK },
	{ "smaller, empty", 7, 0, 0, 0, ORNIC_OK },
	{ "smaller, just fits", 6, 4, 4, 2, ORNIC_OK },
	{ "smaller than what waits", 6, 3, 0, 1, ORNIC_BAD_PARAM },
	{ "smaller than the limit", 6, 4, 3, 1, ORNIC_BAD_PARAM },
	{ "deeper than any", 1, 1, 0, ORNIC_LOG_MAX_WQE + 1, ORNIC_BAD_PARAM },
};

KUNIT_ARRAY_PARAM_DESC(resize, resize_rows, name);

/* IBTA 11.2.3.3: nothing that was posted is lost, comes twice or moves up. */
static void srq_resize_keeps_what_waits(struct kunit *test)
{
	const struct resize_row *row = test->param_value;
	struct srq_test *st = open_type(test, RC);
	struct ornic_rsp_query_srq rsp;
	u32 i, depth, n;

	for (i = 0; i < row->before; i++) {
		KUNIT_ASSERT_EQ(test, post(st, 1), 0);
		send_bytes(st, &st->fix.a, 8);
		drain(&st->fix.ascq);
		KUNIT_ASSERT_EQ(test, received(&st->fix.brcq, st->fix.b.qpn),
				i);
	}
	KUNIT_ASSERT_EQ(test, post(st, row->waiting), 0);
	KUNIT_ASSERT_EQ(test, ornic_th_srq_limit(&st->srq, row->limit), 0);
	KUNIT_ASSERT_EQ(test, ornic_th_srq_resize(&st->srq, row->log_depth),
			row->status);
	KUNIT_ASSERT_EQ(test, ornic_th_srq_query(&st->srq, &rsp), 0);
	KUNIT_EXPECT_EQ(test, le32_to_cpu(rsp.waiting), row->waiting);
	KUNIT_EXPECT_EQ(test, le32_to_cpu(rsp.limit), row->limit);
	KUNIT_ASSERT_EQ(test, ornic_th_srq_limit(&st->srq, 0), 0);
	depth = 1u << (row->status ? LOG_DEPTH : row->log_depth);
	n = min_t(u32, depth, 16) - row->waiting;
	KUNIT_ASSERT_EQ(test, post(st, n), 0);
	if (depth <= 16)
		KUNIT_EXPECT_EQ(test, post(st, 1), -ENOSPC);
	for (n += row->waiting; n--; i++) {
		send_bytes(st, &st->fix.a, 8);
		drain(&st->fix.ascq);
		KUNIT_ASSERT_EQ(test, received(&st->fix.brcq, st->fix.b.qpn),
				i);
	}
}

/* The message that is being received has its WQE already. */
static void srq_resize_within_a_message(struct kunit *test)
{
	struct srq_test *st = open_type(test, RC);
	struct ornic_txinfo info = {
		.opcode = ORNIC_OP_SEND_FIRST,
		.psn = ORNIC_FIX_PSN,
	};

	KUNIT_ASSERT_EQ(test, post(st, 2), 0);
	ornic_th_inject(&st->fix.b, &info, st->fix.buf, 1024);
	KUNIT_ASSERT_EQ(test, ornic_th_srq_resize(&st->srq, 0), 0);
	info.opcode = ORNIC_OP_SEND_LAST;
	info.psn = (ORNIC_FIX_PSN + 1) & ORNIC_PSN_MASK;
	ornic_th_inject(&st->fix.b, &info, st->fix.buf, 4);
	KUNIT_EXPECT_EQ(test, received(&st->fix.brcq, st->fix.b.qpn), 0);
	send_bytes(st, &st->d, 8);
	KUNIT_EXPECT_EQ(test, received(&st->ccq, st->c.qpn), 1);
}

static void srq_resize_of_a_broken_one(struct kunit *test)
{
	struct srq_test *st = open_type(test, RC);
	struct ornic_th_srq none = st->srq;

	record(st)->producer = cpu_to_le32(DEPTH + 1);
	KUNIT_EXPECT_EQ(test, ornic_th_srq_resize(&st->srq, 5),
			ORNIC_BAD_STATE);
	KUNIT_EXPECT_EQ(test, events(st, ORNIC_EVENT_SRQ_ERR), 1);
	none.srqn = 4711;
	KUNIT_EXPECT_EQ(test, ornic_th_srq_resize(&none, 5), ORNIC_NOT_FOUND);
}

static struct kunit_case srq_cases[] = {
	KUNIT_CASE(srq_serves_in_order),
	KUNIT_CASE(srq_slot_is_free_when_taken),
	KUNIT_CASE(srq_counts_over_the_wrap),
	KUNIT_CASE(srq_empty_is_rnr),
	KUNIT_CASE(srq_empty_drops_for_uc),
	KUNIT_CASE_PARAM(srq_too_long_costs_a_wqe, long_gen_params),
	KUNIT_CASE(srq_uses_its_own_pd),
	KUNIT_CASE_PARAM(srq_limit_fires_once, limit_gen_params),
	KUNIT_CASE(srq_limit_is_armed_again),
	KUNIT_CASE(srq_error_leaves_the_others_alone),
	KUNIT_CASE(srq_last_wqe_comes_again_after_reset),
	KUNIT_CASE_PARAM(srq_distrusts_the_producer, producer_gen_params),
	KUNIT_CASE(srq_bad_wqe_ends_its_taker),
	KUNIT_CASE_PARAM(srq_create_checks, create_gen_params),
	KUNIT_CASE(srq_destroy_waits_for_its_users),
	KUNIT_CASE(srq_that_is_not_there),
	KUNIT_CASE_PARAM(srq_resize_keeps_what_waits, resize_gen_params),
	KUNIT_CASE(srq_resize_within_a_message),
	KUNIT_CASE(srq_resize_of_a_broken_one),
	{}
};

static struct kunit_suite srq_suite = {
	.name = "ornic_srq",
	.init = srq_init,
	.exit = ornic_suite_exit,
	.test_cases = srq_cases,
};

kunit_test_suite(srq_suite);

MODULE_DESCRIPTION("ornic: SRQ suite");
MODULE_LICENSE("Dual BSD/GPL");
