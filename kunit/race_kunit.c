// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Races: while one CPU works, another does something else, at each point once
 * where it can matter. On the host only, where the second CPU is a function that
 * is called there; see ornic_other_cpu in env_host.h.
 */
#include <kunit/test.h>

#include "pair_fixture.h"
#include "engine/dev.h"
#include "engine/mem.h"
#include "engine/proto.h"

#define RC ORNIC_QPT_RC
#define POINTS 500 /* more than any of these has */
#define NEW_IOVA 0x9000

/**
 * struct race - a fixture with a second CPU
 * @fix: is made anew for each point
 * @act: what the second CPU does, once
 * @at: at the so many-th point from now; 0 = has been, or never
 * @acting: is at it
 * @kick: it was asked to kick @fix.a, and has to wait for its lock
 * @ah: made by @act
 * @window: bound by @act to @fix.bm
 * @window2: the same, of a second act
 * @next: the second act
 * @gap: points between the two
 * @first: of what the first of two acts did
 * @status: of what @act did
 */
struct race {
	struct ornic_fixture fix;
	void (*act)(struct race *race);
	u32 at;
	bool acting;
	bool kick;
	u32 ah;
	u32 window;
	u32 window2;
	void (*next)(struct race *race);
	u32 gap;
	int first;
	int status;
};

static_assert(offsetof(struct race, fix) == 0);

static struct race *race;

static void meet(void)
{
	if (race->acting || !race->at || --race->at)
		return;
	race->acting = true;
	race->act(race);
	race->acting = false;
}

static int race_init(struct kunit *test)
{
	race = kunit_kzalloc(test, sizeof(*race), GFP_KERNEL);
	test->priv = race;
	return race ? 0 : -ENOMEM;
}

static void race_exit(struct kunit *test)
{
	ornic_other_cpu = NULL;
	KUNIT_EXPECT_EQ(test, ornic_fix_close(&race->fix), 0);
}

/* From now on @act happens at point @n. */
static void start(u32 n, void (*act)(struct race *race))
{
	race->act = act;
	race->at = n;
	race->kick = false;
	race->status = -1;
	ornic_other_cpu = meet;
}

/* Returns false if there was no such point: the race is over. */
static bool end(void)
{
	ornic_other_cpu = NULL;
	return !race->at;
}

static void open_fix(struct kunit *test, enum ornic_fix_kind kind)
{
	struct ornic_th_qpinit init = { .type = RC };
	struct ornic_fixture *fix = &race->fix;

	KUNIT_EXPECT_EQ(test, ornic_fix_close(fix), 0);
	KUNIT_ASSERT_EQ(test, ornic_fix_open(fix, kind, &init), 0);
	KUNIT_ASSERT_EQ(test, ornic_fix_connect(fix), 0);
}

/* True if @qp can be worked on; else the second CPU comes back later. */
static bool is_free(const struct ornic_th_qp *qp)
{
	const struct ornic_qp *found = ornic_fix_qp(qp);
	bool free = !found || (!found->sq.lock.held && !found->rq.lock.held);

	if (!free)
		race->at = 1;
	return free;
}

/* ---- Work that is posted meanwhile ------------------------------------------------ */

/* Once more what the SQ has in its first slot. */
static void post_again(struct race *r)
{
	struct ornic_th_qp *qp = &r->fix.a;
	struct ornic_wq_record *rec =
		(struct ornic_wq_record *)(qp->mem + ORNIC_SQ_RECORD);
	u8 *slot = qp->mem + ORNIC_RING_OFFSET;

	memcpy(slot + (1u << qp->sq_log_stride), slot, 1u << qp->sq_log_stride);
	rec->producer = cpu_to_le32(2);
	if (READ_ONCE(rec->kick_wanted))
		r->kick = true;
}

static void post(struct ornic_fixture *fix)
{
	ornic_fix_post(&fix->a, &fix->am, &fix->bm, ORNIC_WQE_WRITE, 0, 0, 8);
}

/* The doorbell of the second CPU, when the lock is free at last. */
static void kick_if_asked(void)
{
	if (race->kick)
		ornic_th_kick(&race->fix.a);
}

