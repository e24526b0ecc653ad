/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Inputs are rows of steps. Each step has a slot of its own, so that the mutator
 * can insert, remove, move and change whole packets, WQEs and commands, and what
 * is changed in one step leaves the others what they are.
 */
#ifndef ORNIC_FUZZ_MUTATE_H
#define ORNIC_FUZZ_MUTATE_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/**
 * struct ornic_fuzz_format - inputs of a fuzzer
 * @head: bytes before the first step
 * @slot: bytes of a step
 * @make: writes a step into a zeroed slot: one that gets far, right but for some of
 *	its choices. @head is the start of the input, @rng the state of
 *	ornic_fuzz_random().
 */
struct ornic_fuzz_format {
	uint32_t head;
	uint32_t slot;
	void (*make)(uint8_t *slot, const uint8_t *head, uint64_t *rng);
};

/* libFuzzer calls these. */
size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t max);
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max,
			       unsigned int seed);

/* A number below @end; 0 if @end is. */
uint32_t ornic_fuzz_random(uint64_t *rng, uint32_t end);

/* What a fuzzer's LLVMFuzzerCustomMutator() does. */
size_t ornic_fuzz_mutate(const struct ornic_fuzz_format *f, uint8_t *data,
			 size_t size, size_t max, unsigned int seed);

#ifdef __cplusplus
}
#endif

#endif /* ORNIC_FUZZ_MUTATE_H */
