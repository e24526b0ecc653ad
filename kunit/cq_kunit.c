// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* Completion queues: phases, overflow, arming; and rings. */
#include <kunit/test.h>

#include "harness.h"
#include "engine/cq.h"

#define LOG_DEPTH 2
#define DEPTH (1u << LOG_DEPTH)

struct cq_fixture {
	struct ornic_th *th;
	struct ornic_th_cq cq;
	struct ornic_ctx ctx;
	bool written;
};

static int cq_init(struct kunit *test)
{
	struct cq_fixture *fix = kunit_kzalloc(test, sizeof(*fix), GFP_KERNEL);

	if (!fix)
		return -ENOMEM;
	test->priv = fix;
	fix->th = ornic_th_create(1, 1);
	if (!fix->th)
		return -ENOMEM;
	return ornic_th_cq_init(fix->th, &fix->cq, LOG_DEPTH);
}

static void cq_exit(struct kunit *test)
{
	struct cq_fixture *fix = test->priv;

	KUNIT_EXPECT_EQ(test, ornic_th_destroy(fix->th), 0);
}

static struct ornic_cq_record *record(struct cq_fixture *fix)
{
	return (struct ornic_cq_record *)fix->cq.mem;
}

/* The engine's end; it stays, since only these cases destroy it. */
static struct ornic_cq *engine_cq(struct cq_fixture *fix)
{
	struct ornic_cq *cq;

	ornic_rcu_read_lock();
	cq = ornic_table_lookup(&fix->th->eng->dev.cqs, fix->cq.cqn);
	ornic_rcu_read_unlock();
	return cq;
}

/* One CQE with @wr_id, in a call of its own. */
static void push(struct cq_fixture *fix, u64 wr_id, bool solicited)
{
	struct ornic_cqe cqe = {
		.wr_id = cpu_to_le64(wr_id),
		.opcode = ORNIC_CQE_RECV,
		.status = ORNIC_CQE_REM_OP_ERR,
		.vendor_err = ORNIC_VERR_NAK,
		/* A phase that the caller has no business to set. */
		.flags = ORNIC_CQE_WITH_IMM | (wr_id & 1),
	};

	ornic_ctx_begin(&fix->ctx, &fix->th->eng->dev, 0);
	fix->written =
		ornic_cq_push(&fix->ctx, engine_cq(fix), &cqe, solicited);
	ornic_ctx_end(&fix->ctx);
}

static u32 events(struct cq_fixture *fix, enum ornic_eqe_type type)
{
	return fix->th->event_count[type];
}

/* Three passes, so that the phase toggles twice. */
static void push_is_seen_by_phase(struct kunit *test)
{
	struct cq_fixture *fix = test->priv;
	struct ornic_cqe cqe;
	u64 i;

	for (i = 0; i < 3 * DEPTH; i++) {
		fix->th->now += 5;
		KUNIT_ASSERT_FALSE(test, ornic_th_poll(&fix->cq, &cqe));
		push(fix, i, false);
		KUNIT_ASSERT_TRUE(test, ornic_th_poll(&fix->cq, &cqe));
		KUNIT_EXPECT_EQ(test, le64_to_cpu(cqe.wr_id), i);
		KUNIT_EXPECT_EQ(test, le64_to_cpu(cqe.timestamp), fix->th->now);
		KUNIT_EXPECT_EQ(test, cqe.opcode, ORNIC_CQE_RECV);
		KUNIT_EXPECT_EQ(test, cqe.status, ORNIC_CQE_REM_OP_ERR);
		KUNIT_EXPECT_EQ(test, cqe.vendor_err, ORNIC_VERR_NAK);
		KUNIT_EXPECT_EQ(test, cqe.flags & ~ORNIC_CQE_PHASE,
				ORNIC_CQE_WITH_IMM);
		KUNIT_EXPECT_TRUE(test, fix->written);
	}
}