/* A WQE that is posted while the device goes to rest is not left behind. */
static void race_of_a_post_and_the_rest(struct kunit *test)
{
	struct ornic_fixture *fix = &race->fix;
	u32 n;

	for (n = 1; n < POINTS; n++) {
		open_fix(test, ORNIC_FIX_LONE);
		start(n, post_again);
		post(fix);
		if (!end())
			break;
		kick_if_asked();
		KUNIT_EXPECT_EQ_MSG(test, ornic_fix_drain(fix), 2, "point %u",
				    n);
	}
	KUNIT_EXPECT_GT(test, n, 3);
	KUNIT_EXPECT_LT(test, n, POINTS);
}

static u32 flushed(struct ornic_th_cq *cq)
{
	struct ornic_cqe cqe;
	u32 n = 0;

	while (ornic_fix_status(cq, &cqe) == ORNIC_CQE_WR_FLUSH_ERR)
		n++;
	return n;
}

/* IBTA 10.3.1.6: what is posted while the QP goes to the error state completes. */
static void race_of_a_post_and_the_flush(struct kunit *test)
{
	struct ornic_fixture *fix = &race->fix;
	u32 n;

	for (n = 1; n < POINTS; n++) {
		open_fix(test, ORNIC_FIX_LONE);
		post(fix);
		start(n, post_again);
		KUNIT_ASSERT_EQ(test, ornic_th_to(&fix->a, ORNIC_QPS_ERR), 0);
		if (!end())
			break;
		kick_if_asked();
		ornic_th_run(fix->pair.a);
		KUNIT_EXPECT_EQ_MSG(test, flushed(&fix->ascq), 2, "point %u",
				    n);
	}
	KUNIT_EXPECT_GT(test, n, 3);
	KUNIT_EXPECT_LT(test, n, POINTS);
}

/* A second receive in the ring; it has no SGEs. */
static void post_recv_again(struct race *r)
{
	struct ornic_th_qp *qp = &r->fix.a;
	struct ornic_wq_record *rec =
		(struct ornic_wq_record *)(qp->mem + ORNIC_RQ_RECORD);

	rec->producer = cpu_to_le32(2);
	if (READ_ONCE(rec->kick_wanted))
		r->kick = true;
}

static void race_of_a_receive_and_the_flush(struct kunit *test)
{
	struct ornic_fixture *fix = &race->fix;
	u32 n;

	for (n = 1; n < POINTS; n++) {
		open_fix(test, ORNIC_FIX_LONE);
		ornic_fix_recv(&fix->a, &fix->am, 1, 0, 8);
		start(n, post_recv_again);
		KUNIT_ASSERT_EQ(test, ornic_th_to(&fix->a, ORNIC_QPS_ERR), 0);
		if (!end())
			break;
		kick_if_asked();
		ornic_th_run(fix->pair.a);
		KUNIT_EXPECT_EQ_MSG(test, flushed(&fix->arcq), 2, "point %u",
				    n);
	}
	KUNIT_EXPECT_GT(test, n, 3);
	KUNIT_EXPECT_LT(test, n, POINTS);
}

/* As users do it: arm, and poll once more before they sleep. */
static void arm_and_poll(struct race *r)
{
	struct ornic_cqe cqe;

	ornic_th_arm(&r->fix.ascq, ORNIC_ARM_NEXT);
	r->status = ornic_th_poll(&r->fix.ascq, &cqe);
}

/* IBTA 11.4.2.2: a CQE is found by the last poll, or it raises the event. */
static void race_of_a_cqe_and_the_arming(struct kunit *test)
{
	struct ornic_fixture *fix = &race->fix;
	const u32 *events;
	u32 n;

	for (n = 1; n < POINTS; n++) {
		open_fix(test, ORNIC_FIX_LOOP);
		events = &fix->pair.a->event_count[ORNIC_EVENT_COMP];
		start(n, arm_and_poll);
		post(fix);
		if (!end())
			break;
		KUNIT_EXPECT_TRUE(test, race->status == 1 || *events == 1);
	}
	KUNIT_EXPECT_GT(test, n, 3);
	KUNIT_EXPECT_LT(test, n, POINTS);
}

