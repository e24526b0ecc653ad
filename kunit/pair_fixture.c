// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* The fixture of the protocol suites. */
#include "pair_fixture.h"
#include "engine/proto.h"

static int make_cqs(struct ornic_fixture *fix)
{
	int status = ornic_th_cq_init(fix->pair.a, &fix->ascq, 8);

	if (!status)
		status = ornic_th_cq_init(fix->pair.a, &fix->arcq, 8);
	if (!status)
		status = ornic_th_cq_init(fix->pair.b, &fix->bscq, 8);
	if (!status)
		status = ornic_th_cq_init(fix->pair.b, &fix->brcq, 8);
	return status;
}

static int make_mrs(struct ornic_fixture *fix)
{
	int status = ornic_th_mr_init(fix->pair.a, &fix->am, ORNIC_FIX_MR_BYTES,
				      100, 1, ORNIC_ACCESS_MASK);

	if (status)
		return status;
	return ornic_th_mr_init(fix->pair.b, &fix->bm, ORNIC_FIX_MR_BYTES, 2000,
				1, ORNIC_ACCESS_MASK);
}

/**
 * ornic_fix_open - a pair with CQs, MRs and QPs in RESET
 * @fix: out
 * @kind: wire, loopback, or a alone
 * @init: shape of the QPs
 *
 * Return: 0, or an enum ornic_status.
 */
int ornic_fix_open(struct ornic_fixture *fix, enum ornic_fix_kind kind,
		   const struct ornic_th_qpinit *init)
{
	int status;

	memset(fix, 0, sizeof(*fix));
	if (ornic_th_pair_init(&fix->pair, 42,
			       kind == ORNIC_FIX_LOOP ||
				       kind == ORNIC_FIX_LONE))
		return ORNIC_NO_RESOURCE;
	if (kind == ORNIC_FIX_PEER) {
		fix->pair.a->peer = fix->pair.b;
		fix->pair.b->peer = fix->pair.a;
	}
	if (kind == ORNIC_FIX_DIRECT)
		ornic_th_go_direct(&fix->pair, 0);
	if (kind == ORNIC_FIX_TURNS)
		ornic_th_go_direct(&fix->pair, 2);
	status = make_cqs(fix);
	if (!status)
		status = make_mrs(fix);
	if (!status)
		status = ornic_th_qp_init(fix->pair.a, &fix->a, init,
					  &fix->ascq, &fix->arcq);
	if (!status && kind != ORNIC_FIX_LONE)
		status = ornic_th_qp_init(fix->pair.b, &fix->b, init,
					  &fix->bscq, &fix->brcq);
	return status;
}

/* What @qp knows of its peer as soon as packets have gone both ways. */
static void tell_of_packets(struct ornic_qp *qp, u64 now)
{
	qp->sq.answered = now;
	qp->rq.selective = !qp->standard;
}

/**
 * ornic_fix_connect - bring the QPs to RTS
 * @fix: opened; if packets need not go, it is as if some had gone
 *
 * Return: enum ornic_status.
 */
int ornic_fix_connect(struct ornic_fixture *fix)
{
	int status = ornic_th_connect(&fix->a, fix->b.th ? &fix->b : NULL,
				      ORNIC_TH_IPV4);

	if (!status && fix->pair.a->direct) {
		tell_of_packets(ornic_fix_qp(&fix->a), fix->pair.a->now);
		tell_of_packets(ornic_fix_qp(&fix->b), fix->pair.b->now);
	}
	return status;
}

/**
 * ornic_fix_close - destroy all of it
 * @fix: opened, perhaps in part
 *
 * Return: pieces of memory that were written beside; 0 is right.
 */
u32 ornic_fix_close(struct ornic_fixture *fix)
{
	if (fix->frame)
		ornic_th_put(fix->pair.a, fix->frame);
	fix->frame = NULL;
	return ornic_th_pair_fini(&fix->pair);
}

/**
 * ornic_fix_fill - put a pattern into an MR
 * @mr: the MR
 * @off: where
 * @len: bytes
 * @seed: number of the pattern
 */
