// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * ornic_mpi: MPI operations of many sizes, each with data that depends on
 * sender, receiver, place and round, and checked where it arrives. Run by
 * mpirun with any number of ranks from two.
 *
 *   ornic_mpi [ROUNDS]
 *
 * Rank 0 prints what was checked; exits 1, all ranks with it, if a byte or a sum
 * is wrong.
 */

#include <mpi.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <vector>

namespace
{

/* Words of a message: eager, at the edges of packets, rendezvous. */
constexpr int sizes[] = { 0,   1,    2,	   15,	 16,	127,   128,
			  255, 1024, 1025, 8192, 16385, 262144 };

int rank, ranks, rounds = 3;
long checked;

std::uint32_t word(int from, int to, int at, int round)
{
	std::uint32_t x = static_cast<std::uint32_t>(from) * 0x9e3779b9u +
			  static_cast<std::uint32_t>(to) * 0x85ebca6bu +
			  static_cast<std::uint32_t>(at) * 0xc2b2ae35u +
			  static_cast<std::uint32_t>(round) * 0x27d4eb2fu;

	return x ^ x >> 15;
}

void expect(std::uint32_t got, std::uint32_t want, const char *what, int size,
	    int at)
{
	checked++;
	if (got == want)
		return;
	std::fprintf(stderr,
		     "rank %d: %s of %d words: word %d is %#x, not %#x\n", rank,
		     what, size, at, got, want);
	MPI_Abort(MPI_COMM_WORLD, 1);
}

using words = std::vector<std::uint32_t>;

words message(int from, int to, int size, int round)
{
	words data(static_cast<std::size_t>(size));

	for (int i = 0; i < size; i++)
		data[static_cast<std::size_t>(i)] = word(from, to, i, round);
	return data;
}

void expect_message(const std::uint32_t *data, int from, int to, int size,
		    int round, const char *what)
{
	for (int i = 0; i < size; i++)
		expect(data[i], word(from, to, i, round), what, size, i);
}

/* Each rank to each at once, without blocking. */
void send_and_receive(int size, int round)
{
	std::vector<MPI_Request> requests;
	std::vector<words> in, out;

	for (int peer = 0; peer < ranks; peer++) {
		in.push_back(words(static_cast<std::size_t>(size)));
		out.push_back(message(rank, peer, size, round));
	}
	for (int peer = 0; peer < ranks; peer++) {
		const auto p = static_cast<std::size_t>(peer);

		requests.resize(requests.size() + 2);
		MPI_Irecv(in[p].data(), size, MPI_UINT32_T, peer, round,
			  MPI_COMM_WORLD, &requests[2 * p]);
		MPI_Isend(out[p].data(), size, MPI_UINT32_T, peer, round,
			  MPI_COMM_WORLD, &requests[2 * p + 1]);
	}
	MPI_Waitall(2 * ranks, requests.data(), MPI_STATUSES_IGNORE);
	for (int peer = 0; peer < ranks; peer++)
		expect_message(in[static_cast<std::size_t>(peer)].data(), peer,
			       rank, size, round, "message");
}

void broadcast(int size, int round)
{
	const int root = round % ranks;
	words data = message(root, root, size, round);

	if (rank != root)
		data.assign(data.size(), 0);
	MPI_Bcast(data.data(), size, MPI_UINT32_T, root, MPI_COMM_WORLD);
	expect_message(data.data(), root, root, size, round, "broadcast");
}

void reduce(int size, int round)
{
	const words mine = message(rank, 0, size, round);
	words sum(mine.size());

	MPI_Allreduce(mine.data(), sum.data(), size, MPI_UINT32_T, MPI_SUM,
		      MPI_COMM_WORLD);
	for (int i = 0; i < size; i++) {
		std::uint32_t want = 0;

		for (int from = 0; from < ranks; from++)
			want += word(from, 0, i, round);
		expect(sum[static_cast<std::size_t>(i)], want, "allreduce",
		       size, i);
	}
}

void all_to_all(int size, int round)
{
	words out, in(static_cast<std::size_t>(size * ranks));

	for (int to = 0; to < ranks; to++) {
		const words part = message(rank, to, size, round);

		out.insert(out.end(), part.begin(), part.end());
	}
	MPI_Alltoall(out.data(), size, MPI_UINT32_T, in.data(), size,
		     MPI_UINT32_T, MPI_COMM_WORLD);
	for (int from = 0; from < ranks; from++)
		expect_message(&in[static_cast<size_t>(from) * size], from,
			       rank, size, round, "alltoall");
}

} /* namespace */

int main(int argc, char **argv)
{
	long total = 0;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &ranks);
	if (argc > 1)
		rounds = std::atoi(argv[1]);
	for (int round = 0; round < rounds; round++) {
		for (int size : sizes) {
			send_and_receive(size, round);
			broadcast(size, round);
			reduce(size, round);
			all_to_all(size, round);
		}
	}
	MPI_Reduce(&checked, &total, 1, MPI_LONG, MPI_SUM, 0, MPI_COMM_WORLD);
	if (rank == 0)
		std::printf("%d ranks, %ld words checked\n", ranks, total);
	MPI_Finalize();
	return 0;
}
