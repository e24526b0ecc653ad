// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* XRC: initiators, targets, and SRQs that messages name (IBTA A14). */
#include <kunit/test.h>

#include "suite_fixture.h"
#include "engine/srq.h"

#define LOG_DEPTH 3
#define DEPTH (1u << LOG_DEPTH)
#define DOMAIN 7
#define INI ORNIC_QPT_XRC_INI
#define TGT ORNIC_QPT_XRC_TGT

/*
 * The fixture's QP a is an initiator and b its target. Of the SRQs x and y are of
 * b's domain, z of another, and w of none.
 */
struct xrc_test {
	struct ornic_fixture fix;
	struct ornic_th_cq xcq;
	struct ornic_th_cq ycq;
	struct ornic_th_srq x;
	struct ornic_th_srq y;
	struct ornic_th_srq z;
	struct ornic_th_srq w;
	u32 posted;
};

static_assert(offsetof(struct xrc_test, fix) == 0);

static int xrc_init(struct kunit *test)
{
	return ornic_suite_alloc(test, sizeof(struct xrc_test));
}

static int open_srqs(struct xrc_test *xt, struct ornic_th *th)
{
	int status = ornic_th_cq_init(th, &xt->xcq, 8);

	if (!status)
		status = ornic_th_cq_init(th, &xt->ycq, 8);
	if (!status)
		status = ornic_th_xsrq_init(th, &xt->x, LOG_DEPTH, DOMAIN,
					    &xt->xcq);
	if (!status)
		status = ornic_th_xsrq_init(th, &xt->y, LOG_DEPTH, DOMAIN,
					    &xt->ycq);
	if (!status)
		status = ornic_th_xsrq_init(th, &xt->z, LOG_DEPTH, DOMAIN + 1,
					    &xt->xcq);
	if (!status)
		status = ornic_th_srq_init(th, &xt->w, LOG_DEPTH, 4);
	return status;
}

static int open_fix(struct xrc_test *xt, enum ornic_fix_kind kind)
{
	struct ornic_th_qpinit init = { .type = INI };
	struct ornic_fixture *fix = &xt->fix;
	int status = ornic_fix_open(fix, kind, &init);

	if (!status)
		status = ornic_th_qp_fini(&fix->b);
	if (!status)
		status = open_srqs(xt, fix->pair.b);
	init.type = TGT;
	init.xrcdn = DOMAIN;
	if (!status)
		status = ornic_th_qp_init(fix->pair.b, &fix->b, &init, NULL,
					  NULL);
	fix->a.srqn = xt->x.srqn;
	return status;
}

static struct xrc_test *open_kind(struct kunit *test, enum ornic_fix_kind kind)
{
	struct xrc_test *xt = test->priv;

	KUNIT_ASSERT_EQ(test, open_fix(xt, kind), 0);
	KUNIT_ASSERT_EQ(test, ornic_fix_connect(&xt->fix), 0);
	ornic_fix_fill(&xt->fix.am, 0, ORNIC_FIX_MR_BYTES, 1);
	return xt;
}

static int post(struct xrc_test *xt, struct ornic_th_srq *srq)
{
	struct ornic_lsge sge = ornic_fix_sge(&xt->fix.bm, 0, 8192);

	return ornic_th_post_srq(srq, xt->posted++, &sge, 1);
}

/* The status of one message for @srq, 0xff if it does not end. */
static int transfer(struct xrc_test *xt, const struct ornic_th_srq *srq,
		    u8 opcode, u32 len)
{
	struct ornic_fixture *fix = &xt->fix;
	struct ornic_cqe cqe;

	fix->a.srqn = srq->srqn;
	ornic_fix_post(&fix->a, &fix->am, &fix->bm, opcode, 0, 0, len);
	ornic_th_settle(&fix->pair);
	return ornic_fix_status(&fix->ascq, &cqe);
}

static u32 events(struct xrc_test *xt, enum ornic_eqe_type type)
{
	return xt->fix.pair.b->event_count[type];
}

/* A request to b from its peer; n counts PSNs from the first. */
static void inject(struct xrc_test *xt, u8 opcode, s32 n,
		   const struct ornic_th_srq *srq, u32 len)
{
	struct ornic_txinfo info = {
		.opcode = ORNIC_XRC | opcode,
		.psn = (ORNIC_FIX_PSN + n) & ORNIC_PSN_MASK,
		.ack_req = true,
		.srqn = srq->srqn,
		.va = xt->fix.bm.iova,
		.rkey = xt->fix.bm.key,
		.dma_len = 64,
	};

	ornic_th_inject(&xt->fix.b, &info, xt->fix.buf, len);
	ornic_th_run(xt->fix.pair.b);
}

/* The syndrome of what b answers, 0xff if nothing; READ data as an ACK. */
static u8 response_syndrome(struct xrc_test *xt)
{
	struct ornic_th *th = xt->fix.pair.b;
	struct ornic_th_frame *f = ornic_th_pull(th);
	struct ornic_pkt pkt;
	struct ornic_rx rx;
	u8 syndrome = 0xff;

	if (f && ornic_th_decode(f, &rx, &pkt) &&
	    (pkt.opcode & ORNIC_TRANSPORT_MASK) == ORNIC_XRC)
		syndrome = pkt.syndrome;
	if (f)
		ornic_th_put(th, f);
	return syndrome;
}

