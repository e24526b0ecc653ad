// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* Geometry of queue memory: driver/ornic_ring.c. */
#include <kunit/test.h>

#include <rdma/ornic-hw.h>

#include "ornic_ring.h"

static const struct ornic_ring_limits limits = {
	.log_max_wqe = 15,
	.max_sge = ORNIC_MAX_SGE,
	.max_inline = ORNIC_MAX_INLINE,
};

struct sq_case {
	const char *name;
	bool atomics;
	u32 wr, sge, inline_data; /* requested */
	u8 log_depth, log_stride;
	u32 got_sge, got_inline;
};

/* clang-format off */
static const struct sq_case sq_cases[] = {
	/* name			RC	wr	sge inl		depth stride sge inl */
	{ "one small",		true,	1,	1,  0,		0,  6,	1,  32 },
	{ "no sge requested",	true,	1,	0,  0,		0,  6,	1,  32 },
	{ "ud fits two",	false,	16,	2,  0,		4,  6,	2,  32 },
	{ "rc two need 128",	true,	16,	2,  0,		4,  7,	5,  96 },
	{ "depth rounds up",	true,	17,	1,  0,		5,  6,	1,  32 },
	{ "inline 32",		true,	128,	1,  32,		7,  6,	1,  32 },
	{ "inline 33",		true,	128,	1,  33,		7,  7,	5,  96 },
	{ "perftest 220",	true,	128,	1,  220,	7,  8,	13, 224 },
	{ "largest sge",	true,	8,	32, 0,		3,  10,	32, 992 },
	{ "largest inline",	false,	8,	1,  992,	3,  10,	32, 992 },
	{ "deepest",		true,	32768,	1,  0,		15, 6,	1,  32 },
};

/* clang-format on */

KUNIT_ARRAY_PARAM_DESC(sq, sq_cases, name);

static void sq_holds_what_it_says(struct kunit *test)
{
	const struct sq_case *c = test->param_value;
	struct ornic_ring_caps caps = {
		.send_wr = c->wr,
		.send_sge = c->sge,
		.inline_data = c->inline_data,
	};
	struct ornic_qp_rings rings;

	KUNIT_ASSERT_EQ(test,
			ornic_qp_rings_init(&rings, &caps, c->atomics, &limits),
			0);
	KUNIT_EXPECT_TRUE(test, rings.sq.exists);
	KUNIT_EXPECT_EQ(test, rings.sq.log_depth, c->log_depth);
	KUNIT_EXPECT_EQ(test, rings.sq.log_stride, c->log_stride);
	KUNIT_EXPECT_EQ(test, rings.sq.max_sge, c->got_sge);
	KUNIT_EXPECT_EQ(test, rings.sq.max_inline, c->got_inline);
	KUNIT_EXPECT_EQ(test, caps.send_wr, 1u << c->log_depth);
	KUNIT_EXPECT_EQ(test, caps.send_sge, c->got_sge);
	KUNIT_EXPECT_EQ(test, caps.inline_data, c->got_inline);
	KUNIT_EXPECT_FALSE(test, rings.rq.exists);
	KUNIT_EXPECT_EQ(test, caps.recv_wr, 0u);
}

struct rq_case {
	const char *name;
	u32 wr, sge;
	u8 log_depth, log_stride;
	u32 got_sge;
};

static const struct rq_case rq_cases[] = {
	{ "one", 1, 1, 0, 5, 1 },    { "no sge requested", 1, 0, 0, 5, 1 },
	{ "two", 512, 2, 9, 6, 3 },  { "four", 500, 4, 9, 7, 7 },
	{ "all", 2, 32, 1, 10, 32 },
};

KUNIT_ARRAY_PARAM_DESC(rq, rq_cases, name);

static void rq_holds_what_it_says(struct kunit *test)
{
	const struct rq_case *c = test->param_value;
	struct ornic_ring_caps caps = { .recv_wr = c->wr, .recv_sge = c->sge };
	struct ornic_qp_rings rings;

	KUNIT_ASSERT_EQ(test, ornic_qp_rings_init(&rings, &caps, true, &limits),
			0);
	KUNIT_EXPECT_TRUE(test, rings.rq.exists);
	KUNIT_EXPECT_EQ(test, rings.rq.log_depth, c->log_depth);
	KUNIT_EXPECT_EQ(test, rings.rq.log_stride, c->log_stride);
	KUNIT_EXPECT_EQ(test, rings.rq.max_sge, c->got_sge);
	KUNIT_EXPECT_EQ(test, caps.recv_wr, 1u << c->log_depth);
	KUNIT_EXPECT_EQ(test, caps.recv_sge, c->got_sge);
	KUNIT_EXPECT_FALSE(test, rings.sq.exists);
}

