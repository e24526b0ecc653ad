/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The host's side of env.h: unit tests, simulator, fuzzers, ornic-nic.
 *
 * One engine instance is entered by one thread at a time, so locks only check
 * their own use and RCU is nothing.
 */
#ifndef ORNIC_ENGINE_ENV_HOST_H
#define ORNIC_ENGINE_ENV_HOST_H

#include <assert.h>
#include <errno.h>
#include <linux/types.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>
#ifdef __aarch64__
#include <asm/hwcap.h>
#include <sys/auxv.h>
#endif

typedef uint8_t u8;
typedef uint16_t u16;
typedef uint32_t u32;
typedef uint64_t u64;
typedef int32_t s32;
typedef int64_t s64;

/* clang-format off */
#define __force
#define __acquires(x)
#define __releases(x)
#define __acquire(x)	((void)0)
#define __release(x)	((void)0)
#define __rcu
#define U32_MAX		UINT32_MAX
#define U64_MAX		UINT64_MAX
#define BIT(n)		(1UL << (n))
#define BIT_ULL(n)	(1ULL << (n))

#define ARRAY_SIZE(a)	(sizeof(a) / sizeof((a)[0]))
#ifndef __always_inline
#define __always_inline	inline __attribute__((always_inline))
#endif
#define __aligned(n)	__attribute__((__aligned__(n)))
#define noinline	__attribute__((__noinline__))
#define __maybe_unused __attribute__((__unused__))
#define __uninitialized
#ifdef __SANITIZE_ADDRESS__
#define __flatten
#else
#define __flatten	__attribute__((__flatten__))
#endif
#define likely(x)	__builtin_expect(!!(x), 1)
#define unlikely(x)	__builtin_expect(!!(x), 0)
#define container_of(p, type, member) \
	((type *)((char *)(p) - offsetof(type, member)))
#define fallthrough	__attribute__((__fallthrough__))

#define sizeof_field(type, member) sizeof(((type *)0)->member)
#define min_t(t, a, b)	((t)(a) < (t)(b) ? (t)(a) : (t)(b))
#define max_t(t, a, b)	((t)(a) > (t)(b) ? (t)(a) : (t)(b))
#define ALIGN(x, a)	(((x) + (a) - 1) & ~((__typeof__(x))(a) - 1))
#define DIV_ROUND_UP(n, d)	(((n) + (d) - 1) / (d))

#define cpu_to_le16(v)	((__force __le16)(u16)(v))
#define cpu_to_le32(v)	((__force __le32)(u32)(v))
#define cpu_to_le64(v)	((__force __le64)(u64)(v))
#define le16_to_cpu(v)	((__force u16)(v))
#define le32_to_cpu(v)	((__force u32)(v))
#define le64_to_cpu(v)	((__force u64)(v))
#define cpu_to_be16(v)	((__force __be16)__builtin_bswap16(v))
#define cpu_to_be32(v)	((__force __be32)__builtin_bswap32(v))
#define cpu_to_be64(v)	((__force __be64)__builtin_bswap64(v))
#define be16_to_cpu(v)	__builtin_bswap16((__force u16)(v))
#define be32_to_cpu(v)	__builtin_bswap32((__force u32)(v))
#define be64_to_cpu(v)	__builtin_bswap64((__force u64)(v))

#if __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__
#error "the host side of the engine is little endian"
#endif

#define READ_ONCE(x)	(*(const volatile __typeof__(x) *)&(x))
#define WRITE_ONCE(x, v) (*(volatile __typeof__(x) *)&(x) = (v))
#define data_race(expr)	(expr)
#define smp_mb()	(ornic_meet_other_cpu(), \
			 __atomic_thread_fence(__ATOMIC_SEQ_CST))
#define smp_rmb()	__atomic_thread_fence(__ATOMIC_ACQUIRE)
#define smp_wmb()	__atomic_thread_fence(__ATOMIC_RELEASE)
#define smp_load_acquire(p)	__atomic_load_n(p, __ATOMIC_ACQUIRE)
#define smp_store_release(p, v)	__atomic_store_n(p, v, __ATOMIC_RELEASE)
/* clang-format on */

#ifdef ORNIC_OTHER_CPU
/*
 * Suites only: what another CPU does at this moment. Called where its work can
 * matter: before locks, RCU sections and atomic operations, and at barriers and
 * grace periods. NULL: nothing.
 */
__attribute__((weak)) __thread void (*ornic_other_cpu)(void);