/* ---- A QP that is reset meanwhile --------------------------------------------------- */

static void reset(struct race *r)
{
	if (is_free(&r->fix.a))
		r->status = ornic_th_to(&r->fix.a, ORNIC_QPS_RESET);
}

/* A READ to respond to and a WRITE to send, when there is room at the port. */
static void give_work(struct ornic_fixture *fix)
{
	fix->pair.a->tx_window = 0;
	ornic_fix_request(fix, ORNIC_OP_READ_REQUEST, 0, 0, 8, 0);
	post(fix);
	fix->pair.a->tx_window = 8;
}

static void nothing_wrong(struct ornic_fixture *fix)
{
}

static void overflow(struct ornic_fixture *fix)
{
	struct ornic_cq_record *rec = (struct ornic_cq_record *)fix->ascq.mem;
	struct ornic_qp *qp = ornic_fix_qp(&fix->a);

	rec->consumer = cpu_to_le32(1000);
	qp->sq.cq->overflow = true;
}

static void bad_request(struct ornic_fixture *fix)
{
	ornic_fix_request(fix, ORNIC_OP_WRITE_ONLY, 1, ORNIC_FIX_MR_BYTES, 8,
			  8);
}

static const struct reset_row {
	const char *name;
	void (*prepare)(struct ornic_fixture *fix);
} reset_rows[] = {
	{ "responses and requests", nothing_wrong },
	{ "CQ that overflowed", overflow },
	{ "responder that died", bad_request },
};

KUNIT_ARRAY_PARAM_DESC(reset, reset_rows, name);

/* The QP stays in RESET, and what was before is forgotten. */
static void race_of_a_run_and_the_reset(struct kunit *test)
{
	const struct reset_row *row = test->param_value;
	struct ornic_fixture *fix = &race->fix;
	u32 n;

	for (n = 1; n < POINTS; n++) {
		open_fix(test, ORNIC_FIX_LONE);
		give_work(fix);
		row->prepare(fix);
		start(n, reset);
		ornic_th_kick(&fix->a);
		if (!end())
			break;
		KUNIT_EXPECT_EQ(test, race->status, 0);
		KUNIT_EXPECT_EQ_MSG(test, ornic_th_state(&fix->a),
				    ORNIC_QPS_RESET, "point %u", n);
		ornic_fix_drain(fix);
		ornic_th_kick(&fix->a);
		ornic_th_advance(&fix->pair, 1000 * ORNIC_TH_MS);
		KUNIT_EXPECT_EQ(test, ornic_fix_drain(fix), 0);
		KUNIT_EXPECT_EQ(test, ornic_th_state(&fix->a), ORNIC_QPS_RESET);
	}
	KUNIT_EXPECT_GT(test, n, 3);
	KUNIT_EXPECT_LT(test, n, POINTS);
}

static void reconnect(struct race *r)
{
	reset(r);
	r->status = r->status ?: ornic_fix_connect(&r->fix);
}

static void race_of_a_run_and_the_reconnection(struct kunit *test)
{
	struct ornic_fixture *fix = &race->fix;
	u32 n;

	for (n = 1; n < POINTS; n++) {
		open_fix(test, ORNIC_FIX_LONE);
		give_work(fix);
		bad_request(fix);
		start(n, reconnect);
		ornic_th_kick(&fix->a);
		if (!end())
			break;
		KUNIT_EXPECT_EQ(test, ornic_th_state(&fix->a), ORNIC_QPS_RTS);
	}
	KUNIT_EXPECT_GT(test, n, 3);
}

static void destroy_qp(struct race *r)
{
	if (ornic_rcu_depth)
		r->at = 1;
	else
		r->status = ornic_th_qp_fini(&r->fix.a);
}

