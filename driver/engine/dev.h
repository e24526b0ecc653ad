/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The device: its tables, its Ethernet side and its counters, and the context
 * of one call into the engine.
 *
 * Lock order: A.sq, B.rq (A == B allowed), SRQ.lock, CQ.lock; no CQ is touched
 * under an SRQ.lock. Locks of tables and of completion counters are leaves.
 */
#ifndef ORNIC_ENGINE_DEV_H
#define ORNIC_ENGINE_DEV_H

#include "engine.h"
#include "flow.h"
#include "mcast.h"
#include "pkey.h"
#include "table.h"
#include "wire.h"

/* Limits of this engine, as QUERY_DEVICE reports them. */
#define ORNIC_LOG_MAX_QP 18
#define ORNIC_LOG_MAX_CQ 18
#define ORNIC_LOG_MAX_MKEY 22
#define ORNIC_LOG_MAX_AH 20
#define ORNIC_LOG_MAX_SRQ 18
#define ORNIC_LOG_MAX_COUNTERS 10
#define ORNIC_LOG_MAX_COMP_CNTR 16
#define ORNIC_LOG_MAX_WQE 15
#define ORNIC_LOG_MAX_CQE 22
#define ORNIC_MAX_MOVED_CQES (1u << 17) /* by RESIZE_CQ, under its lock */
#define ORNIC_MAX_RD_ATOMIC 16 /* as responder, each keeps its response */
#define ORNIC_MAX_INIT_RD_ATOMIC 128 /* as requester, nothing but a count */
/* What a connection may have that not every peer has */
#define ORNIC_ECE_OFFER (1u << ORNIC_ECE_VERSION_SHIFT | ORNIC_ECE_SELECTIVE)
#define ORNIC_MAX_MSG (1u << 31) /* bytes, IBTA C9-93 */
#define ORNIC_MIN_FRAME 14u /* bytes of raw packet QPs: a header */
#define ORNIC_MAX_FRAME (18u + 65535)
#define ORNIC_MAX_MR_BYTES (1ull << 40)
#define ORNIC_PEER_SEEN_LOG 8 /* slots of addresses */
#define ORNIC_GSI_QPN 1 /* IBTA 3.9.5 */

/* QPs of each kind that one ornic_engine_poll() checks, at most. */
#define ORNIC_POLL_RECENT 16
#define ORNIC_POLL_OTHERS 16
/* And numbers among which it looks for others: most of them may be unused. */
#define ORNIC_POLL_SPAN (1u << 14)

/* All that number a table */
static_assert(ORNIC_LOG_MAX_QP <= ORNIC_LOG_MAX_TABLE);
static_assert(ORNIC_LOG_MAX_CQ <= ORNIC_LOG_MAX_TABLE);
static_assert(ORNIC_LOG_MAX_MKEY <= ORNIC_LOG_MAX_TABLE);
static_assert(ORNIC_LOG_MAX_AH <= ORNIC_LOG_MAX_TABLE);
static_assert(ORNIC_LOG_MAX_SRQ <= ORNIC_LOG_MAX_TABLE);
static_assert(ORNIC_LOG_MAX_COUNTERS <= ORNIC_LOG_MAX_TABLE);
static_assert(ORNIC_LOG_MAX_COMP_CNTR <= ORNIC_LOG_MAX_TABLE);
static_assert(ORNIC_LOG_MAX_FLOW <= ORNIC_LOG_MAX_TABLE);

/**
 * struct ornic_poll - what the poll thread remembers, for itself
 * @recent: QPNs that had work last, each once
 * @nrecent: how many there are
 * @oldest: of @recent, when it is full, the one that makes room
 * @at: where the round of all QPs goes on
 */
struct ornic_poll {
	u32 recent[ORNIC_POLL_RECENT];
	u32 nrecent;
	u32 oldest;
	u32 at;
};

/* Bytes per piece of what the null key maps to. */
#define ORNIC_NULL_PIECE 4096u

