// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* Fast registration: the key stays what it is while a peer's data moves. */
#include <kunit/test.h>

#include "pair_fixture.h"
#include "engine/fast.h"
#include "engine/proto.h"

#define PAGE 4096u
#define ACCESS ORNIC_ACCESS_MASK

/* b has an MR of a page at @mem. */
struct use_test {
	struct ornic_bed bed;
	u32 key;
	u8 *mem;
};

static struct ornic_fast *watched;
static u32 held;

static int use_init(struct kunit *test)
{
	test->priv = kunit_kzalloc(test, sizeof(struct use_test), GFP_KERNEL);
	return test->priv ? 0 : -ENOMEM;
}

static void use_exit(struct kunit *test)
{
	struct use_test *ut = test->priv;

	KUNIT_EXPECT_EQ(test, ornic_bed_close(&ut->bed), 0);
}

static int create(struct ornic_rig *rig, u32 *key)
{
	union ornic_req req = { .hdr.opcode = ORNIC_CMD_CREATE_MKEY };
	union ornic_rsp rsp;
	int status;

	req.create_mkey.pdn = cpu_to_le32(rig->pdn);
	req.create_mkey.mem.npages = cpu_to_le32(1);
	req.create_mkey.flags = ORNIC_MKEY_FAST;
	status = ornic_rig_cmd(rig, &req, &rsp);
	*key = le32_to_cpu(rsp.hdr.obj);
	return status;
}

static struct use_test *open_use(struct kunit *test, enum ornic_bed_kind kind)
{
	struct ornic_rig_qpinit init = { .type = ORNIC_QPT_RC,
					 .flags = ORNIC_QP_FAST_REG };
	struct ornic_rig_wr wr = {
		.opcode = ORNIC_WQE_REG_MR,
		.flags = ORNIC_WQE_SIGNALED,
		.bind_length = PAGE,
		.bind_access = ACCESS,
		.reg_npages = 1,
		.reg_shift = ORNIC_PAGE_SHIFT,
	};
	struct use_test *ut = test->priv;
	struct ornic_bed *bed = &ut->bed;
	__le64 *list;

	KUNIT_ASSERT_EQ(test, ornic_bed_open(bed, kind, &init), 0);
	KUNIT_ASSERT_EQ(test, ornic_bed_connect(bed), 0);
	KUNIT_ASSERT_EQ(test, create(bed->pair.b, &ut->key), 0);
	ut->mem = ornic_rig_alloc(bed->pair.b, PAGE);
	list = (__le64 *)ornic_rig_alloc(bed->pair.b, PAGE);
	KUNIT_ASSERT_TRUE(test, ut->mem && list);
	list[0] = cpu_to_le64((u64)(uintptr_t)ut->mem);
	wr.reg_list = (u64)(uintptr_t)list;
	wr.rkey = ut->key;
	KUNIT_ASSERT_EQ(test, ornic_bed_run_on_b(bed, &wr), 0);
	return ut;
}

static struct ornic_fast *fast_of(struct ornic_rig *rig, u32 key)
{
	struct ornic_mkey *m;

	ornic_rcu_read_lock();
	m = ornic_mkey_lookup(&rig->eng->dev, key);
	ornic_rcu_read_unlock();
	return m->fast;
}

static void count_held(struct ornic_rig *rig)
{
	ornic_lock_held(&watched->use);
	held++;
}

/* IBTA 10.6.5: a response is made of what the key names, or not at all. */
static void use_is_held_for_responses(struct kunit *test)
{
	struct use_test *ut = open_use(test, ORNIC_BED_WIRE);
	struct ornic_bed *bed = &ut->bed;
	struct ornic_rig_mr remote = { .key = ut->key };
	struct ornic_cqe cqe;

	watched = fast_of(bed->pair.b, ut->key);
	KUNIT_ASSERT_NOT_NULL(test, watched);
	held = 0;
	bed->pair.b->on_xmit = count_held;
	ornic_bed_post(&bed->a, &bed->am, &remote, ORNIC_WQE_READ, 0, 0, PAGE);
	KUNIT_EXPECT_TRUE(test, ornic_rig_settle(&bed->pair));
	bed->pair.b->on_xmit = NULL;
	KUNIT_EXPECT_EQ(test, ornic_bed_status(&bed->ascq, &cqe), 0);
	KUNIT_EXPECT_EQ(test, held, 4);
}

static const struct op_row {
	const char *name;
	enum ornic_bed_kind kind;
	u8 opcode;
	u32 len;
} op_rows[] = {
	{ "WRITE", ORNIC_BED_WIRE, ORNIC_WQE_WRITE, PAGE },
	{ "READ", ORNIC_BED_WIRE, ORNIC_WQE_READ, PAGE },
	{ "FAA", ORNIC_BED_WIRE, ORNIC_WQE_FAA, 8 },
	{ "ATOMIC WRITE", ORNIC_BED_WIRE, ORNIC_WQE_ATOMIC_WRITE, 8 },
	{ "WRITE, loopback", ORNIC_BED_LOOP, ORNIC_WQE_WRITE, PAGE },
	{ "READ, loopback", ORNIC_BED_LOOP, ORNIC_WQE_READ, PAGE },
	{ "FAA, loopback", ORNIC_BED_LOOP, ORNIC_WQE_FAA, 8 },
	{ "ATOMIC WRITE, loopback", ORNIC_BED_LOOP, ORNIC_WQE_ATOMIC_WRITE, 8 },
};

KUNIT_ARRAY_PARAM_DESC(op, op_rows, name);

/* What holds the key lets it go: it can be invalidated, and not be used then. */
static void use_ends(struct kunit *test)
{
	const struct op_row *row = test->param_value;
	struct use_test *ut = open_use(test, row->kind);
	struct ornic_rig_mr remote = { .key = ut->key };
	struct ornic_bed *bed = &ut->bed;
	struct ornic_cqe cqe;

	ornic_bed_post(&bed->a, &bed->am, &remote, row->opcode, 0, 0, row->len);
	KUNIT_EXPECT_TRUE(test, ornic_rig_settle(&bed->pair));
	KUNIT_EXPECT_EQ(test, ornic_bed_status(&bed->ascq, &cqe), 0);
	KUNIT_EXPECT_EQ(test, ornic_bed_invalidate(bed, ut->key), 0);
	ornic_bed_post(&bed->a, &bed->am, &remote, row->opcode, 0, 0, row->len);
	KUNIT_EXPECT_TRUE(test, ornic_rig_settle(&bed->pair));
	KUNIT_EXPECT_EQ(test, ornic_bed_status(&bed->ascq, &cqe),
			ORNIC_CQE_REM_ACCESS_ERR);
}

static struct kunit_case use_cases[] = { KUNIT_CASE(use_is_held_for_responses),
					 KUNIT_CASE_PARAM(use_ends,
							  op_gen_params),
					 {} };

static struct kunit_suite use_suite = {
	.name = "ornic_fast_use",
	.init = use_init,
	.exit = use_exit,
	.test_cases = use_cases,
};

kunit_test_suite(use_suite);

MODULE_DESCRIPTION("ornic: use of fast registration MRs");
MODULE_LICENSE("Dual BSD/GPL");
