// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Tag matching between two hostile programs: messages whose headers have any content
 * and name any memory of the sender, changes of the tag list of any kind, and rings
 * and records that a process overwrites. a sends, b's SRQ matches.
 */
#include <stdio.h>

#include "mutate.h"
#include "objects.h"
#include "snapshot.h"

#define MAX_STEPS 64
#define SLOT 48
#define HDRS 32
#define MAX_TAGS 6
#define LOG_DEPTH 4

/* @objs: keys of a, which the headers name; on loopback b has them as well */
struct state {
	struct ornic_fixture *fix;
	struct ornic_fuzz_objs objs;
	struct ornic_th_cq tcq;
	struct ornic_th_cq ocq;
	struct ornic_th_srq srq;
	struct ornic_th_qp ops;
};

static void check(bool ok, const char *what)
{
	if (ok)
		return;
	fprintf(stderr, "fuzz: %s\n", what);
	abort();
}

static void poll_cq(struct state *s, struct ornic_th_cq *cq)
{
	struct ornic_cqe cqe;
	u32 n = 0;

	while (ornic_th_poll(cq, &cqe)) {
		check(++n <= 1u << cq->log_depth, "more CQEs than the CQ has");
		check(cqe.status <= ORNIC_CQE_TM_RNDV_INCOMPLETE, "CQE status");
		check((cqe.opcode & ~ORNIC_CQE_IS_RECV) <= ORNIC_CQE_TAG_SYNC,
		      "CQE opcode");
		check(!(cqe.tm_flags & ~7), "CQE flags");
	}
}

static void poll_all(struct state *s)
{
	ornic_fuzz_poll(s->fix);
	poll_cq(s, &s->tcq);
	poll_cq(s, &s->ocq);
}

static void put_be(u8 *p, u64 value, u32 bytes)
{
	while (bytes--) {
		p[bytes] = (u8)value;
		value >>= 8;
	}
}

/* A message: what it begins with is right but for what the input makes wrong. */
static void send_message(struct state *s, struct ornic_fuzz_in *in)
{
	struct ornic_fixture *fix = s->fix;
	u8 how = ornic_fuzz_u8(in), hdr[HDRS] = { 0 };
	u32 len = ornic_fuzz_u16(in) % 6000, key;
	u64 va;

	hdr[0] = how & 0x10 ? ornic_fuzz_u8(in) : how & 3;
	put_be(hdr + 8, ornic_fuzz_u8(in) & 7, 8);
	ornic_fuzz_pick(&s->objs, in, &va, &key);
	put_be(hdr + 16, va, 8);
	put_be(hdr + 24, key, 4);
	put_be(hdr + 28, how & 0x20 ? ornic_fuzz_u32(in) : ornic_fuzz_u16(in),
	       4);
	if (how & 0x40)
		ornic_fuzz_bytes(in, hdr, sizeof(hdr));
	ornic_th_mr_write(&fix->am, 0, hdr, sizeof(hdr));
	ornic_fix_post(&fix->a, &fix->am, &fix->bm,
		       how & 0x80 ? ORNIC_WQE_SEND_INV : ORNIC_WQE_SEND, 0, 0,
		       how & 8 ? HDRS : len);
}

static struct ornic_lsge pick_sge(struct state *s, struct ornic_fuzz_in *in)
{
	u8 how = ornic_fuzz_u8(in);
	struct ornic_lsge sge = ornic_fix_sge(&s->fix->bm, ornic_fuzz_u16(in),
					      ornic_fuzz_u16(in) & 0x1fff);

	if (how & 1)
		sge.length = ornic_fuzz_u32(in);
	if (how & 2)
		ornic_fuzz_pick(&s->objs, in, &sge.addr, &sge.lkey);
	return sge;
}

