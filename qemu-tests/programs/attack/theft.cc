// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Keys, handles and numbers of another process, all of them known. The owner has a
 * context of its own; it lives in this process so that both ends can be checked.
 */
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstring>

#include "local.h"

namespace
{

constexpr size_t size = 4096;

class theft : public attack {
protected:
	theft()
		: owners_port(open())
		, thiefs_port(open())
		, owner(owners_port, owners_port)
		, thief(thiefs_port, thiefs_port)
	{
		clear(owner.server.buffer.bytes());
		fill(thief.client.at(0, size), 1);
	}

	/* The owner has lost nothing, and its QPs work. */
	void owner_is_well()
	{
		check_clear(owner.server.buffer.bytes(), "the owner's memory");
		fill(owner.client.at(0, size), 2);
		owner.server.post_recv(9, 0, size);
		owner.client.post(request(IBV_WR_SEND, 9),
				  { owner.client.sge(0, size) });
		(void)owner.client.sent(9);
		(void)owner.server.received(9);
		check_fill(owner.server.at(0, size), 2, "the owner's message");
		owner.client.nothing_more();
		owner.server.nothing_more();
	}
	void refused(const ibv_send_wr &wr, const ibv_sge &sge,
		     ibv_wc_status status, const std::string &what)
	{
		thief.client.post(wr, { sge });
		check_wc(thief.client.wait_send(), status, what);
	}

	port owners_port, thiefs_port;
	pair owner, thief;
};

class theft_by_opcode : public theft,
			public testing::WithParamInterface<ibv_wr_opcode> {};

TEST_P(theft_by_opcode, theft_of_remote_key)
{
	remote_end others = owner.server;
	ibv_send_wr wr = rdma(GetParam(), 1, others, 0);

	if (GetParam() == IBV_WR_ATOMIC_FETCH_AND_ADD)
		wr = atomic(GetParam(), 1, others, 0, 1);
	refused(wr, thief.client.sge(0, 8), IBV_WC_REM_ACCESS_ERR,
		"request with a foreign key");
	owner_is_well();
}

INSTANTIATE_TEST_SUITE_P(theft, theft_by_opcode,
			 testing::Values(IBV_WR_RDMA_WRITE, IBV_WR_RDMA_READ,
					 IBV_WR_ATOMIC_FETCH_AND_ADD));

/* READ, or the thief's own message, into the memory of the owner. */
TEST_F(theft, theft_of_local_key)
{
	ibv_sge others = owner.server.sge(0, size);

	refused(request(IBV_WR_SEND, 1), others, IBV_WC_LOC_PROT_ERR,
		"SEND from foreign memory");
	owner_is_well();
}

TEST_F(theft, theft_by_receive)
{
	thief.server.post_recv(1, { owner.server.sge(0, size) });
	refused(request(IBV_WR_SEND, 1), thief.client.sge(0, size),
		IBV_WC_REM_OP_ERR, "SEND to foreign memory");
	owner_is_well();
}

TEST_F(theft, theft_by_read)
{
	refused(rdma(IBV_WR_RDMA_READ, 1, thief.server, 0),
		owner.server.sge(0, size), IBV_WC_LOC_PROT_ERR,
		"READ into foreign memory");
	owner_is_well();
}

/* The owner's memory, with an MR that may have windows of type 2. */
class window_theft : public theft {
protected:
	window_theft()
		: mr(ibv_reg_mr(owners_port.pd.get(),
				owner.server.buffer.bytes().data(), size,
				all_access | IBV_ACCESS_MW_BIND))
		, owners_mw(ibv_alloc_mw(owners_port.pd.get(), IBV_MW_TYPE_2))
		, thiefs_mw(ibv_alloc_mw(thiefs_port.pd.get(), IBV_MW_TYPE_2))
	{
		check(mr && owners_mw && thiefs_mw, "ibv_alloc_mw");
	}
	/* The library lets nobody bind a window to the MR of another PD. */
	ibv_wc bind(endpoint &by, ibv_mw &mw)
	{
		ibv_send_wr wr = request(IBV_WR_BIND_MW, 1);
		ibv_mr forged = *mr;

		forged.pd = mw.pd;
		forged.context = mw.context;
		mw.rkey = ibv_inc_rkey(mw.rkey);
		wr.bind_mw.mw = &mw;
		wr.bind_mw.rkey = mw.rkey;
		wr.bind_mw.bind_info = { &forged, owner.server.address(0), size,
					 IBV_ACCESS_REMOTE_WRITE };
		by.post(wr, {});
		return by.wait_send();
	}
	/* A WRITE to the owner's window, which @p sends to its own peer. */
	ibv_wc write_by(pair &p)
	{
		remote_end window = owner.server;

		window.rkey = owners_mw->rkey;
		p.client.post(rdma(IBV_WR_RDMA_WRITE, 1, window, 0),
			      { p.client.sge(0, size) });
		return p.client.wait_send();
	}

