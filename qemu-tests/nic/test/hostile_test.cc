// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
// A guest that exhausts its resources does not affect others.
#include "nic_fixture.h"

#include <fcntl.h>

using namespace test;

namespace
{

constexpr u32 list_entries = 512;

/** Three list pages, each of which names the next one in every entry. */
struct bomb {
	explicit bomb(fake_guest &g)
	{
		buffer below = g.alloc(page);

		for (int level = 0; level < 3; level++) {
			top = g.alloc(page);
			for (size_t i = 0; i < list_entries; i++)
				memcpy(top.ptr + i * 8, &below.dma, 8);
			below = top;
		}
	}
	union ornic_req request(u32 npages) const
	{
		union ornic_req req {
		};

		req.hdr.opcode = ORNIC_CMD_CREATE_MKEY;
		req.create_mkey.mem.addr = top.dma;
		req.create_mkey.mem.npages = npages;
		req.create_mkey.mem.page_shift = ORNIC_PAGE_SHIFT;
		req.create_mkey.mem.levels = 3;
		req.create_mkey.length = static_cast<u64>(npages) * page;
		req.create_mkey.access = ORNIC_ACCESS_LOCAL_WRITE;
		return req;
	}
	buffer top;
};

/** A QP that has the ring of @qp. */
union ornic_req copy_of(const queue &cq, const queue &qp)
{
	union ornic_req req {
	};

	req.hdr.opcode = ORNIC_CMD_CREATE_QP;
	req.create_qp.mem.addr = qp.mem.dma;
	req.create_qp.mem.npages = 3;
	req.create_qp.mem.page_shift = ORNIC_PAGE_SHIFT;
	req.create_qp.pdn = 7;
	req.create_qp.send_cqn = req.create_qp.recv_cqn = cq.number;
	req.create_qp.qp_type = ORNIC_QPT_RC;
	req.create_qp.has_sq = req.create_qp.has_rq = 1;
	req.create_qp.sq_log_depth = req.create_qp.rq_log_depth = 4;
	req.create_qp.sq_log_stride = req.create_qp.rq_log_stride = 6;
	req.create_qp.sq_max_sge = req.create_qp.rq_max_sge = 1;
	return req;
}

/** @n of those, each connected to itself. */
void make_copies(fake_guest &g, const queue &cq, const queue &qp, u32 n)
{
	union ornic_req req = copy_of(cq, qp);
	queue copy = qp;

	for (u32 i = 0; i < n; i++) {
		auto rsp = g.command(req);

		ASSERT_TRUE(rsp && !rsp->hdr.status) << i;
		copy.number = rsp->hdr.obj;
		ASSERT_TRUE(g.connect(copy, copy.number, 1)) << i;
	}
}

/** Two guests with traffic between them; guest 1 is hostile. */
struct street {
	explicit street(const std::string &keys = "")
		: b(3, {}, 1, keys)
		, x(b.guest(2))
		, y(b.guest(3))
		, worker(b.number("guests", "worker"))
	{
		EXPECT_TRUE(join(x, 2, y, 3));
	}
	~street()
	{
		exchange(x, y, 512);
		EXPECT_EQ(b.number("guests", "worker"), worker);
	}
	nic_fixture b;
	end x, y;
	u64 worker;
};

int status_of(fake_guest &g, const union ornic_req &req)
{
	auto rsp = g.command(req);

	return rsp ? rsp->hdr.status : -1;
}

} // namespace

TEST(hostile, lists_that_name_themselves)
{
	street s;
	fake_guest &g = s.b.guest(1);
	bomb list(g);

	EXPECT_EQ(status_of(g, list.request(1u << 27)), ORNIC_BAD_PARAM);
	// Twice the RAM, as of a program that maps its memory twice.
	EXPECT_EQ(status_of(g, list.request(2 * ram_bytes / page + 1)),
		  ORNIC_BAD_PARAM);
	EXPECT_EQ(status_of(g, list.request(2 * ram_bytes / page)), ORNIC_OK);
}

