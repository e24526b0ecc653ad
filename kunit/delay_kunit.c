// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* Congestion control by RTT: when the window of a requester becomes smaller. */
#include "engine/proto.h"
#include "suite_fixture.h"

#define US 1000ull
#define MS 1000000ull
#define MTU 1024u
#define WINDOW 64u

/* An RC requester, and samples that are made up. */
struct delay_fixture {
	struct ornic_fixture *fix;
	struct ornic_qp *qp;
	struct ornic_sq *sq;
	struct ornic_ctx ctx;
};

static void prepare_delay(struct kunit *test, struct delay_fixture *d)
{
	struct ornic_th *th;

	d->fix = ornic_suite_open_lone(test, ORNIC_QPT_RC);
	th = d->fix->pair.a;
	ornic_engine_cc_set(th->eng, ORNIC_CC_RTT_ENABLE, 1);
	d->qp = ornic_fix_qp(&d->fix->a);
	d->sq = &d->qp->sq;
	memset(&d->ctx, 0, sizeof(d->ctx));
	d->ctx.dev = &th->eng->dev;
	d->ctx.now = 1000 * MS;
}

/* It has more to send. */
static void open_delay(struct kunit *test, struct delay_fixture *d)
{
	prepare_delay(test, d);
	ornic_fix_post(&d->fix->a, &d->fix->am, NULL, ORNIC_WQE_SEND, 0, 0,
		       64 * MTU);
	ornic_fix_drain(d->fix);
	KUNIT_ASSERT_NE(test, d->sq->cur, d->sq->fetched);
	d->sq->window = WINDOW;
}

/* What was just sent took @us. */
static void take_sample(struct delay_fixture *d, u64 us)
{
	struct ornic_sq *sq = d->sq;

	d->ctx.now += us * US;
	sq->max_psn = ornic_psn_add(sq->max_psn, 1);
	sq->rtt.psn = sq->max_psn;
	sq->rtt.clean = true;
	sq->rtt.smooth = us * US;
	sq->rtt.var = 0;
	sq->rtt.last = us * US;
	ornic_delay_sample(&d->ctx, d->qp, us * US);
}

static void samples(struct delay_fixture *d, u64 us, u32 n)
{
	while (n--)
		take_sample(d, us);
}

/* A host may delay one sample; a queue delays those after it as well. */
static void one_late_sample_is_noise(struct kunit *test)
{
	struct delay_fixture d;

	open_delay(test, &d);
	samples(&d, 20, 4);
	take_sample(&d, 9000);
	samples(&d, 500, 4);
	take_sample(&d, 9000);
	KUNIT_EXPECT_EQ(test, d.sq->window, WINDOW);
	KUNIT_EXPECT_EQ(test, d.sq->delay.cwnd, 0);
	take_sample(&d, 9000);
	KUNIT_EXPECT_EQ(test, d.sq->window, WINDOW / 2);
}

/* @n packets go again, one by one. */
static void lose(struct delay_fixture *d, u32 n)
{
	if (!d->sq->delay.resent)
		d->sq->delay.resent_psn = d->sq->max_psn;
	while (n--)
		ornic_delay_resent(&d->ctx, d->qp, 1);
}

static const struct cut_row {
	const char *desc;
	u32 us;
	u32 window;
} cut_rows[] = {
	{ "at the target", 500, 64 },
	{ "above it", 520, 47 }, /* 26 percent go */
	{ "three halves of it", 750, 40 }, /* 37 */
	{ "twice of it", 1000, 32 },
	{ "far above it", 100000, 32 },
};

KUNIT_ARRAY_PARAM_DESC(cut, cut_rows, desc);

static void more_goes_the_later_samples_are(struct kunit *test)
{
	const struct cut_row *row = test->param_value;
	struct delay_fixture d;

	open_delay(test, &d);
	samples(&d, 20, 2);
	samples(&d, row->us, 2);
	KUNIT_EXPECT_EQ(test, d.sq->window, row->window);
}

