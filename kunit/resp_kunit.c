// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* The responder: requests of a peer that is on the wire only. */
#include "suite_fixture.h"

#define PSN ORNIC_FIX_PSN
#define ACK 0x1f
#define NAK(n) (ORNIC_AETH_NAK | (n))
#define NONE 0xff
#define MTU 1024u

static struct ornic_fixture *open_type(struct kunit *test, u8 type)
{
	struct ornic_th_qpinit init = { .type = type };
	struct ornic_fixture *fix = test->priv;
	u32 i;

	KUNIT_ASSERT_EQ(test, ornic_fix_open(fix, ORNIC_FIX_LONE, &init), 0);
	fix->a.conn.min_rnr_timer = 17;
	KUNIT_ASSERT_EQ(test, ornic_fix_connect(fix), 0);
	ornic_fix_fill(&fix->am, 0, ORNIC_FIX_MR_BYTES, 1);
	for (i = 0; i < sizeof(fix->buf); i++)
		fix->buf[i] = ornic_fix_byte(2, i);
	return fix;
}

static u64 stat(struct ornic_fixture *fix, enum ornic_stat which)
{
	return ornic_engine_stat(fix->pair.a->eng, which);
}

static int status(struct ornic_fixture *fix)
{
	struct ornic_cqe cqe;

	return ornic_fix_status(&fix->arcq, &cqe);
}

static u32 epsn(struct ornic_fixture *fix)
{
	return ornic_psn_diff(ornic_th_rq_psn(&fix->a), PSN);
}

/* ---- PSN order ------------------------------------------------------------- */

/* After a SEND Only at the expected PSN (0), another one at PSN @n. */
static const struct seq_row {
	const char *desc;
	s32 n;
	u8 syndrome;
	u32 psn; /* of the response */
	u32 recvs;
} seq_rows[] = {
	{ "IBTA 9.7.4.1.2: the next one", 1, ACK, 1, 2 },
	{ "IBTA C9-105: duplicate of the last", 0, ACK, 0, 1 },
	{ "IBTA C9-105: duplicate of long ago", -1000, ACK, 0, 1 },
	{ "IBTA C9-105: oldest PSN of the duplicate region", 1 - (1 << 23), ACK,
	  0, 1 },
	{ "IBTA 9.7.4.1.2: one is missing", 2, NAK(0), 1, 1 },
	{ "IBTA 9.7.4.1.2: as many as one QP may lack", (1 << 16) + 1, NAK(0),
	  1, 1 },
	{ "IBTA 9.7.4.1.2: more than that", (1 << 16) + 2, NONE, 0, 1 },
	{ "IBTA 9.7.4.1.2: the newest PSN of the invalid region", 1 << 23, NONE,
	  0, 1 },
};

KUNIT_ARRAY_PARAM_DESC(seq, seq_rows, desc);

static void resp_sequence(struct kunit *test)
{
	const struct seq_row *row = test->param_value;
	struct ornic_fixture *fix = open_type(test, ORNIC_QPT_RC);
	u32 i;

	for (i = 0; i < 4; i++)
		ornic_fix_recv(&fix->a, &fix->am, i, i * 64, 64);
	ornic_fix_request(fix, ORNIC_OP_SEND_ONLY, 0, 0, 0, 10);
	KUNIT_EXPECT_EQ(test, ornic_fix_syndrome(fix), ACK);
	ornic_fix_request(fix, ORNIC_OP_SEND_ONLY, row->n, 0, 0, 10);
	KUNIT_EXPECT_EQ(test, ornic_fix_syndrome(fix), row->syndrome);
	KUNIT_EXPECT_EQ(test, fix->pkt.psn, ornic_psn_add(PSN, row->psn));
	KUNIT_EXPECT_EQ(test, fix->pkt.qpn, 0x123);
	KUNIT_EXPECT_EQ(test, fix->pkt.msn, row->recvs);
	for (i = 0; status(fix) == 0; i++)
		;
	KUNIT_EXPECT_EQ(test, i, row->recvs);
	KUNIT_EXPECT_EQ(test, epsn(fix), row->recvs);
}

/* IBTA C9-116: one sequence NAK for a gap, not one for each packet. */
static void resp_one_nak_per_gap(struct kunit *test)
{
	struct ornic_fixture *fix = open_type(test, ORNIC_QPT_RC);
	u32 i;

	for (i = 0; i < 8; i++)
		ornic_fix_recv(&fix->a, &fix->am, i, i * 64, 64);
	for (i = 1; i < 4; i++)
		ornic_fix_request(fix, ORNIC_OP_SEND_ONLY, i, 0, 0, 10);
	KUNIT_EXPECT_EQ(test, ornic_fix_syndrome(fix), NAK(0));
	KUNIT_EXPECT_EQ(test, ornic_fix_syndrome(fix), NONE);
	ornic_fix_request(fix, ORNIC_OP_SEND_ONLY, 0, 0, 0, 10);
	KUNIT_EXPECT_EQ(test, ornic_fix_syndrome(fix), ACK);
	KUNIT_EXPECT_EQ(test, fix->pkt.psn, PSN);
	ornic_fix_request(fix, ORNIC_OP_SEND_ONLY, 3, 0, 0, 10);
	KUNIT_EXPECT_EQ(test, ornic_fix_syndrome(fix), ACK);
	KUNIT_EXPECT_EQ(test, fix->pkt.psn, ornic_psn_add(PSN, 3));
	ornic_fix_request(fix, ORNIC_OP_SEND_ONLY, 5, 0, 0, 10);
	KUNIT_EXPECT_EQ(test, ornic_fix_syndrome(fix), NAK(0));
	KUNIT_EXPECT_EQ(test, fix->pkt.psn, ornic_psn_add(PSN, 4));
}

