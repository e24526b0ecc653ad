// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* Short data that is written to lists of SGEs. */
#include <kunit/test.h>

#include "harness.h"
#include "engine/dev.h"
#include "engine/mem.h"

#define PAGE 4096u
#define BYTES (3 * PAGE)
#define SECOND 6000u /* offset of the second SGE, of 64 bytes */
#define LW ORNIC_ACCESS_LOCAL_WRITE
#define RR ORNIC_ACCESS_REMOTE_READ

static const char text[] = "abcdefghijklmnopqrstuvwx";

#define TEXT (sizeof(text) - 1)

/* The text, to byte @off of two SGEs. */
static const struct write_row {
	const char *name;
	u32 start; /* offset of the first SGE */
	u32 first; /* its bytes */
	u32 off;
	u32 npieces; /* of the text */
	u8 access; /* of the MR */
	bool other_pd;
	enum ornic_vendor_err verr;
} write_rows[] = {
	{ "into the first", 0, 100, 0, 1, LW, false, ORNIC_VERR_NONE },
	{ "all of the first", 0, TEXT, 0, 1, LW, false, ORNIC_VERR_NONE },
	{ "in the first", 0, 100, 50, 1, LW, false, ORNIC_VERR_NONE },
	{ "across", 0, TEXT - 1, 0, 1, LW, false, ORNIC_VERR_NONE },
	{ "into the second", 0, 10, 20, 1, LW, false, ORNIC_VERR_NONE },
	{ "two pieces", 0, 100, 0, 2, LW, false, ORNIC_VERR_NONE },
	{ "two pages", PAGE - 10, 100, 0, 1, LW, false, ORNIC_VERR_NONE },
	{ "no right", 0, 100, 0, 1, RR, false, ORNIC_VERR_LKEY_ACCESS },
	{ "another PD", 0, 100, 0, 1, LW, true, ORNIC_VERR_LKEY_PD },
	{ "past the end", BYTES - TEXT + 1, 100, 0, 1, LW, false,
	  ORNIC_VERR_LKEY_RANGE },
};

KUNIT_ARRAY_PARAM_DESC(write, write_rows, name);

/* Byte @i of the list of @row is at this offset of the MR. */
static u32 place_of(const struct write_row *row, u32 i)
{
	return i < row->first ? row->start + i : SECOND + i - row->first;
}

static u32 count_written(const struct ornic_th_mr *mr)
{
	u32 i, n = 0;

	for (i = 0; i < BYTES; i++)
		n += mr->buf[i] != 0;
	return n;
}

static char byte_at(const struct ornic_th_mr *mr, u32 off)
{
	char byte;

	ornic_th_mr_read(mr, off, &byte, 1);
	return byte;
}

static void sgl_is_written(struct kunit *test)
{
	const struct write_row *row = test->param_value;
	static const char head[] = "abcdefg";
	struct ornic_frag piece[2] = { { (void *)text, TEXT } };
	struct ornic_iov src = { .frag = piece,
				 .n = row->npieces,
				 .bytes = TEXT };
	struct ornic_lsge sge[2] = { { .length = row->first },
				     { .length = 64 } };
	struct ornic_th *th = test->priv;
	enum ornic_vendor_err verr;
	struct ornic_th_mr mr;
	u32 i;

	KUNIT_ASSERT_EQ(test,
			ornic_th_mr_init(th, &mr, BYTES, 0, 1, row->access), 0);
	sge[0].lkey = mr.key;
	sge[0].addr = mr.iova + row->start;
	sge[1].lkey = mr.key;
	sge[1].addr = mr.iova + SECOND;
	if (row->npieces == 2) {
		piece[0].ptr = (void *)head;
		piece[0].len = 7;
		piece[1].ptr = (void *)(text + 7);
		piece[1].len = TEXT - 7;
	}
	ornic_rcu_read_lock();
	verr = ornic_sgl_write_pd(&th->eng->dev, th->pdn + row->other_pd, sge,
				  2, row->off, &src);
	ornic_rcu_read_unlock();
	KUNIT_EXPECT_EQ(test, verr, row->verr);
	KUNIT_EXPECT_EQ(test, count_written(&mr), row->verr ? 0 : TEXT);
	for (i = 0; i < TEXT && !row->verr; i++)
		KUNIT_EXPECT_EQ(test, byte_at(&mr, place_of(row, row->off + i)),
				text[i]);
	KUNIT_EXPECT_EQ(test, ornic_th_mr_fini(&mr), 0);
}

/* No byte may be looked for at an address that no key has. */
static void sgl_takes_nothing(struct kunit *test)
{
	struct ornic_frag piece = { (void *)text, 0 };
	struct ornic_iov src = { .frag = &piece, .n = 1 };
	struct ornic_lsge sge = { .addr = U64_MAX / 2, .length = 100 };
	struct ornic_th *th = test->priv;
	enum ornic_vendor_err verr;
	struct ornic_th_mr mr;

	KUNIT_ASSERT_EQ(test, ornic_th_mr_init(th, &mr, BYTES, 0, 1, LW), 0);
	sge.lkey = mr.key;
	ornic_rcu_read_lock();
	verr = ornic_sgl_write_pd(&th->eng->dev, th->pdn, &sge, 1, 0, &src);
	ornic_rcu_read_unlock();
	KUNIT_EXPECT_EQ(test, verr, ORNIC_VERR_NONE);
	KUNIT_EXPECT_EQ(test, ornic_th_mr_fini(&mr), 0);
}

static int sgl_suite_init(struct kunit *test)
{
	test->priv = ornic_th_create(1, 1);
	return test->priv ? 0 : -ENOMEM;
}

static void sgl_suite_exit(struct kunit *test)
{
	KUNIT_EXPECT_EQ(test, ornic_th_destroy(test->priv), 0);
}

static struct kunit_case sgl_cases[] = { KUNIT_CASE_PARAM(sgl_is_written,
							  write_gen_params),
					 KUNIT_CASE(sgl_takes_nothing),
					 {} };

static struct kunit_suite sgl_suite = {
	.name = "ornic_sgl",
	.init = sgl_suite_init,
	.exit = sgl_suite_exit,
	.test_cases = sgl_cases,
};

kunit_test_suite(sgl_suite);

MODULE_DESCRIPTION("ornic: suite of SGE lists");
MODULE_LICENSE("Dual BSD/GPL");
