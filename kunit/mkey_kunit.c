// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* Keys of all DMA memory, keys at an offset, and commands on keys that are rare. */
#include "suite_fixture.h"
#include "engine/dev.h"
#include "engine/mem.h"
#include "engine/qp.h"

#define RC ORNIC_QPT_RC
#define LOCAL_WRITE ORNIC_ACCESS_LOCAL_WRITE
#define PEER_WRITE ORNIC_ACCESS_REMOTE_WRITE
#define MANY_QPS 70 /* more than have their locks passed, see mkey.c */

struct mkey_test {
	struct ornic_fixture fix;
	struct ornic_th_qp qp[MANY_QPS];
};

static_assert(offsetof(struct mkey_test, fix) == 0);

static int mkey_init(struct kunit *test)
{
	return ornic_suite_alloc(test, sizeof(struct mkey_test));
}

static struct ornic_fixture *open_fix(struct kunit *test,
				      enum ornic_fix_kind kind)
{
	struct ornic_fixture *fix = ornic_suite_open(test, kind, RC);

	ornic_fix_fill(&fix->am, 0, ORNIC_FIX_MR_BYTES, 1);
	return fix;
}

/* ---- All DMA memory ---------------------------------------------------------------- */

static const struct dma_row {
	const char *name;
	u8 flags;
	u8 access;
	u64 iova;
	u64 length;
	u32 npages;
	int status;
} dma_rows[] = {
	{ "local", ORNIC_MKEY_DMA, LOCAL_WRITE, 0, 0, 0, ORNIC_OK },
	{ "for peers", ORNIC_MKEY_DMA, LOCAL_WRITE | PEER_WRITE, 0, 0, 0,
	  ORNIC_OK },
	{ "another flag beside", ORNIC_MKEY_DMA | 0x80, LOCAL_WRITE, 0, 0, 0,
	  ORNIC_BAD_PARAM },
	{ "another flag alone", 0x80, LOCAL_WRITE, 0, 0, 0, ORNIC_BAD_PARAM },
	{ "an address", ORNIC_MKEY_DMA, LOCAL_WRITE, 4096, 0, 0,
	  ORNIC_BAD_PARAM },
	{ "a length", ORNIC_MKEY_DMA, LOCAL_WRITE, 0, 4096, 0,
	  ORNIC_BAD_PARAM },
	{ "pages", ORNIC_MKEY_DMA, LOCAL_WRITE, 0, 0, 1, ORNIC_BAD_PARAM },
	{ "IBTA 11.2.8.2: remote write alone", ORNIC_MKEY_DMA, PEER_WRITE, 0, 0,
	  0, ORNIC_BAD_PARAM },
};

KUNIT_ARRAY_PARAM_DESC(dma, dma_rows, name);

static int create(struct ornic_th *th, const struct dma_row *row, u32 *key)
{
	union ornic_req req;
	union ornic_rsp rsp;
	int status;

	memset(&req, 0, sizeof(req));
	req.hdr.opcode = ORNIC_CMD_CREATE_MKEY;
	req.create_mkey.flags = row->flags;
	req.create_mkey.access = row->access;
	req.create_mkey.iova = cpu_to_le64(row->iova);
	req.create_mkey.length = cpu_to_le64(row->length);
	req.create_mkey.mem.npages = cpu_to_le32(row->npages);
	req.create_mkey.pdn = cpu_to_le32(th->pdn);
	status = ornic_th_cmd(th, &req, &rsp);
	*key = le32_to_cpu(rsp.hdr.obj);
	return status;
}

static int modify(struct ornic_th *th, u32 key)
{
	union ornic_req req;
	union ornic_rsp rsp;

	memset(&req, 0, sizeof(req));
	req.hdr.opcode = ORNIC_CMD_MODIFY_MKEY;
	req.hdr.obj = cpu_to_le32(key);
	req.modify_mkey.mask = ORNIC_MKEYM_ACCESS;
	req.modify_mkey.access = LOCAL_WRITE;
	return ornic_th_cmd(th, &req, &rsp);
}

