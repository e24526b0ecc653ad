// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* Object tables: which indices are handed out, and what lookups find. */
#include <kunit/test.h>

#include "harness.h"
#include "engine/table.h"

#define LOG_SIZE 11
#define SIZE (1u << LOG_SIZE)
#define FIRST 5

static struct ornic_table *table_of(struct kunit *test)
{
	return test->priv;
}

static int table_test_init(struct kunit *test)
{
	struct ornic_table *t = kunit_kzalloc(test, sizeof(*t), GFP_KERNEL);

	test->priv = t;
	return t ? ornic_table_init(t, LOG_SIZE, FIRST) : -ENOMEM;
}

static void table_test_exit(struct kunit *test)
{
	ornic_table_fini(table_of(test));
}

static void *lookup(struct ornic_table *t, u32 index)
{
	void *obj;

	ornic_rcu_read_lock();
	obj = ornic_table_lookup(t, index);
	ornic_rcu_read_unlock();
	return obj;
}

static void table_reserves_upward(struct kunit *test)
{
	struct ornic_table *t = table_of(test);

	KUNIT_EXPECT_EQ(test, ornic_table_reserve(t, 0), FIRST);
	KUNIT_EXPECT_EQ(test, ornic_table_reserve(t, 0), FIRST + 1);
	KUNIT_EXPECT_EQ(test, t->count, 2);
}

/* What was just released comes back last of all. */
static void table_reuses_late(struct kunit *test)
{
	struct ornic_table *t = table_of(test);
	int first = ornic_table_reserve(t, 0);
	u32 i;

	ornic_table_release(t, first);
	for (i = FIRST + 1; i < SIZE; i++)
		KUNIT_ASSERT_EQ(test, ornic_table_reserve(t, 0), i);
	KUNIT_EXPECT_EQ(test, ornic_table_reserve(t, 0), first);
	KUNIT_EXPECT_EQ(test, ornic_table_reserve(t, 0), -ENOSPC);
}

/* The same table with indices that rest. */
static struct ornic_table *random_table(struct kunit *test)
{
	struct ornic_table *t = table_of(test);

	ornic_table_fini(t);
	KUNIT_ASSERT_EQ(test, ornic_table_init_random(t, LOG_SIZE, FIRST), 0);
	return t;
}

/* The caller's random bits choose, and nothing that was handed out before. */
static void table_is_random(struct kunit *test)
{
	static const u32 bits[] = { 0, 7, SIZE - FIRST - 1, U32_MAX, 1 << 31 };
	struct ornic_table *t = random_table(test);
	u32 i;

	for (i = 0; i < ARRAY_SIZE(bits); i++)
		KUNIT_EXPECT_EQ(test, ornic_table_reserve_random(t, bits[i]),
				FIRST + bits[i] % (SIZE - FIRST));
	/* Taken, so the next one. */
	KUNIT_EXPECT_EQ(test, ornic_table_reserve_random(t, 7), FIRST + 8);
}

/* What was released comes back last of all, whatever the random bits. */
static void table_rests(struct kunit *test)
{
	struct ornic_table *t = random_table(test);
	int first = ornic_table_reserve_random(t, 100);
	u32 i;

	ornic_table_release(t, first);
	for (i = FIRST + 1; i < SIZE; i++)
		KUNIT_ASSERT_NE(test, ornic_table_reserve_random(t, 100),
				first);
	KUNIT_EXPECT_EQ(test, ornic_table_reserve_random(t, 100), first);
	KUNIT_EXPECT_EQ(test, ornic_table_reserve_random(t, 100), -ENOSPC);
}

/* Half of the table rests, no more. */
static void table_rests_for_half(struct kunit *test)
{
	struct ornic_table *t = random_table(test);
	u32 i;

	for (i = 0; i <= SIZE / 2; i++) {
		KUNIT_ASSERT_EQ(test, ornic_table_reserve_random(t, 0),
				FIRST + i);
		ornic_table_release(t, FIRST + i);
	}
	KUNIT_EXPECT_EQ(test, t->nresting, 1);
	for (i = 0; i < SIZE / 2; i++)
		KUNIT_ASSERT_EQ(test, ornic_table_reserve_random(t, 0),
				FIRST + i);
}

static const struct hint_row {
	const char *name;
	u32 hint;
	int index;
} hint_rows[] = {
	{ "free", 1000, 1000 },
	{ "taken", 700, 703 },
	{ "taken up to the end: around it", SIZE - 2, FIRST },
	{ "below the first", 2, FIRST },
	{ "beyond the end", SIZE, FIRST },
	{ "word boundary", 64, 64 },
	{ "chunk boundary", ORNIC_CHUNK, ORNIC_CHUNK },
};

