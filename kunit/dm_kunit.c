// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* Keys of device memory: their bounds, what they read and write, what is counted. */
#include "engine/dev.h"
#include "engine/mem.h"
#include "tm_fixture.h"

#define PAGE 4096u
#define DM_PAGES 16u
#define DM_BYTES (DM_PAGES * PAGE)
#define BYTES 9001u /* of a message */
#define AT 100u /* of the key, in the run that it is of */
#define RUN (3 * PAGE) /* where that is, in device memory */

struct dm_test {
	struct ornic_tm_test tags; /* of most cases its fixture alone */
	struct ornic_engine_ops ops;
	u8 *dm; /* between two pages that are not device memory */
};

static_assert(offsetof(struct dm_test, tags) == 0);

static int dm_init(struct kunit *test)
{
	struct dm_test *dt;
	int ret = ornic_suite_alloc(test, sizeof(struct dm_test));

	if (ret)
		return ret;
	dt = test->priv;
	dt->dm = kunit_kzalloc(test, DM_BYTES + 2 * PAGE, GFP_KERNEL);
	if (!dt->dm)
		return -ENOMEM;
	dt->dm += PAGE;
	return 0;
}

static void give_dm(struct kunit *test)
{
	struct dm_test *dt = test->priv;
	struct ornic_fixture *fix = &dt->tags.fix;

	fix->pair.b->dm = dt->dm;
	fix->pair.b->dm_bytes = DM_BYTES;
	ornic_fix_fill(&fix->am, 0, ORNIC_FIX_MR_BYTES, 1);
}

static struct ornic_fixture *open_fix(struct kunit *test,
				      enum ornic_fix_kind kind)
{
	struct ornic_fixture *fix = ornic_suite_open(test, kind, ORNIC_QPT_RC);

	give_dm(test);
	return fix;
}

/* ---- Making them ------------------------------------------------------------------- */

static const struct make_row {
	const char *name;
	u8 flags; /* beside ORNIC_MKEY_DM */
	u64 addr;
	u32 npages;
	u8 shift;
	u8 levels;
	u64 offset;
	u64 length;
	int status;
} make_rows[] = {
	{ "all", 0, 0, DM_PAGES, 12, 0, 0, DM_BYTES, ORNIC_OK },
	{ "the last byte", 0, DM_BYTES - PAGE, 1, 12, 0, 0, 1, ORNIC_OK },
	{ "large pages", 0, 0, 1, 16, 0, 0, DM_BYTES, ORNIC_OK },
	{ "a part", ORNIC_MKEY_OFFSET, PAGE, 2, 12, 0, 5000, 3000, ORNIC_OK },
	{ "nothing of it", ORNIC_MKEY_OFFSET, 0, 1, 12, 0, PAGE, 0, ORNIC_OK },
	{ "a page more", 0, 0, DM_PAGES + 1, 12, 0, 0, 1, ORNIC_BAD_ADDR },
	{ "a byte further", 0, 1, DM_PAGES, 12, 0, 0, 1, ORNIC_BAD_ADDR },
	{ "the end", 0, DM_BYTES, 1, 12, 0, 0, 1, ORNIC_BAD_ADDR },
	{ "an end that wraps", 0, U64_MAX - PAGE + 1, 2, 12, 0, 0, 1,
	  ORNIC_BAD_ADDR },
	{ "2^52 bytes", 0, 0, 4096, 40, 0, 0, 1, ORNIC_BAD_PARAM },
	{ "2^64 bytes", 0, 0, 1 << 24, 40, 0, 0, 1, ORNIC_BAD_PARAM },
	{ "no pages", 0, 0, 0, 12, 0, 0, 1, ORNIC_BAD_PARAM },
	{ "small pages", 0, 0, 1, 11, 0, 0, 1, ORNIC_BAD_PARAM },
	{ "shift of 64", 0, 0, 1, 64, 0, 0, 1, ORNIC_BAD_PARAM },
	{ "a list", 0, 0, 1, 12, 1, 0, 1, ORNIC_BAD_PARAM },
	{ "more than its run", 0, 0, 1, 12, 0, 0, PAGE + 1, ORNIC_BAD_PARAM },
	{ "behind its run", ORNIC_MKEY_OFFSET, 0, 1, 12, 0, PAGE, 1,
	  ORNIC_BAD_PARAM },
	{ "offset that wraps", ORNIC_MKEY_OFFSET, 0, 1, 12, 0, U64_MAX, 2,
	  ORNIC_BAD_PARAM },
	{ "nothing", 0, 0, 1, 12, 0, 0, 0, ORNIC_BAD_PARAM },
	{ "for REG_MR", ORNIC_MKEY_FAST, 0, 1, 12, 0, 0, 0, ORNIC_BAD_PARAM },
	{ "for segments", ORNIC_MKEY_FAST | ORNIC_MKEY_SG_GAPS, 0, 1, 12, 0, 0,
	  0, ORNIC_BAD_PARAM },
	{ "of segments", ORNIC_MKEY_SG_GAPS, 0, 1, 12, 0, 0, 1,
	  ORNIC_BAD_PARAM },
	{ "all DMA memory", ORNIC_MKEY_DMA, 0, 0, 0, 0, 0, 0, ORNIC_BAD_PARAM },
	{ "on demand", ORNIC_MKEY_ODP, 0, 0, 12, 0, 0, 1, ORNIC_BAD_PARAM },
	{ "on demand, with pages", ORNIC_MKEY_ODP, 0, 1, 12, 0, 0, 1,
	  ORNIC_BAD_PARAM },
	{ "on demand, at an offset", ORNIC_MKEY_ODP | ORNIC_MKEY_OFFSET, 0, 1,
	  12, 0, 0, 1, ORNIC_BAD_PARAM },
	{ "another flag", 0x80, 0, 1, 12, 0, 0, 1, ORNIC_BAD_PARAM },
};

