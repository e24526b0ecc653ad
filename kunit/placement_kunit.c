// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* Memory placement extensions, IBTA annex A19: FLUSH and ATOMIC WRITE. */
#include "suite_fixture.h"
#include "engine/qp.h"

#define PSN ORNIC_FIX_PSN
#define NAK(n) (ORNIC_AETH_NAK | (n))
#define NONE 0xff
#define GLOBAL ORNIC_FLUSH_GLOBAL
#define PERSISTENT ORNIC_FLUSH_PERSISTENT
#define RANGE ORNIC_FLUSH_RANGE
#define WHOLE ORNIC_FLUSH_MR
#define FETH(type, level) ((type) | (level) << ORNIC_FETH_LEVEL_SHIFT)
/* am begins 4 bytes past a multiple of 8. */
#define WORD 4u

static struct ornic_fixture *
open_fix(struct kunit *test, enum ornic_fix_kind kind, u8 type, u8 access)
{
	struct ornic_th_qpinit init = { .type = type };
	struct ornic_fixture *fix = test->priv;

	KUNIT_ASSERT_EQ(test, ornic_fix_open(fix, kind, &init), 0);
	fix->a.conn.access = access;
	fix->b.conn.access = access;
	KUNIT_ASSERT_EQ(test, ornic_fix_connect(fix), 0);
	ornic_fix_fill(&fix->am, 0, ORNIC_FIX_MR_BYTES, 1);
	ornic_fix_fill(&fix->bm, 0, ORNIC_FIX_MR_BYTES, 2);
	memset(fix->buf, 0x5a, sizeof(fix->buf));
	return fix;
}

static u64 word_at(const struct ornic_th_mr *mr, u32 off)
{
	u64 v;

	ornic_th_mr_read(mr, off, &v, sizeof(v));
	return v;
}

/* An offset of @mr whose address is a multiple of 8. */
static u32 aligned_off(const struct ornic_th_mr *mr)
{
	return -mr->iova & 7;
}

/* ---- Requester ------------------------------------------------------------------- */

static const struct wqe_row {
	const char *desc;
	u8 qp_type, opcode, flags;
	u8 flush_type, flush_level;
	u32 nsge, length;
	int status;
} wqe_rows[] = {
	{ "IBTA A19.4.2: 8 bytes", ORNIC_QPT_RC, ORNIC_WQE_ATOMIC_WRITE, 0, 0,
	  0, 1, 8, 0 },
	{ "IBTA A19.4.2: 8 bytes inline", ORNIC_QPT_RC, ORNIC_WQE_ATOMIC_WRITE,
	  ORNIC_WQE_INLINE, 0, 0, 0, 8, 0 },
	{ "IBTA A19.4.2: 4 bytes", ORNIC_QPT_RC, ORNIC_WQE_ATOMIC_WRITE, 0, 0,
	  0, 1, 4, ORNIC_CQE_LOC_LEN_ERR },
	{ "IBTA A19.4.2: 16 bytes", ORNIC_QPT_RC, ORNIC_WQE_ATOMIC_WRITE, 0, 0,
	  0, 1, 16, ORNIC_CQE_LOC_LEN_ERR },
	{ "16 bytes inline", ORNIC_QPT_RC, ORNIC_WQE_ATOMIC_WRITE,
	  ORNIC_WQE_INLINE, 0, 0, 0, 16, ORNIC_CQE_LOC_QP_OP_ERR },
	{ "no data", ORNIC_QPT_RC, ORNIC_WQE_ATOMIC_WRITE, 0, 0, 0, 0, 0,
	  ORNIC_CQE_LOC_LEN_ERR },
	{ "ATOMIC WRITE on UC", ORNIC_QPT_UC, ORNIC_WQE_ATOMIC_WRITE, 0, 0, 0,
	  1, 8, ORNIC_CQE_LOC_QP_OP_ERR },
	{ "IBTA A19.4.1: FLUSH of a range", ORNIC_QPT_RC, ORNIC_WQE_FLUSH, 0,
	  GLOBAL, RANGE, 0, 100, 0 },
	{ "IBTA A19.4.1: FLUSH of an MR", ORNIC_QPT_RC, ORNIC_WQE_FLUSH, 0,
	  GLOBAL, WHOLE, 0, 0, 0 },
	{ "IBTA A19.4.1: both types", ORNIC_QPT_RC, ORNIC_WQE_FLUSH, 0,
	  GLOBAL | PERSISTENT, RANGE, 0, 100, 0 },
	{ "FLUSH of no type", ORNIC_QPT_RC, ORNIC_WQE_FLUSH, 0, 0, RANGE, 0,
	  100, ORNIC_CQE_LOC_QP_OP_ERR },
	{ "FLUSH of a type that does not fit", ORNIC_QPT_RC, ORNIC_WQE_FLUSH, 0,
	  0x10, RANGE, 0, 100, ORNIC_CQE_LOC_QP_OP_ERR },
	{ "FLUSH of level 2", ORNIC_QPT_RC, ORNIC_WQE_FLUSH, 0, GLOBAL, 2, 0,
	  100, ORNIC_CQE_LOC_QP_OP_ERR },
	{ "FLUSH with data", ORNIC_QPT_RC, ORNIC_WQE_FLUSH, 0, GLOBAL, RANGE, 1,
	  100, ORNIC_CQE_LOC_QP_OP_ERR },
	{ "FLUSH on UC", ORNIC_QPT_UC, ORNIC_WQE_FLUSH, 0, GLOBAL, RANGE, 0,
	  100, ORNIC_CQE_LOC_QP_OP_ERR },
};

