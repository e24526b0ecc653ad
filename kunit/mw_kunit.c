// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* Memory windows: binding, use by a peer, invalidation, order with messages. */
#include <kunit/test.h>

#include "suite_fixture.h"
#include "engine/dev.h"
#include "engine/mw.h"
#include "engine/qp.h"

#define RC ORNIC_QPT_RC
#define T1 ORNIC_MW_TYPE_1
#define T2 ORNIC_MW_TYPE_2
#define PEER_WRITE ORNIC_ACCESS_REMOTE_WRITE
#define PEER_READ ORNIC_ACCESS_REMOTE_READ
#define WINDOW_AT 1000u
#define WINDOW_BYTES 3000u

/* b has a window on part of wm; a uses it. */
struct mw_test {
	struct ornic_fixture fix;
	struct ornic_th_mr wm;
	u32 key;
};

static_assert(offsetof(struct mw_test, fix) == 0);

static int mw_init(struct kunit *test)
{
	return ornic_suite_alloc(test, sizeof(struct mw_test));
}

static struct mw_test *open_mw(struct kunit *test, enum ornic_fix_kind kind,
			       u8 type, u8 mr_access)
{
	struct ornic_th_qpinit init = { .type = RC };
	struct mw_test *mt = test->priv;

	KUNIT_ASSERT_EQ(test, ornic_fix_open(&mt->fix, kind, &init), 0);
	KUNIT_ASSERT_EQ(test, ornic_fix_connect(&mt->fix), 0);
	KUNIT_ASSERT_EQ(test,
			ornic_th_mr_init(mt->fix.pair.b, &mt->wm, 20000, 50, 1,
					 mr_access),
			0);
	KUNIT_ASSERT_EQ(test, ornic_th_mw(mt->fix.pair.b, type, &mt->key), 0);
	ornic_fix_fill(&mt->fix.am, 0, ORNIC_FIX_MR_BYTES, 1);
	return mt;
}

static struct ornic_th_wr bind_wr(const struct mw_test *mt, u8 access,
				  u64 length)
{
	return (struct ornic_th_wr){
		.wr_id = 77,
		.opcode = ORNIC_WQE_BIND_MW,
		.flags = ORNIC_WQE_SIGNALED,
		.raddr = mt->wm.iova + WINDOW_AT,
		.rkey = mt->key,
		.bind_length = length,
		.bind_lkey = mt->wm.key,
		.bind_access = access,
	};
}

/* With a new variant of the key, as users do it. */
static int bind(struct mw_test *mt, u8 access, u64 length)
{
	struct ornic_th_wr wr;

	mt->key = (mt->key & ~0xffu) | ((mt->key + 1) & 0xff);
	wr = bind_wr(mt, access, length);
	return ornic_fix_run_on_b(&mt->fix, &wr);
}

/* The status of a WRITE or READ by a of @len bytes at @off of wm. */
static int use(struct mw_test *mt, u8 opcode, u32 key, u32 off, u32 len)
{
	struct ornic_lsge sge = ornic_fix_sge(&mt->fix.am, 0, len);
	struct ornic_th_wr wr = {
		.opcode = opcode,
		.flags = ORNIC_WQE_SIGNALED,
		.raddr = mt->wm.iova + off,
		.rkey = key,
		.nsge = 1,
		.sge = &sge,
	};
	struct ornic_cqe cqe;

	ornic_th_post_send(&mt->fix.a, &wr);
	ornic_th_settle(&mt->fix.pair);
	return ornic_fix_status(&mt->fix.ascq, &cqe);
}

static int destroy(struct mw_test *mt)
{
	return ornic_th_destroy_obj(mt->fix.pair.b, ORNIC_CMD_DESTROY_MW,
				    mt->key);
}

/* First byte of wm that is not what a has written; -1 if none. */
static s32 changed(const struct mw_test *mt, u32 off, u32 len)
{
	return ornic_fix_compare(&mt->wm, off, len, 1);
}

/* ---- Use ------------------------------------------------------------------------ */

