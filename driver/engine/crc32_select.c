// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * CRC-32 by the instructions of the CPU, and the choice among all algorithms.
 *
 * A CPU that has an instruction may be slow at it: an emulated one is, and in
 * the kernel the vector registers must be claimed first. The kernel's own
 * crc32_le() uses such instructions on some architectures and releases. So each
 * algorithm is tested and measured, in the way that the kernel's raid6 does.
 */
#include "crc32.h"

#define PAGE_LEN 4096u
#define SELF_TEST_LEN 192u
#define ALIGNMENTS 16u
#define MIN_MEASURED 16u
#define SAMPLES 16u
#define CALLS 4u /* of a sample: reading the clock takes as long as one */

#ifdef ORNIC_CRC32_X86
/*
 * Folding by carry-less multiplication (Gopal et al., "Fast CRC Computation for
 * Generic Polynomials Using PCLMULQDQ Instruction", Intel 2009). A lane of 128
 * bits moves on by n bits if its halves are multiplied by x^(n + 32) and
 * x^(n - 32) modulo the polynomial. Four lanes, so that multiplications overlap.
 * What remains has the CRC of the message.
 */
static const u64 fold_by[] = {
	0x154442bd4, 0x1c6e41596, /* 512 bits */
	0x1751997d0, 0x0ccaa009e, /* 128 bits */
};

#define LANE 16u
#define MIN_FOLD ((size_t)4 * LANE)

/* clang-format off */
/* LANE, moved on by the distance in %xmm0 */
#define FOLD(lane)					\
	"movdqa %%" lane ", %%xmm5\n\t"			\
	"pclmulqdq $0x00, %%xmm0, %%" lane "\n\t"	\
	"pclmulqdq $0x11, %%xmm0, %%xmm5\n\t"		\
	"pxor %%xmm5, %%" lane "\n\t"

/* LANE, moved on, and what is read at AT */
#define FOLD_NEXT(lane, at)				\
	FOLD(lane)					\
	"movdqu " at "(%[p]), %%xmm5\n\t"		\
	"pxor %%xmm5, %%" lane "\n\t"

/* All whole lanes of @len >= MIN_FOLD bytes into @last. Returns what follows. */
static const u8 *fold_lanes(u32 crc, const u8 *p, size_t *len, u8 *last)
{
	size_t n = *len;

	__asm__ __volatile__(
		"movd %[crc], %%xmm0\n\t"
		"movdqu (%[p]), %%xmm1\n\t"
		"movdqu 16(%[p]), %%xmm2\n\t"
		"movdqu 32(%[p]), %%xmm3\n\t"
		"movdqu 48(%[p]), %%xmm4\n\t"
		"pxor %%xmm0, %%xmm1\n\t"
		"movdqu (%[by]), %%xmm0\n\t"
		"jmp 2f\n"
	"1:\n\t"
		FOLD_NEXT("xmm1", "")
		FOLD_NEXT("xmm2", "16")
		FOLD_NEXT("xmm3", "32")
		FOLD_NEXT("xmm4", "48")
	"2:\n\t"
		"add $64, %[p]\n\t"
		"sub $64, %[n]\n\t"
		"cmp $64, %[n]\n\t"
		"jae 1b\n\t"
		"movdqu 16(%[by]), %%xmm0\n\t"
		FOLD("xmm1")
		"pxor %%xmm1, %%xmm2\n\t"
		FOLD("xmm2")
		"pxor %%xmm2, %%xmm3\n\t"
		FOLD("xmm3")
		"pxor %%xmm3, %%xmm4\n\t"
		"jmp 4f\n"
	"3:\n\t"
		FOLD_NEXT("xmm4", "")
		"add $16, %[p]\n\t"
		"sub $16, %[n]\n"
	"4:\n\t"
		"cmp $16, %[n]\n\t"
		"jae 3b\n\t"
		"movdqu %%xmm4, (%[last])\n\t"
		: [p] "+r"(p), [n] "+r"(n)
		: [crc] "r"(crc), [by] "r"(fold_by), [last] "r"(last)
		: "cc", ORNIC_XMM_CLOBBERS);
	*len = n;
	return p;
}

/* clang-format on */

static u32 by_clmul(u32 crc, const void *data, size_t len)
{
	u8 last[LANE] __uninitialized;
	const u8 *p = data;

	if (len < MIN_FOLD || !ornic_xmm_begin())
		return ornic_crc32_portable(crc, data, len);
	p = fold_lanes(crc, p, &len, last);
	ornic_xmm_end();
	crc = ornic_crc32_by_table(0, last, sizeof(last));
	return len ? ornic_crc32_by_table(crc, p, len) : crc;
}

static bool has_clmul(void)
{
	return ornic_has_clmul();
}
#endif

#ifdef ORNIC_CRC32_ARM64
#define CRC32_OF(insn, crc, value) \
	__asm__(".arch_extension crc\n\t" insn : "+r"(crc) : "r"(value))

