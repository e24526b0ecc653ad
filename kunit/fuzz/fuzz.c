// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* What the fuzzers share. */
#include <stdio.h>

#include "fuzz.h"

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

static void slow_down(struct ornic_rig_conn *conn)
{
	conn->timeout = 12;
	conn->retry_cnt = 3;
	conn->rnr_retry = 3;
	conn->min_rnr_timer = 20;
}

/**
 * ornic_fuzz_open - a bed of connected QPs
 * @kind: wire, loopback or alone
 * @type: enum ornic_qp_type
 *
 * Return: the bed.
 */
struct ornic_bed *ornic_fuzz_open(enum ornic_bed_kind kind, u8 type)
{
	struct ornic_rig_qpinit init = { .type = type };
	struct ornic_bed *bed = ornic_zalloc(sizeof(*bed));

	check(bed && !ornic_bed_open(bed, kind, &init), "open");
	/* Few and slow retries: virtual time is free, turns are not. */
	slow_down(&bed->a.conn);
	slow_down(&bed->b.conn);
	check(!ornic_bed_connect(bed), "connect");
	return bed;
}

/**
 * ornic_fuzz_close - destroy a bed
 * @bed: from ornic_fuzz_open
 */
void ornic_fuzz_close(struct ornic_bed *bed)
{
	check(!ornic_bed_close(bed), "memory beside a buffer was written");
	ornic_free(bed);
}

/**
 * ornic_fuzz_rest - until nothing happens any more
 * @bed: the bed
 */
void ornic_fuzz_rest(struct ornic_bed *bed)
{
	u32 i;

	check(ornic_rig_settle(&bed->pair), "no rest");
	for (i = 0; i < 5; i++)
		check(ornic_rig_advance(&bed->pair, 50 * ORNIC_RIG_MS),
		      "timers do not come to rest");
}

static void poll_cq(struct ornic_rig_cq *cq)
{
	struct ornic_cqe cqe;
	u32 n = 0;

	if (!cq->rig)
		return;
	while (ornic_rig_poll(cq, &cqe)) {
		check(++n <= 1u << cq->log_depth, "more CQEs than the CQ has");
		check(cqe.status <= ORNIC_CQE_GENERAL_ERR, "CQE status");
		check((cqe.opcode & ~ORNIC_CQE_IS_RECV) <= ORNIC_CQE_FLUSH,
		      "CQE opcode");
	}
}

/**
 * ornic_fuzz_poll - take all completions
 * @bed: the bed
 */
void ornic_fuzz_poll(struct ornic_bed *bed)
{
	poll_cq(&bed->ascq);
	poll_cq(&bed->arcq);
	poll_cq(&bed->bscq);
	poll_cq(&bed->brcq);
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

	if (ornic_rig_parse(frame, len, &rx) ||
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
				  const struct ornic_rig_mr *mr)
{
	u8 how = ornic_fuzz_u8(in);
	struct ornic_lsge sge = ornic_bed_sge(mr, ornic_fuzz_u16(in),
					      ornic_fuzz_u16(in) & 0x3fff);

	if (how & 1)
		sge.length = ornic_fuzz_u32(in);
	if (how & 2)
		sge.addr = ornic_fuzz_u64(in);
	if (how & 4)
		sge.lkey = ornic_fuzz_u32(in);
	if (how & 8)
		sge.length &= 0xff;
	return sge;
}

/**
 * ornic_fuzz_post - a send WQE, right but for what the input makes wrong
 * @bed: the bed
 * @qp: QP
 * @in: input
 */
void ornic_fuzz_post(struct ornic_bed *bed, struct ornic_rig_qp *qp,
		     struct ornic_fuzz_in *in)
{
	bool a = qp == &bed->a;
	const struct ornic_rig_mr *local = a ? &bed->am : &bed->bm;
	const struct ornic_rig_mr *remote = a ? &bed->bm : &bed->am;
	struct ornic_lsge sge[4];
	struct ornic_rig_wr wr = { .sge = sge, .inline_data = bed->buf };
	u8 how = ornic_fuzz_u8(in);
	u32 i;

	wr.opcode = how & 0x80 ? ornic_fuzz_u8(in) : how & 7;
	wr.flags = ornic_fuzz_u8(in) & (how & 0x40 ? 0xff : 0x0f);
	wr.nsge = how >> 3 & 3;
	for (i = 0; i < wr.nsge; i++)
		sge[i] = pick_sge(in, local);
	wr.inline_len = ornic_fuzz_u8(in) & 63;
	wr.raddr = remote->iova + ornic_fuzz_u16(in);
	wr.rkey = remote->key;
	if (how & 0x20) {
		wr.raddr = ornic_fuzz_u64(in);
		wr.rkey ^= ornic_fuzz_u8(in);
	}
	wr.swap_add = ornic_fuzz_u8(in);
	wr.dest_qpn = qp->conn.dest_qpn;
	wr.dest_qkey = qp->conn.qkey;
	ornic_rig_post_send(qp, &wr);
}

/**
 * ornic_fuzz_recv - a receive WQE, right but for what the input makes wrong
 * @bed: the bed
 * @qp: QP
 * @in: input
 */
void ornic_fuzz_recv(struct ornic_bed *bed, struct ornic_rig_qp *qp,
		     struct ornic_fuzz_in *in)
{
	const struct ornic_rig_mr *mr = qp == &bed->a ? &bed->am : &bed->bm;
	struct ornic_lsge sge[4];
	u32 i, n = ornic_fuzz_u8(in) & 3;

	for (i = 0; i < n; i++)
		sge[i] = pick_sge(in, mr);
	ornic_rig_post_recv(qp, qp->rq_producer, sge, n);
}