static const struct use_row {
	const char *name;
	enum ornic_fix_kind kind;
	u8 type, access, opcode;
	u32 off, len;
	int status;
} use_rows[] = {
	{ "all of it", ORNIC_FIX_WIRE, T1, PEER_WRITE, ORNIC_WQE_WRITE,
	  WINDOW_AT, WINDOW_BYTES, 0 },
	{ "all of it, loopback", ORNIC_FIX_LOOP, T1, PEER_WRITE,
	  ORNIC_WQE_WRITE, WINDOW_AT, WINDOW_BYTES, 0 },
	{ "its last byte, type 2", ORNIC_FIX_WIRE, T2, PEER_WRITE,
	  ORNIC_WQE_WRITE, WINDOW_AT + WINDOW_BYTES - 1, 1, 0 },
	{ "read", ORNIC_FIX_WIRE, T2, PEER_READ, ORNIC_WQE_READ, WINDOW_AT,
	  2000, 0 },
	{ "read, loopback", ORNIC_FIX_LOOP, T2, PEER_READ, ORNIC_WQE_READ,
	  WINDOW_AT, 2000, 0 },
	{ "a byte before", ORNIC_FIX_WIRE, T1, PEER_WRITE, ORNIC_WQE_WRITE,
	  WINDOW_AT - 1, 10, ORNIC_CQE_REM_ACCESS_ERR },
	{ "a byte behind", ORNIC_FIX_WIRE, T1, PEER_WRITE, ORNIC_WQE_WRITE,
	  WINDOW_AT, WINDOW_BYTES + 1, ORNIC_CQE_REM_ACCESS_ERR },
	{ "no right to write", ORNIC_FIX_WIRE, T1, PEER_READ, ORNIC_WQE_WRITE,
	  WINDOW_AT, 10, ORNIC_CQE_REM_ACCESS_ERR },
	{ "no right to read, loopback", ORNIC_FIX_LOOP, T2, PEER_WRITE,
	  ORNIC_WQE_READ, WINDOW_AT, 10, ORNIC_CQE_REM_ACCESS_ERR },
};

KUNIT_ARRAY_PARAM_DESC(use, use_rows, name);

/* The MR itself gives a peer nothing here. */
static void mw_gives_what_it_says(struct kunit *test)
{
	const struct use_row *row = test->param_value;
	struct mw_test *mt =
		open_mw(test, row->kind, row->type,
			ORNIC_ACCESS_LOCAL_WRITE | ORNIC_ACCESS_MW_BIND);
	struct ornic_cqe cqe;

	KUNIT_ASSERT_EQ(test, bind(mt, row->access, WINDOW_BYTES), 0);
	KUNIT_EXPECT_EQ(test, use(mt, row->opcode, mt->key, row->off, row->len),
			row->status);
	if (!row->status && row->opcode == ORNIC_WQE_WRITE)
		KUNIT_EXPECT_EQ(test, changed(mt, row->off, row->len), -1);
	KUNIT_EXPECT_EQ(test, ornic_fix_status(&mt->fix.bscq, &cqe), 0xff);
}

static void mw_old_variant_is_dead(struct kunit *test)
{
	struct mw_test *mt =
		open_mw(test, ORNIC_FIX_WIRE, T1, ORNIC_ACCESS_MR_MASK);
	u32 old;

	KUNIT_ASSERT_EQ(test, bind(mt, PEER_WRITE, WINDOW_BYTES), 0);
	old = mt->key;
	KUNIT_ASSERT_EQ(test, bind(mt, PEER_WRITE, WINDOW_BYTES), 0);
	KUNIT_EXPECT_EQ(test, use(mt, ORNIC_WQE_WRITE, mt->key, WINDOW_AT, 1),
			0);
	KUNIT_EXPECT_EQ(test, use(mt, ORNIC_WQE_WRITE, old, WINDOW_AT, 1),
			ORNIC_CQE_REM_ACCESS_ERR);
}

static int check_lkey(struct mw_test *mt)
{
	enum ornic_vendor_err verr;
	struct ornic_mkey *m;

	ornic_rcu_read_lock();
	verr = ornic_key_check(&mt->fix.pair.b->eng->dev, mt->key, ORNIC_TH_PD,
			       mt->wm.iova + WINDOW_AT, 1, 0, &m);
	ornic_rcu_read_unlock();
	return verr;
}