static void dma_create_checks(struct kunit *test)
{
	const struct dma_row *row = test->param_value;
	struct ornic_fixture *fix = open_fix(test, ORNIC_FIX_LONE);
	struct ornic_th *th = fix->pair.a;
	u32 key;

	KUNIT_ASSERT_EQ(test, create(th, row, &key), row->status);
	if (row->status)
		return;
	/* There is nothing of it that could be changed. */
	KUNIT_EXPECT_EQ(test, modify(th, key), ORNIC_BAD_PARAM);
	KUNIT_EXPECT_EQ(test,
			ornic_th_destroy_obj(th, ORNIC_CMD_DESTROY_MKEY, key),
			ORNIC_OK);
}

static int write_to(struct ornic_fixture *fix, u64 raddr, u32 key, u32 len)
{
	struct ornic_lsge sge = ornic_fix_sge(&fix->am, 0, len);
	struct ornic_th_wr wr = {
		.opcode = ORNIC_WQE_WRITE,
		.flags = ORNIC_WQE_SIGNALED,
		.nsge = 1,
		.sge = &sge,
		.raddr = raddr,
		.rkey = key,
	};
	struct ornic_cqe cqe;

	ornic_th_post_send(&fix->a, &wr);
	ornic_th_settle(&fix->pair);
	return ornic_fix_status(&fix->ascq, &cqe);
}

static void write_all_memory(struct kunit *test, enum ornic_fix_kind kind)
{
	const struct dma_row *row = &dma_rows[1];
	struct ornic_fixture *fix = open_fix(test, kind);
	struct ornic_th *th = fix->pair.b;
	u8 *mem = ornic_th_alloc(th, 8192);
	u32 key, i;

	KUNIT_ASSERT_NOT_NULL(test, mem);
	KUNIT_ASSERT_EQ(test, create(th, row, &key), ORNIC_OK);
	KUNIT_EXPECT_EQ(test, write_to(fix, (u64)(uintptr_t)mem + 1, key, 8000),
			ORNIC_CQE_SUCCESS);
	for (i = 0; i < 8000 && mem[1 + i] == ornic_fix_byte(1, i);)
		i++;
	KUNIT_EXPECT_EQ(test, i, 8000);
	KUNIT_EXPECT_EQ(test, mem[0] | mem[8001], 0);
	/* The device has no access to what is beside. */
	KUNIT_EXPECT_EQ(test,
			write_to(fix, (u64)(uintptr_t)mem + 8000, key, 193),
			ORNIC_CQE_REM_ACCESS_ERR);
}

static void dma_key_for_peers(struct kunit *test)
{
	write_all_memory(test, ORNIC_FIX_WIRE);
}

static void dma_key_for_peers_on_loopback(struct kunit *test)
{
	write_all_memory(test, ORNIC_FIX_LOOP);
}

/* ---- At an offset ------------------------------------------------------------------ */

#define PAGE 4096u
#define OFFSET_PAGES 3u
#define OFFSET_BYTES (OFFSET_PAGES * PAGE)

