// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
// Device memory: where it is, who may use it, and when it is zeroed.
#include "nic_fixture.h"

#include <filesystem>
#include <sys/stat.h>

using namespace test;

namespace
{

constexpr u64 mib = 1 << 20;
constexpr u32 message = 300 << 10;

u64 caps_of(fake_guest &g)
{
	union ornic_req req {
	};

	req.hdr.opcode = ORNIC_CMD_QUERY_DEVICE;

	auto rsp = g.command(req);

	return rsp ? rsp->query_device.caps : 0;
}

bool is_zero(const u8 *p, u64 len)
{
	for (u64 i = 0; i < len; i++)
		if (p[i])
			return false;
	return true;
}

// Of guest @index, from the list of all.
u64 dm_bytes_of(nic_fixture &b, u32 index)
{
	std::string text = b.ask("stats"), key = "\"dm_bytes\": ";
	std::size_t at = 0;

	for (u32 i = 0; i <= index; i++) {
		at = text.find(key, at);
		if (at == std::string::npos)
			return ~0ull;
		at += key.size();
	}
	return strtoull(text.c_str() + at, nullptr, 10);
}

// Memory of the host that the BAR of the only guest takes, in units of 512 bytes. ~0:
// cannot be found out.
u64 bar_blocks(nic_fixture &b)
{
	std::string files = "/proc/" + std::to_string(b.nic().pid()) + "/fd";
	std::error_code none;
	struct stat st;

	for (const auto &f : std::filesystem::directory_iterator(files, none)) {
		std::string to = std::filesystem::read_symlink(f, none);

		if (to.starts_with("/memfd:ornic-bar") &&
		    !stat(f.path().c_str(), &st))
			return static_cast<u64>(st.st_blocks);
	}
	return ~0ull;
}

} // namespace

TEST(dm, is_in_the_bar)
{
	const struct {
		const char *keys;
		u64 dm, bar;
	} rows[] = {
		{ "", 16 * mib, 32 * mib },   { ",dm=0", 0, mib },
		{ ",dm=64K", 64 << 10, mib }, { ",dm=960K", 960 << 10, mib },
		{ ",dm=1M", mib, 2 * mib },
	};

	for (const auto &row : rows) {
		nic_fixture b(1, {}, 1, row.keys);
		fake_guest &g = b.guest(1);
		ornic_pci_device_regs *r = g.device_regs();

		EXPECT_EQ(g.dm_bytes(), row.dm) << row.keys;
		EXPECT_EQ(g.bar_size(), row.bar) << row.keys;
		EXPECT_EQ(r->dm_bar, ORNIC_PCI_REG_BAR);
		// Not in a page of 64 KiB with the registers.
		EXPECT_GE(r->dm_page * page, 64u << 10);
		EXPECT_LE(r->dm_page * page + row.dm, row.bar) << row.keys;
		EXPECT_EQ(!!(caps_of(g) & ORNIC_CAP_DM), !!row.dm) << row.keys;
		EXPECT_EQ(!!g.make_dm_mr(0, page).key, !!row.dm) << row.keys;
	}
}

TEST(dm, keys_end_with_it)
{
	nic_fixture b(1, {}, 1, ",dm=1M");
	fake_guest &g = b.guest(1);
	const struct {
		u64 at, bytes;
		bool good;
	} rows[] = {
		{ 0, mib, true },
		{ mib - page, page, true },
		{ 8, mib - page, true },
		{ 0, mib + 1, false },
		{ mib - page, page + 1, false },
		{ mib - page + 1, page, false },
		{ mib, 1, false },
		{ ~0ull, 1, false },
		{ ~0ull - page + 1, 2 * page, false },
	};

	for (const auto &row : rows)
		EXPECT_EQ(!!g.make_dm_mr(row.at, row.bytes).key, row.good)
			<< row.at << ", " << row.bytes;
}