/**
 * struct ornic_dev - the engine's own view of struct ornic_engine
 * @ops: what the host does for it
 * @host: the host's argument of @ops
 * @mac: Ethernet address
 * @up: the port is up
 * @polling: kick_wanted stays clear
 * @wire_only: new paths to this device itself make packets as well
 * @direct: the host may find an engine that is reached without packets
 * @roce_v1: it has RoCE v1
 * @mtu: RoCE MTU of the port, bytes
 * @netdev_mtu: MTU of its netdev, 0: not known
 * @stats: enum ornic_stat; what is counted for no QP, or for a QP that has no
 *	counter set
 * @optional: bit n: optional counter n counts
 * @cc_param: by enum ornic_cc_param
 * @spray: paths of QPs that are made from now on, 0 or 1 = one
 * @qps: QPN to struct ornic_qp
 * @qps_leaving: QPs that are out of @qps and may still run
 * @spare: bytes that packets of peers have made it take, see spare.c; ...
 * @spare_of_peer: ... of them those of QPs whose peers share the slot
 * @spare_limit: of @spare
 * @cqs: CQN to struct ornic_cq
 * @mkeys: key >> 8 to struct ornic_mkey
 * @ahs: handle to struct ornic_ah
 * @srqs: SRQN to struct ornic_srq
 * @mcast: multicast groups
 * @flows: flow rules
 * @csets: number to struct ornic_counter_set
 * @comp_cntrs: number to struct ornic_comp_cntr
 * @gid_lock: serialises changes of @gid; readers copy under it
 * @ngids: one past the last valid entry of @gid
 * @gid: the GID table
 * @pkey_lock: serialises changes of @pkey
 * @pkey: the P_Key table, 0 = empty; read without the lock, see pkey.h
 * @peer_key: of the fingerprints of peers
 * @peer_seen: which peer was alive last, of those that share the slot, and when: see
 *	ornic_qp_mark_peer_seen()
 * @poll: of ornic_engine_poll()
 * @sink: what is written with the null key: ORNIC_NULL_PIECE bytes that CPUs write
 *	to at the same time, as nobody reads them. Not in here, or other members would
 *	share cache lines with them.
 */
struct ornic_dev {
	const struct ornic_engine_ops *ops;
	void *host;
	u8 mac[6];
	bool up;
	bool polling;
	bool wire_only;
	bool direct;
	bool roce_v1;
	u32 mtu;
	u32 netdev_mtu;
	struct ornic_counters stats;
	u64 optional;
	u32 cc_param[ORNIC_CC_PARAM_COUNT];
	u32 spray;
	struct ornic_table qps;
	ornic_atomic_t qps_leaving;
	ornic_atomic_t spare;
	ornic_atomic_t spare_of_peer[1 << ORNIC_PEER_SEEN_LOG];
	u32 spare_limit;
	struct ornic_table cqs;
	struct ornic_table mkeys;
	struct ornic_table ahs;
	struct ornic_table srqs;
	struct ornic_mcast mcast;
	struct ornic_flows flows;
	struct ornic_table csets;
	struct ornic_table comp_cntrs;
	ornic_lock_t gid_lock;
	u32 ngids;
	struct ornic_gid gid[ORNIC_GID_TABLE_LEN];
	ornic_lock_t pkey_lock;
	u16 pkey[ORNIC_PKEY_TABLE_LEN];
	ornic_hash_key_t peer_key;
	u64 peer_seen[1 << ORNIC_PEER_SEEN_LOG];
	struct ornic_poll poll;
	u8 *sink;
};

struct ornic_engine {
	struct ornic_dev dev;
};

static inline void ornic_stat_add(struct ornic_dev *dev, enum ornic_stat stat,
				  u64 n)
{
	ornic_counters_add(&dev->stats, stat, n);
}