	mr_ptr mr;
	mw_ptr owners_mw, thiefs_mw;
};

/* The same bind is right for a QP and a window of the owner. */
TEST_F(window_theft, theft_by_bind)
{
	check_wc(bind(owner.server, *owners_mw), IBV_WC_SUCCESS, "own window");
	check_wc(bind(thief.client, *thiefs_mw), IBV_WC_MW_BIND_ERR,
		 "a window on foreign memory");
	owner_is_well();
}

/* A window of type 2 is for the QP that bound it, not for all of the PD. */
TEST_F(window_theft, theft_by_window)
{
	pair other(owners_port, owners_port);

	check_wc(bind(owner.server, *owners_mw), IBV_WC_SUCCESS, "own window");
	fill(owner.client.at(0, size), 3);
	check_wc(write_by(owner), IBV_WC_SUCCESS, "WRITE by the owner");
	check_fill(owner.server.at(0, size), 3, "the owner's window");
	clear(owner.server.buffer.bytes());
	fill(other.client.at(0, size), 1);
	check_wc(write_by(other), IBV_WC_REM_ACCESS_ERR,
		 "WRITE by another QP of the PD");
	check_wc(write_by(thief), IBV_WC_REM_ACCESS_ERR, "WRITE by the thief");
	owner_is_well();
}

/* The owner's key is the same afterwards. */
TEST_F(theft, theft_by_invalidation)
{
	ibv_send_wr wr = request(IBV_WR_LOCAL_INV, 1), *bad;

	wr.invalidate_rkey = owner.server.mr->rkey;
	check_equal(ibv_post_send(thief.client.qp.get(), &wr, &bad), 0,
		    "ibv_post_send");
	check(thief.client.wait_send().status != IBV_WC_SUCCESS,
	      "LOCAL_INV of a foreign key");
	owner_is_well();
	owner.client.post(rdma(IBV_WR_RDMA_WRITE, 2, owner.server, 0),
			  { owner.client.sge(0, size) });
	(void)owner.client.sent(2);
}

/*
 * A QP of the thief that says it is the peer of the owner's: on the same device the
 * QPN of the sender is known.
 */
TEST_F(theft, theft_of_connection)
{
	options o;

	o.timeout = 8;
	o.retry = 1;
	for (int ahead = -4; ahead < 4; ahead++) {
		endpoint forged(thiefs_port, o);

		forged.psn = (owner.client.psn + static_cast<uint32_t>(ahead)) &
			     0xffffff;
		forged.to_init();
		forged.to_rtr(owner.server);
		forged.to_rts();
		forged.post(rdma(IBV_WR_RDMA_WRITE, 1, owner.server, 0),
			    { forged.sge(0, size) });
		check_wc(forged.wait_send(), IBV_WC_RETRY_EXC_ERR,
			 "WRITE to the peer of another");
	}
	owner_is_well();
}

/* A doorbell file takes the QPNs of its own context only. */
TEST_F(theft, theft_of_doorbell)
{
	const uint32_t qpns[] = { owner.client.qp->qp_num,
				  thief.client.qp->qp_num };
	int taken[2] = {}, files = 0;

	for (int fd = 3; fd < 64; fd++) {
		char path[64], name[64] = {};

		std::snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
		if (readlink(path, name, sizeof(name) - 1) < 0 ||
		    !std::strstr(name, "[ornic_doorbell]"))
			continue;
		files++;
		for (int i = 0; i < 2; i++) {
			const bool yes = write(fd, &qpns[i], 4) == 4;

			taken[i] += yes;
			check(yes || errno == ENOENT, "write to a doorbell");
		}
	}
	if (!files)
		GTEST_SKIP() << "the device has a doorbell page";
	check_equal(files, 2, "doorbell files");
	check_equal(taken[0], 1, "files that take the owner's QPN");
	check_equal(taken[1], 1, "files that take the thief's QPN");
	owner_is_well();
}

/* NeVerMore: an address handle of another, or a Q_Key that only the kernel has. */
class datagram_theft : public theft {
protected:
	datagram_theft()
		: ud(thiefs_port, ud_options())
		, attr(path_to(thiefs_port.gid, thiefs_port.gid_index))
		, own_ah(ibv_create_ah(thiefs_port.pd.get(), &attr))
		, owners_ah(ibv_create_ah(owners_port.pd.get(), &attr))
	{
		check(own_ah && owners_ah, "ibv_create_ah");
		ud.to_init();
		ud.to_rtr(ud);
		ud.to_rts();
	}
	static options ud_options()
	{
		options o;

		o.type = IBV_QPT_UD;
		return o;
	}
	ibv_wc send_to(ibv_ah *ah, uint32_t qpn, uint32_t qkey)
	{
		ibv_send_wr wr = request(IBV_WR_SEND, 1);

		wr.wr.ud.ah = ah;
		wr.wr.ud.remote_qpn = qpn;
		wr.wr.ud.remote_qkey = qkey;
		ud.post(wr, { ud.sge(0, 256) });
		return ud.wait_send();
	}