static inline void ornic_meet_other_cpu(void)
{
	if (ornic_other_cpu)
		ornic_other_cpu();
}
#else
#define ornic_meet_other_cpu() ((void)0)
#endif

/**
 * struct ornic_account - what may be allocated on behalf of one party
 * @limit: bytes that may be charged to it
 * @used: bytes that are
 * @fail_at: the so many-th allocation from now fails, 0 = none
 */
struct ornic_account {
	u64 limit;
	u64 used;
	u32 fail_at;
};

/*
 * Allocations of this thread are charged to this account, as the kernel charges
 * them to the memcg of its caller. NULL: not charged.
 */
__attribute__((weak)) __thread struct ornic_account *ornic_account;

/* Before each allocation, so that it is given back to where it was charged. */
struct ornic_block {
	struct ornic_account *account;
	u64 charged;
};

/* What an allocation costs beside its bytes: its head, and that of malloc(). */
#define ORNIC_BLOCK_COST 32

static inline void *ornic_zalloc(size_t size)
{
	struct ornic_account *account = ornic_account;
	u64 charge = (u64)size + ORNIC_BLOCK_COST;
	struct ornic_block *block;

	if (charge < size)
		return NULL;
	if (account && charge > account->limit - account->used)
		return NULL;
	if (account && account->fail_at && !--account->fail_at)
		return NULL;
	block = (struct ornic_block *)calloc(1, sizeof(*block) + size);
	if (!block)
		return NULL;
	if (account)
		account->used += charge;
	block->account = account;
	block->charged = charge;
	return block + 1;
}

static inline void *ornic_vzalloc(size_t size)
{
	return ornic_zalloc(size);
}

static inline void *ornic_alloc_atomic(size_t size)
{
	return ornic_zalloc(size);
}

static inline void ornic_free(void *p)
{
	struct ornic_block *block;

	if (!p)
		return;
	block = (struct ornic_block *)p - 1;
	if (block->account)
		block->account->used -= block->charged;
	free(block);
}

static inline void ornic_vfree(void *p)
{
	ornic_free(p);
}

struct ornic_rcu_head {
	char none;
};

#define ornic_free_rcu(ptr, field) ornic_free(ptr)

typedef struct {
	bool held;
} ornic_lock_t;

static inline void ornic_lock_init(ornic_lock_t *l)
{
	l->held = false;
}

static inline void ornic_lock(ornic_lock_t *l)
{
	ornic_meet_other_cpu();
	assert(!l->held);
	l->held = true;
}

static inline void ornic_unlock(ornic_lock_t *l)
{
	assert(l->held);
	l->held = false;
}

#define ornic_lock_inner(l) ornic_lock(l)
#define ornic_unlock_inner(l) ornic_unlock(l)
#define ornic_lock_held(l) assert((l)->held)

/* clang-format off */
/* One thread needs no RCU; what needs a section is checked all the same. */
__attribute__((weak)) __thread int ornic_rcu_depth;

#define ornic_rcu_read_lock()		(ornic_meet_other_cpu(), \
					 (void)ornic_rcu_depth++)
#define ornic_rcu_read_unlock()		((void)ornic_rcu_depth--)
#define ornic_rcu_dereference(p)	(assert(ornic_rcu_depth > 0), (p))
#define ornic_rcu_locked(p)		(p)
#define ornic_rcu_assign(p, v)		((p) = (v))
#define ornic_rcu_wait()		(ornic_meet_other_cpu(), \
					 assert(!ornic_rcu_depth))
/* clang-format on */

struct ornic_counters {
	u64 *v;
	unsigned int n;
};

static inline int ornic_counters_alloc(struct ornic_counters *c, unsigned int n)
{
	c->n = n;
	c->v = (u64 *)ornic_zalloc(n * sizeof(u64));
	return c->v ? 0 : -ENOMEM;
}

static inline void ornic_counters_free(struct ornic_counters *c)
{
	ornic_free(c->v);
}

static inline void ornic_counters_add(struct ornic_counters *c, unsigned int i,
				      u64 delta)
{
	c->v[i] += delta;
}

static inline u64 ornic_counters_sum(struct ornic_counters *c, unsigned int i)
{
	return c->v[i];
}

typedef struct {
	u64 key[2];
} ornic_hash_key_t;

static inline u64 ornic_rotate(u64 x, unsigned int n)
{
	return x << n | x >> (64 - n);
}