static const struct offset_row {
	const char *name;
	u8 flags;
	u64 offset;
	u64 length;
	u64 iova;
	int status;
} offset_rows[] = {
	{ "all", ORNIC_MKEY_OFFSET, 0, OFFSET_BYTES, 0, ORNIC_OK },
	{ "the last byte", ORNIC_MKEY_OFFSET, OFFSET_BYTES - 1, 1, 0,
	  ORNIC_OK },
	{ "nothing", ORNIC_MKEY_OFFSET, 0, 0, 0, ORNIC_OK },
	{ "nothing at the end", ORNIC_MKEY_OFFSET, OFFSET_BYTES, 0, 0,
	  ORNIC_OK },
	{ "nothing without the flag", 0, 0, 0, 0, ORNIC_BAD_PARAM },
	{ "no offset without the flag", 0, OFFSET_BYTES, 1, 0, ORNIC_OK },
	{ "one byte more", ORNIC_MKEY_OFFSET, 1, OFFSET_BYTES, 0,
	  ORNIC_BAD_PARAM },
	{ "past the end", ORNIC_MKEY_OFFSET, OFFSET_BYTES + 1, 0, 0,
	  ORNIC_BAD_PARAM },
	{ "offset that wraps", ORNIC_MKEY_OFFSET, U64_MAX, 2, 0,
	  ORNIC_BAD_PARAM },
	{ "length that wraps", ORNIC_MKEY_OFFSET, 8, U64_MAX - 7, 0,
	  ORNIC_BAD_PARAM },
	{ "address that wraps", ORNIC_MKEY_OFFSET, 0, 2, U64_MAX,
	  ORNIC_BAD_PARAM },
	{ "for REG_MR", ORNIC_MKEY_OFFSET | ORNIC_MKEY_FAST, 0, 0, 0,
	  ORNIC_BAD_PARAM },
	{ "all DMA memory", ORNIC_MKEY_OFFSET | ORNIC_MKEY_DMA, 0, 0, 0,
	  ORNIC_BAD_PARAM },
};

KUNIT_ARRAY_PARAM_DESC(offset, offset_rows, name);

/* Pages in reverse order by @list, or a run without it. */
static int create_at(struct ornic_th *th, const struct offset_row *row, u8 *mem,
		     __le64 *list, u32 *key)
{
	union ornic_req req;
	union ornic_rsp rsp;
	int status;
	u32 i;

	memset(&req, 0, sizeof(req));
	req.hdr.opcode = ORNIC_CMD_CREATE_MKEY;
	req.create_mkey.mem.addr = cpu_to_le64((uintptr_t)mem);
	req.create_mkey.mem.npages = cpu_to_le32(OFFSET_PAGES);
	req.create_mkey.mem.page_shift = ORNIC_PAGE_SHIFT;
	if (list) {
		for (i = 0; i < OFFSET_PAGES; i++)
			list[i] = cpu_to_le64((uintptr_t)mem + OFFSET_BYTES -
					      (i + 1) * PAGE);
		req.create_mkey.mem.addr = cpu_to_le64((uintptr_t)list);
		req.create_mkey.mem.levels = 1;
	}
	req.create_mkey.flags = row->flags;
	req.create_mkey.access = LOCAL_WRITE | PEER_WRITE;
	req.create_mkey.iova = cpu_to_le64(row->iova);
	req.create_mkey.length = cpu_to_le64(row->length);
	req.create_mkey.offset = cpu_to_le64(row->offset);
	req.create_mkey.pdn = cpu_to_le32(th->pdn);
	status = ornic_th_cmd(th, &req, &rsp);
	*key = le32_to_cpu(rsp.hdr.obj);
	return status;
}

static void offset_create_checks(struct kunit *test)
{
	const struct offset_row *row = test->param_value;
	struct ornic_fixture *fix = open_fix(test, ORNIC_FIX_LONE);
	struct ornic_th *th = fix->pair.a;
	u8 *mem = ornic_th_alloc(th, OFFSET_BYTES);
	__le64 *list = (__le64 *)ornic_th_alloc(th, PAGE);
	u32 i, key;

	KUNIT_ASSERT_TRUE(test, mem && list);
	for (i = 0; i < 2; i++) {
		KUNIT_ASSERT_EQ(test,
				create_at(th, row, mem, i ? list : NULL, &key),
				row->status);
		if (row->status)
			continue;
		KUNIT_EXPECT_EQ(test,
				ornic_th_destroy_obj(th, ORNIC_CMD_DESTROY_MKEY,
						     key),
				ORNIC_OK);
	}
}

/* Where the test's byte @at of the key is. */
static u8 *byte_of(u8 *mem, bool in_list, u32 at)
{
	if (!in_list)
		return mem + at;
	return mem + (OFFSET_PAGES - 1 - at / PAGE) * PAGE + at % PAGE;
}

