// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * What goes wrong on a QP: the status at each side, the states after it, and
 * the bytes that must not have moved.
 */

#include <algorithm>
#include <atomic>
#include <chrono>
#include <thread>

#include "tests.h"

namespace
{

class errors : public verify {};

constexpr size_t place = 8192;

/*
 * The client's request fails. Where rxe is the one to say why, on the side
 * that @by names, the status is one of several, as kernels differ.
 */
void expect_failure(pair &p, ibv_wc_status status, const port *by = nullptr)
{
	const ibv_wc wc = p.client.wait_send();

	if (by && by->is_rxe)
		check(wc.status != IBV_WC_SUCCESS, "the request succeeds");
	else
		check_wc(wc, status, "request");
	p.client.wait_state(IBV_QPS_ERR);
}

void check_recv_error(pair &p, ibv_wc_status status)
{
	check_wc(p.server.wait_recv(),
		 p.server.on.is_rxe ? IBV_WC_LOC_QP_OP_ERR : status, "receive");
}

/* Anything behind the failed request is flushed. */
void expect_flushed(endpoint &e, uint64_t id)
{
	const ibv_wc wc = e.wait_send();

	check_wc(wc, IBV_WC_WR_FLUSH_ERR, "request behind the failed one");
	check_equal(wc.wr_id, id, "wr_id of the flushed request");
}

/* IBTA 10.3.1.7, C10-104 */
TEST_F(errors, bad_send_lkey)
{
	pair p(on.client, on.server);
	ibv_sge sge = p.client.sge(0, 100);

	sge.lkey ^= 0x5500;
	p.server.post_recv(1, place, 100);
	clear(p.server.at(place, 100));
	p.client.post(request(IBV_WR_SEND, 1), { sge });
	p.client.post(request(IBV_WR_SEND, 2), { p.client.sge(0, 8) });
	expect_failure(p, IBV_WC_LOC_PROT_ERR, &on.client);
	expect_flushed(p.client, 2);
	check_clear(p.server.at(place, 100), "server's buffer");
	check_equal(p.server.state(), IBV_QPS_RTS, "server's state");
}

TEST_F(errors, send_beyond_mr)
{
	pair p(on.client, on.server);

	p.server.post_recv(1, place, 100);
	p.client.post(request(IBV_WR_SEND, 1),
		      { p.client.sge(p.client.opt.buffer - 50, 51) });
	expect_failure(p, IBV_WC_LOC_PROT_ERR, &on.client);
}

TEST_F(errors, bad_recv_lkey)
{
	pair p(on.client, on.server);
	ibv_sge sge = p.server.sge(place, 100);

	sge.lkey ^= 0x5500;
	p.server.post_recv(1, { sge });
	p.client.post(request(IBV_WR_SEND, 1), { p.client.sge(0, 100) });
	expect_failure(p, IBV_WC_REM_OP_ERR);
	check_recv_error(p, IBV_WC_LOC_PROT_ERR);
	p.server.wait_state(IBV_QPS_ERR);
}

/* A read whose local target is not ours to write. */
TEST_F(errors, read_into_foreign_memory)
{
	pair p(on.client, on.server);
	ibv_sge sge = p.client.sge(0, 100);

	sge.lkey ^= 0x5500;
	p.client.post(rdma(IBV_WR_RDMA_READ, 1, p.server, 0), { sge });
	expect_failure(p, IBV_WC_LOC_PROT_ERR);
}

/* IBTA C9-120 and Table 58: remote access error, both QPs in error. */
void refused(pair &p, ibv_send_wr wr, size_t size)
{
	clear(p.server.at(place, 4096));
	p.client.post(wr, { p.client.sge(0, size) });
	p.client.post(request(IBV_WR_SEND, 2), { p.client.sge(0, 8) });
	expect_failure(p, IBV_WC_REM_ACCESS_ERR);
	expect_flushed(p.client, 2);
	p.server.wait_state(IBV_QPS_ERR);
	check_clear(p.server.at(place, 4096), "server's memory");
}

template <ibv_wr_opcode opcode> void wrong_rkey(const ports &on)
{
	pair p(on.client, on.server);
	ibv_send_wr wr = rdma(opcode, 1, p.server, place);

	wr.wr.rdma.rkey ^= 0x100;
	refused(p, wr, 3000);
}

template <ibv_wr_opcode opcode> void out_of_range(const ports &on)
{
	pair p(on.client, on.server);

	refused(p, rdma(opcode, 1, p.server, p.server.opt.buffer - 2999), 3000);
}

/* addr + length wraps around 2^64: no reason to find it in range. */
template <ibv_wr_opcode opcode> void wrapping_range(const ports &on)
{
	pair p(on.client, on.server);
	ibv_send_wr wr = rdma(opcode, 1, p.server, place);

	wr.wr.rdma.remote_addr = ~0ull - 100;
	refused(p, wr, 3000);
}

template <ibv_wr_opcode opcode, int access> void no_right(const ports &on)
{
	pair p(on.client, on.server,
	       { .access = access, .qp_access = all_access });

	refused(p, rdma(opcode, 1, p.server, place), 3000);
}

TEST_F(errors, atomic_without_right)
{
	pair p(on.client, on.server,
	       { .access = all_access & ~IBV_ACCESS_REMOTE_ATOMIC,
		 .qp_access = all_access });

	refused(p, atomic(IBV_WR_ATOMIC_FETCH_AND_ADD, 1, p.server, place, 1),
		8);
}

/* A key of another protection domain is no key. */
TEST_F(errors, rkey_of_other_pd)
{
	pair p(on.client, on.server);
	const pd_ptr pd(ibv_alloc_pd(on.server.context.get()));
	const mr_ptr mr(ibv_reg_mr(pd.get(), p.server.at(place, 1).data(), 4096,
				   all_access));
	ibv_send_wr wr = rdma(IBV_WR_RDMA_WRITE, 1, p.server, place);

	check(pd && mr, "second PD");
	wr.wr.rdma.rkey = mr->rkey;
	refused(p, wr, 3000);
}

TEST_F(errors, rkey_after_dereg)
{
	pair p(on.client, on.server);
	mr_ptr mr(ibv_reg_mr(on.server.pd.get(), p.server.at(place, 1).data(),
			     4096, all_access));
	ibv_send_wr wr = rdma(IBV_WR_RDMA_WRITE, 1, p.server, place);

	wr.wr.rdma.rkey = mr->rkey;
	p.client.post(wr, { p.client.sge(0, 100) });
	(void)p.client.sent(1);
	mr.reset();
	refused(p, wr, 3000);
}

/*
 * While another thread posts WRITEs to it, memory is deregistered: what its
 * owner does with it from then on stays.
 */
TEST_F(errors, writes_end_with_dereg)
{
	constexpr size_t size = 64 << 10;
	constexpr unsigned int rounds = 10, posts = 32;

	for (unsigned int round = 0; round < rounds; round++) {
		pair p(on.client, on.server);
		const memory target(size);
		mr_ptr mr(ibv_reg_mr(on.server.pd.get(), target.bytes().data(),
				     size, all_access));
		ibv_send_wr wr = rdma(IBV_WR_RDMA_WRITE, 1, p.server, 0);
		std::atomic<unsigned int> posted = 0;

		check(mr != nullptr, "MR");
		wr.wr.rdma.rkey = mr->rkey;
		wr.wr.rdma.remote_addr =
			reinterpret_cast<uint64_t>(target.bytes().data());
		fill(p.client.at(0, size), round);
		std::thread poster([&] {
			for (; posted < posts; posted++)
				p.client.post(wr, { p.client.sge(0, size) });
		});
		while (posted < 1 + round % 4)
			std::this_thread::yield();
		mr.reset();
		clear(target.bytes());
		poster.join();
		for (unsigned int i = 0; i < posts; i++)
			(void)p.client.wait_send();
		check_clear(target.bytes(), "memory that was deregistered");
	}
}

/* The QP does not allow what the memory does: invalid request, or access. */
template <ibv_wr_opcode opcode> void qp_without_right(const ports &on)
{
	pair p(on.client, on.server,
	       { .access = all_access, .qp_access = IBV_ACCESS_LOCAL_WRITE });

	clear(p.server.at(place, 100));
	p.client.post(rdma(opcode, 1, p.server, place),
		      { p.client.sge(0, 100) });
	const ibv_wc wc = p.client.wait_send();
	check(wc.status == IBV_WC_REM_INV_REQ_ERR ||
		      wc.status == IBV_WC_REM_ACCESS_ERR,
	      std::string("request: ") + ibv_wc_status_str(wc.status));
	check_clear(p.server.at(place, 100), "server's memory");
	p.client.wait_state(IBV_QPS_ERR);
}

/* IBTA C9-135: an atomic operand is aligned to 8 bytes. */
TEST_F(errors, unaligned_atomic)
{
	pair p(on.client, on.server);

	if (on.client.is_rxe)
		skip("rxe refuses to post it");
	p.client.post(atomic(IBV_WR_ATOMIC_FETCH_AND_ADD, 1, p.server,
			     place + 4, 1),
		      { p.client.sge(0, 8) });
	expect_failure(p, IBV_WC_REM_INV_REQ_ERR);
	p.server.wait_state(IBV_QPS_ERR);
}

template <size_t size> void too_long(const ports &on)
{
	pair p(on.client, on.server);

	clear(p.server.at(place, size));
	p.server.post_recv(1, place, size - 1);
	p.server.post_recv(2, place, size);
	p.client.post(request(IBV_WR_SEND, 1), { p.client.sge(0, size) });
	expect_failure(p, IBV_WC_REM_INV_REQ_ERR, &on.server);
	check_recv_error(p, IBV_WC_LOC_LEN_ERR);
	check_wc(p.server.wait_recv(), IBV_WC_WR_FLUSH_ERR, "next receive");
	p.server.wait_state(IBV_QPS_ERR);
	check_clear(p.server.at(place + size - 1, 1), "beyond the receive");
}

TEST_F(errors, rnr_exhausted)
{
	pair p(on.client, on.server, { .rnr_retry = 2 });

	p.client.post(request(IBV_WR_SEND, 1), { p.client.sge(0, 100) });
	expect_failure(p, IBV_WC_RNR_RETRY_EXC_ERR);
	check_equal(p.server.state(), IBV_QPS_RTS, "server's state");
}

/* 7 is for ever: the message waits for its receive. */
TEST_F(errors, rnr_recovers)
{
	pair p(on.client, on.server, { .rnr_retry = 7 });

	fill(p.client.at(0, 5000), 6);
	p.client.post(request(IBV_WR_SEND, 1), { p.client.sge(0, 5000) });
	std::this_thread::sleep_for(std::chrono::milliseconds(20));
	p.client.nothing_more();
	p.server.post_recv(2, place, 5000);
	(void)p.client.sent(1);
	(void)p.server.received(2);
	check_fill(p.server.at(place, 5000), 6, "after RNR");
}

TEST_F(errors, dead_peer)
{
	pair p(on.client, on.server, { .timeout = 12, .retry = 2 });

	p.server.qp.reset();
	p.client.post(request(IBV_WR_SEND, 1), { p.client.sge(0, 100) });
	p.client.post(request(IBV_WR_SEND, 2), { p.client.sge(0, 100) });
	expect_failure(p, IBV_WC_RETRY_EXC_ERR);
	expect_flushed(p.client, 2);
}

/* IBTA 10.3.1.7: in the error state both queues are flushed, in order. */
TEST_F(errors, flush)
{
	pair p(on.client, on.server);

	for (uint64_t i = 0; i < 10; i++)
		p.client.post_recv(i, place, 100);
	p.client.to_error();
	for (uint64_t i = 0; i < 10; i++) {
		const ibv_wc wc = p.client.wait_recv();

		check_wc(wc, IBV_WC_WR_FLUSH_ERR, "receive");
		check_equal(wc.wr_id, i, "wr_id of flushed receive");
	}
	/* What is posted in the error state is flushed too. */
	if (on.client.is_rxe)
		skip("rxe forgets unsignalled requests");
	p.client.post(request(IBV_WR_SEND, 20, 0), { p.client.sge(0, 8) });
	p.client.post(request(IBV_WR_SEND, 21), { p.client.sge(0, 8) });
	expect_flushed(p.client, 20);
	expect_flushed(p.client, 21);
	p.client.post_recv(22, place, 100);
	check_wc(p.client.wait_recv(), IBV_WC_WR_FLUSH_ERR, "late receive");
	p.client.nothing_more();
}

/* After RESET nothing is left of what was posted, and the QP works again. */
TEST_F(errors, reset_and_reuse)
{
	pair p(on.client, on.server);
	ibv_qp_attr attr{};

	for (int lap = 0; lap < 3; lap++) {
		for (endpoint *e : { &p.client, &p.server }) {
			e->post_recv(99, place, 100);
			attr.qp_state = IBV_QPS_RESET;
			check_equal(ibv_modify_qp(e->qp.get(), &attr,
						  IBV_QP_STATE),
				    0, "to RESET");
			e->nothing_more();
			e->to_init();
		}
		p.server.to_rtr(p.client);
		p.client.to_rtr(p.server);
		p.server.to_rts();
		p.client.to_rts();
		p.server.post_recv(1, place, 3000);
		fill(p.client.at(0, 3000), 5);
		p.client.post(request(IBV_WR_SEND, 2),
			      { p.client.sge(0, 3000) });
		(void)p.client.sent(2);
		(void)p.server.received(1);
		check_fill(p.server.at(place, 3000), 5, "after RESET");
	}
}

/* UC: a refused write is dropped, the sender does not learn of it. */
TEST_F(errors, uc_wrong_rkey)
{
	pair p(on.client, on.server, { .type = IBV_QPT_UC });
	ibv_send_wr wr = rdma(IBV_WR_RDMA_WRITE, 1, p.server, place);

	clear(p.server.at(place, 3000));
	wr.wr.rdma.rkey ^= 0x100;
	p.client.post(wr, { p.client.sge(0, 3000) });
	(void)p.client.sent(1);
	check_clear(p.server.at(place, 3000), "server's memory");
}

TEST_F(errors, write_wrong_rkey)
{
	wrong_rkey<IBV_WR_RDMA_WRITE>(on);
}

TEST_F(errors, read_wrong_rkey)
{
	wrong_rkey<IBV_WR_RDMA_READ>(on);
}

TEST_F(errors, write_out_of_range)
{
	out_of_range<IBV_WR_RDMA_WRITE>(on);
}

TEST_F(errors, read_out_of_range)
{
	out_of_range<IBV_WR_RDMA_READ>(on);
}

TEST_F(errors, write_wrapping_range)
{
	wrapping_range<IBV_WR_RDMA_WRITE>(on);
}

TEST_F(errors, read_wrapping_range)
{
	wrapping_range<IBV_WR_RDMA_READ>(on);
}

TEST_F(errors, write_without_right)
{
	no_right<IBV_WR_RDMA_WRITE, all_access & ~IBV_ACCESS_REMOTE_WRITE>(on);
}

TEST_F(errors, read_without_right)
{
	no_right<IBV_WR_RDMA_READ, all_access & ~IBV_ACCESS_REMOTE_READ>(on);
}

TEST_F(errors, write_to_qp_without_right)
{
	qp_without_right<IBV_WR_RDMA_WRITE>(on);
}

TEST_F(errors, read_from_qp_without_right)
{
	qp_without_right<IBV_WR_RDMA_READ>(on);
}

TEST_F(errors, send_too_long)
{
	too_long<700>(on);
}

TEST_F(errors, send_too_long_many_packets)
{
	too_long<5000>(on);
}

} /* namespace */