static inline void ornic_stat_inc(struct ornic_dev *dev, enum ornic_stat stat)
{
	ornic_counters_add(&dev->stats, stat, 1);
}

/* Does an optional counter count? */
static inline bool ornic_stat_optional(const struct ornic_dev *dev,
				       enum ornic_stat stat)
{
	return READ_ONCE(dev->optional) & BIT_ULL(stat);
}

/* The status of a command for -@err of a function. */
static inline enum ornic_status ornic_errno_status(int err)
{
	switch (err) {
	case 0:
		return ORNIC_OK;
	case -ENOMEM:
		return ORNIC_NO_RESOURCE;
	case -ENOSPC:
		return ORNIC_LIMIT;
	case -EINVAL:
		return ORNIC_BAD_PARAM;
	case -EFAULT:
		return ORNIC_BAD_ADDR;
	case -ENOENT:
		return ORNIC_NOT_FOUND;
	case -EBUSY:
		return ORNIC_BUSY;
	default:
		return ORNIC_FAILED;
	}
}

/* Ask the host to run every QP, so that each sets its kick_wanted again. */
void ornic_dev_resched_all(struct ornic_dev *dev);

/* Events are delivered without locks, so a call gathers them first. */
#define ORNIC_CTX_EVENTS 24
#define ORNIC_CTX_RESERVE 12 /* room that one step may need: two QPs end */

/* What becomes a struct ornic_eqe of @dev when the call ends. */
struct ornic_pending_event {
	struct ornic_dev *dev;
	u32 obj;
	u8 type; /* enum ornic_eqe_type */
	u8 vector;
};

/**
 * struct ornic_ctx - one call into the engine
 * @dev: the device; for the time of its work the one of a peer, see loop.c
 * @direct: what is executed at a peer is executed in this device; NULL: in the one
 *	that the path of the QP names
 * @now: time of the call in ns
 * @budget: bytes of work left
 * @nevents: events gathered in @event
 * @event: what is delivered when the call ends
 */
struct ornic_ctx {
	struct ornic_dev *dev;
	struct ornic_dev *direct;
	u64 now;
	s64 budget;
	u32 nevents;
	struct ornic_pending_event event[ORNIC_CTX_EVENTS];
};

/*
 * ns from @then to @now, of a call; 0 if @then is later: another CPU may have read the
 * time later, and yet got the lock first.
 */
static inline u64 ornic_since(u64 now, u64 then)
{
	return now > then ? now - then : 0;
}

/* Begin a call with @budget bytes of work: enters the RCU section. */
void ornic_ctx_begin(struct ornic_ctx *ctx, struct ornic_dev *dev, u32 budget);

/*
 * End a call: leave the RCU section and deliver its events. No lock is held. Those of
 * other devices come first, inside the section: nothing else makes these devices stay.
 */
void ornic_ctx_end(struct ornic_ctx *ctx);

/*
 * Gather an event of ctx->dev, under any lock. One that is pending already also stands
 * for this one. Callers keep room free, see ornic_ctx_full().
 */
noinline void ornic_ctx_event(struct ornic_ctx *ctx, enum ornic_eqe_type type,
			      u32 obj, u8 vector);

/* No room for the events of another step: stop and come back. */
static inline bool ornic_ctx_full(const struct ornic_ctx *ctx)
{
	return ctx->nevents + ORNIC_CTX_RESERVE > ORNIC_CTX_EVENTS;
}

/* SET_GID. Existing paths keep their addresses. Return: enum ornic_status. */
int ornic_gid_set(struct ornic_dev *dev, const struct ornic_req_set_gid *req);

/* True if @gid (IPv4 mapped or IPv6) on @vlan, of RoCE v1 or v2, is in the GID table. */
bool ornic_gid_is_local(struct ornic_dev *dev, const u8 *gid, u16 vlan,
			bool v1);

/*
 * Is a packet of RoCE v1 neither for a GID of the port nor for a group, IBTA 9.6.1.2? With
 * a soft device, IP has seen to that for packets of RoCEv2.
 */
