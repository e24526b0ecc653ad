// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Rings and records in the hands of a hostile process: any bytes in any slot,
 * any producer, consumer and arm word, kicks and states at any time.
 */
#include "mutate.h"
#include "objects.h"
#include "snapshot.h"

#define MAX_STEPS 64
#define SLOT 64

struct state {
	struct ornic_fixture *fix;
	struct ornic_fuzz_objs objs;
};

static void scribble(struct ornic_th_qp *qp, struct ornic_fuzz_in *in)
{
	u32 off = ornic_fuzz_u16(in) % qp->mem_bytes;
	u32 len = ornic_fuzz_u8(in) & 63;

	/* The low bits choose between the rings rather than their tails. */
	if (off < ORNIC_RING_OFFSET)
		off = ORNIC_RING_OFFSET + off * 4 % 1024;
	if (off + len > qp->mem_bytes)
		return;
	ornic_fuzz_bytes(in, qp->mem + off, len);
}

static void set_producer(struct ornic_th_qp *qp, struct ornic_fuzz_in *in)
{
	u8 how = ornic_fuzz_u8(in);
	u32 off = how & 1 ? ORNIC_RQ_RECORD : ORNIC_SQ_RECORD;
	struct ornic_wq_record *rec = (struct ornic_wq_record *)(qp->mem + off);
	u32 now = le32_to_cpu(rec->producer);

	rec->producer =
		cpu_to_le32(how & 2 ? ornic_fuzz_u32(in) : now + (how >> 4));
	if (how & 4)
		rec->kick_wanted = cpu_to_le32(how >> 3);
	ornic_th_kick(qp);
}

static void set_cq(struct ornic_th_cq *cq, struct ornic_fuzz_in *in)
{
	struct ornic_cq_record *rec = (struct ornic_cq_record *)cq->mem;

	rec->arm = cpu_to_le32(ornic_fuzz_u32(in));
	if (ornic_fuzz_u8(in) & 1)
		rec->consumer = cpu_to_le32(ornic_fuzz_u32(in));
}

static void pass_time(struct ornic_fixture *fix, struct ornic_fuzz_in *in)
{
	ornic_th_advance(&fix->pair, (u64)ornic_fuzz_u8(in) * 100000);
}

static void step(struct ornic_fixture *fix, struct ornic_fuzz_objs *objs,
		 struct ornic_fuzz_in *in)
{
	u8 what = ornic_fuzz_u8(in);
	struct ornic_th_qp *qp = what & 0x80 ? &fix->b : &fix->a;

	if (qp->type == ORNIC_QPT_XRC_TGT && (what & 15) < 2)
		return; /* it has no rings */
	switch (what & 15) {
	case 0:
	case 1:
		scribble(qp, in);
		break;
	case 2:
	case 3:
		set_producer(qp, in);
		break;
	case 4:
		set_cq(what & 0x40 ? &fix->ascq : &fix->brcq, in);
		break;
	case 5:
		pass_time(fix, in);
		break;
	case 6:
		ornic_th_modify(qp, ornic_fuzz_u8(in) & 15,
				ORNIC_QPM_STATE |
					(what & 0x40 ? ornic_fuzz_u16(in) : 0));
		break;
	case 7:
		if (what & 0x40 && !(ornic_fuzz_u8(in) & 7))
			ornic_th_destroy_obj(fix->pair.a,
					     ORNIC_CMD_DESTROY_MKEY,
					     fix->am.key);
		break;
	case 8:
		ornic_th_to(qp, ornic_fuzz_u8(in) & 7);
		break;
	case 9:
		ornic_fuzz_poll(fix);
		break;
	case 10:
	case 11:
		ornic_fuzz_recv(fix, objs, qp, in);
		break;
	default:
		ornic_fuzz_post(fix, objs, qp, in);
		break;
	}
}

/* @shape: whether there is a wire */
static void *make_state(u32 shape)
{
	struct state *s = ornic_zalloc(sizeof(*s));
	struct ornic_fixture *fix;

	fix = ornic_fuzz_open(shape ? ORNIC_FIX_WIRE : ORNIC_FIX_LOOP,
			      ORNIC_QPT_RC);
	s->fix = fix;
	ornic_fuzz_objs_init(&s->objs, fix->pair.b, &fix->bscq, &fix->brcq,
			     &fix->bm, true);
	return s;
}

/* WQEs of both kinds, time, and what a process overwrites. */
static void make_step(u8 *p, const u8 *head, u64 *rng)
{
	u8 side = ornic_fuzz_random(rng, 2) << 7;
	u32 kind = ornic_fuzz_random(rng, 16), i;

	if (kind < 8) {
		p[0] = side | 12;
		ornic_fuzz_make_wr(p + 1, rng);
		return;
	}
	p[0] = side | (kind < 10 ? 10 : kind < 12 ? 5 : kind - 12);
	for (i = 1; i < 8; i++)
		p[i] = ornic_fuzz_random(rng, 256);
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
	struct ornic_fuzz_in in = { data, size };
	u8 how = ornic_fuzz_u8(&in);
	struct state *s = ornic_snap_get(how >> 7, make_state);
	struct ornic_fuzz_objs *objs = &s->objs;
	struct ornic_fixture *fix = s->fix;
	u32 i;

	ornic_fuzz_shape(objs, fix, types[how & 3], how & 4, 0,
			 (how >> 3 & 3) % ORNIC_TH_GIDS);
	fix->pair.a->budget = how & 0x40 ? 1 : 1 << 20;
	for (i = 0; i < MAX_STEPS && in.left; i++) {
		struct ornic_fuzz_in one = ornic_fuzz_step(&in, SLOT);

		step(fix, objs, &one);
	}
	/* The CQs may hold nonsense by now: taken out of the rings, not read. */
	ornic_fuzz_rest(fix);
	ornic_fuzz_objs_check(objs);
	ornic_fuzz_close(fix);
	ornic_free(s);
	ornic_snap_put();
	return 0;
}
