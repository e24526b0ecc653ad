// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Packets at a QP with work outstanding on both of its queues. The input is a
 * row of packets: bytes of a whole frame; or the RoCE part of one, put behind
 * headers of the right peer, sealed with a good ICRC, with QPN and PSN made
 * right unless the input asks for others, and with keys, addresses and lengths
 * that the peer may know. In between objects are destroyed and work is posted.
 */
#include <stdio.h>

#include "engine/dev.h"
#include "mutate.h"
#include "objects.h"
#include "snapshot.h"

#define MAX_PACKETS 24
#define SLOT 96
#define MTU 1024 /* of the fixture's QPs */

struct state {
	struct ornic_fixture *fix;
	struct ornic_fuzz_objs objs;
	struct ornic_fuzz_in in;
	enum ornic_th_gid gid;
	bool gone; /* QP a is destroyed; others may have its number */
	bool modified; /* its owner has changed its state */
};

static void fail(const char *what)
{
	fprintf(stderr, "fuzz: %s\n", what);
	abort();
}

static bool can_send(const struct state *s)
{
	return s->fix->a.type != ORNIC_QPT_XRC_TGT;
}

static void post_recv(struct state *s, u32 i)
{
	struct ornic_fixture *fix = s->fix;
	struct ornic_lsge sge =
		ornic_fix_sge(&fix->am, i % 4 * 4096, 1096 + i % 4 * 1000);

	if (s->objs.shared || fix->a.rq_producer < 16)
		ornic_fuzz_objs_recv(&s->objs, &fix->a, i, &sge, 1);
}

static void drain(struct state *s)
{
	struct ornic_th *th = s->fix->pair.a;
	struct ornic_th_frame *f;

	for (ornic_th_run(th); (f = ornic_th_pull(th)) != NULL;
	     ornic_th_run(th)) {
		ornic_fuzz_frame_check(f);
		ornic_th_put(th, f);
	}
}

static void post_send(struct state *s, u8 opcode, u32 len)
{
	struct ornic_fixture *fix = s->fix;

	ornic_fix_post(&fix->a, &fix->am, &fix->bm, opcode, 0, 0, len);
}

static void outstanding_work(struct state *s)
{
	u32 i;

	for (i = 0; i < 4; i++)
		post_recv(s, i);
	if (!can_send(s))
		return;
	if (s->fix->a.type != ORNIC_QPT_UD)
		ornic_fuzz_objs_bind(&s->objs, &s->fix->a);
	post_send(s, ORNIC_WQE_WRITE, 3000);
	post_send(s, ORNIC_WQE_READ, 5000);
	post_send(s, ORNIC_WQE_FAA, 8);
	post_send(s, ORNIC_WQE_SEND, 10);
	drain(s);
}

/* The fixture's QP in the shape that the input asks for. */
static void make_qp(struct state *s, u8 how)
{
	static const u8 types[] = { ORNIC_QPT_RC, ORNIC_QPT_UC, ORNIC_QPT_UD,
				    ORNIC_QPT_XRC_TGT };

	s->gid = (how >> 3 & 3) % ORNIC_TH_GIDS;
	ornic_fuzz_shape(&s->objs, s->fix, types[how & 3], how & 4,
			 how & 0x20 && !(how & 3) ? ORNIC_QP_FAST_REG : 0,
			 s->gid);
}

static void aim(struct state *s, u8 *bth, u8 how, s32 delta)
{
	struct ornic_th_qp *a = &s->fix->a;
	u32 psn = delta;

	if (!s->gone)
		psn += how & 2 ? ornic_th_sq_psn(a) - 10 : ornic_th_rq_psn(a);
	bth[5] = a->qpn >> 16;
	bth[6] = a->qpn >> 8;
	bth[7] = a->qpn;
	bth[9] = psn >> 16;
	bth[10] = psn >> 8;
	bth[11] = psn;
}

static void put_be32(u8 *p, u32 value)
{
	p[0] = value >> 24;
	p[1] = value >> 16;
	p[2] = value >> 8;
	p[3] = value;
}

/* The length of a RETH: that of the input, or else what a WRITE of one packet has. */
static u32 reth_length(struct state *s, const struct ornic_opinfo *op,
		       const u8 *bth, u32 want)
{
	u32 len = ornic_fuzz_u16(&s->in);
	u32 other = op->hdr_len + (bth[1] >> 4 & 3) + ORNIC_ICRC_LEN;

	return len || want < other ? len : want - other;
}

