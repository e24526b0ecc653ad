// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Frames and flow rules of raw packet QPs. The input is a row of steps: a rule is
 * made or destroyed, a frame arrives or is sent, a receive is posted, a QP ends, one
 * of them gets a table of work queues to spread over. For each frame a list of all
 * rules, looked through one by one, must name the same QPs as the engine.
 */
#include <stdio.h>

#include "engine/dev.h"
#include "engine/flow.h"
#include "fuzz.h"
#include "mutate.h"
#include "raw_frames.h"
#include "snapshot.h"

#define MAX_STEPS 64
#define MAX_RULES 48
#define SLOT 176
#define NQPS 4
#define NQUEUES 2

enum step_kind { ADD, REMOVE, ARRIVE, SEND, RECEIVE, SPREAD, END, KINDS };

struct rule {
	struct ornic_rf_rule what;
	u32 number; /* 0: none */
	bool ended; /* takes nothing any more */
};

struct state {
	struct ornic_fixture *fix;
	struct ornic_th_qp more;
	struct ornic_th_qp spread; /* has no queues */
	struct ornic_th_qp queue[NQUEUES];
	struct ornic_th_qp *qp[NQPS];
	struct ornic_rss *rss; /* memory of the host */
	bool is_set; /* the device has read it */
	struct rule rule[MAX_RULES];
};

static void check(bool ok, const char *what)
{
	if (ok)
		return;
	fprintf(stderr, "fuzz: %s\n", what);
	abort();
}

/* ---- The model ---------------------------------------------------------------- */

static bool matches(const struct ornic_rf_rule *rule,
		    const struct ornic_flow_key *key)
{
	const u8 *mask = (const u8 *)&rule->match.mask;
	const u8 *value = (const u8 *)&rule->match.value;
	const u8 *have = (const u8 *)key;
	u32 i;

	for (i = 0; i < sizeof(*key); i++) {
		if ((have[i] ^ value[i]) & mask[i])
			return false;
	}
	return true;
}

static u32 bits_of(const struct ornic_rf_rule *rule)
{
	const u8 *mask = (const u8 *)&rule->match.mask;
	u32 i, n = 0;

	for (i = 0; i < sizeof(rule->match.mask); i++)
		n += (u32)__builtin_popcount(mask[i]);
	return n;
}

static bool is_candidate(const struct rule *r, const struct ornic_flow_key *key)
{
	return r->number && !r->ended && r->what.type == ORNIC_FLOW_NORMAL &&
	       matches(&r->what, key);
}

static bool is_taker(const struct rule *r, const struct ornic_flow_key *key)
{
	return is_candidate(r, key) && !(r->what.flags & ORNIC_FLOW_COPY);
}

/* The priority of what takes a frame, 65536 if nothing does. */
static u32 best_priority(const struct state *s,
			 const struct ornic_flow_key *key)
{
	u32 i, best = 65536;

	for (i = 0; i < MAX_RULES; i++) {
		if (is_taker(&s->rule[i], key))
			best = min_t(u32, best, s->rule[i].what.priority);
	}
	return best;
}

/* Of the rules of this priority the most bits that one has. */
static u32 best_bits(const struct state *s, const struct ornic_flow_key *key,
		     u32 priority)
{
	u32 i, best = 0;

	for (i = 0; i < MAX_RULES; i++) {
		if (is_taker(&s->rule[i], key) &&
		    s->rule[i].what.priority == priority)
			best = max_t(u32, best, bits_of(&s->rule[i].what));
	}
	return best;
}

/* May the rule @r give the frame to its QP? Rules of as many bits are a tie. */
static bool may_get(const struct state *s, const struct rule *r,
		    const struct ornic_flow_key *key, bool for_host)
{
	u32 priority = best_priority(s, key);
	bool left = priority == 65536, multicast = key->dmac[0] & 1;

	if (!r->number || r->ended)
		return false;
	switch (r->what.type) {
	case ORNIC_FLOW_SNIFFER:
		return true;
	case ORNIC_FLOW_MC_DEFAULT:
		return left && multicast;
	case ORNIC_FLOW_ALL_DEFAULT:
		return left && (multicast || !for_host);
	default:
		break;
	}
	if (!is_candidate(r, key) || r->what.flags & ORNIC_FLOW_DROP)
		return false;
	if (r->what.flags & ORNIC_FLOW_COPY)
		return r->what.priority <= priority;
	return r->what.priority == priority &&
	       bits_of(&r->what) == best_bits(s, key, priority);
}