static void push_goes_on_over_the_wrap(struct kunit *test)
{
	struct cq_fixture *fix = test->priv;
	u32 i, start = -(u32)DEPTH;
	struct ornic_cqe cqe;

	engine_cq(fix)->producer = start;
	fix->cq.consumer = start;
	record(fix)->consumer = cpu_to_le32(start);
	/* As the pass before, an odd one, left it. */
	memset(fix->cq.mem + 4096, 0xff, DEPTH * sizeof(cqe));
	for (i = 0; i < 2 * DEPTH; i++) {
		KUNIT_ASSERT_FALSE(test, ornic_th_poll(&fix->cq, &cqe));
		push(fix, i, false);
		KUNIT_ASSERT_TRUE(test, ornic_th_poll(&fix->cq, &cqe));
		KUNIT_EXPECT_EQ(test, le64_to_cpu(cqe.wr_id), i);
	}
}

/* IBTA 11.6.3.2: nothing is overwritten, and the CQ says so, once. */
static void push_stops_at_overflow(struct kunit *test)
{
	struct cq_fixture *fix = test->priv;
	struct ornic_cqe cqe;
	u32 i;

	for (i = 0; i < DEPTH + 3; i++)
		push(fix, i, true);
	KUNIT_EXPECT_EQ(test, events(fix, ORNIC_EVENT_CQ_ERR), 1);
	for (i = 0; i < DEPTH; i++) {
		KUNIT_ASSERT_TRUE(test, ornic_th_poll(&fix->cq, &cqe));
		KUNIT_EXPECT_EQ(test, le64_to_cpu(cqe.wr_id), i);
	}
	push(fix, 100, true);
	KUNIT_EXPECT_FALSE(test, fix->written);
	KUNIT_EXPECT_FALSE(test, ornic_th_poll(&fix->cq, &cqe));
}

/* An index that was never produced means "full", not "lots of room". */
static void push_distrusts_the_consumer(struct kunit *test)
{
	struct cq_fixture *fix = test->priv;
	struct ornic_cqe cqe;

	record(fix)->consumer = cpu_to_le32(1000);
	push(fix, 1, false);
	KUNIT_EXPECT_FALSE(test, ornic_th_poll(&fix->cq, &cqe));
	KUNIT_EXPECT_EQ(test, events(fix, ORNIC_EVENT_CQ_ERR), 1);
}

static const struct arm_row {
	const char *name;
	u32 arm;
	bool solicited;
	u32 events;
} arm_rows[] = {
	{ "not armed", 0, true, 0 },
	{ "next", 1 << 2 | ORNIC_ARM_NEXT, false, 1 },
	{ "next, solicited", 1 << 2 | ORNIC_ARM_NEXT, true, 1 },
	{ "solicited only, and it is", 1 << 2 | ORNIC_ARM_SOLICITED, true, 1 },
	{ "solicited only, and it is not", 1 << 2 | ORNIC_ARM_SOLICITED, false,
	  0 },
	{ "sequence without a mode", 7 << 2, true, 0 },
	{ "mode that does not exist", 1 << 2 | 3, false, 0 },
	{ "last sequence", 0xfffffffe, false, 1 },
};

KUNIT_ARRAY_PARAM_DESC(arm, arm_rows, name);

/* IBTA 11.4.2.2: one event for each request. */
static void push_fires_what_is_armed(struct kunit *test)
{
	const struct arm_row *row = test->param_value;
	struct cq_fixture *fix = test->priv;
	struct ornic_engine *eng = fix->th->eng;

	record(fix)->arm = cpu_to_le32(row->arm);
	push(fix, 1, row->solicited);
	KUNIT_EXPECT_EQ(test, events(fix, ORNIC_EVENT_COMP), row->events);
	KUNIT_EXPECT_EQ(test, le32_to_cpu(record(fix)->fired),
			row->events ? row->arm : 0);
	push(fix, 2, row->solicited);
	KUNIT_EXPECT_EQ(test, events(fix, ORNIC_EVENT_COMP), row->events);
	KUNIT_EXPECT_EQ(test, ornic_engine_stat(eng, ORNIC_STAT_COMP_EVENTS),
			row->events);
}

