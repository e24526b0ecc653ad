// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Two engines and a hostile link: the input posts work on both ends and says
 * what becomes of each frame: pass, drop, twice, later, or changed and sealed
 * again. Then the link heals, and both ends must come to rest.
 */
#include <stdio.h>

#include "engine/dev.h"
#include "mutate.h"
#include "objects.h"
#include "snapshot.h"

#define MAX_STEPS 96
#define SLOT 48
#define MAX_HELD 8

struct held {
	u8 *data;
	u32 len;
	bool to_a;
};

struct state {
	struct ornic_fixture *fix;
	struct ornic_fuzz_objs objs;
	struct ornic_fuzz_in in;
	struct held held[MAX_HELD];
};

static void deliver(struct state *s, bool to_a, const u8 *data, u32 len)
{
	ornic_th_rx(to_a ? s->fix->pair.a : s->fix->pair.b, data, len);
}

static u8 *exact_copy(const struct ornic_th_frame *f)
{
	u8 *copy = malloc(f->len);

	memcpy(copy, f->data, f->len);
	return copy;
}

/* Swap the frame with one that was held back. */
static void hold(struct state *s, bool to_a, u8 *data, u32 len, u8 slot)
{
	struct held *h = &s->held[slot % MAX_HELD];

	if (h->data) {
		deliver(s, h->to_a, h->data, h->len);
		free(h->data);
	}
	h->data = data;
	h->len = len;
	h->to_a = to_a;
}

static void change(struct state *s, u8 *data, u32 len)
{
	u32 n = 1 + (ornic_fuzz_u8(&s->in) & 3);

	/* Behind Ethernet, IP and UDP, mostly in the headers. */
	while (n--) {
		u32 at = 42 + ornic_fuzz_u8(&s->in) % 48;
		u8 value = ornic_fuzz_u8(&s->in);

		if (at < len)
			data[at] = value;
	}
	ornic_fuzz_seal(data, len);
}

static void one_frame(struct state *s, bool from_b)
{
	struct ornic_th *from = from_b ? s->fix->pair.b : s->fix->pair.a;
	struct ornic_th_frame *f = ornic_th_pull(from);
	u8 what, *data;

	if (!f)
		return;
	ornic_fuzz_frame_check(f);
	data = exact_copy(f);
	what = ornic_fuzz_u8(&s->in);
	switch (what & 7) {
	case 0:
		break;
	case 1:
		deliver(s, from_b, data, f->len);
		deliver(s, from_b, data, f->len);
		break;
	case 2:
		hold(s, from_b, data, f->len, what >> 3);
		data = NULL;
		break;
	case 3:
		change(s, data, f->len);
		deliver(s, from_b, data, f->len);
		break;
	default:
		deliver(s, from_b, data, f->len);
		break;
	}
	free(data);
	ornic_th_put(from, f);
}

static void run_both(struct state *s)
{
	ornic_th_run(s->fix->pair.a);
	ornic_th_run(s->fix->pair.b);
}

static void pass_time(struct state *s)
{
	u64 ns = (u64)ornic_fuzz_u8(&s->in) * 200000;

	s->fix->pair.a->now += ns;
	s->fix->pair.b->now += ns;
	ornic_th_expire(s->fix->pair.a);
	ornic_th_expire(s->fix->pair.b);
}

/*
 * b is destroyed, and its number is that of a new QP with the same peer: what is
 * under way was for the old one.
 */
static void replace_b(struct state *s)
{
	struct ornic_th_qp *b = &s->fix->b;
	struct ornic_th_conn conn = b->conn;
	struct ornic_th_qpinit init = {
		.type = b->type,
		.xrcdn = ORNIC_FUZZ_XRCD,
	};
	bool xrc = b->type == ORNIC_QPT_XRC_TGT;
	u32 qpn = b->qpn;
	u8 state;

	if (s->objs.shared && !xrc)
		init.srq = &s->objs.srq;
	if (ornic_th_qp_fini(b))
		abort();
	ornic_th_next_qpn(s->fix->pair.b, qpn);
	if (ornic_th_qp_init(s->fix->pair.b, b, &init,
			     xrc ? NULL : &s->fix->bscq,
			     xrc ? NULL : &s->fix->brcq) ||
	    b->qpn != qpn)
		abort();
	b->conn = conn;
	for (state = ORNIC_QPS_INIT; state <= ORNIC_QPS_RTS; state++)
		ornic_th_to(b, state);
}