KUNIT_ARRAY_PARAM_DESC(wqe, wqe_rows, desc);

static void post_row(struct ornic_fixture *fix, const struct wqe_row *row)
{
	struct ornic_lsge sge = ornic_fix_sge(&fix->am, 100, row->length);
	struct ornic_th_wr wr = {
		.wr_id = 1,
		.opcode = row->opcode,
		.flags = row->flags | ORNIC_WQE_SIGNALED,
		.raddr = fix->bm.iova + 8,
		.rkey = fix->bm.key,
		.nsge = row->nsge,
		.sge = &sge,
		.inline_data = fix->buf,
		.inline_len = row->length,
		.bind_length = row->length,
		.flush_type = row->flush_type,
		.flush_level = row->flush_level,
	};

	ornic_th_post_send(&fix->a, &wr);
}

/* What goes out, and what comes back to the application. */
static void placement_request(struct kunit *test)
{
	const struct wqe_row *row = test->param_value;
	struct ornic_fixture *fix =
		open_fix(test, ORNIC_FIX_LONE, row->qp_type, ORNIC_ACCESS_MASK);
	bool flush = row->opcode == ORNIC_WQE_FLUSH;
	struct ornic_cqe cqe;

	post_row(fix, row);
	if (row->status) {
		KUNIT_EXPECT_FALSE(test, ornic_fix_sent(fix));
		KUNIT_EXPECT_EQ(test, ornic_fix_status(&fix->ascq, &cqe),
				row->status);
		return;
	}
	KUNIT_ASSERT_TRUE(test, ornic_fix_sent(fix));
	KUNIT_EXPECT_EQ(test, fix->pkt.opcode,
			flush ? ORNIC_OP_FLUSH : ORNIC_OP_ATOMIC_WRITE);
	KUNIT_EXPECT_EQ(test, fix->pkt.psn, PSN);
	KUNIT_EXPECT_EQ(test, fix->pkt.va, fix->bm.iova + 8);
	KUNIT_EXPECT_EQ(test, fix->pkt.rkey, fix->bm.key);
	KUNIT_EXPECT_EQ(test, fix->pkt.dma_len, row->length);
	KUNIT_EXPECT_EQ(test, fix->pkt.payload_len, flush ? 0 : 8);
	KUNIT_EXPECT_EQ(test, fix->pkt.feth,
			FETH(row->flush_type, row->flush_level));
	KUNIT_EXPECT_EQ(test, ornic_fix_status(&fix->ascq, &cqe), NONE);
	ornic_fix_respond(fix, ORNIC_OP_READ_RESP_ONLY, PSN, 0x1f, NULL, 0);
	KUNIT_EXPECT_EQ(test, ornic_fix_status(&fix->ascq, &cqe), 0);
	KUNIT_EXPECT_EQ(test, cqe.opcode,
			flush ? ORNIC_CQE_FLUSH : ORNIC_CQE_ATOMIC_WRITE);
}

