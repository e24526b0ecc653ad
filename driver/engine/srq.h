/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Shared receive queues, the device's end; those of XRC domains as well. */
#ifndef ORNIC_ENGINE_SRQ_H
#define ORNIC_ENGINE_SRQ_H

#include "cq.h"
#include "dev.h"
#include "mem.h"

struct ornic_rwqe;
struct ornic_tags;

/**
 * struct ornic_srq_mem - where an SRQ lives
 * @depth: WQEs, a power of two
 * @pages: memory of ring and record
 * @ring: the WQEs, the user's memory
 * @record: doorbell record, the user's memory
 */
struct ornic_srq_mem {
	u32 depth;
	struct ornic_pages pages;
	struct ornic_ring ring;
	struct ornic_wq_record *record;
};

/**
 * struct ornic_srq - a receive queue of several QPs
 * @srqn: its number
 * @pdn: PD in which its SGEs are looked up; XRC: and the keys of the messages
 *	that name it
 * @max_sge: SGEs that a WQE may have
 * @log_stride: log2 of the bytes of a WQE
 * @xrcdn: XRC: its domain
 * @cq: XRC, or with @tags: where its WQEs complete, else NULL
 * @users: QPs that take from it, and those of type TAGS; DESTROY_SRQ is ORNIC_BUSY
 *	while > 0. XRC targets do not count, they name it anew with each message.
 * @lock: protects all below it
 * @mem: its memory, which RESIZE_SRQ replaces
 * @taken: WQEs taken from the ring (free running)
 * @limit: raise SRQ_LIMIT once fewer WQEs wait; 0: not armed
 * @broken: the record holds nonsense: the ring is not looked at any more
 * @tags: list of tagged receives; NULL: it matches no tags. Never another one.
 */
struct ornic_srq {
	u32 srqn;
	u32 pdn;
	u32 max_sge;
	u32 log_stride;
	u32 xrcdn;
	struct ornic_cq *cq;
	ornic_atomic_t users;
	ornic_lock_t lock;
	struct ornic_srq_mem mem;
	u32 taken;
	u32 limit;
	bool broken;
	struct ornic_tags *tags;
};

/**
 * ornic_srq_take - copy the next receive WQE, and free its slot
 * @ctx: the call; gathers SRQ_LIMIT and SRQ_ERR
 * @srq: the SRQ
 * @rw: out: the WQE
 *
 * Context: inside an RCU section or with a reference; takes srq.lock.
 * Return: false if there is none (or the record holds nonsense).
 */
bool ornic_srq_take(struct ornic_ctx *ctx, struct ornic_srq *srq,
		    struct ornic_rwqe *rw);

/**
 * ornic_srq_take_tagged - take a receive for a message with a tag
 * @ctx: the call; gathers SRQ_LIMIT and SRQ_ERR
 * @srq: the SRQ, which matches tags
 * @tag: that of the message
 * @rw: out: the oldest tagged receive that matches, or else the next WQE
 * @matched: out: which of the two
 *
 * In the second case the message is unexpected, and counted.
 *
 * Context: as for ornic_srq_take().
 * Return: false if there is neither; then nothing is counted.
 */
bool ornic_srq_take_tagged(struct ornic_ctx *ctx, struct ornic_srq *srq,
			   u64 tag, struct ornic_rwqe *rw, bool *matched);

/**
 * ornic_srq_uncount - a message ends without a completion that the host can count
 * @srq: the SRQ, if there is one
 * @rw: the WQE that the message took; any other is left alone
 *
 * If it was unexpected the counts of device and host would differ from now on.
 *
 * Context: as for ornic_srq_take(), with the lock of @rw.
 */
void ornic_srq_uncount(struct ornic_srq *srq, struct ornic_rwqe *rw);

/**
 * ornic_srq_xrc - the SRQ that an XRC request names
 * @dev: the device
 * @srqn: what it names
 * @xrcdn: domain of the QP
 *
 * Context: inside an RCU section.
 * Return: the SRQ; NULL if it is none of that domain.
 */
struct ornic_srq *ornic_srq_xrc(struct ornic_dev *dev, u32 srqn, u32 xrcdn);

/*
 * CREATE_, DESTROY_, MODIFY_, RESIZE_, QUERY_SRQ. Return: enum ornic_status.
 *
 * CREATE_QP counts itself in @users inside an RCU section, so ornic_srq_destroy()
 * finds one that saw the SRQ before it was unlinked after its wait for RCU.
 * ornic_srq_modify() raises SRQ_LIMIT at once if fewer WQEs wait than the limit;
 * ORNIC_BAD_PARAM for a limit above the depth, ORNIC_BAD_STATE if the SRQ is
 * broken. ornic_srq_resize() keeps the limit armed; ORNIC_BAD_PARAM if waiting
 * WQEs or limit do not fit; nothing has changed after an error.
 */
int ornic_srq_create(struct ornic_dev *dev,
		     const struct ornic_req_create_srq *req, u32 *srqn);
int ornic_srq_destroy(struct ornic_dev *dev, u32 srqn);
int ornic_srq_modify(struct ornic_dev *dev,
		     const struct ornic_req_modify_srq *req);
int ornic_srq_resize(struct ornic_dev *dev,
		     const struct ornic_req_resize_srq *req);
int ornic_srq_query(struct ornic_dev *dev, u32 srqn,
		    struct ornic_rsp_query_srq *rsp);

#endif /* ORNIC_ENGINE_SRQ_H */