static void change_list(struct state *s, u8 opcode, struct ornic_fuzz_in *in)
{
	u8 how = ornic_fuzz_u8(in);
	struct ornic_lsge sge[4];
	struct ornic_seg_tag seg = {
		.recv_wr_id = cpu_to_le64(how),
		.tag = cpu_to_le64(ornic_fuzz_u8(in) & 7),
		.mask = cpu_to_le64(how & 8 ? ornic_fuzz_u8(in) : ~0ull),
		.handle = cpu_to_le32(ornic_fuzz_u8(in) & 7),
		.unexpected = cpu_to_le32(ornic_fuzz_u8(in)),
	};
	struct ornic_th_wr wr = {
		.opcode = opcode,
		.flags = how & 0x10 ? ornic_fuzz_u8(in) : how & 1,
		.tag = &seg,
		.sge = sge,
	};
	u32 i;

	if (how & 0x20)
		wr.flags |= ORNIC_WQE_UNEXPECTED;
	wr.flags &= ~ORNIC_WQE_INLINE;
	if (opcode == ORNIC_WQE_TAG_ADD || how & 0x40)
		wr.nsge = how >> 1 & 3;
	for (i = 0; i < wr.nsge; i++)
		sge[i] = pick_sge(s, in);
	ornic_th_post_send(&s->ops, &wr);
}

static void scribble(struct ornic_th_qp *qp, struct ornic_fuzz_in *in)
{
	u32 off = ornic_fuzz_u16(in) % qp->mem_bytes;
	u32 len = ornic_fuzz_u8(in) & 63;

	/* Records, or the begin of the ring. */
	off = off & 1 ? off % 64 : ORNIC_RING_OFFSET + off % 1024;
	ornic_fuzz_bytes(in, qp->mem + off, len);
	ornic_th_kick(qp);
}

static void post_ring(struct state *s, struct ornic_fuzz_in *in)
{
	struct ornic_lsge sge = pick_sge(s, in);

	ornic_th_post_srq(&s->srq, 1, &sge, 1);
}

static void set_srq(struct state *s, struct ornic_fuzz_in *in)
{
	struct ornic_wq_record *rec = (struct ornic_wq_record *)s->srq.mem;
	u8 how = ornic_fuzz_u8(in);

	if (how & 1)
		ornic_th_srq_resize(&s->srq, how >> 4 & 7);
	else if (how & 2)
		ornic_fuzz_bytes(in, rec, sizeof(*rec));
	else
		ornic_th_srq_limit(&s->srq, how >> 4);
}

/* The QPs begin anew; ops cannot. */
static void reconnect(struct state *s)
{
	ornic_th_to(&s->fix->a, ORNIC_QPS_RESET);
	ornic_th_to(&s->fix->b, ORNIC_QPS_RESET);
	check(!ornic_fix_connect(s->fix), "connect");
}

static void change_state(struct state *s, struct ornic_fuzz_in *in)
{
	u8 how = ornic_fuzz_u8(in);

	if (how & 0x80)
		ornic_th_to(&s->ops, how & 7);
	else if (how & 0x40)
		reconnect(s);
	else
		ornic_th_to(how & 0x20 ? &s->fix->a : &s->fix->b, how & 7);
}

static void post_recv(struct state *s)
{
	struct ornic_fixture *fix = s->fix;

	/* The harness does not count what is taken. */
	if (fix->a.rq_producer < 16)
		ornic_fix_recv(&fix->a, &fix->am, 1, 60000, HDRS);
}

static void step(struct state *s, struct ornic_fuzz_in *in)
{
	u8 what = ornic_fuzz_u8(in);

	switch (what & 15) {
	case 0:
		scribble(what & 0x10 ? &s->ops : &s->fix->b, in);
		break;
	case 1:
		set_srq(s, in);
		break;
	case 2:
		change_state(s, in);
		break;
	case 3:
		ornic_th_advance(&s->fix->pair,
				 (u64)ornic_fuzz_u8(in) * 100000);
		break;
	case 4:
		post_ring(s, in);
		break;
	case 5:
		post_recv(s);
		break;
	case 6:
		ornic_fuzz_objs_revoke(&s->objs, what & 0x10);
		break;
	case 7:
		change_list(s, ornic_fuzz_u8(in), in);
		break;
	case 8:
		change_list(s, ORNIC_WQE_TAG_DEL, in);
		break;
	case 9:
		change_list(s, ORNIC_WQE_TAG_SYNC, in);
		break;
	case 10:
	case 11:
		change_list(s, ORNIC_WQE_TAG_ADD, in);
		break;
	default:
		send_message(s, in);
		ornic_th_settle(&s->fix->pair);
		break;
	}
}

