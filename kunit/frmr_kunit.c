// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* Fast registration: getting memory, use by a peer, invalidation, order. */
#include <kunit/test.h>

#include "suite_fixture.h"
#include "engine/frmr.h"
#include "engine/proto.h"

#define RC ORNIC_QPT_RC
#define LWRITE ORNIC_ACCESS_LOCAL_WRITE
#define PEER_WRITE (ORNIC_ACCESS_REMOTE_WRITE | LWRITE)
#define PEER_READ ORNIC_ACCESS_REMOTE_READ
#define PEER_ATOMIC (ORNIC_ACCESS_REMOTE_ATOMIC | LWRITE)
#define PAGE 4096u
#define ROOM 8u
#define IOVA 0x7f1200000123ull
#define OFF0 0x123u
#define BYTES (5 * PAGE - OFF0 - 7) /* of 5 pages, not to their end */

/* b has an MR without memory, and memory for it; a uses it. */
struct frmr_test {
	struct ornic_fixture fix;
	u8 *mem;
	__le64 *list;
	u32 key;
};

static_assert(offsetof(struct frmr_test, fix) == 0);

static int frmr_init(struct kunit *test)
{
	return ornic_suite_alloc(test, sizeof(struct frmr_test));
}

static u64 dma(const void *p)
{
	return (uintptr_t)p;
}

static int create(struct ornic_th *th, const struct ornic_req_create_mkey *c,
		  u32 *key)
{
	union ornic_req req = { .create_mkey = *c };
	union ornic_rsp rsp;
	int status;

	req.hdr.opcode = ORNIC_CMD_CREATE_MKEY;
	req.create_mkey.pdn = cpu_to_le32(th->pdn);
	status = ornic_th_cmd(th, &req, &rsp);
	*key = le32_to_cpu(rsp.hdr.obj);
	return status;
}

static int create_empty(struct ornic_th *th, u32 room, u32 *key)
{
	struct ornic_req_create_mkey c = {
		.mem.npages = cpu_to_le32(room),
		.flags = ORNIC_MKEY_FAST,
	};

	return create(th, &c, key);
}

/* The pages in reverse, so that nothing is contiguous. */
static struct frmr_test *open_flags(struct kunit *test,
				    enum ornic_fix_kind kind, u8 flags)
{
	struct ornic_th_qpinit init = { .type = RC, .flags = flags };
	struct frmr_test *ft = test->priv;
	u32 i;

	KUNIT_ASSERT_EQ(test, ornic_fix_open(&ft->fix, kind, &init), 0);
	KUNIT_ASSERT_EQ(test, ornic_fix_connect(&ft->fix), 0);
	ft->mem = ornic_th_alloc(ft->fix.pair.b, ROOM * PAGE);
	KUNIT_ASSERT_NOT_NULL(test, ft->mem);
	ft->list = (__le64 *)ornic_th_alloc(ft->fix.pair.b, PAGE);
	KUNIT_ASSERT_NOT_NULL(test, ft->list);
	for (i = 0; i < ROOM; i++)
		ft->list[i] = cpu_to_le64(dma(ft->mem + (ROOM - 1 - i) * PAGE));
	KUNIT_ASSERT_EQ(test, create_empty(ft->fix.pair.b, ROOM, &ft->key), 0);
	ornic_fix_fill(&ft->fix.am, 0, ORNIC_FIX_MR_BYTES, 1);
	return ft;
}

static struct frmr_test *open_frmr(struct kunit *test, enum ornic_fix_kind kind)
{
	return open_flags(test, kind, ORNIC_QP_FAST_REG);
}

static u32 next_key(u32 key)
{
	return (key & ~0xffu) | ((key + 1) & 0xff);
}

static struct ornic_th_wr reg_wr(const struct frmr_test *ft, u8 access)
{
	return (struct ornic_th_wr){
		.wr_id = 77,
		.opcode = ORNIC_WQE_REG_MR,
		.flags = ORNIC_WQE_SIGNALED,
		.raddr = IOVA,
		.rkey = ft->key,
		.bind_length = BYTES,
		.bind_access = access,
		.reg_list = dma(ft->list),
		.reg_npages = 5,
		.reg_shift = ORNIC_PAGE_SHIFT,
	};
}

/* With a new variant of the key, as users do it. */
static int reg(struct frmr_test *ft, u8 access)
{
	struct ornic_th_wr wr;

	ft->key = next_key(ft->key);
	wr = reg_wr(ft, access);
	return ornic_fix_run_on_b(&ft->fix, &wr);
}

/* The status of a WRITE, READ or FAA by a of @len bytes at @off of the MR. */
static int use(struct frmr_test *ft, u8 opcode, u32 key, u32 off, u32 len)
{
	struct ornic_lsge sge = ornic_fix_sge(&ft->fix.am, 0, len);
	struct ornic_th_wr wr = {
		.opcode = opcode,
		.flags = ORNIC_WQE_SIGNALED,
		.raddr = IOVA + off,
		.rkey = key,
		.swap_add = 3,
		.nsge = 1,
		.sge = &sge,
	};
	struct ornic_cqe cqe;

	ornic_th_post_send(&ft->fix.a, &wr);
	ornic_th_settle(&ft->fix.pair);
	return ornic_fix_status(&ft->fix.ascq, &cqe);
}

