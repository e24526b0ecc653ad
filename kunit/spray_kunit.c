// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* Spraying: which UDP source ports packets have, and when one is left. */
#include "engine/proto.h"
#include "suite_fixture.h"

#define PSN ORNIC_FIX_PSN
#define MTU 1024u
#define ACK 0x1f /* credits: none */
#define MS 1000000ull
#define PATHS 4
#define MOST_LOST 256 /* packets of a send_many() */

struct spray_test {
	struct ornic_fixture fix;
	u32 lost[MOST_LOST];
};

static_assert(offsetof(struct spray_test, fix) == 0);

static int spray_init(struct kunit *test)
{
	return ornic_suite_alloc(test, sizeof(struct spray_test));
}

static struct ornic_fixture *open_paths(struct kunit *test, u32 paths)
{
	struct ornic_th_qpinit init = { .type = ORNIC_QPT_RC };
	struct ornic_fixture *fix = test->priv;

	KUNIT_ASSERT_EQ(test, ornic_fix_open(fix, ORNIC_FIX_LONE, &init), 0);
	KUNIT_ASSERT_EQ(test, ornic_engine_spray_set(fix->pair.a->eng, paths),
			0);
	KUNIT_ASSERT_EQ(test, ornic_th_qp_fini(&fix->a), 0);
	KUNIT_ASSERT_EQ(test,
			ornic_th_qp_init(fix->pair.a, &fix->a, &init,
					 &fix->ascq, &fix->arcq),
			0);
	KUNIT_ASSERT_EQ(test, ornic_fix_connect(fix), 0);
	return fix;
}

/* UDP source port of the next frame; 0: there is none. */
static u32 next_port(struct ornic_fixture *fix)
{
	const u8 *udp;

	if (!ornic_fix_sent(fix))
		return 0;
	udp = (const u8 *)fix->rx.seg[0].ptr - 8;
	return (u32)udp[0] << 8 | udp[1];
}

/* The peer acknowledges the first packet of a WRITE, and 16 more are sent. */
static void write_more(struct kunit *test, struct ornic_fixture *fix,
		       bool selective, u32 *ports)
{
	struct ornic_txinfo info = {
		.opcode = ORNIC_OP_ACK,
		.psn = PSN,
		.syndrome = ACK,
		.selective = selective,
	};
	u32 i;

	ornic_fix_post(&fix->a, &fix->am, &fix->bm, ORNIC_WQE_WRITE, 0, 0, 8);
	ports[0] = next_port(fix);
	ornic_th_inject(&fix->a, &info, NULL, 0);
	ornic_fix_post(&fix->a, &fix->am, &fix->bm, ORNIC_WQE_WRITE, 0, 0,
		       16 * MTU);
	ornic_th_run(fix->pair.a);
	for (i = 1; i <= 16; i++) {
		ports[i] = next_port(fix);
		KUNIT_ASSERT_NE(test, ports[i], 0);
	}
}

/* Each packet takes the next port, once it is known that the peer can bear it. */
static void spray_takes_all_ports(struct kunit *test)
{
	struct ornic_fixture *fix = open_paths(test, PATHS);
	u32 ports[17], i, n;

	write_more(test, fix, true, ports);
	for (i = 1; i <= 16; i++) {
		KUNIT_EXPECT_GE(test, ports[i], 0xc000);
		for (n = 1; n < i; n++)
			KUNIT_EXPECT_EQ(test, ports[i] == ports[n],
					i % PATHS == n % PATHS);
	}
	for (i = 1, n = 0; i <= PATHS; i++)
		n += ports[i] == ports[0];
	KUNIT_EXPECT_EQ(test, n, 1);
}

static const struct alone_row {
	const char *desc;
	u32 paths;
	bool selective;
} alone_rows[] = {
	{ "off", 0, true },
	{ "one path", 1, true },
	{ "a standard peer", PATHS, false },
};

KUNIT_ARRAY_PARAM_DESC(alone, alone_rows, desc);

/* Standard behaviour: one port. */
static void spray_leaves_alone(struct kunit *test)
{
	const struct alone_row *row = test->param_value;
	struct ornic_fixture *fix = open_paths(test, row->paths);
	u32 ports[17], i;

	write_more(test, fix, row->selective, ports);
	for (i = 1; i <= 16; i++)
		KUNIT_EXPECT_EQ(test, ports[i], ports[0]);
}