static const struct reply_row {
	const char *desc;
	u8 opcode, syndrome;
	u32 len;
	int status;
} reply_rows[] = {
	{ "IBTA A19.4: READ response Only", ORNIC_OP_READ_RESP_ONLY, 0x1f, 0,
	  0 },
	{ "READ response with data", ORNIC_OP_READ_RESP_ONLY, 0x1f, 8,
	  ORNIC_CQE_BAD_RESP_ERR },
	{ "READ response Last", ORNIC_OP_READ_RESP_LAST, 0x1f, 0,
	  ORNIC_CQE_BAD_RESP_ERR },
	{ "atomic response", ORNIC_OP_ATOMIC_ACK, 0x1f, 0,
	  ORNIC_CQE_BAD_RESP_ERR },
	{ "IBTA C9-145: ACK alone is none", ORNIC_OP_ACK, 0x1f, 0, NONE },
	{ "NAK: invalid request", ORNIC_OP_ACK, NAK(1), 0,
	  ORNIC_CQE_REM_INV_REQ_ERR },
	{ "NAK: remote access", ORNIC_OP_ACK, NAK(2), 0,
	  ORNIC_CQE_REM_ACCESS_ERR },
};

KUNIT_ARRAY_PARAM_DESC(reply, reply_rows, desc);

static void placement_reply(struct kunit *test)
{
	static const u8 opcodes[] = { ORNIC_WQE_FLUSH, ORNIC_WQE_ATOMIC_WRITE };
	const struct reply_row *row = test->param_value;
	struct wqe_row wqe = { .flush_type = GLOBAL };
	struct ornic_fixture *fix;
	struct ornic_cqe cqe;
	u32 i;

	for (i = 0; i < ARRAY_SIZE(opcodes); i++) {
		fix = open_fix(test, ORNIC_FIX_LONE, ORNIC_QPT_RC,
			       ORNIC_ACCESS_MASK);
		wqe.opcode = opcodes[i];
		wqe.nsge = wqe.opcode == ORNIC_WQE_ATOMIC_WRITE;
		wqe.length = 8;
		post_row(fix, &wqe);
		KUNIT_ASSERT_TRUE(test, ornic_fix_sent(fix));
		ornic_fix_respond(fix, row->opcode, PSN, row->syndrome,
				  fix->buf, row->len);
		KUNIT_EXPECT_EQ(test, ornic_fix_status(&fix->ascq, &cqe),
				row->status);
		if (i + 1 < ARRAY_SIZE(opcodes))
			KUNIT_ASSERT_EQ(test, ornic_fix_close(fix), 0);
	}
}

/* They take what READs take: at most max_rd_atomic are out. */
static void placement_counts_as_read(struct kunit *test)
{
	struct ornic_fixture *fix =
		open_fix(test, ORNIC_FIX_LONE, ORNIC_QPT_RC, ORNIC_ACCESS_MASK);
	struct wqe_row row = { .opcode = ORNIC_WQE_FLUSH,
			       .flush_type = GLOBAL };
	u32 i;

	for (i = 0; i < fix->a.conn.max_rd_atomic + 2u; i++)
		post_row(fix, &row);
	KUNIT_EXPECT_EQ(test, ornic_fix_drain(fix), fix->a.conn.max_rd_atomic);
	ornic_fix_respond(fix, ORNIC_OP_READ_RESP_ONLY, PSN, 0x1f, NULL, 0);
	KUNIT_EXPECT_EQ(test, ornic_fix_drain(fix), 1);
}

/* ---- Responder -------------------------------------------------------------------- */

