/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Fixtures that are as new for each input.
 *
 * Under ASan a fixture is made for each input and destroyed after it. The fast
 * build makes one per shape, copies all its memory, and puts that back after each
 * input: nothing of an input can reach the next one.
 */
#ifndef ORNIC_FUZZ_SNAPSHOT_H
#define ORNIC_FUZZ_SNAPSHOT_H

#include <stddef.h>
#include <stdint.h>

#define ORNIC_SNAP_SHAPES 2u

/*
 * A fixture by @make, whose result this returns. In the fast build @make runs
 * once per @shape, below ORNIC_SNAP_SHAPES. What ornic_zalloc() gives out from now
 * on, until ornic_snap_put(), belongs to the fixture.
 */
void *ornic_snap_get(uint32_t shape, void *(*make)(uint32_t shape));

/* The input is at its end; the caller has destroyed the fixture. */
void ornic_snap_put(void);

#ifdef ORNIC_FUZZ_FAST
/*
 * What the fast build has for calloc() and free(). Freed memory is filled with a
 * pattern and not used again before ornic_snap_put().
 */
void *ornic_snap_calloc(size_t n, size_t size);
void ornic_snap_free(void *p);
#endif

#endif /* ORNIC_FUZZ_SNAPSHOT_H */
