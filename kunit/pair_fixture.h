/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * What nearly every protocol case stands on: a pair of rigs, QP a on one and
 * QP b on the other with a CQ for each direction, and an MR for each side. A
 * lone bed has a peer for a that exists on the wire only.
 */
#ifndef ORNIC_RIG_BED_H
#define ORNIC_RIG_BED_H

#include "harness.h"

#define ORNIC_BED_MR_BYTES 65536u
#define ORNIC_BED_PSN 0xfffffeu /* the first: wraps at once */

enum ornic_bed_kind {
	ORNIC_BED_WIRE,
	ORNIC_BED_LOOP,
	ORNIC_BED_LONE,
	ORNIC_BED_NEAR, /* two rigs, neighbours of each other */
};

/**
 * struct ornic_bed - see above
 * @am, @bm: MRs of 64 KiB, all access, with an offset and scattered pages
 * @pkt, @rx: of the frame that ornic_bed_sent returned
 */
struct ornic_bed {
	struct ornic_rig_pair pair;
	struct ornic_rig_cq ascq;
	struct ornic_rig_cq arcq;
	struct ornic_rig_cq bscq;
	struct ornic_rig_cq brcq;
	struct ornic_rig_qp a;
	struct ornic_rig_qp b;
	struct ornic_rig_mr am;
	struct ornic_rig_mr bm;
	struct ornic_rig_frame *frame;
	struct ornic_pkt pkt;
	struct ornic_rx rx;
	u8 buf[4096];
};

/*
 * ornic_bed_open - QPs of @init's shape in RESET
 * ornic_bed_connect - and on to RTS; change a.conn and b.conn in between
 * ornic_bed_close - checks that nothing was written beside
 * Return: 0, or an enum ornic_status.
 */
int ornic_bed_open(struct ornic_bed *bed, enum ornic_bed_kind kind,
		   const struct ornic_rig_qpinit *init);
int ornic_bed_connect(struct ornic_bed *bed);
u32 ornic_bed_close(struct ornic_bed *bed);

/* The byte at @off of the pattern numbered @seed. */
static inline u8 ornic_bed_byte(u32 seed, u32 off)
{
	u32 x = (off ^ seed * 0x9e3779b1u) * 0x85ebca6bu;

	return x >> 24;
}

/* Fill or compare with a pattern. Return: first wrong offset, -1 if none. */
void ornic_bed_fill(const struct ornic_rig_mr *mr, u32 off, u32 len, u32 seed);
s32 ornic_bed_compare(const struct ornic_rig_mr *mr, u32 off, u32 len,
		      u32 seed);

/* An SGE for [@off, @off + @len) of @mr. */
struct ornic_lsge ornic_bed_sge(const struct ornic_rig_mr *mr, u32 off,
				u32 len);

/*
 * Post on @qp, whose memory is @mr from @off: signalled, wr_id 1, remote at
 * the same offset of @remote (NULL: none). CAS and FAA: swap_add 1, compare 0.
 */
int ornic_bed_post(struct ornic_rig_qp *qp, const struct ornic_rig_mr *mr,
		   const struct ornic_rig_mr *remote, u8 opcode, u8 flags,
		   u32 off, u32 len);

/* Post a receive for [@off, @off + @len) of @mr with @wr_id. */
void ornic_bed_recv(struct ornic_rig_qp *qp, const struct ornic_rig_mr *mr,
		    u64 wr_id, u32 off, u32 len);

/* The next frame that a sent, decoded in bed->pkt; false if none. */
bool ornic_bed_sent(struct ornic_bed *bed);

/* Pull and put all frames; how many there were. */
u32 ornic_bed_drain(struct ornic_bed *bed);

/* A packet from a's made-up peer. */
void ornic_bed_answer(struct ornic_bed *bed, u8 opcode, u32 psn, u8 syndrome,
		      const void *payload, u32 len);

/*
 * A request from a's made-up peer at the first PSN + @n, for the memory at
 * @off of am, with @len bytes of bed->buf; FAA adds and CAS stores 5.
 */
void ornic_bed_request(struct ornic_bed *bed, u8 opcode, s32 n, u32 off,
		       u32 dma_len, u32 len);

/* The next frame of a: its syndrome, 0xff when there is none. */
u8 ornic_bed_syndrome(struct ornic_bed *bed);

/* The next completion of @cq has @status; 0xff when there is none. */
int ornic_bed_status(struct ornic_rig_cq *cq, struct ornic_cqe *cqe);

/* b posts @wr, or takes @key back, and all settles: status of b's completion. */
int ornic_bed_run_on_b(struct ornic_bed *bed, const struct ornic_rig_wr *wr);
int ornic_bed_invalidate(struct ornic_bed *bed, u32 key);

#endif /* ORNIC_RIG_BED_H */