/* Samples of what was sent before the window was cut say nothing about that. */
static void one_cut_in_a_round_trip(struct kunit *test)
{
	struct delay_fixture d;
	u32 i;

	open_delay(test, &d);
	take_sample(&d, 20);
	samples(&d, 1000, 2);
	KUNIT_EXPECT_EQ(test, d.sq->window, WINDOW / 2);
	for (i = 0; i < 4; i++)
		ornic_delay_sample(&d.ctx, d.qp, MS);
	KUNIT_EXPECT_EQ(test, d.sq->window, WINDOW / 2);
	samples(&d, 1000, 2);
	KUNIT_EXPECT_EQ(test, d.sq->window, WINDOW / 4);
}

/* The last cut is as long ago as half of all PSNs, or longer: it does not matter. */
static void next_cut_after_many_packets(struct kunit *test)
{
	struct delay_fixture d;
	u32 i;

	open_delay(test, &d);
	take_sample(&d, 20);
	samples(&d, 1000, 2);
	KUNIT_EXPECT_EQ(test, d.sq->window, WINDOW / 2);
	for (i = 0; i < 3; i++) {
		d.sq->max_psn = ornic_psn_add(d.sq->max_psn, 1 << 22);
		d.sq->acked = d.sq->max_psn;
		d.sq->retry.recover = d.sq->acked;
		take_sample(&d, 20);
	}
	samples(&d, 1000, 2);
	KUNIT_EXPECT_EQ(test, d.sq->window, WINDOW / 4);
}

/*
 * Below one packet there is time between packets, at most 16 round trips and a half more
 * or less, so that flows do not send in step.
 */
static void windows_below_a_packet(struct kunit *test)
{
	struct delay_fixture d;
	u64 now, first;

	open_delay(test, &d);
	take_sample(&d, 20);
	samples(&d, 1000, 20);
	KUNIT_EXPECT_EQ(test, d.sq->window, 1);
	KUNIT_EXPECT_EQ(test, d.sq->delay.cwnd, 16);
	KUNIT_EXPECT_TRUE(test, d.sq->delay.spread);
	KUNIT_EXPECT_FALSE(test, ornic_delay_hold(&d.ctx, d.qp));
	now = d.ctx.now;
	first = d.sq->delay.next - now;
	d.ctx.now = now + 8 * MS - 1;
	KUNIT_EXPECT_TRUE(test, ornic_delay_hold(&d.ctx, d.qp));
	KUNIT_EXPECT_EQ(test, d.sq->backoff.until, now + first);
	d.ctx.now = now + 24 * MS;
	d.sq->psn = ornic_psn_add(d.sq->psn, 1);
	KUNIT_EXPECT_FALSE(test, ornic_delay_hold(&d.ctx, d.qp));
	KUNIT_EXPECT_NE(test, d.sq->delay.next - d.ctx.now, first);
	/* Switched off at run time. */
	ornic_engine_cc_set(d.fix->pair.a->eng, ORNIC_CC_RTT_ENABLE, 0);
	KUNIT_EXPECT_FALSE(test, ornic_delay_hold(&d.ctx, d.qp));
	KUNIT_EXPECT_FALSE(test, d.sq->delay.spread);
}

/* A program that waits for each of its messages does not fill a queue. */
static void not_below_a_packet_for_one_message(struct kunit *test)
{
	struct delay_fixture d;

	open_delay(test, &d);
	d.sq->cur = d.sq->fetched;
	take_sample(&d, 20);
	samples(&d, 1000, 20);
	KUNIT_EXPECT_EQ(test, d.sq->window, 1);
	KUNIT_EXPECT_FALSE(test, d.sq->delay.spread);
}