/* ---- form of requests ------------------------------------------------------ */

/* Two packets in order; what is said to the second. */
static const struct form_row {
	const char *desc;
	u8 op1;
	u32 len1;
	u8 op2;
	u32 len2;
	u8 syndrome;
} form_rows[] = {
	{ "IBTA table 36: SEND First, Last", ORNIC_OP_SEND_FIRST, MTU,
	  ORNIC_OP_SEND_LAST, 1, ACK },
	{ "IBTA table 36: SEND First, Middle", ORNIC_OP_SEND_FIRST, MTU,
	  ORNIC_OP_SEND_MIDDLE, MTU, ACK },
	{ "IBTA table 36: SEND Only, Middle", ORNIC_OP_SEND_ONLY, 1,
	  ORNIC_OP_SEND_MIDDLE, MTU, NAK(1) },
	{ "IBTA table 36: SEND Only, Last", ORNIC_OP_SEND_ONLY, 1,
	  ORNIC_OP_SEND_LAST, 1, NAK(1) },
	{ "IBTA table 36: SEND First, First", ORNIC_OP_SEND_FIRST, MTU,
	  ORNIC_OP_SEND_FIRST, MTU, NAK(1) },
	{ "IBTA table 36: SEND First, Only", ORNIC_OP_SEND_FIRST, MTU,
	  ORNIC_OP_SEND_ONLY, 1, NAK(1) },
	{ "IBTA table 36: SEND First, WRITE Middle", ORNIC_OP_SEND_FIRST, MTU,
	  ORNIC_OP_WRITE_MIDDLE, MTU, NAK(1) },
	{ "IBTA table 36: SEND First, READ", ORNIC_OP_SEND_FIRST, MTU,
	  ORNIC_OP_READ_REQUEST, 0, NAK(1) },
	{ "IBTA table 36: WRITE First, SEND Last", ORNIC_OP_WRITE_FIRST, MTU,
	  ORNIC_OP_SEND_LAST, 1, NAK(1) },
	{ "IBTA table 36: WRITE First, Last", ORNIC_OP_WRITE_FIRST, MTU,
	  ORNIC_OP_WRITE_LAST, MTU, ACK },
	{ "IBTA table 36: WRITE First, FAA", ORNIC_OP_WRITE_FIRST, MTU,
	  ORNIC_OP_FAA, 0, NAK(1) },
	{ "IBTA 9.7.4.1.6: short First", ORNIC_OP_SEND_ONLY, 1,
	  ORNIC_OP_SEND_FIRST, MTU - 1, NAK(1) },
	{ "IBTA 9.7.4.1.6: long First", ORNIC_OP_SEND_ONLY, 1,
	  ORNIC_OP_SEND_FIRST, MTU + 1, NAK(1) },
	{ "IBTA 9.7.4.1.6: short Middle", ORNIC_OP_SEND_FIRST, MTU,
	  ORNIC_OP_SEND_MIDDLE, MTU - 4, NAK(1) },
	{ "IBTA 9.7.4.1.6: long Only", ORNIC_OP_SEND_ONLY, 1,
	  ORNIC_OP_SEND_ONLY, MTU + 1, NAK(1) },
	{ "IBTA 9.7.4.1.6: empty Last", ORNIC_OP_SEND_FIRST, MTU,
	  ORNIC_OP_SEND_LAST, 0, NAK(1) },
	{ "IBTA 9.7.4.1.6: long Last", ORNIC_OP_SEND_FIRST, MTU,
	  ORNIC_OP_SEND_LAST, MTU + 1, NAK(1) },
	{ "IBTA 9.7.4.1.6: WRITE longer than its RETH", ORNIC_OP_WRITE_FIRST,
	  MTU, ORNIC_OP_WRITE_MIDDLE, MTU, NAK(1) },
	{ "IBTA 9.7.4.1.6: WRITE shorter than its RETH", ORNIC_OP_WRITE_FIRST,
	  MTU, ORNIC_OP_WRITE_LAST, MTU - 1, NAK(1) },
	{ "SEND longer than the receive", ORNIC_OP_SEND_ONLY, 1,
	  ORNIC_OP_SEND_ONLY, 1001, NAK(1) },
};

KUNIT_ARRAY_PARAM_DESC(form, form_rows, desc);

static void resp_form(struct kunit *test)
{
	const struct form_row *row = test->param_value;
	struct ornic_fixture *fix = open_type(test, ORNIC_QPT_RC);

	if (row->op1 == ORNIC_OP_SEND_ONLY) {
		ornic_fix_recv(&fix->a, &fix->am, 0, 0, 4000);
		ornic_fix_recv(&fix->a, &fix->am, 1, 4000,
			       row->len2 == 1001 ? 1000 : 4000);
	} else {
		ornic_fix_recv(&fix->a, &fix->am, 0, 0, 4000);
	}
	ornic_fix_request(fix, row->op1, 0, 0, 2 * MTU, row->len1);
	KUNIT_EXPECT_EQ(test, ornic_fix_syndrome(fix), ACK);
	ornic_fix_request(fix, row->op2, 1, 0, 2 * MTU, row->len2);
	KUNIT_EXPECT_EQ(test, ornic_fix_syndrome(fix), row->syndrome);
	KUNIT_EXPECT_EQ(test, fix->pkt.psn, ornic_psn_add(PSN, 1));
	KUNIT_EXPECT_EQ(test, ornic_th_state(&fix->a),
			row->syndrome == ACK ? ORNIC_QPS_RTS : ORNIC_QPS_ERR);
	if (row->len2 == 1001) {
		KUNIT_EXPECT_EQ(test, status(fix), 0);
		KUNIT_EXPECT_EQ(test, status(fix), ORNIC_CQE_LOC_LEN_ERR);
	}
}