/* Found by the poll thread, and destroyed before its run. */
static void race_of_a_poll_and_the_end(struct kunit *test)
{
	struct ornic_fixture *fix = &race->fix;
	struct ornic_engine *eng;
	u32 n;

	for (n = 1; n < POINTS; n++) {
		open_fix(test, ORNIC_FIX_LONE);
		eng = fix->pair.a->eng;
		ornic_engine_set_polling(eng, true);
		ornic_th_run(fix->pair.a);
		post(fix);
		eng->dev.poll.at = fix->a.qpn;
		start(n, destroy_qp);
		ornic_engine_poll(eng, 1 << 20);
		if (!end())
			break;
		KUNIT_EXPECT_EQ(test, race->status, 0);
		KUNIT_EXPECT_NULL(test, ornic_fix_qp(&fix->a));
	}
	KUNIT_EXPECT_GE(test, n, 3);
	KUNIT_EXPECT_LT(test, n, POINTS);
}

/* ---- Keys ---------------------------------------------------------------------------- */

/* b binds @window to the first @length bytes of @bm. */
static int bind_window(struct ornic_fixture *fix, u32 window, u64 length)
{
	struct ornic_th_wr wr = {
		.opcode = ORNIC_WQE_BIND_MW,
		.flags = ORNIC_WQE_SIGNALED,
		.raddr = fix->bm.iova,
		.rkey = window,
		.bind_length = length,
		.bind_lkey = fix->bm.key,
		.bind_access = ORNIC_ACCESS_REMOTE_WRITE,
	};
	struct ornic_cqe cqe;

	ornic_th_post_send(&fix->b, &wr);
	return ornic_fix_status(&fix->bscq, &cqe);
}

static void bind(struct race *r)
{
	if (is_free(&r->fix.b))
		r->status = bind_window(&r->fix, r->window, 64);
}

static void open_window(struct kunit *test)
{
	struct ornic_fixture *fix = &race->fix;

	open_fix(test, ORNIC_FIX_LOOP);
	KUNIT_ASSERT_EQ(test, ornic_th_mr_fini(&fix->bm), 0);
	KUNIT_ASSERT_EQ(test,
			ornic_th_mr_init(fix->pair.b, &fix->bm, 4096, 0, 1,
					 ORNIC_ACCESS_MR_MASK),
			0);
	KUNIT_ASSERT_EQ(
		test, ornic_th_mw(fix->pair.b, ORNIC_MW_TYPE_1, &race->window),
		0);
}

/* Does a WRITE through the window arrive? */
static int use_window(struct ornic_fixture *fix, u32 window)
{
	struct ornic_lsge sge = ornic_fix_sge(&fix->am, 0, 8);
	struct ornic_th_wr wr = {
		.opcode = ORNIC_WQE_WRITE,
		.flags = ORNIC_WQE_SIGNALED,
		.raddr = fix->bm.iova,
		.rkey = window,
		.nsge = 1,
		.sge = &sge,
	};
	struct ornic_cqe cqe;

	ornic_th_post_send(&fix->a, &wr);
	ornic_th_settle(&fix->pair);
	return ornic_fix_status(&fix->ascq, &cqe);
}

/* IBTA 10.6.7.2.3: an MR with windows is not destroyed. */
static void race_of_a_bind_and_the_end(struct kunit *test)
{
	struct ornic_fixture *fix = &race->fix;
	u32 n, busy = 0, key;
	int status;

	for (n = 1; n < POINTS; n++) {
		open_window(test);
		key = fix->bm.key;
		start(n, bind);
		status = ornic_th_destroy_obj(fix->pair.b,
					      ORNIC_CMD_DESTROY_MKEY, key);
		if (!end())
			break;
		KUNIT_EXPECT_EQ_MSG(test, status,
				    race->status ? ORNIC_OK : ORNIC_BUSY,
				    "point %u", n);
		if (!race->status)
			KUNIT_EXPECT_EQ(test, use_window(fix, race->window), 0);
		busy += status == ORNIC_BUSY;
	}
	KUNIT_EXPECT_GT(test, busy, 1);
	KUNIT_EXPECT_GT(test, n, busy + 1);
	KUNIT_EXPECT_LT(test, n, POINTS);
}