static inline void ornic_sip_rounds(u64 v[4], unsigned int n)
{
	while (n--) {
		v[0] += v[1];
		v[2] += v[3];
		v[1] = ornic_rotate(v[1], 13) ^ v[0];
		v[3] = ornic_rotate(v[3], 16) ^ v[2];
		v[0] = ornic_rotate(v[0], 32) + v[3];
		v[2] += v[1];
		v[3] = ornic_rotate(v[3], 21) ^ v[0];
		v[1] = ornic_rotate(v[1], 17) ^ v[2];
		v[2] = ornic_rotate(v[2], 32);
	}
}

/* SipHash-2-4 of 16 bytes, as the kernel's siphash_2u64(). */
static inline u64 ornic_hash128(u64 a, u64 b, const ornic_hash_key_t *key)
{
	const u64 word[] = { a, b, 16ull << 56 };
	u64 v[4] = {
		key->key[0] ^ 0x736f6d6570736575ull,
		key->key[1] ^ 0x646f72616e646f6dull,
		key->key[0] ^ 0x6c7967656e657261ull,
		key->key[1] ^ 0x7465646279746573ull,
	};
	u32 i;

	for (i = 0; i < ARRAY_SIZE(word); i++) {
		v[3] ^= word[i];
		ornic_sip_rounds(v, 2);
		v[0] ^= word[i];
	}
	v[2] ^= 0xff;
	ornic_sip_rounds(v, 4);
	return v[0] ^ v[1] ^ v[2] ^ v[3];
}

#define __ro_after_init
#define ORNIC_CRC32_TABLE "zlib"

/* zlib inverts before and after; the engine wants the bare register. */
static inline u32 ornic_crc32_by_table(u32 crc, const void *p, size_t len)
{
	return ~(u32)crc32_z(~crc & 0xffffffffu, (const Bytef *)p, len);
}

/* clang-format off */
#if defined(__x86_64__)
#define ORNIC_CRC32_X86
#define ornic_has_clmul()	(__builtin_cpu_supports("pclmul") != 0)
#define ornic_xmm_begin()	true
#define ornic_xmm_end()		((void)0)
#define ORNIC_XMM_CLOBBERS	"xmm0", "xmm1", "xmm2", "xmm3", "xmm4", "xmm5", \
				"memory"
#elif defined(__aarch64__)
#define ORNIC_CRC32_ARM64
#define ornic_has_crc32()	((getauxval(AT_HWCAP) & HWCAP_CRC32) != 0)
#endif
/* clang-format on */

#define ornic_cmpxchg64(p, o, n) \
	(ornic_meet_other_cpu(), __sync_val_compare_and_swap(p, o, n))

/* A process has no other security domain to protect from speculation. */
#define ornic_index_nospec(i, n) (i)

typedef struct {
	int v;
} ornic_atomic_t;

static inline int ornic_atomic_read(const ornic_atomic_t *a)
{
	return __atomic_load_n(&a->v, __ATOMIC_SEQ_CST);
}

static inline void ornic_atomic_set(ornic_atomic_t *a, int v)
{
	__atomic_store_n(&a->v, v, __ATOMIC_SEQ_CST);
}

static inline void ornic_atomic_inc(ornic_atomic_t *a)
{
	__atomic_add_fetch(&a->v, 1, __ATOMIC_SEQ_CST);
}

static inline void ornic_atomic_dec(ornic_atomic_t *a)
{
	__atomic_sub_fetch(&a->v, 1, __ATOMIC_SEQ_CST);
}

static inline void ornic_atomic_add(ornic_atomic_t *a, int n)
{
	__atomic_add_fetch(&a->v, n, __ATOMIC_SEQ_CST);
}

static inline int ornic_atomic_cmpxchg(ornic_atomic_t *a, int old, int new_v)
{
	ornic_meet_other_cpu();
	__atomic_compare_exchange_n(&a->v, &old, new_v, false, __ATOMIC_SEQ_CST,
				    __ATOMIC_SEQ_CST);
	return old;
}

static inline bool ornic_atomic_inc_unless_negative(ornic_atomic_t *a)
{
	int v = ornic_atomic_read(a);

	while (v >= 0)
		if (__atomic_compare_exchange_n(&a->v, &v, v + 1, false,
						__ATOMIC_SEQ_CST,
						__ATOMIC_SEQ_CST))
			return true;
	return false;
}

#define ornic_pr_debug(fmt, ...) ((void)0)

/* Always on for the suites; without a trace op it costs one branch. */
#define ornic_trace_on() true
#define ORNIC_DEFINE_TRACE struct ornic_trace_unused

#endif /* ORNIC_ENGINE_ENV_HOST_H */