/* An eighth of a packet for a window, but not while the RTT is above the target. */
static void window_grows_below_the_target(struct kunit *test)
{
	struct delay_fixture d;

	open_delay(test, &d);
	take_sample(&d, 20);
	samples(&d, 1000, 2);
	d.sq->rtt.last = 400 * US;
	ornic_delay_widen(&d.ctx, d.qp, WINDOW / 2, 512);
	KUNIT_EXPECT_EQ(test, d.sq->delay.cwnd, 32 * 256 + 32);
	ornic_delay_widen(&d.ctx, d.qp, WINDOW / 2 - 1, 512);
	KUNIT_EXPECT_EQ(test, d.sq->delay.cwnd, 32 * 256 + 32);
	d.sq->rtt.last = 501 * US;
	ornic_delay_widen(&d.ctx, d.qp, 1, 512);
	KUNIT_EXPECT_EQ(test, d.sq->delay.cwnd, 32 * 256 + 32);
	/* Before there is a sample nothing is known. */
	d.sq->rtt.last = 0;
	ornic_delay_widen(&d.ctx, d.qp, 1, 512);
	KUNIT_EXPECT_EQ(test, d.sq->delay.cwnd, 32 * 256 + 32);
}

/* Also an eighth of the window from the fifth short RTT in a row on, up to the limit. */
static void growth_is_fast_on_an_idle_path(struct kunit *test)
{
	struct delay_fixture d;
	u32 i;

	open_delay(test, &d);
	take_sample(&d, 20);
	samples(&d, 1000, 2);
	d.sq->rtt.last = 249 * US;
	for (i = 0; i < 4; i++)
		ornic_delay_widen(&d.ctx, d.qp, 32, 512);
	KUNIT_EXPECT_EQ(test, d.sq->delay.cwnd, 32 * 256 + 4 * 32);
	ornic_delay_widen(&d.ctx, d.qp, 32, 512);
	KUNIT_EXPECT_EQ(test, d.sq->window, 36);
	ornic_delay_widen(&d.ctx, d.qp, 36, 38);
	KUNIT_EXPECT_EQ(test, d.sq->window, 38);
	d.sq->rtt.last = 250 * US;
	ornic_delay_widen(&d.ctx, d.qp, 38, 512);
	d.sq->rtt.last = 249 * US;
	ornic_delay_widen(&d.ctx, d.qp, 38, 512);
	KUNIT_EXPECT_EQ(test, d.sq->window, 38);
}

/* A window of a quarter of a packet is acknowledged in four round trips. */
static void growth_is_the_same_in_a_time(struct kunit *test)
{
	struct delay_fixture d;

	open_delay(test, &d);
	take_sample(&d, 20);
	samples(&d, 1000, 2 * 8);
	KUNIT_EXPECT_EQ(test, d.sq->delay.cwnd, 64);
	d.sq->rtt.last = 400 * US;
	ornic_delay_widen(&d.ctx, d.qp, 1, 512);
	KUNIT_EXPECT_EQ(test, d.sq->delay.cwnd, 64 + 4 * 32);
}

/* Two ACKs for a window that was cut, so that packets are sent all the time. */
static void acks_for_half_a_window(struct kunit *test)
{
	struct ornic_fixture *fix;
	struct delay_fixture d;
	u32 i;

	prepare_delay(test, &d);
	fix = d.fix;
	d.sq->window = 16;
	take_sample(&d, 20);
	samples(&d, 1000, 2);
	KUNIT_ASSERT_EQ(test, d.sq->window, 8);
	ornic_fix_post(&fix->a, &fix->am, NULL, ORNIC_WQE_SEND, 0, 0, 16 * MTU);
	for (i = 1; i <= 8; i++) {
		KUNIT_ASSERT_TRUE(test, ornic_fix_sent(fix));
		KUNIT_EXPECT_EQ(test, fix->pkt.ack_req, i % 4 == 0);
	}
	KUNIT_EXPECT_FALSE(test, ornic_fix_sent(fix));
}

static const struct off_row {
	const char *desc;
	bool disabled, marks, rate, sprayed, overtaken, lost, is_long;
} off_rows[] = {
	{ .desc = "not enabled", .disabled = true },
	{ .desc = "marks come back", .marks = true },
	{ .desc = "CNPs come", .rate = true },
	{ .desc = "packets take several paths", .sprayed = true },
	{ .desc = "an ACK was overtaken", .overtaken = true },
	{ .desc = "something was lost", .lost = true },
	{ .desc = "a long path", .is_long = true },
};

KUNIT_ARRAY_PARAM_DESC(off, off_rows, desc);