/* ---- access ---------------------------------------------------------------- */

enum key_kind {
	GOOD,
	UNKNOWN,
	NO_ACCESS,
	OTHER_PD,
	BEFORE,
	PAST,
	WRAPS,
	MISALIGNED,
	QP_FORBIDS,
	CROOKED,
	TOO_LONG,
};

static const struct key_row {
	const char *desc;
	u8 opcode;
	enum key_kind kind;
	u32 len;
	u8 syndrome;
} key_rows[] = {
	{ "IBTA 9.7.4.1.5: WRITE", ORNIC_OP_WRITE_ONLY, GOOD, 8, ACK },
	{ "IBTA 9.7.4.1.5: WRITE, unknown key", ORNIC_OP_WRITE_ONLY, UNKNOWN, 8,
	  NAK(2) },
	{ "IBTA C9-88: empty WRITE, unknown key", ORNIC_OP_WRITE_ONLY, UNKNOWN,
	  0, ACK },
	{ "IBTA 9.7.4.1.5: WRITE, MR without right", ORNIC_OP_WRITE_ONLY,
	  NO_ACCESS, 8, NAK(2) },
	{ "IBTA 9.7.4.1.5: WRITE, before the MR", ORNIC_OP_WRITE_ONLY, BEFORE,
	  8, NAK(2) },
	{ "IBTA 9.7.4.1.5: WRITE, past the MR", ORNIC_OP_WRITE_ONLY, PAST, 8,
	  NAK(2) },
	{ "IBTA 9.7.4.1.5: WRITE, address wraps", ORNIC_OP_WRITE_ONLY, WRAPS, 8,
	  NAK(2) },
	{ "IBTA 9.7.4.1.5: WRITE, MR of another PD", ORNIC_OP_WRITE_ONLY,
	  OTHER_PD, 8, NAK(2) },
	{ "IBTA 9.7.4.1.5: WRITE, QP without right", ORNIC_OP_WRITE_ONLY,
	  QP_FORBIDS, 8, NAK(1) },
	{ "IBTA 9.7.4.1.5: READ, unknown key", ORNIC_OP_READ_REQUEST, UNKNOWN,
	  8, NAK(2) },
	{ "IBTA C9-88: empty READ, unknown key", ORNIC_OP_READ_REQUEST, UNKNOWN,
	  0, ACK },
	{ "IBTA 9.7.4.1.5: READ, MR without right", ORNIC_OP_READ_REQUEST,
	  NO_ACCESS, 8, NAK(2) },
	{ "IBTA 9.7.4.1.5: READ, past the MR", ORNIC_OP_READ_REQUEST, PAST, 8,
	  NAK(2) },
	{ "IBTA 9.7.4.1.5: READ, address wraps", ORNIC_OP_READ_REQUEST, WRAPS,
	  8, NAK(2) },
	{ "IBTA 9.7.4.1.5: READ, QP without right", ORNIC_OP_READ_REQUEST,
	  QP_FORBIDS, 8, NAK(1) },
	{ "IBTA 9.7.4.1.5: CAS", ORNIC_OP_CAS, GOOD, 8, ACK },
	{ "IBTA 9.7.4.1.5: FAA, MR without right", ORNIC_OP_FAA, NO_ACCESS, 8,
	  NAK(2) },
	{ "IBTA 9.7.4.1.5: CAS, past the MR", ORNIC_OP_CAS, PAST, 8, NAK(2) },
	{ "IBTA 9.4.5: CAS of a misaligned address", ORNIC_OP_CAS, MISALIGNED,
	  8, NAK(1) },
	{ "IBTA 9.4.5: FAA, QP without right", ORNIC_OP_FAA, QP_FORBIDS, 8,
	  NAK(1) },
	{ "IBTA 9.4.5: FAA in memory that is not aligned", ORNIC_OP_FAA,
	  CROOKED, 8, NAK(1) },
	{ "IBTA A19.4.2: ATOMIC WRITE to such memory", ORNIC_OP_ATOMIC_WRITE,
	  CROOKED, 8, NAK(1) },
	{ "IBTA A19.4.2: ATOMIC WRITE, QP without right", ORNIC_OP_ATOMIC_WRITE,
	  QP_FORBIDS, 8, NAK(1) },
	{ "IBTA C9-93: WRITE, longer than any message", ORNIC_OP_WRITE_ONLY,
	  TOO_LONG, 8, NAK(1) },
	{ "IBTA C9-93: READ, longer than any message", ORNIC_OP_READ_REQUEST,
	  TOO_LONG, 8, NAK(1) },
};

KUNIT_ARRAY_PARAM_DESC(key, key_rows, desc);