static void push_names_cq_and_vector(struct kunit *test)
{
	struct cq_fixture *fix = test->priv;

	ornic_th_arm(&fix->cq, ORNIC_ARM_NEXT);
	push(fix, 1, false);
	KUNIT_ASSERT_EQ(test, fix->th->nevents, 1);
	KUNIT_EXPECT_EQ(test, le32_to_cpu(fix->th->events[0].obj), fix->cq.cqn);
	KUNIT_EXPECT_EQ(test, fix->th->events[0].vector, 1);
}

/* Armed again with the same mode is armed anew, also against @fired. */
static void push_fires_each_arming_once(struct kunit *test)
{
	struct cq_fixture *fix = test->priv;
	struct ornic_cqe cqe;
	u32 i;

	for (i = 1; i < 10; i++) {
		ornic_th_arm(&fix->cq, ORNIC_ARM_NEXT);
		/* What the host writes there must not matter. */
		record(fix)->fired = record(fix)->arm;
		push(fix, i, false);
		ornic_th_poll(&fix->cq, &cqe);
		push(fix, i, false);
		ornic_th_poll(&fix->cq, &cqe);
		KUNIT_EXPECT_EQ(test, events(fix, ORNIC_EVENT_COMP), i);
	}
}

/* ---- Events of a call --------------------------------------------------------- */

static void ctx_event_merges(struct kunit *test)
{
	struct cq_fixture *fix = test->priv;
	u32 i;

	ornic_ctx_begin(&fix->ctx, &fix->th->eng->dev, 0);
	for (i = 0; i < 100; i++) {
		ornic_ctx_event(&fix->ctx, ORNIC_EVENT_COMP, i % 3, 0);
		ornic_ctx_event(&fix->ctx, ORNIC_EVENT_COMM_EST, 1, 0);
	}
	KUNIT_EXPECT_EQ(test, fix->th->nevents, 0);
	ornic_ctx_end(&fix->ctx);
	KUNIT_EXPECT_EQ(test, events(fix, ORNIC_EVENT_COMP), 3);
	KUNIT_EXPECT_EQ(test, events(fix, ORNIC_EVENT_COMM_EST), 1);
}

static void ctx_says_when_it_is_full(struct kunit *test)
{
	struct cq_fixture *fix = test->priv;
	u32 i;

	ornic_ctx_begin(&fix->ctx, &fix->th->eng->dev, 0);
	for (i = 0; !ornic_ctx_full(&fix->ctx); i++)
		ornic_ctx_event(&fix->ctx, ORNIC_EVENT_COMP, i, 0);
	KUNIT_EXPECT_EQ(test, i, ORNIC_CTX_EVENTS - ORNIC_CTX_RESERVE + 1);
	/* Even a caller that does not ask breaks nothing. */
	for (i = 0; i < 100; i++)
		ornic_ctx_event(&fix->ctx, ORNIC_EVENT_COMP, i, 0);
	KUNIT_EXPECT_EQ(test, fix->ctx.nevents, ORNIC_CTX_EVENTS);
	ornic_ctx_end(&fix->ctx);
}

/* ---- Creating ------------------------------------------------------------------- */

static const struct create_row {
	const char *name;
	u32 npages;
	u32 shift_addr;
	u8 log_depth;
	u8 vector;
	int status;
} create_rows[] = {
	{ "one page of CQEs", 2, 0, 6, 0, ORNIC_OK },
	{ "one CQE", 2, 0, 0, 1, ORNIC_OK },
	{ "vector that does not exist", 2, 0, 6, 2, ORNIC_BAD_PARAM },
	{ "ring longer than its memory", 2, 0, 7, 0, ORNIC_BAD_PARAM },
	{ "no ring at all", 1, 0, 0, 0, ORNIC_BAD_PARAM },
	{ "deeper than any", 2, 0, ORNIC_LOG_MAX_CQE + 1, 0, ORNIC_BAD_PARAM },
	{ "depth that would wrap", 2, 0, 64, 0, ORNIC_BAD_PARAM },
	{ "misaligned", 2, 64, 0, 0, ORNIC_BAD_PARAM },
	{ "not DMA memory", 9, 0, 0, 0, ORNIC_BAD_ADDR },
};

