/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Receive side scaling: a raw packet QP without queues passes its frames on to
 * others, by a hash of what flows differ in.
 */
#ifndef ORNIC_ENGINE_RSS_H
#define ORNIC_ENGINE_RSS_H

#include "qp.h"

/* A QP that gets frames: its number, and what tells it from a later one of that number. */
struct ornic_rss_entry {
	u64 id;
	u32 qpn;
};

/**
 * struct ornic_rss_table - the device's copy of a struct ornic_rss
 * @key: of the hash
 * @fields: enum ornic_rss_field
 * @mask: entries of @entry, less one
 * @entry: who gets frames
 */
struct ornic_rss_table {
	u8 key[ORNIC_RSS_KEY_LEN];
	u32 fields;
	u32 mask;
	struct ornic_rss_entry entry[1 << ORNIC_RSS_MAX_LOG_SIZE];
};

/**
 * ornic_toeplitz - the hash of Toeplitz, as of NDIS
 * @key: at least 4 bytes longer than @data
 * @data: what is hashed
 * @len: bytes
 *
 * Return: the hash.
 */
u32 ornic_toeplitz(const u8 *key, const u8 *data, u32 len);

/* The hash of a frame; 0 if it has no field that counts. Pure. */
u32 ornic_rss_hash(const struct ornic_rss_table *rss,
		   const struct ornic_flow_key *frame);

/* SET_RSS. May sleep. Return: enum ornic_status. */
int ornic_rss_set(struct ornic_dev *dev, const struct ornic_req_set_rss *req);

/* Who receives a frame that is given to @qp, which has a table; NULL: gone. RCU section. */
struct ornic_qp *ornic_rss_pick(struct ornic_qp *qp,
				const union ornic_flow_bits *frame);

#endif /* ORNIC_ENGINE_RSS_H */
