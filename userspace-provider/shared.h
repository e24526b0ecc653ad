/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Access to memory that the device shares: byte order, ordering, locking. */
#ifndef ORNIC_SHARED_H
#define ORNIC_SHARED_H

#include <atomic>
#include <bit>
#include <cstdint>
#include <cstring>
#include <linux/types.h>
#include <pthread.h>
#include <sched.h>

namespace ornic
{

/** Host to little endian, and back: the device's fields are little endian. */
template <typename T> [[nodiscard]] constexpr T le(T value) noexcept
{
	if constexpr (std::endian::native == std::endian::little ||
		      sizeof(T) == 1)
		return value;
	else if constexpr (sizeof(T) == 2)
		return static_cast<T>(__builtin_bswap16(value));
	else if constexpr (sizeof(T) == 4)
		return __builtin_bswap32(value);
	else
		return __builtin_bswap64(value);
}

/** Host to big endian, and back: keys in the place of immediate data. */
[[nodiscard]] constexpr std::uint32_t big_endian(std::uint32_t value) noexcept
{
	if constexpr (std::endian::native == std::endian::big)
		return value;
	else
		return __builtin_bswap32(value);
}

/** An enumerator from a C program, which may be none of its type. */
template <typename Enum>
[[nodiscard]] unsigned int raw(const Enum &value) noexcept
{
	unsigned int number = 0;

	static_assert(sizeof(number) == sizeof(value));
	std::memcpy(&number, &value, sizeof(number));
	return number;
}

/*
 * The other side may be a function on PCI. On arm64 that is in the outer
 * shareable domain, which acquire, release and fence of the language leave out.
 * These barriers include the inner one.
 */
#ifdef __aarch64__

/** What follows in program order is not done before this load. */
template <typename Word>
[[nodiscard]] inline Word load_acquire(const Word &word) noexcept
{
	Word value = __atomic_load_n(&word, __ATOMIC_RELAXED);

	asm volatile("dmb oshld" ::: "memory");
	return le(value);
}

/** Order a store before it against a load after it, for every observer. */
inline void full_barrier() noexcept
{
	asm volatile("dmb osh" ::: "memory");
}

/** What precedes in program order is visible to whoever sees this store. */
inline void store_release(__le32 &word, std::uint32_t value) noexcept
{
	full_barrier();
	__atomic_store_n(&word, le(value), __ATOMIC_RELAXED);
}

#else

template <typename Word>
[[nodiscard]] inline Word load_acquire(const Word &word) noexcept
{
	return le(__atomic_load_n(&word, __ATOMIC_ACQUIRE));
}

inline void full_barrier() noexcept
{
	std::atomic_thread_fence(std::memory_order_seq_cst);
}

inline void store_release(__le32 &word, std::uint32_t value) noexcept
{
	__atomic_store_n(&word, le(value), __ATOMIC_RELEASE);
}

#endif

[[nodiscard]] inline std::uint32_t load_relaxed(const __le32 &word) noexcept
{
	return le(__atomic_load_n(&word, __ATOMIC_RELAXED));
}

/**
 * A lock for a few dozen instructions. It gives up the CPU when the holder
 * does not let go soon: on a machine with fewer CPUs than threads the holder
 * may be preempted.
 */
class spin_lock {
public:
	/** Never lock: what it protects is used by one thread at a time. */
	void omit() noexcept
	{
		omitted_ = true;
	}

	void lock() noexcept
	{
		if (omitted_)
			return;
		while (held_.exchange(true, std::memory_order_acquire))
			wait();
	}

	void unlock() noexcept
	{
		if (omitted_)
			return;
		held_.store(false, std::memory_order_release);
	}

private:
	static constexpr int spins = 128;

	void wait() const noexcept
	{
		for (int i = 0; held_.load(std::memory_order_relaxed); ++i) {
			if (i >= spins)
				sched_yield();
#if defined(__x86_64__) || defined(__i386__)
			__builtin_ia32_pause();
#endif
		}
	}

	std::atomic<bool> held_{ false };
	bool omitted_ = false;
};

/** A lock for what takes longer. std::mutex needs libstdc++ at run time. */
class mutex {
public:
	void lock() noexcept
	{
		pthread_mutex_lock(&held_);
	}

	void unlock() noexcept
	{
		pthread_mutex_unlock(&held_);
	}

private:
	pthread_mutex_t held_ = PTHREAD_MUTEX_INITIALIZER;
};

/** Holds a spin_lock or a mutex for the length of a scope. */
template <typename Lock> class lock_guard {
public:
	explicit lock_guard(Lock &lock) noexcept
		: lock_(lock)
	{
		lock_.lock();
	}
	~lock_guard()
	{
		lock_.unlock();
	}
	lock_guard(const lock_guard &) = delete;
	lock_guard &operator=(const lock_guard &) = delete;

private:
	Lock &lock_;
};

} // namespace ornic

#endif // ORNIC_SHARED_H