static const struct request_row {
	const char *desc;
	u8 opcode, access;
	u8 flush_type, flush_level;
	u32 off;
	u32 dma_len, len;
	bool bad_key;
	int nak; /* code, or -1 */
} request_rows[] = {
	{ "IBTA A19.4.2: ATOMIC WRITE", ORNIC_OP_ATOMIC_WRITE,
	  ORNIC_ACCESS_REMOTE_WRITE, 0, 0, 0, 8, 8, false, -1 },
	{ "IBTA A19.4.2: address must be aligned", ORNIC_OP_ATOMIC_WRITE,
	  ORNIC_ACCESS_MASK, 0, 0, 4, 8, 8, false, 1 },
	{ "IBTA oA19-28: payload of 4", ORNIC_OP_ATOMIC_WRITE,
	  ORNIC_ACCESS_MASK, 0, 0, 0, 8, 4, false, 1 },
	{ "IBTA oA19-28: payload of 12", ORNIC_OP_ATOMIC_WRITE,
	  ORNIC_ACCESS_MASK, 0, 0, 0, 8, 12, false, 1 },
	{ "IBTA oA19-28: length of 16", ORNIC_OP_ATOMIC_WRITE,
	  ORNIC_ACCESS_MASK, 0, 0, 0, 16, 8, false, 1 },
	{ "ATOMIC WRITE without the QP's right", ORNIC_OP_ATOMIC_WRITE,
	  ORNIC_ACCESS_MASK & ~ORNIC_ACCESS_REMOTE_WRITE, 0, 0, 0, 8, 8, false,
	  1 },
	{ "ATOMIC WRITE, no such key", ORNIC_OP_ATOMIC_WRITE, ORNIC_ACCESS_MASK,
	  0, 0, 0, 8, 8, true, 2 },
	{ "ATOMIC WRITE beyond the MR", ORNIC_OP_ATOMIC_WRITE,
	  ORNIC_ACCESS_MASK, 0, 0, ORNIC_FIX_MR_BYTES, 8, 8, false, 2 },
	{ "IBTA A19.4.1: FLUSH of a range", ORNIC_OP_FLUSH,
	  ORNIC_ACCESS_FLUSH_GLOBAL, GLOBAL, RANGE, 1, 5000, 0, false, -1 },
	{ "IBTA A19.4.1: FLUSH of an MR", ORNIC_OP_FLUSH,
	  ORNIC_ACCESS_FLUSH_GLOBAL, GLOBAL, WHOLE, 1u << 30, 1u << 31, 0,
	  false, -1 },
	{ "FLUSH of nothing", ORNIC_OP_FLUSH, ORNIC_ACCESS_FLUSH_GLOBAL, GLOBAL,
	  RANGE, 0, 0, 0, false, -1 },
	{ "FLUSH without the QP's right", ORNIC_OP_FLUSH,
	  ORNIC_ACCESS_MASK & ~ORNIC_ACCESS_FLUSH_GLOBAL, GLOBAL, RANGE, 0, 8,
	  0, false, 1 },
	{ "FLUSH to persistence", ORNIC_OP_FLUSH, ORNIC_ACCESS_MASK, PERSISTENT,
	  RANGE, 0, 8, 0, false, 2 },
	{ "FLUSH to both", ORNIC_OP_FLUSH, ORNIC_ACCESS_MASK,
	  GLOBAL | PERSISTENT, RANGE, 0, 8, 0, false, 2 },
	{ "FLUSH of a reserved type", ORNIC_OP_FLUSH, ORNIC_ACCESS_MASK,
	  GLOBAL | 4, RANGE, 0, 8, 0, false, 1 },
	{ "FLUSH of no type", ORNIC_OP_FLUSH, ORNIC_ACCESS_MASK, 0, RANGE, 0, 8,
	  0, false, 1 },
	{ "FLUSH of level 3", ORNIC_OP_FLUSH, ORNIC_ACCESS_MASK, GLOBAL, 3, 0,
	  8, 0, false, 1 },
	{ "FLUSH of a range beyond the MR", ORNIC_OP_FLUSH, ORNIC_ACCESS_MASK,
	  GLOBAL, RANGE, 0, ORNIC_FIX_MR_BYTES + 1, 0, false, 2 },
	{ "FLUSH of an MR, no such key", ORNIC_OP_FLUSH, ORNIC_ACCESS_MASK,
	  GLOBAL, WHOLE, 0, 0, 0, true, 2 },
};