/* The byte of the memory that byte @off of the MR is. */
static u8 *byte_at(const struct frmr_test *ft, u32 off)
{
	u32 at = OFF0 + off;

	return ft->mem + (ROOM - 1 - at / PAGE) * PAGE + at % PAGE;
}

/* First byte of the MR that is not a's pattern; -1 if none. */
static s32 changed(const struct frmr_test *ft, u32 off, u32 len)
{
	u32 i;

	for (i = 0; i < len; i++)
		if (*byte_at(ft, off + i) != ornic_fix_byte(1, i))
			return off + i;
	return -1;
}

/* ---- Commands --------------------------------------------------------------------- */

static const struct create_row {
	const char *name;
	u32 room;
	u8 flags, access;
	u64 iova, length;
	int status;
} create_rows[] = {
	{ "a page", 1, ORNIC_MKEY_FAST, 0, 0, 0, ORNIC_OK },
	{ "a list full", 512, ORNIC_MKEY_FAST, 0, 0, 0, ORNIC_OK },
	{ "none", 0, ORNIC_MKEY_FAST, 0, 0, 0, ORNIC_BAD_PARAM },
	{ "more than a list", 513, ORNIC_MKEY_FAST, 0, 0, 0, ORNIC_BAD_PARAM },
	{ "with rights", 8, ORNIC_MKEY_FAST, PEER_READ, 0, 0, ORNIC_BAD_PARAM },
	{ "with an address", 8, ORNIC_MKEY_FAST, 0, 1, 0, ORNIC_BAD_PARAM },
	{ "with a length", 8, ORNIC_MKEY_FAST, 0, 0, 1, ORNIC_BAD_PARAM },
	{ "of all memory", 8, ORNIC_MKEY_FAST | ORNIC_MKEY_DMA, 0, 0, 0,
	  ORNIC_BAD_PARAM },
};

KUNIT_ARRAY_PARAM_DESC(create, create_rows, name);

static void frmr_create_checks(struct kunit *test)
{
	const struct create_row *row = test->param_value;
	struct frmr_test *ft = open_frmr(test, ORNIC_FIX_WIRE);
	struct ornic_req_create_mkey c = {
		.mem.npages = cpu_to_le32(row->room),
		.iova = cpu_to_le64(row->iova),
		.length = cpu_to_le64(row->length),
		.access = row->access,
		.flags = row->flags,
	};
	u32 key;

	KUNIT_ASSERT_EQ(test, create(ft->fix.pair.b, &c, &key), row->status);
	if (row->status)
		return;
	KUNIT_EXPECT_NE(test, key, 0);
	KUNIT_EXPECT_EQ(test,
			ornic_th_destroy_obj(ft->fix.pair.b,
					     ORNIC_CMD_DESTROY_MKEY, key),
			0);
}

/* Its variant is a matter of work requests: commands go by the index. */
static void frmr_destroy_by_index(struct kunit *test)
{
	struct frmr_test *ft = open_frmr(test, ORNIC_FIX_WIRE);
	struct ornic_th *th = ft->fix.pair.b;
	union ornic_req req = { .hdr.opcode = ORNIC_CMD_MODIFY_MKEY };
	union ornic_rsp rsp;
	u32 first = ft->key;
	int status;

	KUNIT_ASSERT_EQ(test, reg(ft, PEER_WRITE), 0);
	req.hdr.obj = cpu_to_le32(ft->key);
	KUNIT_EXPECT_EQ(test, ornic_th_cmd(th, &req, &rsp), ORNIC_NOT_FOUND);
	status = ornic_th_destroy_obj(th, ORNIC_CMD_DESTROY_MKEY, first);
	KUNIT_EXPECT_EQ(test, status, 0);
	status = ornic_th_destroy_obj(th, ORNIC_CMD_DESTROY_MKEY, ft->key);
	KUNIT_EXPECT_EQ(test, status, ORNIC_NOT_FOUND);
	KUNIT_EXPECT_EQ(test, use(ft, ORNIC_WQE_WRITE, ft->key, 0, 1),
			ORNIC_CQE_REM_ACCESS_ERR);
}

/* ---- Use ------------------------------------------------------------------------- */