/* Must it? Not if another mask may be first, which a tie leaves open. */
static bool must_get(const struct state *s, const struct rule *r,
		     const struct ornic_flow_key *key, bool for_host)
{
	const struct rule *o;
	u32 i;

	if (!may_get(s, r, key, for_host))
		return false;
	if (r->what.type != ORNIC_FLOW_NORMAL ||
	    r->what.flags & ORNIC_FLOW_COPY)
		return true;
	for (i = 0; i < MAX_RULES; i++) {
		o = &s->rule[i];
		if (is_taker(o, key) && o->what.priority == r->what.priority &&
		    bits_of(&o->what) == bits_of(&r->what) &&
		    memcmp(&o->what.match.mask, &r->what.match.mask,
			   sizeof(o->what.match.mask)) != 0)
			return false;
	}
	return true;
}

static bool is_hit(const struct ornic_flow_hits *hits, u32 qpn)
{
	u32 i;

	for (i = 0; i < hits->n; i++) {
		if (hits->qpn[i] == qpn)
			return true;
	}
	return false;
}

static void check_hits(const struct state *s, const u8 *frame, u32 len,
		       bool for_host)
{
	struct ornic_flow_hits hits;
	struct ornic_flow_key key;
	bool multicast, taken;
	u32 i, j;

	len = min_t(u32, len, ORNIC_FLOW_HEAD);
	ornic_rcu_read_lock();
	ornic_engine_find_frame(s->fix->pair.a->eng, frame, len, for_host,
				&hits);
	ornic_rcu_read_unlock();
	ornic_flow_parse(&key, frame, len);
	multicast = key.dmac[0] & 1;
	taken = !multicast && best_priority(s, &key) < 65536;
	check(hits.taken == taken, "taken");
	check(hits.n <= NQPS, "a QP twice");
	for (i = 0; i < NQPS; i++) {
		bool may = false, must = false;

		for (j = 0; j < MAX_RULES; j++) {
			const struct rule *r = &s->rule[j];

			if (!r->number || r->what.qp != s->qp[i])
				continue;
			may |= may_get(s, r, &key, for_host);
			must |= must_get(s, r, &key, for_host);
		}
		check(may || !is_hit(&hits, s->qp[i]->qpn), "a stranger");
		check(!must || is_hit(&hits, s->qp[i]->qpn), "nobody");
	}
}

/* ---- Steps -------------------------------------------------------------------- */

static void add_rule(struct state *s, struct ornic_fuzz_in *in)
{
	struct rule *r = &s->rule[ornic_fuzz_u8(in) % MAX_RULES];
	u8 *value = (u8 *)&r->what.match.value;
	const u8 *mask = (const u8 *)&r->what.match.mask;
	u8 how = ornic_fuzz_u8(in);
	u32 i;

	if (r->number)
		return;
	memset(&r->what, 0, sizeof(r->what));
	r->what.qp = s->qp[how & 3];
	r->what.type = how >> 2 & 7;
	r->what.flags = how >> 5;
	r->what.priority = ornic_fuzz_u8(in) % 4;
	if (r->what.type > ORNIC_FLOW_SNIFFER)
		r->what.type = ORNIC_FLOW_NORMAL;
	ornic_fuzz_bytes(in, &r->what.match.value, sizeof(r->what.match.value));
	ornic_fuzz_bytes(in, &r->what.match.mask, sizeof(r->what.match.mask));
	for (i = 0; i < sizeof(r->what.match.mask); i++)
		value[i] &= mask[i];
	if (ornic_rf_create(s->fix->pair.a, &r->what, &r->number))
		r->number = 0;
	else
		check(r->number, "number");
}

