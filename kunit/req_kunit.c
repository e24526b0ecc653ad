// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* The requester: WQEs to packets. The peer exists on the wire only. */
#include "suite_fixture.h"
#include "engine/dev.h"

#define PSN ORNIC_FIX_PSN

static u32 payload(struct ornic_fixture *fix, u8 *out)
{
	struct ornic_frag frag[ORNIC_RX_SEGS];
	u32 n = ornic_pkt_payload(&fix->pkt, frag);
	u32 i, len = 0;

	for (i = 0; i < n; i++) {
		memcpy(out + len, frag[i].ptr, frag[i].len);
		len += frag[i].len;
	}
	return len;
}

/* ---- segmentation ---------------------------------------------------------- */

static const struct seg_row {
	const char *desc;
	u8 type;
	u8 opcode;
	u8 mtu; /* enum ib_mtu */
	u32 length;
	u32 npkts;
	u8 first, middle, last; /* BTH opcodes without the transport */
} seg_rows[] = {
	{ "IBTA 9.4.1: empty SEND is SEND Only", ORNIC_QPT_RC, ORNIC_WQE_SEND,
	  1, 0, 1, 0, 0, ORNIC_OP_SEND_ONLY },
	{ "IBTA 9.4.1: 1 byte is SEND Only", ORNIC_QPT_RC, ORNIC_WQE_SEND, 1, 1,
	  1, 0, 0, ORNIC_OP_SEND_ONLY },
	{ "IBTA 9.4.1: one MTU is SEND Only", ORNIC_QPT_RC, ORNIC_WQE_SEND, 1,
	  256, 1, 0, 0, ORNIC_OP_SEND_ONLY },
	{ "IBTA 9.4.1: MTU + 1 is First, Last", ORNIC_QPT_RC, ORNIC_WQE_SEND, 1,
	  257, 2, ORNIC_OP_SEND_FIRST, 0, ORNIC_OP_SEND_LAST },
	{ "IBTA 9.4.1: three MTUs and a bit, 1024", ORNIC_QPT_RC,
	  ORNIC_WQE_SEND, 3, 3 * 1024 + 3, 4, ORNIC_OP_SEND_FIRST,
	  ORNIC_OP_SEND_MIDDLE, ORNIC_OP_SEND_LAST },
	{ "IBTA 9.4.1: immediate in the last packet only", ORNIC_QPT_RC,
	  ORNIC_WQE_SEND_IMM, 2, 1100, 3, ORNIC_OP_SEND_FIRST,
	  ORNIC_OP_SEND_MIDDLE, ORNIC_OP_SEND_LAST_IMM },
	{ "IBTA 9.4.1: SEND Only with immediate", ORNIC_QPT_RC,
	  ORNIC_WQE_SEND_IMM, 5, 4096, 1, 0, 0, ORNIC_OP_SEND_ONLY_IMM },
	{ "IBTA 9.4.3: empty WRITE is WRITE Only", ORNIC_QPT_RC,
	  ORNIC_WQE_WRITE, 3, 0, 1, 0, 0, ORNIC_OP_WRITE_ONLY },
	{ "IBTA 9.4.3: RETH in the first packet only", ORNIC_QPT_RC,
	  ORNIC_WQE_WRITE, 4, 5000, 3, ORNIC_OP_WRITE_FIRST,
	  ORNIC_OP_WRITE_MIDDLE, ORNIC_OP_WRITE_LAST },
	{ "IBTA 9.4.3: WRITE with immediate, many packets", ORNIC_QPT_RC,
	  ORNIC_WQE_WRITE_IMM, 1, 8191, 32, ORNIC_OP_WRITE_FIRST,
	  ORNIC_OP_WRITE_MIDDLE, ORNIC_OP_WRITE_LAST_IMM },
	{ "IBTA 9.4.3: WRITE Only with immediate", ORNIC_QPT_RC,
	  ORNIC_WQE_WRITE_IMM, 1, 7, 1, 0, 0, ORNIC_OP_WRITE_ONLY_IMM },
	{ "IBTA 9.8.2: UC SEND", ORNIC_QPT_UC, ORNIC_WQE_SEND, 3, 2049, 3,
	  ORNIC_OP_SEND_FIRST, ORNIC_OP_SEND_MIDDLE, ORNIC_OP_SEND_LAST },
	{ "IBTA 9.8.2: UC WRITE with immediate", ORNIC_QPT_UC,
	  ORNIC_WQE_WRITE_IMM, 5, 8192, 2, ORNIC_OP_WRITE_FIRST, 0,
	  ORNIC_OP_WRITE_LAST_IMM },
};

KUNIT_ARRAY_PARAM_DESC(seg, seg_rows, desc);

static u8 seg_opcode(const struct seg_row *row, u32 i)
{
	u8 op = i + 1 == row->npkts ? row->last : i ? row->middle : row->first;

	return op | (row->type == ORNIC_QPT_UC ? ORNIC_UC : ORNIC_RC);
}

