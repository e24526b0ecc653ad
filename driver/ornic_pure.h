/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * What the pure files of the driver need from their surroundings: integer
 * types, byte order, errno. Pure files compute and touch nothing else, so
 * their KUnit suites also run on the host. This is the only file of the
 * driver that depends on where it runs.
 */
#ifndef ORNIC_PURE_H
#define ORNIC_PURE_H

#ifdef __KERNEL__

#include <kunit/visibility.h>
#include <linux/array_size.h>
#include <linux/atomic.h>
#include <linux/errno.h>
#include <linux/export.h>
#include <linux/string.h>
#include <linux/types.h>
#include <asm/barrier.h>
#include <asm/byteorder.h>

#define ORNIC_FOR_KUNIT EXPORT_SYMBOL_IF_KUNIT

#else

#include <endian.h>
#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>
#include <linux/types.h>

typedef __u8 u8;
typedef __u16 u16;
typedef __u32 u32;
typedef __u64 u64;

#ifndef ARRAY_SIZE
#define ARRAY_SIZE(a) (sizeof(a) / sizeof((a)[0]))
#endif

#define ORNIC_FOR_KUNIT(...)

#ifndef cpu_to_le64
#define cpu_to_le16(v) htole16(v)
#define cpu_to_le32(v) htole32(v)
#define cpu_to_le64(v) htole64(v)
#define le16_to_cpu(v) le16toh(v)
#define le32_to_cpu(v) le32toh(v)
#define le64_to_cpu(v) le64toh(v)
#define be16_to_cpu(v) be16toh(v)
#define cpu_to_be16(v) htobe16(v)
#define be32_to_cpu(v) be32toh(v)
#define cpu_to_be32(v) htobe32(v)
#endif

/* The other side of shared memory is a thread of the test, if any. */
#ifndef READ_ONCE
#define READ_ONCE(v) __atomic_load_n(&(v), __ATOMIC_RELAXED)
#define WRITE_ONCE(v, to) __atomic_store_n(&(v), (to), __ATOMIC_RELAXED)
#endif
#define dma_rmb() __atomic_thread_fence(__ATOMIC_ACQUIRE)
#define dma_mb() __atomic_thread_fence(__ATOMIC_SEQ_CST) /* users say why */
#define virt_store_release(p, v) __atomic_store_n(p, v, __ATOMIC_RELEASE)
#define xchg(p, v) __atomic_exchange_n(p, v, __ATOMIC_SEQ_CST)
#define cmpxchg(p, old, new) __sync_val_compare_and_swap(p, old, new)

#endif

/* Values of verbs that the host's headers may be too old to have. */
#define ORNIC_VERBS_FLUSH_GLOBAL (1u << 8)
#define ORNIC_VERBS_FLUSH_PERSISTENT (1u << 9)
#define ORNIC_VERBS_WR_FLUSH 14
#define ORNIC_VERBS_WR_ATOMIC_WRITE 15
#define ORNIC_VERBS_WC_FLUSH 8
#define ORNIC_VERBS_WC_ATOMIC_WRITE 9

#endif /* ORNIC_PURE_H */
