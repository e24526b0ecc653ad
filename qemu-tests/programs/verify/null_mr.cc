// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* Null MRs: zeroes are sent, and what arrives is dropped. */

#include <cerrno>

#include "tests.h"

namespace
{

constexpr size_t size = 300001;

class null_mr : public verify {
protected:
	null_mr()
	{
		for (const port *p : { &on.client, &on.server }) {
			errno = 0;
			if (!mr_ptr(ibv_alloc_null_mr(p->pd.get())) &&
			    errno == EOPNOTSUPP)
				skip(p->name + " has no null MRs");
		}
	}
};

mr_ptr make(const port &p)
{
	mr_ptr mr(ibv_alloc_null_mr(p.pd.get()));

	check(mr != nullptr, "ibv_alloc_null_mr");
	return mr;
}

/* Of an address that nobody has. */
ibv_sge sge(const ibv_mr &mr, size_t bytes)
{
	return { 0x5555'5555'5555'0001, static_cast<uint32_t>(bytes), mr.lkey };
}

void check_zero(std::span<const std::byte> bytes)
{
	for (size_t i = 0; i < bytes.size(); i++)
		if (bytes[i] != std::byte{ 0 })
			fail("byte " + std::to_string(i) + " is not 0");
}

TEST_F(null_mr, null_mr_sends_zeroes)
{
	pair p(on.client, on.server);
	const mr_ptr null = make(on.client);

	fill(p.server.at(0, 2 * size), 1);
	fill(p.client.at(0, 100), 2);
	p.client.post(rdma(IBV_WR_RDMA_WRITE, 1, p.server, 100),
		      { p.client.sge(0, 50), sge(*null, size),
			p.client.sge(50, 50) });
	check_wc(p.client.wait_send(), IBV_WC_SUCCESS, "WRITE");
	check_zero(p.server.at(150, size));
	check(p.server.at(149, 1)[0] == p.client.at(49, 1)[0] &&
		      p.server.at(150 + size, 1)[0] == p.client.at(50, 1)[0],
	      "what is beside the zeroes");

	fill(p.server.at(0, 2 * size), 1);
	p.server.post_recv(2, 0, size);
	p.client.post(request(IBV_WR_SEND, 2), { sge(*null, size) });
	check_wc(p.client.wait_send(), IBV_WC_SUCCESS, "SEND");
	check_equal(p.server.received(2).byte_len, size, "length");
	check_zero(p.server.at(0, size));
}

TEST_F(null_mr, null_mr_drops_what_arrives)
{
	pair p(on.client, on.server);
	const mr_ptr here = make(on.client), there = make(on.server);

	fill(p.server.at(0, size + 64), 3);
	clear(p.client.at(0, size + 64));
	p.client.post(rdma(IBV_WR_RDMA_READ, 1, p.server, 0),
		      { p.client.sge(0, 32), sge(*here, size),
			p.client.sge(32, 32) });
	check_wc(p.client.wait_send(), IBV_WC_SUCCESS, "READ");
	check_fill(p.client.at(0, 32), 3, "what is before it");
	check(p.client.at(32, 1)[0] == p.server.at(32 + size, 1)[0],
	      "what is after it");
	check_clear(p.client.at(64, size), "beside the SGEs");

	p.client.post(atomic(IBV_WR_ATOMIC_FETCH_AND_ADD, 2, p.server, 8, 1),
		      { sge(*here, 8) });
	check_wc(p.client.wait_send(), IBV_WC_SUCCESS, "fetch and add");

	p.server.post_recv(3, { sge(*there, size), p.server.sge(0, 64) });
	fill(p.client.at(0, size + 64), 4);
	p.client.post(request(IBV_WR_SEND, 3), { p.client.sge(0, size + 64) });
	check_wc(p.client.wait_send(), IBV_WC_SUCCESS, "SEND");
	check_equal(p.server.received(3).byte_len, size + 64, "length");
	check(p.server.at(63, 1)[0] == p.client.at(size + 63, 1)[0],
	      "the end of the message");

	/* Nothing of it is left. */
	p.client.post(rdma(IBV_WR_RDMA_WRITE, 4, p.server, 0),
		      { sge(*here, size) });
	check_wc(p.client.wait_send(), IBV_WC_SUCCESS, "WRITE");
	check_zero(p.server.at(0, size));
}

TEST_F(null_mr, null_mr_is_for_no_peer)
{
	const mr_ptr null = make(on.server);

	for (ibv_wr_opcode opcode : { IBV_WR_RDMA_WRITE, IBV_WR_RDMA_READ }) {
		for (uint32_t rkey : { null->lkey, null->rkey }) {
			pair p(on.client, on.server);
			remote_end there = p.server;

			there.rkey = rkey;
			p.client.post(rdma(opcode, 1, there, 0),
				      { p.client.sge(0, 64) });
			check_wc(p.client.wait_send(), IBV_WC_REM_ACCESS_ERR,
				 "access by rkey");
		}
	}
}

TEST_F(null_mr, null_mr_holds_its_pd)
{
	pd_ptr pd(ibv_alloc_pd(on.server.context.get()));

	check(pd != nullptr, "ibv_alloc_pd");
	mr_ptr null(ibv_alloc_null_mr(pd.get()));
	check(null != nullptr, "ibv_alloc_null_mr");
	check_equal(null->length, SIZE_MAX, "length");
	check_equal(ibv_dealloc_pd(pd.get()), EBUSY, "ibv_dealloc_pd");
	null.reset();
	check_equal(ibv_dealloc_pd(pd.release()), 0, "ibv_dealloc_pd");
}

} /* namespace */