/* Make right what the extension headers name: SRQN, Q_Key, address, key, length. */
static void aim_at_memory(struct state *s, u8 *bth, u32 want)
{
	const struct ornic_opinfo *op = ornic_opcode_lookup(bth[0]);
	u8 *p = bth + ORNIC_BTH_LEN;
	u32 key;
	u64 va;

	if (!op)
		return;
	if (op->flags & ORNIC_OPF_XRCETH) {
		put_be32(p, s->objs.xsrq.srqn);
		p += 4;
	}
	if (op->flags & ORNIC_OPF_DETH)
		put_be32(p, s->fix->a.conn.qkey);
	if (op->flags & ORNIC_OPF_FLUSH)
		p += 4;
	ornic_fuzz_pick(&s->objs, &s->in, &va, &key);
	if (op->flags & (ORNIC_OPF_RETH | ORNIC_OPF_ATOMIC_ETH)) {
		put_be32(p, va >> 32);
		put_be32(p + 4, (u32)va);
		put_be32(p + 8, key);
	}
	if (op->flags & ORNIC_OPF_INV)
		put_be32(bth + op->hdr_len - 4, key);
	if (op->flags & ORNIC_OPF_RETH)
		put_be32(p + 12, reth_length(s, op, bth, want));
}

/* Headers of a frame from the peer, taken from one that the engine makes. */
static u32 peer_headers(struct state *s, u8 *frame, u32 roce)
{
	struct ornic_fixture *fix = s->fix;
	struct ornic_path path = { .hdr_len = 0 };
	struct ornic_gid src = {
		.vlan = s->gid == ORNIC_TH_VLAN ? ORNIC_TH_VLAN_ID :
						  ORNIC_VLAN_NONE,
		.valid = true,
		.v1 = s->gid == ORNIC_TH_V1,
	};
	struct ornic_av back;
	u32 len, at;

	ornic_th_av(&back, fix->pair.a->index, s->gid);
	memcpy(src.gid, fix->a.conn.av.dgid, 16);
	memcpy(src.smac, fix->a.conn.av.dmac, 6);
	if (ornic_path_init(&path, &src, &back))
		return 0;
	memcpy(frame, path.hdr, path.hdr_len);
	at = path.l3_offset + (path.ipv6 ? 4 : 2);
	len = (path.ipv6 ? path.hdr_len - path.l4_offset :
			   path.hdr_len - path.l3_offset) +
	      roce;
	frame[at] = len >> 8;
	frame[at + 1] = len;
	if (path.v1)
		return path.hdr_len;
	len = path.hdr_len - path.l4_offset + roce;
	frame[path.l4_offset + 4] = len >> 8;
	frame[path.l4_offset + 5] = len;
	return path.hdr_len;
}

static u32 make_packet(struct state *s, u8 how, u32 want, s32 delta)
{
	u8 *buf = s->fix->buf;
	u32 hdr;

	want = max_t(u32, want % 3900, 16);
	hdr = peer_headers(s, buf, want);
	ornic_fuzz_bytes(&s->in, buf + hdr, min_t(u32, want, 80));
	if (!(how & 4))
		aim(s, buf + hdr, how, delta);
	if (how & 0x80)
		aim_at_memory(s, buf + hdr, want);
	if (!(how & 8))
		ornic_fuzz_seal(buf, hdr + want);
	return hdr + want;
}

static void one_packet(struct state *s, u8 how)
{
	struct ornic_fixture *fix = s->fix;
	u32 want = how & 0x10 ? ornic_fuzz_u16(&s->in) % 4200 :
				ornic_fuzz_u8(&s->in);
	s32 delta = (s32)(u32)ornic_fuzz_u8(&s->in) - 64;
	u32 len;
	u8 *exact;

	memset(fix->buf, 0, sizeof(fix->buf));
	if (how & 1)
		len = ornic_fuzz_bytes(&s->in, fix->buf, want % 4000);
	else
		len = make_packet(s, how, want, delta);
	exact = malloc(len ? len : 1);
	memcpy(exact, fix->buf, len);
	fix->pair.a->seg_bytes = how & 0x20 ? 1 + (how >> 6 & 1) * 80 : 0;
	ornic_th_rx(fix->pair.a, exact, len);
	free(exact);
}

/* Another QP gets the number of the one that is gone. */
static void replace_qp(struct state *s)
{
	struct ornic_th_qpinit init = { .type = ORNIC_QPT_RC };
	u32 qpn = s->fix->a.qpn;

	ornic_th_next_qpn(s->fix->pair.a, qpn);
	if (ornic_th_qp_init(s->fix->pair.a, &s->fix->a, &init, &s->fix->ascq,
			     &s->fix->arcq) ||
	    s->fix->a.qpn != qpn)
		fail("QP");
	if (ornic_th_connect(&s->fix->a, NULL, s->gid))
		fail("connect");
	s->gone = false;
}

static void destroy_qp(struct state *s, bool replace)
{
	if (s->gone) {
		replace_qp(s);
		return;
	}
	if (ornic_th_qp_fini(&s->fix->a))
		fail("DESTROY_QP");
	if (s->objs.key[ORNIC_FUZZ_KEY_WINDOW2].key)
		ornic_fuzz_objs_forbid_window2(&s->objs);
	s->gone = true;
	if (replace)
		replace_qp(s);
}

