/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * What the fuzzers share: input as a stream of numbers that never ends (it
 * reads as zero behind its end), and the checks that hold for every input.
 */
#ifndef ORNIC_FUZZ_H
#define ORNIC_FUZZ_H

#include "pair_fixture.h"

struct ornic_fuzz_objs;

#define ORNIC_FUZZ_WR_BYTES 40

/* Each fuzzer is this function; libFuzzer calls it. */
int LLVMFuzzerTestOneInput(const u8 *data, size_t size);

/**
 * struct ornic_fuzz_in - input not yet used
 */
struct ornic_fuzz_in {
	const u8 *p;
	size_t left;
};

u8 ornic_fuzz_u8(struct ornic_fuzz_in *in);
u16 ornic_fuzz_u16(struct ornic_fuzz_in *in);
u32 ornic_fuzz_u32(struct ornic_fuzz_in *in);
u64 ornic_fuzz_u64(struct ornic_fuzz_in *in);
u32 ornic_fuzz_bytes(struct ornic_fuzz_in *in, void *dst, u32 len);

/* Take the next @slot bytes as the input of a step of its own. */
struct ornic_fuzz_in ornic_fuzz_step(struct ornic_fuzz_in *in, u32 slot);

/* A fixture of QPs of @type, connected; aborts when that fails. */
struct ornic_fixture *ornic_fuzz_open(enum ornic_fix_kind kind, u8 type);

/* Destroy it; aborts when memory was written beside. */
void ornic_fuzz_close(struct ornic_fixture *fix);

/* Both harnesses come to rest, also when timers fire; aborts when they do not. */
void ornic_fuzz_rest(struct ornic_fixture *fix);

/* Take all completions of all CQs; aborts at one that makes no sense. */
void ornic_fuzz_poll(struct ornic_fixture *fix);

/* Give a frame a good ICRC, so that what is behind the check is reached. */
void ornic_fuzz_seal(u8 *frame, u32 len);

/* A send WQE from input that is right but for what the input makes wrong. */
void ornic_fuzz_post(struct ornic_fixture *fix, struct ornic_fuzz_objs *o,
		     struct ornic_th_qp *qp, struct ornic_fuzz_in *in);

/*
 * Input for ornic_fuzz_post() at @p, of up to ORNIC_FUZZ_WR_BYTES: a WQE that is right
 * but for the keys that it names.
 */
void ornic_fuzz_make_wr(u8 *p, u64 *rng);

/* A receive WQE likewise. */
void ornic_fuzz_recv(struct ornic_fixture *fix, struct ornic_fuzz_objs *o,
		     struct ornic_th_qp *qp, struct ornic_fuzz_in *in);

#endif /* ORNIC_FUZZ_H */
