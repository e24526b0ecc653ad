// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* What the fuzzers share. */
#include <stdio.h>

#include "mutate.h"
#include "objects.h"

#define MOST_ROUNDS 64u

static void check(bool ok, const char *what)
{
	if (ok)
		return;
	fprintf(stderr, "fuzz: %s\n", what);
	abort();
}

/**
 * ornic_fuzz_u8 - next byte of the input
 * @in: input
 *
 * Return: the byte, 0 behind the end.
 */
u8 ornic_fuzz_u8(struct ornic_fuzz_in *in)
{
	if (!in->left)
		return 0;
	in->left--;
	return *in->p++;
}

/**
 * ornic_fuzz_u16 - next two bytes
 * @in: input
 *
 * Return: the number.
 */
u16 ornic_fuzz_u16(struct ornic_fuzz_in *in)
{
	u16 lo = ornic_fuzz_u8(in);

	return lo | ornic_fuzz_u8(in) << 8;
}

/**
 * ornic_fuzz_u32 - next four bytes
 * @in: input
 *
 * Return: the number.
 */
u32 ornic_fuzz_u32(struct ornic_fuzz_in *in)
{
	u32 lo = ornic_fuzz_u16(in);

	return lo | (u32)ornic_fuzz_u16(in) << 16;
}

/**
 * ornic_fuzz_u64 - next eight bytes
 * @in: input
 *
 * Return: the number.
 */
u64 ornic_fuzz_u64(struct ornic_fuzz_in *in)
{
	u64 lo = ornic_fuzz_u32(in);

	return lo | (u64)ornic_fuzz_u32(in) << 32;
}

/**
 * ornic_fuzz_bytes - next bytes
 * @in: input
 * @dst: out
 * @len: how many at most
 *
 * Return: how many there were.
 */
u32 ornic_fuzz_bytes(struct ornic_fuzz_in *in, void *dst, u32 len)
{
	u32 n = min_t(size_t, len, in->left);

	if (n)
		memcpy(dst, in->p, n);
	in->p += n;
	in->left -= n;
	return n;
}

/**
 * ornic_fuzz_step - input of the next step
 * @in: input of all steps
 * @slot: bytes of a step
 *
 * Return: the input; fewer bytes at the end.
 */
struct ornic_fuzz_in ornic_fuzz_step(struct ornic_fuzz_in *in, u32 slot)
{
	struct ornic_fuzz_in step = { in->p, min_t(size_t, in->left, slot) };

	in->p += step.left;
	in->left -= step.left;
	return step;
}

static void slow_down(struct ornic_th_conn *conn)
{
	conn->timeout = 12;
	conn->retry_cnt = 3;
	conn->rnr_retry = 3;
	conn->min_rnr_timer = 20;
}

/**
 * ornic_fuzz_open - a fixture of connected QPs
 * @kind: wire, loopback or alone
 * @type: enum ornic_qp_type
 *
 * Return: the fixture.
 */
struct ornic_fixture *ornic_fuzz_open(enum ornic_fix_kind kind, u8 type)
{
	struct ornic_th_qpinit init = { .type = type };
	struct ornic_fixture *fix = ornic_zalloc(sizeof(*fix));

	check(fix && !ornic_fix_open(fix, kind, &init), "open");
	/* Few and slow retries: virtual time is free, turns are not. */
	slow_down(&fix->a.conn);
	slow_down(&fix->b.conn);
	check(!ornic_fix_connect(fix), "connect");
	/* One copies what it keeps, the other does not. */
	fix->pair.b->lends = true;
	return fix;
}

/**
 * ornic_fuzz_close - destroy a fixture
 * @fix: from ornic_fuzz_open
 */
void ornic_fuzz_close(struct ornic_fixture *fix)
{
	check(!ornic_fix_close(fix), "memory beside a buffer was written");
	ornic_free(fix);
}

/* A WQE that was written over may ask for 2 GiB of the null key: 2^21 packets. */
static bool comes_to_rest(struct ornic_th_pair *pair)
{
	u32 i;

	for (i = 0; i < MOST_ROUNDS; i++)
		if (ornic_th_settle(pair))
			return true;
	return false;
}

/**
 * ornic_fuzz_rest - until nothing happens any more
 * @fix: the fixture
 */
