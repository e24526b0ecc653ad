// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * ornic_odp_swap CLIENT-DEVICE:GID-INDEX SERVER-DEVICE:GID-INDEX explicit|implicit MIB
 *
 * Moves so many MiB by READ, WRITE, SEND and atomics from and to 256 MiB on demand. The caller
 * limits the memory of the process to less, and has swap. The content of a block follows from
 * its number, its generation and the counter in its first word. Each READ is checked, and in
 * the end the whole memory. Fails if a byte is wrong, and if a device has counted an ACK timeout
 * or no page fault.
 */
#include <unistd.h>

#include <bit>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <string_view>
#include <vector>

#include "ends.h"

namespace
{

constexpr size_t block_bytes = 4096, block_words = block_bytes / 8;
constexpr size_t blocks = (256 << 20) / block_bytes;
constexpr size_t most_blocks = 16; /* of a message */
constexpr size_t streams = 4;
constexpr size_t local_blocks = 2048; /* of a stream */

using words = std::span<uint64_t, block_words>;

/* Of 8 words, one has its place in it, so that a block compresses. */
uint64_t word_of(uint64_t hash, size_t i)
{
	return i % 8 ? std::rotl(hash, static_cast<int>(8 * (i % 8))) :
		       hash ^ i;
}

uint64_t hash_of(size_t block, uint32_t generation)
{
	uint64_t x = (block + 1) << 32 | generation;

	x = (x ^ x >> 31) * 0x7fb5d329728ea185;
	x = (x ^ x >> 27) * 0x81dadef4bc2dd44d;
	return x ^ x >> 33;
}

/* The memory of the server, and what has to be there. */
class area {
public:
	area()
		: memory_(blocks * block_bytes)
		, generations_(blocks)
		, counters_(blocks)
	{
		/* The other ones have no page yet. */
		for (size_t block = 0; block < blocks; block++)
			if (block / most_blocks % 8)
				change(block);
	}

	[[nodiscard]] std::span<std::byte> bytes() const
	{
		return memory_.bytes();
	}
	[[nodiscard]] uint64_t address(size_t block) const
	{
		return address_of(bytes()) + block * block_bytes;
	}

	/* The next content of a block, which is in the memory from accept() on. */
	void next(size_t block, words to) const
	{
		put(block, generations_[block] + 1, to);
	}
	void accept(size_t block)
	{
		generations_[block]++;
		counters_[block] = hash_of(block, generations_[block]);
	}
	/* By the CPU. */
	void change(size_t block)
	{
		next(block, at(block));
		accept(block);
	}

	/* The first word, which atomics change. */
	uint64_t &counter(size_t block)
	{
		return counters_[block];
	}

	void check_block(size_t block, words got, const char *what) const
	{
		const uint32_t generation = generations_[block];
		const uint64_t hash = hash_of(block, generation);

		for (size_t i = 0; i < block_words; i++) {
			const uint64_t want = !i	 ? counters_[block] :
					      generation ? word_of(hash, i) :
							   0;
			if (got[i] != want)
				fail(std::string(what) + ": block " +
				     std::to_string(block) + ", generation " +
				     std::to_string(generation) + ", word " +
				     std::to_string(i) + ": " +
				     std::to_string(got[i]) + ", want " +
				     std::to_string(want));
		}
	}
	void check_all() const
	{
		for (size_t block = 0; block < blocks; block++)
			check_block(block, at(block), "in the end");
	}

private:
	[[nodiscard]] words at(size_t block) const
	{
		return words(reinterpret_cast<uint64_t *>(address(block)),
			     block_words);
	}
	static void put(size_t block, uint32_t generation, words to)
	{
		const uint64_t hash = hash_of(block, generation);

		for (size_t i = 0; i < block_words; i++)
			to[i] = word_of(hash, i);
	}

	memory memory_;
	std::vector<uint32_t> generations_;
	std::vector<uint64_t> counters_;
};

/* The keys of both ends: of the areas, or of all memory. */
struct keys {
	mr_ptr client, server;
};

struct totals {
	uint64_t bytes, reads, writes, sends, atomics, changes;
};

/* One QP with one request at a time, from and to blocks of its own. */
class stream {
public:
	stream(port &client, port &server, area &all, size_t number)
		: pair_(client, server, qp_options())
		, all_(all)
		, first_(number * (blocks / streams))
		, random_(number + 1)
	{
	}

