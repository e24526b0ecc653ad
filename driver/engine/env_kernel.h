/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* The kernel's side of env.h. */
#ifndef ORNIC_ENGINE_ENV_KERNEL_H
#define ORNIC_ENGINE_ENV_KERNEL_H

#include <linux/atomic.h>
#include <linux/build_bug.h>
#include <linux/crc32.h>
#include <linux/jump_label.h>
#include <linux/kernel.h>
#include <linux/minmax.h>
#include <linux/mm.h>
#include <linux/nospec.h>
#include <linux/percpu.h>
#include <linux/rcupdate.h>
#include <linux/siphash.h>
#include <linux/slab.h>
#include <linux/spinlock.h>
#include <linux/string.h>
#include <linux/unaligned.h>

#if defined(CONFIG_X86_64) && !defined(CONFIG_UML)
#include <asm/cpufeature.h>
#include <asm/fpu/api.h>
#include <asm/simd.h>
#elif defined(CONFIG_ARM64)
#include <asm/cpufeature.h>
#endif

/* Flattened functions have stack frames that are too large under KASAN. */
#ifdef __SANITIZE_ADDRESS__
#undef __flatten
#define __flatten
#endif

/* Objects are made on behalf of a process, so they are charged to it. */
static inline void *ornic_zalloc(size_t size)
{
	return kzalloc(size, GFP_KERNEL_ACCOUNT);
}

static inline void *ornic_vzalloc(size_t size)
{
	return kvzalloc(size, GFP_KERNEL_ACCOUNT);
}

static inline void *ornic_alloc_atomic(size_t size)
{
	return kmalloc(size, GFP_ATOMIC | __GFP_NOWARN);
}

static inline void ornic_free(void *p)
{
	kfree(p);
}

static inline void ornic_vfree(void *p)
{
	kvfree(p);
}

#define ornic_rcu_head rcu_head
#define ornic_free_rcu(ptr, field) kfree_rcu(ptr, field)

/* clang-format off */
#define ornic_lock_t		spinlock_t
#define ornic_lock_init(l)	spin_lock_init(l)
#define ornic_lock(l)		spin_lock_bh(l)
#define ornic_unlock(l)		spin_unlock_bh(l)
/* Inside another one: softirqs are off. */
#define ornic_lock_inner(l)	spin_lock(l)
#define ornic_unlock_inner(l)	spin_unlock(l)
#define ornic_lock_held(l)	lockdep_assert_held(l)

#define ornic_rcu_read_lock()		rcu_read_lock()
#define ornic_rcu_read_unlock()		rcu_read_unlock()
#define ornic_rcu_dereference(p)	rcu_dereference(p)
#define ornic_rcu_locked(p)		rcu_dereference_protected(p, true)
#define ornic_rcu_assign(p, v)		rcu_assign_pointer(p, v)

/*
 * Destroying is rare and a caller waits for it: spend IPIs on its latency. A CPU
 * that runs a program under nohz_full gets none.
 */
#define ornic_rcu_wait()		synchronize_rcu_expedited()
/* clang-format on */

struct ornic_counters {
	u64 __percpu *v;
	unsigned int n;
};

static inline int ornic_counters_alloc(struct ornic_counters *c, unsigned int n)
{
	c->n = n;
	c->v = __alloc_percpu(n * sizeof(u64), sizeof(u64));
	return c->v ? 0 : -ENOMEM;
}

static inline void ornic_counters_free(struct ornic_counters *c)
{
	free_percpu(c->v);
}

static inline void ornic_counters_add(struct ornic_counters *c, unsigned int i,
				      u64 delta)
{
	this_cpu_add(c->v[i], delta);
}

static inline u64 ornic_counters_sum(struct ornic_counters *c, unsigned int i)
{
	u64 sum = 0;
	int cpu;

	for_each_possible_cpu(cpu)
		sum += READ_ONCE(per_cpu_ptr(c->v, cpu)[i]);
	return sum;
}

#define ornic_hash_key_t siphash_key_t
#define ornic_hash128(a, b, key) siphash_2u64(a, b, key)

#define ORNIC_CRC32_TABLE "crc32_le"

static inline u32 ornic_crc32_by_table(u32 crc, const void *p, size_t len)
{
	return crc32_le(crc, p, len);
}

/* clang-format off */
#if defined(CONFIG_X86_64) && !defined(CONFIG_UML)
#define ORNIC_CRC32_X86
#define ornic_has_clmul()	boot_cpu_has(X86_FEATURE_PCLMULQDQ)
#define ornic_xmm_begin()	(may_use_simd() && (kernel_fpu_begin(), true))
#define ornic_xmm_end()		kernel_fpu_end()
/* The compiler does not use these registers in the kernel. */
#define ORNIC_XMM_CLOBBERS	"memory"
#elif defined(CONFIG_ARM64)
#define ORNIC_CRC32_ARM64
#define ornic_has_crc32()	cpu_have_named_feature(CRC32)
#endif

#define ornic_cmpxchg64(p, o, n)	cmpxchg64(p, o, n)
#define ornic_index_nospec(i, n)	array_index_nospec(i, n)
#define ornic_atomic_t			atomic_t
#define ornic_atomic_read(a)		atomic_read(a)
#define ornic_atomic_set(a, v)		atomic_set(a, v)
#define ornic_atomic_inc(a)		atomic_inc(a)
#define ornic_atomic_dec(a)		atomic_dec(a)
#define ornic_atomic_add(a, n)		atomic_add(n, a)
#define ornic_atomic_cmpxchg(a, o, n)	atomic_cmpxchg(a, o, n)
#define ornic_atomic_inc_unless_negative(a) atomic_inc_unless_negative(a)
#define ornic_pr_debug(fmt, ...)	pr_debug("ornic: " fmt, ##__VA_ARGS__)
/* clang-format on */

/* On while a tracepoint of the host is: no branch is taken otherwise. */
DECLARE_STATIC_KEY_FALSE(ornic_trace_key);
#define ornic_trace_on() static_branch_unlikely(&ornic_trace_key)
#define ORNIC_DEFINE_TRACE DEFINE_STATIC_KEY_FALSE(ornic_trace_key)

#endif /* ORNIC_ENGINE_ENV_KERNEL_H */