/* An MR of a run that begins anywhere, with an address that is aligned. */
static void crooked_mr(struct ornic_fixture *fix, struct ornic_txinfo *info)
{
	u8 *mem = ornic_th_alloc(fix->pair.a, 3 * 4096);
	union ornic_req req;
	union ornic_rsp rsp;

	memset(&req, 0, sizeof(req));
	req.hdr.opcode = ORNIC_CMD_CREATE_MKEY;
	req.create_mkey.mem.addr = cpu_to_le64((u64)(uintptr_t)mem + 4);
	req.create_mkey.mem.npages = cpu_to_le32(2);
	req.create_mkey.mem.page_shift = ORNIC_PAGE_SHIFT;
	req.create_mkey.iova = cpu_to_le64(0x10000);
	req.create_mkey.length = cpu_to_le64(64);
	req.create_mkey.pdn = cpu_to_le32(fix->pair.a->pdn);
	req.create_mkey.access = ORNIC_ACCESS_MASK;
	ornic_th_cmd(fix->pair.a, &req, &rsp);
	info->rkey = le32_to_cpu(rsp.hdr.obj);
	info->va = 0x10000;
}

static void corrupt_key(struct ornic_fixture *fix, struct ornic_txinfo *info,
			enum key_kind kind)
{
	struct ornic_th_mr other;

	switch (kind) {
	case UNKNOWN:
		info->rkey ^= 1;
		break;
	case NO_ACCESS:
	case OTHER_PD:
		if (kind == OTHER_PD)
			fix->pair.a->pdn++;
		ornic_th_mr_init(fix->pair.a, &other, 4096, 0, 1,
				 kind == OTHER_PD ? ORNIC_ACCESS_MASK :
						    ORNIC_ACCESS_LOCAL_WRITE);
		info->rkey = other.key;
		info->va = other.iova;
		break;
	case BEFORE:
		info->va = fix->am.iova - 4;
		break;
	case PAST:
		info->va = fix->am.iova + ORNIC_FIX_MR_BYTES - 4;
		if (info->opcode == ORNIC_OP_CAS)
			info->va += 8;
		break;
	case WRAPS:
		info->va = -8ull;
		break;
	case MISALIGNED:
		info->va -= 4;
		break;
	case CROOKED:
		crooked_mr(fix, info);
		break;
	case TOO_LONG:
		info->dma_len = (1u << 31) + 1;
		break;
	default:
		break;
	}
}

static void resp_access(struct kunit *test)
{
	const struct key_row *row = test->param_value;
	struct ornic_fixture *fix = open_type(test, ORNIC_QPT_RC);
	bool write = row->opcode == ORNIC_OP_WRITE_ONLY ||
		     row->opcode == ORNIC_OP_ATOMIC_WRITE;
	struct ornic_txinfo info = {
		.opcode = row->opcode,
		.psn = PSN,
		.ack_req = true,
		.rkey = fix->am.key,
		.dma_len = row->len,
		.swap_add = 1,
		/* iova ends in 100: 4 mod 8, as does offset 4 of it */
		.va = fix->am.iova + 4,
	};
	u32 events = row->syndrome == NAK(1) ? ORNIC_EVENT_QP_REQ_ERR :
					       ORNIC_EVENT_QP_ACCESS_ERR;

	if (row->kind == QP_FORBIDS) {
		fix->a.conn.access = ORNIC_ACCESS_LOCAL_WRITE;
		KUNIT_ASSERT_EQ(test,
				ornic_th_modify(&fix->a, ORNIC_QPS_RTS,
						ORNIC_QPM_STATE |
							ORNIC_QPM_ACCESS),
				0);
	}
	corrupt_key(fix, &info, row->kind);
	ornic_th_inject(&fix->a, &info, fix->buf, write ? row->len : 0);
	ornic_th_run(fix->pair.a);
	KUNIT_EXPECT_EQ(test, ornic_fix_syndrome(fix), row->syndrome);
	if (row->syndrome == ACK)
		return;
	KUNIT_EXPECT_EQ(test,
			ornic_fix_compare(&fix->am, 0, ORNIC_FIX_MR_BYTES, 1),
			-1);
	KUNIT_EXPECT_EQ(test, ornic_th_state(&fix->a), ORNIC_QPS_ERR);
	KUNIT_EXPECT_EQ(test, fix->pair.a->event_count[events], 1);
}

/* ---- receives -------------------------------------------------------------- */

/* IBTA 9.7.5.2.8: no receive WQE: RNR NAK, nothing moves, then all is well. */
static void resp_rnr(struct kunit *test)
{
	struct ornic_fixture *fix = open_type(test, ORNIC_QPT_RC);

	ornic_fix_request(fix, ORNIC_OP_SEND_ONLY, 0, 0, 0, 10);
	KUNIT_EXPECT_EQ(test, ornic_fix_syndrome(fix), ORNIC_AETH_RNR | 17);
	KUNIT_EXPECT_EQ(test, fix->pkt.psn, PSN);
	ornic_fix_request(fix, ORNIC_OP_SEND_ONLY, 1, 0, 0, 10);
	KUNIT_EXPECT_EQ(test, epsn(fix), 0);
	ornic_fix_drain(fix);
	/* What was sent after it was kept, and finds no receive either. */
	ornic_fix_recv(&fix->a, &fix->am, 0, 0, 64);
	ornic_fix_request(fix, ORNIC_OP_SEND_ONLY, 0, 0, 0, 10);
	KUNIT_EXPECT_EQ(test, ornic_fix_syndrome(fix), ORNIC_AETH_RNR | 17);
	KUNIT_EXPECT_EQ(test, fix->pkt.psn, ornic_psn_add(PSN, 1));
	KUNIT_EXPECT_EQ(test, status(fix), 0);
	KUNIT_EXPECT_EQ(test, ornic_fix_compare(&fix->am, 0, 10, 2), -1);
	ornic_fix_recv(&fix->a, &fix->am, 0, 0, 64);
	ornic_fix_request(fix, ORNIC_OP_SEND_ONLY, 1, 0, 0, 10);
	KUNIT_EXPECT_EQ(test, ornic_fix_syndrome(fix), ACK);
	KUNIT_EXPECT_EQ(test, status(fix), 0);
}