static void happen(struct state *s, struct ornic_th_qp *qp, u8 what)
{
	switch (what >> 3 & 15) {
	case 15:
		ornic_th_modify(qp, ornic_fuzz_u8(&s->in) & 7, ORNIC_QPM_STATE);
		break;
	case 14:
		ornic_fuzz_objs_revoke(&s->objs, what & 0x80);
		break;
	case 13:
		replace_b(s);
		break;
	}
}

static void step(struct state *s)
{
	u8 what = ornic_fuzz_u8(&s->in);
	struct ornic_th_qp *qp = what & 0x80 ? &s->fix->b : &s->fix->a;
	u32 i;

	switch (what & 7) {
	case 0:
	case 1:
		ornic_fuzz_post(s->fix, &s->objs, qp, &s->in);
		break;
	case 2:
		ornic_fuzz_recv(s->fix, &s->objs, qp, &s->in);
		break;
	case 3:
		pass_time(s);
		break;
	case 4:
		happen(s, qp, what);
		break;
	default:
		for (i = 0; i <= (what >> 3 & 7); i++)
			one_frame(s, what & 0x80);
		break;
	}
	run_both(s);
	ornic_fuzz_poll(s->fix);
}

static void *make_state(u32 shape)
{
	struct state *s = ornic_zalloc(sizeof(*s));
	struct ornic_fixture *fix;

	fix = ornic_fuzz_open(ORNIC_FIX_WIRE, ORNIC_QPT_RC);
	s->fix = fix;
	ornic_fuzz_objs_init(&s->objs, fix->pair.b, &fix->bscq, &fix->brcq,
			     &fix->bm, true);
	return s;
}

/* Work, frames that mostly pass, receives, time, and rarely something else. */
static void make_step(u8 *p, const u8 *head, u64 *rng)
{
	u8 side = ornic_fuzz_random(rng, 2) << 7;
	u32 kind = ornic_fuzz_random(rng, 16), i;

	if (kind < 5) {
		p[0] = side;
		ornic_fuzz_make_wr(p + 1, rng);
	} else if (kind < 7) {
		p[0] = side | 2;
		p[1] = 1;
		p[4] = ornic_fuzz_random(rng, 256);
		p[6] = ornic_fuzz_random(rng, 32);
	} else if (kind < 13) {
		p[0] = side | 5 | ornic_fuzz_random(rng, 8) << 3;
		for (i = 1; i <= 8; i++)
			p[i] = ornic_fuzz_random(rng, 8) ?
				       4 :
				       ornic_fuzz_random(rng, 256);
	} else if (kind < 15) {
		p[0] = 3;
		p[1] = ornic_fuzz_random(rng, 256);
	} else {
		p[0] = side | 4 | (13 + ornic_fuzz_random(rng, 3)) << 3;
		p[1] = ornic_fuzz_random(rng, 8);
	}
}

size_t LLVMFuzzerCustomMutator(u8 *data, size_t size, size_t max,
			       unsigned int seed)
{
	static const struct ornic_fuzz_format format = { 1, SLOT, make_step };

	return ornic_fuzz_mutate(&format, data, size, max, seed);
}

int LLVMFuzzerTestOneInput(const u8 *data, size_t size)
{
	static const u8 types[] = { ORNIC_QPT_RC, ORNIC_QPT_UC, ORNIC_QPT_UD,
				    ORNIC_QPT_XRC_TGT };
	struct state *s = ornic_snap_get(0, make_state);
	struct ornic_fixture *fix = s->fix;
	struct ornic_fuzz_in in = { data, size };
	u8 how;
	u32 i;

	how = ornic_fuzz_u8(&in);
	ornic_fuzz_shape(&s->objs, fix, types[how & 3], how & 4,
			 how & 3 ? 0 : ORNIC_QP_FAST_REG,
			 how & 8 ? ORNIC_TH_IPV6 : ORNIC_TH_IPV4);
	fix->pair.a->tx_window = 1 + (how >> 4);
	fix->pair.b->tx_window = 8;
	for (i = 0; i < MAX_STEPS && in.left; i++) {
		s->in = ornic_fuzz_step(&in, SLOT);
		step(s);
	}
	for (i = 0; i < MAX_HELD; i++)
		hold(s, false, NULL, 0, i);
	ornic_fuzz_rest(fix);
	ornic_fuzz_poll(fix);
	ornic_fuzz_objs_check(&s->objs);
	ornic_fuzz_close(fix);
	ornic_free(s);
	ornic_snap_put();
	return 0;
}