static const struct use_row {
	const char *name;
	enum ornic_fix_kind kind;
	u8 access, opcode;
	u32 off, len;
	int status;
} use_rows[] = {
	{ "all of it", ORNIC_FIX_WIRE, PEER_WRITE, ORNIC_WQE_WRITE, 0, BYTES,
	  0 },
	{ "all of it, loopback", ORNIC_FIX_LOOP, PEER_WRITE, ORNIC_WQE_WRITE, 0,
	  BYTES, 0 },
	{ "last byte", ORNIC_FIX_WIRE, PEER_WRITE, ORNIC_WQE_WRITE, BYTES - 1,
	  1, 0 },
	{ "read", ORNIC_FIX_WIRE, PEER_READ, ORNIC_WQE_READ, 0, BYTES, 0 },
	{ "read, loopback", ORNIC_FIX_LOOP, PEER_READ, ORNIC_WQE_READ, 0, BYTES,
	  0 },
	{ "atomic", ORNIC_FIX_WIRE, PEER_ATOMIC, ORNIC_WQE_FAA, 5, 8, 0 },
	{ "atomic, loopback", ORNIC_FIX_LOOP, PEER_ATOMIC, ORNIC_WQE_FAA, 5, 8,
	  0 },
	{ "a byte before", ORNIC_FIX_WIRE, PEER_WRITE, ORNIC_WQE_WRITE, -1u, 10,
	  ORNIC_CQE_REM_ACCESS_ERR },
	{ "a byte behind, in the same page", ORNIC_FIX_WIRE, PEER_WRITE,
	  ORNIC_WQE_WRITE, BYTES - 1, 2, ORNIC_CQE_REM_ACCESS_ERR },
	{ "no right to write", ORNIC_FIX_WIRE, PEER_READ, ORNIC_WQE_WRITE, 0, 1,
	  ORNIC_CQE_REM_ACCESS_ERR },
	{ "no right to read, loopback", ORNIC_FIX_LOOP, PEER_WRITE,
	  ORNIC_WQE_READ, 0, 1, ORNIC_CQE_REM_ACCESS_ERR },
	{ "no atomics", ORNIC_FIX_WIRE, PEER_WRITE, ORNIC_WQE_FAA, 5, 8,
	  ORNIC_CQE_REM_ACCESS_ERR },
};

KUNIT_ARRAY_PARAM_DESC(use, use_rows, name);

/* IBTA 10.6.4: a work request gives the key memory and rights. */
static void frmr_gives_what_it_says(struct kunit *test)
{
	const struct use_row *row = test->param_value;
	struct frmr_test *ft = open_frmr(test, row->kind);
	u32 i;

	for (i = 0; i < BYTES; i++)
		*byte_at(ft, i) = ornic_fix_byte(2, i);
	KUNIT_ASSERT_EQ(test, reg(ft, row->access), 0);
	KUNIT_EXPECT_EQ(test, use(ft, row->opcode, ft->key, row->off, row->len),
			row->status);
	if (row->status)
		return;
	if (row->opcode == ORNIC_WQE_WRITE)
		KUNIT_EXPECT_EQ(test, changed(ft, row->off, row->len), -1);
	if (row->opcode == ORNIC_WQE_READ)
		KUNIT_EXPECT_EQ(test,
				ornic_fix_compare(&ft->fix.am, 0, row->len, 2),
				-1);
	if (row->opcode == ORNIC_WQE_FAA)
		KUNIT_EXPECT_EQ(test, (u8)(ornic_fix_byte(2, 5) + 3),
				*byte_at(ft, 5));
}

/* The host's own work requests may name it as well. */
static void frmr_is_an_lkey(struct kunit *test)
{
	struct frmr_test *ft = open_frmr(test, ORNIC_FIX_WIRE);
	struct ornic_lsge sge = { .addr = IOVA, .length = BYTES };
	struct ornic_th_wr wr = {
		.opcode = ORNIC_WQE_READ,
		.flags = ORNIC_WQE_SIGNALED,
		.raddr = ft->fix.am.iova,
		.rkey = ft->fix.am.key,
		.nsge = 1,
		.sge = &sge,
	};

	KUNIT_ASSERT_EQ(test, reg(ft, LWRITE), 0);
	sge.lkey = ft->key;
	KUNIT_EXPECT_EQ(test, ornic_fix_run_on_b(&ft->fix, &wr), 0);
	KUNIT_EXPECT_EQ(test, changed(ft, 0, BYTES), -1);
	KUNIT_EXPECT_EQ(test, ornic_fix_invalidate(&ft->fix, ft->key), 0);
	KUNIT_EXPECT_EQ(test, ornic_fix_run_on_b(&ft->fix, &wr),
			ORNIC_CQE_LOC_PROT_ERR);
}

/* What the peer's device says of @len bytes at @addr of the key. */
static int check_key(struct frmr_test *ft, u32 pdn, u64 addr, u64 len)
{
	enum ornic_vendor_err verr;
	struct ornic_mkey *m;

	ornic_rcu_read_lock();
	verr = ornic_key_check(&ft->fix.pair.b->eng->dev, ft->key, pdn, addr,
			       len, 0, &m);
	ornic_rcu_read_unlock();
	return verr;
}

