// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Send WQEs in their turn: when a QP is run for them, and what becomes of one
 * that turns out to be bad while others before it are not complete.
 */
#include "suite_fixture.h"
#include "engine/dev.h"
#include "engine/proto.h"

#define RC ORNIC_QPT_RC
#define UD ORNIC_QPT_UD
#define PSN ORNIC_FIX_PSN
#define ACK (ORNIC_AETH_ACK | ORNIC_AETH_CREDITS_NONE)

static int status(struct ornic_fixture *fix, u8 *verr)
{
	struct ornic_cqe cqe;
	int status = ornic_fix_status(&fix->ascq, &cqe);

	*verr = cqe.vendor_err;
	return status;
}

static void post(struct ornic_fixture *fix, u8 opcode, u32 len)
{
	ornic_fix_post(&fix->a, &fix->am, &fix->bm, opcode, 0, 0, len);
}

/* Only what may have WQEs that were posted before has a run. */
static void turn_comes_with_rts(struct kunit *test)
{
	struct ornic_th_qpinit init = { .type = RC };
	struct ornic_fixture *fix = test->priv;
	u8 state;

	KUNIT_ASSERT_EQ(test, ornic_fix_open(fix, ORNIC_FIX_LONE, &init), 0);
	ornic_th_av(&fix->a.conn.av, 9, ORNIC_TH_IPV4);
	for (state = ORNIC_QPS_INIT; state <= ORNIC_QPS_RTS; state++) {
		KUNIT_ASSERT_EQ(test, ornic_th_to(&fix->a, state), 0);
		KUNIT_EXPECT_EQ(test, ornic_th_run(fix->pair.a),
				state == ORNIC_QPS_RTS);
	}
	KUNIT_ASSERT_EQ(test,
			ornic_th_modify(&fix->a, ORNIC_QPS_RTS,
					ORNIC_QPM_STATE | ORNIC_QPM_ACCESS),
			0);
	KUNIT_EXPECT_FALSE(test, ornic_th_run(fix->pair.a));
}

/* In SQD the rest of a long message has runs of its own. */
static void turn_in_sqd(struct kunit *test)
{
	struct ornic_th_qpinit init = { .type = RC };
	struct ornic_fixture *fix = test->priv;
	struct ornic_th *th;
	struct ornic_th_mr mr;

	KUNIT_ASSERT_EQ(test, ornic_fix_open(fix, ORNIC_FIX_LONE, &init), 0);
	fix->a.conn.mtu = 5;
	KUNIT_ASSERT_EQ(test, ornic_fix_connect(fix), 0);
	th = fix->pair.a;
	KUNIT_ASSERT_EQ(test,
			ornic_th_mr_init(th, &mr, 2 * ORNIC_LOOP_PIECE, 0, 0,
					 ORNIC_ACCESS_MASK),
			0);
	th->tx_window = 1;
	ornic_fix_post(&fix->a, &mr, &mr, ORNIC_WQE_WRITE, 0, 0, mr.length);
	while (ornic_th_run(th))
		;
	th->tx_window = 1000;
	KUNIT_ASSERT_EQ(test, ornic_th_to(&fix->a, ORNIC_QPS_SQD), 0);
	KUNIT_EXPECT_TRUE(test, ornic_th_run(th));
}

/* Busy polling finds what was posted, where it may be worked on. */
static void turn_by_polling(struct kunit *test)
{
	struct ornic_th_qpinit init = { .type = ORNIC_QPT_XRC_TGT };
	struct ornic_fixture *fix = ornic_suite_open_lone(test, RC);
	struct ornic_th *th = fix->pair.a;
	struct ornic_engine *eng = th->eng;
	struct ornic_th_qp tgt;
	u32 seen = 0;

	KUNIT_ASSERT_EQ(test, ornic_th_qp_init(th, &tgt, &init, NULL, NULL), 0);
	ornic_engine_set_polling(eng, true);
	ornic_th_run(th);
	/* A round begins where it is told to. */
	eng->dev.poll.at = tgt.qpn;
	KUNIT_EXPECT_EQ(test, ornic_engine_poll(eng, 1 << 20), 0);
	post(fix, ORNIC_WQE_SEND, 8192);
	eng->dev.poll.at = fix->a.qpn;
	KUNIT_EXPECT_EQ(test, ornic_engine_poll(eng, 1), 1);
	KUNIT_EXPECT_EQ(test, ornic_engine_poll(eng, 1), 0);
	/* The rest of it has a run of its own. */
	KUNIT_EXPECT_EQ(test, ornic_fix_drain(fix), 8);
	KUNIT_ASSERT_EQ(test, ornic_th_to(&fix->a, ORNIC_QPS_RESET), 0);
	KUNIT_ASSERT_EQ(test, ornic_th_to(&fix->a, ORNIC_QPS_INIT), 0);
	eng->dev.poll.at = fix->a.qpn;
	KUNIT_EXPECT_EQ(test, ornic_engine_poll(eng, 1 << 20), 0);
	KUNIT_EXPECT_EQ(test, ornic_fix_drain(fix), 0);
	/* Of what is not there, or has no send queue, there is nothing to see. */
	KUNIT_EXPECT_FALSE(test, ornic_engine_has_work(eng, tgt.qpn, &seen));
	KUNIT_EXPECT_EQ(test, ornic_th_qp_fini(&tgt), 0);
	KUNIT_EXPECT_FALSE(test, ornic_engine_has_work(eng, tgt.qpn, &seen));
	ornic_engine_busy_poll(eng, tgt.qpn, true);
}