static void check_segment(struct kunit *test, struct ornic_fixture *fix,
			  const struct seg_row *row, u32 i)
{
	u32 mtu = 128u << row->mtu, last = i + 1 == row->npkts;
	struct ornic_pkt *pkt = &fix->pkt;
	u32 len = last ? row->length - i * mtu : mtu, k;

	KUNIT_EXPECT_EQ(test, pkt->opcode, seg_opcode(row, i));
	KUNIT_EXPECT_EQ(test, pkt->psn, ornic_psn_add(PSN, i));
	KUNIT_EXPECT_EQ(test, pkt->qpn, 0x123);
	KUNIT_EXPECT_EQ(test, pkt->pkey, ORNIC_DEFAULT_PKEY);
	KUNIT_EXPECT_EQ(test, pkt->pad, -len & 3);
	KUNIT_EXPECT_EQ(test, pkt->solicited, last);
	if (last)
		KUNIT_EXPECT_EQ(test, pkt->ack_req, row->type == ORNIC_QPT_RC);
	if (pkt->op->flags & ORNIC_OPF_RETH) {
		KUNIT_EXPECT_EQ(test, pkt->dma_len, row->length);
		KUNIT_EXPECT_EQ(test, pkt->va, fix->bm.iova + 3);
		KUNIT_EXPECT_EQ(test, pkt->rkey, fix->bm.key);
	}
	if (pkt->op->flags & ORNIC_OPF_IMM)
		KUNIT_EXPECT_EQ(test, be32_to_cpu(pkt->imm), 0xabcd0123);
	KUNIT_ASSERT_EQ(test, payload(fix, fix->buf), len);
	for (k = 0; k < len; k++)
		if (fix->buf[k] != ornic_fix_byte(1, 3 + i * mtu + k))
			break;
	KUNIT_EXPECT_EQ(test, k, len);
}

static void req_segments(struct kunit *test)
{
	const struct seg_row *row = test->param_value;
	struct ornic_th_qpinit init = { .type = row->type };
	struct ornic_fixture *fix = test->priv;
	u32 i;

	KUNIT_ASSERT_EQ(test, ornic_fix_open(fix, ORNIC_FIX_LONE, &init), 0);
	fix->a.conn.mtu = row->mtu;
	KUNIT_ASSERT_EQ(test, ornic_fix_connect(fix), 0);
	ornic_fix_fill(&fix->am, 0, ORNIC_FIX_MR_BYTES, 1);
	ornic_fix_post(&fix->a, &fix->am, &fix->bm, row->opcode,
		       ORNIC_WQE_SOLICITED, 3, row->length);
	for (i = 0; i < row->npkts; i++) {
		KUNIT_ASSERT_TRUE(test, ornic_fix_sent(fix));
		check_segment(test, fix, row, i);
	}
	KUNIT_EXPECT_FALSE(test, ornic_fix_sent(fix));
	KUNIT_EXPECT_EQ(test, ornic_th_sq_psn(&fix->a),
			ornic_psn_add(PSN, row->npkts));
}

/* ---- PSNs that READs and atomics take -------------------------------------- */

static const struct read_row {
	const char *desc;
	u8 opcode;
	u32 length;
	u32 psns;
	u8 bth;
} read_rows[] = {
	{ "IBTA 9.4.4: empty READ takes one PSN", ORNIC_WQE_READ, 0, 1,
	  ORNIC_OP_READ_REQUEST },
	{ "IBTA 9.4.4: READ of one MTU takes one", ORNIC_WQE_READ, 1024, 1,
	  ORNIC_OP_READ_REQUEST },
	{ "IBTA 9.4.4: READ of MTU + 1 takes two", ORNIC_WQE_READ, 1025, 2,
	  ORNIC_OP_READ_REQUEST },
	{ "IBTA 9.4.4: READ of 20000 takes 20", ORNIC_WQE_READ, 20000, 20,
	  ORNIC_OP_READ_REQUEST },
	{ "IBTA 9.4.5: CAS takes one", ORNIC_WQE_CAS, 8, 1, ORNIC_OP_CAS },
	{ "IBTA 9.4.5: FAA takes one", ORNIC_WQE_FAA, 8, 1, ORNIC_OP_FAA },
};

KUNIT_ARRAY_PARAM_DESC(read, read_rows, desc);

static void req_fetch_takes_psns(struct kunit *test)
{
	const struct read_row *row = test->param_value;
	struct ornic_fixture *fix = ornic_suite_open_lone(test, ORNIC_QPT_RC);
	struct ornic_pkt *pkt = &fix->pkt;

	ornic_fix_post(&fix->a, &fix->am, &fix->bm, row->opcode, 0, 8,
		       row->length);
	ornic_fix_post(&fix->a, &fix->am, NULL, ORNIC_WQE_SEND, 0, 0, 4);
	KUNIT_ASSERT_TRUE(test, ornic_fix_sent(fix));
	KUNIT_EXPECT_EQ(test, pkt->opcode, row->bth);
	KUNIT_EXPECT_EQ(test, pkt->psn, PSN);
	KUNIT_EXPECT_EQ(test, pkt->payload_len, 0);
	KUNIT_EXPECT_EQ(test, pkt->va, fix->bm.iova + 8);
	KUNIT_EXPECT_EQ(test, pkt->rkey, fix->bm.key);
	if (row->opcode == ORNIC_WQE_READ)
		KUNIT_EXPECT_EQ(test, pkt->dma_len, row->length);
	else
		KUNIT_EXPECT_EQ(test, pkt->swap_add, 1);
	KUNIT_ASSERT_TRUE(test, ornic_fix_sent(fix));
	KUNIT_EXPECT_EQ(test, pkt->opcode, ORNIC_OP_SEND_ONLY);
	KUNIT_EXPECT_EQ(test, pkt->psn, ornic_psn_add(PSN, row->psns));
}

/* ---- WQEs that are wrong --------------------------------------------------- */

enum break_it {
	FINE,
	BAD_KEY,
	OTHER_PD,
	NO_WRITE,
	PAST_END,
	WRAP,
	MANY_SGES,
	LONG_INLINE,
	FLAGS,
};

