// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* Keys that change: re-registered MRs and memory windows. */

#include <cerrno>

#include "tests.h"

namespace
{

class keys : public verify {};

constexpr size_t size = 100000;
constexpr int no_remote = IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_MW_BIND;

/* The status of a WRITE of the client to @address of the server. */
ibv_wc_status write(pair &p, uint32_t rkey, uint64_t address, size_t bytes)
{
	ibv_send_wr wr = request(IBV_WR_RDMA_WRITE, 1);

	wr.wr.rdma.remote_addr = address;
	wr.wr.rdma.rkey = rkey;
	p.client.post(wr, { p.client.sge(0, bytes) });
	return p.client.wait_send().status;
}

/* Memory of the server with an MR of its own. */
struct region {
	region(port &on, int access)
		: buffer(size)
		, mr(ibv_reg_mr(on.pd.get(), buffer.bytes().data(), size,
				access))
	{
		check(mr != nullptr, "ibv_reg_mr");
		clear(buffer.bytes());
	}
	[[nodiscard]] uint64_t address(size_t offset = 0) const
	{
		return reinterpret_cast<uint64_t>(buffer.bytes().data()) +
		       offset;
	}

	memory buffer;
	mr_ptr mr;
};

TEST_F(keys, rereg_access)
{
	need_ornic(on);
	pair p(on.client, on.server);
	region r(on.server, IBV_ACCESS_REMOTE_READ);
	const uint32_t key = r.mr->rkey;

	fill(p.client.at(0, size), 1);
	/* Its pages were pinned for reading only. */
	check_equal(ibv_rereg_mr(r.mr.get(), IBV_REREG_MR_CHANGE_ACCESS,
				 nullptr, nullptr, 0, all_access),
		    0, "ibv_rereg_mr");
	check_equal(r.mr->rkey, key, "the key");
	check_equal(write(p, key, r.address(), size), IBV_WC_SUCCESS, "write");
	check_fill(r.buffer.bytes(), 1, "memory");
	check_equal(ibv_rereg_mr(r.mr.get(), IBV_REREG_MR_CHANGE_ACCESS,
				 nullptr, nullptr, 0, IBV_ACCESS_LOCAL_WRITE),
		    0, "ibv_rereg_mr");
	check_equal(write(p, key, r.address(), 1), IBV_WC_REM_ACCESS_ERR,
		    "write without the right");
}

TEST_F(keys, rereg_pd)
{
	need_ornic(on);
	pair p(on.client, on.server);
	region r(on.server, all_access);
	pd_ptr other(ibv_alloc_pd(on.server.context.get()));

	check_equal(ibv_rereg_mr(r.mr.get(), IBV_REREG_MR_CHANGE_PD,
				 other.get(), nullptr, 0, 0),
		    0, "ibv_rereg_mr");
	check_equal(ibv_dealloc_pd(other.get()), EBUSY, "PD in use");
	check_equal(ibv_rereg_mr(r.mr.get(), IBV_REREG_MR_CHANGE_PD,
				 on.server.pd.get(), nullptr, 0, 0),
		    0, "ibv_rereg_mr back");
	check_equal(write(p, r.mr->rkey, r.address(), size), IBV_WC_SUCCESS,
		    "write");
	check_equal(ibv_rereg_mr(r.mr.get(), IBV_REREG_MR_CHANGE_PD,
				 other.get(), nullptr, 0, 0),
		    0, "ibv_rereg_mr");
	check_equal(write(p, r.mr->rkey, r.address(), 1), IBV_WC_REM_ACCESS_ERR,
		    "write into another PD");
	r.mr.reset();
}

TEST_F(keys, rereg_memory)
{
	need_ornic(on);
	pair p(on.client, on.server);
	region r(on.server, all_access);
	memory other(2 * size);
	const auto there = reinterpret_cast<uint64_t>(other.bytes().data());

	clear(other.bytes());
	for (uint32_t round = 1; round < 5; round++) {
		check_equal(ibv_rereg_mr(
				    r.mr.get(), IBV_REREG_MR_CHANGE_TRANSLATION,
				    nullptr, other.bytes().data(), 2 * size, 0),
			    0, "ibv_rereg_mr");
		fill(p.client.at(0, size), round);
		check_equal(write(p, r.mr->rkey, there + size, size),
			    IBV_WC_SUCCESS, "write");
		check_fill(other.bytes().subspan(size, size), round, "new");
		check_clear(r.buffer.bytes(), "old");
	}
	check_equal(write(p, r.mr->rkey, r.address(), 1), IBV_WC_REM_ACCESS_ERR,
		    "write to the old address");
}

TEST_F(keys, rereg_refusals)
{
	need_ornic(on);
	pair p(on.client, on.server);
	region r(on.server, all_access);

	check(ibv_rereg_mr(r.mr.get(), IBV_REREG_MR_CHANGE_ACCESS, nullptr,
			   nullptr, 0, IBV_ACCESS_REMOTE_WRITE) != 0,
	      "remote write without local write");
	check(ibv_rereg_mr(r.mr.get(), IBV_REREG_MR_CHANGE_TRANSLATION, nullptr,
			   reinterpret_cast<void *>(0x1000), size, 0) != 0,
	      "memory that is not there");
	check_equal(write(p, r.mr->rkey, r.address(), size), IBV_WC_SUCCESS,
		    "write afterwards");
}

/* A window of the server, bound by its QP. */
struct window {
	window(port &on, ibv_mw_type t)
		: region_(on, no_remote)
		, mw(ibv_alloc_mw(on.pd.get(), t))
	{
		check(mw != nullptr, "ibv_alloc_mw");
	}