KUNIT_ARRAY_PARAM_DESC(create, create_rows, name);

static void create_checks(struct kunit *test)
{
	const struct create_row *row = test->param_value;
	struct cq_fixture *fix = test->priv;
	u8 *mem = ornic_th_alloc(fix->th, 3 * 4096);
	struct ornic_req_create_cq req;
	u32 cqn = 0;

	KUNIT_ASSERT_NOT_NULL(test, mem);
	memset(&req, 0, sizeof(req));
	req.mem.addr = cpu_to_le64((u64)(uintptr_t)mem + row->shift_addr);
	req.mem.npages = cpu_to_le32(row->npages);
	req.mem.page_shift = 12;
	req.log_depth = row->log_depth;
	req.vector = row->vector;
	KUNIT_EXPECT_EQ(test, ornic_cq_create(&fix->th->eng->dev, &req, &cqn),
			row->status);
	KUNIT_EXPECT_EQ(test, !!cqn, row->status == ORNIC_OK);
}

static void destroy_waits_for_its_users(struct kunit *test)
{
	struct cq_fixture *fix = test->priv;
	struct ornic_dev *dev = &fix->th->eng->dev;
	struct ornic_cq *cq = engine_cq(fix);
	struct ornic_cqe cqe;

	ornic_atomic_inc(&cq->users);
	KUNIT_EXPECT_EQ(test, ornic_cq_destroy(dev, fix->cq.cqn), ORNIC_BUSY);
	/* It lives on as before. */
	push(fix, 1, false);
	KUNIT_EXPECT_TRUE(test, ornic_th_poll(&fix->cq, &cqe));
	ornic_atomic_dec(&cq->users);
	KUNIT_EXPECT_EQ(test, ornic_cq_destroy(dev, fix->cq.cqn), ORNIC_OK);
	KUNIT_EXPECT_EQ(test, ornic_cq_destroy(dev, fix->cq.cqn),
			ORNIC_NOT_FOUND);
	KUNIT_EXPECT_EQ(test, ornic_cq_destroy(dev, U32_MAX), ORNIC_NOT_FOUND);
}

/* Every slot lies inside the memory, no two at the same place. */
static void ring_covers_its_memory(struct kunit *test)
{
	struct cq_fixture *fix = test->priv;
	u8 *mem = ornic_th_alloc(fix->th, 5 * 4096);
	struct ornic_pages pages = { .base = mem,
				     .npages = 5,
				     .page_shift = 12 };
	struct ornic_ring ring;
	u32 i;

	KUNIT_ASSERT_NOT_NULL(test, mem);
	KUNIT_ASSERT_EQ(test, ornic_ring_init(&ring, &pages, 4096, 4, 10), 0);
	for (i = 0; i < 64; i++)
		KUNIT_EXPECT_PTR_EQ(test, (u8 *)ornic_ring_slot(&ring, i),
				    mem + 4096 + (i % 16) * 1024);
	ornic_ring_fini(&ring);
	KUNIT_EXPECT_EQ(test, ornic_ring_init(&ring, &pages, 8192, 4, 10),
			-EINVAL);
	KUNIT_EXPECT_EQ(test, ornic_ring_init(&ring, &pages, U64_MAX, 0, 6),
			-EINVAL);
}

/* ---- Resizing ------------------------------------------------------------------- */

static const struct resize_row {
	const char *name;
	u32 before; /* CQEs pushed and polled before */
	u32 waiting;
	u8 log_depth;
	int status;
} resize_rows[] = {
	{ "larger, empty", 0, 0, 5, ORNIC_OK },
	{ "larger, full", 0, DEPTH, 5, ORNIC_OK },
	{ "larger, over the end of the ring", 3, DEPTH, 3, ORNIC_OK },
	{ "larger, in the second pass", DEPTH + 2, 3, 3, ORNIC_OK },
	{ "the same size", 5, 2, LOG_DEPTH, ORNIC_OK },
	{ "smaller, empty", 7, 0, 0, ORNIC_OK },
	{ "smaller, just fits", 6, 2, 1, ORNIC_OK },
	{ "smaller, does not fit", 6, 3, 1, ORNIC_BAD_PARAM },
};