KUNIT_ARRAY_PARAM_DESC(make, make_rows, name);

static int make_key(struct ornic_th *th, const struct make_row *row, u32 *key)
{
	union ornic_req req;
	union ornic_rsp rsp;
	int status;

	memset(&req, 0, sizeof(req));
	req.hdr.opcode = ORNIC_CMD_CREATE_MKEY;
	req.create_mkey.mem.addr = cpu_to_le64(row->addr);
	req.create_mkey.mem.npages = cpu_to_le32(row->npages);
	req.create_mkey.mem.page_shift = row->shift;
	req.create_mkey.mem.levels = row->levels;
	req.create_mkey.flags = ORNIC_MKEY_DM | row->flags;
	req.create_mkey.access = ORNIC_ACCESS_MR_MASK;
	req.create_mkey.length = cpu_to_le64(row->length);
	req.create_mkey.offset = cpu_to_le64(row->offset);
	req.create_mkey.pdn = cpu_to_le32(th->pdn);
	status = ornic_th_cmd(th, &req, &rsp);
	*key = le32_to_cpu(rsp.hdr.obj);
	return status;
}

static int modify_key(struct ornic_th *th, u32 key)
{
	union ornic_req req;
	union ornic_rsp rsp;

	memset(&req, 0, sizeof(req));
	req.hdr.opcode = ORNIC_CMD_MODIFY_MKEY;
	req.hdr.obj = cpu_to_le32(key);
	req.modify_mkey.mask = ORNIC_MKEYM_ACCESS;
	return ornic_th_cmd(th, &req, &rsp);
}

/* It has no pages that come and go. */
static void expect_no_paging(struct kunit *test, struct ornic_th *th, u32 key)
{
	union ornic_req req;
	union ornic_rsp rsp;

	memset(&req, 0, sizeof(req));
	req.hdr.opcode = ORNIC_CMD_SET_PAGES;
	req.hdr.obj = cpu_to_le32(key);
	req.set_pages.npages = cpu_to_le32(1);
	KUNIT_EXPECT_EQ(test, ornic_th_cmd(th, &req, &rsp), ORNIC_NOT_FOUND);
	memset(&req, 0, sizeof(req));
	req.hdr.opcode = ORNIC_CMD_CLEAR_PAGES;
	req.hdr.obj = cpu_to_le32(key);
	req.clear_pages.length = cpu_to_le64(PAGE);
	KUNIT_EXPECT_EQ(test, ornic_th_cmd(th, &req, &rsp), ORNIC_NOT_FOUND);
}