void ornic_fix_fill(const struct ornic_th_mr *mr, u32 off, u32 len, u32 seed)
{
	u32 i = 0;

	while (i < len) {
		u32 run, k;
		u8 *p = ornic_th_mr_at(mr, off + i, &run);

		run = min_t(u32, run, len - i);
		for (k = 0; k < run; k++)
			p[k] = ornic_fix_byte(seed, i + k);
		i += run;
	}
}

/**
 * ornic_fix_compare - is a pattern in an MR?
 * @mr: the MR
 * @off: where
 * @len: bytes
 * @seed: number of the pattern
 *
 * Return: offset of the first byte that differs, or -1.
 */
s32 ornic_fix_compare(const struct ornic_th_mr *mr, u32 off, u32 len, u32 seed)
{
	u32 i = 0;

	while (i < len) {
		u32 run, k;
		u8 *p = ornic_th_mr_at(mr, off + i, &run);

		run = min_t(u32, run, len - i);
		for (k = 0; k < run; k++)
			if (p[k] != ornic_fix_byte(seed, i + k))
				return i + k;
		i += run;
	}
	return -1;
}

/**
 * ornic_fix_sge - an SGE for a part of an MR
 * @mr: the MR
 * @off: where
 * @len: bytes
 *
 * Return: the SGE.
 */
struct ornic_lsge ornic_fix_sge(const struct ornic_th_mr *mr, u32 off, u32 len)
{
	struct ornic_lsge sge = { mr->iova + off, len, mr->key };

	return sge;
}

/**
 * ornic_fix_post - a plain send work request of one SGE
 * @qp: QP
 * @mr: local memory
 * @remote: memory of the peer, or NULL
 * @opcode: enum ornic_wqe_opcode
 * @flags: enum ornic_wqe_flags; signalled is added
 * @off: offset in both
 * @len: bytes
 *
 * Return: 0 or -ENOSPC.
 */
int ornic_fix_post(struct ornic_th_qp *qp, const struct ornic_th_mr *mr,
		   const struct ornic_th_mr *remote, u8 opcode, u8 flags,
		   u32 off, u32 len)
{
	struct ornic_lsge sge = ornic_fix_sge(mr, off, len);
	struct ornic_th_wr wr = {
		.wr_id = 1,
		.swap_add = 1,
		.imm = cpu_to_be32(0xabcd0123),
		.opcode = opcode,
		.flags = flags | ORNIC_WQE_SIGNALED,
		.nsge = 1,
		.sge = &sge,
	};

	if (remote) {
		wr.raddr = remote->iova + off;
		wr.rkey = remote->key;
	}
	return ornic_th_post_send(qp, &wr);
}

/**
 * ornic_fix_recv - a receive work request of one SGE
 * @qp: QP
 * @mr: memory
 * @wr_id: its id
 * @off: offset
 * @len: bytes
 */
void ornic_fix_recv(struct ornic_th_qp *qp, const struct ornic_th_mr *mr,
		    u64 wr_id, u32 off, u32 len)
{
	struct ornic_lsge sge = ornic_fix_sge(mr, off, len);

	ornic_th_post_recv(qp, wr_id, &sge, 1);
}

/**
 * ornic_fix_sent - look at the next frame of a
 * @fix: the fixture; pkt and rx are good until the next call
 *
 * Return: false if there is none, or if it does not decode.
 */
bool ornic_fix_sent(struct ornic_fixture *fix)
{
	if (fix->frame)
		ornic_th_put(fix->pair.a, fix->frame);
	ornic_th_run(fix->pair.a);
	fix->frame = ornic_th_pull(fix->pair.a);
	return fix->frame && ornic_th_decode(fix->frame, &fix->rx, &fix->pkt);
}

static bool sends_at(struct ornic_fixture *fix, u64 now)
{
	fix->pair.a->now = now;
	ornic_th_expire(fix->pair.a);
	ornic_th_run(fix->pair.a);
	return ornic_fix_sent(fix);
}

/**
 * ornic_fix_sends_in - does a send when its timer is due
 * @fix: the fixture
 * @ns: when that is, from now on
 *
 * Return: false if it sends nothing then, or a microsecond before.
 */
bool ornic_fix_sends_in(struct ornic_fixture *fix, u64 ns)
{
	u64 due = fix->pair.a->now + ns;

	return !sends_at(fix, due - 1000) && sends_at(fix, due);
}

/**
 * ornic_fix_drain - drop all frames of a
 * @fix: the fixture
 *
 * Return: how many there were.
 */
