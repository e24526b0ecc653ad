// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Multicast groups, IBTA 10.5.2: which QPs get a packet. That each member
 * gets it by its own Q_Key and receive queue is left to the responder.
 */
#include "mcast.h"
#include "proto.h"

#define MAX_GROUPS (1u << ORNIC_LOG_MAX_MCAST)
#define NO_SLOT U32_MAX

/* ---- Finding ------------------------------------------------------------------- */

static u32 bucket_of(const struct ornic_mcast *mc, const u8 *mgid)
{
	u32 i, word, hash = READ_ONCE(mc->seed);

	for (i = 0; i < 16; i += sizeof(word)) {
		memcpy(&word, mgid + i, sizeof(word));
		hash = (hash ^ word) * 0x9e3779b1u;
		hash ^= hash >> 15;
	}
	return hash % ORNIC_MCAST_BUCKETS;
}

struct ornic_mcg *ornic_mcast_group(struct ornic_dev *dev, const u8 *mgid)
{
	struct ornic_mcast *mc = &dev->mcast;
	struct ornic_mcg *group;

	group = ornic_rcu_dereference(mc->bucket[bucket_of(mc, mgid)]);
	while (group && memcmp(group->mgid, mgid, sizeof(group->mgid)) != 0)
		group = ornic_rcu_dereference(group->next);
	return group;
}

struct ornic_qp *ornic_mcast_member(struct ornic_dev *dev,
				    const struct ornic_mcg *group, u32 *slot)
{
	u32 slots = READ_ONCE(group->slots);
	struct ornic_qp *qp;
	u32 qpn;

	for (; *slot < slots; (*slot)++) {
		qpn = READ_ONCE(group->qpn[*slot]);
		qp = qpn ? ornic_qp_lookup(dev, qpn) : NULL;
		if (qp)
			return qp;
	}
	return NULL;
}

/* ---- Changing -------------------------------------------------------------------- */

/* First entry of @group that is @qpn (0: free), or NO_SLOT. */
static u32 find_slot(const struct ornic_mcg *group, u32 qpn)
{
	u32 i;

	for (i = 0; i < group->slots; i++)
		if (group->qpn[i] == qpn)
			return i;
	if (!qpn && i < ARRAY_SIZE(group->qpn))
		return i;
	return NO_SLOT;
}

/* A group without members is none: take it out of its bucket. */
static void remove_group(struct ornic_mcast *mc, struct ornic_mcg *group)
{
	struct ornic_mcg __rcu **link = &mc->bucket[bucket_of(mc, group->mgid)];

	while (ornic_rcu_locked(*link) != group)
		link = &ornic_rcu_locked(*link)->next;
	ornic_rcu_assign(*link, ornic_rcu_locked(group->next));
	mc->count--;
	ornic_free_rcu(group, rcu);
}

static void remove_member(struct ornic_mcast *mc, struct ornic_mcg *group,
			  u32 slot)
{
	u32 slots = group->slots;

	WRITE_ONCE(group->qpn[slot], 0);
	while (slots && !group->qpn[slots - 1])
		slots--;
	if (!slots)
		remove_group(mc, group);
	else
		WRITE_ONCE(group->slots, slots);
}

/* Attach the first member, and the group with it. */
static void add_group(struct ornic_dev *dev, struct ornic_mcg *group, u32 qpn)
{
	struct ornic_mcast *mc = &dev->mcast;
	u32 i;

	if (!mc->count++)
		WRITE_ONCE(mc->seed, dev->ops->random(dev->host));
	group->qpn[0] = qpn;
	group->slots = 1;
	i = bucket_of(mc, group->mgid);
	ornic_rcu_assign(group->next, ornic_rcu_locked(mc->bucket[i]));
	ornic_rcu_assign(mc->bucket[i], group);
}

/* A walk that sees the new number of slots and not the member skips it. */
static int add_member(struct ornic_mcg *group, u32 qpn)
{
	u32 slot;

	if (find_slot(group, qpn) != NO_SLOT)
		return ORNIC_BUSY;
	slot = find_slot(group, 0);
	if (slot == NO_SLOT)
		return ORNIC_LIMIT;
	WRITE_ONCE(group->qpn[slot], qpn);
	if (slot == group->slots)
		WRITE_ONCE(group->slots, slot + 1);
	return ORNIC_OK;
}