/* Responses have ports of their own. */
static void spray_of_responses(struct kunit *test)
{
	struct ornic_fixture *fix = open_paths(test, PATHS);
	struct ornic_txinfo info = {
		.opcode = ORNIC_OP_READ_REQUEST,
		.psn = PSN,
		.selective = true,
		.va = fix->am.iova,
		.rkey = fix->am.key,
		.dma_len = 8 * MTU,
	};
	u32 ports[8], i;

	/* The first response shows that it is one that repeats selectively. */
	ornic_th_inject(&fix->a, &info, NULL, 0);
	ornic_th_run(fix->pair.a);
	for (i = 0; i < 8; i++)
		ports[i] = next_port(fix);
	for (i = 4; i < 8; i++) {
		KUNIT_EXPECT_EQ(test, ports[i], ports[i - 4]);
		KUNIT_EXPECT_NE(test, ports[i], ports[i - 1]);
	}
}

/* What the port refuses was not lost on its path. */
static void spray_of_refused_packets(struct kunit *test)
{
	struct ornic_fixture *fix = open_paths(test, PATHS);
	struct ornic_th *th = fix->pair.a;
	u32 ports[17], i;

	write_more(test, fix, true, ports);
	ornic_fix_post(&fix->a, &fix->am, &fix->bm, ORNIC_WQE_WRITE, 0, 0,
		       4 * MTU);
	ornic_fix_drain(fix);
	th->xmit_fail = 5;
	ornic_fix_post(&fix->a, &fix->am, &fix->bm, ORNIC_WQE_WRITE, 0, 0, 8);
	for (i = 0; i < 5; i++) {
		KUNIT_EXPECT_FALSE(test, ornic_fix_sent(fix));
		th->now += 2 * MS;
		ornic_th_expire(th);
		ornic_th_run(th);
	}
	ornic_fix_drain(fix);
	for (i = 0; i < PATHS; i++)
		KUNIT_EXPECT_LE(
			test,
			ornic_fix_qp(&fix->a)->spray->requests.path[i].lost, 1);
}

/* ---- The law --------------------------------------------------------------------- */

/* The path of the next packet, of PSN + @n, at @now. */
static u32 path_of(struct ornic_fixture *fix, u32 n, u64 now)
{
	struct ornic_txinfo info = {
		.opcode = ORNIC_OP_WRITE_MIDDLE,
		.psn = ornic_psn_add(PSN, n),
	};
	struct ornic_ctx ctx = { .now = now };
	struct ornic_qp *qp = ornic_fix_qp(&fix->a);
	struct ornic_path own;

	ornic_spray_path(&ctx, qp, true, info.psn, &own);
	ornic_spray_sent(&ctx, qp, true, &info);
	return qp->spray->requests.at;
}

/* @n packets from *@at on; each that takes a path of @dead goes again. Returns those. */
static u32 send_many(struct ornic_fixture *fix, u32 *at, u32 n, u32 dead,
		     u64 now)
{
	u32 *lost = container_of(fix, struct spray_test, fix)->lost;
	u32 nlost = 0, i;

	for (i = 0; i < n; i++, (*at)++)
		if (dead & 1u << path_of(fix, *at, now))
			lost[nlost++] = *at;
	for (i = 0; i < nlost; i++)
		path_of(fix, lost[i], now);
	return nlost;
}

static void spray_leaves_a_dead_path(struct kunit *test)
{
	struct ornic_fixture *fix = open_paths(test, PATHS);
	u32 at = 0, i;

	ornic_fix_qp(&fix->a)->sq.selective = ORNIC_SELECTIVE_YES;
	/* A third of the packets is lost everywhere: no path is worse. */
	for (i = 0; i < 20; i++)
		send_many(fix, &at, 64, 1u << i % PATHS, 0);
	KUNIT_EXPECT_GT(test, send_many(fix, &at, 64, 4, 0), 10);
	for (i = 0; i < 20; i++)
		send_many(fix, &at, 64, 4, 0);
	KUNIT_EXPECT_EQ(test, send_many(fix, &at, 64, 4, 0), 0);
	/* A trial of some packets, then another one later. */
	KUNIT_EXPECT_EQ(test, send_many(fix, &at, 64, 4, 60 * MS), 4);
	KUNIT_EXPECT_EQ(test, send_many(fix, &at, 64, 4, 79 * MS), 0);
	KUNIT_EXPECT_EQ(test, send_many(fix, &at, 64, 4, 100 * MS), 0);
	KUNIT_EXPECT_EQ(test, send_many(fix, &at, 64, 4, 190 * MS), 0);
	KUNIT_EXPECT_EQ(test, send_many(fix, &at, 64, 4, 201 * MS), 4);
	/* One that succeeds. */
	send_many(fix, &at, 64, 4, 230 * MS);
	send_many(fix, &at, 64, 0, 500 * MS);
	send_many(fix, &at, 64, 0, 530 * MS);
	KUNIT_EXPECT_FALSE(test,
			   ornic_fix_qp(&fix->a)->spray->requests.path[2].down);
}

