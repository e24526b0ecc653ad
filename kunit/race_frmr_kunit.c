// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Races of an FRMR: its key is invalidated through one QP, and the MR registered
 * again, while a peer works on its memory through another one of the PD. On the
 * host only, see race_kunit.c.
 */
#include <kunit/test.h>

#include "suite_fixture.h"
#include "engine/dev.h"
#include "engine/frmr.h"
#include "engine/proto.h"

#define POINTS 500 /* more than there are */
#define IOVA 0x9000

/**
 * struct frmr_race - a fixture with a third QP
 * @fix: a changes @word through b; is made anew for each point
 * @c: a QP of b's PD, which invalidates the key
 * @cq: its CQ
 * @key: an FRMR on @word
 * @word: what a changes, from 0 to 1
 * @list: its page list, or its segments
 * @gaps: each byte of it is a segment
 * @then: what it was when the invalidation was complete
 * @at: the so many-th point from now; 0 = has been, or never
 * @acting: is at it
 * @status: of the invalidation
 */
struct frmr_race {
	struct ornic_fixture fix;
	struct ornic_th_qp c;
	struct ornic_th_cq cq;
	u32 key;
	u64 *word;
	__le64 *list;
	bool gaps;
	u64 then;
	u32 at;
	bool acting;
	int status;
};

static_assert(offsetof(struct frmr_race, fix) == 0);

static struct frmr_race *race;

static int frmr_race_init(struct kunit *test)
{
	int ret = ornic_suite_alloc(test, sizeof(*race));

	race = test->priv;
	return ret;
}

static void frmr_race_exit(struct kunit *test)
{
	ornic_other_cpu = NULL;
	ornic_suite_exit(test);
}

/* The status of a WQE of @c. */
static int run_on_c(const struct ornic_th_wr *wr)
{
	struct ornic_cqe cqe;

	ornic_th_post_send(&race->c, wr);
	return ornic_fix_status(&race->cq, &cqe);
}

/* @key names the word from now on. */
static int register_as(u32 key)
{
	struct ornic_th_wr wr = {
		.opcode = ORNIC_WQE_REG_MR,
		.flags = ORNIC_WQE_SIGNALED,
		.raddr = IOVA,
		.bind_length = race->gaps ? sizeof(u64) : 4096,
		.bind_access = ORNIC_ACCESS_REMOTE_ATOMIC |
			       ORNIC_ACCESS_REMOTE_WRITE |
			       ORNIC_ACCESS_LOCAL_WRITE,
		.reg_npages = race->gaps ? sizeof(u64) : 1,
		.reg_shift = race->gaps ? 0 : ORNIC_PAGE_SHIFT,
		.rkey = key,
		.reg_list = (uintptr_t)race->list,
	};

	return run_on_c(&wr);
}

/* What used the key must not go on by another one that follows. */
static void invalidate(void)
{
	struct ornic_th_wr wr = {
		.opcode = ORNIC_WQE_LOCAL_INV,
		.flags = ORNIC_WQE_SIGNALED,
		.imm = cpu_to_be32(race->key),
	};

	race->status = run_on_c(&wr);
	race->then = *race->word;
	if (!race->status)
		race->status = register_as(race->key ^ 1);
}

/* Does the second CPU have to wait, for the key or for its QP? */
static bool is_held(void)
{
	struct ornic_dev *dev = &race->fix.pair.b->eng->dev;
	const struct ornic_mkey *m;
	bool held;

	ornic_rcu_read_lock();
	m = ornic_mkey_lookup(dev, race->key);
	held = m->frmr->use.held ||
	       ornic_qp_lookup(dev, race->c.qpn)->sq.lock.held;
	ornic_rcu_read_unlock();
	return held;
}

static void meet(void)
{
	if (race->acting || !race->at || --race->at)
		return;
	race->acting = true;
	if (is_held())
		race->at = 1;
	else
		invalidate();
	race->acting = false;
}

static void list_bytes(void)
{
	u32 i;

	for (i = 0; i < sizeof(u64); i++) {
		race->list[2 * i] =
			cpu_to_le64((uintptr_t)((u8 *)race->word + i));
		race->list[2 * i + 1] = cpu_to_le64(1);
	}
}