/* Something other than a packet. */
static void happen(struct state *s)
{
	u8 what = ornic_fuzz_u8(&s->in);

	if ((what & 7) == 0)
		ornic_fuzz_objs_revoke(&s->objs, what & 8);
	else if ((what & 7) == 1)
		destroy_qp(s, what & 0x10);
	else if (s->gone)
		return;
	else if ((what & 7) == 2)
		post_recv(s, what >> 3);
	else if ((what & 7) == 3)
		ornic_th_advance(&s->fix->pair, (what >> 3) * ORNIC_TH_MS);
	else if ((what & 7) == 4)
		s->modified |= !ornic_th_to(&s->fix->a, what >> 3 & 7);
	else if (can_send(s) && s->fix->a.type != ORNIC_QPT_UD)
		post_send(s, what >> 3 & 7, 100);
}

/* Strangers reach UD QPs as well: no packet ends one, nor an unreliable peer. */
static void check_alive(struct state *s)
{
	u8 type = s->fix->a.type;

	if (s->gone || s->modified ||
	    (type != ORNIC_QPT_UC && type != ORNIC_QPT_UD))
		return;
	if (ornic_th_state(&s->fix->a) == ORNIC_QPS_ERR)
		fail("a packet ended the QP");
}

static void *make_state(u32 shape)
{
	struct state *s = ornic_zalloc(sizeof(*s));

	s->fix = ornic_fuzz_open(ORNIC_FIX_LONE, ORNIC_QPT_RC);
	ornic_fuzz_objs_init(&s->objs, s->fix->pair.a, &s->fix->ascq,
			     &s->fix->arcq, &s->fix->am, false);
	return s;
}

/* The opcodes of requests in the class of the QP that @head asks for. */
static u8 make_opcode(const u8 *head, u64 *rng)
{
	static const u8 classes[] = { ORNIC_RC, ORNIC_UC, ORNIC_UD, ORNIC_XRC };
	static const u8 rare[] = {
		ORNIC_OP_CAS,		ORNIC_OP_FAA,
		ORNIC_OP_SEND_LAST_INV, ORNIC_OP_SEND_ONLY_INV,
		ORNIC_OP_FLUSH,		ORNIC_OP_ATOMIC_WRITE,
		ORNIC_OP_ACK,		ORNIC_OP_ATOMIC_ACK,
	};
	u8 op = ornic_fuzz_random(rng, 24);

	op = op > ORNIC_OP_READ_RESP_ONLY ?
		     rare[ornic_fuzz_random(rng, ARRAY_SIZE(rare))] :
		     op;
	return classes[*head & 3] | op;
}

/* What one_packet() reads, or happen(). */
static void make_step(u8 *p, const u8 *head, u64 *rng)
{
	u8 opcode = make_opcode(head, rng);
	const struct ornic_opinfo *op = ornic_opcode_lookup(opcode);
	u32 want, len = ornic_fuzz_random(rng, 16) * 4;

	if (!op || !ornic_fuzz_random(rng, 4)) {
		p[0] = 5;
		p[1] = ornic_fuzz_random(rng, 256);
		return;
	}
	if (!(op->flags & ORNIC_OPF_PAYLOAD))
		len = 0;
	else if (!(op->flags & ORNIC_OPF_END))
		len = MTU;
	want = op->hdr_len + len + ORNIC_ICRC_LEN;
	*p++ = 0x90 | (ornic_fuzz_random(rng, 8) ? 0 : 0x20);
	*p++ = want;
	*p++ = want >> 8;
	*p++ = 64; /* the PSN that is expected */
	p[0] = opcode;
	p[2] = 0xff;
	p[3] = 0xff;
	p[8] = ornic_fuzz_random(rng, 2) << 7;
	p += min_t(u32, want, 80);
	p[0] = ornic_fuzz_random(rng, ORNIC_FUZZ_KEYS) | 0x10;
	p[1] = ornic_fuzz_random(rng, 64);
	if (op->flags & ORNIC_OPF_READ || !(op->flags & ORNIC_OPF_END))
		p[4] = ornic_fuzz_random(rng, 16); /* times 256 */
}

size_t LLVMFuzzerCustomMutator(u8 *data, size_t size, size_t max,
			       unsigned int seed)
{
	static const struct ornic_fuzz_format format = { 1, SLOT, make_step };

	return ornic_fuzz_mutate(&format, data, size, max, seed);
}

int LLVMFuzzerTestOneInput(const u8 *data, size_t size)
{
	struct state *s = ornic_snap_get(0, make_state);
	struct ornic_fuzz_in in = { data, size };
	u8 how;
	u32 i;

	make_qp(s, ornic_fuzz_u8(&in));
	outstanding_work(s);
	for (i = 0; i < MAX_PACKETS && in.left; i++) {
		s->in = ornic_fuzz_step(&in, SLOT);
		how = ornic_fuzz_u8(&s->in);
		if ((how & 5) == 5)
			happen(s);
		else
			one_packet(s, how);
		if (!(i % 4))
			drain(s);
		ornic_fuzz_poll(s->fix);
	}
	drain(s);
	ornic_fuzz_rest(s->fix);
	ornic_fuzz_poll(s->fix);
	ornic_fuzz_objs_check(&s->objs);
	check_alive(s);
	ornic_fuzz_close(s->fix);
	ornic_free(s);
	ornic_snap_put();
	return 0;
}