static u32 by_crc32_insn(u32 crc, const void *data, size_t len)
{
	const u8 *p = data;
	__le64 word;

	for (; len >= sizeof(word); len -= sizeof(word), p += sizeof(word)) {
		memcpy(&word, p, sizeof(word));
		CRC32_OF("crc32x %w0, %w0, %x1", crc, le64_to_cpu(word));
	}
	while (len--) {
		CRC32_OF("crc32b %w0, %w0, %w1", crc, (u32)*p);
		p++;
	}
	return crc;
}

static bool has_crc32_insn(void)
{
	return ornic_has_crc32();
}
#endif

static u32 by_table(u32 crc, const void *data, size_t len)
{
	return ornic_crc32_by_table(crc, data, len);
}

const struct ornic_crc32_algo ornic_crc32_algos[] = {
	{ .name = ORNIC_CRC32_TABLE, .update = by_table },
	{ .name = "portable", .update = ornic_crc32_portable },
#ifdef ORNIC_CRC32_X86
	{ .name = "pclmulqdq", .usable = has_clmul, .update = by_clmul },
#endif
#ifdef ORNIC_CRC32_ARM64
	{ .name = "crc32x", .usable = has_crc32_insn, .update = by_crc32_insn },
#endif
};

const u32 ornic_crc32_num_algos = ARRAY_SIZE(ornic_crc32_algos);

struct ornic_crc32_choice ornic_crc32_chosen __ro_after_init = {
	.algo = &ornic_crc32_algos[1],
	.min_len = 120,
};

static bool is_good(const struct ornic_crc32_algo *algo,
		    const struct ornic_crc32_algo *reference, const u8 *data)
{
	u32 len, seed;

	for (len = 0; len <= SELF_TEST_LEN; len++) {
		seed = len * 0x9e3779b1u;
		if (algo->update(seed, data + len % ALIGNMENTS, len) !=
		    reference->update(seed, data + len % ALIGNMENTS, len))
			return false;
	}
	return algo->update(U32_MAX, data, PAGE_LEN) ==
	       reference->update(U32_MAX, data, PAGE_LEN);
}

/* The least of several samples: the others were interrupted. */
static u64 time_of(const struct ornic_crc32_algo *algo, u64 (*clock)(void),
		   const u8 *data, u32 len)
{
	u64 least = U64_MAX, begun, took;
	u32 sample, call;

	for (sample = 0; sample < SAMPLES; sample++) {
		begun = clock();
		for (call = 0; call < CALLS; call++)
			algo->update(call, data, len);
		took = clock() - begun;
		least = min_t(u64, least, took);
	}
	return least;
}

/*
 * Not for a few percent: the kernel saves and restores the vector registers of
 * a program once for many calls, which the samples do not show.
 */
static bool is_faster(u64 time, u64 than)
{
	return time < than - than / 8;
}

static u32 speed_of(u64 ns)
{
	return ns ? PAGE_LEN * CALLS * 1000 / (u32)min_t(u64, ns, U32_MAX) : 0;
}

/* From which length on @algo is faster than @table; it is at PAGE_LEN. */
static u32 faster_from(const struct ornic_crc32_algo *algo,
		       const struct ornic_crc32_algo *table, u64 (*clock)(void),
		       const u8 *data)
{
	u32 len = PAGE_LEN / 2;

	while (len >= MIN_MEASURED &&
	       is_faster(time_of(algo, clock, data, len),
			 time_of(table, clock, data, len)))
		len /= 2;
	return len * 2;
}

static void fill(u8 *data, u32 len)
{
	u32 i, state = 1;

	for (i = 0; i < len; i++) {
		state = state * 1664525u + 1013904223u;
		data[i] = (u8)(state >> 24);
	}
}

static void measure(const struct ornic_crc32_algo *algos, u32 n,
		    u64 (*clock)(void), const u8 *data,
		    struct ornic_crc32_choice *choice)
{
	const struct ornic_crc32_algo *algo, *best = algos;
	u64 time, table_time, least;

	table_time = time_of(algos, clock, data, PAGE_LEN);
	least = table_time;
	for (algo = algos + 1; algo < algos + n; algo++) {
		if (algo->usable && !algo->usable())
			continue;
		if (!is_good(algo, algos, data)) {
			choice->wrong = algo;
			continue;
		}
		time = time_of(algo, clock, data, PAGE_LEN);
		if (is_faster(time, least)) {
			least = time;
			best = algo;
		}
	}
	choice->algo = best;
	choice->min_len = best == algos ? 0 :
					  faster_from(best, algos, clock, data);
	choice->speed = speed_of(least);
	choice->table_speed = speed_of(table_time);
}

void ornic_crc32_measure(const struct ornic_crc32_algo *algos, u32 n,
			 u64 (*clock)(void), struct ornic_crc32_choice *choice)
{
	u8 *data = ornic_zalloc(PAGE_LEN + ALIGNMENTS);

	memset(choice, 0, sizeof(*choice));
	choice->algo = algos;
	if (!data)
		return;
	fill(data, PAGE_LEN + ALIGNMENTS);
	measure(algos, n, clock, data, choice);
	ornic_free(data);
}

const struct ornic_crc32_choice *ornic_crc32_select(u64 (*clock)(void))
{
	ornic_crc32_measure(ornic_crc32_algos, ornic_crc32_num_algos, clock,
			    &ornic_crc32_chosen);
	return &ornic_crc32_chosen;
}