/* IBTA 10.6.4: in the free state it is no key at all. */
static void frmr_free_is_unknown(struct kunit *test)
{
	struct frmr_test *ft = open_frmr(test, ORNIC_FIX_WIRE);

	KUNIT_EXPECT_EQ(test, check_key(ft, ORNIC_TH_PD, 0, 0),
			ORNIC_VERR_LKEY_UNKNOWN);
	KUNIT_ASSERT_EQ(test, reg(ft, PEER_READ), 0);
	KUNIT_EXPECT_EQ(test, check_key(ft, ORNIC_TH_PD, IOVA, 1),
			ORNIC_VERR_NONE);
	KUNIT_EXPECT_EQ(test, check_key(ft, ORNIC_TH_PD + 1, IOVA, 1),
			ORNIC_VERR_LKEY_PD);
	KUNIT_EXPECT_EQ(test, use(ft, ORNIC_WQE_READ, next_key(ft->key), 0, 1),
			ORNIC_CQE_REM_ACCESS_ERR);
}

/* What was looked up before is not good for what the key is now. */
static void frmr_lookup_does_not_outlive_it(struct kunit *test)
{
	struct frmr_test *ft = open_frmr(test, ORNIC_FIX_WIRE);
	struct ornic_dev *dev = &ft->fix.pair.b->eng->dev;
	struct ornic_frag frag[8];
	struct ornic_iov iov = { .frag = frag, .max = 8 };
	struct ornic_mkey *m;
	u32 old;

	KUNIT_ASSERT_EQ(test, reg(ft, PEER_WRITE), 0);
	old = ft->key;
	ornic_rcu_read_lock();
	KUNIT_ASSERT_EQ(test,
			ornic_key_check(dev, old, ORNIC_TH_PD, IOVA, BYTES, 0,
					&m),
			ORNIC_VERR_NONE);
	ornic_rcu_read_unlock();
	KUNIT_EXPECT_EQ(test, ornic_iov_add_key(&iov, m, IOVA, BYTES), BYTES);
	iov.n = 0;
	KUNIT_ASSERT_EQ(test, ornic_fix_invalidate(&ft->fix, old), 0);
	KUNIT_EXPECT_EQ(test, ornic_iov_add_key(&iov, m, IOVA, BYTES), 0);
	KUNIT_ASSERT_EQ(test, reg(ft, PEER_WRITE), 0);
	ornic_rcu_read_lock();
	KUNIT_EXPECT_EQ(test,
			ornic_iov_map(&iov, dev, old, ORNIC_TH_PD, IOVA, BYTES,
				      0),
			ORNIC_VERR_LKEY_UNKNOWN);
	ornic_rcu_read_unlock();
	KUNIT_EXPECT_EQ(test, ornic_iov_add_key(&iov, m, IOVA, BYTES + 1), 0);
	KUNIT_EXPECT_EQ(test, iov.n, 0);
}

static const struct pd_row {
	const char *name;
	u8 opcode;
} pd_rows[] = {
	{ "IBTA 10.6.4: REG_MR", ORNIC_WQE_REG_MR },
	{ "IBTA 10.6.5.1: LOCAL_INV", ORNIC_WQE_LOCAL_INV },
};

KUNIT_ARRAY_PARAM_DESC(pd, pd_rows, name);

/* The key is right, but it is of another PD than the QP. */
static void frmr_is_of_one_pd(struct kunit *test)
{
	const struct pd_row *row = test->param_value;
	struct frmr_test *ft = open_frmr(test, ORNIC_FIX_WIRE);
	struct ornic_th *th = ft->fix.pair.b;
	struct ornic_th_wr wr;
	struct ornic_cqe cqe;

	th->pdn++;
	KUNIT_ASSERT_EQ(test, create_empty(th, ROOM, &ft->key), 0);
	wr = reg_wr(ft, PEER_WRITE);
	wr.opcode = row->opcode;
	wr.imm = cpu_to_be32(ft->key);
	ornic_th_post_send(&ft->fix.b, &wr);
	KUNIT_EXPECT_EQ(test, ornic_fix_status(&ft->fix.bscq, &cqe),
			ORNIC_CQE_MW_BIND_ERR);
	KUNIT_EXPECT_EQ(test, cqe.vendor_err, ORNIC_VERR_LKEY_PD);
}

/* ---- Registering ------------------------------------------------------------------ */

#define ADDR_BAD 1 /* what is wrong with the list */
#define ENTRY_BAD 2
#define ENTRY_ODD 3
#define ADDR_ODD 4

