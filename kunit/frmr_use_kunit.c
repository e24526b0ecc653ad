// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* Fast registration: the key stays what it is while a peer's data moves. */
#include <kunit/test.h>

#include "suite_fixture.h"
#include "engine/frmr.h"
#include "engine/proto.h"

#define PAGE 4096u
#define PAGES 17u
#define ACCESS ORNIC_ACCESS_MASK

/* b has an MR of the pages at @mem, in reverse: nothing is contiguous. */
struct use_test {
	struct ornic_fixture fix;
	u32 key;
	u8 *mem;
};

static struct ornic_frmr *watched;
static u32 held;

static_assert(offsetof(struct use_test, fix) == 0);

static int use_init(struct kunit *test)
{
	return ornic_suite_alloc(test, sizeof(struct use_test));
}

static struct use_test *open_use(struct kunit *test, enum ornic_fix_kind kind)
{
	struct ornic_th_qpinit init = { .type = ORNIC_QPT_RC,
					.flags = ORNIC_QP_FAST_REG };
	struct ornic_th_wr wr = {
		.opcode = ORNIC_WQE_REG_MR,
		.flags = ORNIC_WQE_SIGNALED,
		.bind_length = PAGES * PAGE,
		.bind_access = ACCESS,
		.reg_npages = PAGES,
		.reg_shift = ORNIC_PAGE_SHIFT,
	};
	struct use_test *ut = test->priv;
	struct ornic_fixture *fix = &ut->fix;
	__le64 *list;
	u32 i;

	KUNIT_ASSERT_EQ(test, ornic_fix_open(fix, kind, &init), 0);
	KUNIT_ASSERT_EQ(test, ornic_fix_connect(fix), 0);
	KUNIT_ASSERT_EQ(test,
			ornic_th_mkey(fix->pair.b, ORNIC_MKEY_FAST, PAGES, 0,
				      &ut->key),
			0);
	ut->mem = ornic_th_alloc(fix->pair.b, PAGES * PAGE);
	list = (__le64 *)ornic_th_alloc(fix->pair.b, PAGE);
	KUNIT_ASSERT_TRUE(test, ut->mem && list);
	for (i = 0; i < PAGES; i++)
		list[PAGES - 1 - i] =
			cpu_to_le64((u64)(uintptr_t)(ut->mem + i * PAGE));
	wr.reg_list = (u64)(uintptr_t)list;
	wr.rkey = ut->key;
	KUNIT_ASSERT_EQ(test, ornic_fix_run_on_b(fix, &wr), 0);
	return ut;
}

static struct ornic_frmr *frmr_of(struct ornic_th *th, u32 key)
{
	struct ornic_mkey *m;

	ornic_rcu_read_lock();
	m = ornic_mkey_lookup(&th->eng->dev, key);
	ornic_rcu_read_unlock();
	return m->frmr;
}

static void count_held(struct ornic_th *th)
{
	ornic_lock_held(&watched->use);
	held++;
}

/* IBTA 10.6.5: a response is made of what the key names, or not at all. */
static void use_is_held_for_responses(struct kunit *test)
{
	struct use_test *ut = open_use(test, ORNIC_FIX_WIRE);
	struct ornic_fixture *fix = &ut->fix;
	struct ornic_th_mr remote = { .key = ut->key };
	struct ornic_cqe cqe;

	watched = frmr_of(fix->pair.b, ut->key);
	KUNIT_ASSERT_NOT_NULL(test, watched);
	held = 0;
	fix->pair.b->on_xmit = count_held;
	ornic_fix_post(&fix->a, &fix->am, &remote, ORNIC_WQE_READ, 0, 0, PAGE);
	KUNIT_EXPECT_TRUE(test, ornic_th_settle(&fix->pair));
	fix->pair.b->on_xmit = NULL;
	KUNIT_EXPECT_EQ(test, ornic_fix_status(&fix->ascq, &cqe), 0);
	KUNIT_EXPECT_EQ(test, held, 4);
}

