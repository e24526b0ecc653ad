/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Flow rules: which raw packet QPs get an Ethernet frame, and whether the host
 * does. A frame finds them under RCU; commands change them under @lock, which is a
 * leaf.
 *
 * Rules of one mask differ by value alone, so a frame is looked up once for each
 * mask in one hash table of all rules (tuple space search): the cost grows with the
 * number of masks and with that of rules of one match, which are bounded, and not with
 * that of rules. Chains of the table are bounded as well, whatever values a program
 * chooses.
 *
 * A rule has the number of its QP, which is not destroyed before.
 */
#ifndef ORNIC_ENGINE_FLOW_H
#define ORNIC_ENGINE_FLOW_H

#include "env.h"
#include "table.h"
#include <rdma/ornic-hw.h>

#define ORNIC_LOG_MAX_FLOW 14
#define ORNIC_LOG_FLOW_BUCKETS 13
#define ORNIC_FLOW_BUCKETS (1u << ORNIC_LOG_FLOW_BUCKETS)
#define ORNIC_FLOW_MAX_MASKS 64
#define ORNIC_FLOW_MAX_EQUAL 8 /* rules of one match and priority */
#define ORNIC_FLOW_MAX_SAME 32 /* rules of one match */
/* Rules in one bucket. Some matches of MAX_SAME rules meet by chance. */
#define ORNIC_FLOW_MAX_CHAIN (4 * ORNIC_FLOW_MAX_SAME)
#define ORNIC_FLOW_MAX_OTHERS 16 /* rules that are not NORMAL */
#define ORNIC_FLOW_HITS 32 /* QPs that get one frame, at most */
/* Ethernet with a tag, the longest IPv4 header and ports, rounded up. */
#define ORNIC_FLOW_HEAD 96
#define ORNIC_FLOW_WORDS (sizeof(struct ornic_flow_key) / sizeof(u64))

struct ornic_dev;
struct ornic_qp;

/* A key, and how it is hashed and compared. */
union ornic_flow_bits {
	struct ornic_flow_key key;
	u64 word[ORNIC_FLOW_WORDS];
};

/**
 * struct ornic_flow_mask - a mask that NORMAL rules have
 * @rcu: frees it after readers
 * @next: the next one, of as many bits or fewer
 * @bits: the mask
 * @key: of the hash of its rules, random
 * @factor: likewise, odd
 * @nbits: bits that are set
 * @users: rules
 * @first: no rule that takes frames has a lower priority number
 */
struct ornic_flow_mask {
	struct ornic_rcu_head rcu;
	struct ornic_flow_mask __rcu *next;
	union ornic_flow_bits bits;
	u64 key[ORNIC_FLOW_WORDS];
	u64 factor;
	u32 nbits;
	u32 users;
	u32 first;
};

/**
 * struct ornic_flow - a rule
 * @rcu: frees it after readers
 * @next: in its bucket, in the order of priorities; or of the others
 * @mask: NULL: not NORMAL
 * @value: what the key of a frame is, under @mask
 * @qpn: its QP
 * @priority: 0 is the first
 * @type: enum ornic_flow_type
 * @flags: enum ornic_flow_flags
 * @ended: out of look-ups; under the lock
 */
struct ornic_flow {
	struct ornic_rcu_head rcu;
	struct ornic_flow __rcu *next;
	struct ornic_flow_mask *mask;
	union ornic_flow_bits value;
	u32 qpn;
	u16 priority;
	u8 type;
	u8 flags;
	bool ended;
};

struct ornic_flow_bucket {
	struct ornic_flow __rcu *first;
};

/**
 * struct ornic_flows - the rules of a device
 * @lock: serialises all changes
 * @count: rules that have not ended
 * @ncopies: of them ORNIC_FLOW_COPY; a peek is allowed
 * @nothers: of them not NORMAL
 * @nmasks: of @masks
 * @masks: those with the most bits first
 * @others: rules that are not NORMAL
 * @bucket: ORNIC_FLOW_BUCKETS for all NORMAL rules; NULL until the first. Kept
 *	then until the device goes
 * @numbers: numbers of rules
 */
struct ornic_flows {
	ornic_lock_t lock;
	u32 count;
	u32 ncopies;
	u32 nothers;
	u32 nmasks;
	struct ornic_flow_mask __rcu *masks;
	struct ornic_flow __rcu *others;
	struct ornic_flow_bucket __rcu *bucket;
	struct ornic_table numbers;
};

/**
 * struct ornic_flow_hits - what the rules say of a frame
 * @key: of the frame
 * @n: QPs in @qpn, which has none twice
 * @taken: the host does not get it
 * @named: taken by a rule that names its destination address in full
 * @qpn: QPs that get it
 */
struct ornic_flow_hits {
	union ornic_flow_bits key;
	u32 n;
	bool taken;
	bool named;
	u32 qpn[ORNIC_FLOW_HITS];
};

/**
 * ornic_flow_parse - what rules match of a frame
 * @key: out
 * @head: its first bytes, min(length, ORNIC_FLOW_HEAD) at least; untrusted
 * @len: how many there are
 *
 * Pure. A layer whose header is cut off or invalid is none.
 */
void ornic_flow_parse(struct ornic_flow_key *key, const u8 *head, u32 len);

/* Rules of a new device. Return: 0 or -ENOMEM; ornic_flows_fini() in any case. */
int ornic_flows_init(struct ornic_flows *flows);
void ornic_flows_fini(struct ornic_flows *flows);

/**
 * ornic_flow_find - look up a frame
 * @dev: the device
 * @for_host: the host would take it
 * @hits: with the key of the frame; out: the rest
 *
 * Context: inside an RCU section. The QPs have to be looked up.
 */
void ornic_flow_find(struct ornic_dev *dev, bool for_host,
		     struct ornic_flow_hits *hits);

/*
 * CREATE_FLOW and DESTROY_FLOW. May sleep. A frame that is being delivered may
 * still get to the QP of a rule that was destroyed. Return: enum ornic_status.
 */
int ornic_flow_create(struct ornic_dev *dev, const struct ornic_flow_rule *rule,
		      u32 *number);
int ornic_flow_destroy(struct ornic_dev *dev, u32 number);

/*
 * The rules that there are, also those that are being destroyed, take nothing any
 * more, and remain to be destroyed. Not with flows.lock.
 */
void ornic_flow_end_all(struct ornic_dev *dev);

/* DESTROY_QP: false if @qp has rules; after true it gets none any more. */
bool ornic_flow_close_qp(struct ornic_dev *dev, struct ornic_qp *qp);

#endif /* ORNIC_ENGINE_FLOW_H */
