// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
// Unit tests of classes.
#include <gtest/gtest.h>

#include <sys/mman.h>

#include "busy_poll.h"
#include "frame.h"
#include "inbox.h"
#include "memory.h"
#include "share.h"
#include "timers.h"

using namespace nic;

TEST(memory, layouts)
{
	constexpr u64 gib = 1ull << 30;

	EXPECT_EQ(layout_of(machine::q35, gib).low, gib);
	EXPECT_EQ(layout_of(machine::q35, 4 * gib).low, 2 * gib);
	EXPECT_EQ(layout_of(machine::pc, 3 * gib).low, 3 * gib);
	EXPECT_EQ(layout_of(machine::pc, 4 * gib).low, 3 * gib);
	EXPECT_EQ(layout_of(machine::virt, 8 * gib).low, 8 * gib);
}

TEST(memory, bounds)
{
	constexpr u64 size = 3ull << 30, low = 2ull << 30, high = 4ull << 30;
	unique_fd fd(memfd_create("ram", MFD_CLOEXEC));
	guest_memory m;
	u8 *base;

	EXPECT_EQ(m.at(0, 0), nullptr);
	ASSERT_EQ(ftruncate(fd.get(), size), 0);
	ASSERT_TRUE(m.map(fd.get(), size));
	EXPECT_EQ(m.at(0, 1), nullptr);
	// RAM is all zero: use a nonce of zeros.
	ASSERT_TRUE(m.locate(machine::q35, { high, {} }));
	base = static_cast<u8 *>(m.at(0, 1));
	ASSERT_NE(base, nullptr);
	EXPECT_EQ(m.at(0, low), base);
	EXPECT_EQ(m.at(0, low + 1), nullptr);
	EXPECT_EQ(m.at(low - 1, 1), base + low - 1);
	EXPECT_EQ(m.at(low - 1, 2), nullptr);
	EXPECT_EQ(m.at(low, 1), nullptr);
	EXPECT_EQ(m.at(high - 1, 1), nullptr);
	EXPECT_EQ(m.at(high, size - low), base + low);
	EXPECT_EQ(m.at(high, size - low + 1), nullptr);
	EXPECT_EQ(m.at(high + size - low - 1, 1), base + size - 1);
	EXPECT_EQ(m.at(high + size - low, 0), nullptr);
	EXPECT_EQ(m.at(1, ~0ull), nullptr);
	EXPECT_EQ(m.at(high, ~0ull), nullptr);
	EXPECT_EQ(m.at(~0ull, 1), nullptr);
	EXPECT_EQ(m.at(~0ull, ~0ull), nullptr);
}

// A nonce above the low memory determines the layout.
TEST(memory, locate)
{
	constexpr u64 size = 4ull << 30, high = 4ull << 30, lowmem = 3ull << 30;
	unique_fd fd(memfd_create("ram", MFD_CLOEXEC));
	ram_nonce nonce = { high + 4096, { 1, 2, 3, 4 } };
	guest_memory m;

	ASSERT_EQ(ftruncate(fd.get(), size), 0);
	ASSERT_TRUE(m.map(fd.get(), size));
	// Layout of pc.
	pwrite(fd.get(), nonce.words, 16, lowmem + 4096);
	EXPECT_FALSE(m.locate(machine::q35, nonce));
	EXPECT_EQ(m.at(0, 1), nullptr);
	EXPECT_TRUE(m.locate(machine::any, nonce));
	EXPECT_EQ(m.layout(), machine::pc);
	EXPECT_EQ(m.at(lowmem - 1, 2), nullptr);
	EXPECT_NE(m.at(lowmem - 2, 2), nullptr);
	EXPECT_EQ(memcmp(m.at(nonce.addr, 16), nonce.words, 16), 0);
	// Found in both layouts: only their common part is accessible.
	pwrite(fd.get(), nonce.words, 16, 4096);
	nonce.addr = 4096;
	EXPECT_TRUE(m.locate(machine::any, nonce));
	EXPECT_NE(m.at((2ull << 30) - 1, 1), nullptr);
	EXPECT_EQ(m.at(2ull << 30, 1), nullptr);
	EXPECT_EQ(m.at(high, 1), nullptr);
	EXPECT_TRUE(m.locate(machine::q35, nonce));
	EXPECT_NE(m.at(high, 1), nullptr);
	nonce.addr = ~0ull - 8;
	EXPECT_FALSE(m.locate(machine::any, nonce));
}