/* IBTA 10.5: UD has no peer, and it is none that is asked for here. */
static void turn_of_peers_only(struct kunit *test)
{
	struct ornic_fixture *fix = ornic_suite_open_lone(test, UD);
	static const u8 ip[40] = { 0x45 };

	KUNIT_EXPECT_FALSE(test, ornic_engine_is_peer(fix->pair.a->eng,
						      fix->a.qpn, ip, false));
}

/* Each packet that takes a PSN shows, but not what only waits. */
static void turn_shows_what_was_sent(struct kunit *test)
{
	struct ornic_fixture *fix = ornic_suite_open_lone(test, RC);
	struct ornic_engine *eng = fix->pair.a->eng;

	KUNIT_EXPECT_EQ(test, ornic_engine_sent(eng, fix->a.qpn), PSN);
	post(fix, ORNIC_WQE_WRITE, 8);
	KUNIT_EXPECT_EQ(test, ornic_engine_sent(eng, fix->a.qpn), PSN + 1);
	ornic_fix_respond(fix, ORNIC_OP_ACK, PSN, ACK, NULL, 0);
	KUNIT_EXPECT_EQ(test, ornic_engine_sent(eng, fix->a.qpn), PSN + 1);
	KUNIT_EXPECT_EQ(test, ornic_engine_sent(eng, fix->a.qpn + 1), 0);
}

/* Its CQ overflowed, but the QP is in RESET: there is nothing to tell of it. */
static void turn_after_an_overflow(struct kunit *test)
{
	struct ornic_fixture *fix = ornic_suite_open_lone(test, RC);
	u32 *fatal = &fix->pair.a->event_count[ORNIC_EVENT_QP_FATAL];
	struct ornic_cq_record *rec = (struct ornic_cq_record *)fix->ascq.mem;

	rec->consumer = cpu_to_le32(1000);
	post(fix, ORNIC_WQE_WRITE, 8);
	ornic_fix_respond(fix, ORNIC_OP_ACK, PSN, ACK, NULL, 0);
	ornic_th_kick(&fix->a);
	KUNIT_EXPECT_EQ(test, *fatal, 1);
	KUNIT_EXPECT_EQ(test, ornic_th_state(&fix->a), ORNIC_QPS_ERR);
	KUNIT_ASSERT_EQ(test, ornic_th_to(&fix->a, ORNIC_QPS_RESET), 0);
	ornic_th_kick(&fix->a);
	KUNIT_EXPECT_EQ(test, *fatal, 1);
	KUNIT_EXPECT_EQ(test, ornic_th_state(&fix->a), ORNIC_QPS_RESET);
}

/* IBTA 10.8.3.3: a window is bound in its turn, and so it fails. */
static void turn_of_a_bad_bind(struct kunit *test)
{
	struct ornic_fixture *fix = ornic_suite_open_lone(test, RC);
	struct ornic_th_wr bind = {
		.opcode = ORNIC_WQE_BIND_MW,
		.flags = ORNIC_WQE_SIGNALED,
		.rkey = 0xbad00,
	};
	u8 verr;

	post(fix, ORNIC_WQE_WRITE, 8);
	ornic_th_post_send(&fix->a, &bind);
	post(fix, ORNIC_WQE_WRITE, 8);
	KUNIT_EXPECT_EQ(test, ornic_fix_drain(fix), 1);
	KUNIT_EXPECT_EQ(test, status(fix, &verr), 0xff);
	ornic_fix_respond(fix, ORNIC_OP_ACK, PSN, ACK, NULL, 0);
	KUNIT_EXPECT_EQ(test, ornic_fix_drain(fix), 0);
	KUNIT_EXPECT_EQ(test, status(fix, &verr), ORNIC_CQE_SUCCESS);
	KUNIT_EXPECT_EQ(test, status(fix, &verr), ORNIC_CQE_MW_BIND_ERR);
	KUNIT_EXPECT_EQ(test, verr, ORNIC_VERR_LKEY_UNKNOWN);
	KUNIT_EXPECT_EQ(test, status(fix, &verr), ORNIC_CQE_WR_FLUSH_ERR);
	KUNIT_EXPECT_EQ(test, status(fix, &verr), 0xff);
}