KUNIT_ARRAY_PARAM_DESC(request, request_rows, desc);

static void send_request(struct ornic_fixture *fix,
			 const struct request_row *row, u32 n)
{
	struct ornic_txinfo info = {
		.opcode = row->opcode,
		.psn = ornic_psn_add(PSN, n),
		.va = fix->am.iova + aligned_off(&fix->am) + row->off,
		.rkey = fix->am.key ^ (row->bad_key ? 0x5500 : 0),
		.dma_len = row->dma_len,
		.feth = FETH(row->flush_type, row->flush_level),
	};

	ornic_th_inject(&fix->a, &info, fix->buf, row->len);
	ornic_th_run(fix->pair.a);
}

static void placement_respond(struct kunit *test)
{
	const struct request_row *row = test->param_value;
	struct ornic_fixture *fix =
		open_fix(test, ORNIC_FIX_LONE, ORNIC_QPT_RC, row->access);
	u32 off = aligned_off(&fix->am);
	u64 old = word_at(&fix->am, off);
	bool writes = row->opcode == ORNIC_OP_ATOMIC_WRITE && row->nak < 0;

	send_request(fix, row, 0);
	KUNIT_ASSERT_TRUE(test, ornic_fix_sent(fix));
	KUNIT_EXPECT_EQ(test, fix->pkt.psn, PSN);
	KUNIT_EXPECT_EQ(test, fix->pkt.payload_len, 0);
	KUNIT_EXPECT_EQ(test, fix->pkt.opcode,
			row->nak < 0 ? ORNIC_OP_READ_RESP_ONLY : ORNIC_OP_ACK);
	KUNIT_EXPECT_EQ(test, fix->pkt.syndrome,
			row->nak < 0 ? 0x1f : NAK(row->nak));
	KUNIT_EXPECT_EQ(test, fix->pkt.msn, row->nak < 0);
	KUNIT_EXPECT_EQ(test, word_at(&fix->am, off),
			writes ? 0x5a5a5a5a5a5a5a5aull : old);
	KUNIT_EXPECT_EQ(test, ornic_th_state(&fix->a),
			row->nak < 0 ? ORNIC_QPS_RTS : ORNIC_QPS_ERR);
}

/* IBTA A19.4.1: the MR must allow it as well. */
static void placement_flush_needs_right_of_mr(struct kunit *test)
{
	struct ornic_fixture *fix =
		open_fix(test, ORNIC_FIX_LONE, ORNIC_QPT_RC, ORNIC_ACCESS_MASK);
	struct ornic_th_mr mr;
	struct ornic_txinfo info = {
		.opcode = ORNIC_OP_FLUSH,
		.psn = PSN,
		.feth = FETH(GLOBAL, WHOLE),
	};

	KUNIT_ASSERT_EQ(test,
			ornic_th_mr_init(fix->pair.a, &mr, 4096, 0, 0,
					 ORNIC_ACCESS_MASK &
						 ~ORNIC_ACCESS_FLUSH_GLOBAL),
			0);
	info.va = mr.iova;
	info.rkey = mr.key;
	ornic_th_inject(&fix->a, &info, NULL, 0);
	KUNIT_EXPECT_EQ(test, ornic_fix_syndrome(fix), NAK(2));
	KUNIT_EXPECT_EQ(test, ornic_th_mr_fini(&mr), 0);
}