#define ACK (ORNIC_AETH_ACK | ORNIC_AETH_CREDITS_NONE)
#define NAK_INVALID (ORNIC_AETH_NAK | ORNIC_NAK_INVALID_REQ)

/* ---- Data ---------------------------------------------------------------------- */

static const struct op_row {
	const char *name;
	u8 opcode;
	u32 len;
	u8 received; /* opcode of the peer's completion */
} op_rows[] = {
	{ "SEND of nothing", ORNIC_WQE_SEND, 0, ORNIC_CQE_RECV },
	{ "SEND of a packet", ORNIC_WQE_SEND, 1000, ORNIC_CQE_RECV },
	{ "SEND of three", ORNIC_WQE_SEND, 3000, ORNIC_CQE_RECV },
	{ "SEND_IMM", ORNIC_WQE_SEND_IMM, 2048, ORNIC_CQE_RECV },
	{ "WRITE", ORNIC_WQE_WRITE, 5000, 0 },
	{ "WRITE_IMM", ORNIC_WQE_WRITE_IMM, 5000, ORNIC_CQE_RECV_WRITE_IMM },
	{ "READ", ORNIC_WQE_READ, 5000, 0 },
	{ "CAS", ORNIC_WQE_CAS, 8, 0 },
	{ "FAA", ORNIC_WQE_FAA, 8, 0 },
};

KUNIT_ARRAY_PARAM_DESC(op, op_rows, name);

static void check_transfer(struct kunit *test, enum ornic_fix_kind kind)
{
	const struct op_row *row = test->param_value;
	struct xrc_test *xt = open_kind(test, kind);
	struct ornic_fixture *fix = &xt->fix;
	struct ornic_cqe cqe;
	s32 wrong = -1;

	ornic_fix_fill(&fix->bm, 0, 8192, 2);
	KUNIT_ASSERT_EQ(test, post(xt, &xt->x), 0);
	KUNIT_ASSERT_EQ(test, transfer(xt, &xt->x, row->opcode, row->len), 0);
	if (row->opcode == ORNIC_WQE_READ)
		wrong = ornic_fix_compare(&fix->am, 0, row->len, 2);
	else if (row->opcode < ORNIC_WQE_READ)
		wrong = ornic_fix_compare(&fix->bm, 0, row->len, 1);
	KUNIT_EXPECT_EQ(test, wrong, -1);
	KUNIT_ASSERT_EQ(test, ornic_fix_status(&xt->xcq, &cqe),
			row->received ? 0 : 0xff);
	if (!row->received)
		return;
	KUNIT_EXPECT_EQ(test, cqe.opcode, row->received);
	KUNIT_EXPECT_EQ(test, le32_to_cpu(cqe.qpn), fix->b.qpn);
	KUNIT_EXPECT_EQ(test, le32_to_cpu(cqe.byte_len), row->len);
	KUNIT_EXPECT_EQ(test, !!(cqe.flags & ORNIC_CQE_WITH_IMM),
			row->opcode != ORNIC_WQE_SEND);
}

static void xrc_moves_data(struct kunit *test)
{
	check_transfer(test, ORNIC_FIX_WIRE);
}

static void xrc_moves_data_on_loopback(struct kunit *test)
{
	check_transfer(test, ORNIC_FIX_LOOP);
}

/* IBTA A14.3.2: each message says whom it is for. */
static void check_choice(struct kunit *test, enum ornic_fix_kind kind)
{
	struct xrc_test *xt = open_kind(test, kind);
	struct ornic_cqe cqe;
	u32 i;

	for (i = 0; i < 3 * DEPTH; i++) {
		struct ornic_th_srq *srq = i % 3 ? &xt->y : &xt->x;
		struct ornic_th_cq *cq = i % 3 ? &xt->ycq : &xt->xcq;

		KUNIT_ASSERT_EQ(test, post(xt, srq), 0);
		KUNIT_ASSERT_EQ(test, transfer(xt, srq, ORNIC_WQE_SEND, 1500),
				0);
		KUNIT_ASSERT_EQ(test, ornic_fix_status(cq, &cqe), 0);
		KUNIT_EXPECT_EQ(test, le64_to_cpu(cqe.wr_id), i);
		KUNIT_EXPECT_EQ(test, ornic_fix_status(cq, &cqe), 0xff);
	}
}

static void xrc_message_chooses_srq(struct kunit *test)
{
	check_choice(test, ORNIC_FIX_WIRE);
}

static void xrc_message_chooses_srq_on_loopback(struct kunit *test)
{
	check_choice(test, ORNIC_FIX_LOOP);
}