static void write_at_offset(struct kunit *test, enum ornic_fix_kind kind,
			    bool in_list)
{
	const struct offset_row row = { "", ORNIC_MKEY_OFFSET, PAGE - 100, 4500,
					0,  ORNIC_OK };
	struct ornic_fixture *fix = open_fix(test, kind);
	struct ornic_th *th = fix->pair.b;
	u8 *mem = ornic_th_alloc(th, OFFSET_BYTES);
	__le64 *list = (__le64 *)ornic_th_alloc(th, PAGE);
	u32 key, i, sum = 0;

	KUNIT_ASSERT_TRUE(test, mem && list);
	KUNIT_ASSERT_EQ(
		test, create_at(th, &row, mem, in_list ? list : NULL, &key), 0);
	KUNIT_EXPECT_EQ(test, write_to(fix, 4, key, 4400), ORNIC_CQE_SUCCESS);
	for (i = 0; i < OFFSET_BYTES; i++)
		sum += *byte_of(mem, in_list, i);
	for (i = 0; i < 4400; i++) {
		u8 got = *byte_of(mem, in_list, PAGE - 100 + 4 + i);

		KUNIT_ASSERT_EQ(test, got, ornic_fix_byte(1, i));
		sum -= got;
	}
	/* Nothing beside it. */
	KUNIT_EXPECT_EQ(test, sum, 0u);
	KUNIT_EXPECT_EQ(test, write_to(fix, 4500 - 4, key, 5),
			ORNIC_CQE_REM_ACCESS_ERR);
}

static void offset_key_of_a_run(struct kunit *test)
{
	write_at_offset(test, ORNIC_FIX_WIRE, false);
}

static void offset_key_of_a_list(struct kunit *test)
{
	write_at_offset(test, ORNIC_FIX_WIRE, true);
}

static void offset_key_of_a_list_on_loopback(struct kunit *test)
{
	write_at_offset(test, ORNIC_FIX_LOOP, true);
}

/* An empty key is there, but gives access to no byte. */
static void empty_key_has_no_byte(struct kunit *test)
{
	struct ornic_fixture *fix = open_fix(test, ORNIC_FIX_WIRE);
	struct ornic_th *th = fix->pair.b;
	u8 *mem = ornic_th_alloc(th, OFFSET_BYTES);
	u32 key;

	KUNIT_ASSERT_NOT_NULL(test, mem);
	KUNIT_ASSERT_EQ(test, create_at(th, &offset_rows[2], mem, NULL, &key),
			ORNIC_OK);
	KUNIT_EXPECT_EQ(test, write_to(fix, 0, key, 0), ORNIC_CQE_SUCCESS);
	KUNIT_EXPECT_EQ(test, write_to(fix, 0, key, 1),
			ORNIC_CQE_REM_ACCESS_ERR);
	KUNIT_EXPECT_EQ(test, mem[0], 0);
}

/* ---- Commands ---------------------------------------------------------------------- */

/* A window is none of the keys that MODIFY_MKEY and DESTROY_MKEY are for. */
static void window_is_no_mr(struct kunit *test)
{
	struct ornic_fixture *fix = open_fix(test, ORNIC_FIX_LONE);
	struct ornic_th *th = fix->pair.a;
	u32 key;

	KUNIT_ASSERT_EQ(test, ornic_th_mw(th, ORNIC_MW_TYPE_1, &key), 0);
	KUNIT_EXPECT_EQ(test, modify(th, key), ORNIC_NOT_FOUND);
	KUNIT_EXPECT_EQ(test,
			ornic_th_destroy_obj(th, ORNIC_CMD_DESTROY_MKEY, key),
			ORNIC_NOT_FOUND);
	KUNIT_EXPECT_EQ(test,
			ornic_th_destroy_obj(th, ORNIC_CMD_DESTROY_MW, key),
			ORNIC_OK);
}

