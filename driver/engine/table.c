// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Object tables. A chunk, once there, stays until the end, so a lookup needs
 * RCU for the object only. An index is in one of three states: free, reserved
 * (its bit in @used is set) and published (its slot is set, too).
 */
#include "table.h"

#define LOG_BITS 6
#define BITS (1u << LOG_BITS)

static_assert(LOG_BITS * ORNIC_TABLE_LEVELS >= ORNIC_LOG_MAX_TABLE);

static bool test_used(const struct ornic_table *t, u32 index)
{
	return t->used[0][index / BITS] >> (index % BITS) & 1;
}

/* Those of a word that can be taken. */
static u64 free_of_word(const struct ornic_table *t, u32 word)
{
	return ~(t->used[0][word] | (t->resting ? t->resting[word] : 0));
}

/* First free index in [@from, @to), or @to. Whole words at a time. */
static u32 find_free(const struct ornic_table *t, u32 from, u32 to)
{
	u64 unused;
	u32 index;

	while (from < to) {
		unused = free_of_word(t, from / BITS) >> (from % BITS);
		if (unused) {
			index = from + (u32)__builtin_ctzll(unused);
			return min_t(u32, index, to);
		}
		from = (from / BITS + 1) * BITS;
	}
	return to;
}

/* Words of a bitmap of all indices. */
static u32 num_words(const struct ornic_table *t)
{
	return DIV_ROUND_UP(t->size, BITS);
}

/*
 * First index in [@from, @to) that is used; @to, at most the size, if none. Up to the
 * bitmap that has something behind this place, and down again to what that is.
 */
static u32 find_used(const struct ornic_table *t, u32 from, u32 to)
{
	u32 level = 0;
	u64 set;

	while ((u64)from << (level * LOG_BITS) < to) {
		set = READ_ONCE(t->used[level][from / BITS]) >> (from % BITS);
		if (!set) {
			from = from / BITS + 1;
			level++;
			continue;
		}
		from += (u32)__builtin_ctzll(set);
		if (!level)
			return min_t(u32, from, to);
		from *= BITS;
		level--;
	}
	return to;
}

static void set_used(struct ornic_table *t, u32 index)
{
	u64 *word;
	u32 i;

	for (i = 0; i < t->levels; i++) {
		word = &t->used[i][index / BITS];
		WRITE_ONCE(*word, *word | 1ull << (index % BITS));
		index /= BITS;
	}
	WRITE_ONCE(t->count, t->count + 1);
}

static void clear_used(struct ornic_table *t, u32 index)
{
	u64 *word;
	u32 i;

	for (i = 0; i < t->levels; i++) {
		word = &t->used[i][index / BITS];
		WRITE_ONCE(*word, *word & ~(1ull << (index % BITS)));
		if (*word)
			break;
		index /= BITS;
	}
	WRITE_ONCE(t->count, t->count - 1);
}

/* What was released may be taken again. */
static void end_rest(struct ornic_table *t)
{
	memset(t->resting, 0, num_words(t) * sizeof(u64));
	t->nresting = 0;
}

static void rest_index(struct ornic_table *t, u32 index)
{
	if (t->nresting >= t->size / 2)
		end_rest(t);
	t->resting[index / BITS] |= 1ull << (index % BITS);
	t->nresting++;
}

static int init_used(struct ornic_table *t)
{
	u32 at[ORNIC_TABLE_LEVELS];
	u32 words = t->size, total = 0, i;
	u64 *used;

	do {
		words = DIV_ROUND_UP(words, BITS);
		at[t->levels++] = total;
		total += words;
	} while (words > 1);
	used = ornic_vzalloc(total * sizeof(*used));
	if (!used)
		return -ENOMEM;
	for (i = 0; i < t->levels; i++)
		t->used[i] = used + at[i];
	return 0;
}

int ornic_table_init(struct ornic_table *t, u32 log_size, u32 first)
{
	int err;

	memset(t, 0, sizeof(*t));
	ornic_lock_init(&t->lock);
	t->size = 1u << log_size;
	t->first = first;
	t->next = first;
	err = init_used(t);
	if (err)
		return err;
	t->chunk = ornic_vzalloc(DIV_ROUND_UP(t->size, ORNIC_CHUNK) *
				 sizeof(*t->chunk));
	if (!t->chunk) {
		ornic_vfree(t->used[0]);
		return -ENOMEM;
	}
	return 0;
}

int ornic_table_init_random(struct ornic_table *t, u32 log_size, u32 first)
{
	int err = ornic_table_init(t, log_size, first);

	if (err)
		return err;
	t->resting = ornic_vzalloc(num_words(t) * sizeof(u64));
	if (t->resting)
		return 0;
	ornic_table_fini(t);
	return -ENOMEM;
}

void ornic_table_fini(struct ornic_table *t)
{
	u32 i;

	if (!t->chunk)
		return;
	for (i = 0; i < DIV_ROUND_UP(t->size, ORNIC_CHUNK); i++)
		ornic_free(ornic_rcu_locked(t->chunk[i]));
	ornic_vfree(t->resting);
	ornic_vfree(t->chunk);
	ornic_vfree(t->used[0]);
	t->resting = NULL;
	t->chunk = NULL;
}