/* The other direction of the same: two connections, one SRQ. */
static void xrc_targets_share_srq(struct kunit *test)
{
	struct xrc_test *xt = open_kind(test, ORNIC_FIX_LOOP);
	struct ornic_th *th = xt->fix.pair.b;
	struct ornic_th_qpinit init = { .type = INI };
	struct ornic_th_qp c, d;
	struct ornic_cqe cqe;

	KUNIT_ASSERT_EQ(test, ornic_th_qp_init(th, &c, &init, &xt->ycq, NULL),
			0);
	init.type = TGT;
	init.xrcdn = DOMAIN;
	KUNIT_ASSERT_EQ(test, ornic_th_qp_init(th, &d, &init, NULL, NULL), 0);
	KUNIT_ASSERT_EQ(test, ornic_th_connect(&c, &d, ORNIC_TH_IPV6), 0);
	c.srqn = xt->x.srqn;
	KUNIT_ASSERT_EQ(test, post(xt, &xt->x), 0);
	KUNIT_ASSERT_EQ(test, post(xt, &xt->x), 0);
	ornic_fix_post(&c, &xt->fix.am, NULL, ORNIC_WQE_SEND, 0, 0, 100);
	ornic_th_settle(&xt->fix.pair);
	KUNIT_EXPECT_EQ(test, ornic_fix_status(&xt->xcq, &cqe), 0);
	KUNIT_EXPECT_EQ(test, le32_to_cpu(cqe.qpn), d.qpn);
	KUNIT_EXPECT_EQ(test, transfer(xt, &xt->x, ORNIC_WQE_SEND, 100), 0);
	KUNIT_EXPECT_EQ(test, ornic_fix_status(&xt->xcq, &cqe), 0);
	KUNIT_EXPECT_EQ(test, le32_to_cpu(cqe.qpn), xt->fix.b.qpn);
	KUNIT_EXPECT_EQ(test, ornic_th_qp_fini(&c), 0);
	KUNIT_EXPECT_EQ(test, ornic_th_qp_fini(&d), 0);
}

static void xrc_empty_srq_is_rnr(struct kunit *test)
{
	struct xrc_test *xt = open_kind(test, ORNIC_FIX_WIRE);
	struct ornic_cqe cqe;

	KUNIT_EXPECT_EQ(test, transfer(xt, &xt->x, ORNIC_WQE_SEND, 3000), 0xff);
	KUNIT_EXPECT_EQ(test,
			ornic_engine_stat(xt->fix.pair.a->eng,
					  ORNIC_STAT_RNR_NAK_RCVD),
			1);
	KUNIT_ASSERT_EQ(test, post(xt, &xt->x), 0);
	ornic_th_advance(&xt->fix.pair, 5 * ORNIC_TH_MS);
	KUNIT_EXPECT_EQ(test, ornic_fix_status(&xt->fix.ascq, &cqe), 0);
	KUNIT_EXPECT_EQ(test, ornic_fix_status(&xt->xcq, &cqe), 0);
}

/* ---- The wire ------------------------------------------------------------------ */

/* IBTA A14.3.1: reserved byte, SRQN; then the other headers. */
static void xrc_header_follows_bth(struct kunit *test)
{
	struct xrc_test *xt = open_kind(test, ORNIC_FIX_WIRE);
	struct ornic_fixture *fix = &xt->fix;
	const u8 *bth;

	fix->a.srqn = 0x123456;
	ornic_fix_post(&fix->a, &fix->am, &fix->bm, ORNIC_WQE_WRITE, 0, 0, 64);
	KUNIT_ASSERT_TRUE(test, ornic_fix_sent(fix));
	bth = fix->rx.seg[0].ptr;
	KUNIT_EXPECT_EQ(test, bth[0], 0xaa);
	KUNIT_EXPECT_EQ(test, bth[12], 0);
	KUNIT_EXPECT_EQ(test, bth[13], 0x12);
	KUNIT_EXPECT_EQ(test, bth[14], 0x34);
	KUNIT_EXPECT_EQ(test, bth[15], 0x56);
	KUNIT_EXPECT_EQ(test, fix->pkt.srqn, 0x123456);
	KUNIT_EXPECT_EQ(test, fix->pkt.va, fix->bm.iova);
	KUNIT_EXPECT_EQ(test, fix->pkt.hdr_len, 32);
}

/* Each end has its half of the opcodes, and no RC packet is for either. */
static void xrc_ends_are_not_mixed_up(struct kunit *test)
{
	struct xrc_test *xt = open_kind(test, ORNIC_FIX_WIRE);
	struct ornic_engine *b = xt->fix.pair.b->eng;
	struct ornic_engine *a = xt->fix.pair.a->eng;
	struct ornic_txinfo info = {
		.opcode = ORNIC_RC | ORNIC_OP_SEND_ONLY,
		.psn = ORNIC_FIX_PSN,
		.srqn = xt->x.srqn,
	};

	KUNIT_ASSERT_EQ(test, post(xt, &xt->x), 0);
	ornic_th_inject(&xt->fix.b, &info, NULL, 0);
	KUNIT_EXPECT_EQ(test, ornic_engine_stat(b, ORNIC_STAT_RX_NO_QP), 1);
	info.opcode = ORNIC_XRC | ORNIC_OP_ACK;
	ornic_th_inject(&xt->fix.b, &info, NULL, 0);
	KUNIT_EXPECT_EQ(test, ornic_engine_stat(b, ORNIC_STAT_RX_NO_QP), 2);
	info.opcode = ORNIC_XRC | ORNIC_OP_SEND_ONLY;
	ornic_th_inject(&xt->fix.a, &info, NULL, 0);
	KUNIT_EXPECT_EQ(test, ornic_engine_stat(a, ORNIC_STAT_RX_NO_QP), 1);
	inject(xt, ORNIC_OP_SEND_ONLY, 0, &xt->x, 0);
	KUNIT_EXPECT_EQ(test, response_syndrome(xt), ACK);
}

