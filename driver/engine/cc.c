// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Congestion control by ECN marks (RFC 3168).
 *
 * Notification point: a marked packet from the peer of a QP is answered by a CNP
 * (IBTA A17.9.3), at most one in a time; or, if it is a request of a peer that
 * repeats selectively, by BECN in the next response.
 *
 * Reaction point: a CNP sets a rate, by DCQCN, for all that the QP sends but ACKs;
 * BECN makes the window smaller, by DCTCP. Both laws are evaluated when a packet
 * is sent or arrives, so they have no timers: what waits for its time waits as for
 * a port that refused it (struct ornic_backoff).
 *
 * Nothing of a packet is a divisor here: these are parameters, whose least value
 * is 1, a rate, which is never below the least, and a time that has been checked.
 */
#include "proto.h"

#define INFO(id, name, initial, least, most) \
	{ #name, (initial), (least), (most) },

const struct ornic_cc_param_info ornic_cc_param_infos[] = { ORNIC_CC_PARAMS(
	INFO) };

#define NS_PER_US 1000ull
#define KBIT_PER_MBIT 1000u
#define ALPHA_SHIFT 20
/* Ethernet with preamble, FCS and gap, IP, UDP, BTH, ICRC: beside the payload. */
#define WIRE_OVERHEAD 82
/* What a packet may be early, so that a timer is not needed for each. */
#define SLACK_NS 16000ull
/* A rate is measured over so many bytes at least. */
#define MEASURE_BYTES 8192
/* After so long at rest a QP is not limited any more. */
#define IDLE_NS 50000000ull
/* A measurement begins anew after such a rest, and ends after so long. */
#define MEASURE_REST_NS 10000000ull
#define MEASURE_NS 1000000000ull
/* Increases for one packet, at most. */
#define MAX_STEPS 16
/* After a marked READ response the peer has a rate, which the RTT is not to judge. */
#define MARKED_NS 10000000ull
#define ALPHA_ONE 1024u /* of struct ornic_cc_window */

/* ---- Parameters ------------------------------------------------------------- */

void ornic_cc_init(struct ornic_dev *dev)
{
	u32 i;

	for (i = 0; i < ORNIC_CC_PARAM_COUNT; i++)
		dev->cc_param[i] = ornic_cc_param_infos[i].initial;
}

int ornic_engine_cc_set(struct ornic_engine *eng, enum ornic_cc_param which,
			u32 value)
{
	const struct ornic_cc_param_info *info;

	if ((u32)which >= ORNIC_CC_PARAM_COUNT)
		return -EINVAL;
	info = &ornic_cc_param_infos[which];
	if (value < info->least || value > info->most)
		return -EINVAL;
	WRITE_ONCE(eng->dev.cc_param[which], value);
	return 0;
}

u32 ornic_engine_cc_get(const struct ornic_engine *eng,
			enum ornic_cc_param which)
{
	if ((u32)which >= ORNIC_CC_PARAM_COUNT)
		return 0;
	return READ_ONCE(eng->dev.cc_param[which]);
}

static u32 param(const struct ornic_qp *qp, enum ornic_cc_param which)
{
	return READ_ONCE(qp->dev->cc_param[which]);
}

static u64 param_ns(const struct ornic_qp *qp, enum ornic_cc_param which)
{
	return param(qp, which) * NS_PER_US;
}

static u32 param_kbit(const struct ornic_qp *qp, enum ornic_cc_param which)
{
	return param(qp, which) * KBIT_PER_MBIT;
}

/* kbit/s: above this a QP is not limited any more. */
static u32 max_rate(const struct ornic_qp *qp)
{
	u32 max = param_kbit(qp, ORNIC_CC_MAX_RATE);

	if (!max)
		max = ornic_cc_param_infos[ORNIC_CC_MAX_RATE].most *
		      KBIT_PER_MBIT;
	return max_t(u32, max, param_kbit(qp, ORNIC_CC_MIN_RATE));
}

static u32 clamp_rate(const struct ornic_qp *qp, u64 rate)
{
	return (u32)min_t(u64,
			  max_t(u64, rate, param_kbit(qp, ORNIC_CC_MIN_RATE)),
			  max_rate(qp));
}

/* ---- Reaction point: the rate --------------------------------------------------- */

void ornic_cc_reset(struct ornic_qp *qp)
{
	struct ornic_cc *cc = &qp->cc;

	WRITE_ONCE(cc->paced, false);
	qp->sq.cnp_at = 0;
	qp->rq.cnp_at = 0;
	qp->rq.marked = false;
	memset(&qp->sq.marks, 0, sizeof(qp->sq.marks));
	ornic_delay_reset(&qp->sq);
}

/* DCQCN: fast recovery to the target, then it rises by AI, then by HAI. */
static void increase_rate(struct ornic_qp *qp)
{
	struct ornic_cc *cc = &qp->cc;
	u32 threshold = param(qp, ORNIC_CC_THRESHOLD), add = 0;

	if (min_t(u32, cc->time_stage, cc->byte_stage) > threshold)
		add = param_kbit(qp, ORNIC_CC_HAI_RATE);
	else if (max_t(u32, cc->time_stage, cc->byte_stage) >= threshold)
		add = param_kbit(qp, ORNIC_CC_AI_RATE);
	cc->target = clamp_rate(qp, (u64)cc->target + add);
	cc->rate = clamp_rate(qp, ((u64)cc->rate + cc->target + 1) / 2);
	if (cc->rate == max_rate(qp))
		WRITE_ONCE(cc->paced, false);
}

/*
 * The increases by time that are due: of the time in which the QP has used its
 * rate, as one that it does not use says nothing about the path.
 */
static void increase_by_time(struct ornic_qp *qp)
{
	u64 period = param_ns(qp, ORNIC_CC_TIME_RESET), n, i;
	struct ornic_cc *cc = &qp->cc;

	if (cc->busy < period)
		return;
	n = cc->busy / period;
	cc->busy -= n * period;
	cc->grown = true;
	n = min_t(u64, n, MAX_STEPS);
	for (i = 0; i < n && cc->paced; i++) {
		cc->time_stage++;
		increase_rate(qp);
	}
}

static void increase_by_bytes(struct ornic_qp *qp, u32 bytes)
{
	u32 reset = param(qp, ORNIC_CC_BYTE_RESET);
	struct ornic_cc *cc = &qp->cc;

	cc->bytes += bytes;
	if (!reset || cc->bytes < reset)
		return;
	cc->bytes = 0;
	cc->byte_stage++;
	increase_rate(qp);
}

/* A packet takes its part of the rate; when it may go, ns. */
static u64 take_slot(const struct ornic_ctx *ctx, struct ornic_qp *qp,
		     u32 bytes)
{
	struct ornic_cc *cc = &qp->cc;
	u64 gap = bytes * 8000000ull / cc->rate;
	u64 at = max_t(u64, cc->next, ctx->now);

	cc->next = at + gap;
	cc->busy += gap;
	increase_by_time(qp);
	increase_by_bytes(qp, bytes);
	return at;
}

/* What is sent between two CNPs without a rest tells the rate. */
static void measure_packet(const struct ornic_ctx *ctx, struct ornic_cc *cc,
			   u32 bytes)
{
	if (ornic_since(ctx->now, cc->alpha_at) > MEASURE_NS) {
		WRITE_ONCE(cc->paced, false);
		return;
	}
	if (ornic_since(ctx->now, cc->next) > MEASURE_REST_NS) {
		cc->cut_at = ctx->now;
		cc->bytes = 0;
	}
	cc->next = max_t(u64, cc->next, ctx->now);
	cc->bytes += bytes;
}

/*
 * When a packet may go; one that may wait has its place, so that requests and READ
 * responses take turns. A QP that has been at rest for long is not limited any more.
 */
static u64 pace_packet(const struct ornic_ctx *ctx, struct ornic_qp *qp,
		       u32 bytes)
{
	struct ornic_cc *cc = &qp->cc;

	if (ornic_since(ctx->now, cc->next) > IDLE_NS ||
	    unlikely(!param(qp, ORNIC_CC_RP_ENABLE))) {
		WRITE_ONCE(cc->paced, false);
		return ctx->now;
	}
	if (!cc->rate) {
		measure_packet(ctx, cc, bytes);
		return ctx->now;
	}
	return take_slot(ctx, qp, bytes);
}

bool ornic_cc_hold(const struct ornic_ctx *ctx, struct ornic_qp *qp,
		   struct ornic_backoff *b, u32 len)
{
	struct ornic_cc *cc = &qp->cc;
	u64 at = ctx->now;

	if (b->slot) {
		b->slot = false;
		return false;
	}
	ornic_lock_inner(&cc->lock);
	if (cc->paced)
		at = pace_packet(ctx, qp, len + WIRE_OVERHEAD);
	ornic_unlock_inner(&cc->lock);
	if (at <= ctx->now + SLACK_NS)
		return false;
	b->slot = true;
	WRITE_ONCE(b->until, at);
	return true;
}

/* @alpha after @n periods without a CNP, each of which leaves @g of 1024. */
static u32 decay(u32 alpha, u32 g, u64 n)
{
	u64 part = (u64)g << (ALPHA_SHIFT - 10), res = alpha;

	for (; n && res; n >>= 1) {
		if (n & 1)
			res = res * part >> ALPHA_SHIFT;
		part = part * part >> ALPHA_SHIFT;
	}
	return (u32)res;
}

static void raise_alpha(const struct ornic_ctx *ctx, struct ornic_qp *qp)
{
	u64 period = param_ns(qp, ORNIC_CC_DCE_TCP_RTT);
	u32 g = param(qp, ORNIC_CC_DCE_TCP_G);
	struct ornic_cc *cc = &qp->cc;
	u64 n = ornic_since(ctx->now, cc->alpha_at) / period;

	cc->alpha = decay(cc->alpha, g, n);
	cc->alpha_at = ctx->now;
	cc->alpha = decay(cc->alpha, g, 1) + ((1024 - g) << (ALPHA_SHIFT - 10));
}

/* The first CNP, or the first since the QP was not limited any more. */
static void start_pacing(const struct ornic_ctx *ctx, struct ornic_qp *qp)
{
	struct ornic_cc *cc = &qp->cc;
	u32 first = param_kbit(qp, ORNIC_CC_FIRST_RATE);

	cc->rate = first ? clamp_rate(qp, first) : 0;
	cc->target = cc->rate;
	cc->alpha = param(qp, ORNIC_CC_INITIAL_ALPHA) << (ALPHA_SHIFT - 10);
	cc->alpha_at = ctx->now;
	cc->busy = 0;
	cc->cut_at = ctx->now;
	cc->next = ctx->now;
	cc->bytes = 0;
	cc->time_stage = 0;
	cc->byte_stage = 0;
	cc->grown = false;
	WRITE_ONCE(cc->paced, true);
}

/* What the QP has sent since the first CNP; false if that is too little. */
static bool measure_rate(const struct ornic_ctx *ctx, struct ornic_qp *qp)
{
	struct ornic_cc *cc = &qp->cc;
	u64 ns = ornic_since(ctx->now, cc->cut_at);

	if (!ns || cc->bytes < MEASURE_BYTES)
		return false;
	cc->bytes = min_t(u64, cc->bytes, 1ull << 40);
	cc->rate = clamp_rate(qp, cc->bytes * 8000000ull / ns);
	cc->target = cc->rate;
	cc->alpha_at = ctx->now;
	return true;
}

static void cut_rate(const struct ornic_ctx *ctx, struct ornic_qp *qp)
{
	struct ornic_cc *cc = &qp->cc;
	u64 least, rate;

	if (param(qp, ORNIC_CC_CLAMP_TGT_RATE) ||
	    (cc->grown && param(qp, ORNIC_CC_CLAMP_TGT_RATE_ATI)))
		cc->target = cc->rate;
	rate = cc->rate - ((u64)cc->rate * cc->alpha >> (ALPHA_SHIFT + 1));
	least = (u64)cc->rate * param(qp, ORNIC_CC_MIN_DEC_FAC) / 100;
	cc->rate = clamp_rate(qp, max_t(u64, rate, least));
	cc->cut_at = ctx->now;
	cc->busy = 0;
	cc->bytes = 0;
	cc->time_stage = 0;
	cc->byte_stage = 0;
	cc->grown = false;
}

static void take_cnp(const struct ornic_ctx *ctx, struct ornic_qp *qp)
{
	struct ornic_cc *cc = &qp->cc;

	if (!cc->paced) {
		start_pacing(ctx, qp);
		if (cc->rate)
			cut_rate(ctx, qp);
		return;
	}
	if (!cc->rate) {
		if (measure_rate(ctx, qp))
			cut_rate(ctx, qp);
		return;
	}
	if (ornic_since(ctx->now, cc->cut_at) <
	    param_ns(qp, ORNIC_CC_MONITOR_PERIOD))
		return;
	raise_alpha(ctx, qp);
	cut_rate(ctx, qp);
}

void ornic_cc_rx_cnp(const struct ornic_ctx *ctx, struct ornic_qp *qp,
		     const struct ornic_pkt *pkt)
{
	ornic_lock(&qp->sq.lock);
	if (qp->type == ORNIC_QPT_UD || !ornic_qp_can_receive(qp)) {
		ornic_qp_stat_inc(qp, ORNIC_STAT_RX_NO_QP);
	} else if (!ornic_pkeys_match(qp->pkey, pkt->pkey)) {
		ornic_qp_stat_inc(qp, ORNIC_STAT_RX_BAD_PKEY);
	} else if (!ornic_path_matches(&qp->path, pkt->rx)) {
		ornic_qp_stat_inc(qp, ORNIC_STAT_RX_BAD_ADDR);
	} else if (!param(qp, ORNIC_CC_RP_ENABLE)) {
		ornic_qp_stat_inc(qp, ORNIC_STAT_RP_CNP_IGNORED);
	} else {
		ornic_qp_stat_inc(qp, ORNIC_STAT_RP_CNP_HANDLED);
		ornic_lock_inner(&qp->cc.lock);
		take_cnp(ctx, qp);
		ornic_unlock_inner(&qp->cc.lock);
	}
	if (ornic_stat_optional(qp->dev, ORNIC_STAT_CC_RX_CNP_PKTS))
		ornic_qp_stat_inc(qp, ORNIC_STAT_CC_RX_CNP_PKTS);
	ornic_unlock(&qp->sq.lock);
}

/* ---- Reaction point: the window ------------------------------------------------- */

/* A round trip is over: RFC 8257, 3.3, with g = 1/16. */
static void update_alpha(struct ornic_sq *sq)
{
	struct ornic_cc_window *w = &sq->marks;
	u32 part = 0;

	if (w->acked)
		part = (u32)((u64)w->marked * ALPHA_ONE / w->acked);
	w->alpha = (w->alpha * 15 + part) / 16;
	w->marked = 0;
	w->acked = 0;
	w->end = sq->max_psn;
	w->cut = false;
	if (!w->alpha)
		w->on = false;
}

static void cut_window(struct ornic_sq *sq)
{
	struct ornic_cc_window *w = &sq->marks;
	u32 cut =
		(u32)(((u64)sq->window * w->alpha + ALPHA_ONE) / ALPHA_ONE / 2);

	w->cut = true;
	sq->window = max_t(u32, sq->window - cut, ORNIC_MARKED_WINDOW);
	sq->probing = true;
	sq->credit = 0;
}

void ornic_cc_acked(struct ornic_qp *qp, const struct ornic_pkt *pkt,
		    u32 before)
{
	struct ornic_sq *sq = &qp->sq;
	struct ornic_cc_window *w = &sq->marks;
	u32 gain = (u32)max_t(s32, ornic_psn_diff(sq->acked, before), 0);

	if (sq->selective == ORNIC_SELECTIVE_NO ||
	    !param(qp, ORNIC_CC_RP_ENABLE)) {
		w->on = false;
		return;
	}
	if (!w->on) {
		w->on = true;
		w->cut = false;
		w->end = sq->max_psn;
		w->alpha = ALPHA_ONE;
		w->marked = 0;
		w->acked = 0;
	}
	w->acked += gain;
	if (pkt->becn) {
		w->marked += gain;
		if (!w->cut)
			cut_window(sq);
	}
	if (ornic_psn_diff(sq->acked, w->end) >= 0)
		update_alpha(sq);
}

/* ---- Notification point ---------------------------------------------------------- */

/* IBTA A17.9.3. It is not sent again if the port refuses it: the next mark is. */
static void send_cnp(struct ornic_ctx *ctx, struct ornic_qp *qp,
		     struct ornic_backoff *b, u64 *next)
{
	struct ornic_txinfo info = {
		.opcode = ORNIC_CNP,
		.becn = true,
		.pkey = (u16)qp->pkey,
		.dest_qpn = qp->dest_qpn,
	};
	const struct ornic_iov none = { .n = 0 };
	struct ornic_path path = qp->path;
	struct ornic_backoff own = { 0 };

	/* What the rate of the QP holds does not hold this. */
	if (ctx->now < *next || (b->tries && ornic_backoff_on(b, ctx->now)))
		return;
	*next = ctx->now + param_ns(qp, ORNIC_CC_MIN_TIME_BETWEEN_CNPS);
	ornic_path_set_tclass(&path, (u8)(param(qp, ORNIC_CC_CNP_DSCP) << 2));
	if (!ornic_tx_send(ctx, qp, &own, &path, &info, &none))
		return;
	ornic_qp_stat_inc(qp, ORNIC_STAT_NP_CNP_SENT);
	if (ornic_stat_optional(qp->dev, ORNIC_STAT_CC_TX_CNP_PKTS))
		ornic_qp_stat_inc(qp, ORNIC_STAT_CC_TX_CNP_PKTS);
}

/* Count a marked packet; false if it is not the peer's, or marks are not reported. */
static bool is_marked(struct ornic_qp *qp, const struct ornic_pkt *pkt)
{
	if (ornic_stat_optional(qp->dev, ORNIC_STAT_CC_RX_CE_PKTS))
		ornic_qp_stat_inc(qp, ORNIC_STAT_CC_RX_CE_PKTS);
	if (qp->type == ORNIC_QPT_UD || !ornic_path_matches(&qp->path, pkt->rx))
		return false;
	ornic_qp_stat_inc(qp, ORNIC_STAT_NP_ECN_MARKED_ROCE_PACKETS);
	return param(qp, ORNIC_CC_NP_ENABLE);
}

void ornic_cc_marked_request(struct ornic_ctx *ctx, struct ornic_qp *qp,
			     const struct ornic_pkt *pkt)
{
	struct ornic_rq *rq = &qp->rq;

	if (!is_marked(qp, pkt))
		return;
	if (ornic_qp_is_reliable(qp) && pkt->selective)
		rq->marked = true;
	else
		send_cnp(ctx, qp, &rq->backoff, &rq->cnp_at);
}

void ornic_cc_marked_response(struct ornic_ctx *ctx, struct ornic_qp *qp,
			      const struct ornic_pkt *pkt)
{
	/* Nothing is gained by less of what has no data. */
	if (!is_marked(qp, pkt) || !(pkt->op->flags & ORNIC_OPF_READ))
		return;
	qp->sq.delay.off_until = ctx->now + MARKED_NS;
	send_cnp(ctx, qp, &qp->sq.backoff, &qp->sq.cnp_at);
}