/* The first half of the MR as it was, or at another address. */
static int change_key(struct ornic_fixture *fix, u8 mask, u64 iova)
{
	union ornic_req req;
	union ornic_rsp rsp;

	memset(&req, 0, sizeof(req));
	req.hdr.opcode = ORNIC_CMD_MODIFY_MKEY;
	req.hdr.obj = cpu_to_le32(fix->bm.key);
	req.modify_mkey.mask = mask;
	req.modify_mkey.access = ORNIC_ACCESS_MR_MASK;
	req.modify_mkey.mem.addr = cpu_to_le64((u64)(uintptr_t)fix->bm.buf);
	req.modify_mkey.mem.npages = cpu_to_le32(1);
	req.modify_mkey.mem.page_shift = ORNIC_PAGE_SHIFT;
	req.modify_mkey.iova = cpu_to_le64(iova);
	req.modify_mkey.length = cpu_to_le64(4096);
	return ornic_th_cmd(fix->pair.b, &req, &rsp);
}

static const struct change_row {
	const char *name;
	u8 mask;
} change_rows[] = {
	{ "memory", ORNIC_MKEYM_MEM },
	{ "access", ORNIC_MKEYM_ACCESS },
};

KUNIT_ARRAY_PARAM_DESC(change, change_rows, name);

/* What a window is bound to does not change; or it is not bound. */
static void race_of_a_bind_and_the_change(struct kunit *test)
{
	const struct change_row *row = test->param_value;
	struct ornic_fixture *fix = &race->fix;
	u32 n, busy = 0;
	int status;

	for (n = 1; n < POINTS; n++) {
		open_window(test);
		start(n, bind);
		status = change_key(fix, row->mask, fix->bm.iova);
		if (!end())
			break;
		KUNIT_EXPECT_TRUE(test,
				  status == ORNIC_OK || status == ORNIC_BUSY);
		busy += status == ORNIC_BUSY;
		if (race->status) {
			KUNIT_EXPECT_EQ(test, status, ORNIC_OK);
			continue;
		}
		KUNIT_EXPECT_EQ_MSG(test, use_window(fix, race->window), 0,
				    "point %u", n);
		/* The key has one window, which the next change meets. */
		KUNIT_EXPECT_EQ(test, change_key(fix, row->mask, fix->bm.iova),
				ORNIC_BUSY);
	}
	KUNIT_EXPECT_GT(test, busy, 1);
	KUNIT_EXPECT_LT(test, n, POINTS);
}

static void bind_again(struct race *r)
{
	if (is_free(&r->fix.b))
		r->status = bind_window(&r->fix, r->window2, 64);
}

static void unbind(struct race *r)
{
	if (is_free(&r->fix.b) && !bind_window(&r->fix, r->window, 0))
		r->status = -1;
}

/* bind(), and @next at the @gap-th point after it. */
static void bind_first(struct race *r)
{
	bind(r);
	if (r->at)
		return;
	r->first = r->status;
	r->status = -1;
	r->act = r->next;
	r->at = r->gap;
}

static const struct second_row {
	const char *name;
	void (*act)(struct race *race);
	u8 mask;
} second_rows[] = {
	{ "memory, bind again", bind_again, ORNIC_MKEYM_MEM },
	{ "access, bind again", bind_again, ORNIC_MKEYM_ACCESS },
	{ "memory, unbind", unbind, ORNIC_MKEYM_MEM },
	{ "access, unbind", unbind, ORNIC_MKEYM_ACCESS },
};

KUNIT_ARRAY_PARAM_DESC(second, second_rows, name);

/* The windows that are bound work, and the MR knows of these and no others. */
static void check_windows(struct kunit *test, bool unbound)
{
	struct ornic_fixture *fix = &race->fix;
	bool bound = !race->first && !unbound, again = !race->status;

	if (ornic_th_state(&fix->b) != ORNIC_QPS_RTS)
		return;
	if (bound)
		KUNIT_EXPECT_EQ(test, use_window(fix, race->window), 0);
	if (again)
		KUNIT_EXPECT_EQ(test, use_window(fix, race->window2), 0);
	KUNIT_EXPECT_EQ(test, change_key(fix, ORNIC_MKEYM_ACCESS, fix->bm.iova),
			bound || again ? ORNIC_BUSY : ORNIC_OK);
}