// All of the payload is read from device memory and written to it.
TEST(dm, is_used_instead_of_ram)
{
	for (bool packets : { false, true }) {
		nic_fixture b(2,
			      packets ? arguments{ "--packets" } : arguments{});
		end x(b.guest(1)), y(b.guest(2));

		x.mr = x.guest.make_dm_mr(5 * page, message);
		y.mr = y.guest.make_dm_mr(mib, message);
		ASSERT_TRUE(x.mr.key && y.mr.key && join(x, 1, y, 2));
		exchange(x, y, message);
		// WRITE, READ, SEND
		EXPECT_GE(dm_bytes_of(b, 0), 3 * message);
		EXPECT_GE(dm_bytes_of(b, 1), 3 * message);
		// Packets may be sent again.
		if (!packets) {
			EXPECT_EQ(dm_bytes_of(b, 0), 3 * message);
			EXPECT_EQ(dm_bytes_of(b, 1), 3 * message);
		}
		EXPECT_TRUE(is_zero(x.guest.dm(), 5 * page));
		EXPECT_TRUE(is_zero(x.guest.dm() + 5 * page + message,
				    mib - message));
		EXPECT_TRUE(is_zero(y.guest.dm(), mib));
		EXPECT_TRUE(is_zero(y.guest.dm() + mib + message, mib));
	}
}

TEST(dm, peers_stay_in_their_key)
{
	nic_fixture b(2);
	end x(b.guest(1)), y(b.guest(2));
	buffer part = y.guest.make_dm_mr(page, 100);

	ASSERT_TRUE(join(x, 1, y, 2));
	memset(x.mr.ptr, 0x55, 200);
	x.guest.post(x.qp, ORNIC_WQE_WRITE, x.mr, 0, part.key, 100);

	auto good = x.guest.poll(x.cq);

	ASSERT_TRUE(good);
	EXPECT_EQ(good->status, ORNIC_CQE_SUCCESS);
	EXPECT_EQ(part.ptr[99], 0x55);
	x.guest.post(x.qp, ORNIC_WQE_WRITE, x.mr, 1, part.key, 100);

	auto bad = x.guest.poll(x.cq);

	ASSERT_TRUE(bad);
	EXPECT_EQ(bad->status, ORNIC_CQE_REM_ACCESS_ERR);
	EXPECT_TRUE(is_zero(y.guest.dm(), page));
	EXPECT_TRUE(is_zero(part.ptr + 100, mib));
	// Each guest has its own.
	EXPECT_TRUE(is_zero(x.guest.dm(), 2 * mib));
}

// What one driver leaves there another one does not find, nor does another QEMU.
TEST(dm, is_zeroed)
{
	nic_fixture b(2, {}, 1, ",dm=1M");
	fake_guest &other = b.guest(2);
	u8 *first = b.guest(1).dm();

	memset(first, 0x55, mib);
	memset(other.dm(), 0x66, mib);
	ASSERT_TRUE(b.guest(1).reset());
	EXPECT_TRUE(is_zero(first, mib));
	// The BAR has other bytes, and others have memory.
	EXPECT_EQ(b.guest(1).device_regs()->dm_pages, mib / page);
	EXPECT_EQ(other.dm()[0], 0x66);
	EXPECT_EQ(other.dm()[mib - 1], 0x66);

	memset(first, 0x77, mib);
	b.replug(1);
	EXPECT_TRUE(b.guest(1).start());
	EXPECT_TRUE(is_zero(b.guest(1).dm(), mib));
	EXPECT_EQ(other.dm()[mib - 1], 0x66);
}

// The host has it back before the next one comes, with the rest of the BAR.
TEST(dm, goes_with_its_qemu)
{
	nic_fixture b(1, {}, 1, ",dm=1M");
	u64 before = bar_blocks(b);
	u64 all = b.guest(1).bar_size() -
		  b.guest(1).device_regs()->dm_page * page;

	if (before == ~0ull)
		GTEST_SKIP() << "the files of a process are root's to see";
	memset(b.guest(1).dm(), 0x55, all);
	EXPECT_GE(bar_blocks(b), before + all / 512);
	b.unplug(1);
	EXPECT_TRUE(eventually([&] { return bar_blocks(b) <= before; }));
}
