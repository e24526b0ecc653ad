/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* A device with raw packet QPs, for the suites of flow rules. */
#ifndef ORNIC_FLOW_FIXTURE_H
#define ORNIC_FLOW_FIXTURE_H

#include <kunit/test.h>

#include "raw_frames.h"
#include "suite_fixture.h"
#include "engine/dev.h"
#include "engine/flow.h"

#define RAW ORNIC_QPT_RAW
#define LEN 100u
#define MANY 4096u

/**
 * struct flow_test - a device with raw packet QPs a and b
 * @number: of rules
 * @hits: of the last frame
 * @found: the first of @number was in the table when frames were no longer wanted
 */
struct flow_test {
	struct ornic_fixture fix;
	u8 frame[LEN];
	u32 number[MANY];
	struct ornic_flow_hits hits;
	bool found;
	struct ornic_th_qp more[ORNIC_FLOW_HITS + 1];
};

static_assert(offsetof(struct flow_test, fix) == 0);

static inline int flow_init(struct kunit *test)
{
	return ornic_suite_alloc(test, sizeof(struct flow_test));
}

static noinline struct flow_test *open_flows(struct kunit *test)
{
	struct ornic_th_qpinit init = { .type = RAW };
	struct flow_test *ft = test->priv;

	KUNIT_ASSERT_EQ(test, ornic_fix_open(&ft->fix, ORNIC_FIX_LOOP, &init),
			0);
	return ft;
}

static inline struct ornic_th *th_of(struct flow_test *ft)
{
	return ft->fix.pair.a;
}

static noinline u32 add(struct kunit *test, const struct ornic_rf_rule *rule)
{
	struct flow_test *ft = test->priv;
	u32 number = 0;

	KUNIT_ASSERT_EQ(test, ornic_rf_create(th_of(ft), rule, &number), 0);
	KUNIT_EXPECT_NE(test, number, 0);
	return number;
}

static noinline int try_add(struct flow_test *ft,
			    const struct ornic_rf_rule *rule)
{
	u32 number;

	return ornic_rf_create(th_of(ft), rule, &number);
}

/* Look up the frame. */
static inline const struct ornic_flow_hits *find_frame(struct flow_test *ft,
						       bool for_host)
{
	ornic_rcu_read_lock();
	ornic_engine_find_frame(th_of(ft)->eng, ft->frame, ORNIC_FLOW_HEAD,
				for_host, &ft->hits);
	ornic_rcu_read_unlock();
	return &ft->hits;
}

/* A UDP frame to @host and @port, which the host would take. */
static inline const struct ornic_flow_hits *find(struct flow_test *ft, u8 host,
						 u16 port)
{
	ornic_rf_udp(ft->frame, host, port, LEN);
	return find_frame(ft, true);
}

static inline bool is_for(const struct ornic_flow_hits *hits,
			  const struct ornic_th_qp *qp)
{
	return hits->n == 1 && hits->qpn[0] == qp->qpn;
}

#endif /* ORNIC_FLOW_FIXTURE_H */