static void rtt_does_not_count(struct kunit *test)
{
	const struct off_row *row = test->param_value;
	static struct ornic_spray spray = { .n = 2 }; /* too large for a stack */
	struct delay_fixture d;
	u32 i;

	open_delay(test, &d);
	if (!row->is_long)
		take_sample(&d, 20);
	if (row->sprayed)
		d.qp->spray = &spray;
	if (row->overtaken)
		d.sq->delay.reorder_until = d.ctx.now + 1000 * MS;
	ornic_engine_cc_set(d.fix->pair.a->eng, ORNIC_CC_RTT_ENABLE,
			    !row->disabled);
	d.sq->marks.on = row->marks;
	d.qp->cc.paced = row->rate;
	for (i = 0; i < 4; i++) {
		d.ctx.now += 3 * MS;
		d.sq->max_psn = ornic_psn_add(d.sq->max_psn, 1);
		d.sq->rtt.psn = d.sq->max_psn;
		d.sq->rtt.clean = !row->lost;
		d.sq->rtt.smooth = 3 * MS;
		d.sq->rtt.var = 0;
		ornic_delay_sample(&d.ctx, d.qp, 3 * MS);
	}
	KUNIT_EXPECT_EQ(test, d.sq->window, WINDOW);
	d.qp->cc.paced = false;
	d.qp->spray = NULL;
}

/* RTTs that vary are those of a queue that many share: they count as others do. */
static void variance_is_not_noise(struct kunit *test)
{
	struct delay_fixture d;
	u32 i;

	open_delay(test, &d);
	take_sample(&d, 20);
	for (i = 0; i < 2; i++) {
		d.sq->rtt.var = MS;
		take_sample(&d, 1000 + 1000 * i);
	}
	KUNIT_EXPECT_EQ(test, d.sq->window, WINDOW / 2);
}

/*
 * If 16 cuts in 200 ms do not make the RTT shorter, the window is what it was, for ten
 * seconds or until the RTT is three times as long.
 */
static void cuts_in_vain_end(struct kunit *test)
{
	struct delay_fixture d;

	open_delay(test, &d);
	take_sample(&d, 20);
	samples(&d, 1900, 2 * 20);
	KUNIT_EXPECT_EQ(test, d.sq->window, 1);
	d.ctx.now += 130 * MS;
	samples(&d, 1900, 2);
	KUNIT_EXPECT_EQ(test, d.sq->window, WINDOW);
	KUNIT_EXPECT_FALSE(test, d.sq->delay.spread);
	samples(&d, 1900, 4);
	KUNIT_EXPECT_EQ(test, d.sq->window, WINDOW);
	d.ctx.now += 9900 * MS;
	samples(&d, 1900, 2);
	KUNIT_EXPECT_EQ(test, d.sq->window, WINDOW);
	samples(&d, 5800, 2);
	KUNIT_EXPECT_EQ(test, d.sq->window, WINDOW / 2);
	KUNIT_EXPECT_EQ(test, d.sq->delay.cwnd, 0);
	d.ctx.now += 10000 * MS;
	samples(&d, 1900, 2);
	KUNIT_EXPECT_EQ(test, d.sq->window, WINDOW / 4);
	KUNIT_EXPECT_NE(test, d.sq->delay.cwnd, 0);
}

/* A queue that empties at times is one, however long it is in between. */
static void cuts_with_effect_go_on(struct kunit *test)
{
	struct delay_fixture d;
	u32 i;

	open_delay(test, &d);
	for (i = 0; i < 8; i++) {
		samples(&d, 400, 5);
		samples(&d, 1900, 2 * 15);
	}
	KUNIT_EXPECT_EQ(test, d.sq->window, 1);
	KUNIT_EXPECT_EQ(test, d.sq->delay.off_until, 0);
}

/*
 * If the least RTT is long, it is tried after 32 of them whether four cuts make it
 * shorter; if not, the path is long.
 */