static void remove_rule(struct state *s, u32 i)
{
	struct rule *r = &s->rule[i % MAX_RULES];

	if (!r->number)
		return;
	check(!ornic_rf_destroy(s->fix->pair.a, r->number), "DESTROY_FLOW");
	r->number = 0;
	r->ended = false;
}

/* Bytes of exactly their length, so that a sanitizer sees what is behind them. */
static void arrive(struct state *s, struct ornic_fuzz_in *in)
{
	u8 how = ornic_fuzz_u8(in), buf[SLOT] = { 0 };
	u32 len = max_t(u32, ornic_fuzz_u8(in) % sizeof(buf), 1);
	u8 *exact = malloc(len);

	ornic_fuzz_bytes(in, buf, len);
	memcpy(exact, buf, len);
	s->fix->pair.a->for_host = how & 1;
	s->fix->pair.a->seg_bytes = how & 2 ? 10 : 0;
	check_hits(s, exact, len, how & 1);
	ornic_th_rx(s->fix->pair.a, exact, len);
	free(exact);
}

static void send(struct state *s, struct ornic_fuzz_in *in)
{
	struct ornic_th_qp *qp = s->qp[ornic_fuzz_u8(in) & 3];
	u32 len = ornic_fuzz_u8(in) % SLOT;
	u8 buf[SLOT] = { 0 };

	if (qp == &s->spread)
		return;
	ornic_fuzz_bytes(in, buf, len);
	ornic_th_mr_write(&s->fix->am, 0, buf, sizeof(buf));
	ornic_fix_post(qp, &s->fix->am, NULL, ORNIC_WQE_SEND, 0, 0, len);
}

static void end_all(struct state *s)
{
	u32 i;

	check(!ornic_rf_end_all(s->fix->pair.a), "END_RAW");
	check(!s->fix->pair.a->raw_wanted, "frames are wanted without rules");
	for (i = 0; i < MAX_RULES; i++)
		s->rule[i].ended = s->rule[i].number;
}

static void end_qp(struct state *s, struct ornic_fuzz_in *in)
{
	static const u8 states[] = { ORNIC_QPS_RESET, ORNIC_QPS_INIT,
				     ORNIC_QPS_RTR,   ORNIC_QPS_RTS,
				     ORNIC_QPS_SQD,   ORNIC_QPS_ERR };
	u8 how = ornic_fuzz_u8(in);
	struct ornic_th_qp *qp = s->qp[how & 3];

	if (qp == &s->spread)
		qp = &s->queue[how >> 5 & 1];
	ornic_th_to(qp, states[(how >> 2) % ARRAY_SIZE(states)]);
	if (how >= 0xc0)
		end_all(s);
}

static void receive(struct state *s, struct ornic_fuzz_in *in)
{
	struct ornic_th_qp *qp = s->qp[ornic_fuzz_u8(in) & 3];
	u8 len = ornic_fuzz_u8(in);
	struct ornic_lsge sge = ornic_fix_sge(&s->fix->bm, 0, len);

	if (qp == &s->spread)
		qp = &s->queue[len & 1];
	if (qp->rq_producer < 16)
		ornic_th_post_recv(qp, 1, &sge, 1);
}

/* Puts QPNs in the place of small numbers. Are they all of work queues? */
static bool name_qps(struct state *s)
{
	const u32 qpns[] = { s->queue[0].qpn, s->queue[1].qpn, s->qp[0]->qpn,
			     s->spread.qpn, 0x30000 };
	bool good = true;
	u32 i, pick;

	for (i = 0; i < ARRAY_SIZE(s->rss->qpn); i++) {
		pick = le32_to_cpu(s->rss->qpn[i]) % ARRAY_SIZE(qpns);
		s->rss->qpn[i] = cpu_to_le32(qpns[pick]);
		if (s->rss->log_size < 8 && i < 1u << s->rss->log_size)
			good &= pick < NQUEUES;
	}
	return good;
}