	/* @local: the part of the client's memory for this stream */
	void use(std::span<std::byte> local, const keys &k)
	{
		local_ = local;
		lkey_ = k.client->lkey;
		srv_lkey_ = k.server->lkey;
		rkey_ = k.server->rkey;
	}

	void start(totals &sum);
	/* True if the request is done; then it is checked. */
	bool is_done();

private:
	enum class kind { read, write, send, add, swap };

	static options qp_options()
	{
		options o;

		o.buffer = block_bytes; /* not used */
		o.mtu = IBV_MTU_4096;
		o.timeout = 20; /* 4 s: what swaps may not get a CPU for long */
		return o;
	}
	[[nodiscard]] words local_block(size_t i) const
	{
		auto bytes = local_.subspan(offset_ + i * block_bytes);

		return words(reinterpret_cast<uint64_t *>(bytes.data()),
			     block_words);
	}
	[[nodiscard]] ibv_sge local_sge(size_t bytes) const
	{
		return { address_of(local_) + offset_,
			 static_cast<uint32_t>(bytes), lkey_ };
	}
	[[nodiscard]] remote_end peer() const
	{
		remote_end end = pair_.server;

		end.rkey = rkey_;
		end.address = all_.address(block_);
		return end;
	}
	void choose();
	void post_put(ibv_wr_opcode opcode);
	void post_atomic();
	bool has_completed(ibv_cq *cq, bool &done) const;
	void check_done();

