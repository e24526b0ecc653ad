/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * What the suites of page faults have in common: messages between ODP MRs, whose
 * pages are absent, or go at some moment.
 */
#ifndef ORNIC_FAULT_FIXTURE_H
#define ORNIC_FAULT_FIXTURE_H

#include <kunit/test.h>

#include "engine/proto.h"
#include "suite_fixture.h"

#define PAGE 4096u
#define POINTS 400 /* more frames and runs than a message has */
#define ACCESS ORNIC_ACCESS_MR_MASK

/* Whose pages are absent. */
enum side {
	LOCAL = 1 << 0,
	REMOTE = 1 << 1,
	BOTH = LOCAL | REMOTE,
};

/**
 * struct fault_test - a fixture with ODP MRs
 * @fix: its am and bm are the ODP MRs
 * @kind: of @fix
 * @sides: whose pages go, at event @at from now; 0 = have gone, or never do
 * @events: frames and runs until now
 * @timeout: of both QPs; 0 = the usual one
 * @rnr_retry: the same
 * @longest_rnr: their RNR timer is 0
 * @no_retries: so is their retry_cnt
 * @serve_soon: faults are served as soon as the next frame passes
 */
struct fault_test {
	struct ornic_fixture fix;
	enum ornic_fix_kind kind;
	u8 sides;
	u32 at;
	u32 events;
	u8 timeout;
	u8 rnr_retry;
	bool longest_rnr;
	bool no_retries;
	bool serve_soon;
};

static_assert(offsetof(struct fault_test, fix) == 0);

static inline int fault_init(struct kunit *test)
{
	return ornic_suite_alloc(test, sizeof(struct fault_test));
}

/* Messages, and whose pages are absent. */
static const struct fault_row {
	const char *desc;
	u8 type;
	u8 opcode;
	u8 sides;
	u32 len;
} fault_rows[] = {
	{ "SEND", ORNIC_QPT_RC, ORNIC_WQE_SEND, LOCAL, 3000 },
	{ "long SEND", ORNIC_QPT_RC, ORNIC_WQE_SEND, LOCAL, 30000 },
	{ "short WRITE", ORNIC_QPT_RC, ORNIC_WQE_WRITE, LOCAL, 8 },
	{ "WRITE", ORNIC_QPT_RC, ORNIC_WQE_WRITE, LOCAL, 30000 },
	{ "short READ", ORNIC_QPT_RC, ORNIC_WQE_READ, LOCAL, 8 },
	{ "READ", ORNIC_QPT_RC, ORNIC_WQE_READ, LOCAL, 30000 },
	{ "FAA", ORNIC_QPT_RC, ORNIC_WQE_FAA, LOCAL, 8 },
	{ "ATOMIC WRITE", ORNIC_QPT_RC, ORNIC_WQE_ATOMIC_WRITE, LOCAL, 8 },
	{ "receive", ORNIC_QPT_RC, ORNIC_WQE_SEND, REMOTE, 3000 },
	{ "long receive", ORNIC_QPT_RC, ORNIC_WQE_SEND, REMOTE, 30000 },
	{ "short WRITE, remote", ORNIC_QPT_RC, ORNIC_WQE_WRITE, REMOTE, 8 },
	{ "WRITE, remote", ORNIC_QPT_RC, ORNIC_WQE_WRITE, REMOTE, 30000 },
	{ "WRITE_IMM, remote", ORNIC_QPT_RC, ORNIC_WQE_WRITE_IMM, REMOTE,
	  3000 },
	{ "short READ, remote", ORNIC_QPT_RC, ORNIC_WQE_READ, REMOTE, 8 },
	{ "READ, remote", ORNIC_QPT_RC, ORNIC_WQE_READ, REMOTE, 30000 },
	{ "FAA, remote", ORNIC_QPT_RC, ORNIC_WQE_FAA, REMOTE, 8 },
	{ "ATOMIC WRITE, remote", ORNIC_QPT_RC, ORNIC_WQE_ATOMIC_WRITE, REMOTE,
	  8 },
	{ "WRITE, both", ORNIC_QPT_RC, ORNIC_WQE_WRITE, BOTH, 30000 },
	{ "READ, both", ORNIC_QPT_RC, ORNIC_WQE_READ, BOTH, 30000 },
	{ "UC SEND", ORNIC_QPT_UC, ORNIC_WQE_SEND, BOTH, 9000 },
	{ "UC WRITE", ORNIC_QPT_UC, ORNIC_WQE_WRITE, BOTH, 9000 },
};