/* A change that cannot be, because of the first window, and another window. */
static void race_of_two_binds_and_the_change(struct kunit *test)
{
	const struct second_row *row = test->param_value;
	struct ornic_fixture *fix = &race->fix;
	u32 n, gap;

	race->next = row->act;
	for (n = 1; n < POINTS; n++) {
		for (gap = 1; gap < POINTS; gap++) {
			open_window(test);
			KUNIT_ASSERT_EQ(test, 0,
					ornic_th_mw(fix->pair.b,
						    ORNIC_MW_TYPE_1,
						    &race->window2));
			race->gap = gap;
			race->first = -1;
			start(n, bind_first);
			change_key(fix, row->mask, fix->bm.iova);
			if (!end())
				break;
			check_windows(test, row->act == unbind);
		}
		/* Not even the first one. */
		if (race->act == bind_first)
			break;
	}
	KUNIT_EXPECT_GT(test, n, 3);
	KUNIT_EXPECT_LT(test, n, POINTS);
}

static void destroy_key(struct race *r)
{
	if (ornic_rcu_depth)
		r->at = 1;
	else
		r->status = ornic_th_destroy_obj(
			r->fix.pair.b, ORNIC_CMD_DESTROY_MKEY, r->fix.bm.key);
}

/* It is destroyed, whatever becomes of the change; once. */
static void race_of_a_change_and_the_end(struct kunit *test)
{
	const struct change_row *row = test->param_value;
	struct ornic_fixture *fix = &race->fix;
	u32 n, missing = 0, before;
	int status;

	for (n = 1; n < POINTS; n++) {
		open_window(test);
		before = fix->pair.b->eng->dev.mkeys.count;
		start(n, destroy_key);
		status = change_key(fix, row->mask, NEW_IOVA);
		if (!end())
			break;
		KUNIT_EXPECT_EQ(test, race->status, ORNIC_OK);
		KUNIT_EXPECT_TRUE(test, status == ORNIC_OK ||
						status == ORNIC_NOT_FOUND);
		KUNIT_EXPECT_EQ(test, fix->pair.b->eng->dev.mkeys.count,
				before - 1);
		missing += status == ORNIC_NOT_FOUND;
	}
	KUNIT_EXPECT_GT(test, missing, 1);
	KUNIT_EXPECT_LT(test, n, POINTS);
}

static void race_of_two_ends(struct kunit *test)
{
	struct ornic_fixture *fix = &race->fix;
	int status;
	u32 n;

	for (n = 1; n < POINTS; n++) {
		open_window(test);
		start(n, destroy_key);
		status = ornic_th_destroy_obj(
			fix->pair.b, ORNIC_CMD_DESTROY_MKEY, fix->bm.key);
		if (!end())
			break;
		KUNIT_EXPECT_EQ_MSG(test, status + race->status,
				    ORNIC_NOT_FOUND, "point %u", n);
	}
	KUNIT_EXPECT_GT(test, n, 3);
	KUNIT_EXPECT_LT(test, n, POINTS);
}

/* A QP that is out of its table may still use the key. */
static void race_of_a_key_and_its_qp(struct kunit *test)
{
	struct ornic_fixture *fix = &race->fix;
	u32 n;

	for (n = 1; n < POINTS; n++) {
		open_fix(test, ORNIC_FIX_LOOP);
		start(n, destroy_key);
		KUNIT_EXPECT_EQ(test, ornic_th_qp_fini(&fix->a), 0);
		if (!end())
			break;
		KUNIT_EXPECT_EQ(test, race->status, ORNIC_OK);
	}
	KUNIT_EXPECT_GT(test, n, 3);
	KUNIT_EXPECT_LT(test, n, POINTS);
}

/* ---- Two at the same thing ------------------------------------------------------------ */