/*
 * The first WRITE leaves it to the second to ask for an ACK, but that one has no
 * memory: the last packet goes again and asks.
 */
static void turn_of_a_bad_key_needs_an_ack(struct kunit *test)
{
	struct ornic_fixture *fix = ornic_suite_open_lone(test, RC);
	struct ornic_lsge sge = ornic_fix_sge(&fix->am, 0, 8);
	struct ornic_th_wr bad = {
		.opcode = ORNIC_WQE_WRITE,
		.flags = ORNIC_WQE_SIGNALED,
		.nsge = 1,
		.sge = &sge,
	};
	u8 verr;

	fix->pair.a->budget = 0;
	post(fix, ORNIC_WQE_WRITE, 2000);
	sge.lkey ^= 1;
	ornic_th_post_send(&fix->a, &bad);
	fix->pair.a->budget = 1 << 20;
	KUNIT_ASSERT_TRUE(test, ornic_fix_sent(fix));
	KUNIT_EXPECT_FALSE(test, fix->pkt.ack_req);
	KUNIT_ASSERT_TRUE(test, ornic_fix_sent(fix));
	KUNIT_EXPECT_EQ(test, fix->pkt.psn, ornic_psn_add(PSN, 1));
	KUNIT_EXPECT_FALSE(test, fix->pkt.ack_req);
	KUNIT_ASSERT_TRUE(test, ornic_fix_sent(fix));
	KUNIT_EXPECT_EQ(test, fix->pkt.psn, ornic_psn_add(PSN, 1));
	KUNIT_EXPECT_TRUE(test, fix->pkt.ack_req);
	KUNIT_EXPECT_FALSE(test, ornic_fix_sent(fix));
	KUNIT_EXPECT_EQ(test, status(fix, &verr), 0xff);
	ornic_fix_respond(fix, ORNIC_OP_ACK, PSN + 1, ACK, NULL, 0);
	KUNIT_EXPECT_EQ(test, status(fix, &verr), ORNIC_CQE_SUCCESS);
	KUNIT_EXPECT_EQ(test, status(fix, &verr), ORNIC_CQE_LOC_PROT_ERR);
	KUNIT_EXPECT_EQ(test, verr, ORNIC_VERR_LKEY_UNKNOWN);
}

/* As before, but the next one is found bad when it is read: it is asked at once. */
static void turn_of_a_bad_opcode_is_seen_before(struct kunit *test)
{
	struct ornic_fixture *fix = ornic_suite_open_lone(test, RC);
	struct ornic_th_wr bad = {
		.opcode = 0x55,
		.flags = ORNIC_WQE_SIGNALED,
	};

	fix->pair.a->budget = 0;
	post(fix, ORNIC_WQE_WRITE, 8);
	ornic_th_post_send(&fix->a, &bad);
	fix->pair.a->budget = 1 << 20;
	KUNIT_ASSERT_TRUE(test, ornic_fix_sent(fix));
	KUNIT_EXPECT_TRUE(test, fix->pkt.ack_req);
	KUNIT_EXPECT_FALSE(test, ornic_fix_sent(fix));
}

/* IBTA 9.9.2.1.1: without retries the first loss ends it, after progress too. */
static void turn_of_a_loss_without_retries(struct kunit *test)
{
	struct ornic_th_qpinit init = { .type = RC };
	struct ornic_fixture *fix = test->priv;
	u8 verr;

	KUNIT_ASSERT_EQ(test, ornic_fix_open(fix, ORNIC_FIX_LONE, &init), 0);
	fix->a.conn.retry_cnt = 0;
	KUNIT_ASSERT_EQ(test, ornic_fix_connect(fix), 0);
	post(fix, ORNIC_WQE_WRITE, 8);
	post(fix, ORNIC_WQE_WRITE, 8);
	KUNIT_EXPECT_EQ(test, ornic_fix_drain(fix), 2);
	ornic_fix_respond(fix, ORNIC_OP_ACK, PSN + 1,
			  ORNIC_AETH_NAK | ORNIC_NAK_PSN_SEQ, NULL, 0);
	KUNIT_EXPECT_EQ(test, ornic_fix_drain(fix), 0);
	KUNIT_EXPECT_EQ(test, status(fix, &verr), ORNIC_CQE_SUCCESS);
	KUNIT_EXPECT_EQ(test, status(fix, &verr), ORNIC_CQE_RETRY_EXC_ERR);
}

