// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* Fixtures that are as new for each input. */
#include "snapshot.h"

#ifndef ORNIC_FUZZ_FAST

void *ornic_snap_get(uint32_t shape, void *(*make)(uint32_t shape))
{
	return make(shape);
}

void ornic_snap_put(void)
{
}

#else

#undef calloc
#undef free
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#define ARENA_BYTES (32ul << 20)
#define ARENAS_AT 0x100000000000ul /* the same in each run */
#define BIG (256ul << 10)
#define FREED 0x6b
#define FREED_MAX 2048ul /* more than objects have */

/*
 * @used: bytes given out, from the start on
 * @big: start of the large blocks, from the end on. They are frames, written
 *	before they are read, so they are not put back.
 * @fresh_used, @fresh_big: the same, of the new fixture
 * @copy: the first @fresh_used bytes of the new fixture
 */
struct arena {
	uint8_t *base;
	size_t used;
	size_t big;
	size_t fresh_used;
	size_t fresh_big;
	uint8_t *copy;
	void *fixture;
};

/* Before each block, which it aligns. */
struct head {
	size_t size;
	size_t pad;
};

static struct arena arenas[ORNIC_SNAP_SHAPES];
static struct arena *current;

static void arena_open(struct arena *a)
{
	uintptr_t at = ARENAS_AT + (a - arenas) * ARENA_BYTES;

	a->base = mmap((void *)at, ARENA_BYTES, PROT_READ | PROT_WRITE,
		       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE |
			       MAP_FIXED_NOREPLACE,
		       -1, 0);
	if (a->base != (void *)at) {
		perror("fuzz: mmap");
		abort();
	}
	a->big = ARENA_BYTES;
}

void *ornic_snap_get(uint32_t shape, void *(*make)(uint32_t shape))
{
	struct arena *a = &arenas[shape];

	current = a;
	if (a->fixture)
		return a->fixture;
	arena_open(a);
	a->fixture = make(shape);
	a->fresh_used = a->used;
	a->fresh_big = a->big;
	a->copy = malloc(a->used);
	memcpy(a->copy, a->base, a->used);
	return a->fixture;
}

void ornic_snap_put(void)
{
	struct arena *a = current;

	memcpy(a->base, a->copy, a->fresh_used);
	a->used = a->fresh_used;
	a->big = a->fresh_big;
	current = NULL;
}

void *ornic_snap_calloc(size_t n, size_t size)
{
	struct arena *a = current;
	struct head *h;
	size_t bytes;

	if (!a)
		return calloc(n, size);
	if (__builtin_mul_overflow(n, size, &bytes) || bytes > ARENA_BYTES)
		return NULL;
	bytes = (bytes + sizeof(*h) + 15) & ~15ul;
	if (bytes > a->big - a->used)
		return NULL;
	if (bytes - sizeof(*h) >= BIG) {
		a->big -= bytes;
		h = (struct head *)(a->base + a->big);
	} else {
		h = (struct head *)(a->base + a->used);
		a->used += bytes;
	}
	memset(h, 0, bytes);
	h->size = bytes - sizeof(*h);
	return h + 1;
}

static bool is_ours(const void *p)
{
	uintptr_t at = (uintptr_t)p;

	return at >= ARENAS_AT &&
	       at < ARENAS_AT + ORNIC_SNAP_SHAPES * ARENA_BYTES;
}

void ornic_snap_free(void *p)
{
	size_t size;

	if (!is_ours(p)) {
		free(p);
		return;
	}
	size = ((struct head *)p - 1)->size;
	if (size < BIG)
		memset(p, FREED, size < FREED_MAX ? size : FREED_MAX);
}

#endif