u32 ornic_fix_drain(struct ornic_fixture *fix)
{
	u32 n = 0;

	while (ornic_fix_sent(fix))
		n++;
	return n;
}

/**
 * ornic_fix_respond - a response packet from a's made-up peer
 * @fix: the fixture
 * @opcode: RC opcode
 * @psn: PSN
 * @syndrome: of the AETH
 * @payload: payload
 * @len: bytes of it
 */
void ornic_fix_respond(struct ornic_fixture *fix, u8 opcode, u32 psn,
		       u8 syndrome, const void *payload, u32 len)
{
	struct ornic_txinfo info = {
		.opcode = opcode,
		.psn = psn & ORNIC_PSN_MASK,
		.syndrome = syndrome,
	};

	ornic_th_inject(&fix->a, &info, payload, len);
	ornic_th_run(fix->pair.a);
}

/**
 * ornic_fix_request - a request packet from a's made-up peer
 * @fix: the fixture
 * @opcode: BTH opcode
 * @n: PSN, relative to the first
 * @off: offset in am
 * @dma_len: of the RETH
 * @len: bytes of payload, from fix->buf
 */
void ornic_fix_request(struct ornic_fixture *fix, u8 opcode, s32 n, u32 off,
		       u32 dma_len, u32 len)
{
	struct ornic_txinfo info = {
		.opcode = opcode,
		.psn = (ORNIC_FIX_PSN + n) & ORNIC_PSN_MASK,
		.ack_req = true,
		.va = fix->am.iova + off,
		.rkey = fix->am.key,
		.dma_len = dma_len,
		.swap_add = 5,
		.imm = cpu_to_be32(0x01020304),
		.src_qpn = 0x123,
		.qkey = 0x1234,
	};

	ornic_th_inject(&fix->a, &info, fix->buf, len);
	ornic_th_run(fix->pair.a);
}

struct ornic_qp *ornic_fix_qp(const struct ornic_th_qp *q)
{
	struct ornic_qp *qp;

	ornic_rcu_read_lock();
	qp = ornic_qp_lookup(&q->th->eng->dev, q->qpn);
	ornic_rcu_read_unlock();
	return qp;
}

u64 ornic_fix_ack_timeout(const struct ornic_th_qp *q)
{
	const struct ornic_qp *qp = ornic_fix_qp(q);

	return qp ? qp->sq.retry.ack_at : 0;
}

/**
 * ornic_fix_syndrome - what a answers
 * @fix: the fixture
 *
 * Return: syndrome of its next frame, 0xff if there is none.
 */
u8 ornic_fix_syndrome(struct ornic_fixture *fix)
{
	return ornic_fix_sent(fix) ? fix->pkt.syndrome : 0xff;
}

/**
 * ornic_fix_status - take a completion
 * @cq: the CQ
 * @cqe: out
 *
 * Return: its status, 0xff if there is none.
 */
int ornic_fix_status(struct ornic_th_cq *cq, struct ornic_cqe *cqe)
{
	memset(cqe, 0, sizeof(*cqe));
	return ornic_th_poll(cq, cqe) ? cqe->status : 0xff;
}

int ornic_fix_run_on_b(struct ornic_fixture *fix, const struct ornic_th_wr *wr)
{
	struct ornic_cqe cqe;

	ornic_th_post_send(&fix->b, wr);
	ornic_th_settle(&fix->pair);
	return ornic_fix_status(&fix->bscq, &cqe);
}

int ornic_fix_invalidate(struct ornic_fixture *fix, u32 key)
{
	struct ornic_th_wr wr = {
		.opcode = ORNIC_WQE_LOCAL_INV,
		.flags = ORNIC_WQE_SIGNALED,
		.imm = cpu_to_be32(key),
	};

	return ornic_fix_run_on_b(fix, &wr);
}

enum ornic_th_verdict ornic_fix_drop_from_b(struct ornic_th_pair *pair,
					    struct ornic_th *from,
					    struct ornic_th_frame *frame,
					    const struct ornic_pkt *pkt)
{
	u32 *left = pair->ctx;

	if (from != pair->b || !*left)
		return ORNIC_TH_PASS;
	(*left)--;
	return ORNIC_TH_DROP;
}