static void long_path_is_tried(struct kunit *test)
{
	struct delay_fixture d;

	open_delay(test, &d);
	samples(&d, 3000, 32);
	KUNIT_EXPECT_EQ(test, d.sq->window, WINDOW);
	samples(&d, 3000, 1);
	KUNIT_EXPECT_EQ(test, d.sq->window, WINDOW / 2);
	samples(&d, 3000, 2 * 3);
	KUNIT_EXPECT_EQ(test, d.sq->window, WINDOW / 16);
	samples(&d, 3000, 2);
	KUNIT_EXPECT_EQ(test, d.sq->window, WINDOW);
	KUNIT_EXPECT_EQ(test, d.sq->delay.cwnd, 0);
	samples(&d, 8900, 100);
	KUNIT_EXPECT_EQ(test, d.sq->window, WINDOW);
	samples(&d, 9100, 2);
	KUNIT_EXPECT_EQ(test, d.sq->window, WINDOW / 2);
}

/* So is one of more than the target where nothing was lost for a second. */
static void clean_path_is_tried(struct kunit *test)
{
	struct delay_fixture d;

	open_delay(test, &d);
	samples(&d, 800, 32);
	KUNIT_EXPECT_EQ(test, d.sq->window, WINDOW);
	samples(&d, 800, 1 + 2 * 4);
	KUNIT_EXPECT_EQ(test, d.sq->window, WINDOW);
	KUNIT_EXPECT_NE(test, d.sq->delay.off_until, 0);
	/* As if it was connected again. */
	ornic_delay_reset(d.sq);
	d.sq->window = WINDOW;
	lose(&d, 1);
	samples(&d, 800, 2);
	KUNIT_EXPECT_LT(test, d.sq->window, WINDOW);
	samples(&d, 800, 2 * 4);
	KUNIT_EXPECT_EQ(test, d.sq->delay.off_until, 0);
}

/* An RTT that is far above the least one is that of a queue. */
static void queue_on_a_long_path(struct kunit *test)
{
	struct delay_fixture d;

	open_delay(test, &d);
	samples(&d, 3000, 32);
	samples(&d, 4000, 2 * 8);
	KUNIT_EXPECT_EQ(test, d.sq->window, 1);
	KUNIT_EXPECT_TRUE(test, d.sq->delay.spread);
}

/* After heavy loss a long RTT is that of a full queue, though none was shorter. */
static void full_queue_is_no_long_path(struct kunit *test)
{
	struct delay_fixture d;

	open_delay(test, &d);
	take_sample(&d, 3000);
	lose(&d, WINDOW);
	KUNIT_EXPECT_EQ(test, d.sq->window, WINDOW / 2);
	samples(&d, 3000, 2 * 8);
	KUNIT_EXPECT_EQ(test, d.sq->window, 1);
	KUNIT_EXPECT_EQ(test, d.sq->delay.off_until, 0);
}

/* More than half of what is sent goes again: the window is halved without samples. */
static void heavy_loss_is_congestion(struct kunit *test)
{
	struct delay_fixture d;

	open_delay(test, &d);
	lose(&d, 40);
	d.sq->max_psn = ornic_psn_add(d.sq->max_psn, WINDOW - 41);
	ornic_delay_resent(&d.ctx, d.qp, 1);
	KUNIT_EXPECT_EQ(test, d.sq->window, WINDOW / 2);
	/* A tenth is noise. */
	d.sq->max_psn = ornic_psn_add(d.sq->max_psn, 180);
	lose(&d, 20);
	KUNIT_EXPECT_EQ(test, d.sq->window, WINDOW / 2);
}

/* One request for many packets is one loss, though all of them go again. */
static void lost_read_request_is_one_loss(struct kunit *test)
{
	struct delay_fixture d;

	open_delay(test, &d);
	d.sq->delay.resent_psn = d.sq->max_psn;
	d.sq->max_psn = ornic_psn_add(d.sq->max_psn, 56);
	ornic_delay_resent(&d.ctx, d.qp, WINDOW);
	KUNIT_EXPECT_EQ(test, d.sq->delay.resent, 0);
	KUNIT_EXPECT_EQ(test, d.sq->window, WINDOW);
}