/* More than half of all PSNs. */
#define STEP (275 * ORNIC_SPRAY_PSNS)

/*
 * A responder has PSNs for READ responses only. If its peer has written a lot since the
 * last one, the next ones are not taken for what was sent before.
 */
static void spray_after_many_writes(struct kunit *test)
{
	struct ornic_fixture *fix = open_paths(test, PATHS);
	struct ornic_spray *spray = ornic_fix_qp(&fix->a)->spray;
	struct ornic_txinfo info = { .opcode = ORNIC_OP_READ_RESP_MIDDLE };
	struct ornic_qp *qp = ornic_fix_qp(&fix->a);
	struct ornic_ctx ctx = { .now = 0 };
	u32 i, n, lost;

	qp->rq.selective = true;
	for (i = 0; i < 4; i++) {
		for (n = 0; n < 64; n++) {
			info.psn = ornic_psn_add(PSN, i * STEP + n);
			ornic_spray_sent(&ctx, qp, false, &info);
		}
		for (lost = 0, n = 0; n < PATHS; n++)
			lost += spray->responses.path[n].lost;
		KUNIT_EXPECT_EQ(test, lost, 0);
	}
	ornic_spray_sent(&ctx, qp, false, &info);
	info.psn = ornic_psn_add(info.psn, 1 - 64);
	ornic_spray_sent(&ctx, qp, false, &info);
	KUNIT_EXPECT_EQ(test, spray->responses.path[0].lost, 2);
}

/* At any rate: a packet each 20 ms. */
static void spray_leaves_slowly(struct kunit *test)
{
	struct ornic_fixture *fix = open_paths(test, PATHS);
	u32 at = 0, i;

	ornic_fix_qp(&fix->a)->sq.selective = ORNIC_SELECTIVE_YES;
	for (i = 0; i < 16 * PATHS; i++)
		send_many(fix, &at, 1, 0, i * 20 * MS);
	for (; i < 32 * PATHS &&
	       !ornic_fix_qp(&fix->a)->spray->requests.path[2].down;
	     i++)
		send_many(fix, &at, 1, 4, i * 20 * MS);
	KUNIT_EXPECT_TRUE(test,
			  ornic_fix_qp(&fix->a)->spray->requests.path[2].down);
}

static u32 count_up(struct ornic_fixture *fix)
{
	u32 up = 0, i;

	for (i = 0; i < PATHS; i++)
		up += !ornic_fix_qp(&fix->a)->spray->requests.path[i].down;
	return up;
}

/* If all are equally bad, all stay; if all but one are, that one. */
static void spray_keeps_one_path(struct kunit *test)
{
	struct ornic_fixture *fix = open_paths(test, PATHS);
	u32 at = 0, i;

	ornic_fix_qp(&fix->a)->sq.selective = ORNIC_SELECTIVE_YES;
	for (i = 0; i < 50; i++)
		send_many(fix, &at, 64, 15, 0);
	KUNIT_EXPECT_EQ(test, count_up(fix), PATHS);
	for (i = 0; i < 200; i++)
		send_many(fix, &at, 64, 7, 0);
	KUNIT_EXPECT_EQ(test, count_up(fix), 1);
	for (i = 0; i < 50; i++)
		send_many(fix, &at, 64, 15, 0);
	KUNIT_EXPECT_EQ(test, count_up(fix), 1);
}