// Each key needs 64 KiB of host memory, but no memory of the guest.
TEST(hostile, keys_up_to_the_limit)
{
	street s(",mem-limit=8M");
	fake_guest &g = s.b.guest(1);
	bomb list(g);
	union ornic_req req = list.request(2 * ram_bytes / page);
	u64 before = s.b.number("guests", "mem_used");
	u32 count = 0, last = 0, before_last = 0;

	while (auto rsp = g.command(req)) {
		if (rsp->hdr.status) {
			EXPECT_EQ(rsp->hdr.status, ORNIC_NO_RESOURCE);
			break;
		}
		before_last = last;
		last = rsp->hdr.obj;
		if (++count > 200)
			break;
	}
	EXPECT_GT(count, 50u);
	EXPECT_LT(count, 8u << 20 >> 16);
	EXPECT_GT(before, 0u);
	EXPECT_LE(s.b.number("guests", "mem_used"), 6u << 20);
	// The next one may need table memory in addition to its list.
	EXPECT_TRUE(g.destroy(ORNIC_CMD_DESTROY_MKEY, last));
	EXPECT_TRUE(g.destroy(ORNIC_CMD_DESTROY_MKEY, before_last));
	EXPECT_EQ(status_of(g, req), ORNIC_OK);
	ASSERT_TRUE(g.reset());
	EXPECT_LE(s.b.number("guests", "mem_used"), before);
}

TEST(hostile, queues_up_to_the_limit)
{
	street s(",mem-limit=8M");
	fake_guest &g = s.b.guest(1);
	queue cq = g.make_cq(), qp = g.make_qp(cq);
	union ornic_req req = copy_of(cq, qp);
	u32 count = 0;
	int status;

	while (!(status = status_of(g, req)) && count < 65536)
		count++;
	EXPECT_GT(count, 100u);
	EXPECT_LT(count, 8u << 10);
	EXPECT_EQ(status, ORNIC_NO_RESOURCE);
	EXPECT_LE(s.b.number("guests", "mem_used"), 6u << 20);
	for (int i = 0; i < 100; i++)
		g.ring_kick();
}

TEST(hostile, ram_is_truncated)
{
	street s;
	fake_guest &g = s.b.guest(1);
	std::string ram = s.b.path("ram1");
	union ornic_req req {
	};

	ASSERT_FALSE(truncate(ram.c_str(), 0));
	// The registers are not in RAM. The device reads the request.
	smp_store_release(&g.host_regs()->cmd_producer,
			  g.host_regs()->cmd_producer + 1);
	g.ring_control();
	EXPECT_TRUE(eventually([&] { return g.status() == ORNIC_PCI_FAILED; }));
	exchange(s.x, s.y, 512);
	ASSERT_FALSE(truncate(ram.c_str(), ram_bytes));
	ASSERT_TRUE(g.start());
	EXPECT_EQ(g.status(), ORNIC_PCI_READY);
	req.hdr.opcode = ORNIC_CMD_QUERY_DEVICE;
	EXPECT_EQ(status_of(g, req), ORNIC_OK);
}

// A peer that writes to truncated RAM is not affected.
TEST(hostile, ram_is_truncated_under_a_peer)
{
	nic_fixture b(3);
	end x(b.guest(2)), y(b.guest(1)), u(b.guest(2)), v(b.guest(3));
	u64 worker = b.number("guests", "worker");

	ASSERT_TRUE(join(x, 2, y, 1));
	ASSERT_TRUE(join(u, 2, v, 3));
	exchange(x, y, 4096);
	ASSERT_FALSE(truncate(b.path("ram1").c_str(), 0));
	x.guest.post(x.qp, ORNIC_WQE_WRITE, x.mr, y.mr.dma, y.mr.key, 4096);
	EXPECT_TRUE(x.guest.poll(x.cq));
	EXPECT_TRUE(eventually(
		[&] { return b.guest(1).status() == ORNIC_PCI_FAILED; }));
	exchange(u, v, 4096);
	EXPECT_EQ(b.number("guests", "worker"), worker);
	ASSERT_FALSE(truncate(b.path("ram1").c_str(), ram_bytes));
}