bool ornic_rx_is_astray(struct ornic_dev *dev, const struct ornic_rx *rx);

/* Copy of entry @index; valid = false if empty or out of range. */
void ornic_gid_read(struct ornic_dev *dev, u32 index, struct ornic_gid *gid);

/* Its index, for CQEs; 0 if not found. */
u8 ornic_gid_index(struct ornic_dev *dev, const u8 *gid, u16 vlan, bool v1);

/* The same of the one that @rx was sent to; a group: 0. */
u8 ornic_rx_gid_index(struct ornic_dev *dev, const struct ornic_rx *rx);

/**
 * struct ornic_ah - an address handle
 * @rcu: frees it after readers
 * @pdn: its PD
 * @path: header template
 */
struct ornic_ah {
	struct ornic_rcu_head rcu;
	u32 pdn;
	struct ornic_path path;
};

/* The MR or window of @key, whatever its variant, or NULL. In an RCU section. */
static inline struct ornic_mkey *ornic_mkey_lookup(struct ornic_dev *dev,
						   u32 key)
{
	return (struct ornic_mkey *)ornic_table_lookup(&dev->mkeys, key >> 8);
}

/**
 * struct ornic_counter_set - counters of the QPs that are bound to it
 * @users: those QPs; DESTROY_COUNTERS is ORNIC_BUSY while > 0
 * @stats: enum ornic_stat
 */
struct ornic_counter_set {
	ornic_atomic_t users;
	struct ornic_counters stats;
};

/* Most bytes that the page list of one object may name. */
static inline u64 ornic_max_mem(const struct ornic_dev *dev)
{
	u64 max_mem = dev->ops->max_mem;

	return max_mem ? min_t(u64, max_mem, ORNIC_MAX_MR_BYTES) :
			 ORNIC_MAX_MR_BYTES;
}

static inline u64 ornic_random64(const struct ornic_dev *dev)
{
	u64 high = dev->ops->random(dev->host);

	return high << 32 | dev->ops->random(dev->host);
}

/* Of what takes long, with no lock held: let the host do other work. */
static inline void ornic_relax(const struct ornic_dev *dev)
{
	if (dev->ops->relax)
		dev->ops->relax(dev->host);
}

/*
 * CREATE_, DESTROY_ and BIND_COUNTERS. ornic_counters_destroy() waits for RCU,
 * as BIND_COUNTERS and lockless counting use a set inside RCU sections. Return:
 * enum ornic_status.
 */
int ornic_counters_create(struct ornic_dev *dev, u32 *number);
int ornic_counters_destroy(struct ornic_dev *dev, u32 number);
int ornic_counters_bind(struct ornic_dev *dev,
			const struct ornic_req_bind_counters *req);

/* QUERY_STATS and MODIFY_STATS. Return: enum ornic_status. */
int ornic_stats_query(struct ornic_dev *dev,
		      const struct ornic_req_query_stats *req);
int ornic_stats_modify(struct ornic_dev *dev,
		       const struct ornic_req_modify_stats *req);

/*
 * CREATE_AH and DESTROY_AH; sends that use the AH may still finish. Return: enum
 * ornic_status.
 */
int ornic_ah_create(struct ornic_dev *dev,
		    const struct ornic_req_create_ah *req, u32 *ah);
int ornic_ah_destroy(struct ornic_dev *dev, u32 ah);

/*
 * Make the path along @av: checks it against the GID table, sets loop and
 * peer_engine. Return: 0, or -EINVAL as for ornic_path_init().
 */
int ornic_path_resolve(struct ornic_dev *dev, struct ornic_path *path,
		       const struct ornic_av *av);

/* The device at the far end of a path with loop set; NULL: it has gone. */
struct ornic_dev *ornic_path_dev(struct ornic_dev *dev,
				 const struct ornic_path *path);

#endif /* ORNIC_ENGINE_DEV_H */