static void dm_create_checks(struct kunit *test)
{
	const struct make_row *row = test->param_value;
	struct ornic_fixture *fix = open_fix(test, ORNIC_FIX_LOOP);
	union ornic_req req = { .hdr.opcode = ORNIC_CMD_INSPECT };
	struct ornic_th *th = fix->pair.b;
	union ornic_rsp rsp;
	u32 key;

	KUNIT_ASSERT_EQ(test, make_key(th, row, &key), row->status);
	if (row->status)
		return;
	KUNIT_EXPECT_EQ(test, modify_key(th, key), ORNIC_BAD_PARAM);
	expect_no_paging(test, th, key);
	req.hdr.obj = cpu_to_le32(key);
	req.hdr.param = ORNIC_INSPECT_MKEY;
	KUNIT_ASSERT_EQ(test, ornic_th_cmd(th, &req, &rsp), ORNIC_OK);
	KUNIT_EXPECT_EQ(test, rsp.inspect_mkey.flags, ORNIC_MKEY_DM);
	KUNIT_EXPECT_EQ(test,
			ornic_th_destroy_obj(th, ORNIC_CMD_DESTROY_MKEY, key),
			ORNIC_OK);
}

static u64 caps_of(struct ornic_th *th)
{
	union ornic_req req = { .hdr.opcode = ORNIC_CMD_QUERY_DEVICE };
	union ornic_rsp rsp;

	ornic_engine_cmd(th->eng, &req, &rsp);
	return le64_to_cpu(rsp.query_device.caps);
}

/* A device without such memory has neither capability nor keys. */
static void dm_may_be_missing(struct kunit *test)
{
	struct ornic_fixture *fix = open_fix(test, ORNIC_FIX_LOOP);
	struct ornic_th *th = fix->pair.b;
	struct dm_test *dt = test->priv;
	u32 key;

	KUNIT_EXPECT_TRUE(test, caps_of(th) & ORNIC_CAP_DM);
	dt->ops = *th->eng->dev.ops;
	dt->ops.dm = NULL;
	th->eng->dev.ops = &dt->ops;
	KUNIT_EXPECT_FALSE(test, caps_of(th) & ORNIC_CAP_DM);
	KUNIT_EXPECT_EQ(test, make_key(th, &make_rows[0], &key),
			ORNIC_BAD_PARAM);
}

/* What is no DM but larger than any page list may be: @max_mem is of lists. */
static void dm_is_not_bound_by_lists(struct kunit *test)
{
	struct ornic_fixture *fix = open_fix(test, ORNIC_FIX_LOOP);
	struct ornic_th *th = fix->pair.b;
	struct dm_test *dt = test->priv;
	u32 key;

	dt->ops = *th->eng->dev.ops;
	dt->ops.max_mem = PAGE;
	th->eng->dev.ops = &dt->ops;
	KUNIT_EXPECT_EQ(test, make_key(th, &make_rows[0], &key), ORNIC_OK);
}

/* ---- Using them -------------------------------------------------------------------- */

static const struct use_row {
	const char *name;
	enum ornic_fix_kind kind;
	u8 opcode;
} use_rows[] = {
	{ "WRITE on the wire", ORNIC_FIX_WIRE, ORNIC_WQE_WRITE },
	{ "WRITE on the device", ORNIC_FIX_LOOP, ORNIC_WQE_WRITE },
	{ "WRITE to a peer engine", ORNIC_FIX_PEER, ORNIC_WQE_WRITE },
	{ "READ on the wire", ORNIC_FIX_WIRE, ORNIC_WQE_READ },
	{ "READ on the device", ORNIC_FIX_LOOP, ORNIC_WQE_READ },
	{ "READ from a peer engine", ORNIC_FIX_PEER, ORNIC_WQE_READ },
};

KUNIT_ARRAY_PARAM_DESC(use, use_rows, name);

static const struct make_row part = {
	"", ORNIC_MKEY_OFFSET, RUN, 4, 12, 0, AT, BYTES, ORNIC_OK
};

