/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * CRC-32 of data as long as a packet's, by what is fastest on this CPU.
 *
 * The polynomial is 0x04c11db7, and bits count from the lowest of a byte, as
 * for Ethernet (IEEE 802.3 3.2.9), which IBTA 7.8.1 takes over.
 */
#ifndef ORNIC_ENGINE_CRC32_H
#define ORNIC_ENGINE_CRC32_H

#include "env.h"

/*
 * Go on with the register @crc, which is not inverted, over @len bytes of any
 * alignment. Returns it, not inverted. Any context.
 */
typedef u32 ornic_crc32_fn(u32 crc, const void *data, size_t len);

/**
 * struct ornic_crc32_algo - one implementation
 * @name: for the log
 * @usable: this CPU has what it needs; NULL: always
 * @update: computes
 */
struct ornic_crc32_algo {
	const char *name;
	bool (*usable)(void);
	ornic_crc32_fn *update;
};

/**
 * struct ornic_crc32_choice - what ornic_crc32() uses
 * @algo: for data of @min_len bytes and more; less is faster by table
 * @min_len: in bytes
 * @speed: of @algo over 4 KiB, MB/s
 * @table_speed: that of the table
 * @wrong: the last algorithm whose results are not those of the table, or NULL
 */
struct ornic_crc32_choice {
	const struct ornic_crc32_algo *algo;
	size_t min_len;
	u32 speed;
	u32 table_speed;
	const struct ornic_crc32_algo *wrong;
};

/* What there is for this architecture; the first is the table. */
extern const struct ornic_crc32_algo ornic_crc32_algos[];
extern const u32 ornic_crc32_num_algos;

extern struct ornic_crc32_choice ornic_crc32_chosen;

/**
 * ornic_crc32_measure - find the fastest algorithm
 * @algos: the first is the reference; another must be clearly faster
 * @n: how many
 * @clock: returns the time in ns
 * @choice: set
 *
 * Those that this CPU cannot run, and those whose results are not those of the
 * reference, are not considered.
 *
 * Context: process.
 */
void ornic_crc32_measure(const struct ornic_crc32_algo *algos, u32 n,
			 u64 (*clock)(void), struct ornic_crc32_choice *choice);

/**
 * ornic_crc32_select - use the fastest algorithm from now on
 * @clock: returns the time in ns
 *
 * Without it the one of crc32.c is used, which is the same on all CPUs.
 *
 * Context: process, in the kernel while the module is initialised; before there
 * is an engine. Takes some milliseconds.
 * Return: what was chosen.
 */
const struct ornic_crc32_choice *ornic_crc32_select(u64 (*clock)(void));

/*
 * crc32.c. It starts at a multiple of ORNIC_CRC32_ALIGN, so that its loop lies in one
 * page: QEMU does not chain a block of code that lies in two, and looks it up each round.
 * With sanitizers the code is longer than that.
 */
#define ORNIC_CRC32_ALIGN 1024

ornic_crc32_fn ornic_crc32_portable __aligned(ORNIC_CRC32_ALIGN);

/**
 * ornic_crc32 - go on with a CRC-32
 * @crc: register so far, not inverted
 * @data: what comes next, of any alignment
 * @len: bytes
 *
 * Context: any.
 * Return: the register afterwards, not inverted.
 */
static inline u32 ornic_crc32(u32 crc, const void *data, size_t len)
{
	if (len < ornic_crc32_chosen.min_len)
		return ornic_crc32_by_table(crc, data, len);
	return ornic_crc32_chosen.algo->update(crc, data, len);
}

#endif /* ORNIC_ENGINE_CRC32_H */