static const struct bad_row {
	const char *desc;
	u8 type;
	u8 opcode;
	u32 length;
	enum break_it how;
	u8 status;
	u8 verr;
} bad_rows[] = {
	{ "no such opcode", ORNIC_QPT_RC, 0x1f, 8, FINE,
	  ORNIC_CQE_LOC_QP_OP_ERR, ORNIC_VERR_BAD_OPCODE },
	{ "no such opcode, the first", ORNIC_QPT_RC, ORNIC_WQE_TAG_SYNC + 1, 8,
	  FINE, ORNIC_CQE_LOC_QP_OP_ERR, ORNIC_VERR_BAD_OPCODE },
	{ "no such opcode, 0xff", ORNIC_QPT_RC, 0xff, 8, FINE,
	  ORNIC_CQE_LOC_QP_OP_ERR, ORNIC_VERR_BAD_OPCODE },
	{ "IBTA table 1: READ on UC", ORNIC_QPT_UC, ORNIC_WQE_READ, 8, FINE,
	  ORNIC_CQE_LOC_QP_OP_ERR, ORNIC_VERR_BAD_OPCODE },
	{ "IBTA table 1: FAA on UC", ORNIC_QPT_UC, ORNIC_WQE_FAA, 8, FINE,
	  ORNIC_CQE_LOC_QP_OP_ERR, ORNIC_VERR_BAD_OPCODE },
	{ "IBTA table 1: WRITE on UD", ORNIC_QPT_UD, ORNIC_WQE_WRITE, 8, FINE,
	  ORNIC_CQE_LOC_QP_OP_ERR, ORNIC_VERR_BAD_OPCODE },
	{ "unknown flag", ORNIC_QPT_RC, ORNIC_WQE_SEND, 8, FLAGS,
	  ORNIC_CQE_LOC_QP_OP_ERR, ORNIC_VERR_BAD_FLAGS },
	{ "more SGEs than max_sge", ORNIC_QPT_RC, ORNIC_WQE_SEND, 8, MANY_SGES,
	  ORNIC_CQE_LOC_QP_OP_ERR, ORNIC_VERR_BAD_SGE_COUNT },
	{ "more inline than max_inline", ORNIC_QPT_RC, ORNIC_WQE_SEND, 8,
	  LONG_INLINE, ORNIC_CQE_LOC_QP_OP_ERR, ORNIC_VERR_BAD_INLINE },
	{ "IBTA 11.6.2: unknown lkey", ORNIC_QPT_RC, ORNIC_WQE_SEND, 8, BAD_KEY,
	  ORNIC_CQE_LOC_PROT_ERR, ORNIC_VERR_LKEY_UNKNOWN },
	{ "IBTA 10.6.3.4: MR of another PD", ORNIC_QPT_RC, ORNIC_WQE_SEND, 8,
	  OTHER_PD, ORNIC_CQE_LOC_PROT_ERR, ORNIC_VERR_LKEY_PD },
	{ "IBTA 11.6.2: past the end of the MR", ORNIC_QPT_RC, ORNIC_WQE_WRITE,
	  100, PAST_END, ORNIC_CQE_LOC_PROT_ERR, ORNIC_VERR_LKEY_RANGE },
	{ "IBTA 11.6.2: address wraps", ORNIC_QPT_RC, ORNIC_WQE_SEND, 100, WRAP,
	  ORNIC_CQE_LOC_PROT_ERR, ORNIC_VERR_LKEY_RANGE },
	{ "IBTA 11.6.2: READ into an unknown lkey", ORNIC_QPT_RC,
	  ORNIC_WQE_READ, 8, BAD_KEY, ORNIC_CQE_LOC_PROT_ERR,
	  ORNIC_VERR_LKEY_UNKNOWN },
	{ "IBTA 10.6.5: READ into an MR without local write", ORNIC_QPT_RC,
	  ORNIC_WQE_READ, 8, NO_WRITE, ORNIC_CQE_LOC_PROT_ERR,
	  ORNIC_VERR_LKEY_ACCESS },
	{ "IBTA 10.6.5: atomic into an MR without local write", ORNIC_QPT_RC,
	  ORNIC_WQE_CAS, 8, NO_WRITE, ORNIC_CQE_LOC_PROT_ERR,
	  ORNIC_VERR_LKEY_ACCESS },
	{ "IBTA A19.4.2: ATOMIC WRITE of an unknown lkey", ORNIC_QPT_RC,
	  ORNIC_WQE_ATOMIC_WRITE, 8, BAD_KEY, ORNIC_CQE_LOC_PROT_ERR,
	  ORNIC_VERR_LKEY_UNKNOWN },
	{ "LOCAL_INV with data", ORNIC_QPT_RC, ORNIC_WQE_LOCAL_INV, 8, FINE,
	  ORNIC_CQE_LOC_QP_OP_ERR, ORNIC_VERR_BAD_SGE_COUNT },
	{ "FLUSH with data", ORNIC_QPT_RC, ORNIC_WQE_FLUSH, 8, FINE,
	  ORNIC_CQE_LOC_QP_OP_ERR, ORNIC_VERR_BAD_SGE_COUNT },
	{ "atomic of 4 bytes", ORNIC_QPT_RC, ORNIC_WQE_FAA, 4, FINE,
	  ORNIC_CQE_LOC_LEN_ERR, ORNIC_VERR_BAD_LENGTH },
	{ "IBTA 9.8.3.1: UD message above the MTU", ORNIC_QPT_UD,
	  ORNIC_WQE_SEND, 4097, FINE, ORNIC_CQE_LOC_LEN_ERR,
	  ORNIC_VERR_BAD_LENGTH },
	{ "IBTA C9-93: more than 2^31 bytes", ORNIC_QPT_RC, ORNIC_WQE_SEND,
	  0xffffffff, FINE, ORNIC_CQE_LOC_LEN_ERR, ORNIC_VERR_BAD_LENGTH },
	{ "unknown AH", ORNIC_QPT_UD, ORNIC_WQE_SEND, 8, FINE,
	  ORNIC_CQE_LOC_QP_OP_ERR, ORNIC_VERR_AH },
};

KUNIT_ARRAY_PARAM_DESC(bad, bad_rows, desc);

static void break_wr(struct ornic_fixture *fix, const struct bad_row *row,
		     struct ornic_th_wr *wr, struct ornic_lsge *sge)
{
	struct ornic_th_mr other;