/* The status of @opcode between am and the first bytes from @raddr on of @key. */
static int use_key(struct ornic_fixture *fix, u8 opcode, u32 key, u64 raddr,
		   u32 len)
{
	struct ornic_lsge sge = ornic_fix_sge(&fix->am, 0, len);
	struct ornic_th_wr wr = {
		.opcode = opcode,
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

static u64 counted(const struct ornic_fixture *fix)
{
	return ornic_engine_stat(fix->pair.b->eng, ORNIC_STAT_DM_BYTES);
}

static void fill(u8 *bytes, u32 len, u32 seed)
{
	u32 i;

	for (i = 0; i < len; i++)
		bytes[i] = ornic_fix_byte(seed, i);
}

/* The first of @len bytes that is another one; or @len. */
static u32 differs_at(const u8 *bytes, u32 len, u32 seed)
{
	u32 i;

	for (i = 0; i < len && bytes[i] == ornic_fix_byte(seed, i);)
		i++;
	return i;
}

/* All but [@from, @from + @len) of device memory and what is beside it is 0. */
static bool rest_is_zero(const struct dm_test *dt, u32 from, u32 len)
{
	u32 i;

	for (i = 0; i < DM_BYTES + 2 * PAGE; i++)
		if (dt->dm[(s32)i - (s32)PAGE] &&
		    (i < PAGE + from || i >= PAGE + from + len))
			return false;
	return true;
}

static void dm_is_used(struct kunit *test)
{
	const struct use_row *row = test->param_value;
	struct ornic_fixture *fix = open_fix(test, row->kind);
	struct dm_test *dt = test->priv;
	u8 *at = dt->dm + RUN + AT;
	u32 key;

	KUNIT_ASSERT_EQ(test, make_key(fix->pair.b, &part, &key), ORNIC_OK);
	if (row->opcode == ORNIC_WQE_READ)
		fill(at, BYTES, 2);
	KUNIT_ASSERT_EQ(test, use_key(fix, row->opcode, key, 0, BYTES),
			ORNIC_CQE_SUCCESS);
	if (row->opcode == ORNIC_WQE_READ)
		KUNIT_EXPECT_EQ(test, ornic_fix_compare(&fix->am, 0, BYTES, 2),
				-1);
	else
		KUNIT_EXPECT_EQ(test, differs_at(at, BYTES, 1), BYTES);
	KUNIT_EXPECT_TRUE(test, rest_is_zero(dt, RUN + AT, BYTES));
	/* Each byte once: what is read or written is nothing else. */
	KUNIT_EXPECT_EQ(test, counted(fix), BYTES);
	KUNIT_EXPECT_EQ(test, use_key(fix, row->opcode, key, 1, BYTES),
			ORNIC_CQE_REM_ACCESS_ERR);
	KUNIT_EXPECT_TRUE(test, rest_is_zero(dt, RUN + AT, BYTES));
	KUNIT_EXPECT_EQ(test, counted(fix), BYTES);
}

/* Other keys do not count. */
static void dm_alone_is_counted(struct kunit *test)
{
	struct ornic_fixture *fix = open_fix(test, ORNIC_FIX_LOOP);

	KUNIT_ASSERT_EQ(test,
			use_key(fix, ORNIC_WQE_WRITE, fix->bm.key, fix->bm.iova,
				BYTES),
			ORNIC_CQE_SUCCESS);
	KUNIT_EXPECT_EQ(test, counted(fix), 0);
}

static void dm_atomics(struct kunit *test)
{
	struct ornic_fixture *fix = open_fix(test, ORNIC_FIX_LOOP);
	struct ornic_lsge sge = ornic_fix_sge(&fix->am, 0, 8);
	struct dm_test *dt = test->priv;
	struct ornic_th_wr wr = {
		.opcode = ORNIC_WQE_FAA,
		.flags = ORNIC_WQE_SIGNALED,
		.nsge = 1,
		.sge = &sge,
		.raddr = PAGE - 8,
		.swap_add = 7,
	};
	struct ornic_cqe cqe;

	KUNIT_ASSERT_EQ(test, make_key(fix->pair.b, &make_rows[0], &wr.rkey),
			ORNIC_OK);
	dt->dm[PAGE - 8] = 5;
	ornic_th_post_send(&fix->a, &wr);
	ornic_th_settle(&fix->pair);
	KUNIT_ASSERT_EQ(test, ornic_fix_status(&fix->ascq, &cqe),
			ORNIC_CQE_SUCCESS);
	KUNIT_EXPECT_EQ(test, dt->dm[PAGE - 8], 12);
	KUNIT_EXPECT_TRUE(test, rest_is_zero(dt, PAGE - 8, 8));
}

/* A window of such a key. */
static void dm_window(struct kunit *test)
{
	struct ornic_fixture *fix = open_fix(test, ORNIC_FIX_LOOP);
	struct dm_test *dt = test->priv;
	struct ornic_th_wr bind = {
		.opcode = ORNIC_WQE_BIND_MW,
		.flags = ORNIC_WQE_SIGNALED,
		.raddr = 200,
		.bind_length = 3000,
		.bind_access = ORNIC_ACCESS_REMOTE_WRITE,
	};
	u32 key;

	KUNIT_ASSERT_EQ(test, make_key(fix->pair.b, &part, &key), ORNIC_OK);
	bind.bind_lkey = key;
	KUNIT_ASSERT_EQ(
		test, ornic_th_mw(fix->pair.b, ORNIC_MW_TYPE_2, &bind.rkey), 0);
	KUNIT_ASSERT_EQ(test, ornic_fix_run_on_b(fix, &bind),
			ORNIC_CQE_SUCCESS);
	KUNIT_EXPECT_EQ(test,
			use_key(fix, ORNIC_WQE_WRITE, bind.rkey, 200, 3000),
			ORNIC_CQE_SUCCESS);
	KUNIT_EXPECT_EQ(test, differs_at(dt->dm + RUN + AT + 200, 3000, 1),
			3000);
	KUNIT_EXPECT_TRUE(test, rest_is_zero(dt, RUN + AT + 200, 3000));
	KUNIT_EXPECT_EQ(test,
			use_key(fix, ORNIC_WQE_WRITE, bind.rkey, 200, 3001),
			ORNIC_CQE_REM_ACCESS_ERR);
}

/* ---- With others ------------------------------------------------------------------- */

static const struct list_row {
	const char *name;
	u8 opcode;
} list_rows[] = {
	{ "WRITE", ORNIC_WQE_WRITE },
	{ "READ", ORNIC_WQE_READ },
};

KUNIT_ARRAY_PARAM_DESC(list, list_rows, name);

#define END 100u /* bytes of each end of the list */
#define MIDDLE 5000u /* bytes of the null key between them */

static struct ornic_fixture *open_lists(struct kunit *test)
{
	struct ornic_th_qpinit init = { .type = ORNIC_QPT_RC, .max_sge = 3 };
	struct dm_test *dt = test->priv;
	struct ornic_fixture *fix = &dt->tags.fix;

	KUNIT_ASSERT_EQ(test, ornic_fix_open(fix, ORNIC_FIX_LOOP, &init), 0);
	KUNIT_ASSERT_EQ(test, ornic_fix_connect(fix), 0);
	give_dm(test);
	ornic_fix_fill(&fix->bm, 0, 2 * END + MIDDLE, 2);
	return fix;
}

/* Ends that touch at @at are apart in bm. */
static void expect_ends(struct kunit *test, struct ornic_fixture *fix,
			const u8 *at)
{
	u8 bytes[END];

	ornic_th_mr_read(&fix->bm, 0, bytes, END);
	KUNIT_EXPECT_MEMEQ(test, at, bytes, END);
	ornic_th_mr_read(&fix->bm, END + MIDDLE, bytes, END);
	KUNIT_EXPECT_MEMEQ(test, at + END, bytes, END);
}

static u32 zeroes_in_the_middle(struct ornic_fixture *fix)
{
	u32 i, n = 0;
	u8 byte;

	for (i = 0; i < MIDDLE; i++) {
		ornic_th_mr_read(&fix->bm, END + i, &byte, 1);
		n += !byte;
	}
	return n;
}

/* In a list, around an SGE of the null key. */
static void dm_beside_the_null_key(struct kunit *test)
{
	const struct list_row *row = test->param_value;
	struct ornic_fixture *fix = open_lists(test);
	struct dm_test *dt = test->priv;
	struct ornic_lsge sge[3] = { { 0, END },
				     { 0, MIDDLE, ORNIC_NULL_LKEY },
				     { END, END } };
	struct ornic_th_wr wr = {
		.opcode = row->opcode,
		.flags = ORNIC_WQE_SIGNALED,
		.nsge = ARRAY_SIZE(sge),
		.sge = sge,
		.raddr = fix->bm.iova,
		.rkey = fix->bm.key,
	};
	struct ornic_cqe cqe;

	KUNIT_ASSERT_EQ(test, make_key(fix->pair.b, &part, &sge[0].lkey),
			ORNIC_OK);
	sge[2].lkey = sge[0].lkey;
	if (row->opcode == ORNIC_WQE_WRITE)
		fill(dt->dm + RUN + AT, 2 * END, 3);
	ornic_th_post_send(&fix->a, &wr);
	ornic_th_settle(&fix->pair);
	KUNIT_ASSERT_EQ(test, ornic_fix_status(&fix->ascq, &cqe),
			ORNIC_CQE_SUCCESS);
	expect_ends(test, fix, dt->dm + RUN + AT);
	if (row->opcode == ORNIC_WQE_WRITE)
		KUNIT_EXPECT_EQ(test, zeroes_in_the_middle(fix), MIDDLE);
	KUNIT_EXPECT_TRUE(test, rest_is_zero(dt, RUN + AT, 2 * END));
	KUNIT_EXPECT_EQ(test, counted(fix), 2 * END);
}

static const struct tag_row {
	const char *name;
	enum ornic_fix_kind kind;
	bool rndv;
} tag_rows[] = {
	{ "eager, on the wire", ORNIC_FIX_WIRE },
	{ "eager, on the device", ORNIC_FIX_LOOP },
	{ "eager, of a peer engine", ORNIC_FIX_PEER },
	{ "rendezvous, on the wire", ORNIC_FIX_WIRE, true },
	{ "rendezvous, on the device", ORNIC_FIX_LOOP, true },
	{ "rendezvous, of a peer engine", ORNIC_FIX_PEER, true },
};

KUNIT_ARRAY_PARAM_DESC(tag, tag_rows, name);

/* A tagged receive of it: written by the match, or by the READ that follows it. */
static void dm_has_what_matched(struct kunit *test)
{
	const struct tag_row *row = test->param_value;
	struct ornic_tm_test *tt = ornic_tm_open(test, row->kind);
	const struct ornic_tm_want match = { ORNIC_CQE_TM_RECV, MATCH, 7, 5,
					     900 };
	const struct ornic_tm_want data = { ORNIC_CQE_TM_RECV, VALID, 7, 0,
					    900 };
	struct ornic_lsge sge = { 10, 1000 };
	struct dm_test *dt = test->priv;

	give_dm(test);
	KUNIT_ASSERT_EQ(test, make_key(tt->fix.pair.b, &part, &sge.lkey),
			ORNIC_OK);
	ornic_tm_add_sges(tt, 7, 5, &sge, 1);
	if (row->rndv) {
		ornic_fix_recv(&tt->fix.a, &tt->fix.am, 8, 60000, HDRS);
		ornic_fix_fill(&tt->fix.am, 100, 900, 5);
		ornic_tm_send_rndv(tt, 5, 100, 900, 50000);
		ornic_tm_expect(test, tt, &match);
		ornic_tm_expect(test, tt, &data);
	} else {
		ornic_tm_send_eager(tt, 5, 900);
		ornic_tm_expect_match(test, tt, 7, 5, 900);
	}
	KUNIT_EXPECT_EQ(test, differs_at(dt->dm + RUN + AT + 10, 900, 5), 900);
	KUNIT_EXPECT_TRUE(test, rest_is_zero(dt, RUN + AT + 10, 900));
	KUNIT_EXPECT_EQ(test, counted(&tt->fix), 900);
}

static struct kunit_case dm_cases[] = {
	KUNIT_CASE_PARAM(dm_create_checks, make_gen_params),
	KUNIT_CASE(dm_may_be_missing),
	KUNIT_CASE(dm_is_not_bound_by_lists),
	KUNIT_CASE_PARAM(dm_is_used, use_gen_params),
	KUNIT_CASE(dm_alone_is_counted),
	KUNIT_CASE(dm_atomics),
	KUNIT_CASE(dm_window),
	KUNIT_CASE_PARAM(dm_beside_the_null_key, list_gen_params),
	KUNIT_CASE_PARAM(dm_has_what_matched, tag_gen_params),
	{}
};

static struct kunit_suite dm_suite = {
	.name = "ornic_dm",
	.init = dm_init,
	.exit = ornic_suite_exit,
	.test_cases = dm_cases,
};

kunit_test_suite(dm_suite);

MODULE_DESCRIPTION("ornic: suite of device memory");
MODULE_LICENSE("Dual BSD/GPL");