/* A key of a window is no lkey, and none before it is bound. */
static void mw_is_no_lkey(struct kunit *test)
{
	struct mw_test *mt =
		open_mw(test, ORNIC_FIX_WIRE, T1, ORNIC_ACCESS_MR_MASK);

	KUNIT_EXPECT_EQ(test, check_lkey(mt), ORNIC_VERR_LKEY_UNKNOWN);
	KUNIT_ASSERT_EQ(test, bind(mt, PEER_WRITE, WINDOW_BYTES), 0);
	KUNIT_EXPECT_EQ(test, check_lkey(mt), ORNIC_VERR_LKEY_UNKNOWN);
}

/* IBTA 10.6.7.2: QP, window and MR are of one PD. */
static void mw_is_of_one_pd(struct kunit *test)
{
	struct mw_test *mt =
		open_mw(test, ORNIC_FIX_WIRE, T1, ORNIC_ACCESS_MR_MASK);
	struct ornic_th_qpinit init = { .type = RC };
	struct ornic_fixture *fix = &mt->fix;
	struct ornic_th_qp c;
	struct ornic_th_wr wr;
	struct ornic_cqe cqe;
	u32 ours = mt->key;

	fix->pair.b->pdn++;
	KUNIT_ASSERT_EQ(test,
			ornic_th_mr_init(fix->pair.b, &mt->wm, 20000, 50, 1,
					 ORNIC_ACCESS_MR_MASK),
			0);
	KUNIT_ASSERT_EQ(test, ornic_th_mw(fix->pair.b, T1, &mt->key), 0);
	KUNIT_ASSERT_EQ(test,
			ornic_th_qp_init(fix->pair.b, &c, &init, &fix->bscq,
					 &fix->brcq),
			0);
	KUNIT_ASSERT_EQ(test, ornic_th_connect(&c, NULL, ORNIC_TH_IPV4), 0);
	wr = bind_wr(mt, PEER_WRITE, WINDOW_BYTES);
	ornic_th_post_send(&c, &wr);
	KUNIT_EXPECT_EQ(test, ornic_fix_status(&fix->bscq, &cqe), 0);
	/* A good window, but not for b's peer. */
	KUNIT_EXPECT_EQ(test, use(mt, ORNIC_WQE_WRITE, mt->key, WINDOW_AT, 8),
			ORNIC_CQE_REM_ACCESS_ERR);
	/* A good MR, but not for this window. */
	wr.rkey = ours;
	ornic_th_post_send(&c, &wr);
	KUNIT_EXPECT_EQ(test, ornic_fix_status(&fix->bscq, &cqe),
			ORNIC_CQE_MW_BIND_ERR);
	KUNIT_EXPECT_EQ(test, cqe.vendor_err, ORNIC_VERR_LKEY_PD);
	KUNIT_EXPECT_EQ(test, ornic_th_qp_fini(&c), 0);
}

/* Type 2B is of one QP. */
static void mw_type2_is_of_one_qp(struct kunit *test)
{
	struct mw_test *mt =
		open_mw(test, ORNIC_FIX_WIRE, T2, ORNIC_ACCESS_MR_MASK);
	struct ornic_th_qpinit init = { .type = RC };
	struct ornic_th_qp c;
	struct ornic_mkey *m;
	struct ornic_qp *qp;

	KUNIT_ASSERT_EQ(test, bind(mt, PEER_WRITE, WINDOW_BYTES), 0);
	KUNIT_ASSERT_EQ(test,
			ornic_th_qp_init(mt->fix.pair.b, &c, &init,
					 &mt->fix.bscq, &mt->fix.brcq),
			0);
	ornic_rcu_read_lock();
	qp = ornic_table_lookup(&mt->fix.pair.b->eng->dev.qps, c.qpn);
	KUNIT_EXPECT_EQ(test,
			ornic_rkey_check(qp, mt->key, mt->wm.iova + WINDOW_AT,
					 1, PEER_WRITE, &m),
			ORNIC_VERR_LKEY_PD);
	KUNIT_EXPECT_EQ(test, ornic_mw_invalidate(qp, mt->key),
			ORNIC_VERR_LKEY_PD);
	ornic_rcu_read_unlock();
	KUNIT_EXPECT_EQ(test, use(mt, ORNIC_WQE_WRITE, mt->key, WINDOW_AT, 1),
			0);
}