/* WRITE with immediate takes its receive at the end, with RNR there. */
static void resp_write_imm(struct kunit *test)
{
	struct ornic_fixture *fix = open_type(test, ORNIC_QPT_RC);
	struct ornic_cqe cqe;

	ornic_fix_request(fix, ORNIC_OP_WRITE_FIRST, 0, 50, MTU + 7, MTU);
	KUNIT_EXPECT_EQ(test, ornic_fix_syndrome(fix), ACK);
	ornic_fix_request(fix, ORNIC_OP_WRITE_LAST_IMM, 1, 0, 0, 7);
	KUNIT_EXPECT_EQ(test, ornic_fix_syndrome(fix), ORNIC_AETH_RNR | 17);
	ornic_th_post_recv(&fix->a, 99, NULL, 0);
	ornic_fix_request(fix, ORNIC_OP_WRITE_LAST_IMM, 1, 0, 0, 7);
	KUNIT_EXPECT_EQ(test, ornic_fix_syndrome(fix), ACK);
	KUNIT_EXPECT_EQ(test, fix->pkt.msn, 1);
	KUNIT_ASSERT_EQ(test, ornic_fix_status(&fix->arcq, &cqe), 0);
	KUNIT_EXPECT_EQ(test, cqe.opcode, ORNIC_CQE_RECV_WRITE_IMM);
	KUNIT_EXPECT_EQ(test, le64_to_cpu(cqe.wr_id), 99);
	KUNIT_EXPECT_EQ(test, le32_to_cpu(cqe.byte_len), MTU + 7);
	KUNIT_EXPECT_EQ(test, be32_to_cpu(cqe.imm), 0x01020304);
	KUNIT_EXPECT_TRUE(test, cqe.flags & ORNIC_CQE_WITH_IMM);
	KUNIT_EXPECT_EQ(test, ornic_fix_compare(&fix->am, 50, MTU, 2), -1);
	KUNIT_EXPECT_EQ(test, ornic_fix_compare(&fix->am, 50 + MTU, 7, 2), -1);
}

static const struct recv_row {
	const char *desc;
	u32 nsge;
	u32 bad; /* this SGE has an unknown lkey */
	u8 status;
	u8 syndrome;
} recv_rows[] = {
	{ "IBTA 10.8.3: scattered over four SGEs", 4, 9, 0, ACK },
	{ "IBTA 9.7.5.2.6: bad lkey is a remote operation error", 4, 2,
	  ORNIC_CQE_LOC_PROT_ERR, NAK(3) },
	{ "IBTA 9.7.5.2.6: more SGEs than max_sge", 5, 9,
	  ORNIC_CQE_LOC_QP_OP_ERR, NAK(3) },
};

KUNIT_ARRAY_PARAM_DESC(recv, recv_rows, desc);

static void resp_scatter(struct kunit *test)
{
	const struct recv_row *row = test->param_value;
	struct ornic_fixture *fix = open_type(test, ORNIC_QPT_RC);
	struct ornic_lsge sge[5] = { 0 };
	struct ornic_cqe cqe;
	u32 i, off = 0;

	for (i = 0; i < 5; i++) {
		sge[i] = ornic_fix_sge(&fix->am, off, 100 + 150 * i);
		off += 100 + 150 * i;
		if (i == row->bad)
			sge[i].lkey ^= 0x100;
	}
	ornic_th_post_recv(&fix->a, 5, sge, row->nsge);
	ornic_fix_request(fix, ORNIC_OP_SEND_ONLY, 0, 0, 0, 999);
	KUNIT_EXPECT_EQ(test, ornic_fix_syndrome(fix), row->syndrome);
	KUNIT_EXPECT_EQ(test, ornic_fix_status(&fix->arcq, &cqe), row->status);
	KUNIT_EXPECT_EQ(test, le64_to_cpu(cqe.wr_id), 5);
	if (!row->status) {
		KUNIT_EXPECT_EQ(test, le32_to_cpu(cqe.byte_len), 999);
		KUNIT_EXPECT_EQ(test, ornic_fix_compare(&fix->am, 0, 999, 2),
				-1);
	} else {
		KUNIT_EXPECT_EQ(test, ornic_th_state(&fix->a), ORNIC_QPS_ERR);
		/* What lies before the bad SGE is written, and nothing behind. */
		KUNIT_EXPECT_EQ(test, ornic_fix_compare(&fix->am, 0, 999, 2),
				row->bad < row->nsge ? 350 : 0);
	}
}

/* A solicited message fires a CQ that is armed for them, others do not. */
static void resp_solicited(struct kunit *test)
{
	struct ornic_fixture *fix = open_type(test, ORNIC_QPT_RC);
	u32 *comps = &fix->pair.a->event_count[ORNIC_EVENT_COMP];
	struct ornic_txinfo info = {
		.opcode = ORNIC_OP_SEND_ONLY,
		.psn = PSN + 1,
		.solicited = true,
	};
	u32 i;

	for (i = 0; i < 4; i++)
		ornic_fix_recv(&fix->a, &fix->am, i, i * 64, 64);
	ornic_th_arm(&fix->arcq, ORNIC_ARM_SOLICITED);
	ornic_fix_request(fix, ORNIC_OP_SEND_ONLY, 0, 0, 0, 10);
	KUNIT_EXPECT_EQ(test, *comps, 0);
	ornic_th_inject(&fix->a, &info, fix->buf, 10);
	KUNIT_EXPECT_EQ(test, *comps, 1);
	ornic_fix_request(fix, ORNIC_OP_SEND_ONLY, 2, 0, 0, 10);
	KUNIT_EXPECT_EQ(test, *comps, 1);
	ornic_th_arm(&fix->arcq, ORNIC_ARM_NEXT);
	ornic_fix_request(fix, ORNIC_OP_SEND_ONLY, 3, 0, 0, 10);
	KUNIT_EXPECT_EQ(test, *comps, 2);
}