// 4 GiB of RAM have different addresses with machine=pc and q35.
TEST(hostile, another_machine)
{
	constexpr u64 size = 4ull << 30, high = 4ull << 30, lowmem = 3ull << 30;
	const struct {
		const char *keys;
		u32 status;
	} rows[] = {
		{ "", ORNIC_PCI_READY },
		{ ",machine=any", ORNIC_PCI_READY },
		{ ",machine=pc", ORNIC_PCI_READY },
		{ ",machine=q35", ORNIC_PCI_FAILED },
	};

	for (const auto &row : rows) {
		scratch dir;
		std::string ram = dir.file("ram", size);
		process p({ "--guest",
			    "socket=" + dir.path("s") + ",ram=" + ram +
				    ",vectors=" + std::to_string(vectors) +
				    row.keys });
		fake_guest g(dir.path("s"), ram, 1, size);

		ASSERT_TRUE(g.connected());
		g.place_nonce(high + page, lowmem + page);
		ASSERT_TRUE(g.reset()) << row.keys;
		EXPECT_TRUE(eventually([&] {
			return g.status() == row.status;
		})) << row.keys;
	}
}

// The last reset of a guest has no nonce; the device has no access to RAM then.
TEST(hostile, no_nonce)
{
	nic_fixture b(1);
	fake_guest &g = b.guest(1);

	g.place_nonce(0, 0);
	ASSERT_TRUE(g.reset());
	EXPECT_EQ(g.status(), ORNIC_PCI_READY);
	smp_store_release(&g.host_regs()->cmd_producer, 1u);
	g.ring_control();
	EXPECT_TRUE(eventually([&] { return g.status() == ORNIC_PCI_FAILED; }));
}

TEST(hostile, resize_of_no_cq_runs_nothing)
{
	nic_fixture b(1, { "--spin", "100s", "--max-spin", "100s" });
	fake_guest &g = b.guest(1);
	queue cq = g.make_cq();
	union ornic_req req {
	};

	req.hdr.opcode = ORNIC_CMD_RESIZE_CQ;
	req.hdr.obj = cq.number + 1;

	auto rsp = g.command(req);

	ASSERT_TRUE(rsp);
	EXPECT_EQ(rsp->hdr.status, ORNIC_NOT_FOUND);
	EXPECT_NE(b.ask("guests").find("\"polling\": false"),
		  std::string::npos);
	req.hdr.obj = cq.number;
	ASSERT_TRUE(g.command(req));
	EXPECT_NE(b.ask("guests").find("\"polling\": true"), std::string::npos);
}

// RESIZE_CQ runs all QPs first; other devices get their turns in between.
TEST(hostile, resize_gives_way)
{
	nic_fixture b(1, {}, 1, ",mem-limit=256M");
	fake_guest &g = b.guest(1);
	queue cq = g.make_cq(), qp = g.make_qp(cq);
	buffer big = g.make_mr(4 << 20);
	union ornic_req req {
	};
	u64 before;

	make_copies(g, cq, qp, 200);
	if (HasFatalFailure())
		return;
	before = b.number("guests", "yields");
	for (int i = 0; i < 12; i++)
		g.post(qp, ORNIC_WQE_WRITE, big, big.dma, big.key, 4 << 20);
	req.hdr.opcode = ORNIC_CMD_RESIZE_CQ;
	req.hdr.obj = cq.number;
	ASSERT_TRUE(g.command(req));
	EXPECT_GT(b.number("guests", "yields"), before + 1);
}

// Turns of others during the destruction of objects do not count for the next QEMU.
TEST(hostile, yielded_time_is_not_charged)
{
	nic_fixture b(2, {}, 1, ",mem-limit=256M");
	fake_guest &g = b.guest(1);
	queue cq = g.make_cq(), qp = g.make_qp(cq);
	union ornic_req req = copy_of(cq, qp);
	u64 minute_us = 60000000;

	for (int i = 0; i < 2000; i++)
		ASSERT_EQ(status_of(g, req), ORNIC_OK);
	b.replug(1);
	ASSERT_TRUE(b.guest(1).start());
	EXPECT_LT(b.number("guests", "spent_us"), minute_us);
}