/* Address vectors in WQEs take room from SGEs and inline data. */
static void sq_has_room_for_more_segments(struct kunit *test)
{
	struct ornic_ring_caps caps = {
		.send_wr = 128,
		.send_sge = 2,
		.send_segs = sizeof(struct ornic_av),
	};
	struct ornic_qp_rings rings;

	KUNIT_ASSERT_EQ(test,
			ornic_qp_rings_init(&rings, &caps, false, &limits), 0);
	KUNIT_EXPECT_EQ(test, rings.sq.log_stride, 7);
	KUNIT_EXPECT_EQ(test, rings.sq.max_sge, 4);
	KUNIT_EXPECT_EQ(test, rings.sq.max_inline, 64);
}

/* The device has no stride above that of the largest inline data. */
static void segments_take_room_from_inline_data(struct kunit *test)
{
	const u32 most = ORNIC_MAX_INLINE - sizeof(struct ornic_av);
	struct ornic_ring_caps caps = {
		.send_wr = 1,
		.inline_data = most,
		.send_segs = sizeof(struct ornic_av),
	};
	struct ornic_qp_rings rings;

	KUNIT_ASSERT_EQ(test,
			ornic_qp_rings_init(&rings, &caps, false, &limits), 0);
	KUNIT_EXPECT_EQ(test, rings.sq.log_stride, 10);
	KUNIT_EXPECT_EQ(test, rings.sq.max_inline, most);
	caps.inline_data = most + 1;
	KUNIT_EXPECT_EQ(test,
			ornic_qp_rings_init(&rings, &caps, false, &limits),
			-EINVAL);
	caps.inline_data = ~0u;
	KUNIT_EXPECT_EQ(test,
			ornic_qp_rings_init(&rings, &caps, false, &limits),
			-EINVAL);
}

static void rings_follow_each_other_on_pages(struct kunit *test)
{
	struct ornic_ring_caps caps = {
		.send_wr = 65,
		.send_sge = 1,
		.recv_wr = 4,
		.recv_sge = 1,
	};
	struct ornic_qp_rings rings;

	KUNIT_ASSERT_EQ(test, ornic_qp_rings_init(&rings, &caps, true, &limits),
			0);
	/* 128 send WQEs of 64 bytes; 4 receive WQEs take a page of their own. */
	KUNIT_EXPECT_EQ(test, rings.sq.offset, 4096u);
	KUNIT_EXPECT_EQ(test, rings.rq.offset, 4096u + 8192u);
	KUNIT_EXPECT_EQ(test, rings.size, 4096u + 8192u + 4096u);
}

static void rings_that_do_not_exist_take_no_space(struct kunit *test)
{
	struct ornic_ring_caps caps = {
		.send_sge = 3,
		.recv_sge = 3,
		.inline_data = 7,
	};
	struct ornic_qp_rings rings;

	KUNIT_ASSERT_EQ(test, ornic_qp_rings_init(&rings, &caps, true, &limits),
			0);
	KUNIT_EXPECT_EQ(test, rings.size, 4096u);
	KUNIT_EXPECT_EQ(test, rings.rq.offset, 4096u);
	KUNIT_EXPECT_EQ(test, caps.send_sge, 0u);
	KUNIT_EXPECT_EQ(test, caps.recv_sge, 0u);
	KUNIT_EXPECT_EQ(test, caps.inline_data, 0u);
}

static const struct bad_caps {
	const char *name;
	struct ornic_ring_caps caps;
} bad_caps[] = {
	{ "send wr", { .send_wr = 32769 } },
	{ "recv wr", { .recv_wr = 32769 } },
	{ "all ones", { .send_wr = 0xffffffff } },
	{ "send sge", { .send_wr = 1, .send_sge = 33 } },
	{ "recv sge", { .recv_wr = 1, .recv_sge = 33 } },
	{ "sge without queue", { .send_sge = 33 } },
	{ "inline", { .send_wr = 1, .inline_data = 993 } },
};

KUNIT_ARRAY_PARAM_DESC(bad, bad_caps, name);

static void rings_beyond_limits_are_refused(struct kunit *test)
{
	const struct bad_caps *c = test->param_value;
	struct ornic_ring_caps caps = c->caps;
	struct ornic_qp_rings rings;

	KUNIT_EXPECT_EQ(test, ornic_qp_rings_init(&rings, &caps, true, &limits),
			-EINVAL);
}

/* All that is requested within the limits is held, and fits its stride. */
static void rings_hold_every_legal_wqe(struct kunit *test)
{
	u32 sge, inl;

	for (sge = 0; sge <= ORNIC_MAX_SGE; sge++) {
		for (inl = 0; inl <= ORNIC_MAX_INLINE; inl += 31) {
			struct ornic_ring_caps caps = {
				.send_wr = 3,
				.send_sge = sge,
				.inline_data = inl,
			};
			struct ornic_qp_rings rings;
			u32 stride;

			KUNIT_ASSERT_EQ(test,
					ornic_qp_rings_init(&rings, &caps, true,
							    &limits),
					0);
			stride = 1u << rings.sq.log_stride;
			KUNIT_EXPECT_GE(test, caps.send_sge, sge);
			KUNIT_EXPECT_GE(test, caps.inline_data, inl);
			KUNIT_EXPECT_LE(test, 48 + 16 * caps.send_sge, stride);
			KUNIT_EXPECT_LE(test, 32 + caps.inline_data, stride);
			KUNIT_EXPECT_LE(test, stride, 1024u);
		}
	}
}