static const enum ornic_fix_kind kinds[] = { ORNIC_FIX_WIRE, ORNIC_FIX_LOOP,
					     ORNIC_FIX_PEER };

KUNIT_ARRAY_PARAM_DESC(fault, fault_rows, desc);

/* ---- What the cases are made of ------------------------------------------------- */

static inline void fault_conn_init(const struct fault_test *ft,
				   struct ornic_th_conn *conn)
{
	if (ft->timeout)
		conn->timeout = ft->timeout;
	if (ft->rnr_retry)
		conn->rnr_retry = ft->rnr_retry;
	if (ft->longest_rnr)
		conn->min_rnr_timer = 0;
	if (ft->no_retries)
		conn->retry_cnt = 0;
}

static inline void fault_open(struct kunit *test, enum ornic_fix_kind kind,
			      u8 type)
{
	struct ornic_th_qpinit init = {
		.type = type,
		.sq_log_depth = 7,
		.rq_log_depth = 7,
	};
	struct fault_test *ft = test->priv;
	struct ornic_fixture *fix = &ft->fix;

	KUNIT_EXPECT_EQ(test, ornic_fix_close(fix), 0);
	KUNIT_ASSERT_EQ(test, ornic_fix_open(fix, kind, &init), 0);
	fault_conn_init(ft, &fix->a.conn);
	fault_conn_init(ft, &fix->b.conn);
	KUNIT_ASSERT_EQ(test, ornic_fix_connect(fix), 0);
	KUNIT_ASSERT_EQ(test, ornic_th_mr_fini(&fix->am), 0);
	KUNIT_ASSERT_EQ(test, ornic_th_mr_fini(&fix->bm), 0);
	KUNIT_ASSERT_EQ(test,
			ornic_th_odp_init(fix->pair.a, &fix->am,
					  ORNIC_FIX_MR_BYTES, 104, ACCESS),
			0);
	KUNIT_ASSERT_EQ(test,
			ornic_th_odp_init(fix->pair.b, &fix->bm,
					  ORNIC_FIX_MR_BYTES, 2000, ACCESS),
			0);
	ft->sides = 0;
	ft->at = 0;
	ft->events = 0;
}

static inline void fault_set_side(struct kunit *test,
				  const struct ornic_th_mr *mr)
{
	KUNIT_ASSERT_EQ(test, ornic_th_odp_set(mr, 0, mr->npages, true), 0);
}

/* All pages but those of @sides are there. */
static inline void fault_set_others(struct kunit *test, u8 sides)
{
	struct fault_test *ft = test->priv;

	if (!(sides & LOCAL))
		fault_set_side(test, &ft->fix.am);
	if (!(sides & REMOTE))
		fault_set_side(test, &ft->fix.bm);
}

static inline u32 fault_serve(struct ornic_fixture *fix)
{
	return ornic_th_fault_serve(&fix->a, &fix->am) +
	       ornic_th_fault_serve(&fix->b, &fix->bm);
}

static inline u32 fault_settle(struct ornic_fixture *fix)
{
	u32 n = 0, more;

	do {
		ornic_th_settle(&fix->pair);
		more = fault_serve(fix);
		n += more;
	} while (more && n < POINTS);
	return n;
}

static inline const struct ornic_th_mr *
fault_sink(const struct ornic_fixture *fix, const struct fault_row *row)
{
	return row->opcode == ORNIC_WQE_READ ? &fix->am : &fix->bm;
}

static inline void fault_post(struct ornic_fixture *fix,
			      const struct fault_row *row)
{
	bool read = row->opcode == ORNIC_WQE_READ;

	ornic_fix_fill(read ? &fix->bm : &fix->am, 0, row->len, 3);
	if (row->opcode == ORNIC_WQE_FAA)
		memset(ornic_th_mr_at(&fix->bm, 0, &(u32){ 0 }), 0, 8);
	if (row->opcode == ORNIC_WQE_SEND || row->opcode == ORNIC_WQE_WRITE_IMM)
		ornic_fix_recv(&fix->b, &fix->bm, 7, 0, row->len);
	ornic_fix_post(&fix->a, &fix->am, &fix->bm, row->opcode, 0, 0,
		       row->len);
}