void ornic_fuzz_rest(struct ornic_fixture *fix)
{
	u32 i;

	check(comes_to_rest(&fix->pair), "no rest");
	for (i = 0; i < 5; i++)
		check(ornic_th_advance(&fix->pair, 50 * ORNIC_TH_MS),
		      "timers do not come to rest");
}

/* Entries of a list of tags are for SRQs that match: on other QPs they fail. */
static bool is_opcode(const struct ornic_cqe *cqe)
{
	u8 opcode = cqe->opcode & ~ORNIC_CQE_IS_RECV;

	if (opcode >= ORNIC_CQE_TAG_ADD && opcode <= ORNIC_CQE_TAG_SYNC)
		return cqe->opcode == opcode && cqe->status;
	return opcode <= ORNIC_CQE_FLUSH;
}

static void poll_cq(struct ornic_th_cq *cq)
{
	struct ornic_cqe cqe;
	u32 n = 0;

	if (!cq->th)
		return;
	while (ornic_th_poll(cq, &cqe)) {
		check(++n <= 1u << cq->log_depth, "more CQEs than the CQ has");
		check(cqe.status <= ORNIC_CQE_GENERAL_ERR, "CQE status");
		check(is_opcode(&cqe), "CQE opcode");
	}
}

/**
 * ornic_fuzz_poll - take all completions
 * @fix: the fixture
 */
void ornic_fuzz_poll(struct ornic_fixture *fix)
{
	poll_cq(&fix->ascq);
	poll_cq(&fix->arcq);
	poll_cq(&fix->bscq);
	poll_cq(&fix->brcq);
}

/**
 * ornic_fuzz_seal - make the ICRC of a frame right
 * @frame: the frame
 * @len: its length
 */
void ornic_fuzz_seal(u8 *frame, u32 len)
{
	struct ornic_rx rx;
	__le32 icrc;
	u8 *bth;
	u32 crc;

	if (ornic_th_parse(frame, len, &rx) ||
	    rx.len < ORNIC_BTH_LEN + ORNIC_ICRC_LEN)
		return;
	bth = rx.seg[0].ptr;
	crc = ornic_icrc_start(rx.ip, rx.ipv6, bth, ORNIC_BTH_LEN);
	crc = ornic_crc32(crc, bth + ORNIC_BTH_LEN,
			  rx.len - ORNIC_BTH_LEN - ORNIC_ICRC_LEN);
	icrc = ornic_icrc_finish(crc);
	memcpy(bth + rx.len - ORNIC_ICRC_LEN, &icrc, sizeof(icrc));
}

static struct ornic_lsge pick_sge(struct ornic_fuzz_in *in,
				  const struct ornic_fuzz_objs *o,
				  const struct ornic_th_mr *mr)
{
	u8 how = ornic_fuzz_u8(in);
	struct ornic_lsge sge = ornic_fix_sge(mr, ornic_fuzz_u16(in),
					      ornic_fuzz_u16(in) & 0x3fff);

	if (how & 1)
		sge.length = ornic_fuzz_u32(in);
	if (how & 2)
		sge.addr = ornic_fuzz_u64(in);
	if (how & 4)
		ornic_fuzz_pick(o, in, &sge.addr, &sge.lkey);
	if (how & 8)
		sge.length &= 0xff;
	/* Of no memory there is any length, which takes steps and shows nothing. */
	if (sge.lkey == ORNIC_NULL_LKEY)
		sge.length &= 0xffff;
	return sge;
}

/* Mostly those of one SGE list and a remote address; the others are rarer. */
static u8 pick_opcode(struct ornic_fuzz_in *in, u8 how)
{
	u8 any;

	if (!(how & 0x80))
		return how & 7;
	any = ornic_fuzz_u8(in);
	return any & 0x80 ? any : any & 15;
}

/**
 * ornic_fuzz_post - a send WQE, right but for what the input makes wrong
 * @fix: the fixture
 * @o: objects of b's side
 * @qp: QP
 * @in: input
 */
void ornic_fuzz_post(struct ornic_fixture *fix, struct ornic_fuzz_objs *o,
		     struct ornic_th_qp *qp, struct ornic_fuzz_in *in)
{
	bool a = qp == &fix->a;
	const struct ornic_th_mr *local = a ? &fix->am : &fix->bm;
	const struct ornic_th_mr *remote = a ? &fix->bm : &fix->am;
	struct ornic_lsge sge[4];
	struct ornic_th_wr wr = { .sge = sge, .inline_data = fix->buf };
	u8 how = ornic_fuzz_u8(in);
	u32 i;