/* Waiting for the users of a key is another way then. */
static void destroy_among_many_qps(struct kunit *test)
{
	struct ornic_th_qpinit init = { .type = RC };
	struct ornic_fixture *fix = open_fix(test, ORNIC_FIX_LONE);
	struct mkey_test *mt = test->priv;
	struct ornic_th *th = fix->pair.a;
	u32 i;

	for (i = 0; i < MANY_QPS; i++)
		KUNIT_ASSERT_EQ(test,
				ornic_th_qp_init(th, &mt->qp[i], &init,
						 &fix->ascq, &fix->arcq),
				0);
	KUNIT_EXPECT_EQ(test, ornic_th_mr_fini(&fix->am), 0);
	KUNIT_EXPECT_EQ(test, ornic_th_mr_fini(&fix->am), ORNIC_NOT_FOUND);
	for (i = 0; i < MANY_QPS; i++)
		KUNIT_EXPECT_EQ(test, ornic_th_qp_fini(&mt->qp[i]), 0);
}

/* Numbers come from a larger part of the table when the first is half full. */
static void numbers_spread_out(struct kunit *test)
{
	struct ornic_fixture *fix = open_fix(test, ORNIC_FIX_LONE);
	struct ornic_dev *dev = &fix->pair.a->eng->dev;
	u32 dense = 1u << 20, before = dev->mkeys.count;
	int index;

	index = ornic_mkey_reserve(dev, 2 * dense - 1);
	KUNIT_EXPECT_EQ(test, index, dense - 1);
	ornic_table_release(&dev->mkeys, index);
	dev->mkeys.count = dense / 2 - 1;
	index = ornic_mkey_reserve(dev, 2 * dense - 2);
	KUNIT_EXPECT_EQ(test, index, dense - 2);
	ornic_table_release(&dev->mkeys, index);
	dev->mkeys.count = dense / 2;
	index = ornic_mkey_reserve(dev, 2 * dense - 1);
	KUNIT_EXPECT_EQ(test, index, 2 * dense - 1);
	ornic_table_release(&dev->mkeys, index);
	dev->mkeys.count = before;
}

static u32 relaxed;

static void count_relax(void *host)
{
	relaxed++;
}

/* Others get their turn while a device with many objects goes. */
static void destroy_of_a_device_relaxes(struct kunit *test)
{
	struct ornic_fixture *fix = open_fix(test, ORNIC_FIX_LONE);
	struct ornic_dev *dev = &fix->pair.a->eng->dev;
	struct ornic_engine_ops ops = *dev->ops;
	u32 objects = dev->mkeys.count + dev->cqs.count + dev->qps.count;

	ops.relax = count_relax;
	dev->ops = &ops;
	relaxed = 0;
	KUNIT_EXPECT_EQ(test, ornic_fix_close(fix), 0);
	KUNIT_EXPECT_GE(test, relaxed, objects);
}

static struct kunit_case mkey_cases[] = {
	KUNIT_CASE_PARAM(dma_create_checks, dma_gen_params),
	KUNIT_CASE(dma_key_for_peers),
	KUNIT_CASE(dma_key_for_peers_on_loopback),
	KUNIT_CASE_PARAM(offset_create_checks, offset_gen_params),
	KUNIT_CASE(offset_key_of_a_run),
	KUNIT_CASE(offset_key_of_a_list),
	KUNIT_CASE(offset_key_of_a_list_on_loopback),
	KUNIT_CASE(empty_key_has_no_byte),
	KUNIT_CASE(window_is_no_mr),
	KUNIT_CASE(destroy_among_many_qps),
	KUNIT_CASE(numbers_spread_out),
	KUNIT_CASE(destroy_of_a_device_relaxes),
	{}
};

static struct kunit_suite mkey_suite = {
	.name = "ornic_mkey",
	.init = mkey_init,
	.exit = ornic_suite_exit,
	.test_cases = mkey_cases,
};

kunit_test_suite(mkey_suite);

MODULE_DESCRIPTION("ornic: suite of rare keys");
MODULE_LICENSE("Dual BSD/GPL");