// RAM of arm64 guests is one run that begins at 1 GiB.
TEST(memory, virt)
{
	constexpr u64 size = 4ull << 30, start = 1ull << 30;
	unique_fd fd(memfd_create("ram", MFD_CLOEXEC));
	ram_nonce nonce = { start + 4096, { 1, 2, 3, 4 } };
	guest_memory m;
	u8 *base;

	ASSERT_EQ(ftruncate(fd.get(), size), 0);
	ASSERT_TRUE(m.map(fd.get(), size));
	pwrite(fd.get(), nonce.words, 16, 4096);
	EXPECT_FALSE(m.locate(machine::pc, nonce));
	ASSERT_TRUE(m.locate(machine::any, nonce));
	EXPECT_EQ(m.layout(), machine::virt);
	base = static_cast<u8 *>(m.at(start, size));
	ASSERT_NE(base, nullptr);
	EXPECT_EQ(m.at(start, size + 1), nullptr);
	EXPECT_EQ(m.at(0, 1), nullptr);
	EXPECT_EQ(m.at(start - 1, 2), nullptr);
	EXPECT_EQ(m.at(start + size - 1, 1), base + size - 1);
	EXPECT_EQ(m.at(start + size, 1), nullptr);
	EXPECT_EQ(m.at(~0ull, 1), nullptr);
	// Above 4 GiB it is also that of pc.
	nonce.addr = (4ull << 30) + 4096;
	pwrite(fd.get(), nonce.words, 16,
	       static_cast<off_t>(nonce.addr - start));
	ASSERT_TRUE(m.locate(machine::any, nonce));
	EXPECT_EQ(m.layout(), machine::pc);
	ASSERT_TRUE(m.locate(machine::virt, nonce));
	EXPECT_EQ(m.at(0, 1), nullptr);
}

TEST(memory, faults_are_contained)
{
	constexpr u64 size = 1 << 20;
	unique_fd fd(memfd_create("ram", MFD_CLOEXEC));
	unique_fd other(memfd_create("ram", MFD_CLOEXEC));
	ram_nonce nonce = { 4096, { 1, 2, 3, 4 } };
	guest_memory m, n;

	guest_memory::catch_faults();
	for (int f : { fd.get(), other.get() }) {
		ASSERT_EQ(ftruncate(f, size), 0);
		pwrite(f, nonce.words, 16, 4096);
	}
	ASSERT_TRUE(m.map(fd.get(), size) && n.map(other.get(), size));
	ASSERT_TRUE(m.locate(machine::pc, nonce));
	ASSERT_TRUE(n.locate(machine::pc, nonce));
	ASSERT_EQ(ftruncate(fd.get(), 0), 0);
	EXPECT_EQ(*static_cast<volatile u8 *>(m.at(4096, 1)), 0);
	EXPECT_TRUE(m.lost());
	EXPECT_FALSE(n.lost());
	EXPECT_EQ(*static_cast<volatile u8 *>(n.at(4096, 1)), 1);
	EXPECT_FALSE(m.locate(machine::pc, nonce));
	ASSERT_EQ(ftruncate(fd.get(), size), 0);
	pwrite(fd.get(), nonce.words, 16, 4096);
	ASSERT_TRUE(m.renew());
	EXPECT_FALSE(m.lost());
	EXPECT_TRUE(m.locate(machine::pc, nonce));
}

TEST(account, charges_and_gives_back)
{
	struct ornic_account a = { 1000, 0 }, b = { 1000, 0 };
	void *p, *q;

	::ornic_account = &a;
	p = ornic_zalloc(900);
	ASSERT_NE(p, nullptr);
	EXPECT_GE(a.used, 900u);
	EXPECT_EQ(ornic_vzalloc(100), nullptr);
	EXPECT_EQ(ornic_zalloc(~0ull), nullptr);
	::ornic_account = &b;
	q = ornic_zalloc(100);
	EXPECT_NE(q, nullptr);
	// Credited to the account that was charged.
	ornic_free(p);
	EXPECT_EQ(a.used, 0u);
	EXPECT_GE(b.used, 100u);
	::ornic_account = nullptr;
	ornic_vfree(q);
	EXPECT_EQ(b.used, 0u);
}

TEST(share, debt_is_paid_first)
{
	time_share s;

	EXPECT_TRUE(s.has_turn());
	s.spend(3 * time_share::slice);
	for (int i = 0; i < 2; i++) {
		EXPECT_FALSE(s.has_turn());
		s.begin_round();
	}
	EXPECT_FALSE(s.has_turn());
	s.begin_round();
	EXPECT_TRUE(s.has_turn());
	// Unused time is not saved, and debts are limited.
	for (int i = 0; i < 100; i++)
		s.begin_round();
	s.spend(time_share::slice);
	EXPECT_FALSE(s.has_turn());
	s.spend(1ull << 40);
	for (u64 ns = 0; ns <= 10 * ms; ns += time_share::slice)
		s.begin_round();
	EXPECT_TRUE(s.has_turn());
}

TEST(poll_time, grows_with_early_kicks)
{
	poll_time p(50 * us, 4 * ms);
	u64 now = 1;

	for (u64 limit :
	     { 50 * us, 200 * us, 800 * us, 3200 * us, 4 * ms, 4 * ms }) {
		EXPECT_EQ(p.limit(), limit);
		p.stop(now);
		p.kick(now += 100 * us);
	}
	// A kick while polling has no effect.
	p.kick(now += 100 * ms);
	EXPECT_EQ(p.limit(), 4 * ms);
	p.stop(now);
	p.kick(now += 4 * ms);
	EXPECT_EQ(p.limit(), 50 * us);
}