static const struct reg_row {
	const char *name;
	u64 iova, length;
	u32 npages;
	u8 shift, access, list;
	u32 key_xor;
	enum ornic_vendor_err verr;
} reg_rows[] = {
	{ "fine", IOVA, BYTES, 5, 12, PEER_WRITE, 0, 0, 0 },
	{ "all its room", 0, (ROOM * PAGE), ROOM, 12, PEER_READ, 0, 0, 0 },
	{ "to the end of its pages", IOVA, 5 * PAGE - OFF0, 5, 12, PEER_READ, 0,
	  0, 0 },
	{ "a byte beyond", IOVA, 5 * PAGE - OFF0 + 1, 5, 12, PEER_READ, 0, 0,
	  ORNIC_VERR_BAD_LENGTH },
	{ "no bytes", IOVA, 0, 5, 12, PEER_READ, 0, 0, ORNIC_VERR_BAD_LENGTH },
	{ "no pages", IOVA, 1, 0, 12, PEER_READ, 0, 0, ORNIC_VERR_BAD_LENGTH },
	{ "more than its room", IOVA, BYTES, ROOM + 1, 12, PEER_READ, 0, 0,
	  ORNIC_VERR_BAD_LENGTH },
	{ "many more", IOVA, BYTES, -1u, 12, PEER_READ, 0, 0,
	  ORNIC_VERR_BAD_LENGTH },
	{ "pages too small", IOVA, 1, 5, 11, PEER_READ, 0, 0,
	  ORNIC_VERR_BAD_LENGTH },
	{ "pages too large", IOVA, 1, 5, 41, PEER_READ, 0, 0,
	  ORNIC_VERR_BAD_LENGTH },
	{ "larger than any MR", IOVA, 1, 5, 40, PEER_READ, 0, 0,
	  ORNIC_VERR_BAD_LENGTH },
	{ "pages that are not there", IOVA, 1, 5, 30, PEER_READ, 0, 0,
	  ORNIC_VERR_LKEY_RANGE },
	{ "an address that wraps", -100ull, 100, 5, 12, PEER_READ, 0, 0,
	  ORNIC_VERR_BAD_LENGTH },
	{ "a length that wraps", IOVA, -1ull, 5, 12, PEER_READ, 0, 0,
	  ORNIC_VERR_BAD_LENGTH },
	{ "no memory for the list", IOVA, 1, 5, 12, PEER_READ, ADDR_BAD, 0,
	  ORNIC_VERR_LKEY_RANGE },
	{ "a list within a page", IOVA, 1, 5, 12, PEER_READ, ADDR_ODD, 0,
	  ORNIC_VERR_LKEY_RANGE },
	{ "no memory in the list", IOVA, 1, 5, 12, PEER_READ, ENTRY_BAD, 0,
	  ORNIC_VERR_LKEY_RANGE },
	{ "an odd page in the list", IOVA, 1, 5, 12, PEER_READ, ENTRY_ODD, 0,
	  ORNIC_VERR_LKEY_RANGE },
	{ "IBTA 11.2.8.2: remote write alone", IOVA, 1, 5, 12,
	  ORNIC_ACCESS_REMOTE_WRITE, 0, 0, ORNIC_VERR_LKEY_ACCESS },
	{ "windows on it", IOVA, 1, 5, 12, ORNIC_ACCESS_MW_BIND, 0, 0,
	  ORNIC_VERR_LKEY_ACCESS },
	{ "unknown right", IOVA, 1, 5, 12, 0x40, 0, 0, ORNIC_VERR_LKEY_ACCESS },
	{ "another variant", IOVA, 1, 5, 12, PEER_READ, 0, 0x80, 0 },
	{ "another index", IOVA, 1, 5, 12, PEER_READ, 0, 0x100,
	  ORNIC_VERR_LKEY_UNKNOWN },
};

KUNIT_ARRAY_PARAM_DESC(reg, reg_rows, name);

static void break_list(struct frmr_test *ft, u8 how, struct ornic_th_wr *wr)
{
	if (how == ADDR_BAD)
		wr->reg_list = PAGE;
	if (how == ADDR_ODD)
		wr->reg_list += 8;
	if (how == ENTRY_BAD)
		ft->list[4] = cpu_to_le64(PAGE);
	if (how == ENTRY_ODD)
		ft->list[4] = cpu_to_le64(dma(ft->mem) + 8);
}

static void frmr_reg_checks(struct kunit *test)
{
	const struct reg_row *row = test->param_value;
	struct frmr_test *ft = open_frmr(test, ORNIC_FIX_WIRE);
	struct ornic_th_wr wr = reg_wr(ft, row->access);
	struct ornic_cqe cqe;

	wr.raddr = row->iova;
	wr.bind_length = row->length;
	wr.reg_npages = row->npages;
	wr.reg_shift = row->shift;
	wr.rkey ^= row->key_xor;
	break_list(ft, row->list, &wr);
	ornic_th_post_send(&ft->fix.b, &wr);
	KUNIT_EXPECT_EQ(test, ornic_fix_status(&ft->fix.bscq, &cqe),
			row->verr ? ORNIC_CQE_MW_BIND_ERR : 0);
	KUNIT_EXPECT_EQ(test, cqe.vendor_err, row->verr);
	KUNIT_EXPECT_EQ(test, cqe.opcode, ORNIC_CQE_REG_MR);
	KUNIT_EXPECT_EQ(test, le64_to_cpu(cqe.wr_id), 77);
	KUNIT_EXPECT_EQ(test, ornic_th_state(&ft->fix.b),
			row->verr ? ORNIC_QPS_ERR : ORNIC_QPS_RTS);
}