	switch (row->how) {
	case BAD_KEY:
		sge->lkey ^= 1;
		break;
	case OTHER_PD:
	case NO_WRITE:
		if (row->how == OTHER_PD)
			fix->pair.a->pdn++;
		ornic_th_mr_init(fix->pair.a, &other, 64, 0, 0, 0);
		sge->lkey = other.key;
		sge->addr = other.iova;
		break;
	case PAST_END:
		sge->addr += ORNIC_FIX_MR_BYTES - 99;
		break;
	case WRAP:
		sge->addr = -50ull;
		break;
	case MANY_SGES:
		wr->nsge = 5;
		break;
	case LONG_INLINE:
		wr->flags |= ORNIC_WQE_INLINE;
		wr->inline_len = 65;
		wr->inline_data = fix->buf;
		break;
	case FLAGS:
		wr->flags |= 0x20;
		break;
	default:
		break;
	}
}

static void req_refuses(struct kunit *test)
{
	const struct bad_row *row = test->param_value;
	struct ornic_fixture *fix = ornic_suite_open_lone(test, row->type);
	struct ornic_lsge sge[5] = { 0 };
	struct ornic_th_wr wr = {
		.wr_id = 77,
		.opcode = row->opcode,
		.nsge = 1,
		.sge = sge,
		.raddr = 0x1000,
		.rkey = 1,
		.ah = 0xdead,
	};
	struct ornic_cqe cqe;

	sge[0] = ornic_fix_sge(&fix->am, 0, row->length);
	break_wr(fix, row, &wr, sge);
	ornic_th_post_send(&fix->a, &wr);
	ornic_fix_post(&fix->a, &fix->am, NULL, ORNIC_WQE_SEND, 0, 0, 4);
	KUNIT_EXPECT_EQ(test, ornic_fix_drain(fix), 0);
	KUNIT_EXPECT_EQ(test, ornic_fix_status(&fix->ascq, &cqe), row->status);
	KUNIT_EXPECT_EQ(test, cqe.vendor_err, row->verr);
	KUNIT_EXPECT_EQ(test, le64_to_cpu(cqe.wr_id), 77);
	KUNIT_EXPECT_EQ(test, ornic_fix_status(&fix->ascq, &cqe),
			ORNIC_CQE_WR_FLUSH_ERR);
	KUNIT_EXPECT_EQ(test, ornic_fix_status(&fix->ascq, &cqe), 0xff);
	KUNIT_EXPECT_EQ(test, ornic_th_state(&fix->a),
			row->type == ORNIC_QPT_RC ? ORNIC_QPS_ERR :
						    ORNIC_QPS_SQE);
}

/* A bad WQE fails in its turn: what was sent before completes first. */
static void req_bad_wqe_waits_its_turn(struct kunit *test)
{
	struct ornic_fixture *fix = ornic_suite_open_lone(test, ORNIC_QPT_RC);
	struct ornic_th_wr bad = { .wr_id = 9, .opcode = 0x55 };
	struct ornic_cqe cqe;

	ornic_fix_post(&fix->a, &fix->am, NULL, ORNIC_WQE_SEND, 0, 0, 4);
	ornic_th_post_send(&fix->a, &bad);
	KUNIT_EXPECT_EQ(test, ornic_fix_status(&fix->ascq, &cqe), 0xff);
	KUNIT_EXPECT_GE(test, ornic_fix_drain(fix), 1);
	ornic_fix_respond(fix, ORNIC_OP_ACK, PSN, 0x1f, NULL, 0);
	KUNIT_EXPECT_EQ(test, ornic_fix_status(&fix->ascq, &cqe),
			ORNIC_CQE_SUCCESS);
	KUNIT_EXPECT_EQ(test, ornic_fix_status(&fix->ascq, &cqe),
			ORNIC_CQE_LOC_QP_OP_ERR);
	KUNIT_EXPECT_EQ(test, ornic_th_state(&fix->a), ORNIC_QPS_ERR);
}

/* ---- ordering and windows -------------------------------------------------- */

static const u8 READ_1[8] = { 1, 2, 3, 4, 5, 6, 7, 8 };

/* IBTA 10.8.3.3: a fenced WQE waits for READs and atomics before it. */
static void req_fence(struct kunit *test)
{
	struct ornic_fixture *fix = ornic_suite_open_lone(test, ORNIC_QPT_RC);

	ornic_fix_post(&fix->a, &fix->am, &fix->bm, ORNIC_WQE_READ, 0, 0, 8);
	ornic_fix_post(&fix->a, &fix->am, NULL, ORNIC_WQE_SEND, ORNIC_WQE_FENCE,
		       0, 4);
	KUNIT_EXPECT_EQ(test, ornic_fix_drain(fix), 1);
	ornic_fix_respond(fix, ORNIC_OP_READ_RESP_ONLY, PSN, 0x1f, READ_1, 8);
	KUNIT_ASSERT_TRUE(test, ornic_fix_sent(fix));
	KUNIT_EXPECT_EQ(test, fix->pkt.opcode, ORNIC_OP_SEND_ONLY);
}

/* IBTA 9.7.3: no more READs and atomics out than max_rd_atomic. */
static void req_max_rd_atomic(struct kunit *test)
{
	struct ornic_fixture *fix = ornic_suite_open_lone(test, ORNIC_QPT_RC);
	u32 i;

	for (i = 0; i < 6; i++)
		ornic_fix_post(&fix->a, &fix->am, &fix->bm, ORNIC_WQE_READ, 0,
			       i * 8, 8);
	KUNIT_EXPECT_EQ(test, ornic_fix_drain(fix), 4);
	ornic_fix_respond(fix, ORNIC_OP_READ_RESP_ONLY, PSN, 0x1f, READ_1, 8);
	KUNIT_EXPECT_EQ(test, ornic_fix_drain(fix), 1);
}