/* IBTA oA19-14, oA19-15, C9-105: answered again, not executed again. */
static void placement_duplicate(struct kunit *test)
{
	static const struct request_row rows[] = {
		{ .opcode = ORNIC_OP_ATOMIC_WRITE, .dma_len = 8, .len = 8 },
		{ .opcode = ORNIC_OP_FLUSH, .flush_type = GLOBAL },
	};
	struct ornic_fixture *fix =
		open_fix(test, ORNIC_FIX_LONE, ORNIC_QPT_RC, ORNIC_ACCESS_MASK);
	u32 off = aligned_off(&fix->am), i;
	u64 newer = 42;

	for (i = 0; i < ARRAY_SIZE(rows); i++)
		send_request(fix, &rows[i], i);
	KUNIT_EXPECT_EQ(test, ornic_fix_drain(fix), 2);
	ornic_th_mr_write(&fix->am, off, &newer, sizeof(newer));
	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		send_request(fix, &rows[i], i);
		KUNIT_ASSERT_TRUE(test, ornic_fix_sent(fix));
		KUNIT_EXPECT_EQ(test, fix->pkt.opcode, ORNIC_OP_READ_RESP_ONLY);
		KUNIT_EXPECT_EQ(test, fix->pkt.psn, ornic_psn_add(PSN, i));
		KUNIT_EXPECT_EQ(test, fix->pkt.msn, i + 1);
	}
	KUNIT_EXPECT_EQ(test, word_at(&fix->am, off), newer);
	/* A duplicate of another kind is none. */
	send_request(fix, &rows[1], 1);
	KUNIT_EXPECT_EQ(test, ornic_fix_drain(fix), 1);
	ornic_fix_request(fix, ORNIC_OP_FAA, 1, off, 0, 0);
	KUNIT_EXPECT_EQ(test, ornic_fix_drain(fix), 0);
}

/* IBTA A19.4: the response comes behind those of earlier requests. */
static void placement_responds_in_order(struct kunit *test)
{
	static const struct request_row flush = { .opcode = ORNIC_OP_FLUSH,
						  .flush_type = GLOBAL };
	struct ornic_fixture *fix =
		open_fix(test, ORNIC_FIX_LONE, ORNIC_QPT_RC, ORNIC_ACCESS_MASK);

	fix->pair.a->tx_window = 1;
	ornic_fix_request(fix, ORNIC_OP_READ_REQUEST, 0, 0, 1500, 0);
	send_request(fix, &flush, 2);
	KUNIT_ASSERT_TRUE(test, ornic_fix_sent(fix));
	KUNIT_EXPECT_EQ(test, fix->pkt.opcode, ORNIC_OP_READ_RESP_FIRST);
	KUNIT_ASSERT_TRUE(test, ornic_fix_sent(fix));
	KUNIT_EXPECT_EQ(test, fix->pkt.opcode, ORNIC_OP_READ_RESP_LAST);
	KUNIT_ASSERT_TRUE(test, ornic_fix_sent(fix));
	KUNIT_EXPECT_EQ(test, fix->pkt.opcode, ORNIC_OP_READ_RESP_ONLY);
	KUNIT_EXPECT_EQ(test, fix->pkt.psn, ornic_psn_add(PSN, 2));
}

/* ---- Both ends ---------------------------------------------------------------------- */

static const struct pair_row {
	const char *desc;
	enum ornic_fix_kind kind;
	bool lose;
} pair_rows[] = {
	{ "wire", ORNIC_FIX_WIRE, false },
	{ "wire that loses answers", ORNIC_FIX_WIRE, true },
	{ "loopback", ORNIC_FIX_LOOP, false },
};

KUNIT_ARRAY_PARAM_DESC(pair, pair_rows, desc);

/* Loses the first answer without data. */
static enum ornic_th_verdict lose_response(struct ornic_th_pair *pair,
					   struct ornic_th *from,
					   struct ornic_th_frame *frame,
					   const struct ornic_pkt *pkt)
{
	bool *lose = pair->ctx;

	if (!*lose || pkt->opcode != ORNIC_OP_READ_RESP_ONLY)
		return ORNIC_TH_PASS;
	*lose = false;
	return ORNIC_TH_DROP;
}