/* ---- SRQs that may not be named -------------------------------------------------- */

static const struct bad_row {
	const char *name;
	u8 which; /* 'n' none, 'z' other domain, 'w' not XRC */
	u8 opcode;
	enum ornic_fix_kind kind;
} bad_rows[] = {
	{ "none", 'n', ORNIC_WQE_SEND, ORNIC_FIX_WIRE },
	{ "of another domain", 'z', ORNIC_WQE_SEND, ORNIC_FIX_WIRE },
	{ "not XRC", 'w', ORNIC_WQE_SEND, ORNIC_FIX_WIRE },
	{ "none, WRITE", 'n', ORNIC_WQE_WRITE, ORNIC_FIX_WIRE },
	{ "another domain, READ", 'z', ORNIC_WQE_READ, ORNIC_FIX_WIRE },
	{ "not XRC, FAA", 'w', ORNIC_WQE_FAA, ORNIC_FIX_WIRE },
	{ "none, loop", 'n', ORNIC_WQE_SEND, ORNIC_FIX_LOOP },
	{ "of another domain, loop", 'z', ORNIC_WQE_WRITE, ORNIC_FIX_LOOP },
	{ "not XRC, loop", 'w', ORNIC_WQE_READ, ORNIC_FIX_LOOP },
};

KUNIT_ARRAY_PARAM_DESC(bad, bad_rows, name);

/* IBTA A14.3.4: an invalid request; the target ends, its domain does not. */
static void xrc_refuses_foreign_srq(struct kunit *test)
{
	const struct bad_row *row = test->param_value;
	struct xrc_test *xt = open_kind(test, row->kind);
	struct ornic_th_srq none = { .srqn = 0xabcdef };
	struct ornic_th_srq *srq = row->which == 'n' ? &none :
				   row->which == 'z' ? &xt->z :
						       &xt->w;
	struct ornic_rsp_query_srq rsp;

	if (row->which != 'n')
		KUNIT_ASSERT_EQ(test, post(xt, srq), 0);
	KUNIT_EXPECT_EQ(test, transfer(xt, srq, row->opcode, 8),
			ORNIC_CQE_REM_INV_REQ_ERR);
	KUNIT_EXPECT_EQ(test, events(xt, ORNIC_EVENT_QP_REQ_ERR), 1);
	KUNIT_EXPECT_EQ(test, events(xt, ORNIC_EVENT_LAST_WQE), 1);
	KUNIT_EXPECT_EQ(test, ornic_th_state(&xt->fix.b), ORNIC_QPS_ERR);
	KUNIT_EXPECT_EQ(test, ornic_th_state(&xt->fix.a), ORNIC_QPS_ERR);
	if (row->which == 'n')
		return;
	KUNIT_ASSERT_EQ(test, ornic_th_srq_query(srq, &rsp), 0);
	KUNIT_EXPECT_EQ(test, le32_to_cpu(rsp.waiting), 1);
}

/* A message is for one SRQ from its first packet to its last. */
static void xrc_send_keeps_its_srq(struct kunit *test)
{
	struct xrc_test *xt = open_kind(test, ORNIC_FIX_WIRE);
	struct ornic_cqe cqe;

	KUNIT_ASSERT_EQ(test, post(xt, &xt->x), 0);
	KUNIT_ASSERT_EQ(test, post(xt, &xt->y), 0);
	inject(xt, ORNIC_OP_SEND_FIRST, 0, &xt->x, 1024);
	KUNIT_EXPECT_EQ(test, response_syndrome(xt), ACK);
	inject(xt, ORNIC_OP_SEND_LAST, 1, &xt->y, 10);
	KUNIT_EXPECT_EQ(test, response_syndrome(xt), NAK_INVALID);
	KUNIT_EXPECT_EQ(test, ornic_fix_status(&xt->xcq, &cqe),
			ORNIC_CQE_WR_FLUSH_ERR);
	KUNIT_EXPECT_EQ(test, ornic_fix_status(&xt->ycq, &cqe), 0xff);
}

/* Also one that takes a receive WQE with its last packet only. */
static void xrc_write_keeps_its_srq(struct kunit *test)
{
	struct xrc_test *xt = open_kind(test, ORNIC_FIX_WIRE);
	struct ornic_cqe cqe;
	struct ornic_txinfo first = {
		.opcode = ORNIC_XRC | ORNIC_OP_WRITE_FIRST,
		.psn = ORNIC_FIX_PSN,
		.ack_req = true,
		.srqn = xt->x.srqn,
		.va = xt->fix.bm.iova,
		.rkey = xt->fix.bm.key,
		.dma_len = 1034,
	};

	KUNIT_ASSERT_EQ(test, post(xt, &xt->y), 0);
	ornic_th_inject(&xt->fix.b, &first, xt->fix.buf, 1024);
	ornic_th_run(xt->fix.pair.b);
	KUNIT_EXPECT_EQ(test, response_syndrome(xt), ACK);
	inject(xt, ORNIC_OP_WRITE_LAST_IMM, 1, &xt->y, 10);
	KUNIT_EXPECT_EQ(test, response_syndrome(xt), NAK_INVALID);
	KUNIT_EXPECT_EQ(test, ornic_fix_status(&xt->ycq, &cqe), 0xff);
}