/* ACKs keep their order where packets do; the last one may come twice. */
static void overtaken_acks_are_noticed(struct kunit *test)
{
	struct ornic_fixture *fix;
	struct delay_fixture d;
	u32 i;

	prepare_delay(test, &d);
	fix = d.fix;
	ornic_fix_post(&fix->a, &fix->am, NULL, ORNIC_WQE_SEND, 0, 0, 16 * MTU);
	ornic_fix_drain(fix);
	for (i = 0; i < 2; i++)
		ornic_fix_respond(fix, ORNIC_OP_ACK,
				  ornic_psn_add(ORNIC_FIX_PSN, 5),
				  ORNIC_AETH_ACK, NULL, 0);
	KUNIT_EXPECT_EQ(test, d.sq->delay.reorder_until, 0);
	ornic_fix_respond(fix, ORNIC_OP_ACK, ornic_psn_add(ORNIC_FIX_PSN, 4),
			  ORNIC_AETH_ACK, NULL, 0);
	KUNIT_EXPECT_GT(test, d.sq->delay.reorder_until, fix->pair.a->now);
}

/* A READ is requested in pieces that the window holds, and comes as a whole. */
static void reads_in_smaller_pieces(struct kunit *test)
{
	struct ornic_fixture *fix =
		ornic_suite_open(test, ORNIC_FIX_WIRE, ORNIC_QPT_RC);
	struct ornic_engine *eng = fix->pair.a->eng;
	u64 before = ornic_engine_stat(fix->pair.b->eng, ORNIC_STAT_RX_PACKETS);
	struct ornic_qp *qp = ornic_fix_qp(&fix->a);
	struct ornic_cqe cqe;

	qp->sq.window = 5;
	qp->sq.delay.cwnd = 5 << 8;
	qp->sq.probing = true;
	ornic_engine_cc_set(eng, ORNIC_CC_RTT_ENABLE, 1);
	ornic_fix_post(&fix->a, &fix->am, &fix->bm, ORNIC_WQE_READ, 0, 0,
		       16 * MTU);
	KUNIT_EXPECT_TRUE(test, ornic_th_settle(&fix->pair));
	KUNIT_EXPECT_EQ(test, ornic_fix_status(&fix->ascq, &cqe), 0);
	KUNIT_EXPECT_EQ(test, qp->sq.rd_out, 0);
	KUNIT_EXPECT_EQ(test,
			ornic_engine_stat(fix->pair.b->eng,
					  ORNIC_STAT_RX_PACKETS) -
				before,
			4);
}

static struct kunit_case delay_cases[] = {
	KUNIT_CASE(one_late_sample_is_noise),
	KUNIT_CASE_PARAM(more_goes_the_later_samples_are, cut_gen_params),
	KUNIT_CASE(one_cut_in_a_round_trip),
	KUNIT_CASE(next_cut_after_many_packets),
	KUNIT_CASE(windows_below_a_packet),
	KUNIT_CASE(not_below_a_packet_for_one_message),
	KUNIT_CASE(window_grows_below_the_target),
	KUNIT_CASE(growth_is_fast_on_an_idle_path),
	KUNIT_CASE(growth_is_the_same_in_a_time),
	KUNIT_CASE(acks_for_half_a_window),
	KUNIT_CASE_PARAM(rtt_does_not_count, off_gen_params),
	KUNIT_CASE(variance_is_not_noise),
	KUNIT_CASE(cuts_in_vain_end),
	KUNIT_CASE(cuts_with_effect_go_on),
	KUNIT_CASE(long_path_is_tried),
	KUNIT_CASE(clean_path_is_tried),
	KUNIT_CASE(queue_on_a_long_path),
	KUNIT_CASE(full_queue_is_no_long_path),
	KUNIT_CASE(heavy_loss_is_congestion),
	KUNIT_CASE(lost_read_request_is_one_loss),
	KUNIT_CASE(overtaken_acks_are_noticed),
	KUNIT_CASE(reads_in_smaller_pieces),
	{}
};

static struct kunit_suite delay_suite = {
	.name = "ornic_delay",
	.init = ornic_suite_init,
	.exit = ornic_suite_exit,
	.test_cases = delay_cases,
};

kunit_test_suite(delay_suite);

MODULE_DESCRIPTION("ornic: suite of congestion control by RTT");
MODULE_LICENSE("Dual BSD/GPL");