/* IBTA 9.9.2: the response came, and there is no memory for it any more. */
static void turn_of_a_result_without_memory(struct kunit *test)
{
	struct ornic_fixture *fix = ornic_suite_open_lone(test, RC);
	struct ornic_txinfo info = {
		.opcode = ORNIC_OP_ATOMIC_ACK,
		.psn = PSN,
		.syndrome = ACK,
	};
	u8 verr;

	post(fix, ORNIC_WQE_FAA, 8);
	KUNIT_EXPECT_EQ(test, ornic_fix_drain(fix), 1);
	KUNIT_ASSERT_EQ(test, ornic_th_mr_fini(&fix->am), 0);
	ornic_th_inject(&fix->a, &info, NULL, 0);
	KUNIT_EXPECT_EQ(test, status(fix, &verr), ORNIC_CQE_LOC_PROT_ERR);
	KUNIT_EXPECT_EQ(test, verr, ORNIC_VERR_LKEY_UNKNOWN);
	KUNIT_EXPECT_EQ(test, ornic_th_state(&fix->a), ORNIC_QPS_ERR);
}

static const struct datagram_row {
	const char *name;
	u32 ah_pd; /* added to the PD of the QP */
	u32 key_xor;
	int status;
	u8 verr;
} datagram_rows[] = {
	{ "fine", 0, 0, ORNIC_CQE_SUCCESS, 0 },
	{ "IBTA 11.2.2.1: AH of another PD", 1, 0, ORNIC_CQE_LOC_QP_OP_ERR,
	  ORNIC_VERR_AH },
	{ "IBTA 11.6.2: unknown lkey", 0, 1, ORNIC_CQE_LOC_PROT_ERR,
	  ORNIC_VERR_LKEY_UNKNOWN },
};

KUNIT_ARRAY_PARAM_DESC(datagram, datagram_rows, name);

static void turn_of_a_datagram(struct kunit *test)
{
	const struct datagram_row *row = test->param_value;
	struct ornic_fixture *fix = ornic_suite_open_lone(test, UD);
	struct ornic_lsge sge = ornic_fix_sge(&fix->am, 0, 8);
	struct ornic_th_wr wr = {
		.opcode = ORNIC_WQE_SEND,
		.flags = ORNIC_WQE_SIGNALED,
		.nsge = 1,
		.sge = &sge,
		.dest_qpn = 0x456,
	};
	struct ornic_av av;
	u8 verr;

	ornic_th_av(&av, 7, ORNIC_TH_IPV4);
	sge.lkey ^= row->key_xor;
	fix->pair.a->pdn += row->ah_pd;
	KUNIT_ASSERT_EQ(test, ornic_th_ah(fix->pair.a, &av, &wr.ah), 0);
	ornic_th_post_send(&fix->a, &wr);
	KUNIT_EXPECT_EQ(test, status(fix, &verr), row->status);
	KUNIT_EXPECT_EQ(test, verr, row->verr);
	KUNIT_EXPECT_EQ(test, ornic_fix_drain(fix), !row->status);
}

/* ---- What does not fit its slot ------------------------------------------------- */

static const struct slot_row {
	const char *name;
	u8 opcode;
	u8 flags;
	u16 payload; /* bytes inline, or SGEs */
	u8 verr;
} slot_rows[] = {
	{ "bytes of a WRITE", ORNIC_WQE_WRITE, ORNIC_WQE_INLINE, 33,
	  ORNIC_VERR_BAD_INLINE },
	{ "bytes of a SEND", ORNIC_WQE_SEND, ORNIC_WQE_INLINE, 49,
	  ORNIC_VERR_BAD_INLINE },
	{ "SGEs of a WRITE", ORNIC_WQE_WRITE, 0, 3, ORNIC_VERR_BAD_SGE_COUNT },
	{ "SGEs of a SEND", ORNIC_WQE_SEND, 0, 4, ORNIC_VERR_BAD_SGE_COUNT },
	{ "LOCAL_INV inline", ORNIC_WQE_LOCAL_INV, ORNIC_WQE_INLINE, 0,
	  ORNIC_VERR_BAD_SGE_COUNT },
	{ "FLUSH inline", ORNIC_WQE_FLUSH, ORNIC_WQE_INLINE, 0,
	  ORNIC_VERR_BAD_SGE_COUNT },
};

