// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * RC and UC: every operation, at the sizes where packets begin and end, with
 * the bytes checked at the target and around it.
 */

#include <endian.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstring>

#include "tests.h"

namespace
{

class transfer : public verify {};

constexpr size_t guard = 64;
/* Odd on purpose: no transfer below starts at an aligned place. */
constexpr size_t source = 4096 + 13;
constexpr size_t target = 8192 + 27;
constexpr uint32_t immediate = 0x80c0ffee;

struct operation {
	ibv_wr_opcode opcode;
	bool consumes_recv;
	bool has_imm;
	ibv_wc_opcode sent;
	ibv_wc_opcode received;
};

constexpr operation op_send = { IBV_WR_SEND, true, false, IBV_WC_SEND,
				IBV_WC_RECV };
constexpr operation op_send_imm = { IBV_WR_SEND_WITH_IMM, true, true,
				    IBV_WC_SEND, IBV_WC_RECV };
constexpr operation op_write = { IBV_WR_RDMA_WRITE, false, false,
				 IBV_WC_RDMA_WRITE, IBV_WC_RECV };
constexpr operation op_write_imm = { IBV_WR_RDMA_WRITE_WITH_IMM, true, true,
				     IBV_WC_RDMA_WRITE,
				     IBV_WC_RECV_RDMA_WITH_IMM };
constexpr operation op_read = { IBV_WR_RDMA_READ, false, false,
				IBV_WC_RDMA_READ, IBV_WC_RECV };

std::vector<size_t> boundary_sizes(size_t mtu)
{
	return { 0,
		 1,
		 2,
		 3,
		 4,
		 5,
		 63,
		 64,
		 mtu - 1,
		 mtu,
		 mtu + 1,
		 2 * mtu - 1,
		 2 * mtu,
		 2 * mtu + 1,
		 3 * mtu + 2,
		 4095,
		 4096,
		 4097,
		 (1 << 16) - 1,
		 1 << 16,
		 (1 << 16) + 1 };
}

void check_received(const operation &op, size_t size, const ibv_wc &wc)
{
	check_wc(wc, IBV_WC_SUCCESS, "receive completion");
	check_equal(wc.opcode, op.received, "opcode of receive");
	check_equal(wc.byte_len, size, "byte_len of receive");
	check_equal(!!(wc.wc_flags & IBV_WC_WITH_IMM), op.has_imm,
		    "IBV_WC_WITH_IMM");
	if (op.has_imm)
		check_equal(be32toh(wc.imm_data), immediate, "immediate");
}

/*
 * Whether an unreliable message arrived. A write tells nobody, so an empty
 * send goes after it and takes the receive.
 */
bool arrived(pair &p, const operation &op, ibv_wc &wc)
{
	if (!op.consumes_recv) {
		p.client.post(request(IBV_WR_SEND, 2), {});
		(void)p.client.sent(2);
	}
	return endpoint::wait_for(p.server.recv_cq.get(), timeout_ms() / 20,
				  wc);
}

/*
 * UC messages may be lost where a queue on the way overflows: then the same
 * message goes once more into the same receive. Few may be, and what arrives
 * is whole.
 */
void finish_unreliable(pair &p, const operation &op, size_t size,
		       ibv_send_wr wr, const ibv_sge &local,
		       std::span<std::byte> dest, uint32_t seed)
{
	constexpr int tries = 8;
	ibv_wc wc;

	for (int i = 0; i < tries; i++) {
		const bool got = arrived(p, op, wc);

		if (got && op.consumes_recv)
			return check_received(op, size, wc);
		try {
			if (got) {
				check_fill(dest, seed, "write");
				return;
			}
		} catch (const failure &) {
			p.server.post_recv(seed + 1, 0, 8);
		}
		std::printf("# lost: %s of %zu bytes\n",
			    op.consumes_recv ? "message" : "write", size);
		p.client.post(wr, { local });
		(void)p.client.sent(seed);
	}
	fail(std::to_string(tries) + " messages lost, one after the other");
}

void move_one(pair &p, const operation &op, size_t size, uint32_t seed)
{
	const bool reading = op.opcode == IBV_WR_RDMA_READ;
	const bool reliable = p.client.opt.type == IBV_QPT_RC;
	endpoint &from = reading ? p.server : p.client;
	endpoint &to = reading ? p.client : p.server;
	const ibv_sge local = p.client.sge(reading ? target : source, size);
	ibv_send_wr wr =
		rdma(op.opcode, seed, p.server, reading ? source : target);
	const std::string what = "size " + std::to_string(size);

	fill(from.at(source, size), seed);
	clear(to.at(target - guard, size + 2 * guard));
	if (op.consumes_recv)
		p.server.post_recv(seed + 1, target, size + 8);
	else if (!reliable)
		p.server.post_recv(seed + 1, 0, 8);
	wr.imm_data = htobe32(immediate);
	p.client.post(wr, { local });
	check_equal(p.client.sent(seed).opcode, op.sent,
		    "opcode of send completion");
	if (!reliable)
		finish_unreliable(p, op, size, wr, local, to.at(target, size),
				  seed);
	else if (op.consumes_recv)
		check_received(op, size, p.server.received(seed + 1));
	check_fill(to.at(target, size), seed, what);
	check_clear(to.at(target - guard, guard), what + ", before");
	check_clear(to.at(target + size, guard), what + ", after");
	p.client.nothing_more();
	p.server.nothing_more();
}

void sweep(const ports &on, ibv_qp_type type, const operation &op)
{
	const int largest = std::min<int>(on.client.attr.active_mtu,
					  on.server.attr.active_mtu);
	uint32_t seed = 0;

	for (int m = IBV_MTU_256; m <= largest; m++) {
		if (verify::few_mtus && m != IBV_MTU_1024 && m != largest)
			continue;
		const auto mtu = static_cast<ibv_mtu>(m);
		pair p(on.client, on.server, { .type = type, .mtu = mtu });

		for (size_t size : boundary_sizes(mtu_bytes(mtu)))
			move_one(p, op, size, seed += 2);
	}
	pair p(on.client, on.server, { .type = type });
	for (size_t size : { (1 << 20) - 1, 1 << 20 })
		move_one(p, op, size, seed += 2);
}

template <ibv_qp_type type, const operation &op>
void every_size(const ports &on)
{
	sweep(on, type, op);
}

/* Three lists that cover the same 9001 bytes in different odd pieces. */
constexpr size_t total = 9001;

std::vector<ibv_sge> scattered(const endpoint &e, std::array<size_t, 3> sizes)
{
	std::vector<ibv_sge> list;
	size_t offset = source;

	for (size_t size : sizes) {
		list.push_back(e.sge(offset, size));
		offset += size + 4097; /* a gap that crosses a page */
	}
	list.push_back(e.sge(offset, total - sizes[0] - sizes[1] - sizes[2]));
	return list;
}

std::span<std::byte> bytes_of(const ibv_sge &sge)
{
	return { reinterpret_cast<std::byte *>(sge.addr), sge.length };
}

void fill_list(const std::vector<ibv_sge> &list, uint32_t seed)
{
	std::vector<std::byte> flat(total);
	size_t done = 0;

	fill(flat, seed);
	for (const ibv_sge &sge : list) {
		std::copy_n(&flat[done], sge.length, bytes_of(sge).begin());
		done += sge.length;
	}
}

void check_list(const std::vector<ibv_sge> &list, uint32_t seed)
{
	std::vector<std::byte> flat;

	for (const ibv_sge &sge : list) {
		const auto bytes = bytes_of(sge);

		flat.insert(flat.end(), bytes.begin(), bytes.end());
	}
	check_equal(flat.size(), total, "bytes in the list");
	check_fill(flat, seed, "scattered");
}

template <ibv_qp_type type> void gather_scatter(const ports &on)
{
	pair p(on.client, on.server, { .type = type });
	const std::array<std::array<size_t, 3>, 4> shapes = {
		{ { 1, 1023, 7 },
		  { 0, 4096, 4095 },
		  { 5000, 0, 1 },
		  { 3, 5, 8191 } }
	};
	uint32_t seed = 100;

	for (const auto &out : shapes)
		for (const auto &in : shapes) {
			const auto from = scattered(p.client, out);
			const auto to = scattered(p.server, in);

			fill_list(from, ++seed);
			p.server.post_recv(seed, to);
			p.client.post(request(IBV_WR_SEND, seed), from);
			(void)p.client.sent(seed);
			check_equal(p.server.received(seed).byte_len, total,
				    "byte_len");
			check_list(to, seed);
		}
}

TEST_F(transfer, rc_read_scatter)
{
	pair p(on.client, on.server);
	const auto to = scattered(p.client, { 3, 5000, 11 });

	fill(p.server.at(target, total), 7);
	p.client.post(rdma(IBV_WR_RDMA_READ, 1, p.server, target), to);
	(void)p.client.sent(1);
	check_list(to, 7);
}

/* The buffer is overwritten right after the post, and its key is no key. */
template <ibv_qp_type type> void inline_data(const ports &on)
{
	pair p(on.client, on.server, { .type = type, .inline_size = 96 });
	const uint32_t limit = p.client.cap.max_inline_data;

	check(limit >= 96, "max_inline_data is less than asked for");
	for (uint32_t size = 0; size <= 96; size += size < 20 ? 1 : 19) {
		ibv_send_wr wr = request(IBV_WR_SEND, size,
					 IBV_SEND_SIGNALED | IBV_SEND_INLINE);
		ibv_sge head = p.client.sge(source, size / 3);
		ibv_sge tail = p.client.sge(source + size / 3, size - size / 3);

		head.lkey = tail.lkey = 0xdeadbeef;
		fill(p.client.at(source, size), size);
		clear(p.server.at(target, size + guard));
		p.server.post_recv(size, target, size + guard);
		p.client.post(wr, { head, tail });
		clear(p.client.at(source, size));
		(void)p.client.sent(size);
		check_equal(p.server.received(size).byte_len, size, "byte_len");
		check_fill(p.server.at(target, size), size, "inline");
		check_clear(p.server.at(target + size, guard), "inline");
	}
}

uint64_t load(const endpoint &e, size_t offset)
{
	uint64_t value;

	std::memcpy(&value, e.at(offset, 8).data(), 8);
	return value;
}

void store(const endpoint &e, size_t offset, uint64_t value)
{
	std::memcpy(e.at(offset, 8).data(), &value, 8);
}

TEST_F(transfer, rc_compare_and_swap)
{
	pair p(on.client, on.server);
	const uint64_t old = 0x0123456789abcdef, wanted = 0xfedcba9876543210;

	store(p.server, target - 3, old);
	p.client.post(atomic(IBV_WR_ATOMIC_CMP_AND_SWP, 1, p.server, target - 3,
			     old, wanted),
		      { p.client.sge(64, 8) });
	check_equal(p.client.sent(1).opcode, IBV_WC_COMP_SWAP, "opcode");
	check_equal(load(p.client, 64), old, "value returned");
	check_equal(load(p.server, target - 3), wanted, "value swapped in");

	p.client.post(atomic(IBV_WR_ATOMIC_CMP_AND_SWP, 2, p.server, target - 3,
			     old, 1),
		      { p.client.sge(64, 8) });
	(void)p.client.sent(2);
	check_equal(load(p.client, 64), wanted, "value returned by a miss");
	check_equal(load(p.server, target - 3), wanted, "value after a miss");
}

TEST_F(transfer, rc_fetch_and_add)
{
	pair p(on.client, on.server);
	uint64_t want = ~0ull - 5;

	store(p.server, target - 3, want);
	for (uint64_t i = 0; i < 40; i++) {
		p.client.post(atomic(IBV_WR_ATOMIC_FETCH_AND_ADD, i, p.server,
				     target - 3, i * 3),
			      { p.client.sge(64, 8) });
		check_equal(p.client.sent(i).opcode, IBV_WC_FETCH_ADD,
			    "opcode");
		check_equal(load(p.client, 64), want, "value returned");
		want += i * 3;
	}
	check_equal(load(p.server, target - 3), want, "sum");
}

/*
 * An MR may start anywhere and be known to the peer by any address with the same
 * offset in a page.
 */
TEST_F(transfer, rc_chosen_iova)
{
	pair p(on.client, on.server);
	const auto page = static_cast<uint64_t>(sysconf(_SC_PAGESIZE));
	std::byte *const start = p.server.at(source, 1).data();
	const uint64_t iova =
		0x7000000000ull + reinterpret_cast<uintptr_t>(start) % page;
	const mr_ptr mr(ibv_reg_mr_iova(on.server.pd.get(), start, 70000, iova,
					all_access));

	if (!mr && on.server.is_rxe)
		skip("rxe registers no IOVA");
	check(mr != nullptr, "ibv_reg_mr_iova");
	ibv_send_wr wr = rdma(IBV_WR_RDMA_WRITE, 1, p.server, 0);
	wr.wr.rdma.remote_addr = iova + 1;
	wr.wr.rdma.rkey = mr->rkey;
	fill(p.client.at(source, 69999), 9);
	p.client.post(wr, { p.client.sge(source, 69999) });
	(void)p.client.sent(1);
	check_fill(p.server.at(source + 1, 69999), 9, "at the IOVA");
}

/* A QP may be connected to itself: its requests meet its own responder. */
TEST_F(transfer, rc_self_connected)
{
	endpoint e(on.client, {});

	e.to_init();
	e.to_rtr(e);
	e.to_rts();
	fill(e.at(source, 5000), 3);
	e.post_recv(1, target * 4, 5000);
	e.post(request(IBV_WR_SEND, 2), { e.sge(source, 5000) });
	(void)e.sent(2);
	(void)e.received(1);
	check_fill(e.at(target * 4, 5000), 3, "to itself");
}

TEST_F(transfer, rc_send)
{
	every_size<IBV_QPT_RC, op_send>(on);
}

TEST_F(transfer, rc_send_imm)
{
	every_size<IBV_QPT_RC, op_send_imm>(on);
}

TEST_F(transfer, rc_write)
{
	every_size<IBV_QPT_RC, op_write>(on);
}

TEST_F(transfer, rc_write_imm)
{
	every_size<IBV_QPT_RC, op_write_imm>(on);
}

TEST_F(transfer, rc_read)
{
	every_size<IBV_QPT_RC, op_read>(on);
}

TEST_F(transfer, uc_send)
{
	every_size<IBV_QPT_UC, op_send>(on);
}

TEST_F(transfer, uc_send_imm)
{
	every_size<IBV_QPT_UC, op_send_imm>(on);
}

TEST_F(transfer, uc_write)
{
	every_size<IBV_QPT_UC, op_write>(on);
}

TEST_F(transfer, uc_write_imm)
{
	every_size<IBV_QPT_UC, op_write_imm>(on);
}

TEST_F(transfer, rc_gather_scatter)
{
	gather_scatter<IBV_QPT_RC>(on);
}

TEST_F(transfer, uc_gather_scatter)
{
	gather_scatter<IBV_QPT_UC>(on);
}

TEST_F(transfer, rc_inline)
{
	inline_data<IBV_QPT_RC>(on);
}

TEST_F(transfer, uc_inline)
{
	inline_data<IBV_QPT_UC>(on);
}

} /* namespace */