static enum ornic_th_verdict look(struct ornic_th_pair *pair,
				  struct ornic_th *from,
				  struct ornic_th_frame *frame,
				  const struct ornic_pkt *pkt)
{
	ornic_fuzz_frame_check(frame);
	return ORNIC_TH_PASS;
}

static void slow_down(struct ornic_th_qp *qp)
{
	qp->conn.timeout = 12;
	qp->conn.retry_cnt = 3;
	qp->conn.rnr_retry = 3;
	qp->conn.min_rnr_timer = 20;
}

static void make_queues(struct state *s)
{
	struct ornic_fixture *fix = s->fix;
	struct ornic_th *th = fix->pair.b;
	struct ornic_th_qpinit ops = {
		.type = ORNIC_QPT_TAGS,
		.tag_srq = &s->srq,
	};
	struct ornic_th_qpinit init = {
		.type = ORNIC_QPT_RC,
		.no_sq = true,
		.srq = &s->srq,
	};

	check(!ornic_th_qp_fini(&fix->b), "DESTROY_QP");
	check(!ornic_th_cq_init(th, &s->tcq, 8) &&
		      !ornic_th_cq_init(th, &s->ocq, 8),
	      "CQ");
	check(!ornic_th_tm_srq_init(th, &s->srq, LOG_DEPTH, MAX_TAGS, &s->tcq),
	      "SRQ");
	check(!ornic_th_qp_init(th, &s->ops, &ops, &s->ocq, &s->ocq) &&
		      !ornic_th_qp_init(th, &fix->b, &init, &fix->bscq,
					&fix->brcq),
	      "QP");
	slow_down(&fix->a);
	slow_down(&fix->b);
	reconnect(s);
	fix->pair.filter = look;
}

/* @shape: whether there is a wire */
static void *make_state(u32 shape)
{
	struct state *s = ornic_zalloc(sizeof(*s));

	s->fix = ornic_fuzz_open(shape ? ORNIC_FIX_WIRE : ORNIC_FIX_LOOP,
				 ORNIC_QPT_RC);
	ornic_fuzz_objs_init(&s->objs, s->fix->pair.a, &s->fix->ascq,
			     &s->fix->arcq, &s->fix->am, !shape);
	make_queues(s);
	return s;
}

/* A receive and a message that go together, or something between them. */
static void make_step(u8 *p, const u8 *head, u64 *rng)
{
	u32 kind = ornic_fuzz_random(rng, 16), i;

	p[0] = kind < 6 ? 10 : kind < 12 ? 12 : kind - 8;
	for (i = 1; i < 16; i++)
		p[i] = ornic_fuzz_random(rng, 256);
	if (kind < 6) {
		p[1] = 2 | ornic_fuzz_random(rng, 2); /* one SGE */
		p[2] = ornic_fuzz_random(rng, 4); /* tag */
		p[5] = 0;
	} else if (kind < 12) {
		p[1] = 8 | (ornic_fuzz_random(rng, 2) ? 1 : 3);
		p[4] = ornic_fuzz_random(rng, 4);
		p[5] = ornic_fuzz_random(rng, ORNIC_FUZZ_KEYS) | 0x10;
		p[9] = ornic_fuzz_random(rng, 8); /* times 256 */
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
	struct ornic_fuzz_in in = { data, size };
	u8 how = ornic_fuzz_u8(&in);
	struct state *s = ornic_snap_get(how & 1, make_state);
	struct ornic_fixture *fix = s->fix;
	u32 i;

	fix->pair.a->budget = how & 2 ? 1 : 1 << 20;
	fix->pair.b->budget = fix->pair.a->budget;
	for (i = 0; i < MAX_STEPS && in.left; i++) {
		struct ornic_fuzz_in one = ornic_fuzz_step(&in, SLOT);

		step(s, &one);
		ornic_th_run(fix->pair.b);
		poll_all(s);
	}
	ornic_fuzz_rest(fix);
	poll_all(s);
	ornic_fuzz_objs_check(&s->objs);
	ornic_fuzz_close(fix);
	ornic_free(s);
	ornic_snap_put();
	return 0;
}
