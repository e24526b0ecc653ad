// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
// The parts that need no process.
#include <gtest/gtest.h>

#include <sys/mman.h>

#include "frame.h"
#include "memory.h"
#include "patience.h"
#include "timers.h"

using namespace nic;

TEST(memory, lowmem)
{
	constexpr u64 gib = 1ull << 30;

	EXPECT_EQ(lowmem_of(machine::q35, gib), gib);
	EXPECT_EQ(lowmem_of(machine::q35, 4 * gib), 2 * gib);
	EXPECT_EQ(lowmem_of(machine::pc, 3 * gib), 3 * gib);
	EXPECT_EQ(lowmem_of(machine::pc, 4 * gib), 3 * gib);
}

TEST(memory, bounds)
{
	constexpr u64 size = 3ull << 30, low = 2ull << 30, high = 4ull << 30;
	unique_fd fd(memfd_create("ram", MFD_CLOEXEC));
	guest_memory m;
	u8 *base;

	EXPECT_EQ(m.at(0, 0), nullptr);
	ASSERT_EQ(ftruncate(fd.get(), size), 0);
	ASSERT_TRUE(m.map(fd.get(), size, machine::q35));
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

TEST(patience, grows_with_early_kicks)
{
	patience p(50 * us, 4 * ms);
	u64 now = 1;

	for (u64 limit :
	     {50 * us, 200 * us, 800 * us, 3200 * us, 4 * ms, 4 * ms}) {
		EXPECT_EQ(p.limit(), limit);
		p.rest(now);
		p.kick(now += 100 * us);
	}
	// Of who was awake already.
	p.kick(now += 100 * ms);
	EXPECT_EQ(p.limit(), 4 * ms);
	p.rest(now);
	p.kick(now += 4 * ms);
	EXPECT_EQ(p.limit(), 50 * us);
}

TEST(patience, never_less_than_the_least)
{
	patience p(50 * us, 0);

	p.rest(1);
	p.kick(2);
	EXPECT_EQ(p.limit(), 50 * us);
}

TEST(patience, remembers_a_crowd)
{
	crowd c;

	c.idle_round(1000, 3000);
	EXPECT_FALSE(c.is_here(3000));
	c.idle_round(3000, 3000 + 3 * ms);
	EXPECT_TRUE(c.is_here(3000 + 4 * ms));
	EXPECT_FALSE(c.is_here(3000 + 200 * ms));
	EXPECT_EQ(c.seen(), 1u);
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

// Whatever comes, the parser stays inside. ASan looks on.
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
		if (parse_roce(bytes(exact.get(), len), rx) == roce::YES) {
			EXPECT_LE(rx.len, len);
		}
	}
}
