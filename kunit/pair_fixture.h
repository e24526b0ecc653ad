/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The fixture of nearly every protocol case: a pair of harnesses, QP a on one
 * and QP b on the other with a CQ for each direction, and an MR for each side.
 * In a lone fixture the peer of a exists on the wire only.
 */
#ifndef ORNIC_PAIR_FIXTURE_H
#define ORNIC_PAIR_FIXTURE_H

#include "harness.h"

#define ORNIC_FIX_MR_BYTES 65536u
#define ORNIC_FIX_PSN 0xfffffeu /* the first: wraps at once */

enum ornic_fix_kind {
	ORNIC_FIX_WIRE,
	ORNIC_FIX_LOOP,
	ORNIC_FIX_LONE,
	ORNIC_FIX_PEER, /* two harnesses, peer engines of each other */
	ORNIC_FIX_DIRECT, /* two harnesses, packets of RC need not be made */
	ORNIC_FIX_TURNS, /* ... or need to, by turns */
};

/**
 * struct ornic_fixture - see above
 * @am, @bm: MRs of 64 KiB, all access, with an offset and scattered pages
 * @pkt, @rx: of the frame that ornic_fix_sent returned
 */
struct ornic_fixture {
	struct ornic_th_pair pair;
	struct ornic_th_cq ascq;
	struct ornic_th_cq arcq;
	struct ornic_th_cq bscq;
	struct ornic_th_cq brcq;
	struct ornic_th_qp a;
	struct ornic_th_qp b;
	struct ornic_th_mr am;
	struct ornic_th_mr bm;
	struct ornic_th_frame *frame;
	struct ornic_pkt pkt;
	struct ornic_rx rx;
	u8 buf[4096];
};

/*
 * ornic_fix_open - QPs of @init's shape in RESET
 * ornic_fix_connect - and on to RTS; change a.conn and b.conn in between
 * ornic_fix_close - checks that nothing was written beside
 * Return: 0, or an enum ornic_status.
 */
int ornic_fix_open(struct ornic_fixture *fix, enum ornic_fix_kind kind,
		   const struct ornic_th_qpinit *init);
int ornic_fix_connect(struct ornic_fixture *fix);
u32 ornic_fix_close(struct ornic_fixture *fix);

/* The byte at @off of the pattern numbered @seed. */
static inline u8 ornic_fix_byte(u32 seed, u32 off)
{
	u32 x = (off ^ seed * 0x9e3779b1u) * 0x85ebca6bu;

	return x >> 24;
}

/* Fill or compare with a pattern. Return: first wrong offset, -1 if none. */
void ornic_fix_fill(const struct ornic_th_mr *mr, u32 off, u32 len, u32 seed);
s32 ornic_fix_compare(const struct ornic_th_mr *mr, u32 off, u32 len, u32 seed);

/* An SGE for [@off, @off + @len) of @mr. */
struct ornic_lsge ornic_fix_sge(const struct ornic_th_mr *mr, u32 off, u32 len);

/*
 * Post on @qp, whose memory is @mr from @off: signalled, wr_id 1, remote at
 * the same offset of @remote (NULL: none). CAS and FAA: swap_add 1, compare 0.
 */
int ornic_fix_post(struct ornic_th_qp *qp, const struct ornic_th_mr *mr,
		   const struct ornic_th_mr *remote, u8 opcode, u8 flags,
		   u32 off, u32 len);

/* Post a receive for [@off, @off + @len) of @mr with @wr_id. */
void ornic_fix_recv(struct ornic_th_qp *qp, const struct ornic_th_mr *mr,
		    u64 wr_id, u32 off, u32 len);

/* The next frame that a sent, decoded in fix->pkt; false if none. */
bool ornic_fix_sent(struct ornic_fixture *fix);

/* Does a send in @ns, and no microsecond sooner? The frame is in fix->pkt. */
bool ornic_fix_sends_in(struct ornic_fixture *fix, u64 ns);

/* Pull and put all frames; how many there were. */
u32 ornic_fix_drain(struct ornic_fixture *fix);

/* A packet from a's made-up peer. */
void ornic_fix_respond(struct ornic_fixture *fix, u8 opcode, u32 psn,
		       u8 syndrome, const void *payload, u32 len);

/*
 * A request from a's made-up peer at the first PSN + @n, for the memory at
 * @off of am, with @len bytes of fix->buf; FAA adds and CAS stores 5.
 */
void ornic_fix_request(struct ornic_fixture *fix, u8 opcode, s32 n, u32 off,
		       u32 dma_len, u32 len);

/* The engine's QP, NULL if there is none; the case is the one that could destroy it. */
struct ornic_qp *ornic_fix_qp(const struct ornic_th_qp *qp);

/* When the ACK timeout of @qp comes, ns; what is sent again before it is no retry. */
u64 ornic_fix_ack_timeout(const struct ornic_th_qp *qp);

/* The next frame of a: its syndrome, 0xff when there is none. */
u8 ornic_fix_syndrome(struct ornic_fixture *fix);

/* The next completion of @cq has @status; 0xff when there is none. */
int ornic_fix_status(struct ornic_th_cq *cq, struct ornic_cqe *cqe);

/* b posts @wr, or invalidates @key, and all settles: status of b's completion. */
int ornic_fix_run_on_b(struct ornic_fixture *fix, const struct ornic_th_wr *wr);
int ornic_fix_invalidate(struct ornic_fixture *fix, u32 key);

/* A filter that drops the first frames of b, as many as the u32 at pair->ctx. */
enum ornic_th_verdict ornic_fix_drop_from_b(struct ornic_th_pair *pair,
					    struct ornic_th *from,
					    struct ornic_th_frame *frame,
					    const struct ornic_pkt *pkt);

#endif /* ORNIC_PAIR_FIXTURE_H */