KUNIT_ARRAY_PARAM_DESC(resize, resize_rows, name);

/* No CQE is lost or comes twice, whatever comes before and after. */
static void resize_keeps_what_waits(struct kunit *test)
{
	const struct resize_row *row = test->param_value;
	struct cq_fixture *fix = test->priv;
	u32 i, n = row->before + row->waiting;
	struct ornic_cqe cqe;

	for (i = 0; i < row->before; i++) {
		push(fix, i, false);
		KUNIT_ASSERT_TRUE(test, ornic_th_poll(&fix->cq, &cqe));
	}
	for (; i < n; i++)
		push(fix, i, false);
	KUNIT_ASSERT_EQ(test, ornic_th_cq_resize(&fix->cq, row->log_depth),
			row->status);
	for (i = row->before; i < n; i++) {
		KUNIT_ASSERT_TRUE(test, ornic_th_poll(&fix->cq, &cqe));
		KUNIT_EXPECT_EQ(test, le64_to_cpu(cqe.wr_id), i);
	}
	for (i = n; i < n + 100; i++) {
		KUNIT_ASSERT_FALSE(test, ornic_th_poll(&fix->cq, &cqe));
		push(fix, i, false);
		KUNIT_ASSERT_TRUE(test, ornic_th_poll(&fix->cq, &cqe));
		KUNIT_EXPECT_EQ(test, le64_to_cpu(cqe.wr_id), i);
	}
	KUNIT_EXPECT_EQ(test, events(fix, ORNIC_EVENT_CQ_ERR), 0);
}

static void resize_moves_the_limit(struct kunit *test)
{
	struct cq_fixture *fix = test->priv;
	u32 i;

	KUNIT_ASSERT_EQ(test, ornic_th_cq_resize(&fix->cq, LOG_DEPTH + 1), 0);
	for (i = 0; i < 2 * DEPTH; i++)
		push(fix, i, false);
	KUNIT_EXPECT_EQ(test, events(fix, ORNIC_EVENT_CQ_ERR), 0);
	push(fix, i, false);
	KUNIT_EXPECT_EQ(test, events(fix, ORNIC_EVENT_CQ_ERR), 1);
	KUNIT_EXPECT_EQ(test, ornic_th_cq_resize(&fix->cq, LOG_DEPTH + 2),
			ORNIC_BAD_STATE);
}

/* The lock is not held for longer than so many take. */
static void resize_moves_no_more_than_it_may(struct kunit *test)
{
	struct cq_fixture *fix = test->priv;
	u32 i;

	KUNIT_ASSERT_EQ(test, ornic_th_cq_resize(&fix->cq, 18), 0);
	for (i = 0; i <= ORNIC_MAX_MOVED_CQES; i++)
		push(fix, i, false);
	KUNIT_EXPECT_EQ(test, ornic_th_cq_resize(&fix->cq, 19), ORNIC_BUSY);
	KUNIT_EXPECT_EQ(test, events(fix, ORNIC_EVENT_CQ_ERR), 0);
	record(fix)->consumer = cpu_to_le32(1);
	KUNIT_EXPECT_EQ(test, ornic_th_cq_resize(&fix->cq, 19), 0);
}

/* What is armed fires once, in the new memory; what has fired does not. */
static void resize_keeps_the_arming(struct kunit *test)
{
	struct cq_fixture *fix = test->priv;

	ornic_th_arm(&fix->cq, ORNIC_ARM_NEXT);
	KUNIT_ASSERT_EQ(test, ornic_th_cq_resize(&fix->cq, 4), 0);
	push(fix, 1, false);
	KUNIT_EXPECT_EQ(test, events(fix, ORNIC_EVENT_COMP), 1);
	KUNIT_EXPECT_EQ(test, le32_to_cpu(record(fix)->fired),
			le32_to_cpu(record(fix)->arm));
	KUNIT_ASSERT_EQ(test, ornic_th_cq_resize(&fix->cq, 5), 0);
	push(fix, 2, false);
	KUNIT_EXPECT_EQ(test, events(fix, ORNIC_EVENT_COMP), 1);
	ornic_th_arm(&fix->cq, ORNIC_ARM_NEXT);
	push(fix, 3, false);
	KUNIT_EXPECT_EQ(test, events(fix, ORNIC_EVENT_COMP), 2);
}

