/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* The fixture of the suites of tag matching. */
#ifndef ORNIC_TM_FIXTURE_H
#define ORNIC_TM_FIXTURE_H

#include "suite_fixture.h"

#define ORNIC_TM_LOG_DEPTH 4
#define ORNIC_TM_MAX_TAGS 8
#define ANY (~0ull)
#define ORNIC_TM_MTU 1024
#define TMH 16
#define HDRS 32

/* First byte of a header, as ibv_tmh has it. */
enum { NO_TAG, RNDV, FIN, EAGER };

/*
 * The fixture's QP b takes from an SRQ that matches tags, which completes to tcq;
 * ops changes its list. a sends.
 */
struct ornic_tm_test {
	struct ornic_fixture fix;
	struct ornic_th_cq tcq;
	struct ornic_th_cq ocq;
	struct ornic_th_srq srq;
	struct ornic_th_qp ops;
};

static_assert(offsetof(struct ornic_tm_test, fix) == 0);

struct ornic_tm_want {
	u8 opcode;
	u8 tm_flags;
	u64 wr_id;
	u64 tag;
	u32 bytes;
};

#define MATCH ORNIC_CQE_TM_MATCH
#define VALID ORNIC_CQE_TM_DATA_VALID

/* Objects of all kinds, the QPs in RESET: 0, or an enum ornic_status; and connected. */
int ornic_tm_open_kind(struct ornic_tm_test *tt, enum ornic_fix_kind kind);
struct ornic_tm_test *ornic_tm_open(struct kunit *test,
				    enum ornic_fix_kind kind);

/* A WQE of the ring for the first 8 KiB of bm. */
void ornic_tm_post_ring(struct ornic_tm_test *tt, u64 wr_id);

/*
 * Change the list. Of a new receive, for [@off, @off + @len) of bm, handle and wr_id
 * are @id; ornic_tm_add_sges() has other memory. ornic_tm_sync() returns the tm_flags
 * of the completion, -1 if it is none.
 */
void ornic_tm_change_list(struct ornic_tm_test *tt, u8 opcode, u8 flags,
			  const struct ornic_seg_tag *tag,
			  const struct ornic_lsge *sge);
void ornic_tm_add_masked(struct ornic_tm_test *tt, u32 id, u64 tag, u64 mask,
			 u32 off, u32 len);
void ornic_tm_add_sges(struct ornic_tm_test *tt, u32 id, u64 tag,
		       const struct ornic_lsge *sge, u32 nsge);
void ornic_tm_add(struct ornic_tm_test *tt, u32 id, u64 tag, u32 off, u32 len);
void ornic_tm_del(struct ornic_tm_test *tt, u32 id, u8 flags);
int ornic_tm_sync(struct ornic_tm_test *tt, u32 count);

/* The status of the next completion of a change, or a receive; 0xff: none. */
int ornic_tm_op_status(struct ornic_tm_test *tt);
int ornic_tm_status(struct ornic_tm_test *tt);

/* As the device reports them. */
u32 ornic_tm_list_length(struct ornic_tm_test *tt, u32 *unexpected);
u32 ornic_tm_gone(struct ornic_tm_test *tt);

/*
 * ornic_tm_fill - a TMH at @off of am, then @len bytes of the pattern @tag
 * ornic_tm_post_message - send what is there
 * ornic_tm_send_eager - both, at 0
 * ornic_tm_fill_rndv - a request at @off for @len bytes at @data
 * ornic_tm_send_rndv - send one
 */
void ornic_tm_put_be(u8 *p, u64 value, u32 bytes);
void ornic_tm_fill(struct ornic_tm_test *tt, u8 opcode, u64 tag, u32 off,
		   u32 len);
void ornic_tm_post_message(struct ornic_tm_test *tt, u32 off, u32 len);
void ornic_tm_send_eager(struct ornic_tm_test *tt, u64 tag, u32 len);
void ornic_tm_fill_rndv(struct ornic_tm_test *tt, u64 tag, u32 data, u32 len,
			u32 off);
void ornic_tm_send_rndv(struct ornic_tm_test *tt, u64 tag, u32 data, u32 len,
			u32 off);

/* The next receive has succeeded, and is this one. */
void ornic_tm_expect(struct kunit *test, struct ornic_tm_test *tt,
		     const struct ornic_tm_want *want);
void ornic_tm_expect_match(struct kunit *test, struct ornic_tm_test *tt,
			   u64 wr_id, u64 tag, u32 bytes);
void ornic_tm_expect_unexpected(struct kunit *test, struct ornic_tm_test *tt,
				u64 wr_id, u32 bytes);

#endif /* ORNIC_TM_FIXTURE_H */