/* IBTA 10.6.4: it must be free. */
static void frmr_reg_once(struct kunit *test)
{
	struct frmr_test *ft = open_frmr(test, ORNIC_FIX_WIRE);

	KUNIT_EXPECT_EQ(test, reg(ft, PEER_READ), 0);
	KUNIT_EXPECT_EQ(test, ornic_fix_invalidate(&ft->fix, ft->key), 0);
	KUNIT_EXPECT_EQ(test, ornic_fix_invalidate(&ft->fix, ft->key), 0);
	KUNIT_EXPECT_EQ(test, reg(ft, PEER_READ), 0);
	KUNIT_EXPECT_EQ(test, reg(ft, PEER_READ), ORNIC_CQE_MW_BIND_ERR);
}

/* An ordinary MR is none of them, whoever asks. */
static void frmr_reg_of_ordinary_mr(struct kunit *test)
{
	struct frmr_test *ft = open_frmr(test, ORNIC_FIX_WIRE);
	struct ornic_th_wr wr = reg_wr(ft, PEER_READ);
	struct ornic_th_mr *am = &ft->fix.am;

	wr.rkey = ft->fix.bm.key;
	KUNIT_EXPECT_EQ(test, ornic_fix_run_on_b(&ft->fix, &wr),
			ORNIC_CQE_MW_BIND_ERR);
	KUNIT_EXPECT_EQ(test, ornic_fix_compare(am, 0, ORNIC_FIX_MR_BYTES, 1),
			-1);
}

static void frmr_inv_of_ordinary_mr(struct kunit *test)
{
	struct frmr_test *ft = open_frmr(test, ORNIC_FIX_WIRE);

	KUNIT_EXPECT_EQ(test, ornic_fix_invalidate(&ft->fix, ft->fix.bm.key),
			ORNIC_CQE_MW_BIND_ERR);
}

/* DMA addresses are not for the QPs of processes. */
static void frmr_needs_its_qp(struct kunit *test)
{
	struct frmr_test *ft = open_flags(test, ORNIC_FIX_WIRE, 0);
	struct ornic_th_qpinit init = { .flags = ORNIC_QP_FAST_REG };
	struct ornic_th_wr wr = reg_wr(ft, PEER_READ);
	struct ornic_th_qp *qp;
	struct ornic_cqe cqe;

	ornic_th_post_send(&ft->fix.b, &wr);
	KUNIT_EXPECT_EQ(test, ornic_fix_status(&ft->fix.bscq, &cqe),
			ORNIC_CQE_LOC_QP_OP_ERR);
	KUNIT_EXPECT_EQ(test, cqe.vendor_err, ORNIC_VERR_BAD_OPCODE);
	qp = kunit_kzalloc(test, sizeof(*qp), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, qp);
	for (init.type = ORNIC_QPT_UC; init.type <= ORNIC_QPT_UD; init.type++)
		KUNIT_EXPECT_EQ(test,
				ornic_th_qp_init(ft->fix.pair.b, qp, &init,
						 &ft->fix.bscq, &ft->fix.brcq),
				ORNIC_BAD_PARAM);
}

/* ---- Invalidating ----------------------------------------------------------------- */

static void frmr_old_variant_is_dead(struct kunit *test)
{
	struct frmr_test *ft = open_frmr(test, ORNIC_FIX_WIRE);
	u32 old;

	KUNIT_ASSERT_EQ(test, reg(ft, PEER_WRITE), 0);
	KUNIT_EXPECT_EQ(test, use(ft, ORNIC_WQE_WRITE, ft->key, 0, BYTES), 0);
	old = ft->key;
	KUNIT_ASSERT_EQ(test, ornic_fix_invalidate(&ft->fix, old), 0);
	KUNIT_ASSERT_EQ(test, reg(ft, PEER_WRITE), 0);
	KUNIT_EXPECT_EQ(test, use(ft, ORNIC_WQE_WRITE, ft->key, 9, 10), 0);
	KUNIT_EXPECT_EQ(test, use(ft, ORNIC_WQE_WRITE, old, 0, 1),
			ORNIC_CQE_REM_ACCESS_ERR);
}

static const struct inv_row {
	const char *name;
	enum ornic_fix_kind kind;
	u8 access;
	u32 len, key_xor;
} inv_rows[] = {
	{ "one packet", ORNIC_FIX_WIRE, PEER_WRITE, 10, 0 },
	{ "several packets", ORNIC_FIX_WIRE, PEER_READ, 5000, 0 },
	{ "loopback", ORNIC_FIX_LOOP, PEER_ATOMIC, 5000, 0 },
	{ "wrong variant", ORNIC_FIX_WIRE, PEER_WRITE, 10, 1 },
	{ "not for peers", ORNIC_FIX_WIRE, LWRITE, 10, 0 },
	{ "not for peers, loopback", ORNIC_FIX_LOOP, LWRITE, 10, 0 },
};

KUNIT_ARRAY_PARAM_DESC(inv, inv_rows, name);