/* The QP, if it is one that can be in a group, IBTA 11.3.1. */
static int find_qp(struct ornic_dev *dev, u32 qpn, struct ornic_qp **qp)
{
	*qp = ornic_qp_lookup(dev, qpn);
	if (!*qp)
		return ORNIC_NOT_FOUND;
	if ((*qp)->type != ORNIC_QPT_UD || (*qp)->create_flags & ORNIC_QP_GSI)
		return ORNIC_BAD_PARAM;
	return ORNIC_OK;
}

/* Under the lock. Takes over *@spare, and clears it, if it makes the group. */
static int attach_locked(struct ornic_dev *dev, u32 qpn,
			 struct ornic_mcg **spare)
{
	struct ornic_mcg *group;
	struct ornic_qp *qp;
	int status;

	status = find_qp(dev, qpn, &qp);
	if (status != ORNIC_OK)
		return status;
	group = ornic_mcast_group(dev, (*spare)->mgid);
	if (group) {
		status = add_member(group, qpn);
	} else if (dev->mcast.count < MAX_GROUPS) {
		add_group(dev, *spare, qpn);
		*spare = NULL;
	} else {
		status = ORNIC_LIMIT;
	}
	if (status == ORNIC_OK)
		qp->mcast_groups++;
	return status;
}

int ornic_mcast_attach(struct ornic_dev *dev, const struct ornic_req_mcast *req)
{
	struct ornic_mcg *spare;
	int status;

	if (!ornic_gid_is_multicast(req->mgid))
		return ORNIC_BAD_PARAM;
	spare = ornic_zalloc(sizeof(*spare));
	if (!spare)
		return ORNIC_NO_RESOURCE;
	memcpy(spare->mgid, req->mgid, sizeof(spare->mgid));
	ornic_rcu_read_lock();
	ornic_lock(&dev->mcast.lock);
	status = attach_locked(dev, le32_to_cpu(req->hdr.obj), &spare);
	ornic_unlock(&dev->mcast.lock);
	ornic_rcu_read_unlock();
	ornic_free(spare);
	return status;
}

static int detach_locked(struct ornic_dev *dev, u32 qpn, const u8 *mgid)
{
	u32 slot = NO_SLOT;
	struct ornic_mcg *group;
	struct ornic_qp *qp;
	int status;

	status = find_qp(dev, qpn, &qp);
	if (status != ORNIC_OK)
		return status;
	group = ornic_mcast_group(dev, mgid);
	if (group)
		slot = find_slot(group, qpn);
	if (slot == NO_SLOT)
		return ORNIC_NOT_FOUND;
	remove_member(&dev->mcast, group, slot);
	qp->mcast_groups--;
	return ORNIC_OK;
}

int ornic_mcast_detach(struct ornic_dev *dev, const struct ornic_req_mcast *req)
{
	int status;

	if (!ornic_gid_is_multicast(req->mgid))
		return ORNIC_BAD_PARAM;
	ornic_rcu_read_lock();
	ornic_lock(&dev->mcast.lock);
	status = detach_locked(dev, le32_to_cpu(req->hdr.obj), req->mgid);
	ornic_unlock(&dev->mcast.lock);
	ornic_rcu_read_unlock();
	return status;
}

/* The groups of one bucket. Under the lock. */
static void forget_in_bucket(struct ornic_mcast *mc, u32 bucket,
			     struct ornic_qp *qp)
{
	struct ornic_mcg *group, *next;
	u32 slot;

	for (group = ornic_rcu_locked(mc->bucket[bucket]); group;
	     group = next) {
		next = ornic_rcu_locked(group->next);
		slot = find_slot(group, qp->qpn);
		if (slot == NO_SLOT)
			continue;
		remove_member(mc, group, slot);
		qp->mcast_groups--;
	}
}

void ornic_mcast_forget(struct ornic_dev *dev, struct ornic_qp *qp)
{
	struct ornic_mcast *mc = &dev->mcast;
	bool left = true;
	u32 i;

	for (i = 0; left && i < ORNIC_MCAST_BUCKETS; i++) {
		ornic_lock(&mc->lock);
		left = qp->mcast_groups;
		if (left)
			forget_in_bucket(mc, i, qp);
		ornic_unlock(&mc->lock);
	}
}
