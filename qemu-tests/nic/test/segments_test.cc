// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
// A guest whose MRs with gaps name memory that is not there, or that is named while the
// list changes.
#include "nic_fixture.h"

#include <atomic>
#include <thread>

using namespace test;

namespace
{

constexpr u32 room = 512;
constexpr int rounds = 300;

/** Numbers that are the same in each run. */
struct generator {
	u64 state = 777;
	u64 next()
	{
		state = state * 6364136223846793005ull + 1442695040888963407ull;
		return state >> 16;
	}
};

/** A QP of @g that registers MRs, connected to itself, and what it names. */
struct liar {
	explicit liar(fake_guest &guest)
		: g(guest)
		, cq(g.make_cq())
		, mr(g.make_mr(64 << 10))
		, list(g.alloc(2 * page))
		, root(g.alloc(page))
		, key(g.make_gaps(room))
	{
		const u64 pages[2] = { list.dma, list.dma + page };

		memcpy(root.ptr, pages, sizeof(pages));
	}
	bool start()
	{
		if (qp.number)
			g.destroy(ORNIC_CMD_DESTROY_QP, qp.number);
		qp = g.make_qp(cq, ORNIC_QPT_RC, ORNIC_QP_FAST_REG);
		return qp.number && g.connect(qp, qp.number, 1);
	}
	ornic_list_segment *segment(u32 i)
	{
		return reinterpret_cast<ornic_list_segment *>(list.ptr) + i;
	}
	/** The status of the next completion; -1: there is none. */
	int status()
	{
		auto cqe = g.poll(cq);

		return cqe ? cqe->status : -1;
	}
	int reg(u32 n, u64 length)
	{
		ornic_seg_reg seg{};

		seg.length = length;
		seg.list = root.dma;
		seg.npages = n;
		seg.access = ORNIC_ACCESS_LOCAL_WRITE |
			     ORNIC_ACCESS_REMOTE_WRITE |
			     ORNIC_ACCESS_REMOTE_READ;
		g.post_reg(qp, key, seg);
		return status();
	}
	/** WRITE and READ all of it, if it has that much memory. */
	void use(u32 length)
	{
		g.post(qp, ORNIC_WQE_WRITE, mr, 0, key, length);
		ASSERT_EQ(status(), ORNIC_CQE_SUCCESS);
		g.post(qp, ORNIC_WQE_READ, mr, 0, key, length);
		ASSERT_EQ(status(), ORNIC_CQE_SUCCESS);
	}

	fake_guest &g;
	queue cq, qp;
	buffer mr, list, root;
	u32 key;
};

/** A segment of @l's RAM, or one that is not there. */
ornic_list_segment any_segment(liar &l, u64 r)
{
	static const u64 lengths[] = { 1, 2, 511, 4096, 60000 };
	static const u64 lies[] = { 0, ram_bytes, 1ull << 63, ~0ull };
	ornic_list_segment s{};

	s.addr = l.mr.dma + r % (32 << 10);
	s.length = lengths[r / 7 % 5] / 2 + 1;
	if (r >> 20 & 255)
		return s;
	if (r & 1)
		s.addr = r & 2 ? ram_bytes - 1 + (r & 4) : ~0ull << (r & 31);
	else
		s.length = lies[r >> 1 & 3];
	return s;
}

} // namespace

// What is registered lies in the guest's RAM; all else is refused.
TEST(segments, that_lie)
{
	nic_fixture b(3);
	end x(b.guest(2)), y(b.guest(3));
	u64 worker = b.number("guests", "worker");
	liar l(b.guest(1));
	generator random;
	u32 good = 0;

	ASSERT_TRUE(l.key && l.start());
	ASSERT_TRUE(join(x, 2, y, 3));
	for (int round = 0; round < rounds; round++) {
		u32 n = 1 + random.next() % room;

		for (u32 i = 0; i < n; i++)
			*l.segment(i) = any_segment(l, random.next());

		int status = l.reg(n, n);

		if (status == ORNIC_CQE_SUCCESS) {
			good++;
			l.use(n);
			l.g.post_invalidate(l.qp, l.key);
			ASSERT_EQ(l.status(), ORNIC_CQE_SUCCESS);
			continue;
		}
		ASSERT_EQ(status, ORNIC_CQE_MW_BIND_ERR);
		ASSERT_TRUE(l.start());
	}
	EXPECT_GT(good, rounds / 10u);
	EXPECT_LT(good, rounds * 9u / 10);
	exchange(x, y, 512);
	EXPECT_EQ(b.number("guests", "worker"), worker);
}

// Each entry is read once: what was checked is what is used.
TEST(segments, that_change)
{
	nic_fixture b(1);
	u64 worker = b.number("guests", "worker");
	liar l(b.guest(1));
	std::atomic<bool> stop = false;

	ASSERT_TRUE(l.key && l.start());
	for (u32 i = 0; i < room; i++)
		*l.segment(i) = { l.mr.dma + 64 * i, 60 };

	std::thread other([&] {
		for (u32 i = 0; !stop; i++) {
			ornic_list_segment *s = l.segment(i % room);

			WRITE_ONCE(s->length, ~0ull);
			WRITE_ONCE(s->addr, ram_bytes - 1);
			WRITE_ONCE(s->length, 60);
			WRITE_ONCE(s->addr, l.mr.dma);
		}
	});

	for (int round = 0; round < rounds; round++) {
		if (l.reg(room, 60 * room) == ORNIC_CQE_SUCCESS) {
			l.use(60 * room);
			l.g.post_invalidate(l.qp, l.key);
			EXPECT_EQ(l.status(), ORNIC_CQE_SUCCESS);
		} else if (!l.start()) {
			ADD_FAILURE() << "round " << round;
			break;
		}
	}
	stop = true;
	other.join();
	EXPECT_EQ(b.number("guests", "worker"), worker);
}
