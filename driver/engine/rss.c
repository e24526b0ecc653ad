// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Receive side scaling of raw packet QPs, see rss.h.
 *
 * Invariant: a table does not change once its QP has it, until the QP is freed.
 */
#include "rss.h"

#include "proto.h"

/* Addresses and ports of both sides. */
#define MAX_DATA 36

u32 ornic_toeplitz(const u8 *key, const u8 *data, u32 len)
{
	u32 hash = 0, i, bit;
	u64 window = 0;

	for (i = 0; i < 4; i++)
		window = window << 8 | key[i];
	for (i = 0; i < len; i++) {
		window = window << 8 | key[i + 4];
		/* Without a branch for each bit: senders choose them. */
		for (bit = 0; bit < 8; bit++)
			hash ^= (u32)(window >> (8 - bit)) &
				(0u - (data[i] >> (7 - bit) & 1u));
	}
	return hash;
}

/* The fields that count of the layers that a frame has; the order is NDIS's. */
static u32 gather_fields(u32 fields, const struct ornic_flow_key *frame,
			 u8 *data)
{
	bool ipv4 = frame->layers & ORNIC_FLOW_IPV4;
	bool ipv6 = frame->layers & ORNIC_FLOW_IPV6;
	/* Later fragments have no ports, and all of a datagram go the same way. */
	u8 l4 = frame->ipv4_flags & ORNIC_FLOW_MORE_FRAGMENTS ? 0 :
								frame->layers;
	u32 ip_len = ipv6 ? 16 : 4, n = 0;
	u32 src_ip = 0, dst_ip = 0, src_port = 0, dst_port = 0;

	if (ipv4 || ipv6) {
		src_ip = ipv6 ? ORNIC_RSS_SRC_IPV6 : ORNIC_RSS_SRC_IPV4;
		dst_ip = ipv6 ? ORNIC_RSS_DST_IPV6 : ORNIC_RSS_DST_IPV4;
	}
	if (l4 & ORNIC_FLOW_TCP) {
		src_port = ORNIC_RSS_SRC_PORT_TCP;
		dst_port = ORNIC_RSS_DST_PORT_TCP;
	} else if (l4 & ORNIC_FLOW_UDP) {
		src_port = ORNIC_RSS_SRC_PORT_UDP;
		dst_port = ORNIC_RSS_DST_PORT_UDP;
	}
	if (fields & src_ip) {
		memcpy(data + n, frame->src_ip, ip_len);
		n += ip_len;
	}
	if (fields & dst_ip) {
		memcpy(data + n, frame->dst_ip, ip_len);
		n += ip_len;
	}
	if (fields & src_port) {
		memcpy(data + n, &frame->src_port, sizeof(frame->src_port));
		n += sizeof(frame->src_port);
	}
	if (fields & dst_port) {
		memcpy(data + n, &frame->dst_port, sizeof(frame->dst_port));
		n += sizeof(frame->dst_port);
	}
	return n;
}

u32 ornic_rss_hash(const struct ornic_rss_table *rss,
		   const struct ornic_flow_key *frame)
{
	u8 data[MAX_DATA];
	u32 len = gather_fields(rss->fields, frame, data);

	return ornic_toeplitz(rss->key, data, len);
}

struct ornic_qp *ornic_rss_pick(struct ornic_qp *qp,
				const union ornic_flow_bits *frame)
{
	const struct ornic_rss_table *rss = ornic_rcu_dereference(qp->rss);
	const struct ornic_rss_entry *entry;

	entry = &rss->entry[ornic_rss_hash(rss, &frame->key) & rss->mask];
	qp = ornic_qp_lookup(qp->dev, entry->qpn);
	return qp && qp->id == entry->id ? qp : NULL;
}

/* ---- SET_RSS ----------------------------------------------------------------- */

/*
 * Work queues alone: a QP that sends would get its own frames. What does not change
 * until a QP is freed.
 */
static bool find_receiver(struct ornic_dev *dev, u32 qpn,
			  struct ornic_rss_entry *entry)
{
	struct ornic_qp *qp;
	bool found;

	ornic_rcu_read_lock();
	qp = ornic_qp_lookup(dev, qpn);
	found = qp && qp->type == ORNIC_QPT_RAW && !qp->sq.depth &&
		(qp->rq.depth || qp->rq.srq);
	if (found) {
		entry->qpn = qpn;
		entry->id = qp->id;
	}
	ornic_rcu_read_unlock();
	return found;
}

static int read_table(struct ornic_dev *dev, u64 addr,
		      struct ornic_rss_table *rss)
{
	struct ornic_rss own;
	const void *from;
	u32 i;

	from = dev->ops->dma(dev->host, addr, sizeof(own));
	if (!from)
		return ORNIC_BAD_ADDR;
	ornic_copy_once(own, from);
	rss->fields = le32_to_cpu(own.fields);
	if (rss->fields & ~ORNIC_RSS_FIELDS ||
	    own.log_size > ORNIC_RSS_MAX_LOG_SIZE ||
	    (own.log_size && !rss->fields))
		return ORNIC_BAD_PARAM;
	memcpy(rss->key, own.key, sizeof(rss->key));
	rss->mask = (1u << own.log_size) - 1;
	for (i = 0; i <= rss->mask; i++) {
		if (!find_receiver(dev, le32_to_cpu(own.qpn[i]),
				   &rss->entry[i]))
			return ORNIC_BAD_PARAM;
	}
	return ORNIC_OK;
}

/* Under flows.lock, in an RCU section. */
static int publish_table(struct ornic_dev *dev, u32 qpn,
			 struct ornic_rss_table *rss)
{
	struct ornic_qp *qp = ornic_qp_lookup(dev, qpn);

	if (!qp)
		return ORNIC_NOT_FOUND;
	if (qp->type != ORNIC_QPT_RAW || qp->rq.cq)
		return ORNIC_BAD_PARAM;
	if (ornic_rcu_locked(qp->rss))
		return ORNIC_BUSY;
	ornic_rcu_assign(qp->rss, rss);
	return ORNIC_OK;
}

int ornic_rss_set(struct ornic_dev *dev, const struct ornic_req_set_rss *req)
{
	struct ornic_rss_table *rss;
	int status;

	if (!dev->ops->tx_drop)
		return ORNIC_BAD_OPCODE;
	rss = ornic_vzalloc(sizeof(*rss));
	if (!rss)
		return ORNIC_NO_RESOURCE;
	status = read_table(dev, le64_to_cpu(req->rss), rss);
	if (status == ORNIC_OK) {
		ornic_rcu_read_lock();
		ornic_lock(&dev->flows.lock);
		status = publish_table(dev, le32_to_cpu(req->hdr.obj), rss);
		ornic_unlock(&dev->flows.lock);
		ornic_rcu_read_unlock();
	}
	if (status != ORNIC_OK)
		ornic_vfree(rss);
	return status;
}