static void register_word(struct kunit *test)
{
	u8 flags = ORNIC_MKEY_FAST | (race->gaps ? ORNIC_MKEY_SG_GAPS : 0);
	struct ornic_th *th = race->fix.pair.b;

	KUNIT_ASSERT_EQ(test, ornic_th_mkey(th, flags, 8, 0, &race->key), 0);
	race->word = (u64 *)ornic_th_alloc(th, 4096);
	race->list = (__le64 *)ornic_th_alloc(th, 4096);
	race->list[0] = cpu_to_le64((uintptr_t)race->word);
	if (race->gaps)
		list_bytes();
	KUNIT_ASSERT_EQ(test, register_as(race->key), 0);
}

static void open_race(struct kunit *test, enum ornic_fix_kind kind)
{
	struct ornic_th_qpinit init = { .type = ORNIC_QPT_RC,
					.flags = ORNIC_QP_FAST_REG };
	struct ornic_th *th;

	KUNIT_EXPECT_EQ(test, ornic_fix_close(&race->fix), 0);
	ornic_suite_open(test, kind, ORNIC_QPT_RC);
	th = race->fix.pair.b;
	KUNIT_ASSERT_EQ(test, ornic_th_cq_init(th, &race->cq, 8), 0);
	KUNIT_ASSERT_EQ(
		test,
		ornic_th_qp_init(th, &race->c, &init, &race->cq, &race->cq), 0);
	KUNIT_ASSERT_EQ(test, ornic_th_connect(&race->c, NULL, ORNIC_TH_IPV4),
			0);
	register_word(test);
}

static const struct change {
	const char *desc;
	u8 opcode;
	enum ornic_fix_kind kind;
	bool gaps;
} changes[] = {
	{ "FAA", ORNIC_WQE_FAA, ORNIC_FIX_LOOP },
	{ "WRITE", ORNIC_WQE_WRITE, ORNIC_FIX_LOOP },
	{ "WRITE on the wire", ORNIC_WQE_WRITE, ORNIC_FIX_WIRE },
	{ "WRITE with gaps", ORNIC_WQE_WRITE, ORNIC_FIX_LOOP, true },
	{ "WRITE with gaps, on the wire", ORNIC_WQE_WRITE, ORNIC_FIX_WIRE,
	  true },
};

KUNIT_ARRAY_PARAM_DESC(change, changes, desc);

/* IBTA 10.6.5: when it completes, no peer changes the memory, by any QP. */
static void race_frmr_change_and_invalidation(struct kunit *test)
{
	const struct change *change = test->param_value;
	static const u64 one = 1;
	struct ornic_th_wr wr = {
		.opcode = change->opcode,
		.raddr = IOVA,
		.swap_add = 1,
		.nsge = 1,
	};
	struct ornic_lsge sge;
	u32 n, counted = 0;

	race->gaps = change->gaps;
	for (n = 1; n < POINTS; n++) {
		open_race(test, change->kind);
		ornic_th_mr_write(&race->fix.am, 0, &one, sizeof(one));
		sge = ornic_fix_sge(&race->fix.am, 0, 8);
		wr.sge = &sge;
		wr.rkey = race->key;
		race->at = n;
		ornic_other_cpu = meet;
		ornic_th_post_send(&race->fix.a, &wr);
		ornic_th_settle(&race->fix.pair);
		ornic_other_cpu = NULL;
		if (race->at)
			break;
		KUNIT_EXPECT_EQ(test, race->status, 0);
		KUNIT_EXPECT_EQ_MSG(test, *race->word, race->then, "point %u",
				    n);
		counted += *race->word;
	}
	KUNIT_EXPECT_GT(test, counted, 0);
	KUNIT_EXPECT_GT(test, n, counted + 1);
	KUNIT_EXPECT_LT(test, n, POINTS);
}

static struct kunit_case frmr_race_cases[] = {
	KUNIT_CASE_PARAM(race_frmr_change_and_invalidation, change_gen_params),
	{}
};

static struct kunit_suite frmr_race_suite = {
	.name = "ornic_race_frmr",
	.init = frmr_race_init,
	.exit = frmr_race_exit,
	.test_cases = frmr_race_cases,
};

kunit_test_suite(frmr_race_suite);

MODULE_DESCRIPTION("ornic: races of FRMRs suite");
MODULE_LICENSE("Dual BSD/GPL");