/* An SRQ of another PD */
static void open_foreign(struct kunit *test, struct xrc_test *xt,
			 struct ornic_th_srq *srq, struct ornic_th_cq *cq)
{
	struct ornic_th *th = xt->fix.pair.b;
	int ret;

	th->pdn++;
	ret = ornic_th_xsrq_init(th, srq, LOG_DEPTH, DOMAIN, cq);
	KUNIT_ASSERT_EQ(test, ret, 0);
	th->pdn--;
}

/* ---- Keys ------------------------------------------------------------------------ */

/* IBTA A14.3.2: they are of the PD of the SRQ; the target has none. */
static void xrc_keys_are_of_the_srqs_pd(struct kunit *test)
{
	static const u8 ops[] = { ORNIC_WQE_WRITE, ORNIC_WQE_READ,
				  ORNIC_WQE_FAA };
	struct xrc_test *xt = open_kind(test, ORNIC_FIX_WIRE);
	struct ornic_th_srq other;
	u32 i;

	open_foreign(test, xt, &other, &xt->xcq);
	for (i = 0; i < ARRAY_SIZE(ops); i++)
		KUNIT_EXPECT_EQ(test, transfer(xt, &xt->x, ops[i], 8), 0);
	KUNIT_EXPECT_EQ(test, transfer(xt, &other, ORNIC_WQE_READ, 8),
			ORNIC_CQE_REM_ACCESS_ERR);
	KUNIT_EXPECT_EQ(test, events(xt, ORNIC_EVENT_QP_ACCESS_ERR), 1);
}

/* What is asked for under one PD is answered under it, whatever comes after. */
static void xrc_response_keeps_its_pd(struct kunit *test)
{
	struct xrc_test *xt = open_kind(test, ORNIC_FIX_WIRE);
	struct ornic_th *th = xt->fix.pair.b;
	struct ornic_th_srq other;

	open_foreign(test, xt, &other, &xt->ycq);
	/* No room on the wire: the READ has to wait. */
	th->tx_window = 0;
	inject(xt, ORNIC_OP_READ_REQUEST, 0, &xt->x, 0);
	inject(xt, ORNIC_OP_SEND_ONLY, 1, &other, 0);
	KUNIT_EXPECT_EQ(test, response_syndrome(xt), 0xff);
	th->tx_window = 16;
	ornic_engine_run(th->eng, xt->fix.b.qpn, th->budget);
	KUNIT_EXPECT_EQ(test, response_syndrome(xt), ACK);
	KUNIT_EXPECT_EQ(test, events(xt, ORNIC_EVENT_QP_ACCESS_ERR), 0);
}

/* So is a copy, also of a READ of nothing, which needs no key. */
static void xrc_copy_has_the_same_pd(struct kunit *test)
{
	struct xrc_test *xt = open_kind(test, ORNIC_FIX_WIRE);
	struct ornic_txinfo read = {
		.opcode = ORNIC_XRC | ORNIC_OP_READ_REQUEST,
		.psn = ORNIC_FIX_PSN,
		.srqn = xt->x.srqn,
	}, copy = read, foreign = read;
	struct ornic_th_srq other;

	open_foreign(test, xt, &other, &xt->ycq);
	ornic_th_inject(&xt->fix.b, &read, NULL, 0);
	KUNIT_EXPECT_EQ(test, response_syndrome(xt), ACK);
	foreign.srqn = other.srqn;
	ornic_th_inject(&xt->fix.b, &foreign, NULL, 0);
	KUNIT_EXPECT_EQ(test, response_syndrome(xt), 0xff);
	ornic_th_inject(&xt->fix.b, &copy, NULL, 0);
	KUNIT_EXPECT_EQ(test, response_syndrome(xt), ACK);
}

/* ---- SRQs that go ---------------------------------------------------------------- */

/* No QP holds an XRC SRQ; a message in the middle has lost its WQE. */
static void xrc_srq_goes_in_a_message(struct kunit *test)
{
	struct xrc_test *xt = open_kind(test, ORNIC_FIX_WIRE);
	struct ornic_th_srq gone = xt->x;
	struct ornic_cqe cqe;

	KUNIT_ASSERT_EQ(test, post(xt, &xt->x), 0);
	inject(xt, ORNIC_OP_SEND_FIRST, 0, &xt->x, 1024);
	KUNIT_EXPECT_EQ(test, response_syndrome(xt), ACK);
	KUNIT_ASSERT_EQ(test, ornic_th_srq_fini(&xt->x), 0);
	inject(xt, ORNIC_OP_SEND_LAST, 1, &gone, 10);
	KUNIT_EXPECT_EQ(test, response_syndrome(xt), NAK_INVALID);
	KUNIT_EXPECT_EQ(test, ornic_fix_status(&xt->xcq, &cqe), 0xff);
	KUNIT_EXPECT_EQ(test, ornic_th_state(&xt->fix.b), ORNIC_QPS_ERR);
}