KUNIT_ARRAY_PARAM_DESC(slot, slot_rows, name);

/* Slots of 64 bytes, of a QP that may have more than fits. */
static void make_narrow(struct kunit *test, struct ornic_fixture *fix)
{
	struct ornic_th_qp *qp = &fix->a;
	union ornic_req req;
	union ornic_rsp rsp;

	memset(&req, 0, sizeof(req));
	req.hdr.opcode = ORNIC_CMD_CREATE_QP;
	req.create_qp.mem.addr = cpu_to_le64((u64)(uintptr_t)qp->mem);
	req.create_qp.mem.npages = cpu_to_le32(qp->mem_bytes / 4096);
	req.create_qp.mem.page_shift = ORNIC_PAGE_SHIFT;
	req.create_qp.pdn = cpu_to_le32(fix->pair.a->pdn);
	req.create_qp.send_cqn = cpu_to_le32(fix->ascq.cqn);
	req.create_qp.recv_cqn = cpu_to_le32(fix->arcq.cqn);
	req.create_qp.qp_type = RC;
	req.create_qp.has_sq = 1;
	req.create_qp.sq_log_depth = 4;
	req.create_qp.sq_log_stride = 6;
	req.create_qp.sq_max_sge = 4;
	req.create_qp.max_inline = cpu_to_le16(64);
	KUNIT_ASSERT_EQ(test, ornic_th_cmd(fix->pair.a, &req, &rsp), 0);
	KUNIT_ASSERT_EQ(test,
			ornic_th_destroy_obj(fix->pair.a, ORNIC_CMD_DESTROY_QP,
					     qp->qpn),
			0);
	qp->qpn = le32_to_cpu(rsp.hdr.obj);
	qp->sq_log_stride = 6;
	KUNIT_ASSERT_EQ(test, ornic_fix_connect(fix), 0);
}

/* Its bytes would be those of the next slot, or of no slot at all. */
static void turn_of_what_is_longer_than_its_slot(struct kunit *test)
{
	const struct slot_row *row = test->param_value;
	struct ornic_th_qpinit init = { .type = RC };
	struct ornic_fixture *fix = test->priv;
	struct ornic_sq_hdr *hdr;
	struct ornic_wq_record *rec;
	u8 verr;

	KUNIT_ASSERT_EQ(test, ornic_fix_open(fix, ORNIC_FIX_LONE, &init), 0);
	make_narrow(test, fix);
	hdr = (struct ornic_sq_hdr *)(fix->a.mem + ORNIC_RING_OFFSET);
	rec = (struct ornic_wq_record *)(fix->a.mem + ORNIC_SQ_RECORD);
	memset(hdr, 0, 64);
	hdr->opcode = row->opcode;
	hdr->flags = row->flags | ORNIC_WQE_SIGNALED;
	hdr->payload = cpu_to_le16(row->payload);
	rec->producer = cpu_to_le32(1);
	ornic_th_kick(&fix->a);
	KUNIT_EXPECT_EQ(test, status(fix, &verr), ORNIC_CQE_LOC_QP_OP_ERR);
	KUNIT_EXPECT_EQ(test, verr, row->verr);
	KUNIT_EXPECT_EQ(test, ornic_fix_drain(fix), 0);
}

static struct kunit_case turn_cases[] = {
	KUNIT_CASE(turn_comes_with_rts),
	KUNIT_CASE(turn_in_sqd),
	KUNIT_CASE(turn_by_polling),
	KUNIT_CASE(turn_of_peers_only),
	KUNIT_CASE(turn_shows_what_was_sent),
	KUNIT_CASE(turn_after_an_overflow),
	KUNIT_CASE(turn_of_a_bad_bind),
	KUNIT_CASE(turn_of_a_bad_key_needs_an_ack),
	KUNIT_CASE(turn_of_a_bad_opcode_is_seen_before),
	KUNIT_CASE(turn_of_a_loss_without_retries),
	KUNIT_CASE(turn_of_a_result_without_memory),
	KUNIT_CASE_PARAM(turn_of_a_datagram, datagram_gen_params),
	KUNIT_CASE_PARAM(turn_of_what_is_longer_than_its_slot, slot_gen_params),
	{}
};

static struct kunit_suite turn_suite = {
	.name = "ornic_req_turn",
	.init = ornic_suite_init,
	.exit = ornic_suite_exit,
	.test_cases = turn_cases,
};

kunit_test_suite(turn_suite);

MODULE_DESCRIPTION("ornic: send WQEs in their turn");
MODULE_LICENSE("Dual BSD/GPL");