static const struct op_row {
	const char *name;
	enum ornic_fix_kind kind;
	u8 opcode;
	u32 len;
} op_rows[] = {
	{ "WRITE", ORNIC_FIX_WIRE, ORNIC_WQE_WRITE, PAGE },
	{ "READ", ORNIC_FIX_WIRE, ORNIC_WQE_READ, PAGE },
	{ "FAA", ORNIC_FIX_WIRE, ORNIC_WQE_FAA, 8 },
	{ "ATOMIC WRITE", ORNIC_FIX_WIRE, ORNIC_WQE_ATOMIC_WRITE, 8 },
	{ "WRITE, loopback", ORNIC_FIX_LOOP, ORNIC_WQE_WRITE, PAGE },
	{ "READ, loopback", ORNIC_FIX_LOOP, ORNIC_WQE_READ, PAGE },
	{ "short WRITE, loopback", ORNIC_FIX_LOOP, ORNIC_WQE_WRITE, 8 },
	{ "short READ, loopback", ORNIC_FIX_LOOP, ORNIC_WQE_READ, 8 },
	{ "FAA, loopback", ORNIC_FIX_LOOP, ORNIC_WQE_FAA, 8 },
	{ "ATOMIC WRITE, loopback", ORNIC_FIX_LOOP, ORNIC_WQE_ATOMIC_WRITE, 8 },
};

KUNIT_ARRAY_PARAM_DESC(op, op_rows, name);

/* What holds the key lets it go: it can be invalidated, and not be used then. */
static void use_ends(struct kunit *test)
{
	const struct op_row *row = test->param_value;
	struct use_test *ut = open_use(test, row->kind);
	struct ornic_th_mr remote = { .key = ut->key };
	struct ornic_fixture *fix = &ut->fix;
	struct ornic_cqe cqe;

	ornic_fix_post(&fix->a, &fix->am, &remote, row->opcode, 0, 0, row->len);
	KUNIT_EXPECT_TRUE(test, ornic_th_settle(&fix->pair));
	KUNIT_EXPECT_EQ(test, ornic_fix_status(&fix->ascq, &cqe), 0);
	KUNIT_EXPECT_EQ(test, ornic_fix_invalidate(fix, ut->key), 0);
	ornic_fix_post(&fix->a, &fix->am, &remote, row->opcode, 0, 0, row->len);
	KUNIT_EXPECT_TRUE(test, ornic_th_settle(&fix->pair));
	KUNIT_EXPECT_EQ(test, ornic_fix_status(&fix->ascq, &cqe),
			ORNIC_CQE_REM_ACCESS_ERR);
}

/* 64 KiB in one piece go to 17 pages, of which some are asked for at a time. */
static void use_is_of_all_pages(struct kunit *test)
{
	struct use_test *ut = open_use(test, ORNIC_FIX_LOOP);
	struct ornic_th_mr remote = {
		.key = ut->key,
		.levels = 1,
		.touch = 1,
		.length = PAGES * PAGE,
		.npages = PAGES,
		.buf = ut->mem,
	};
	struct ornic_fixture *fix = &ut->fix;
	const u32 off = 100, len = 16 * PAGE;
	struct ornic_th_mr local;
	struct ornic_cqe cqe;

	KUNIT_ASSERT_EQ(test,
			ornic_th_mr_init(fix->pair.a, &local, PAGES * PAGE, 0,
					 0, ACCESS),
			0);
	ornic_fix_fill(&local, off, len, 1);
	ornic_fix_fill(&remote, 0, off, 2);
	ornic_fix_fill(&remote, off + len, PAGES * PAGE - off - len, 3);
	ornic_fix_post(&fix->a, &local, &remote, ORNIC_WQE_WRITE, 0, off, len);
	KUNIT_EXPECT_TRUE(test, ornic_th_settle(&fix->pair));
	KUNIT_EXPECT_EQ(test, ornic_fix_status(&fix->ascq, &cqe), 0);
	KUNIT_EXPECT_EQ(test, ornic_fix_compare(&remote, off, len, 1), -1);
	KUNIT_EXPECT_EQ(test, ornic_fix_compare(&remote, 0, off, 2), -1);
	KUNIT_EXPECT_EQ(test,
			ornic_fix_compare(&remote, off + len,
					  PAGES * PAGE - off - len, 3),
			-1);
}

static struct kunit_case use_cases[] = { KUNIT_CASE(use_is_held_for_responses),
					 KUNIT_CASE_PARAM(use_ends,
							  op_gen_params),
					 KUNIT_CASE(use_is_of_all_pages),
					 {} };

static struct kunit_suite use_suite = {
	.name = "ornic_frmr_use",
	.init = use_init,
	.exit = ornic_suite_exit,
	.test_cases = use_cases,
};

kunit_test_suite(use_suite);

MODULE_DESCRIPTION("ornic: use of FRMRs");
MODULE_LICENSE("Dual BSD/GPL");