KUNIT_ARRAY_PARAM_DESC(hint, hint_rows, name);

static void table_reserves_from_hint(struct kunit *test)
{
	static const u32 taken[] = { 700, 701, 702, SIZE - 2, SIZE - 1 };
	const struct hint_row *row = test->param_value;
	struct ornic_table *t = table_of(test);
	u32 i;

	for (i = 0; i < ARRAY_SIZE(taken); i++)
		KUNIT_ASSERT_EQ(test, ornic_table_reserve(t, taken[i]),
				taken[i]);
	KUNIT_EXPECT_EQ(test, ornic_table_reserve(t, row->hint), row->index);
}

/* With one index free, every hint finds it. */
static void table_finds_the_last_free(struct kunit *test)
{
	struct ornic_table *t = table_of(test);
	u32 i;

	for (i = FIRST; i < SIZE; i++)
		ornic_table_reserve(t, 0);
	for (i = FIRST; i < SIZE; i += 61) {
		ornic_table_release(t, i);
		KUNIT_ASSERT_EQ(test, ornic_table_reserve(t, SIZE / 2), i);
		KUNIT_ASSERT_EQ(test, ornic_table_reserve(t, SIZE / 2),
				-ENOSPC);
	}
}

static void table_shows_what_is_published(struct kunit *test)
{
	struct ornic_table *t = table_of(test);
	int index = ornic_table_reserve(t, 1500);
	int object;

	KUNIT_EXPECT_NULL(test, lookup(t, index));
	ornic_table_publish(t, index, &object);
	KUNIT_EXPECT_PTR_EQ(test, lookup(t, index), (void *)&object);
	KUNIT_EXPECT_NULL(test, lookup(t, index + 1));
	/* A chunk that does not exist, and beyond the end. */
	KUNIT_EXPECT_NULL(test, lookup(t, 100));
	KUNIT_EXPECT_NULL(test, lookup(t, SIZE));
	KUNIT_EXPECT_NULL(test, lookup(t, U32_MAX));
}

static void table_unlinks_once(struct kunit *test)
{
	struct ornic_table *t = table_of(test);
	int index = ornic_table_reserve(t, 0);
	int object;

	ornic_table_publish(t, index, &object);
	KUNIT_EXPECT_PTR_EQ(test, ornic_table_unlink(t, index),
			    (void *)&object);
	KUNIT_EXPECT_NULL(test, ornic_table_unlink(t, index));
	KUNIT_EXPECT_NULL(test, lookup(t, index));
	KUNIT_EXPECT_NULL(test, ornic_table_unlink(t, 1000));
	KUNIT_EXPECT_NULL(test, ornic_table_unlink(t, SIZE - 1));
	KUNIT_EXPECT_NULL(test, ornic_table_unlink(t, SIZE));
	KUNIT_EXPECT_NULL(test, ornic_table_unlink(t, U32_MAX));
	/* Still reserved. */
	KUNIT_EXPECT_NE(test, ornic_table_reserve(t, index), index);
	ornic_table_release(t, index);
	KUNIT_EXPECT_EQ(test, ornic_table_reserve(t, index), index);
}

static void table_releases_once(struct kunit *test)
{
	struct ornic_table *t = table_of(test);
	int index = ornic_table_reserve(t, 0);

	ornic_table_release(t, index);
	ornic_table_release(t, index);
	KUNIT_EXPECT_EQ(test, t->count, 0);
}

static void table_walks_in_order(struct kunit *test)
{
	static const u32 at[] = { FIRST, 6, 511, 512, 1030, SIZE - 1 };
	struct ornic_table *t = table_of(test);
	u32 i, index = 0;
	void *obj;

	for (i = 0; i < ARRAY_SIZE(at); i++) {
		KUNIT_ASSERT_EQ(test, ornic_table_reserve(t, at[i]), at[i]);
		ornic_table_publish(t, at[i], (void *)&at[i]);
	}
	ornic_rcu_read_lock();
	for (i = 0; i < ARRAY_SIZE(at); i++, index++) {
		obj = ornic_table_next(t, &index);
		KUNIT_EXPECT_PTR_EQ(test, obj, (void *)&at[i]);
		KUNIT_EXPECT_EQ(test, index, at[i]);
	}
	KUNIT_EXPECT_NULL(test, ornic_table_next(t, &index));
	KUNIT_EXPECT_EQ(test, index, SIZE);
	/* One that goes is passed over, also if it was the last of its word. */
	ornic_table_unlink(t, at[2]);
	ornic_table_release(t, at[2]);
	index = at[1] + 1;
	KUNIT_EXPECT_PTR_EQ(test, ornic_table_next(t, &index), (void *)&at[3]);
	ornic_rcu_read_unlock();
}

