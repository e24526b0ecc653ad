// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* A mutator of rows of steps. */
#include <string.h>

#include "mutate.h"

#define MAX_SLOT 176u

uint32_t ornic_fuzz_random(uint64_t *rng, uint32_t end)
{
	*rng = *rng * 6364136223846793005ull + 1442695040888963407ull;
	return end ? (uint32_t)(*rng >> 33) % end : 0;
}

/*
 * An input while it is changed.
 *
 * @n: steps; @max: most that fit
 */
struct row {
	const struct ornic_fuzz_format *f;
	uint8_t *head;
	uint8_t *step;
	uint32_t n;
	uint32_t max;
	uint64_t rng;
};

static uint8_t *slot_of(struct row *r, uint32_t i)
{
	return r->step + (size_t)i * r->f->slot;
}

static void make(struct row *r, uint32_t i)
{
	memset(slot_of(r, i), 0, r->f->slot);
	r->f->make(slot_of(r, i), r->head, &r->rng);
}

/* Room for a step at @i. */
static void insert(struct row *r, uint32_t i)
{
	memmove(slot_of(r, i + 1), slot_of(r, i),
		(size_t)(r->n - i) * r->f->slot);
	r->n++;
}

static void erase(struct row *r, uint32_t i)
{
	r->n--;
	memmove(slot_of(r, i), slot_of(r, i + 1),
		(size_t)(r->n - i) * r->f->slot);
}

/* Most fields are in the first bytes. */
static void change(struct row *r, uint32_t i)
{
	uint32_t len = ornic_fuzz_random(&r->rng, 2) ? r->f->slot :
						       r->f->slot / 4;

	LLVMFuzzerMutate(slot_of(r, i), len, len);
}

static void copy(struct row *r, uint32_t i)
{
	uint32_t from = ornic_fuzz_random(&r->rng, r->n);
	uint8_t step[MAX_SLOT];

	memcpy(step, slot_of(r, from), r->f->slot);
	if (r->n < r->max)
		insert(r, i);
	memcpy(slot_of(r, i), step, r->f->slot);
}

static void one_change(struct row *r)
{
	uint32_t i = ornic_fuzz_random(&r->rng, r->n);

	switch (r->n ? ornic_fuzz_random(&r->rng, 8) : 0) {
	case 0:
	case 1:
		i = ornic_fuzz_random(&r->rng, r->n + 1);
		if (r->n == r->max)
			i = ornic_fuzz_random(&r->rng, r->n);
		else
			insert(r, i);
		make(r, i);
		break;
	case 2:
		make(r, i);
		break;
	case 3:
		erase(r, i);
		break;
	case 4:
		copy(r, i);
		break;
	case 5:
		if (r->f->head)
			LLVMFuzzerMutate(r->head, r->f->head, r->f->head);
		break;
	default:
		change(r, i);
		break;
	}
}

size_t ornic_fuzz_mutate(const struct ornic_fuzz_format *f, uint8_t *data,
			 size_t size, size_t max, unsigned int seed)
{
	struct row r = {
		.f = f,
		.head = data,
		.step = data + f->head,
		.rng = seed,
	};
	size_t used;
	uint32_t i;

	if (max < f->head + f->slot)
		return LLVMFuzzerMutate(data, size, max);
	r.max = (max - f->head) / f->slot;
	if (size > f->head)
		r.n = (size - f->head + f->slot - 1) / f->slot;
	if (r.n > r.max)
		r.n = r.max;
	/* The tail of the last step is zero, as it is read. */
	used = f->head + (size_t)r.n * f->slot;
	if (size < used)
		memset(data + size, 0, used - size);
	for (i = 1 + ornic_fuzz_random(&r.rng, 4); i--;)
		one_change(&r);
	return f->head + (size_t)r.n * f->slot;
}