static void req_no_rd_atomic(struct kunit *test)
{
	struct ornic_th_qpinit init = { .type = ORNIC_QPT_RC };
	struct ornic_fixture *fix = test->priv;
	struct ornic_cqe cqe;

	KUNIT_ASSERT_EQ(test, ornic_fix_open(fix, ORNIC_FIX_LONE, &init), 0);
	fix->a.conn.max_rd_atomic = 0;
	KUNIT_ASSERT_EQ(test, ornic_fix_connect(fix), 0);
	ornic_fix_post(&fix->a, &fix->am, &fix->bm, ORNIC_WQE_READ, 0, 0, 8);
	KUNIT_EXPECT_EQ(test, ornic_fix_status(&fix->ascq, &cqe),
			ORNIC_CQE_LOC_QP_OP_ERR);
	KUNIT_EXPECT_EQ(test, cqe.vendor_err, ORNIC_VERR_RD_ATOMIC);
}

/* The host's room bounds the frames in flight, and room brings the rest. */
static void req_obeys_tx_room(struct kunit *test)
{
	struct ornic_fixture *fix = ornic_suite_open_lone(test, ORNIC_QPT_RC);
	struct ornic_th *th = fix->pair.a;
	struct ornic_th_frame *f;
	u32 n = 0;

	th->tx_window = 2;
	ornic_fix_post(&fix->a, &fix->am, NULL, ORNIC_WQE_SEND, 0, 0, 10240);
	KUNIT_ASSERT_NOT_NULL(test, th->hqps);
	KUNIT_EXPECT_EQ(test, th->hqps->in_flight, 2);
	while ((f = ornic_th_pull(th)) != NULL) {
		n++;
		ornic_th_put(th, f);
		ornic_th_run(th);
		KUNIT_EXPECT_LE(test, th->hqps->in_flight, 2);
	}
	KUNIT_EXPECT_EQ(test, n, 10);
}

/* A budget that is used up leaves the rest to runs, and no frame is lost. */
static void req_obeys_budget(struct kunit *test)
{
	struct ornic_fixture *fix = ornic_suite_open_lone(test, ORNIC_QPT_RC);

	fix->pair.a->budget = 1;
	ornic_fix_post(&fix->a, &fix->am, NULL, ORNIC_WQE_SEND, 0, 0, 10240);
	KUNIT_ASSERT_NOT_NULL(test, fix->pair.a->hqps);
	KUNIT_EXPECT_EQ(test, fix->pair.a->hqps->in_flight, 1);
	KUNIT_EXPECT_EQ(test, ornic_fix_drain(fix), 10);
}

/* A response to a busy CPU: the QP asks to be run, if there is more to send. */
static void req_leaves_busy_cpu(struct kunit *test)
{
	struct ornic_fixture *fix = ornic_suite_open_lone(test, ORNIC_QPT_RC);
	struct ornic_th *th = fix->pair.a;
	struct ornic_cqe cqe;
	struct ornic_txinfo info = { .opcode = ORNIC_OP_ACK,
				     .psn = PSN + 31,
				     .syndrome = ORNIC_AETH_ACK };

	ornic_fix_post(&fix->a, &fix->am, NULL, ORNIC_WQE_SEND, 0, 0,
		       40 * 1024);
	KUNIT_EXPECT_EQ(test, ornic_fix_drain(fix), 32);
	th->busy_here = true;
	ornic_th_inject(&fix->a, &info, NULL, 0);
	KUNIT_EXPECT_NULL(test, th->tx_head);
	KUNIT_EXPECT_TRUE(test, ornic_th_run(th));
	KUNIT_EXPECT_EQ(test, ornic_fix_drain(fix), 8);
	info.psn = PSN + 39;
	ornic_th_inject(&fix->a, &info, NULL, 0);
	KUNIT_EXPECT_EQ(test, ornic_fix_status(&fix->ascq, &cqe), 0);
	KUNIT_EXPECT_FALSE(test, ornic_th_run(th));
}

/* kick_wanted: set at rest, clear while the device looks by itself. */
static void req_kick_wanted(struct kunit *test)
{
	struct ornic_fixture *fix = ornic_suite_open_lone(test, ORNIC_QPT_RC);
	struct ornic_wq_record *rec = (struct ornic_wq_record *)fix->a.mem;
	u64 kicks;

	KUNIT_EXPECT_NE(test, le32_to_cpu(rec->kick_wanted), 0);
	fix->pair.a->tx_window = 1;
	ornic_fix_post(&fix->a, &fix->am, NULL, ORNIC_WQE_SEND, 0, 0, 4096);
	KUNIT_EXPECT_EQ(test, le32_to_cpu(rec->kick_wanted), 0);
	kicks = ornic_engine_stat(fix->pair.a->eng, ORNIC_STAT_KICKS);
	ornic_fix_post(&fix->a, &fix->am, NULL, ORNIC_WQE_SEND, 0, 0, 1);
	KUNIT_EXPECT_EQ(test,
			ornic_engine_stat(fix->pair.a->eng, ORNIC_STAT_KICKS),
			kicks);
	KUNIT_EXPECT_EQ(test, ornic_fix_drain(fix), 5);
	KUNIT_EXPECT_NE(test, le32_to_cpu(rec->kick_wanted), 0);
}