static void set_rss(struct state *s, struct ornic_fuzz_in *in)
{
	struct ornic_rss *rss = s->rss;
	u32 fields;
	int status;
	bool good;

	memset(rss, 0, sizeof(*rss));
	ornic_fuzz_bytes(in, rss, sizeof(*rss));
	fields = le32_to_cpu(rss->fields);
	good = name_qps(s);
	good &= rss->log_size < 8 && fields < 0x100 &&
		(fields || !rss->log_size);
	status = ornic_rf_set_rss(s->fix->pair.a, s->spread.qpn, rss);
	if (!good)
		check(status == ORNIC_BAD_PARAM, "a bad table");
	else
		check(status == (s->is_set ? ORNIC_BUSY : ORNIC_OK),
		      "a good table");
	s->is_set |= good;
	/* It was read during the command. */
	memset(rss, 0xff, sizeof(*rss));
}

static void one_step(struct state *s, struct ornic_fuzz_in *in)
{
	switch (ornic_fuzz_u8(in) % KINDS) {
	case ADD:
		add_rule(s, in);
		break;
	case REMOVE:
		remove_rule(s, ornic_fuzz_u8(in));
		break;
	case ARRIVE:
		arrive(s, in);
		break;
	case SEND:
		send(s, in);
		break;
	case RECEIVE:
		receive(s, in);
		break;
	case SPREAD:
		set_rss(s, in);
		break;
	default:
		end_qp(s, in);
		break;
	}
}

/* ---- Inputs -------------------------------------------------------------------- */

/* A rule for some fields of the frames that make_step() makes. */
static void make_rule(u8 *p, u64 *rng)
{
	struct ornic_flow_key value, mask;
	u8 frame[ORNIC_RF_HEAD];
	u32 i, field;

	*p++ = ornic_fuzz_random(rng, MAX_RULES);
	*p++ = ornic_fuzz_random(rng, 4) |
	       (ornic_fuzz_random(rng, 4) ? 0 : ornic_fuzz_random(rng, 4))
		       << 2 |
	       (ornic_fuzz_random(rng, 3) ? 0 : ornic_fuzz_random(rng, 3)) << 5;
	*p++ = ornic_fuzz_random(rng, 4);
	ornic_rf_udp(frame, ornic_fuzz_random(rng, 3),
		     ornic_fuzz_random(rng, 3), sizeof(frame));
	ornic_flow_parse(&value, frame, sizeof(frame));
	memset(&mask, 0, sizeof(mask));
	for (i = 0; i < 2; i++) {
		field = ornic_fuzz_random(rng, 7);
		if (field == 0)
			memset(mask.dmac, 0xff, sizeof(mask.dmac));
		else if (field == 1)
			mask.dst_port = 0xffff;
		else if (field == 2)
			mask.layers = ORNIC_FLOW_UDP;
		else if (field == 3)
			mask.ether_type = 0xffff;
		else if (field == 4)
			mask.dst_ip[ornic_fuzz_random(rng, 4)] = 0xff;
		else if (field == 5)
			mask.dmac[5] = 1;
		else
			mask.proto = ornic_fuzz_random(rng, 256);
	}
	memcpy(p, &value, sizeof(value));
	memcpy(p + sizeof(value), &mask, sizeof(mask));
}

/* Mostly a good one. */
static void make_table(struct ornic_rss *rss, u64 *rng)
{
	u32 i;

	memset(rss, 0, offsetof(struct ornic_rss, qpn[8]));
	rss->key[ornic_fuzz_random(rng, ORNIC_RSS_KEY_LEN)] =
		ornic_fuzz_random(rng, 256);
	rss->fields = cpu_to_le32(ornic_fuzz_random(rng, 256));
	rss->log_size = ornic_fuzz_random(rng, 9) & 3;
	for (i = 0; i < 8; i++)
		rss->qpn[i] = cpu_to_le32(
			ornic_fuzz_random(rng, 2 + !ornic_fuzz_random(rng, 9)));
}