	[[nodiscard]] ibv_mw_bind_info info(unsigned int access, size_t from,
					    size_t bytes) const
	{
		return { region_.mr.get(), region_.address(from), bytes,
			 access };
	}
	void bind_1(endpoint &by, unsigned int access, size_t from,
		    size_t bytes)
	{
		ibv_mw_bind bind{};

		bind.wr_id = 3;
		bind.send_flags = IBV_SEND_SIGNALED;
		bind.bind_info = info(access, from, bytes);
		check_equal(ibv_bind_mw(by.qp.get(), mw.get(), &bind), 0,
			    "ibv_bind_mw");
		check_equal(by.sent(3).opcode, IBV_WC_BIND_MW, "opcode");
	}
	ibv_wc_status bind_2(endpoint &by, unsigned int access, size_t from,
			     size_t bytes)
	{
		ibv_send_wr wr = request(IBV_WR_BIND_MW, 4);

		mw->rkey = ibv_inc_rkey(mw->rkey);
		wr.bind_mw.mw = mw.get();
		wr.bind_mw.rkey = mw->rkey;
		wr.bind_mw.bind_info = info(access, from, bytes);
		by.post(wr, {});
		return by.wait_send().status;
	}

	region region_;
	mw_ptr mw;
};

TEST_F(keys, mw_type_1)
{
	need_ornic(on);
	pair p(on.client, on.server);
	window w(on.server, IBV_MW_TYPE_1);

	for (uint32_t round = 0; round < 300; round++) {
		const size_t from = size_t{ round } * 300;

		w.bind_1(p.server, IBV_ACCESS_REMOTE_WRITE, from, 5000);
		fill(p.client.at(0, 5000), round);
		check_equal(write(p, w.mw->rkey, w.region_.address(from), 5000),
			    IBV_WC_SUCCESS, "write");
		check_fill(w.region_.buffer.bytes().subspan(from, 5000), round,
			   "window");
	}
	check_equal(ibv_dereg_mr(w.region_.mr.get()), EBUSY, "MR in use");
	const uint32_t old = w.mw->rkey;
	w.bind_1(p.server, 0, 0, 0);
	check_equal(write(p, old, w.region_.address(299UL * 300), 1),
		    IBV_WC_REM_ACCESS_ERR, "write through an unbound window");
}

TEST_F(keys, mw_bounds)
{
	need_ornic(on);
	for (size_t offset : { size_t{ 999 }, size_t{ 2901 } }) {
		pair p(on.client, on.server);
		window w(on.server, IBV_MW_TYPE_2);

		check_equal(w.bind_2(p.server, IBV_ACCESS_REMOTE_WRITE, 1000,
				     2000),
			    IBV_WC_SUCCESS, "bind");
		check_equal(write(p, w.mw->rkey, w.region_.address(1000), 2000),
			    IBV_WC_SUCCESS, "write inside");
		clear(w.region_.buffer.bytes());
		check_equal(write(p, w.mw->rkey, w.region_.address(offset),
				  100),
			    IBV_WC_REM_ACCESS_ERR, "write beyond");
		check_clear(w.region_.buffer.bytes(), "memory");
	}
}

TEST_F(keys, mw_local_inv)
{
	need_ornic(on);
	pair p(on.client, on.server);
	window w(on.server, IBV_MW_TYPE_2);

	for (uint32_t round = 0; round < 50; round++) {
		check_equal(w.bind_2(p.server, IBV_ACCESS_REMOTE_WRITE, 0, 100),
			    IBV_WC_SUCCESS, "bind");
		check_equal(write(p, w.mw->rkey, w.region_.address(), 100),
			    IBV_WC_SUCCESS, "write");
		ibv_send_wr wr = request(IBV_WR_LOCAL_INV, 5);
		wr.invalidate_rkey = w.mw->rkey;
		p.server.post(wr, {});
		check_equal(p.server.sent(5).opcode, IBV_WC_LOCAL_INV,
			    "opcode");
	}
	check_equal(write(p, w.mw->rkey, w.region_.address(), 1),
		    IBV_WC_REM_ACCESS_ERR, "write afterwards");
}

TEST_F(keys, mw_send_inv)
{
	need_ornic(on);
	pair p(on.client, on.server);
	window w(on.server, IBV_MW_TYPE_2);

	for (uint32_t round = 0; round < 50; round++) {
		const size_t bytes = size_t{ round } * 100;

		check_equal(w.bind_2(p.server, IBV_ACCESS_REMOTE_WRITE, 0, 100),
			    IBV_WC_SUCCESS, "bind");
		p.server.post_recv(6, 0, 8192);
		ibv_send_wr wr = request(IBV_WR_SEND_WITH_INV, 6);
		wr.invalidate_rkey = w.mw->rkey;
		p.client.post(wr, { p.client.sge(0, bytes) });
		(void)p.client.sent(6);
		const ibv_wc wc = p.server.received(6);
		check(wc.wc_flags & IBV_WC_WITH_INV, "IBV_WC_WITH_INV");
		check_equal(wc.invalidated_rkey, w.mw->rkey, "the key");
		check_equal(wc.byte_len, bytes, "length");
	}
	check_equal(write(p, w.mw->rkey, w.region_.address(), 1),
		    IBV_WC_REM_ACCESS_ERR, "write afterwards");
}

TEST_F(keys, mw_refusals)
{
	need_ornic(on);
	{
		pair p(on.client, on.server);
		window w(on.server, IBV_MW_TYPE_2);

		check_equal(w.bind_2(p.server, IBV_ACCESS_REMOTE_WRITE, 0,
				     size + 1),
			    IBV_WC_MW_BIND_ERR, "more than the MR");
		p.server.wait_state(IBV_QPS_ERR);
	}
	{
		pair p(on.client, on.server);
		window w(on.server, IBV_MW_TYPE_2);

		check_equal(w.bind_2(p.server, 0, 0, 10), IBV_WC_SUCCESS,
			    "bind");
		check_equal(w.bind_2(p.server, 0, 0, 10), IBV_WC_MW_BIND_ERR,
			    "bound twice");
	}
	pair p(on.client, on.server);
	window w(on.server, IBV_MW_TYPE_1);
	ibv_send_wr wr = request(IBV_WR_BIND_MW, 1);

	wr.bind_mw.mw = w.mw.get();
	wr.bind_mw.bind_info = w.info(0, 0, 10);
	check_equal(p.server.try_post(wr, {}), EINVAL, "type 1 by a WR");
	w.bind_1(p.server, IBV_ACCESS_REMOTE_READ, 0, 10);
	check_equal(write(p, w.mw->rkey, w.region_.address(), 1),
		    IBV_WC_REM_ACCESS_ERR, "write to a window for reading");
}

} /* namespace */