static void resize_distrusts_the_consumer(struct kunit *test)
{
	struct cq_fixture *fix = test->priv;

	record(fix)->consumer = cpu_to_le32(1000);
	KUNIT_EXPECT_EQ(test, ornic_th_cq_resize(&fix->cq, 10),
			ORNIC_BAD_PARAM);
	record(fix)->consumer = cpu_to_le32(-(u32)DEPTH - 1);
	KUNIT_EXPECT_EQ(test, ornic_th_cq_resize(&fix->cq, 10),
			ORNIC_BAD_PARAM);
	record(fix)->consumer = 0;
	KUNIT_EXPECT_EQ(test,
			ornic_th_cq_resize(&fix->cq, ORNIC_LOG_MAX_CQE + 1),
			ORNIC_BAD_PARAM);
	fix->cq.cqn++;
	KUNIT_EXPECT_EQ(test, ornic_th_cq_resize(&fix->cq, 4), ORNIC_NOT_FOUND);
	fix->cq.cqn--;
}

/* ---- Moderation ---------------------------------------------------------------- */

static int modify(struct cq_fixture *fix, u32 cqn, u16 count, u16 period)
{
	union ornic_req req;
	union ornic_rsp rsp;

	memset(&req, 0, sizeof(req));
	req.modify_cq.hdr.opcode = ORNIC_CMD_MODIFY_CQ;
	req.modify_cq.hdr.obj = cpu_to_le32(cqn);
	req.modify_cq.count = cpu_to_le16(count);
	req.modify_cq.period = cpu_to_le16(period);
	return ornic_th_cmd(fix->th, &req, &rsp);
}

static void wait_us(struct cq_fixture *fix, u32 us)
{
	fix->th->now += us * 1000ull;
	ornic_th_cq_expire(fix->th);
}

static const struct moderate_row {
	const char *name;
	u16 count;
	u16 period;
	u32 pushed;
	u32 wait; /* us after the last of them */
	u32 events;
} moderate_rows[] = {
	{ "off", 0, 0, 1, 0, 1 },
	{ "one is no moderation", 1, 100, 1, 0, 1 },
	{ "count not reached", 3, 0, 2, 60000, 0 },
	{ "count reached", 3, 0, 3, 0, 1 },
	{ "count reached before the period ends", 3, 100, 3, 0, 1 },
	{ "period not over", 3, 100, 2, 99, 0 },
	{ "period over", 3, 100, 2, 100, 1 },
	{ "period alone, not over", 0, 100, 4, 99, 0 },
	{ "period alone, over", 0, 100, 4, 100, 1 },
	{ "period over without a CQE", 3, 100, 0, 1000, 0 },
	{ "longest period", 65535, 65535, 1, 65535, 1 },
};

KUNIT_ARRAY_PARAM_DESC(moderate, moderate_rows, name);

/* One event per arming, when count or period is reached, and CQEs at once. */
static void moderated_event_comes_in_time(struct kunit *test)
{
	const struct moderate_row *row = test->param_value;
	struct cq_fixture *fix = test->priv;
	struct ornic_cqe cqe;
	u32 i, round;

	KUNIT_ASSERT_EQ(test, modify(fix, fix->cq.cqn, row->count, row->period),
			ORNIC_OK);
	for (round = 1; round <= 2; round++) {
		ornic_th_arm(&fix->cq, ORNIC_ARM_NEXT);
		for (i = 0; i < row->pushed; i++)
			push(fix, i, false);
		wait_us(fix, row->wait);
		KUNIT_EXPECT_EQ(test, events(fix, ORNIC_EVENT_COMP),
				round * row->events);
		for (i = 0; i < row->pushed; i++)
			KUNIT_EXPECT_TRUE(test, ornic_th_poll(&fix->cq, &cqe));
		/* What did not come by itself does not count for the next. */
		modify(fix, fix->cq.cqn, 0, 0);
		modify(fix, fix->cq.cqn, row->count, row->period);
		fix->th->event_count[ORNIC_EVENT_COMP] = round * row->events;
	}
	wait_us(fix, 100000);
	KUNIT_EXPECT_EQ(test, events(fix, ORNIC_EVENT_COMP), 2 * row->events);
}