/* ---- UC and UD ------------------------------------------------------------- */

/* Packets by (opcode, PSN) and the messages that arrive whole. */
struct uc_pkt {
	u8 opcode;
	s32 n;
};

static const struct uc_row {
	const char *desc;
	u32 npkts;
	struct uc_pkt pkt[4];
	u32 messages;
} uc_rows[] = {
	{ "IBTA 9.8.2.2.1: in order",
	  3,
	  { { ORNIC_OP_SEND_FIRST, 0 },
	    { ORNIC_OP_SEND_LAST, 1 },
	    { ORNIC_OP_SEND_ONLY, 2 } },
	  2 },
	{ "IBTA 9.8.2.2.1: last one lost, then the next message",
	  2,
	  { { ORNIC_OP_SEND_FIRST, 0 }, { ORNIC_OP_SEND_ONLY, 2 } },
	  1 },
	{ "IBTA 9.8.2.2.1: First lost",
	  2,
	  { { ORNIC_OP_SEND_LAST, 1 }, { ORNIC_OP_SEND_ONLY, 2 } },
	  1 },
	{ "IBTA 9.8.2.2.1: Middle lost",
	  3,
	  { { ORNIC_OP_SEND_FIRST, 0 },
	    { ORNIC_OP_SEND_LAST, 2 },
	    { ORNIC_OP_SEND_ONLY, 3 } },
	  1 },
	{ "IBTA 9.8.2.2.1: Lasts of two messages do not join",
	  3,
	  { { ORNIC_OP_SEND_FIRST, 0 },
	    { ORNIC_OP_SEND_FIRST, 2 },
	    { ORNIC_OP_SEND_LAST, 3 } },
	  1 },
	{ "IBTA 9.8.2.2.2: First in a message begins anew",
	  3,
	  { { ORNIC_OP_SEND_FIRST, 0 },
	    { ORNIC_OP_SEND_FIRST, 1 },
	    { ORNIC_OP_SEND_LAST, 2 } },
	  1 },
};

KUNIT_ARRAY_PARAM_DESC(uc, uc_rows, desc);

static void resp_uc(struct kunit *test)
{
	const struct uc_row *row = test->param_value;
	struct ornic_fixture *fix = open_type(test, ORNIC_QPT_UC);
	u32 i;

	for (i = 0; i < 5; i++)
		ornic_fix_recv(&fix->a, &fix->am, i, i * 4096, 4096);
	for (i = 0; i < row->npkts; i++) {
		const struct uc_pkt *pkt = &row->pkt[i];
		u32 len = pkt->opcode == ORNIC_OP_SEND_FIRST ? MTU : 33;

		ornic_fix_request(fix, ORNIC_UC | pkt->opcode, pkt->n, 0, 0,
				  len);
	}
	for (i = 0; status(fix) == 0; i++)
		;
	KUNIT_EXPECT_EQ(test, i, row->messages);
	KUNIT_EXPECT_EQ(test, ornic_fix_drain(fix), 0);
	KUNIT_EXPECT_EQ(test, ornic_th_state(&fix->a), ORNIC_QPS_RTS);
}

static const struct dgram_row {
	const char *desc;
	u32 recv; /* bytes of the receive, 0 none */
	u32 len;
	u32 qkey;
	int status;
	enum ornic_stat stat;
} dgram_rows[] = {
	{ "IBTA 9.8.3: data behind 40 bytes of GRH", 140, 100, 0x1234, 0,
	  ORNIC_STAT_RECV_WQES },
	{ "IBTA 9.9.3: one byte too long", 139, 100, 0x1234, NONE,
	  ORNIC_STAT_RX_TOO_LONG },
	{ "IBTA 9.6.1.4: wrong Q_Key", 140, 100, 0x1235, NONE,
	  ORNIC_STAT_RX_BAD_QKEY },
	{ "IBTA 9.8.3: no receive", 0, 100, 0x1234, NONE,
	  ORNIC_STAT_RX_NO_WQE },
};

KUNIT_ARRAY_PARAM_DESC(dgram, dgram_rows, desc);

static void resp_ud(struct kunit *test)
{
	const struct dgram_row *row = test->param_value;
	struct ornic_fixture *fix = open_type(test, ORNIC_QPT_UD);
	struct ornic_txinfo info = {
		.opcode = ORNIC_UD | ORNIC_OP_SEND_ONLY,
		.psn = 12345,
		.src_qpn = 0x777,
		.qkey = row->qkey,
	};
	struct ornic_cqe cqe;

	if (row->recv)
		ornic_fix_recv(&fix->a, &fix->am, 3, 0, row->recv);
	ornic_th_inject(&fix->a, &info, fix->buf, row->len);
	KUNIT_EXPECT_EQ(test, ornic_fix_status(&fix->arcq, &cqe), row->status);
	KUNIT_EXPECT_EQ(test, ornic_engine_stat(fix->pair.a->eng, row->stat),
			1);
	KUNIT_EXPECT_EQ(test, ornic_th_state(&fix->a), ORNIC_QPS_RTS);
	if (row->status)
		return;
	KUNIT_EXPECT_EQ(test, le32_to_cpu(cqe.byte_len), 140);
	KUNIT_EXPECT_EQ(test, le32_to_cpu(cqe.src_qpn), 0x777);
	KUNIT_EXPECT_TRUE(test, cqe.flags & ORNIC_CQE_GRH);
	KUNIT_EXPECT_EQ(test, cqe.smac[5], 9);
	KUNIT_EXPECT_EQ(test, cqe.sgid_index, ORNIC_TH_IPV4);
	KUNIT_EXPECT_EQ(test, ornic_fix_compare(&fix->am, 40, 100, 2), -1);
}