	/* The kernel remembers values for 10 ms. */
	void wait_for_count(const char *name, uint64_t want)
	{
		const auto end = std::chrono::steady_clock::now() +
				 std::chrono::milliseconds(timeout_ms());

		while (counter(thiefs_port.name, name) < want)
			check(std::chrono::steady_clock::now() < end, name);
	}

	endpoint ud;
	ibv_ah_attr attr;
	ah_ptr own_ah, owners_ah;
};

TEST_F(datagram_theft, theft_of_address_handle)
{
	check(send_to(owners_ah.get(), ud.qp->qp_num, ud_qkey).status !=
		      IBV_WC_SUCCESS,
	      "SEND with a foreign address handle");
	owner_is_well();
}

/* IBTA 10.2.5: a controlled Q_Key in a request stands for that of the QP. */
TEST_F(datagram_theft, theft_of_privileged_qkey)
{
	constexpr uint32_t gsi_qkey = 0x80010000;
	ibv_qp_attr change{};
	const uint64_t before = counter(thiefs_port.name, "rx_bad_qkey");

	check_wc(send_to(own_ah.get(), 1, gsi_qkey), IBV_WC_SUCCESS, "SEND");
	wait_for_count("rx_bad_qkey", before + 1);
	change.qkey = gsi_qkey;
	if (geteuid())
		check(ibv_modify_qp(ud.qp.get(), &change, IBV_QP_QKEY) != 0,
		      "a user has set a controlled Q_Key");
}

/* The owner has device memory, if there is any. */
class theft_of_dm : public theft {
protected:
	void SetUp() override
	{
		if (!max_dm_size(owners_port))
			GTEST_SKIP() << "no device memory";
		memory = try_alloc_dm(owners_port, size);
		check(memory != nullptr, "ibv_alloc_dm");
		mr.reset(ibv_reg_dm_mr(owners_port.pd.get(), memory.get(), 0,
				       size,
				       all_access | IBV_ACCESS_ZERO_BASED));
		check(mr != nullptr, "ibv_reg_dm_mr");
	}

	dm_ptr memory;
	mr_ptr mr;
};

/* Device memory by its keys, and by the handle that its owner has. */
TEST_F(theft_of_dm, theft_of_device_memory)
{
	remote_end others = owner.server;
	others.address = 0;
	others.rkey = mr->rkey;
	refused(rdma(IBV_WR_RDMA_WRITE, 1, others, 0), thief.client.sge(0, 8),
		IBV_WC_REM_ACCESS_ERR, "WRITE to foreign device memory");

	const context_ptr same(
		ibv_import_device(dup(thiefs_port.context->cmd_fd)));
	check(same != nullptr, "ibv_import_device");
	check(!ibv_import_dm(same.get(), memory->handle),
	      "foreign device memory imported");
	uint64_t word = 1;
	check_equal(ibv_memcpy_from_dm(&word, memory.get(), 0, sizeof(word)), 0,
		    "ibv_memcpy_from_dm");
	check_equal(word, 0U, "the owner's device memory");
	owner_is_well();
}

/* The same as a local key. */
TEST_F(theft_of_dm, theft_by_device_memory_key)
{
	refused(request(IBV_WR_SEND, 1), { 0, size, mr->lkey },
		IBV_WC_LOC_PROT_ERR, "SEND from foreign device memory");
	owner_is_well();
}

/* Mappings of the device file that nobody has made. */
TEST_F(theft, theft_by_mmap)
{
	const int fd = thiefs_port.context->cmd_fd;
	const long page_size = sysconf(_SC_PAGESIZE);
	int mapped = 0;

	for (off_t page = 0; page < 4096; page++)
		for (const size_t bytes :
		     { static_cast<size_t>(page_size), size_t{ 1 } << 30 }) {
			void *at = mmap(nullptr, bytes, PROT_READ | PROT_WRITE,
					MAP_SHARED, fd, page * page_size);

			if (at == MAP_FAILED)
				continue;
			mapped++;
			munmap(at, bytes);
		}
	std::printf("# %d mappings, the thief's own\n", mapped);
	check(mapped <= 8, "mappings of others");
	owner_is_well();
}

} /* namespace */