/* What the message of fault_post() has left behind. */
static inline void fault_expect_done(struct kunit *test,
				     const struct fault_row *row)
{
	struct fault_test *ft = test->priv;
	struct ornic_fixture *fix = &ft->fix;
	struct ornic_cqe cqe;
	u64 word = 0;

	KUNIT_EXPECT_EQ(test, ornic_fix_status(&fix->ascq, &cqe),
			ORNIC_CQE_SUCCESS);
	if (row->opcode == ORNIC_WQE_FAA) {
		ornic_th_mr_read(&fix->bm, 0, &word, sizeof(word));
		KUNIT_EXPECT_EQ(test, word, 1);
		ornic_th_mr_read(&fix->am, 0, &word, sizeof(word));
		KUNIT_EXPECT_EQ(test, word, 0);
		return;
	}
	KUNIT_EXPECT_EQ(test, ornic_fix_compare(&fix->am, 0, row->len, 3), -1);
	KUNIT_EXPECT_EQ(test, ornic_fix_compare(&fix->bm, 0, row->len, 3), -1);
	if (row->opcode == ORNIC_WQE_SEND ||
	    row->opcode == ORNIC_WQE_WRITE_IMM) {
		KUNIT_EXPECT_EQ(test, ornic_fix_status(&fix->brcq, &cqe),
				ORNIC_CQE_SUCCESS);
		KUNIT_EXPECT_EQ(test, le32_to_cpu(cqe.byte_len), row->len);
	}
}

static inline u64 fault_stat(struct ornic_fixture *fix, enum ornic_stat which)
{
	u64 n = ornic_engine_stat(fix->pair.a->eng, which);

	if (fix->pair.b != fix->pair.a)
		n += ornic_engine_stat(fix->pair.b->eng, which);
	return n;
}

/* Nobody had to send anything again, or to give up. */
static inline void fault_expect_no_retries(struct kunit *test)
{
	struct fault_test *ft = test->priv;

	KUNIT_EXPECT_EQ(test, fault_stat(&ft->fix, ORNIC_STAT_TIMEOUTS), 0);
	KUNIT_EXPECT_EQ(test, fault_stat(&ft->fix, ORNIC_STAT_RNR_NAK_SENT), 0);
	KUNIT_EXPECT_EQ(test, fault_stat(&ft->fix, ORNIC_STAT_SEQ_NAK_SENT), 0);
}

/* On wire, loopback and peer engines. */
static inline void fault_on_each(struct kunit *test,
				 void (*check)(struct kunit *test,
					       const struct fault_row *row))
{
	struct fault_test *ft = test->priv;
	u32 k;

	for (k = 0; k < ARRAY_SIZE(kinds); k++) {
		ft->kind = kinds[k];
		check(test, test->param_value);
	}
}

/* At one moment all pages of some sides go. */
static inline void fault_pass(struct fault_test *ft)
{
	struct ornic_fixture *fix = &ft->fix;

	ft->events++;
	if (!ft->at || --ft->at)
		return;
	if (ft->sides & LOCAL)
		ornic_th_odp_clear(&fix->am, 0, fix->am.npages);
	if (ft->sides & REMOTE)
		ornic_th_odp_clear(&fix->bm, 0, fix->bm.npages);
}

static inline enum ornic_th_verdict
fault_pass_frame(struct ornic_th_pair *pair, struct ornic_th *from,
		 struct ornic_th_frame *frame, const struct ornic_pkt *pkt)
{
	struct fault_test *ft = pair->ctx;

	if (ft->serve_soon)
		fault_serve(&ft->fix);
	fault_pass(ft);
	return ORNIC_TH_PASS;
}

/* On loopback no frames pass: pages go between the runs of a QP. */
static inline void fault_settle_going(struct fault_test *ft)
{
	struct ornic_fixture *fix = &ft->fix;
	u32 idle = 0;
	bool more;

	while (idle < 20 && ft->events < POINTS) {
		fault_pass(ft);
		more = ornic_th_run(fix->pair.a);
		more |= ornic_th_run(fix->pair.b);
		if (fix->pair.a->tx_head || fix->pair.b->tx_head) {
			ornic_th_settle(&fix->pair);
			more = true;
		}
		more |= fault_serve(fix);
		idle = more ? 0 : idle + 1;
		if (!more)
			ornic_th_advance(&fix->pair, ORNIC_TH_MS / 2);
	}
}

#endif /* ORNIC_FAULT_FIXTURE_H */