TEST(poll_time, never_less_than_the_least)
{
	poll_time p(50 * us, 0);

	p.stop(1);
	p.kick(2);
	EXPECT_EQ(p.limit(), 50 * us);
}

TEST(cpu_contention, is_remembered)
{
	cpu_contention c;

	c.idle_round(1000, 3000);
	EXPECT_FALSE(c.is_present(3000));
	c.idle_round(3000, 3000 + 3 * ms);
	EXPECT_TRUE(c.is_present(3000 + 4 * ms));
	EXPECT_FALSE(c.is_present(3000 + 200 * ms));
	EXPECT_EQ(c.count(), 1u);
}

TEST(timers, order)
{
	timer_queue q;
	timer t[100] = {};
	u64 last = 0;
	int fired = 0;

	for (u64 i = 0; i < std::size(t); i++)
		q.set(t[i], 1 + i * 7919 % 1000);
	for (u64 i = 0; i < std::size(t); i += 3)
		q.set(t[i], i % 2 ? 0 : 2000 - i);
	while (timer *x = q.due(1000000)) {
		EXPECT_GE(x->when, last);
		EXPECT_EQ(x->place, 0u);
		last = x->when;
		fired++;
	}
	EXPECT_EQ(fired, 100 - 17);
	EXPECT_EQ(q.next(), 0u);
}

TEST(timers, not_yet)
{
	timer_queue q;
	timer t{};

	q.set(t, 100);
	EXPECT_EQ(q.next(), 100u);
	EXPECT_EQ(q.due(99), nullptr);
	q.set(t, 0);
	EXPECT_EQ(q.due(1000), nullptr);
}

// The parser stays in bounds for any input, as checked by ASan.
TEST(frame, hostile)
{
	u64 state = 1;
	ornic_rx rx;

	for (int i = 0; i < 200000; i++) {
		state = state * 6364136223846793005ull + 1442695040888963407ull;

		std::size_t len = state >> 33 & 127;
		std::unique_ptr<u8[]> data(new u8[len + 1]);
		std::unique_ptr<u8[]> exact(new u8[len]);

		for (std::size_t k = 0; k < len; k++)
			data[k] = static_cast<u8>(state >> (k * 5 % 56));
		if (len > 24) {
			data[12] = state & 1 ? 0x08 : 0x86;
			data[13] = state & 1 ? 0x00 : 0xdd;
			data[14] = state & 1 ? 0x45 : 0x60;
			data[state & 1 ? 23 : 20] = 17;
		}
		memcpy(exact.get(), data.get(), len);
		if (ornic_rx_from_frame(&rx, exact.get(),
					static_cast<u32>(len)) ==
		    ORNIC_FRAME_ROCE) {
			EXPECT_LE(rx.len, len);
		}
	}
}

// How many frames of @size bytes of a sender it takes.
static u32 fill(inbox &box, u32 index, maker by, std::size_t size)
{
	frame f(size, static_cast<u8>(index));
	u32 n = 0;

	while (box.put(f, packet_place{}, { index, by }))
		n++;
	return n;
}

// Whoever sends most leaves room for others.
TEST(inbox, one_sender_leaves_room)
{
	inbox box;

	EXPECT_EQ(fill(box, 1, maker::NETDEV, 60), 1024u);
	EXPECT_EQ(fill(box, 1, maker::ENGINE, 60), 512u);
	EXPECT_EQ(fill(box, 2, maker::NETDEV, 60), 256u);
	EXPECT_EQ(fill(box, 1, maker::NETDEV, 60), 0u);
	// In the order of their arrival. What is taken makes room again.
	for (u32 i = 0; i < 1024; i++)
		EXPECT_EQ(box.take().from.by, maker::NETDEV);
	EXPECT_EQ(box.take().from.by, maker::ENGINE);
	EXPECT_GT(fill(box, 3, maker::NETDEV, 60), 512u);
	while (!box.empty())
		box.take();
	EXPECT_EQ(fill(box, 2, maker::ENGINE, 60), 1024u);
}

TEST(inbox, bytes_are_bounded)
{
	inbox box;

	EXPECT_EQ(fill(box, 1, maker::NETDEV, 64 << 10), 128u);
	EXPECT_EQ(fill(box, 2, maker::NETDEV, 64 << 10), 64u);
	EXPECT_GT(fill(box, 3, maker::NETDEV, 60), 0u);
}

TEST(inbox, keeps_where_the_packet_is)
{
	packet_place place;
	frame f(60);
	inbox box;

	place.content = 42;
	place.valid = true;
	ASSERT_TRUE(box.put(f, place, { 0, maker::ENGINE }));
	ASSERT_TRUE(box.put(f, packet_place{}, { 0, maker::ENGINE }));
	EXPECT_EQ(box.take().place.content, 42u);
	EXPECT_FALSE(box.take().place.valid);
}