/* ---- Binding --------------------------------------------------------------------- */

static const struct bind_row {
	const char *name;
	u8 type, mr_access, access;
	u64 length;
	u32 key_xor, lkey_xor;
	enum ornic_vendor_err verr;
} bind_rows[] = {
	{ "fine", T1, ORNIC_ACCESS_MR_MASK, PEER_WRITE, 100, 0, 0, 0 },
	{ "type 1, no bytes", T1, ORNIC_ACCESS_MR_MASK, 0, 0, 0, 0, 0 },
	{ "type 2, no bytes", T2, ORNIC_ACCESS_MR_MASK, 0, 0, 0, 0,
	  ORNIC_VERR_BAD_OPCODE },
	{ "MR that may not be bound to", T1, ORNIC_ACCESS_MASK, PEER_WRITE, 100,
	  0, 0, ORNIC_VERR_LKEY_ACCESS },
	{ "MR that may not be written", T1, ORNIC_ACCESS_MW_BIND, PEER_WRITE,
	  100, 0, 0, ORNIC_VERR_LKEY_ACCESS },
	{ "reading only", T1, ORNIC_ACCESS_MW_BIND, PEER_READ, 100, 0, 0, 0 },
	{ "no such window", T1, ORNIC_ACCESS_MR_MASK, PEER_WRITE, 100, 0x10000,
	  0, ORNIC_VERR_LKEY_UNKNOWN },
	{ "no such MR", T1, ORNIC_ACCESS_MR_MASK, PEER_WRITE, 100, 0, 1,
	  ORNIC_VERR_LKEY_UNKNOWN },
	{ "beyond the MR", T1, ORNIC_ACCESS_MR_MASK, PEER_WRITE, 20000, 0, 0,
	  ORNIC_VERR_LKEY_RANGE },
	{ "range that wraps", T2, ORNIC_ACCESS_MR_MASK, PEER_WRITE, -1ull, 0, 0,
	  ORNIC_VERR_LKEY_RANGE },
	{ "unknown right", T1, ORNIC_ACCESS_MR_MASK, 0x20, 100, 0, 0,
	  ORNIC_VERR_BAD_FLAGS },
};

KUNIT_ARRAY_PARAM_DESC(bind, bind_rows, name);

static void mw_bind_checks(struct kunit *test)
{
	const struct bind_row *row = test->param_value;
	struct mw_test *mt =
		open_mw(test, ORNIC_FIX_WIRE, row->type, row->mr_access);
	struct ornic_th_wr wr = bind_wr(mt, row->access, row->length);
	struct ornic_cqe cqe;

	wr.rkey ^= row->key_xor;
	wr.bind_lkey ^= row->lkey_xor;
	ornic_th_post_send(&mt->fix.b, &wr);
	KUNIT_EXPECT_EQ(test, ornic_fix_status(&mt->fix.bscq, &cqe),
			row->verr ? ORNIC_CQE_MW_BIND_ERR : 0);
	KUNIT_EXPECT_EQ(test, cqe.vendor_err, row->verr);
	KUNIT_EXPECT_EQ(test, cqe.opcode, ORNIC_CQE_BIND_MW);
	KUNIT_EXPECT_EQ(test, le64_to_cpu(cqe.wr_id), 77);
}

static void mw_type2_is_not_bound_twice(struct kunit *test)
{
	struct mw_test *mt =
		open_mw(test, ORNIC_FIX_WIRE, T2, ORNIC_ACCESS_MR_MASK);

	KUNIT_EXPECT_EQ(test, bind(mt, PEER_WRITE, 10), 0);
	KUNIT_EXPECT_EQ(test, ornic_fix_invalidate(&mt->fix, mt->key), 0);
	KUNIT_EXPECT_EQ(test, bind(mt, PEER_WRITE, 10), 0);
	KUNIT_EXPECT_EQ(test, bind(mt, PEER_WRITE, 10), ORNIC_CQE_MW_BIND_ERR);
	KUNIT_EXPECT_EQ(test, ornic_th_state(&mt->fix.b), ORNIC_QPS_ERR);
}