/* CQEs that would not raise an event do not count for one. */
static void moderation_counts_what_is_armed(struct kunit *test)
{
	struct cq_fixture *fix = test->priv;
	struct ornic_cqe cqe;

	KUNIT_ASSERT_EQ(test, modify(fix, fix->cq.cqn, 2, 0), ORNIC_OK);
	push(fix, 1, false);
	ornic_th_arm(&fix->cq, ORNIC_ARM_SOLICITED);
	push(fix, 2, false);
	push(fix, 3, true);
	KUNIT_EXPECT_EQ(test, events(fix, ORNIC_EVENT_COMP), 0);
	push(fix, 4, true);
	KUNIT_EXPECT_EQ(test, events(fix, ORNIC_EVENT_COMP), 1);
	/* The next event needs as many again. */
	while (ornic_th_poll(&fix->cq, &cqe))
		;
	ornic_th_arm(&fix->cq, ORNIC_ARM_NEXT);
	push(fix, 5, false);
	KUNIT_EXPECT_EQ(test, events(fix, ORNIC_EVENT_COMP), 1);
	push(fix, 6, false);
	KUNIT_EXPECT_EQ(test, events(fix, ORNIC_EVENT_COMP), 2);
}

/* The period of an event begins after the event before it. */
static void moderation_begins_anew(struct kunit *test)
{
	struct cq_fixture *fix = test->priv;
	struct ornic_cqe cqe;

	KUNIT_ASSERT_EQ(test, modify(fix, fix->cq.cqn, 2, 100), ORNIC_OK);
	ornic_th_arm(&fix->cq, ORNIC_ARM_NEXT);
	push(fix, 1, false);
	push(fix, 2, false);
	KUNIT_EXPECT_EQ(test, events(fix, ORNIC_EVENT_COMP), 1);
	while (ornic_th_poll(&fix->cq, &cqe))
		;
	wait_us(fix, 99);
	ornic_th_arm(&fix->cq, ORNIC_ARM_NEXT);
	push(fix, 3, false);
	wait_us(fix, 99);
	KUNIT_EXPECT_EQ(test, events(fix, ORNIC_EVENT_COMP), 1);
	wait_us(fix, 1);
	KUNIT_EXPECT_EQ(test, events(fix, ORNIC_EVENT_COMP), 2);
}

/* A timer that fires too early is set again; one of a CQ that went does nothing. */
static void moderation_survives_a_wrong_timer(struct kunit *test)
{
	struct cq_fixture *fix = test->priv;
	struct ornic_th *th = fix->th;

	KUNIT_ASSERT_EQ(test, modify(fix, fix->cq.cqn, 0, 100), ORNIC_OK);
	ornic_th_arm(&fix->cq, ORNIC_ARM_NEXT);
	push(fix, 1, false);
	KUNIT_ASSERT_NE(test, th->hcqs->deadline, 0);
	th->hcqs->deadline = 0;
	ornic_engine_cq_expire(th->eng, fix->cq.cqn);
	KUNIT_EXPECT_EQ(test, th->hcqs->deadline, th->now + 100000);
	KUNIT_EXPECT_EQ(test, th->event_count[ORNIC_EVENT_COMP], 0);
	ornic_engine_cq_expire(th->eng, fix->cq.cqn + 1);
	KUNIT_EXPECT_EQ(test, th->event_count[ORNIC_EVENT_COMP], 0);
	/* The user waits no longer: there is nobody to tell. */
	ornic_th_arm(&fix->cq, ORNIC_ARM_NONE);
	wait_us(fix, 100);
	KUNIT_EXPECT_EQ(test, th->event_count[ORNIC_EVENT_COMP], 0);
}