static void make_step(u8 *p, const u8 *head, u64 *rng)
{
	u8 kind = ornic_fuzz_random(rng, 11);
	struct ornic_rss rss;

	if (kind >= KINDS)
		kind = kind & 1 ? ADD : ARRIVE;
	*p++ = kind;
	switch (kind) {
	case ADD:
		make_rule(p, rng);
		break;
	case ARRIVE:
	case SEND:
		*p++ = ornic_fuzz_random(rng, 4);
		*p++ = 60;
		ornic_rf_udp(p, ornic_fuzz_random(rng, 3),
			     ornic_fuzz_random(rng, 3), 60);
		if (!ornic_fuzz_random(rng, 4))
			p[0] |= 1;
		break;
	case SPREAD:
		make_table(&rss, rng);
		memcpy(p, &rss, offsetof(struct ornic_rss, qpn[8]));
		break;
	default:
		*p++ = ornic_fuzz_random(rng, 256);
		*p++ = ornic_fuzz_random(rng, 256);
		break;
	}
}

size_t LLVMFuzzerCustomMutator(u8 *data, size_t size, size_t max,
			       unsigned int seed)
{
	static const struct ornic_fuzz_format format = { 0, SLOT, make_step };

	return ornic_fuzz_mutate(&format, data, size, max, seed);
}

static void make_qp(struct state *s, struct ornic_th_qp *qp, bool no_sq)
{
	struct ornic_th_qpinit init = { .type = ORNIC_QPT_RAW, .no_sq = no_sq };

	check(!ornic_th_qp_init(s->fix->pair.a, qp, &init, &s->fix->ascq,
				&s->fix->arcq),
	      "QP");
}

static void start(struct ornic_th_qp *qp)
{
	ornic_th_to(qp, ORNIC_QPS_INIT);
	ornic_th_to(qp, ORNIC_QPS_RTR);
	check(!ornic_th_to(qp, ORNIC_QPS_RTS), "RTS");
}

static void make_qps(struct state *s)
{
	struct ornic_th *th = s->fix->pair.a;
	u32 i;

	s->qp[0] = &s->fix->a;
	s->qp[1] = &s->fix->b;
	s->qp[2] = &s->more;
	s->qp[3] = &s->spread;
	make_qp(s, &s->more, false);
	for (i = 0; i < 3; i++)
		start(s->qp[i]);
	for (i = 0; i < NQUEUES; i++) {
		make_qp(s, &s->queue[i], true);
		start(&s->queue[i]);
	}
	check(!ornic_rf_make_spread(th, &s->spread), "QP without queues");
	s->rss = (struct ornic_rss *)ornic_th_alloc(th, sizeof(*s->rss));
	check(s->rss, "memory");
}

/* Frames that have left arrive again, as if a switch had them back. */
static void deliver(struct state *s)
{
	struct ornic_th *th = s->fix->pair.a;
	struct ornic_th_frame *f;
	u32 i;

	for (i = 0; i < 4 * MAX_STEPS; i++) {
		ornic_th_run(th);
		f = ornic_th_pull(th);
		if (!f)
			return;
		ornic_th_rx(th, f->data, f->len);
		ornic_th_put(th, f);
	}
}

static void *make_state(u32 shape)
{
	struct ornic_th_qpinit init = { .type = ORNIC_QPT_RAW };
	struct state *s = calloc(1, sizeof(*s));

	check(s && (s->fix = calloc(1, sizeof(*s->fix))), "memory");
	check(!ornic_fix_open(s->fix, ORNIC_FIX_LOOP, &init), "fixture");
	make_qps(s);
	return s;
}

int LLVMFuzzerTestOneInput(const u8 *data, size_t size)
{
	struct state *s = ornic_snap_get(0, make_state);
	struct ornic_fuzz_in in = { data, size };
	u32 i;

	for (i = 0; i < MAX_STEPS && in.left; i++) {
		struct ornic_fuzz_in one = ornic_fuzz_step(&in, SLOT);

		one_step(s, &one);
		deliver(s);
		ornic_fuzz_poll(s->fix);
	}
	for (i = 0; i < MAX_RULES; i++)
		remove_rule(s, i);
	check(!s->fix->pair.a->eng->dev.flows.nmasks, "a mask is left");
	check(!s->fix->pair.a->raw_wanted, "frames are wanted");
	check(!ornic_fix_close(s->fix), "memory was written beside");
	free(s->fix);
	free(s);
	ornic_snap_put();
	return 0;
}