static void make_ah(struct race *r)
{
	r->status = ornic_th_ah(r->fix.pair.a, &r->fix.a.conn.av, &r->ah);
}

/* The first two of a table: its first chunk is made once. */
static void race_of_two_objects(struct kunit *test)
{
	struct ornic_fixture *fix = &race->fix;
	u32 n, ah;

	for (n = 1; n < POINTS; n++) {
		open_fix(test, ORNIC_FIX_LONE);
		start(n, make_ah);
		KUNIT_EXPECT_EQ(test,
				ornic_th_ah(fix->pair.a, &fix->a.conn.av, &ah),
				0);
		if (!end())
			break;
		KUNIT_EXPECT_EQ(test, race->status, 0);
		KUNIT_EXPECT_NE_MSG(test, ah, race->ah, "point %u", n);
		KUNIT_EXPECT_EQ(test,
				ornic_th_destroy_obj(fix->pair.a,
						     ORNIC_CMD_DESTROY_AH, ah),
				0);
		KUNIT_EXPECT_EQ(test,
				ornic_th_destroy_obj(fix->pair.a,
						     ORNIC_CMD_DESTROY_AH,
						     race->ah),
				0);
	}
	KUNIT_EXPECT_GT(test, n, 3);
	KUNIT_EXPECT_LT(test, n, POINTS);
}

/* A program that counts in the same word. */
static void count_up(struct race *r)
{
	u64 v;

	ornic_th_mr_read(&r->fix.bm, 0, &v, sizeof(v));
	v += 1000;
	ornic_th_mr_write(&r->fix.bm, 0, &v, sizeof(v));
}

/* IBTA 10.7.2.1: IB_ATOMIC_GLOB, so none of the two gets lost. */
static void race_of_two_that_count(struct kunit *test)
{
	struct ornic_fixture *fix = &race->fix;
	u64 v, was;
	u32 n;

	for (n = 1; n < POINTS; n++) {
		open_fix(test, ORNIC_FIX_LOOP);
		start(n, count_up);
		ornic_fix_post(&fix->a, &fix->am, &fix->bm, ORNIC_WQE_FAA, 0, 0,
			       8);
		if (!end())
			break;
		ornic_th_mr_read(&fix->bm, 0, &v, sizeof(v));
		ornic_th_mr_read(&fix->am, 0, &was, sizeof(was));
		KUNIT_EXPECT_EQ_MSG(test, v, 1001, "point %u", n);
		KUNIT_EXPECT_TRUE(test, was == 0 || was == 1000);
	}
	KUNIT_EXPECT_GT(test, n, 3);
	KUNIT_EXPECT_LT(test, n, POINTS);
}

static struct kunit_case race_cases[] = {
	KUNIT_CASE(race_of_a_post_and_the_rest),
	KUNIT_CASE(race_of_a_post_and_the_flush),
	KUNIT_CASE(race_of_a_receive_and_the_flush),
	KUNIT_CASE(race_of_a_cqe_and_the_arming),
	KUNIT_CASE_PARAM(race_of_a_run_and_the_reset, reset_gen_params),
	KUNIT_CASE(race_of_a_run_and_the_reconnection),
	KUNIT_CASE(race_of_a_poll_and_the_end),
	KUNIT_CASE(race_of_a_bind_and_the_end),
	KUNIT_CASE_PARAM(race_of_a_bind_and_the_change, change_gen_params),
	KUNIT_CASE_PARAM(race_of_two_binds_and_the_change, second_gen_params),
	KUNIT_CASE_PARAM(race_of_a_change_and_the_end, change_gen_params),
	KUNIT_CASE(race_of_two_ends),
	KUNIT_CASE(race_of_a_key_and_its_qp),
	KUNIT_CASE(race_of_two_objects),
	KUNIT_CASE(race_of_two_that_count),
	{}
};

static struct kunit_suite race_suite = {
	.name = "ornic_race",
	.init = race_init,
	.exit = race_exit,
	.test_cases = race_cases,
};

kunit_test_suite(race_suite);

MODULE_DESCRIPTION("ornic: races suite");
MODULE_LICENSE("Dual BSD/GPL");
