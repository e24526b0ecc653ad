/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Arithmetic of 24-bit packet sequence numbers, IBTA 9.7.2. */
#ifndef ORNIC_ENGINE_PSN_H
#define ORNIC_ENGINE_PSN_H

#include "env.h"

#define ORNIC_PSN_MASK 0xffffffu

/**
 * ornic_psn_add - the PSN @n packets after @psn
 * @psn: PSN
 * @n: packets
 *
 * Return: PSN, wrapped at 2^24.
 */
static inline u32 ornic_psn_add(u32 psn, u32 n)
{
	return (psn + n) & ORNIC_PSN_MASK;
}

/**
 * ornic_psn_diff - signed distance from @b to @a
 * @a: PSN
 * @b: PSN
 *
 * Return: > 0 when @a is ahead of @b, 0 when equal, < 0 when behind; from
 * -2^23 to 2^23 - 1.
 */
static inline s32 ornic_psn_diff(u32 a, u32 b)
{
	return (s32)((a - b) << 8) >> 8;
}

#endif /* ORNIC_ENGINE_PSN_H */