/* ---- Invalidating ----------------------------------------------------------------- */

static void mw_invalidate_ends_access(struct kunit *test)
{
	struct mw_test *mt =
		open_mw(test, ORNIC_FIX_WIRE, T2, ORNIC_ACCESS_MR_MASK);

	KUNIT_ASSERT_EQ(test, bind(mt, PEER_WRITE, WINDOW_BYTES), 0);
	KUNIT_EXPECT_EQ(test, ornic_fix_invalidate(&mt->fix, mt->key), 0);
	KUNIT_EXPECT_EQ(test, use(mt, ORNIC_WQE_WRITE, mt->key, WINDOW_AT, 1),
			ORNIC_CQE_REM_ACCESS_ERR);
}

static void mw_invalidate_needs_type2(struct kunit *test)
{
	struct mw_test *mt =
		open_mw(test, ORNIC_FIX_WIRE, T1, ORNIC_ACCESS_MR_MASK);

	KUNIT_ASSERT_EQ(test, bind(mt, PEER_WRITE, WINDOW_BYTES), 0);
	KUNIT_EXPECT_EQ(test, ornic_fix_invalidate(&mt->fix, mt->key),
			ORNIC_CQE_MW_BIND_ERR);
}

static const struct inv_row {
	const char *name;
	enum ornic_fix_kind kind;
	u32 len;
	u32 key_xor;
} inv_rows[] = {
	{ "one packet", ORNIC_FIX_WIRE, 10, 0 },
	{ "several packets", ORNIC_FIX_WIRE, 5000, 0 },
	{ "no bytes", ORNIC_FIX_WIRE, 0, 0 },
	{ "loopback", ORNIC_FIX_LOOP, 5000, 0 },
	{ "wrong variant", ORNIC_FIX_WIRE, 5000, 1 },
	{ "wrong variant, loopback", ORNIC_FIX_LOOP, 10, 1 },
};

KUNIT_ARRAY_PARAM_DESC(inv, inv_rows, name);

/* The peer invalidates the key of our window with its message. */
static void mw_send_inv(struct kunit *test)
{
	const struct inv_row *row = test->param_value;
	struct mw_test *mt = open_mw(test, row->kind, T2, ORNIC_ACCESS_MR_MASK);
	struct ornic_lsge sge = ornic_fix_sge(&mt->fix.am, 0, row->len);
	struct ornic_th_wr wr = {
		.opcode = ORNIC_WQE_SEND_INV,
		.flags = ORNIC_WQE_SIGNALED,
		.nsge = 1,
		.sge = &sge,
	};
	struct ornic_cqe cqe;

	KUNIT_ASSERT_EQ(test, bind(mt, PEER_WRITE, WINDOW_BYTES), 0);
	wr.imm = cpu_to_be32(mt->key ^ row->key_xor);
	ornic_fix_recv(&mt->fix.b, &mt->fix.bm, 5, 0, 6000);
	ornic_th_post_send(&mt->fix.a, &wr);
	ornic_th_settle(&mt->fix.pair);
	KUNIT_EXPECT_EQ(test, ornic_fix_status(&mt->fix.brcq, &cqe),
			row->key_xor ? ORNIC_CQE_LOC_QP_OP_ERR : 0);
	if (!row->key_xor) {
		KUNIT_EXPECT_EQ(test, cqe.flags & ORNIC_CQE_WITH_INV,
				ORNIC_CQE_WITH_INV);
		KUNIT_EXPECT_EQ(test, be32_to_cpu(cqe.imm), mt->key);
		KUNIT_EXPECT_EQ(test, le32_to_cpu(cqe.byte_len), row->len);
	}
	KUNIT_EXPECT_EQ(test, ornic_fix_status(&mt->fix.ascq, &cqe),
			row->key_xor ? ORNIC_CQE_REM_OP_ERR : 0);
	if (!row->key_xor)
		KUNIT_EXPECT_EQ(test,
				use(mt, ORNIC_WQE_WRITE, mt->key, WINDOW_AT, 1),
				ORNIC_CQE_REM_ACCESS_ERR);
}