/* The peer invalidates the key of our MR with its message. */
static void frmr_send_inv(struct kunit *test)
{
	const struct inv_row *row = test->param_value;
	struct frmr_test *ft = open_frmr(test, row->kind);
	struct ornic_lsge sge = ornic_fix_sge(&ft->fix.am, 0, row->len);
	struct ornic_th_wr wr = {
		.opcode = ORNIC_WQE_SEND_INV,
		.flags = ORNIC_WQE_SIGNALED,
		.nsge = 1,
		.sge = &sge,
	};
	bool good = !row->key_xor && row->access != LWRITE;
	struct ornic_cqe cqe;

	KUNIT_ASSERT_EQ(test, reg(ft, row->access), 0);
	wr.imm = cpu_to_be32(ft->key ^ row->key_xor);
	ornic_fix_recv(&ft->fix.b, &ft->fix.bm, 5, 0, 6000);
	ornic_th_post_send(&ft->fix.a, &wr);
	ornic_th_settle(&ft->fix.pair);
	KUNIT_EXPECT_EQ(test, ornic_fix_status(&ft->fix.brcq, &cqe),
			good ? 0 : ORNIC_CQE_LOC_QP_OP_ERR);
	if (good) {
		KUNIT_EXPECT_TRUE(test, cqe.flags & ORNIC_CQE_WITH_INV);
		KUNIT_EXPECT_EQ(test, be32_to_cpu(cqe.imm), ft->key);
	}
	KUNIT_EXPECT_EQ(test, ornic_fix_status(&ft->fix.ascq, &cqe),
			good ? 0 : ORNIC_CQE_REM_OP_ERR);
	if (!good)
		return;
	KUNIT_EXPECT_EQ(test, reg(ft, PEER_WRITE), 0);
	KUNIT_EXPECT_EQ(test, use(ft, ORNIC_WQE_WRITE, ft->key, 0, 1), 0);
}

static const struct read_inv_row {
	const char *name;
	enum ornic_fix_kind kind;
	u32 len, key_xor;
} read_inv_rows[] = {
	{ "one packet", ORNIC_FIX_WIRE, 10, 0 },
	{ "several packets", ORNIC_FIX_WIRE, BYTES, 0 },
	{ "loopback", ORNIC_FIX_LOOP, BYTES, 0 },
	{ "wrong variant", ORNIC_FIX_WIRE, BYTES, 1 },
	{ "wrong variant, loopback", ORNIC_FIX_LOOP, BYTES, 1 },
};

KUNIT_ARRAY_PARAM_DESC(read_inv, read_inv_rows, name);

/* b reads into its own MR, which is free when the READ completes. */
static void frmr_read_inv(struct kunit *test)
{
	const struct read_inv_row *row = test->param_value;
	struct frmr_test *ft = open_frmr(test, row->kind);
	struct ornic_lsge sge = { .addr = IOVA, .length = row->len };
	struct ornic_th_wr wr = {
		.opcode = ORNIC_WQE_READ_INV,
		.flags = ORNIC_WQE_SIGNALED,
		.raddr = ft->fix.am.iova,
		.rkey = ft->fix.am.key,
		.nsge = 1,
		.sge = &sge,
	};
	struct ornic_cqe cqe;

	KUNIT_ASSERT_EQ(test, reg(ft, LWRITE), 0);
	sge.lkey = ft->key;
	wr.imm = cpu_to_be32(ft->key ^ row->key_xor);
	ornic_th_post_send(&ft->fix.b, &wr);
	ornic_th_settle(&ft->fix.pair);
	KUNIT_EXPECT_EQ(test, ornic_fix_status(&ft->fix.bscq, &cqe),
			row->key_xor ? ORNIC_CQE_MW_BIND_ERR : 0);
	KUNIT_EXPECT_EQ(test, cqe.opcode, ORNIC_CQE_READ);
	KUNIT_EXPECT_EQ(test, changed(ft, 0, row->len), -1);
	KUNIT_EXPECT_EQ(test, ornic_th_state(&ft->fix.b),
			row->key_xor ? ORNIC_QPS_ERR : ORNIC_QPS_RTS);
	if (!row->key_xor)
		KUNIT_EXPECT_EQ(test, reg(ft, PEER_READ), 0);
}

/* ---- Order ----------------------------------------------------------------------- */

/*
 * IBTA 10.6.5.1: what is invalidated is needed no more, also if the wire loses
 * the first copies of what was sent from it.
 */