/* IBTA 9.9.3, class D: a receive that was too short takes the next message. */
static void resp_ud_too_long(struct kunit *test)
{
	struct ornic_fixture *fix = open_type(test, ORNIC_QPT_UD);
	struct ornic_txinfo info = {
		.opcode = ORNIC_UD | ORNIC_OP_SEND_ONLY,
		.src_qpn = 0x777,
		.qkey = 0x1234,
	};
	struct ornic_cqe cqe;
	u32 i;

	ornic_fix_recv(&fix->a, &fix->am, 3, 0, 100);
	for (i = 0; i < 100; i++)
		ornic_th_inject(&fix->a, &info, fix->buf, 61 + i);
	KUNIT_EXPECT_EQ(test,
			ornic_engine_stat(fix->pair.a->eng,
					  ORNIC_STAT_RX_TOO_LONG),
			100);
	KUNIT_EXPECT_EQ(test, status(fix), NONE);
	ornic_th_inject(&fix->a, &info, fix->buf, 60);
	KUNIT_EXPECT_EQ(test, ornic_fix_status(&fix->arcq, &cqe), 0);
	KUNIT_EXPECT_EQ(test, le64_to_cpu(cqe.wr_id), 3);
	KUNIT_EXPECT_EQ(test, le32_to_cpu(cqe.byte_len), 100);
	KUNIT_EXPECT_EQ(test, ornic_th_state(&fix->a), ORNIC_QPS_RTS);
}

/* IBTA 9.9.3, class D: as for UD, wherever the message grew too long. */
static void resp_uc_too_long(struct kunit *test)
{
	struct ornic_fixture *fix = open_type(test, ORNIC_QPT_UC);
	struct ornic_cqe cqe;

	ornic_fix_recv(&fix->a, &fix->am, 3, 0, MTU + 32);
	ornic_fix_request(fix, ORNIC_UC | ORNIC_OP_SEND_FIRST, 0, 0, 0, MTU);
	ornic_fix_request(fix, ORNIC_UC | ORNIC_OP_SEND_MIDDLE, 1, 0, 0, MTU);
	ornic_fix_request(fix, ORNIC_UC | ORNIC_OP_SEND_LAST, 2, 0, 0, 10);
	KUNIT_EXPECT_EQ(test, status(fix), NONE);
	KUNIT_EXPECT_EQ(test, ornic_th_state(&fix->a), ORNIC_QPS_RTS);
	ornic_fix_request(fix, ORNIC_UC | ORNIC_OP_SEND_FIRST, 3, 0, 0, MTU);
	ornic_fix_request(fix, ORNIC_UC | ORNIC_OP_SEND_LAST, 4, 0, 0, 32);
	KUNIT_EXPECT_EQ(test, ornic_fix_status(&fix->arcq, &cqe), 0);
	KUNIT_EXPECT_EQ(test, le64_to_cpu(cqe.wr_id), 3);
	KUNIT_EXPECT_EQ(test, le32_to_cpu(cqe.byte_len), MTU + 32);
	KUNIT_EXPECT_EQ(test, stat(fix, ORNIC_STAT_RX_TOO_LONG), 1);
}

/* IBTA 9.8.2.2: UC drops what it may not do; a peer that guesses is seen. */
static void resp_uc_bad_rkey(struct kunit *test)
{
	struct ornic_fixture *fix = open_type(test, ORNIC_QPT_UC);
	u32 i;

	for (i = 0; i < 5; i++)
		ornic_fix_request(fix, ORNIC_UC | ORNIC_OP_WRITE_ONLY, i,
				  ORNIC_FIX_MR_BYTES, 10, 10);
	KUNIT_EXPECT_EQ(test, stat(fix, ORNIC_STAT_RX_BAD_RKEY), 5);
	KUNIT_EXPECT_EQ(test, ornic_th_state(&fix->a), ORNIC_QPS_RTS);
}

/* ---- packets that are for nobody ------------------------------------------- */

static void resp_wrong_peer(struct kunit *test)
{
	struct ornic_fixture *fix = open_type(test, ORNIC_QPT_RC);
	struct ornic_engine *eng = fix->pair.a->eng;

	ornic_fix_recv(&fix->a, &fix->am, 0, 0, 64);
	fix->a.conn.av.dgid[15] ^= 1;
	ornic_fix_request(fix, ORNIC_OP_SEND_ONLY, 0, 0, 0, 10);
	KUNIT_EXPECT_EQ(test, ornic_engine_stat(eng, ORNIC_STAT_RX_BAD_ADDR),
			1);
	fix->a.conn.av.dgid[15] ^= 1;
	ornic_fix_request(fix, ORNIC_UC | ORNIC_OP_SEND_ONLY, 0, 0, 0, 10);
	KUNIT_EXPECT_EQ(test, ornic_engine_stat(eng, ORNIC_STAT_RX_NO_QP), 1);
	fix->a.qpn ^= 0x800;
	ornic_fix_request(fix, ORNIC_OP_SEND_ONLY, 0, 0, 0, 10);
	fix->a.qpn ^= 0x800;
	KUNIT_EXPECT_EQ(test, ornic_engine_stat(eng, ORNIC_STAT_RX_NO_QP), 2);
	KUNIT_EXPECT_EQ(test, ornic_fix_drain(fix), 0);
	KUNIT_EXPECT_EQ(test, epsn(fix), 0);
}