/* The event of a CQ that is changed meanwhile is not lost. */
static void modify_lets_nothing_wait(struct kunit *test)
{
	struct cq_fixture *fix = test->priv;

	KUNIT_ASSERT_EQ(test, modify(fix, fix->cq.cqn, 9, 0), ORNIC_OK);
	ornic_th_arm(&fix->cq, ORNIC_ARM_NEXT);
	push(fix, 1, false);
	KUNIT_EXPECT_EQ(test, events(fix, ORNIC_EVENT_COMP), 0);
	KUNIT_ASSERT_EQ(test, ornic_th_cq_resize(&fix->cq, 4), 0);
	KUNIT_EXPECT_EQ(test, events(fix, ORNIC_EVENT_COMP), 0);
	KUNIT_ASSERT_EQ(test, modify(fix, fix->cq.cqn, 0, 0), ORNIC_OK);
	KUNIT_EXPECT_EQ(test, events(fix, ORNIC_EVENT_COMP), 1);
	KUNIT_EXPECT_EQ(test, modify(fix, fix->cq.cqn + 1, 0, 0),
			ORNIC_NOT_FOUND);
}

static void clock_is_that_of_timestamps(struct kunit *test)
{
	struct cq_fixture *fix = test->priv;
	union ornic_req req;
	union ornic_rsp rsp;
	struct ornic_cqe cqe;

	fix->th->now += 12345;
	push(fix, 1, false);
	memset(&req, 0, sizeof(req));
	req.hdr.opcode = ORNIC_CMD_QUERY_CLOCK;
	KUNIT_ASSERT_EQ(test, ornic_th_cmd(fix->th, &req, &rsp), ORNIC_OK);
	KUNIT_ASSERT_TRUE(test, ornic_th_poll(&fix->cq, &cqe));
	KUNIT_EXPECT_EQ(test, le64_to_cpu(rsp.query_clock.now),
			le64_to_cpu(cqe.timestamp));
}

static struct kunit_case cq_cases[] = {
	KUNIT_CASE(push_is_seen_by_phase),
	KUNIT_CASE(push_goes_on_over_the_wrap),
	KUNIT_CASE(push_stops_at_overflow),
	KUNIT_CASE(push_distrusts_the_consumer),
	KUNIT_CASE_PARAM(push_fires_what_is_armed, arm_gen_params),
	KUNIT_CASE(push_names_cq_and_vector),
	KUNIT_CASE(push_fires_each_arming_once),
	KUNIT_CASE(ctx_event_merges),
	KUNIT_CASE(ctx_says_when_it_is_full),
	KUNIT_CASE_PARAM(create_checks, create_gen_params),
	KUNIT_CASE(destroy_waits_for_its_users),
	KUNIT_CASE_PARAM(resize_keeps_what_waits, resize_gen_params),
	KUNIT_CASE(resize_moves_the_limit),
	KUNIT_CASE(resize_moves_no_more_than_it_may),
	KUNIT_CASE(resize_keeps_the_arming),
	KUNIT_CASE(resize_distrusts_the_consumer),
	KUNIT_CASE_PARAM(moderated_event_comes_in_time, moderate_gen_params),
	KUNIT_CASE(moderation_counts_what_is_armed),
	KUNIT_CASE(moderation_begins_anew),
	KUNIT_CASE(moderation_survives_a_wrong_timer),
	KUNIT_CASE(modify_lets_nothing_wait),
	KUNIT_CASE(clock_is_that_of_timestamps),
	KUNIT_CASE(ring_covers_its_memory),
	{}
};

static struct kunit_suite cq_suite = {
	.name = "ornic_cq",
	.init = cq_init,
	.exit = cq_exit,
	.test_cases = cq_cases,
};

kunit_test_suite(cq_suite);

MODULE_DESCRIPTION("ornic: CQ suite");
MODULE_LICENSE("Dual BSD/GPL");