static void frmr_inv_waits_for_sends(struct kunit *test)
{
	struct frmr_test *ft = open_frmr(test, ORNIC_FIX_WIRE);
	struct ornic_lsge sge = { .addr = IOVA, .length = 3000 };
	struct ornic_th_wr wr = reg_wr(ft, PEER_READ), send = {
		.opcode = ORNIC_WQE_WRITE,
		.raddr = ft->fix.am.iova,
		.rkey = ft->fix.am.key,
		.nsge = 1,
		.sge = &sge,
	};
	struct ornic_cqe cqe;
	u32 drop = 4, i;

	for (i = 0; i < BYTES; i++)
		*byte_at(ft, i) = ornic_fix_byte(2, i);
	sge.lkey = ft->key;
	ft->fix.pair.filter = ornic_fix_drop_from_b;
	ft->fix.pair.ctx = &drop;
	for (i = 0; i < 3; i++) {
		ornic_th_post_send(&ft->fix.b, &wr);
		ornic_th_post_send(&ft->fix.b, &send);
		wr.opcode = ORNIC_WQE_LOCAL_INV;
		wr.imm = cpu_to_be32(ft->key);
		ornic_th_post_send(&ft->fix.b, &wr);
		wr.opcode = ORNIC_WQE_REG_MR;
	}
	ornic_th_settle(&ft->fix.pair);
	ornic_th_advance(&ft->fix.pair, 3000 * ORNIC_TH_MS);
	for (i = 0; i < 6; i++) {
		KUNIT_ASSERT_EQ(test, ornic_fix_status(&ft->fix.bscq, &cqe), 0);
		KUNIT_EXPECT_EQ(test, le32_to_cpu(cqe.wqe_index),
				i / 2 * 3 + i % 2 * 2);
	}
	KUNIT_EXPECT_EQ(test, drop, 0);
	KUNIT_EXPECT_EQ(test, ornic_fix_compare(&ft->fix.am, 0, 3000, 2), -1);
	KUNIT_EXPECT_EQ(test, ornic_th_state(&ft->fix.b), ORNIC_QPS_RTS);
}

/*
 * An ACK of everything that overtakes a retransmission jumps over packets, and
 * not over operations that wait for their turn.
 */
static void frmr_inv_is_not_jumped_over(struct kunit *test)
{
	struct ornic_th_qpinit init = { .type = RC };
	struct frmr_test *ft = test->priv;
	struct ornic_fixture *fix = &ft->fix;
	struct ornic_th_wr inv = {
		.opcode = ORNIC_WQE_LOCAL_INV,
		.flags = ORNIC_WQE_SIGNALED,
		.imm = cpu_to_be32(1),
	};
	struct ornic_cqe cqe;

	KUNIT_ASSERT_EQ(test, ornic_fix_open(fix, ORNIC_FIX_LONE, &init), 0);
	KUNIT_ASSERT_EQ(test, ornic_fix_connect(fix), 0);
	ornic_fix_post(&fix->a, &fix->am, &fix->am, ORNIC_WQE_WRITE, 0, 0,
		       3000);
	ornic_th_post_send(&fix->a, &inv);
	KUNIT_EXPECT_EQ(test, ornic_fix_drain(fix), 3);
	KUNIT_EXPECT_EQ(test, ornic_fix_status(&fix->ascq, &cqe), 0xff);
	fix->pair.a->now += 1000 * ORNIC_TH_MS;
	ornic_th_expire(fix->pair.a);
	KUNIT_EXPECT_EQ(test, ornic_fix_drain(fix), 1);
	ornic_fix_respond(fix, ORNIC_OP_ACK, ornic_psn_add(ORNIC_FIX_PSN, 2),
			  ORNIC_AETH_ACK, NULL, 0);
	KUNIT_EXPECT_EQ(test, ornic_fix_status(&fix->ascq, &cqe), 0);
	KUNIT_EXPECT_EQ(test, ornic_fix_status(&fix->ascq, &cqe),
			ORNIC_CQE_MW_BIND_ERR);
}

static struct kunit_case frmr_cases[] = {
	KUNIT_CASE_PARAM(frmr_create_checks, create_gen_params),
	KUNIT_CASE(frmr_destroy_by_index),
	KUNIT_CASE_PARAM(frmr_gives_what_it_says, use_gen_params),
	KUNIT_CASE(frmr_is_an_lkey),
	KUNIT_CASE(frmr_free_is_unknown),
	KUNIT_CASE(frmr_lookup_does_not_outlive_it),
	KUNIT_CASE_PARAM(frmr_is_of_one_pd, pd_gen_params),
	KUNIT_CASE_PARAM(frmr_reg_checks, reg_gen_params),
	KUNIT_CASE(frmr_reg_once),
	KUNIT_CASE(frmr_reg_of_ordinary_mr),
	KUNIT_CASE(frmr_inv_of_ordinary_mr),
	KUNIT_CASE(frmr_needs_its_qp),
	KUNIT_CASE(frmr_old_variant_is_dead),
	KUNIT_CASE_PARAM(frmr_send_inv, inv_gen_params),
	KUNIT_CASE_PARAM(frmr_read_inv, read_inv_gen_params),
	KUNIT_CASE(frmr_inv_waits_for_sends),
	KUNIT_CASE(frmr_inv_is_not_jumped_over),
	{}
};

static struct kunit_suite frmr_suite = {
	.name = "ornic_frmr",
	.init = frmr_init,
	.exit = ornic_suite_exit,
	.test_cases = frmr_cases,
};

kunit_test_suite(frmr_suite);

MODULE_DESCRIPTION("ornic: suite of fast registration");
MODULE_LICENSE("Dual BSD/GPL");