/* Polling keeps kick_wanted clear, and poll finds the work. */
static void req_polling(struct kunit *test)
{
	struct ornic_fixture *fix = ornic_suite_open_lone(test, ORNIC_QPT_RC);
	struct ornic_wq_record *rec = (struct ornic_wq_record *)fix->a.mem;
	struct ornic_engine *eng = fix->pair.a->eng;

	/* The round begins where the QP is. */
	eng->dev.poll.at = fix->a.qpn;
	ornic_engine_set_polling(eng, true);
	ornic_th_run(fix->pair.a);
	KUNIT_EXPECT_EQ(test, le32_to_cpu(rec->kick_wanted), 0);
	ornic_fix_post(&fix->a, &fix->am, NULL, ORNIC_WQE_SEND, 0, 0, 4);
	KUNIT_EXPECT_EQ(test, ornic_engine_stat(eng, ORNIC_STAT_KICKS), 0);
	KUNIT_EXPECT_EQ(test, ornic_engine_poll(eng, 1000000), 1);
	KUNIT_EXPECT_EQ(test, ornic_fix_drain(fix), 1);
	KUNIT_EXPECT_EQ(test, ornic_engine_poll(eng, 1000000), 0);
	ornic_engine_set_polling(eng, false);
	ornic_th_run(fix->pair.a);
	KUNIT_EXPECT_NE(test, le32_to_cpu(rec->kick_wanted), 0);
	ornic_fix_post(&fix->a, &fix->am, NULL, ORNIC_WQE_SEND, 0, 0, 4);
	KUNIT_EXPECT_EQ(test, ornic_fix_drain(fix), 1);
}

/* Who watches a QP finds each post once; afterwards it asks for kicks again. */
static void req_polled(struct kunit *test)
{
	struct ornic_fixture *fix = ornic_suite_open_lone(test, ORNIC_QPT_RC);
	struct ornic_wq_record *rec = (struct ornic_wq_record *)fix->a.mem;
	struct ornic_engine *eng = fix->pair.a->eng;
	u32 qpn = fix->a.qpn, seen = 0;

	ornic_engine_busy_poll(eng, qpn, true);
	ornic_engine_run(eng, qpn, 1000000);
	KUNIT_EXPECT_EQ(test, le32_to_cpu(rec->kick_wanted), 0);
	KUNIT_EXPECT_FALSE(test, ornic_engine_has_work(eng, qpn, &seen));
	ornic_fix_post(&fix->a, &fix->am, NULL, ORNIC_WQE_SEND, 0, 0, 4);
	KUNIT_EXPECT_EQ(test, ornic_engine_stat(eng, ORNIC_STAT_KICKS), 0);
	KUNIT_EXPECT_TRUE(test, ornic_engine_has_work(eng, qpn, &seen));
	KUNIT_EXPECT_FALSE(test, ornic_engine_has_work(eng, qpn, &seen));
	ornic_fix_post(&fix->a, &fix->am, NULL, ORNIC_WQE_SEND, 0, 0, 4);
	ornic_engine_busy_poll(eng, qpn, false);
	ornic_engine_run(eng, qpn, 1000000);
	KUNIT_EXPECT_EQ(test, ornic_fix_drain(fix), 2);
	KUNIT_EXPECT_NE(test, le32_to_cpu(rec->kick_wanted), 0);
	KUNIT_EXPECT_FALSE(test, ornic_engine_has_work(eng, qpn + 1, &seen));
}

#define MANY 50
/* Looks that take in all numbers, when less than 16 QPs are among those of each. */
#define LOOKS ((1u << ORNIC_LOG_MAX_QP) / ORNIC_POLL_SPAN + 1)

/* These find what is posted, whichever QP it is, and however often. */
static bool poll_finds(struct ornic_fixture *fix, struct ornic_th_qp *qp)
{
	u32 looks;

	ornic_fix_post(qp, &fix->am, NULL, ORNIC_WQE_SEND, 0, 0, 4);
	for (looks = 0; looks < LOOKS; looks++) {
		if (ornic_engine_poll(fix->pair.a->eng, 1000000))
			return ornic_fix_drain(fix) == 1;
	}
	return false;
}

/* More QPs than a look takes in; some go while they are remembered. */
static void req_polls_many(struct kunit *test)
{
	struct ornic_fixture *fix = ornic_suite_open_lone(test, ORNIC_QPT_RC);
	struct ornic_th_qpinit init = { .type = ORNIC_QPT_RC };
	struct ornic_th_qp *qps;
	u32 round, i;
	int err;

	qps = kunit_kzalloc(test, MANY * sizeof(*qps), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, qps);
	for (i = 0; i < MANY; i++) {
		err = ornic_th_qp_init(fix->pair.a, &qps[i], &init, &fix->ascq,
				       &fix->arcq);
		KUNIT_ASSERT_EQ(test, err, 0);
		err = ornic_th_connect(&qps[i], NULL, ORNIC_TH_IPV4);
		KUNIT_ASSERT_EQ(test, err, 0);
	}
	ornic_engine_set_polling(fix->pair.a->eng, true);
	ornic_th_run(fix->pair.a);
	for (round = 0; round < 3; round++) {
		for (i = 0; i < MANY; i++)
			KUNIT_EXPECT_TRUE(test, poll_finds(fix, &qps[i]));
	}
	/* One look takes in all that had some last. */
	for (i = MANY - ORNIC_POLL_RECENT; i < MANY; i++)
		ornic_fix_post(&qps[i], &fix->am, NULL, ORNIC_WQE_SEND, 0, 0,
			       4);
	KUNIT_EXPECT_EQ(test, ornic_engine_poll(fix->pair.a->eng, 1000000),
			ORNIC_POLL_RECENT);
	KUNIT_EXPECT_EQ(test, ornic_fix_drain(fix), ORNIC_POLL_RECENT);
	for (i = 0; i < MANY; i += 2)
		KUNIT_EXPECT_EQ(test, ornic_th_qp_fini(&qps[i]), 0);
	for (i = 1; i < MANY; i += 2)
		KUNIT_EXPECT_TRUE(test, poll_finds(fix, &qps[i]));
	KUNIT_EXPECT_EQ(test, ornic_engine_poll(fix->pair.a->eng, 1000000), 0);
}

static const struct nonsense_row {
	const char *desc;
	u32 sends; /* posted and out before */
	u32 producer;
} nonsense_rows[] = {
	{ "producer beyond the ring", 0, 17 },
	{ "producer far beyond the ring", 0, 0x80000000 },
	{ "producer beyond what is free", 3, 17 },
	{ "producer goes back", 3, 2 },
	{ "producer goes back beyond the oldest", 3, 0xffffffff },
};