/* A requester that repeats what it had an ACK for has not got it. */
static void spray_leaves_a_path_of_acks(struct kunit *test)
{
	struct ornic_fixture *fix = open_paths(test, PATHS);
	struct ornic_spray_dir *dir = &ornic_fix_qp(&fix->a)->spray->responses;
	struct ornic_txinfo info = {
		.opcode = ORNIC_OP_WRITE_ONLY,
		.ack_req = true,
		.selective = ORNIC_BTH_SELECTIVE,
		.va = fix->am.iova,
		.rkey = fix->am.key,
		.dma_len = 8,
	};
	u32 i;

	for (i = 0; i < 16 * PATHS && !dir->path[2].down; i++) {
		info.psn = ornic_psn_add(PSN, i);
		ornic_th_inject(&fix->a, &info, fix->buf, 8);
		if (dir->at == 2)
			ornic_th_inject(&fix->a, &info, fix->buf, 8);
	}
	KUNIT_EXPECT_TRUE(test, dir->path[2].down);
	KUNIT_EXPECT_FALSE(test, dir->path[1].down);
	KUNIT_EXPECT_FALSE(test, dir->path[3].down);
	ornic_fix_drain(fix);
}

/* A peer that may keep nothing: one path, and another one each time all goes again. */
static void spray_goes_back_elsewhere(struct kunit *test)
{
	struct ornic_fixture *fix = open_paths(test, PATHS);
	u32 used = 0, first, at = 0, i, n;

	ornic_fix_qp(&fix->a)->sq.selective = ORNIC_SELECTIVE_YES;
	send_many(fix, &at, 6, 0, 0);
	ornic_fix_qp(&fix->a)->sq.selective = ORNIC_SELECTIVE_FULL;
	ornic_fix_qp(&fix->a)->sq.acked = PSN;
	for (i = 0; i < PATHS; i++) {
		first = path_of(fix, 0, 0);
		used |= 1u << first;
		for (n = 1; n < 6; n++)
			KUNIT_EXPECT_EQ(test, path_of(fix, n, 0), first);
	}
	KUNIT_EXPECT_EQ(test, used, (1u << PATHS) - 1);
	for (i = 0; i < PATHS; i++)
		KUNIT_EXPECT_EQ(
			test,
			ornic_fix_qp(&fix->a)->spray->requests.path[i].lost, 0);
}

static void spray_has_bounds(struct kunit *test)
{
	struct ornic_fixture *fix = open_paths(test, ORNIC_SPRAY_MOST);
	struct ornic_engine *eng = fix->pair.a->eng;
	struct ornic_spray *spray = ornic_fix_qp(&fix->a)->spray;
	u32 i, n;

	for (i = 0; i < ORNIC_SPRAY_MOST; i++)
		for (n = 0; n < i; n++)
			KUNIT_EXPECT_NE(test, spray->port[i], spray->port[n]);
	KUNIT_EXPECT_EQ(test, ornic_engine_spray_set(eng, 17), -EINVAL);
	KUNIT_EXPECT_EQ(test, ornic_engine_spray_get(eng), ORNIC_SPRAY_MOST);
	/* It ends with the connection. */
	KUNIT_EXPECT_EQ(test, ornic_engine_spray_set(eng, 0), 0);
	KUNIT_ASSERT_EQ(test, ornic_th_to(&fix->a, ORNIC_QPS_RESET), 0);
	KUNIT_ASSERT_EQ(test, ornic_fix_connect(fix), 0);
	KUNIT_EXPECT_EQ(test, spray->n, 0);
	ornic_fix_qp(&fix->a)->sq.selective = ORNIC_SELECTIVE_YES;
	KUNIT_EXPECT_EQ(test, path_of(fix, 0, 0), 0);
	KUNIT_EXPECT_EQ(test, path_of(fix, 1, 0), 0);
}

static struct kunit_case spray_cases[] = {
	KUNIT_CASE(spray_takes_all_ports),
	KUNIT_CASE_PARAM(spray_leaves_alone, alone_gen_params),
	KUNIT_CASE(spray_of_responses),
	KUNIT_CASE(spray_of_refused_packets),
	KUNIT_CASE(spray_leaves_a_dead_path),
	KUNIT_CASE(spray_after_many_writes),
	KUNIT_CASE(spray_leaves_slowly),
	KUNIT_CASE(spray_keeps_one_path),
	KUNIT_CASE(spray_goes_back_elsewhere),
	KUNIT_CASE(spray_leaves_a_path_of_acks),
	KUNIT_CASE(spray_has_bounds),
	{}
};

static struct kunit_suite spray_suite = {
	.name = "ornic_spray",
	.init = spray_init,
	.exit = ornic_suite_exit,
	.test_cases = spray_cases,
};

kunit_test_suite(spray_suite);

MODULE_DESCRIPTION("ornic: spraying suite");
MODULE_LICENSE("Dual BSD/GPL");