/* An ACK that was lost is sent again; data that is the SRQ's is not. */
static void xrc_duplicates_outlive_the_srq(struct kunit *test)
{
	struct xrc_test *xt = open_kind(test, ORNIC_FIX_WIRE);
	struct ornic_th_srq gone = xt->x;

	KUNIT_ASSERT_EQ(test, post(xt, &xt->x), 0);
	inject(xt, ORNIC_OP_SEND_ONLY, 0, &xt->x, 10);
	KUNIT_EXPECT_EQ(test, response_syndrome(xt), ACK);
	inject(xt, ORNIC_OP_READ_REQUEST, 1, &xt->x, 0);
	KUNIT_EXPECT_EQ(test, response_syndrome(xt), ACK);
	inject(xt, ORNIC_OP_READ_REQUEST, 1, &xt->x, 0);
	KUNIT_EXPECT_EQ(test, response_syndrome(xt), ACK);
	KUNIT_ASSERT_EQ(test, ornic_th_srq_fini(&xt->x), 0);
	inject(xt, ORNIC_OP_SEND_ONLY, 0, &gone, 10);
	KUNIT_EXPECT_EQ(test, response_syndrome(xt), ACK);
	inject(xt, ORNIC_OP_READ_REQUEST, 1, &gone, 0);
	KUNIT_EXPECT_EQ(test, response_syndrome(xt), 0xff);
	KUNIT_EXPECT_EQ(test, ornic_th_state(&xt->fix.b), ORNIC_QPS_RTS);
}

/* Its CQ stays as long as the SRQ, which is its user. */
static void xrc_srq_holds_its_cq(struct kunit *test)
{
	struct xrc_test *xt = open_kind(test, ORNIC_FIX_LOOP);

	KUNIT_EXPECT_EQ(test, ornic_th_cq_fini(&xt->ycq), ORNIC_BUSY);
	KUNIT_EXPECT_EQ(test, ornic_th_srq_fini(&xt->y), 0);
	KUNIT_EXPECT_EQ(test, ornic_th_cq_fini(&xt->ycq), 0);
}

/* Of the SRQs of a target, one has a CQ that has overflowed. */
static void check_overflow(struct kunit *test, enum ornic_fix_kind kind)
{
	struct xrc_test *xt = open_kind(test, kind);
	u32 i;

	KUNIT_ASSERT_EQ(test, ornic_th_cq_resize(&xt->xcq, 1), 0);
	for (i = 0; i < 3; i++) {
		KUNIT_ASSERT_EQ(test, post(xt, &xt->x), 0);
		KUNIT_EXPECT_EQ(test, transfer(xt, &xt->x, ORNIC_WQE_SEND, 8),
				0);
	}
	KUNIT_EXPECT_EQ(test, events(xt, ORNIC_EVENT_CQ_ERR), 1);
	KUNIT_ASSERT_EQ(test, post(xt, &xt->y), 0);
	KUNIT_EXPECT_EQ(test, transfer(xt, &xt->y, ORNIC_WQE_SEND, 8), 0);
	KUNIT_EXPECT_EQ(test, transfer(xt, &xt->x, ORNIC_WQE_WRITE, 8),
			ORNIC_CQE_REM_OP_ERR);
	KUNIT_EXPECT_EQ(test, events(xt, ORNIC_EVENT_QP_FATAL), 1);
	KUNIT_EXPECT_EQ(test, ornic_th_state(&xt->fix.b), ORNIC_QPS_ERR);
}

static void xrc_overflow_is_the_srqs(struct kunit *test)
{
	check_overflow(test, ORNIC_FIX_WIRE);
}

static void xrc_overflow_is_the_srqs_on_loopback(struct kunit *test)
{
	check_overflow(test, ORNIC_FIX_LOOP);
}

/* What was taken is flushed to the CQ of its SRQ, and no more. */
static void xrc_error_flushes_what_is_taken(struct kunit *test)
{
	struct xrc_test *xt = open_kind(test, ORNIC_FIX_WIRE);
	struct ornic_rsp_query_srq rsp;
	struct ornic_cqe cqe;

	KUNIT_ASSERT_EQ(test, post(xt, &xt->x), 0);
	KUNIT_ASSERT_EQ(test, post(xt, &xt->x), 0);
	inject(xt, ORNIC_OP_SEND_FIRST, 0, &xt->x, 1024);
	KUNIT_ASSERT_EQ(test, ornic_th_to(&xt->fix.b, ORNIC_QPS_ERR), 0);
	KUNIT_EXPECT_EQ(test, ornic_fix_status(&xt->xcq, &cqe),
			ORNIC_CQE_WR_FLUSH_ERR);
	KUNIT_EXPECT_EQ(test, le64_to_cpu(cqe.wr_id), 0);
	KUNIT_EXPECT_EQ(test, ornic_fix_status(&xt->xcq, &cqe), 0xff);
	KUNIT_ASSERT_EQ(test, ornic_th_srq_query(&xt->x, &rsp), 0);
	KUNIT_EXPECT_EQ(test, le32_to_cpu(rsp.waiting), 1);
	KUNIT_EXPECT_EQ(test, events(xt, ORNIC_EVENT_LAST_WQE), 1);
}