KUNIT_ARRAY_PARAM_DESC(nonsense, nonsense_rows, desc);

/* A producer that cannot be is a fatal event, and nothing is sent for it. */
static void req_nonsense_producer(struct kunit *test)
{
	const struct nonsense_row *row = test->param_value;
	struct ornic_fixture *fix = ornic_suite_open_lone(test, ORNIC_QPT_RC);
	struct ornic_wq_record *rec = (struct ornic_wq_record *)fix->a.mem;
	struct ornic_cqe cqe;
	u32 i;

	for (i = 0; i < row->sends; i++)
		ornic_fix_post(&fix->a, &fix->am, NULL, ORNIC_WQE_SEND, 0, 0,
			       4);
	KUNIT_EXPECT_EQ(test, ornic_fix_drain(fix), row->sends);
	WRITE_ONCE(rec->producer, cpu_to_le32(row->producer));
	ornic_th_kick(&fix->a);
	KUNIT_EXPECT_EQ(test, ornic_fix_drain(fix), 0);
	KUNIT_EXPECT_EQ(test, ornic_th_state(&fix->a), ORNIC_QPS_ERR);
	KUNIT_EXPECT_EQ(test, fix->pair.a->event_count[ORNIC_EVENT_QP_FATAL],
			1);
	/* What was posted before is flushed; nothing more is read. */
	WRITE_ONCE(rec->producer, cpu_to_le32(row->sends + 1));
	ornic_th_kick(&fix->a);
	ornic_fix_drain(fix);
	for (i = 0; ornic_th_poll(&fix->ascq, &cqe); i++)
		;
	KUNIT_EXPECT_EQ(test, i, row->sends);
}

/* ---- payload sources ------------------------------------------------------- */

/* IBTA 10.8.3: gathered SGEs, empty ones among them, are one message. */
static void req_gathers(struct kunit *test)
{
	struct ornic_fixture *fix = ornic_suite_open_lone(test, ORNIC_QPT_RC);
	struct ornic_lsge sge[4];
	struct ornic_th_wr wr = {
		.opcode = ORNIC_WQE_SEND,
		.nsge = 4,
		.sge = sge,
	};
	u32 i;

	sge[0] = ornic_fix_sge(&fix->am, 0, 10);
	sge[1] = ornic_fix_sge(&fix->am, 0, 0);
	sge[1].lkey = 0xbad; /* never looked at: no bytes */
	sge[2] = ornic_fix_sge(&fix->am, 10, 4090);
	sge[3] = ornic_fix_sge(&fix->am, 4100, 20);
	ornic_th_post_send(&fix->a, &wr);
	for (i = 0; ornic_fix_sent(fix); i++) {
		u32 len = payload(fix, fix->buf), k;

		for (k = 0; k < len; k++)
			if (fix->buf[k] != ornic_fix_byte(1, i * 1024 + k))
				break;
		KUNIT_EXPECT_EQ(test, k, len);
	}
	KUNIT_EXPECT_EQ(test, i, 5);
}

/* As many pieces as there can be: every SGE lies across two pages. */
static void req_gathers_across_pages(struct kunit *test)
{
	struct ornic_th_qpinit init = { .type = ORNIC_QPT_RC, .max_sge = 32 };
	struct ornic_fixture *fix = test->priv;
	struct ornic_lsge *sge =
		kunit_kzalloc(test, 32 * sizeof(*sge), GFP_KERNEL);
	struct ornic_th_wr wr = { .nsge = 32, .sge = sge };
	u32 i;

	KUNIT_ASSERT_NOT_NULL(test, sge);
	KUNIT_ASSERT_EQ(test, ornic_fix_open(fix, ORNIC_FIX_LONE, &init), 0);
	fix->a.conn.mtu = 5;
	KUNIT_ASSERT_EQ(test, ornic_fix_connect(fix), 0);
	/* The MR begins at 100 of its first page. */
	for (i = 0; i < 32; i++) {
		u32 off = 4096 * (i % 15 + 1) - 100 - 3;

		sge[i] = ornic_fix_sge(&fix->am, off, 6);
		ornic_fix_fill(&fix->am, off, 6, i % 15);
	}
	ornic_th_post_send(&fix->a, &wr);
	KUNIT_ASSERT_TRUE(test, ornic_fix_sent(fix));
	KUNIT_ASSERT_EQ(test, payload(fix, fix->buf), 32 * 6);
	for (i = 0; i < 32 * 6; i++)
		if (fix->buf[i] != ornic_fix_byte(i / 6 % 15, i % 6))
			break;
	KUNIT_EXPECT_EQ(test, i, 32 * 6);
}

/* Inline data is taken when it is posted, also for a later retransmission. */
static void req_inline(struct kunit *test)
{
	struct ornic_fixture *fix = ornic_suite_open_lone(test, ORNIC_QPT_RC);
	u8 data[64], ring[64];
	struct ornic_th_wr wr = {
		.opcode = ORNIC_WQE_SEND,
		.inline_data = data,
		.inline_len = 64,
		.flags = ORNIC_WQE_INLINE | ORNIC_WQE_SIGNALED,
	};

	memset(data, 0x5c, sizeof(data));
	memset(ring, 0x77, sizeof(ring));
	ornic_th_post_send(&fix->a, &wr);
	memcpy(fix->a.mem + ORNIC_RING_OFFSET + 16, ring, 64);
	KUNIT_ASSERT_TRUE(test, ornic_fix_sent(fix));
	KUNIT_ASSERT_EQ(test, payload(fix, fix->buf), 64);
	KUNIT_EXPECT_MEMEQ(test, fix->buf, data, 64);
	fix->pair.a->now += 1000 * ORNIC_TH_MS;
	ornic_th_expire(fix->pair.a);
	KUNIT_ASSERT_TRUE(test, ornic_fix_sent(fix));
	KUNIT_ASSERT_EQ(test, payload(fix, fix->buf), 64);
	KUNIT_EXPECT_MEMEQ(test, fix->buf, data, 64);
}