static const struct size_row {
	const char *name;
	u32 log_size;
} size_rows[] = {
	{ "1", 0 },	     { "2", 1 },       { "half a word", 5 },
	{ "a word", 6 },     { "2 words", 7 }, { "64 words", 12 },
	{ "128 words", 13 }, { "2^18", 18 },   { "64^3 twice", 19 },
};

KUNIT_ARRAY_PARAM_DESC(size, size_rows, name);

/* The indices that a walk to @end finds are the first @n of @at. */
static bool walk_finds(struct ornic_table *t, const u32 *at, u32 n, u32 end)
{
	u32 i, index = 0;
	bool same = true;

	ornic_rcu_read_lock();
	for (i = 0; i < n && at[i] < end; i++, index++)
		same &= ornic_table_next_in(t, &index, end) == &at[i] &&
			index == at[i];
	same &= !ornic_table_next_in(t, &index, end) && index == end;
	ornic_rcu_read_unlock();
	return same;
}

/* A power of two and its neighbours, as far as they are there, in order */
static u32 edges(u32 log_size, u32 *at)
{
	u32 size = 1u << log_size, n = 0, bit, i;

	for (bit = 1; bit && bit <= size; bit <<= 1)
		for (i = bit - 1; i < bit + 2 && i < size; i++)
			if (!n || at[n - 1] < i)
				at[n++] = i;
	return n;
}

/* Each edge of a bitmap of any height, while what is there goes from the beginning. */
static void table_walks_any_size(struct kunit *test)
{
	const struct size_row *row = test->param_value;
	u32 i, n, at[64], size = 1u << row->log_size;
	struct ornic_table t;

	KUNIT_ASSERT_EQ(test, ornic_table_init(&t, row->log_size, 0), 0);
	n = edges(row->log_size, at);
	KUNIT_EXPECT_TRUE(test, walk_finds(&t, at, 0, size));
	for (i = 0; i < n; i++) {
		KUNIT_ASSERT_EQ(test, ornic_table_reserve_at(&t, at[i]), 0);
		ornic_table_publish(&t, at[i], &at[i]);
	}
	for (i = 0; i < n; i++) {
		KUNIT_EXPECT_TRUE(test, walk_finds(&t, at + i, n - i, size));
		KUNIT_EXPECT_TRUE(test,
				  walk_finds(&t, at + i, n - i, at[n / 2]));
		ornic_table_unlink(&t, at[i]);
		ornic_table_release(&t, at[i]);
	}
	KUNIT_EXPECT_TRUE(test, walk_finds(&t, at, 0, size));
	ornic_table_fini(&t);
}

/* Also below the first index that is handed out, and then it is taken. */
static void table_reserves_at(struct kunit *test)
{
	struct ornic_table *t = test->priv;

	KUNIT_EXPECT_EQ(test, ornic_table_reserve_at(t, 0), 0);
	KUNIT_EXPECT_EQ(test, ornic_table_reserve_at(t, 0), -EBUSY);
	ornic_table_release(t, 0);
	KUNIT_EXPECT_EQ(test, ornic_table_reserve_at(t, 0), 0);
	KUNIT_EXPECT_EQ(test, t->count, 1);
	ornic_table_release(t, 0);
}

static struct kunit_case table_cases[] = {
	KUNIT_CASE(table_reserves_at),
	KUNIT_CASE(table_reserves_upward),
	KUNIT_CASE(table_reuses_late),
	KUNIT_CASE(table_is_random),
	KUNIT_CASE(table_rests),
	KUNIT_CASE(table_rests_for_half),
	KUNIT_CASE_PARAM(table_reserves_from_hint, hint_gen_params),
	KUNIT_CASE(table_finds_the_last_free),
	KUNIT_CASE(table_shows_what_is_published),
	KUNIT_CASE(table_unlinks_once),
	KUNIT_CASE(table_releases_once),
	KUNIT_CASE(table_walks_in_order),
	KUNIT_CASE_PARAM(table_walks_any_size, size_gen_params),
	{}
};

static struct kunit_suite table_suite = {
	.name = "ornic_table",
	.init = table_test_init,
	.exit = table_test_exit,
	.test_cases = table_cases,
};

kunit_test_suite(table_suite);

MODULE_DESCRIPTION("ornic: object table suite");
MODULE_LICENSE("Dual BSD/GPL");