/* The chunk of @index; allocated outside of the lock, since that may sleep. */
static int ensure_chunk(struct ornic_table *t, u32 index)
{
	struct ornic_chunk __rcu **at = &t->chunk[index >> ORNIC_CHUNK_SHIFT];
	struct ornic_chunk *fresh;
	bool there;

	ornic_lock(&t->lock);
	there = ornic_rcu_locked(*at);
	ornic_unlock(&t->lock);
	if (there)
		return 0;

	fresh = ornic_zalloc(sizeof(*fresh));
	if (!fresh)
		return -ENOMEM;
	ornic_lock(&t->lock);
	if (!ornic_rcu_locked(*at)) {
		ornic_rcu_assign(*at, fresh);
		fresh = NULL;
	}
	ornic_unlock(&t->lock);
	ornic_free(fresh);
	return 0;
}

/* The first free index from @from on, around the end. */
static int take_from(struct ornic_table *t, u32 from)
{
	u32 index = find_free(t, from, t->size);

	if (index == t->size) {
		index = find_free(t, t->first, from);
		if (index == from)
			return -ENOSPC;
	}
	set_used(t, index);
	t->next = index + 1 < t->size ? index + 1 : t->first;
	return (int)index;
}

static int take_index(struct ornic_table *t, u32 from)
{
	int index;

	ornic_lock(&t->lock);
	if (from < t->first || from >= t->size)
		from = t->next;
	index = take_from(t, from);
	if (index < 0 && t->nresting) {
		end_rest(t);
		index = take_from(t, from);
	}
	ornic_unlock(&t->lock);
	return index;
}

int ornic_table_reserve(struct ornic_table *t, u32 hint)
{
	int index = take_index(t, hint);
	int err;

	if (index < 0)
		return index;
	err = ensure_chunk(t, (u32)index);
	if (err) {
		ornic_table_release(t, (u32)index);
		return err;
	}
	return index;
}

int ornic_table_reserve_random(struct ornic_table *t, u32 random)
{
	return ornic_table_reserve(t, t->first + random % (t->size - t->first));
}

static int take_this(struct ornic_table *t, u32 index)
{
	int err = 0;

	ornic_lock(&t->lock);
	if (test_used(t, index))
		err = -EBUSY;
	else
		set_used(t, index);
	ornic_unlock(&t->lock);
	return err;
}

int ornic_table_reserve_at(struct ornic_table *t, u32 index)
{
	int err = take_this(t, index);

	if (err)
		return err;
	err = ensure_chunk(t, index);
	if (err)
		ornic_table_release(t, index);
	return err;
}

static struct ornic_chunk *chunk_locked(struct ornic_table *t, u32 index)
{
	return ornic_rcu_locked(t->chunk[index >> ORNIC_CHUNK_SHIFT]);
}

void ornic_table_publish(struct ornic_table *t, u32 index, void *obj)
{
	ornic_lock(&t->lock);
	ornic_rcu_assign(chunk_locked(t, index)->slot[index % ORNIC_CHUNK],
			 obj);
	ornic_unlock(&t->lock);
}

bool ornic_table_replace(struct ornic_table *t, u32 index, void *old, void *obj)
{
	void __rcu **slot;
	bool same;

	ornic_lock(&t->lock);
	slot = &chunk_locked(t, index)->slot[index % ORNIC_CHUNK];
	same = ornic_rcu_locked(*slot) == old;
	if (same)
		ornic_rcu_assign(*slot, obj);
	ornic_unlock(&t->lock);
	return same;
}

void *ornic_table_unlink(struct ornic_table *t, u32 index)
{
	struct ornic_chunk *chunk;
	void *obj = NULL;

	if (index >= t->size)
		return NULL;
	ornic_lock(&t->lock);
	chunk = chunk_locked(t, index);
	if (chunk) {
		obj = ornic_rcu_locked(chunk->slot[index % ORNIC_CHUNK]);
		ornic_rcu_assign(chunk->slot[index % ORNIC_CHUNK], NULL);
	}
	ornic_unlock(&t->lock);
	return obj;
}

bool ornic_table_retire(struct ornic_table *t, u32 index, void *obj,
			const ornic_atomic_t *users)
{
	bool unused = !ornic_atomic_read(users);

	/* Who has just become its last user may have found it before. */
	if (unused) {
		ornic_rcu_wait();
		unused = !ornic_atomic_read(users);
	}
	if (!unused)
		ornic_table_publish(t, index, obj);
	return unused;
}

void ornic_table_release(struct ornic_table *t, u32 index)
{
	ornic_lock(&t->lock);
	if (test_used(t, index)) {
		clear_used(t, index);
		if (t->resting)
			rest_index(t, index);
	}
	ornic_unlock(&t->lock);
}

void *ornic_table_next_in(struct ornic_table *t, u32 *index, u32 end)
{
	u32 i = *index;
	void *obj;

	for (i = find_used(t, i, end); i < end; i = find_used(t, i + 1, end)) {
		obj = ornic_table_lookup(t, i);
		if (obj) {
			*index = i;
			return obj;
		}
	}
	*index = end;
	return NULL;
}
