/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Multicast groups: MGID to the QPNs of its members. A packet finds group and
 * members under RCU; commands change both under @lock, which is a leaf.
 *
 * A member is a QPN, not a pointer: DESTROY_QP takes it out of its groups
 * before it waits for RCU and gives the number back, so a
 * look-up finds that QP or none.
 */
#ifndef ORNIC_ENGINE_MCAST_H
#define ORNIC_ENGINE_MCAST_H

#include "env.h"
#include <rdma/ornic-hw.h>

#define ORNIC_LOG_MAX_MCAST 12
#define ORNIC_LOG_MAX_MCAST_QPS 6
#define ORNIC_MCAST_BUCKETS 256u

struct ornic_dev;
struct ornic_qp;

/**
 * struct ornic_mcg - a multicast group
 * @rcu: frees it after readers
 * @next: in its bucket
 * @mgid: its address
 * @slots: one past the last entry of @qpn that is in use, never 0
 * @qpn: members; 0 = free. An entry stays where it is, so a walk may stop and
 *	go on later.
 */
struct ornic_mcg {
	struct ornic_rcu_head rcu;
	struct ornic_mcg __rcu *next;
	u8 mgid[16];
	u32 slots;
	u32 qpn[1u << ORNIC_LOG_MAX_MCAST_QPS];
};

/**
 * struct ornic_mcast - the groups of a device
 * @lock: serialises all changes
 * @seed: of the hash, new whenever there are no groups: no peer can choose
 *	MGIDs that share a bucket
 * @count: groups
 * @bucket: heads of their lists
 */
struct ornic_mcast {
	ornic_lock_t lock;
	u32 seed;
	u32 count;
	struct ornic_mcg __rcu *bucket[ORNIC_MCAST_BUCKETS];
};

/*
 * ATTACH_MCAST and DETACH_MCAST. Return: ORNIC_OK; ORNIC_NOT_FOUND;
 * ORNIC_BAD_PARAM for an address that is no multicast or a QP that is not UD;
 * ORNIC_BUSY for a member; ORNIC_LIMIT; ORNIC_NO_RESOURCE. A packet that is being
 * delivered may still reach a detached QP.
 */
int ornic_mcast_attach(struct ornic_dev *dev,
		       const struct ornic_req_mcast *req);
int ornic_mcast_detach(struct ornic_dev *dev,
		       const struct ornic_req_mcast *req);

/*
 * Remove @qp, which no look-up finds any more, from its groups. ATTACH_MCAST looks
 * QPs up under the lock, so it joins none afterwards.
 */
void ornic_mcast_forget(struct ornic_dev *dev, struct ornic_qp *qp);

/* The group @mgid, NULL if it has no members. Inside an RCU section. */
struct ornic_mcg *ornic_mcast_group(struct ornic_dev *dev, const u8 *mgid);

/*
 * The first member at or above *@slot (updated), NULL at the end. Inside an RCU
 * section; the walk may continue in another one.
 */
struct ornic_qp *ornic_mcast_member(struct ornic_dev *dev,
				    const struct ornic_mcg *group, u32 *slot);

#endif /* ORNIC_ENGINE_MCAST_H */