	if (qp->type == ORNIC_QPT_XRC_TGT)
		return;
	wr.opcode = pick_opcode(in, how);
	wr.flags = ornic_fuzz_u8(in) & (how & 0x40 ? 0xff : 0x0f);
	wr.nsge = how >> 3 & 3;
	for (i = 0; i < wr.nsge; i++)
		sge[i] = pick_sge(in, o, local);
	wr.inline_len = ornic_fuzz_u8(in) & 63;
	wr.raddr = remote->iova + ornic_fuzz_u16(in);
	wr.rkey = remote->key;
	if (how & 0x20)
		ornic_fuzz_pick(o, in, &wr.raddr, &wr.rkey);
	if (wr.opcode >= ORNIC_WQE_BIND_MW)
		ornic_fuzz_objs_wr(o, in, &wr);
	wr.swap_add = ornic_fuzz_u8(in);
	wr.ah = o->ah[!a];
	wr.dest_qpn = qp->conn.dest_qpn;
	wr.dest_qkey = qp->conn.qkey;
	ornic_th_post_send(qp, &wr);
}

/**
 * ornic_fuzz_recv - a receive WQE, right but for what the input makes wrong
 * @fix: the fixture
 * @o: objects of b's side
 * @qp: QP
 * @in: input
 */
void ornic_fuzz_recv(struct ornic_fixture *fix, struct ornic_fuzz_objs *o,
		     struct ornic_th_qp *qp, struct ornic_fuzz_in *in)
{
	const struct ornic_th_mr *mr = qp == &fix->a ? &fix->am : &fix->bm;
	struct ornic_lsge sge[4];
	u32 i, n = ornic_fuzz_u8(in) & 3;

	for (i = 0; i < n; i++)
		sge[i] = pick_sge(in, o, mr);
	if (qp == &fix->b)
		ornic_fuzz_objs_recv(o, qp, qp->rq_producer, sge, n);
	else if (qp->type != ORNIC_QPT_XRC_INI)
		ornic_th_post_recv(qp, qp->rq_producer, sge, n);
}

static u8 *make_u16(u8 *p, u32 value)
{
	*p++ = value;
	*p++ = value >> 8;
	return p;
}

/* What ornic_fuzz_pick() reads. */
static u8 *make_pick(u8 *p, u64 *rng)
{
	*p++ = ornic_fuzz_random(rng, ORNIC_FUZZ_KEYS) |
	       (ornic_fuzz_random(rng, 4) ? 0x10 : 0x20);
	return make_u16(p, ornic_fuzz_random(rng, 1024));
}

void ornic_fuzz_make_wr(u8 *p, u64 *rng)
{
	u32 opcode = ornic_fuzz_random(rng, ORNIC_WQE_FLUSH + 1);
	u32 i, nsge = ornic_fuzz_random(rng, 3);
	bool far = ornic_fuzz_random(rng, 2);

	*p++ = (opcode < 8 ? opcode : 0x80) | nsge << 3 | (far ? 0x20 : 0);
	if (opcode >= 8)
		*p++ = opcode;
	*p++ = ORNIC_WQE_SIGNALED | ornic_fuzz_random(rng, 8);
	for (i = 0; i < nsge; i++) {
		*p++ = opcode == ORNIC_WQE_CAS || opcode == ORNIC_WQE_FAA ? 8 :
									    0;
		p = make_u16(p, ornic_fuzz_random(rng, 8192));
		p = make_u16(p, ornic_fuzz_random(rng, 4) ?
					8 :
					ornic_fuzz_random(rng, 6000));
	}
	*p++ = 8;
	p = make_u16(p, ornic_fuzz_random(rng, 512) * 8);
	if (far)
		p = make_pick(p, rng);
	if (opcode < ORNIC_WQE_BIND_MW)
		return;
	*p++ = ornic_fuzz_random(rng, 128) << 1;
	if (opcode == ORNIC_WQE_BIND_MW || opcode == ORNIC_WQE_REG_MR)
		p = make_u16(p, ornic_fuzz_random(rng, 1000));
	p = make_u16(p, ornic_fuzz_random(rng, 4096));
	*p = 1 + ornic_fuzz_random(rng, 8);
}