/* ---- Lifetime --------------------------------------------------------------------- */

static void mw_holds_its_mr(struct kunit *test)
{
	struct mw_test *mt =
		open_mw(test, ORNIC_FIX_WIRE, T1, ORNIC_ACCESS_MR_MASK);
	struct ornic_th *th = mt->fix.pair.b;
	union ornic_req req = { .hdr.opcode = ORNIC_CMD_MODIFY_MKEY };
	union ornic_rsp rsp;
	int ret;

	KUNIT_ASSERT_EQ(test, bind(mt, PEER_WRITE, 100), 0);
	req.hdr.obj = cpu_to_le32(mt->wm.key);
	KUNIT_EXPECT_EQ(test, ornic_th_cmd(th, &req, &rsp), ORNIC_BUSY);
	KUNIT_EXPECT_EQ(test, ornic_th_mr_fini(&mt->wm), ORNIC_BUSY);
	ret = ornic_th_destroy_obj(th, ORNIC_CMD_DESTROY_MKEY, mt->key);
	KUNIT_EXPECT_EQ(test, ret, ORNIC_NOT_FOUND);
	KUNIT_EXPECT_EQ(test, bind(mt, 0, 0), 0);
	KUNIT_EXPECT_EQ(test, ornic_th_cmd(th, &req, &rsp), 0);
	KUNIT_ASSERT_EQ(test, bind(mt, PEER_WRITE, 100), 0);
	KUNIT_EXPECT_EQ(test, destroy(mt), 0);
	KUNIT_EXPECT_EQ(test, destroy(mt), ORNIC_NOT_FOUND);
	KUNIT_EXPECT_EQ(test, ornic_th_mr_fini(&mt->wm), 0);
	KUNIT_EXPECT_EQ(test, use(mt, ORNIC_WQE_WRITE, mt->key, WINDOW_AT, 1),
			ORNIC_CQE_REM_ACCESS_ERR);
}

/* IBTA 10.6.7.2.2: it is the QP that it belongs to, not the QP's number. */
static void mw_does_not_pass_to_next_qp(struct kunit *test)
{
	struct mw_test *mt =
		open_mw(test, ORNIC_FIX_LOOP, T2, ORNIC_ACCESS_MR_MASK);
	struct ornic_th_qpinit init = { .type = RC };
	struct ornic_fixture *fix = &mt->fix;
	u32 qpn = fix->b.qpn;

	KUNIT_ASSERT_EQ(test, bind(mt, PEER_WRITE, WINDOW_BYTES), 0);
	KUNIT_EXPECT_EQ(test, use(mt, ORNIC_WQE_WRITE, mt->key, WINDOW_AT, 10),
			0);
	KUNIT_ASSERT_EQ(test, ornic_th_qp_fini(&fix->b), 0);
	ornic_th_next_qpn(fix->pair.b, qpn);
	KUNIT_ASSERT_EQ(test,
			ornic_th_qp_init(fix->pair.b, &fix->b, &init,
					 &fix->bscq, &fix->brcq),
			0);
	KUNIT_ASSERT_EQ(test, fix->b.qpn, qpn);
	KUNIT_ASSERT_EQ(test, ornic_th_to(&fix->a, ORNIC_QPS_RESET), 0);
	KUNIT_ASSERT_EQ(test, ornic_fix_connect(fix), 0);
	KUNIT_EXPECT_EQ(test, ornic_fix_invalidate(fix, mt->key),
			ORNIC_CQE_MW_BIND_ERR);
	KUNIT_ASSERT_EQ(test, ornic_th_to(&fix->a, ORNIC_QPS_RESET), 0);
	KUNIT_ASSERT_EQ(test, ornic_th_to(&fix->b, ORNIC_QPS_RESET), 0);
	KUNIT_ASSERT_EQ(test, ornic_fix_connect(fix), 0);
	KUNIT_EXPECT_EQ(test, use(mt, ORNIC_WQE_WRITE, mt->key, WINDOW_AT, 10),
			ORNIC_CQE_REM_ACCESS_ERR);
}