/* ---- Creating and changing ------------------------------------------------------- */

static const struct shape_row {
	const char *name;
	u8 type, has_sq, has_rq, flags;
	int status;
} shape_rows[] = {
	{ "initiator", INI, 1, 0, 0, ORNIC_OK },
	{ "initiator, all signalled", INI, 1, 0, ORNIC_QP_SIG_ALL, ORNIC_OK },
	{ "initiator that receives", INI, 1, 1, 0, ORNIC_BAD_PARAM },
	{ "initiator with SRQ", INI, 1, 0, ORNIC_QP_SRQ, ORNIC_BAD_PARAM },
	{ "target", TGT, 0, 0, 0, ORNIC_OK },
	{ "target that sends", TGT, 1, 0, 0, ORNIC_BAD_PARAM },
	{ "target that receives", TGT, 0, 1, 0, ORNIC_BAD_PARAM },
	{ "target with SRQ", TGT, 0, 0, ORNIC_QP_SRQ, ORNIC_BAD_PARAM },
	{ "type between", 7, 0, 0, 0, ORNIC_BAD_PARAM },
	{ "type beyond", 11, 0, 0, 0, ORNIC_BAD_PARAM },
	{ "RC with an XRC SRQ", ORNIC_QPT_RC, 1, 0, ORNIC_QP_SRQ,
	  ORNIC_BAD_PARAM },
};

KUNIT_ARRAY_PARAM_DESC(shape, shape_rows, name);

static void xrc_create_checks(struct kunit *test)
{
	const struct shape_row *row = test->param_value;
	struct xrc_test *xt = open_kind(test, ORNIC_FIX_LOOP);
	u8 *mem = ornic_th_alloc(xt->fix.pair.b, 3 * 4096);
	union ornic_req req = { .hdr.opcode = ORNIC_CMD_CREATE_QP };
	union ornic_rsp rsp;

	KUNIT_ASSERT_NOT_NULL(test, mem);
	req.create_qp.mem.addr = cpu_to_le64((u64)(uintptr_t)mem);
	req.create_qp.mem.npages = cpu_to_le32(3);
	req.create_qp.mem.page_shift = ORNIC_PAGE_SHIFT;
	req.create_qp.send_cqn = cpu_to_le32(xt->xcq.cqn);
	req.create_qp.recv_cqn = cpu_to_le32(xt->xcq.cqn);
	req.create_qp.qp_type = row->type;
	req.create_qp.has_sq = row->has_sq;
	req.create_qp.has_rq = row->has_rq;
	req.create_qp.flags = row->flags;
	req.create_qp.sq_log_stride = 6;
	req.create_qp.rq_log_stride = 6;
	req.create_qp.srqn = cpu_to_le32(xt->x.srqn);
	KUNIT_EXPECT_EQ(test, ornic_th_cmd(xt->fix.pair.b, &req, &rsp),
			row->status);
}

static const struct modify_row {
	const char *name;
	u8 type, state; /* the new state; the QP is in the one before it */
	u32 mask;
	int status;
} modify_rows[] = {
	{ "INI to RTR without responder's part", INI, ORNIC_QPS_RTR,
	  ORNIC_QPM_AV | ORNIC_QPM_PATH_MTU | ORNIC_QPM_DEST_QPN |
		  ORNIC_QPM_RQ_PSN,
	  ORNIC_OK },
	{ "TGT to RTR without it", TGT, ORNIC_QPS_RTR,
	  ORNIC_QPM_AV | ORNIC_QPM_PATH_MTU | ORNIC_QPM_DEST_QPN |
		  ORNIC_QPM_RQ_PSN,
	  ORNIC_BAD_PARAM },
	{ "INI to RTS without retries", INI, ORNIC_QPS_RTS,
	  ORNIC_QPM_TIMEOUT | ORNIC_QPM_SQ_PSN, ORNIC_BAD_PARAM },
	{ "TGT to RTS without them", TGT, ORNIC_QPS_RTS,
	  ORNIC_QPM_TIMEOUT | ORNIC_QPM_SQ_PSN, ORNIC_OK },
	{ "TGT to RTS with them", TGT, ORNIC_QPS_RTS,
	  ORNIC_QPM_TIMEOUT | ORNIC_QPM_SQ_PSN | ORNIC_QPM_RETRY_CNT,
	  ORNIC_BAD_PARAM },
	{ "INI with an RNR timer", INI, ORNIC_QPS_RTS,
	  ORNIC_QPM_TIMEOUT | ORNIC_QPM_SQ_PSN | ORNIC_QPM_RETRY_CNT |
		  ORNIC_QPM_RNR_RETRY | ORNIC_QPM_MAX_RD_ATOMIC |
		  ORNIC_QPM_MIN_RNR_TIMER,
	  ORNIC_BAD_PARAM },
};

KUNIT_ARRAY_PARAM_DESC(modify, modify_rows, name);