/* WRITE, FLUSH, then a flag that is written at once: the usual protocol. */
static void placement_commit(struct kunit *test)
{
	const struct pair_row *row = test->param_value;
	struct ornic_fixture *fix =
		open_fix(test, row->kind, ORNIC_QPT_RC, ORNIC_ACCESS_MASK);
	u32 flag = aligned_off(&fix->bm) + 8000;
	struct ornic_th_wr flush = {
		.opcode = ORNIC_WQE_FLUSH,
		.flags = ORNIC_WQE_SIGNALED,
		.raddr = fix->bm.iova,
		.rkey = fix->bm.key,
		.bind_length = 5000,
		.flush_type = GLOBAL,
	};
	struct ornic_th_wr commit = {
		.opcode = ORNIC_WQE_ATOMIC_WRITE,
		.flags = ORNIC_WQE_SIGNALED | ORNIC_WQE_INLINE |
			 ORNIC_WQE_FENCE,
		.raddr = fix->bm.iova + flag,
		.rkey = fix->bm.key,
		.inline_data = fix->buf,
		.inline_len = 8,
	};
	bool lose = row->lose;
	struct ornic_cqe cqe;

	fix->pair.filter = lose_response;
	fix->pair.ctx = &lose;
	ornic_fix_post(&fix->a, &fix->am, &fix->bm, ORNIC_WQE_WRITE, 0, 0,
		       5000);
	ornic_th_post_send(&fix->a, &flush);
	ornic_th_post_send(&fix->a, &commit);
	ornic_th_settle(&fix->pair);
	if (row->lose)
		ornic_th_advance(&fix->pair, 1000 * ORNIC_TH_MS);
	KUNIT_EXPECT_EQ(test, ornic_fix_status(&fix->ascq, &cqe), 0);
	KUNIT_EXPECT_EQ(test, cqe.opcode, ORNIC_CQE_WRITE);
	KUNIT_EXPECT_EQ(test, ornic_fix_status(&fix->ascq, &cqe), 0);
	KUNIT_EXPECT_EQ(test, cqe.opcode, ORNIC_CQE_FLUSH);
	KUNIT_EXPECT_EQ(test, ornic_fix_status(&fix->ascq, &cqe), 0);
	KUNIT_EXPECT_EQ(test, cqe.opcode, ORNIC_CQE_ATOMIC_WRITE);
	KUNIT_EXPECT_EQ(test, ornic_fix_compare(&fix->bm, 0, 5000, 1), -1);
	KUNIT_EXPECT_EQ(test, word_at(&fix->bm, flag), 0x5a5a5a5a5a5a5a5aull);
	/* No receive was taken. */
	KUNIT_EXPECT_EQ(test, ornic_fix_status(&fix->brcq, &cqe), NONE);
}

/* Loopback refuses as the wire does. */
static void placement_refused_on_loopback(struct kunit *test)
{
	struct ornic_fixture *fix =
		open_fix(test, ORNIC_FIX_LOOP, ORNIC_QPT_RC,
			 ORNIC_ACCESS_MASK & ~ORNIC_ACCESS_FLUSH_GLOBAL);
	struct wqe_row row = { .opcode = ORNIC_WQE_FLUSH,
			       .flush_type = GLOBAL };
	struct ornic_cqe cqe;

	post_row(fix, &row);
	ornic_th_settle(&fix->pair);
	KUNIT_EXPECT_EQ(test, ornic_fix_status(&fix->ascq, &cqe),
			ORNIC_CQE_REM_INV_REQ_ERR);
}

static struct kunit_case placement_cases[] = {
	KUNIT_CASE_PARAM(placement_request, wqe_gen_params),
	KUNIT_CASE_PARAM(placement_reply, reply_gen_params),
	KUNIT_CASE(placement_counts_as_read),
	KUNIT_CASE_PARAM(placement_respond, request_gen_params),
	KUNIT_CASE(placement_flush_needs_right_of_mr),
	KUNIT_CASE(placement_duplicate),
	KUNIT_CASE(placement_responds_in_order),
	KUNIT_CASE_PARAM(placement_commit, pair_gen_params),
	KUNIT_CASE(placement_refused_on_loopback),
	{}
};

static struct kunit_suite placement_suite = {
	.name = "ornic_placement",
	.init = ornic_suite_init,
	.exit = ornic_suite_exit,
	.test_cases = placement_cases,
};

kunit_test_suite(placement_suite);

MODULE_DESCRIPTION("ornic: suite of FLUSH and ATOMIC WRITE");
MODULE_LICENSE("Dual BSD/GPL");