/* ---- UC and UD ------------------------------------------------------------- */

/* IBTA 9.8.2: UC completes when it is sent. */
static void req_uc_completes_at_once(struct kunit *test)
{
	struct ornic_fixture *fix = ornic_suite_open_lone(test, ORNIC_QPT_UC);
	struct ornic_cqe cqe;

	ornic_fix_post(&fix->a, &fix->am, NULL, ORNIC_WQE_SEND, 0, 0, 2000);
	KUNIT_EXPECT_EQ(test, ornic_fix_status(&fix->ascq, &cqe), 0);
	KUNIT_EXPECT_EQ(test, cqe.opcode, ORNIC_CQE_SEND);
	KUNIT_ASSERT_TRUE(test, ornic_fix_sent(fix));
	KUNIT_EXPECT_EQ(test, ornic_th_deadline(fix->pair.a), 0);
}

static const struct ud_row {
	const char *desc;
	enum ornic_th_gid gid;
	u32 qkey;
	u32 want_qkey;
	u8 opcode;
} ud_rows[] = {
	{ "IBTA 9.6.1.4: Q_Key of the WQE, IPv4", ORNIC_TH_IPV4, 0x77, 0x77,
	  ORNIC_WQE_SEND },
	{ "IBTA 9.6.1.4: Q_Key of the WQE, IPv6", ORNIC_TH_IPV6, 0x78, 0x78,
	  ORNIC_WQE_SEND_IMM },
	{ "IBTA C10-15: bit 31 selects the Q_Key of the QP", ORNIC_TH_VLAN,
	  0x80000000, 0x1234, ORNIC_WQE_SEND },
};

KUNIT_ARRAY_PARAM_DESC(ud, ud_rows, desc);

static void req_ud(struct kunit *test)
{
	const struct ud_row *row = test->param_value;
	struct ornic_fixture *fix = ornic_suite_open_lone(test, ORNIC_QPT_UD);
	struct ornic_lsge sge = ornic_fix_sge(&fix->am, 5, 99);
	struct ornic_th_wr wr = {
		.opcode = row->opcode,
		.nsge = 1,
		.sge = &sge,
		.dest_qpn = 0x456,
		.dest_qkey = row->qkey,
		.flags = ORNIC_WQE_SIGNALED,
		.imm = cpu_to_be32(0xabcd0123),
	};
	struct ornic_cqe cqe;
	struct ornic_av av;

	ornic_th_av(&av, 7, row->gid);
	KUNIT_ASSERT_EQ(test, ornic_th_ah(fix->pair.a, &av, &wr.ah), 0);
	ornic_th_post_send(&fix->a, &wr);
	KUNIT_ASSERT_TRUE(test, ornic_fix_sent(fix));
	KUNIT_EXPECT_EQ(test, fix->pkt.opcode,
			ORNIC_UD | (row->opcode == ORNIC_WQE_SEND ?
					    ORNIC_OP_SEND_ONLY :
					    ORNIC_OP_SEND_ONLY_IMM));
	KUNIT_EXPECT_EQ(test, fix->pkt.qpn, 0x456);
	KUNIT_EXPECT_MEMEQ(test, fix->rx.smac, fix->pair.a->mac, 6);
	KUNIT_EXPECT_EQ(test, fix->pkt.src_qpn, fix->a.qpn);
	KUNIT_EXPECT_EQ(test, fix->pkt.qkey, row->want_qkey);
	KUNIT_EXPECT_EQ(test, fix->rx.ipv6, row->gid == ORNIC_TH_IPV6);
	KUNIT_EXPECT_EQ(test, fix->rx.vlan,
			row->gid == ORNIC_TH_VLAN ? ORNIC_TH_VLAN_ID :
						    ORNIC_VLAN_NONE);
	KUNIT_EXPECT_EQ(test, payload(fix, fix->buf), 99);
	KUNIT_EXPECT_EQ(test, ornic_fix_status(&fix->ascq, &cqe), 0);
}

static struct kunit_case req_cases[] = {
	KUNIT_CASE_PARAM(req_segments, seg_gen_params),
	KUNIT_CASE_PARAM(req_fetch_takes_psns, read_gen_params),
	KUNIT_CASE_PARAM(req_refuses, bad_gen_params),
	KUNIT_CASE(req_bad_wqe_waits_its_turn),
	KUNIT_CASE(req_fence),
	KUNIT_CASE(req_max_rd_atomic),
	KUNIT_CASE(req_no_rd_atomic),
	KUNIT_CASE(req_obeys_tx_room),
	KUNIT_CASE(req_leaves_busy_cpu),
	KUNIT_CASE(req_obeys_budget),
	KUNIT_CASE(req_kick_wanted),
	KUNIT_CASE(req_polling),
	KUNIT_CASE(req_polled),
	KUNIT_CASE(req_polls_many),
	KUNIT_CASE_PARAM(req_nonsense_producer, nonsense_gen_params),
	KUNIT_CASE(req_gathers),
	KUNIT_CASE(req_gathers_across_pages),
	KUNIT_CASE(req_inline),
	KUNIT_CASE(req_uc_completes_at_once),
	KUNIT_CASE_PARAM(req_ud, ud_gen_params),
	{}
};

static struct kunit_suite req_suite = {
	.name = "ornic_req",
	.init = ornic_suite_init,
	.exit = ornic_suite_exit,
	.test_cases = req_cases,
};

kunit_test_suite(req_suite);

MODULE_DESCRIPTION("ornic: requester suite");
MODULE_LICENSE("Dual BSD/GPL");
