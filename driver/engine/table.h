/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Object tables: index to pointer, lookups under RCU without a lock, changes
 * under the table's mutex-like lock. Chunks are allocated on demand and freed
 * with the table. Indices are handed out so that one just freed is reused
 * late (stale packets must not meet a new object).
 */
#ifndef ORNIC_ENGINE_TABLE_H
#define ORNIC_ENGINE_TABLE_H

#include "env.h"

#define ORNIC_CHUNK_SHIFT 6
#define ORNIC_CHUNK (1u << ORNIC_CHUNK_SHIFT)

#define ORNIC_LOG_MAX_TABLE 30
/* Bitmaps of so many indices: in each, a bit for 64 of the one before */
#define ORNIC_TABLE_LEVELS 5

struct ornic_chunk {
	void __rcu *slot[ORNIC_CHUNK];
};

/**
 * struct ornic_table - an object table
 * @lock: serialises reserve, publish, remove
 * @chunk: @size / ORNIC_CHUNK chunks, NULL until used
 * @used: bitmap of reserved indices, and behind it in the same memory those of the words
 *	of the one before that are not 0, up to one of a word
 * @levels: how many bitmaps there are
 * @size: indices, a power of two
 * @first: lowest index that is given out
 * @next: where the search for a free index starts
 * @count: indices in use
 * @resting: bitmap of indices that were released and are not handed out yet; NULL
 *	if @next is enough for that
 * @nresting: how many there are
 */
struct ornic_table {
	ornic_lock_t lock;
	struct ornic_chunk __rcu **chunk;
	u64 *used[ORNIC_TABLE_LEVELS];
	u32 levels;
	u32 size;
	u32 first;
	u32 next;
	u32 count;
	u64 *resting;
	u32 nresting;
};

/*
 * Make a table of 2^@log_size indices, at most ORNIC_LOG_MAX_TABLE; those below @first
 * are never handed out. May sleep. Return: 0 or -ENOMEM.
 */
int ornic_table_init(struct ornic_table *t, u32 log_size, u32 first);
/* The same, for ornic_table_reserve_random(). */
int ornic_table_init_random(struct ornic_table *t, u32 log_size, u32 first);
/*
 * Free a table that is no longer used; its objects are the caller's. One that is
 * zeroed, or whose ornic_table_init() failed, is fine.
 */
void ornic_table_fini(struct ornic_table *t);

/*
 * Take a free index, searching upward from @hint and around the end; 0: from the
 * one that was taken last, so that a freed index is reused as late as possible. Nothing is
 * visible yet. May sleep. Return: index, -ENOSPC when full, -ENOMEM.
 */
int ornic_table_reserve(struct ornic_table *t, u32 hint);

/*
 * The same, searching from an index that @random chooses: who has some indices cannot
 * tell the next. An index rests after its release until half of the table does, or
 * nothing else is free. Indices are far from each other, so most of the first objects
 * take a chunk each, 512 bytes.
 */
int ornic_table_reserve_random(struct ornic_table *t, u32 random);

/* Take @index, which may be below @first. May sleep. Return: 0, -EBUSY, -ENOMEM. */
int ornic_table_reserve_at(struct ornic_table *t, u32 index);

/* Make @obj, which is complete, visible at a reserved @index. */
void ornic_table_publish(struct ornic_table *t, u32 index, void *obj);

/* Replace @old by @obj: look-ups find one of them. False if @old is not there. */
bool ornic_table_replace(struct ornic_table *t, u32 index, void *old,
			 void *obj);

/*
 * Remove what is at @index from look-ups and return it, NULL if nothing; the index
 * stays reserved. Of several callers one gets the object. Earlier look-ups may
 * still use it until ornic_rcu_wait().
 */
void *ornic_table_unlink(struct ornic_table *t, u32 index);

/*
 * Wait until @obj, just unlinked, can be freed. @users are counted inside the RCU
 * section of the look-up, so the wait shows all of them; if there are any, @obj is
 * published again and the result is false. Sleeps.
 */
bool ornic_table_retire(struct ornic_table *t, u32 index, void *obj,
			const ornic_atomic_t *users);

/* Give a reserved index back. */
void ornic_table_release(struct ornic_table *t, u32 index);

/**
 * ornic_table_lookup - the object at an index
 * @t: the table
 * @index: any
 *
 * Context: inside an RCU section, whose end is the end of the result.
 * Return: the object or NULL.
 */
static inline void *ornic_table_lookup(const struct ornic_table *t, u32 index)
{
	struct ornic_chunk *chunk;

	if (unlikely(index >= t->size))
		return NULL;
	index = ornic_index_nospec(index, t->size);
	chunk = ornic_rcu_dereference(t->chunk[index >> ORNIC_CHUNK_SHIFT]);
	if (unlikely(!chunk))
		return NULL;
	return ornic_rcu_dereference(chunk->slot[index % ORNIC_CHUNK]);
}

/*
 * The first object in [*@index (updated), @end), NULL if there is none. Inside an
 * RCU section, whose end is the end of the result.
 */
void *ornic_table_next_in(struct ornic_table *t, u32 *index, u32 end);

/* The first object at or above *@index (updated), NULL at the end. */
static inline void *ornic_table_next(struct ornic_table *t, u32 *index)
{
	return ornic_table_next_in(t, index, t->size);
}

#endif /* ORNIC_ENGINE_TABLE_H */