static void mw_create_checks(struct kunit *test)
{
	struct mw_test *mt =
		open_mw(test, ORNIC_FIX_WIRE, T1, ORNIC_ACCESS_MR_MASK);
	u32 key;

	KUNIT_EXPECT_EQ(test, ornic_th_mw(mt->fix.pair.b, 0, &key),
			ORNIC_BAD_PARAM);
	KUNIT_EXPECT_EQ(test, ornic_th_mw(mt->fix.pair.b, 3, &key),
			ORNIC_BAD_PARAM);
	KUNIT_EXPECT_EQ(test,
			ornic_th_destroy_obj(mt->fix.pair.b,
					     ORNIC_CMD_DESTROY_MW, mt->wm.key),
			ORNIC_NOT_FOUND);
}

/* ---- Order ------------------------------------------------------------------------ */

/*
 * Messages and binds in turn, and the wire loses frames: completions keep
 * their order, and going back executes no bind twice (it would fail).
 */
static void mw_bind_keeps_its_place(struct kunit *test)
{
	struct mw_test *mt =
		open_mw(test, ORNIC_FIX_WIRE, T2, ORNIC_ACCESS_MR_MASK);
	struct ornic_th_wr wr = bind_wr(mt, PEER_WRITE, 100);
	struct ornic_cqe cqe;
	u32 drop = 4, i;

	mt->fix.pair.filter = ornic_fix_drop_from_b;
	mt->fix.pair.ctx = &drop;
	for (i = 0; i < 3; i++) {
		ornic_fix_post(&mt->fix.b, &mt->fix.bm, &mt->fix.am,
			       ORNIC_WQE_WRITE, 0, 0, 3000);
		ornic_th_post_send(&mt->fix.b, &wr);
		wr.opcode = ORNIC_WQE_LOCAL_INV;
		wr.imm = cpu_to_be32(mt->key);
		ornic_th_post_send(&mt->fix.b, &wr);
		wr.opcode = ORNIC_WQE_BIND_MW;
	}
	ornic_th_settle(&mt->fix.pair);
	ornic_th_advance(&mt->fix.pair, 3000 * ORNIC_TH_MS);
	for (i = 0; i < 9; i++) {
		KUNIT_ASSERT_EQ(test, ornic_fix_status(&mt->fix.bscq, &cqe), 0);
		KUNIT_EXPECT_EQ(test, le32_to_cpu(cqe.wqe_index), i);
	}
	KUNIT_EXPECT_EQ(test, drop, 0);
	KUNIT_EXPECT_EQ(test, ornic_th_state(&mt->fix.b), ORNIC_QPS_RTS);
}

static struct kunit_case mw_cases[] = {
	KUNIT_CASE_PARAM(mw_gives_what_it_says, use_gen_params),
	KUNIT_CASE(mw_old_variant_is_dead),
	KUNIT_CASE(mw_is_no_lkey),
	KUNIT_CASE(mw_is_of_one_pd),
	KUNIT_CASE(mw_type2_is_of_one_qp),
	KUNIT_CASE_PARAM(mw_bind_checks, bind_gen_params),
	KUNIT_CASE(mw_type2_is_not_bound_twice),
	KUNIT_CASE(mw_invalidate_ends_access),
	KUNIT_CASE(mw_invalidate_needs_type2),
	KUNIT_CASE_PARAM(mw_send_inv, inv_gen_params),
	KUNIT_CASE(mw_holds_its_mr),
	KUNIT_CASE(mw_does_not_pass_to_next_qp),
	KUNIT_CASE(mw_create_checks),
	KUNIT_CASE(mw_bind_keeps_its_place),
	{}
};

static struct kunit_suite mw_suite = {
	.name = "ornic_mw",
	.init = mw_init,
	.exit = ornic_suite_exit,
	.test_cases = mw_cases,
};

kunit_test_suite(mw_suite);

MODULE_DESCRIPTION("ornic: memory window suite");
MODULE_LICENSE("Dual BSD/GPL");