	pair pair_;
	area &all_;
	size_t first_; /* of its blocks */
	random_numbers random_;
	std::span<std::byte> local_;
	uint32_t lkey_ = 0, srv_lkey_ = 0, rkey_ = 0;
	/* The request: */
	kind kind_ = kind::read;
	size_t block_ = 0, count_ = 0, offset_ = 0;
	uint64_t operand_ = 0;
	bool sent_ = false, received_ = false;
	std::chrono::steady_clock::time_point begin_;
};

void stream::choose()
{
	static constexpr kind often[] = {
		kind::read, kind::read, kind::read, kind::write, kind::write,
		kind::send, kind::send, kind::add,  kind::swap
	};

	kind_ = often[random_.below(std::size(often))];
	count_ = kind_ >= kind::add ? 1 : 1 + random_.below(most_blocks);
	block_ = first_ + random_.below(blocks / streams - count_ + 1);
	offset_ = random_.below(local_blocks - count_ + 1) * block_bytes;
	begin_ = std::chrono::steady_clock::now();
	sent_ = false;
	received_ = kind_ != kind::send;
}

void stream::post_put(ibv_wr_opcode opcode)
{
	const size_t bytes = count_ * block_bytes;

	for (size_t i = 0; i < count_; i++)
		all_.next(block_ + i, local_block(i));
	if (opcode == IBV_WR_SEND)
		pair_.server.post_recv(0, { { all_.address(block_),
					      static_cast<uint32_t>(bytes),
					      srv_lkey_ } });
	pair_.client.post(opcode == IBV_WR_SEND ? request(opcode, 0) :
						  rdma(opcode, 0, peer(), 0),
			  { local_sge(bytes) });
}

void stream::post_atomic()
{
	operand_ = random_.below(UINT32_MAX);
	if (kind_ == kind::add)
		pair_.client.post(atomic(IBV_WR_ATOMIC_FETCH_AND_ADD, 0, peer(),
					 0, operand_),
				  { local_sge(8) });
	else
		pair_.client.post(atomic(IBV_WR_ATOMIC_CMP_AND_SWP, 0, peer(),
					 0, all_.counter(block_), operand_),
				  { local_sge(8) });
}

void stream::start(totals &sum)
{
	if (!random_.below(4)) {
		all_.change(first_ + random_.below(blocks / streams));
		sum.changes++;
	}
	choose();
	sum.bytes += count_ * block_bytes;
	switch (kind_) {
	case kind::read:
		/* The sink is not touched before: its pages may be swapped out. */
		pair_.client.post(rdma(IBV_WR_RDMA_READ, 0, peer(), 0),
				  { local_sge(count_ * block_bytes) });
		sum.reads++;
		break;
	case kind::write:
		post_put(IBV_WR_RDMA_WRITE);
		sum.writes++;
		break;
	case kind::send:
		post_put(IBV_WR_SEND);
		sum.sends++;
		break;
	default:
		post_atomic();
		sum.atomics++;
	}
}

bool stream::has_completed(ibv_cq *cq, bool &done) const
{
	ibv_wc wc;

	if (done)
		return true;
	const int got = ibv_poll_cq(cq, 1, &wc);
	check(got >= 0, "ibv_poll_cq");
	if (got) {
		check_wc(wc, IBV_WC_SUCCESS,
			 "request " + std::to_string(static_cast<int>(kind_)) +
				 " of block " + std::to_string(block_));
		done = true;
	}
	return done;
}

void stream::check_done()
{
	switch (kind_) {
	case kind::read:
		for (size_t i = 0; i < count_; i++)
			all_.check_block(block_ + i, local_block(i), "READ");
		break;
	case kind::write:
	case kind::send:
		for (size_t i = 0; i < count_; i++)
			all_.accept(block_ + i);
		break;
	default:
		check(local_block(0)[0] == all_.counter(block_),
		      "atomic of block " + std::to_string(block_));
		if (kind_ == kind::add)
			operand_ += all_.counter(block_);
		all_.counter(block_) = operand_;
	}
}

bool stream::is_done()
{
	const bool sent = has_completed(pair_.client.send_cq.get(), sent_);
	const bool received =
		has_completed(pair_.server.recv_cq.get(), received_);

	if (sent && received) {
		check_done();
		return true;
	}
	check(std::chrono::steady_clock::now() - begin_ <
		      std::chrono::milliseconds(timeout_ms()),
	      "no completion in time");
	return false;
}

keys make_keys(const port &client, const port &server, bool implicit,
	       std::span<std::byte> local, const area &all)
{
	if (implicit)
		return { register_all_memory(client),
			 register_all_memory(server) };
	return { register_on_demand(client, local),
		 register_on_demand(server, all.bytes()) };
}

void move(std::vector<std::unique_ptr<stream>> &list, uint64_t bytes,
	  totals &sum)
{
	std::vector<bool> busy(list.size());
	size_t left = 0;

	do {
		for (size_t i = 0; i < list.size(); i++) {
			if (busy[i] && list[i]->is_done()) {
				busy[i] = false;
				left--;
			}
			if (!busy[i] && sum.bytes < bytes) {
				list[i]->start(sum);
				busy[i] = true;
				left++;
			}
		}
	} while (left);
}

void run(port &client, port &server, bool implicit, uint64_t bytes)
{
	constexpr size_t part = local_blocks * block_bytes;
	const both_ends timeouts(client, server, "local_ack_timeout_err");
	const both_ends faults(client, server, "page_faults");
	const memory local(streams * part);
	area all;
	const keys k = make_keys(client, server, implicit, local.bytes(), all);
	std::vector<std::unique_ptr<stream>> list;
	totals sum{};

	for (size_t i = 0; i < streams; i++) {
		list.push_back(
			std::make_unique<stream>(client, server, all, i));
		list.back()->use(local.bytes().subspan(i * part, part), k);
	}
	move(list, bytes, sum);
	all.check_all();
	usleep(20000); /* counters may be 10 ms old */
	std::printf("%ju MiB: %ju READs, %ju WRITEs, %ju SENDs, %ju atomics, "
		    "%ju blocks by the CPU\n"
		    "%ju page faults, %ju ACK timeouts\n",
		    uintmax_t(sum.bytes >> 20), uintmax_t(sum.reads),
		    uintmax_t(sum.writes), uintmax_t(sum.sends),
		    uintmax_t(sum.atomics), uintmax_t(sum.changes),
		    uintmax_t(faults.more()), uintmax_t(timeouts.more()));
	check(sum.reads && sum.writes && sum.sends && sum.atomics,
	      "a kind of request is missing");
	check(faults.more(), "no page fault");
	check_equal(timeouts.more(), 0, "ACK timeouts");
}

} /* namespace */

int main(int argc, char **argv)
{
	const std::string_view mode = argc == 5 ? argv[3] : "";

	if (mode != "explicit" && mode != "implicit") {
		std::fprintf(stderr, "usage: ornic_odp_swap CLIENT:GID"
				     " SERVER:GID explicit|implicit MIB\n");
		return 2;
	}
	try {
		port client = open_port(argv[1]);
		port server = open_port(argv[2]);

		run(client, server, mode == "implicit",
		    std::strtoull(argv[4], nullptr, 10) << 20);
	} catch (const failure &what) {
		std::printf("FAILED: %s\n", what.what());
		return 1;
	}
	return 0;
}