/* IBTA 10.3.1.3: the first message in RTR raises Communication Established. */
static void resp_comm_est(struct kunit *test)
{
	struct ornic_th_qpinit init = { .type = ORNIC_QPT_RC };
	struct ornic_fixture *fix = test->priv;
	u32 *events;

	KUNIT_ASSERT_EQ(test, ornic_fix_open(fix, ORNIC_FIX_LONE, &init), 0);
	events = &fix->pair.a->event_count[ORNIC_EVENT_COMM_EST];
	ornic_th_av(&fix->a.conn.av, 9, ORNIC_TH_IPV4);
	fix->a.conn.dest_qpn = 0x123;
	KUNIT_ASSERT_EQ(test, ornic_th_to(&fix->a, ORNIC_QPS_INIT), 0);
	ornic_fix_recv(&fix->a, &fix->am, 0, 0, 64);
	ornic_fix_recv(&fix->a, &fix->am, 1, 0, 64);
	KUNIT_ASSERT_EQ(test, ornic_th_to(&fix->a, ORNIC_QPS_RTR), 0);
	ornic_fix_request(fix, ORNIC_OP_SEND_ONLY, 0, 0, 0, 10);
	KUNIT_EXPECT_EQ(test, *events, 1);
	ornic_fix_request(fix, ORNIC_OP_SEND_ONLY, 1, 0, 0, 10);
	KUNIT_EXPECT_EQ(test, *events, 1);
	KUNIT_EXPECT_EQ(test, ornic_fix_drain(fix), 2);
}

/* Packets in many pieces are the same packets. */
static void resp_pieces(struct kunit *test)
{
	struct ornic_fixture *fix = open_type(test, ORNIC_QPT_RC);

	fix->pair.a->seg_bytes = 61;
	ornic_fix_request(fix, ORNIC_OP_WRITE_FIRST, 0, 3, 2 * MTU, MTU);
	ornic_fix_request(fix, ORNIC_OP_WRITE_LAST, 1, 3, 2 * MTU, MTU);
	KUNIT_EXPECT_EQ(test, ornic_fix_syndrome(fix), ACK);
	KUNIT_EXPECT_EQ(test, ornic_fix_syndrome(fix), ACK);
	KUNIT_EXPECT_EQ(test, ornic_fix_compare(&fix->am, 3, MTU, 2), -1);
	KUNIT_EXPECT_EQ(test, ornic_fix_compare(&fix->am, 3 + MTU, MTU, 2), -1);
}

/* IBTA 10.3.1.6: the receive of a message that was cut off is flushed first. */
static void resp_flush_amid_message(struct kunit *test)
{
	struct ornic_fixture *fix = open_type(test, ORNIC_QPT_RC);
	struct ornic_cqe cqe;
	u32 i;

	for (i = 0; i < 3; i++)
		ornic_fix_recv(&fix->a, &fix->am, i, 0, 2 * MTU);
	ornic_fix_request(fix, ORNIC_OP_SEND_FIRST, 0, 0, 0, MTU);
	KUNIT_EXPECT_EQ(test, ornic_th_to(&fix->a, ORNIC_QPS_ERR), 0);
	for (i = 0; i < 3; i++) {
		KUNIT_EXPECT_EQ(test, ornic_fix_status(&fix->arcq, &cqe),
				ORNIC_CQE_WR_FLUSH_ERR);
		KUNIT_EXPECT_EQ(test, le64_to_cpu(cqe.wr_id), i);
	}
	KUNIT_EXPECT_EQ(test, status(fix), NONE);
}

static struct kunit_case resp_cases[] = {
	KUNIT_CASE_PARAM(resp_sequence, seq_gen_params),
	KUNIT_CASE(resp_one_nak_per_gap),
	KUNIT_CASE_PARAM(resp_form, form_gen_params),
	KUNIT_CASE_PARAM(resp_access, key_gen_params),
	KUNIT_CASE(resp_rnr),
	KUNIT_CASE(resp_write_imm),
	KUNIT_CASE_PARAM(resp_scatter, recv_gen_params),
	KUNIT_CASE(resp_solicited),
	KUNIT_CASE_PARAM(resp_uc, uc_gen_params),
	KUNIT_CASE_PARAM(resp_ud, dgram_gen_params),
	KUNIT_CASE(resp_ud_too_long),
	KUNIT_CASE(resp_uc_too_long),
	KUNIT_CASE(resp_uc_bad_rkey),
	KUNIT_CASE(resp_wrong_peer),
	KUNIT_CASE(resp_comm_est),
	KUNIT_CASE(resp_pieces),
	KUNIT_CASE(resp_flush_amid_message),
	{}
};

static struct kunit_suite resp_suite = {
	.name = "ornic_resp",
	.init = ornic_suite_init,
	.exit = ornic_suite_exit,
	.test_cases = resp_cases,
};

kunit_test_suite(resp_suite);

MODULE_DESCRIPTION("ornic: responder suite");
MODULE_LICENSE("Dual BSD/GPL");
