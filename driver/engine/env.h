/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Where the engine runs. The only file of the engine that knows it: env.h
 * picks the kernel's or the host's side, and both supply the same names:
 *
 *  types       u8..u64, __le and __be conversions, unaligned access
 *  memory      ornic_zalloc, ornic_vzalloc, ornic_free, ornic_vfree,
 *              ornic_free_rcu; ornic_alloc_atomic: any content, any context
 *  locks       ornic_lock_t, ornic_lock, ornic_unlock (softirqs off);
 *              ornic_lock_inner, ornic_unlock_inner: inside another lock
 *  RCU         ornic_rcu_read_lock/unlock, ornic_rcu_dereference,
 *              ornic_rcu_assign, ornic_rcu_locked, ornic_rcu_wait (sleeps)
 *  atomics     ornic_atomic_t, ornic_cmpxchg64
 *  barriers    smp_mb, smp_load_acquire, smp_store_release, READ_ONCE,
 *              WRITE_ONCE, data_race
 *  counters    ornic_counters_alloc/add/sum/free (per CPU in the kernel)
 *  hash        ornic_hash_key_t, ornic_hash128(a, b, key): SipHash of two u64
 *  CRC         ornic_crc32_by_table and ORNIC_CRC32_TABLE, its name
 *  CPU         ORNIC_CRC32_X86: ornic_has_clmul, ornic_xmm_begin (false: not
 *              here), ornic_xmm_end, ORNIC_XMM_CLOBBERS;
 *              ORNIC_CRC32_ARM64: ornic_has_crc32
 *  logging     ornic_pr_debug
 *  compiler    __uninitialized, __flatten, __aligned, noinline,
 *              ornic_copy_once
 *  speculation ornic_index_nospec
 *  tracing     ornic_trace_on: a tracepoint is on; ORNIC_DEFINE_TRACE, once
 */
#ifndef ORNIC_ENGINE_ENV_H
#define ORNIC_ENGINE_ENV_H

/*
 * Marks of the hot path:
 *
 *  __flatten        everything that the function calls in its unit (build_datapath.c)
 *		     is inlined, except functions marked noinline: a call and
 *		     return cost as much as many of the callees.
 *  noinline         rare or long: kept out of flattened callers.
 *  __uninitialized  on-stack structures that are written before they are read.
 *		     CONFIG_INIT_STACK_ALL_ZERO would otherwise write about
 *		     2 KiB of zeros for each packet.
 */

/*
 * Copy a structure from memory that others may write to at any time; only the
 * copy is checked and used. A plain memcpy() allows the compiler to read the
 * source again after the checks.
 */
#define ornic_copy_once(to, from)                    \
	do {                                         \
		memcpy(&(to), (from), sizeof(to));   \
		__asm__ __volatile__("" : "+m"(to)); \
	} while (0)

#ifdef __KERNEL__
#include "env_kernel.h"
#else
#include "env_host.h"
#endif

#endif /* ORNIC_ENGINE_ENV_H */