/* IBTA A14.5 */
static void xrc_ends_have_half_of_the_attributes(struct kunit *test)
{
	const struct modify_row *row = test->param_value;
	struct xrc_test *xt = open_kind(test, ORNIC_FIX_LOOP);
	struct ornic_th_qp *qp = row->type == INI ? &xt->fix.a : &xt->fix.b;
	u8 s;

	KUNIT_ASSERT_EQ(test, ornic_th_to(qp, ORNIC_QPS_RESET), 0);
	for (s = ORNIC_QPS_INIT; s < row->state; s++)
		KUNIT_ASSERT_EQ(test, ornic_th_to(qp, s), 0);
	KUNIT_EXPECT_EQ(test,
			ornic_th_modify(qp, row->state,
					row->mask | ORNIC_QPM_STATE),
			row->status);
}

/* The same halves may change in SQD, IBTA A14.5. */
static void xrc_changes_its_half_in_sqd(struct kunit *test)
{
	struct xrc_test *xt = open_kind(test, ORNIC_FIX_LOOP);
	struct ornic_th_qp *ini = &xt->fix.a, *tgt = &xt->fix.b;
	u32 both = ORNIC_QPM_STATE | ORNIC_QPM_AV | ORNIC_QPM_TIMEOUT;
	u8 sqd = ORNIC_QPS_SQD;

	KUNIT_ASSERT_EQ(test, ornic_th_to(ini, sqd), 0);
	KUNIT_ASSERT_EQ(test, ornic_th_to(tgt, sqd), 0);
	KUNIT_EXPECT_EQ(test,
			ornic_th_modify(ini, sqd,
					both | ORNIC_QPM_RETRY_CNT |
						ORNIC_QPM_RNR_RETRY |
						ORNIC_QPM_MAX_RD_ATOMIC),
			ORNIC_OK);
	KUNIT_EXPECT_EQ(test,
			ornic_th_modify(tgt, sqd,
					both | ORNIC_QPM_MIN_RNR_TIMER |
						ORNIC_QPM_MAX_DEST_RD_ATOMIC),
			ORNIC_OK);
	KUNIT_EXPECT_EQ(
		test, ornic_th_modify(ini, sqd, both | ORNIC_QPM_MIN_RNR_TIMER),
		ORNIC_BAD_PARAM);
	KUNIT_EXPECT_EQ(test,
			ornic_th_modify(tgt, sqd, both | ORNIC_QPM_RETRY_CNT),
			ORNIC_BAD_PARAM);
}

/* A target has nothing to drain. */
static void xrc_target_is_drained_at_once(struct kunit *test)
{
	struct xrc_test *xt = open_kind(test, ORNIC_FIX_LOOP);

	KUNIT_EXPECT_EQ(test,
			ornic_th_modify(&xt->fix.b, ORNIC_QPS_SQD,
					ORNIC_QPM_STATE | ORNIC_QPM_SQD_NOTIFY),
			0);
	KUNIT_EXPECT_EQ(test, events(xt, ORNIC_EVENT_SQ_DRAINED), 1);
}

static struct kunit_case xrc_cases[] = {
	KUNIT_CASE_PARAM(xrc_moves_data, op_gen_params),
	KUNIT_CASE_PARAM(xrc_moves_data_on_loopback, op_gen_params),
	KUNIT_CASE(xrc_message_chooses_srq),
	KUNIT_CASE(xrc_message_chooses_srq_on_loopback),
	KUNIT_CASE(xrc_targets_share_srq),
	KUNIT_CASE(xrc_empty_srq_is_rnr),
	KUNIT_CASE(xrc_header_follows_bth),
	KUNIT_CASE(xrc_ends_are_not_mixed_up),
	KUNIT_CASE_PARAM(xrc_refuses_foreign_srq, bad_gen_params),
	KUNIT_CASE(xrc_send_keeps_its_srq),
	KUNIT_CASE(xrc_write_keeps_its_srq),
	KUNIT_CASE(xrc_keys_are_of_the_srqs_pd),
	KUNIT_CASE(xrc_response_keeps_its_pd),
	KUNIT_CASE(xrc_copy_has_the_same_pd),
	KUNIT_CASE(xrc_srq_goes_in_a_message),
	KUNIT_CASE(xrc_duplicates_outlive_the_srq),
	KUNIT_CASE(xrc_srq_holds_its_cq),
	KUNIT_CASE(xrc_overflow_is_the_srqs),
	KUNIT_CASE(xrc_overflow_is_the_srqs_on_loopback),
	KUNIT_CASE(xrc_error_flushes_what_is_taken),
	KUNIT_CASE_PARAM(xrc_create_checks, shape_gen_params),
	KUNIT_CASE_PARAM(xrc_ends_have_half_of_the_attributes,
			 modify_gen_params),
	KUNIT_CASE(xrc_changes_its_half_in_sqd),
	KUNIT_CASE(xrc_target_is_drained_at_once),
	{}
};

static struct kunit_suite xrc_suite = {
	.name = "ornic_xrc",
	.init = xrc_init,
	.exit = ornic_suite_exit,
	.test_cases = xrc_cases,
};

kunit_test_suite(xrc_suite);

MODULE_DESCRIPTION("ornic: XRC suite");
MODULE_LICENSE("Dual BSD/GPL");