struct cq_case {
	const char *name;
	u32 cqe;
	int ret;
	u8 log_depth;
	u32 size;
};

static const struct cq_case cq_cases[] = {
	{ "none", 0, -EINVAL, 0, 0 },
	{ "one", 1, 0, 0, 8192 },
	{ "a page", 64, 0, 6, 8192 },
	{ "a page and one", 65, 0, 7, 12288 },
	{ "largest", 65536, 0, 16, 4096 + 65536 * 64 },
	{ "too large", 65537, -EINVAL, 0, 0 },
	{ "all ones", 0xffffffff, -EINVAL, 0, 0 },
};

KUNIT_ARRAY_PARAM_DESC(cq, cq_cases, name);

static void cq_is_a_power_of_two(struct kunit *test)
{
	const struct cq_case *c = test->param_value;
	u8 log_depth = 0;
	u64 size = 0;

	KUNIT_ASSERT_EQ(test, ornic_cq_ring_init(c->cqe, 16, &log_depth, &size),
			c->ret);
	KUNIT_EXPECT_EQ(test, log_depth, c->log_depth);
	KUNIT_EXPECT_EQ(test, size, c->size);
}

static const struct srq_case {
	const char *name;
	u32 wr, sge;
	int ret;
	u8 log_depth, log_stride;
	u32 got_sge;
	u64 size;
} srq_cases[] = {
	{ "none", 0, 1, -EINVAL, 0, 0, 0, 0 },
	{ "one", 1, 1, 0, 0, 5, 1, 8192 },
	{ "no sge requested", 1, 0, 0, 0, 5, 1, 8192 },
	{ "rounds up", 100, 2, 0, 7, 6, 3, 4096 + 128 * 64 },
	{ "largest", 32768, 32, 0, 15, 10, 32, 4096 + 32768 * 1024 },
	{ "too deep", 32769, 1, -EINVAL, 0, 0, 0, 0 },
	{ "too many sges", 1, 33, -EINVAL, 0, 0, 0, 0 },
	{ "all ones", 0xffffffff, 1, -EINVAL, 0, 0, 0, 0 },
};

KUNIT_ARRAY_PARAM_DESC(srq, srq_cases, name);

static void srq_holds_what_it_says(struct kunit *test)
{
	const struct srq_case *c = test->param_value;
	struct ornic_ring_caps caps = {
		.recv_wr = c->wr,
		.recv_sge = c->sge,
	};
	struct ornic_ring_geom ring;
	u64 size = 0;

	KUNIT_ASSERT_EQ(test, ornic_srq_ring_init(&ring, &caps, &limits, &size),
			c->ret);
	if (c->ret)
		return;
	KUNIT_EXPECT_TRUE(test, ring.exists);
	KUNIT_EXPECT_EQ(test, ring.offset, ORNIC_RING_OFFSET);
	KUNIT_EXPECT_EQ(test, ring.log_depth, c->log_depth);
	KUNIT_EXPECT_EQ(test, ring.log_stride, c->log_stride);
	KUNIT_EXPECT_EQ(test, ring.max_sge, c->got_sge);
	KUNIT_EXPECT_EQ(test, caps.recv_wr, 1u << c->log_depth);
	KUNIT_EXPECT_EQ(test, caps.recv_sge, c->got_sge);
	KUNIT_EXPECT_EQ(test, size, c->size);
}

static struct kunit_case cases[] = {
	KUNIT_CASE_PARAM(sq_holds_what_it_says, sq_gen_params),
	KUNIT_CASE_PARAM(rq_holds_what_it_says, rq_gen_params),
	KUNIT_CASE(sq_has_room_for_more_segments),
	KUNIT_CASE(segments_take_room_from_inline_data),
	KUNIT_CASE(rings_follow_each_other_on_pages),
	KUNIT_CASE(rings_that_do_not_exist_take_no_space),
	KUNIT_CASE_PARAM(rings_beyond_limits_are_refused, bad_gen_params),
	KUNIT_CASE(rings_hold_every_legal_wqe),
	KUNIT_CASE_PARAM(cq_is_a_power_of_two, cq_gen_params),
	KUNIT_CASE_PARAM(srq_holds_what_it_says, srq_gen_params),
	{}
};

static struct kunit_suite suite = {
	.name = "ornic_driver_ring",
	.test_cases = cases,
};

kunit_test_suite(suite);

MODULE_IMPORT_NS(EXPORTED_FOR_KUNIT_TESTING);
MODULE_DESCRIPTION("KUnit suite of ornic's queue geometry");
MODULE_LICENSE("Dual BSD/GPL");
