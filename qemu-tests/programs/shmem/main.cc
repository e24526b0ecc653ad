// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * ornic_shmem: what OpenSHMEM offers, with data that depends on the two PEs, the place
 * and the size, and checked where it arrives. Run by oshrun with any number of PEs from two.
 *
 * PE 0 prints what was checked; exits 1, all PEs with it, if a word is wrong.
 */

#include <shmem.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <vector>

namespace
{

/* Words of a message: inlined, at the edges of packets, many packets. */
constexpr std::size_t sizes[] = { 1, 2, 16, 127, 128, 129, 1024, 16385, 65536 };
constexpr std::size_t longest = 65536;
constexpr long turns = 200;

int self, all;
long checked;

unsigned long word(int from, int to, std::size_t at, std::size_t size)
{
	unsigned long x =
		static_cast<unsigned long>(from) * 0x9e3779b97f4a7c15u +
		static_cast<unsigned long>(to) * 0xc2b2ae3d27d4eb4fu +
		at * 0x165667b19e3779f9u + size;

	return x ^ x >> 29;
}

void expect(unsigned long got, unsigned long want, const char *what,
	    std::size_t at)
{
	checked++;
	if (got == want)
		return;
	std::fprintf(stderr, "PE %d: %s: word %zu is %#lx, not %#lx\n", self,
		     what, at, got, want);
	shmem_global_exit(1);
}

using words = std::vector<unsigned long>;

words message(int from, int to, std::size_t size)
{
	words data(size);

	for (std::size_t i = 0; i < size; i++)
		data[i] = word(from, to, i, size);
	return data;
}

void expect_message(const unsigned long *data, int from, int to,
		    std::size_t size, const char *what)
{
	for (std::size_t i = 0; i < size; i++)
		expect(data[i], word(from, to, i, size), what, i);
}

/* The heap that is the same on all PEs */
struct heap {
	unsigned long *in, *out; /* a message from, and for, each PE */
	unsigned long *flags; /* of each PE */
	unsigned long *cell;
};

/* Each to each at once: first as if from there, then as if from here. */
void put_and_get(const heap &h, std::size_t size)
{
	words back(size);

	for (int to = 0; to < all; to++) {
		const words data = message(self, to, size);

		shmem_ulong_put(h.in + static_cast<std::size_t>(self) * size,
				data.data(), size, to);
		std::copy(data.begin(), data.end(),
			  h.out + static_cast<std::size_t>(to) * size);
	}
	shmem_barrier_all();
	for (int from = 0; from < all; from++) {
		expect_message(h.in + static_cast<std::size_t>(from) * size,
			       from, self, size, "put");
		shmem_ulong_get_nbi(back.data(),
				    h.out + static_cast<std::size_t>(self) *
						    size,
				    size, from);
		shmem_quiet();
		expect_message(back.data(), from, self, size, "get");
	}
	shmem_barrier_all();
}

/* Data, then a flag: who sees the flag sees the data (shmem_fence). */
void put_and_flag(const heap &h, std::size_t size)
{
	const int to = (self + 1) % all, from = (self + all - 1) % all;
	const words data = message(self, to, size);

	shmem_ulong_put(h.in, data.data(), size, to);
	shmem_fence();
	shmem_ulong_atomic_set(h.flags, size, to);
	shmem_ulong_wait_until(h.flags, SHMEM_CMP_EQ, size);
	expect_message(h.in, from, self, size, "put before flag");
	shmem_barrier_all();
}

/* All count on one PE, and the others take turns to own a cell of it. */
void atomics(const heap &h)
{
	unsigned long last = 0;

	*h.cell = 1;
	h.flags[1] = 0;
	shmem_barrier_all();
	for (long i = 0; i < turns; i++) {
		const unsigned long seen =
			shmem_ulong_atomic_fetch_add(h.cell, 1, 0);

		expect(seen > last, true, "count", static_cast<std::size_t>(i));
		last = seen;
		/* While its atomic is to itself, a PE serves no other one. */
		if (self == 0)
			continue;
		while (shmem_ulong_atomic_compare_swap(
			       h.flags + 1, 0,
			       static_cast<unsigned long>(self) + 1, 0) != 0)
			;
		expect(shmem_ulong_atomic_swap(h.flags + 1, 0, 0),
		       static_cast<unsigned long>(self) + 1, "owner",
		       static_cast<std::size_t>(i));
	}
	shmem_barrier_all();
	expect(shmem_ulong_atomic_fetch(h.cell, 0),
	       1 + static_cast<unsigned long>(turns * all), "sum", 0);
	shmem_barrier_all();
}

long sync_words[SHMEM_COLLECT_SYNC_SIZE];

void collect(const heap &h, std::size_t size)
{
	const words data = message(self, 0, size);

	std::copy(data.begin(), data.end(), h.out);
	shmem_barrier_all();
	shmem_fcollect64(h.in, h.out, size, 0, 0, all, sync_words);
	for (int from = 0; from < all; from++)
		expect_message(h.in + static_cast<std::size_t>(from) * size,
			       from, 0, size, "collect");
	shmem_barrier_all();
}

} /* namespace */

int main()
{
	shmem_init();
	self = shmem_my_pe();
	all = shmem_n_pes();
	const auto room =
		longest * static_cast<std::size_t>(all) * sizeof(unsigned long);
	const heap h = { static_cast<unsigned long *>(shmem_malloc(room)),
			 static_cast<unsigned long *>(shmem_malloc(room)),
			 static_cast<unsigned long *>(
				 shmem_calloc(2, sizeof(unsigned long))),
			 static_cast<unsigned long *>(
				 shmem_calloc(1, sizeof(unsigned long))) };

	if (!h.in || !h.out || !h.flags || !h.cell) {
		std::fprintf(stderr, "PE %d: no memory\n", self);
		shmem_global_exit(1);
	}
	for (long &w : sync_words)
		w = SHMEM_SYNC_VALUE;
	shmem_barrier_all();
	for (std::size_t size : sizes) {
		put_and_get(h, size);
		put_and_flag(h, size);
		collect(h, size);
	}
	atomics(h);
	if (self == 0) {
		std::printf("%d PEs, %ld words checked by each\n", all,
			    checked);
		std::fflush(stdout);
	}
	shmem_barrier_all();
	/* shmem_finalize() of Open MPI 4.1 crashes, in an empty program too. */
	if (self == 0)
		shmem_global_exit(0);
	pause();
}
