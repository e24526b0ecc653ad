/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Tag matching: the list of tagged receives of an SRQ, and the rendezvous of QPs
 * that take from it. Messages of the peer begin with a TMH, which its software
 * writes and this device reads.
 */
#ifndef ORNIC_ENGINE_TM_H
#define ORNIC_ENGINE_TM_H

#include "cq.h"
#include "mem.h"

struct ornic_inreq;
struct ornic_qp;
struct ornic_rwqe;
struct ornic_srq;
struct ornic_swqe;

#define ORNIC_LOG_MAX_TAGS 10
#define ORNIC_MAX_TAG_SGE 4
#define ORNIC_RNDV_DEPTH 16 /* of a QP that are under way, a power of two */

#define ORNIC_TMH_LEN 16
#define ORNIC_RVH_LEN 16
#define ORNIC_TM_HDR_LEN (ORNIC_TMH_LEN + ORNIC_RVH_LEN)

/* What a search of the list looks at, apart from the rest. */
struct ornic_tag_key {
	u64 tag;
	u64 mask; /* bits of a message's tag that count */
	u32 handle; /* the host's name for it */
	u16 next; /* the one that was added after it, or the next free one */
};

/* struct ornic_tag_recv - the rest of a tagged receive, the device's copy */
struct ornic_tag_recv {
	u64 wr_id; /* given back in the CQEs */
	u32 length; /* sum of its SGEs, bytes */
	u8 nsge; /* entries of @sge */
	struct ornic_lsge sge[ORNIC_MAX_TAG_SGE]; /* in host order */
};

#define ORNIC_NO_TAG 0xffff /* index of none */

/**
 * struct ornic_tags - the list of tagged receives of an SRQ; srq.lock
 * @max: receives that there is room for
 * @n: receives in the list
 * @first: the oldest one
 * @last: the newest one
 * @waiting: the oldest of those that match nothing yet, as they were added while
 *	the counts differed; all after it wait as well
 * @free: a list of free entries
 * @unexpected: messages with a tag that matched nothing (free running), but for those
 *	that have failed
 * @handled: of them, those that the host has reported as handled
 * @gone: as in the record
 * @key: by index
 * @recv: by index
 */
struct ornic_tags {
	u32 max;
	u32 n;
	u16 first;
	u16 last;
	u16 waiting;
	u16 free;
	u32 unexpected;
	u32 handled;
	u32 gone;
	struct ornic_tag_key *key;
	struct ornic_tag_recv *recv;
};

/* struct ornic_rndv - a rendezvous: the data is read, then the peer gets a FIN */
struct ornic_rndv {
	u64 wr_id; /* of the tagged receive */
	u64 va; /* of the data at the peer */
	u32 rkey; /* likewise */
	u32 length; /* bytes */
	u8 nsge; /* entries of @sge, whose sum is @length */
	bool solicited; /* so was the request */
	struct ornic_lsge sge[ORNIC_MAX_TAG_SGE];
	u8 fin[ORNIC_TM_HDR_LEN]; /* the peer's TMH and RVH, as a FIN */
};

/* What the message that is being received is to the tag list. */
enum ornic_tm_message {
	ORNIC_TM_PLAIN, /* it has no TMH, or one that makes no sense */
	ORNIC_TM_NO_TAG,
	ORNIC_TM_UNEXPECTED,
	ORNIC_TM_MATCHED, /* rq.rwqe is a tagged receive */
};

/**
 * struct ornic_tm_qp - what an RC QP with a tag matching SRQ has beside others
 *
 * Its SQ is the device's: it has no ring, but does the READs and FINs of @rndv. They
 * begin, end and are freed in the order in which they were accepted: done <= fins <=
 * read <= reads <= accepted.
 *
 * @message: enum ornic_tm_message, of the one that is being received; rq.lock up to
 *	@hdr
 * @told: its match was reported, and is not again
 * @tag: of its TMH
 * @app_ctx: likewise
 * @hdr: its TMH and RVH, as far as there are some
 * @accepted: rendezvous so far (free running), written under rq.lock with release
 *	semantics
 * @reads: of them, those whose READ is in the SQ; sq.lock, as all that follow
 * @read: whose READ is complete
 * @fins: whose FIN is in the SQ
 * @done: whose FIN is complete, written with release semantics
 * @rndv: rendezvous n is at n modulo the size; written before it is accepted
 */
struct ornic_tm_qp {
	u8 message;
	bool told;
	u64 tag;
	u32 app_ctx;
	u8 hdr[ORNIC_TM_HDR_LEN];
	u32 accepted;
	u32 reads;
	u32 read;
	u32 fins;
	u32 done;
	struct ornic_rndv rndv[ORNIC_RNDV_DEPTH];
};

/* CREATE_SRQ: a list for @max receives, NULL without memory; and DESTROY_SRQ. */
struct ornic_tags *ornic_tags_alloc(u32 max);
void ornic_tags_free(struct ornic_tags *tags);

/*
 * srq: the oldest receive that @tag matches leaves the list for @rw. False if there
 * is none. The search is taken off the budget of @ctx.
 */
bool ornic_tags_match(struct ornic_ctx *ctx, struct ornic_srq *srq, u64 tag,
		      struct ornic_rwqe *rw);

/* srq: an unexpected message has failed, and the host does not count it. */
void ornic_tags_uncount(struct ornic_tags *tags);

/*
 * sq of a QP of type TAGS: execute the TAG_* @sw. A failure is the status of its
 * completion, and not the end of the QP. Takes srq.lock.
 */
noinline void ornic_tags_execute(struct ornic_ctx *ctx, struct ornic_qp *qp,
				 struct ornic_swqe *sw);

/* sq of such a QP: tell the host that @taken WQEs are done, flushed ones as well. */
void ornic_tags_taken(const struct ornic_qp *qp, u32 taken);

/* rq: a SEND, or a piece of one, of a QP whose SRQ matches tags. */
noinline enum ornic_verdict ornic_tm_send(struct ornic_ctx *ctx,
					  struct ornic_qp *qp,
					  const struct ornic_inreq *r);

/* rq: opcode, tag and flags of the CQE of a SEND that has been received. */
void ornic_tm_describe(const struct ornic_tm_qp *tm, struct ornic_cqe *cqe);

/* sq: fill in the cleared @sw with the next READ or FIN; false if there is none. */
bool ornic_tm_fetch(struct ornic_qp *qp, struct ornic_swqe *sw);

/* sq: the READ or FIN @sw is the oldest WQE, and complete. */
noinline void ornic_tm_complete(struct ornic_ctx *ctx, struct ornic_qp *qp,
				const struct ornic_swqe *sw,
				enum ornic_cqe_status status,
				enum ornic_vendor_err verr);

/* sq and rq: RESET: forget all rendezvous. */
void ornic_tm_reset(struct ornic_tm_qp *tm);

#endif /* ORNIC_ENGINE_TM_H */
