// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* The hash of an RSS QP, as verbs have it -> struct ornic_rss. Pure. */
#include "ornic_rss.h"

#define IPV4 (ORNIC_RSS_SRC_IPV4 | ORNIC_RSS_DST_IPV4)
#define IPV6 (ORNIC_RSS_SRC_IPV6 | ORNIC_RSS_DST_IPV6)
#define TCP (ORNIC_RSS_SRC_PORT_TCP | ORNIC_RSS_DST_PORT_TCP)
#define UDP (ORNIC_RSS_SRC_PORT_UDP | ORNIC_RSS_DST_PORT_UDP)

/* ibv_create_qp_ex(3): one protocol of each layer. The device has no such limit. */
static bool excludes_itself(u64 fields)
{
	return (fields & IPV4 && fields & IPV6) ||
	       (fields & TCP && fields & UDP);
}

int ornic_rss_fill(struct ornic_rss *rss,
		   const struct ornic_create_rss_qp_req *req, u32 log_size)
{
	if (req->hash_function != ORNIC_RX_HASH_TOEPLITZ ||
	    req->fields & ~(u64)ORNIC_RSS_FIELDS)
		return -EOPNOTSUPP;
	if (req->key_len != sizeof(rss->key) || req->reserved_30 ||
	    log_size > ORNIC_RSS_MAX_LOG_SIZE || excludes_itself(req->fields) ||
	    (log_size && !req->fields))
		return -EINVAL;
	memcpy(rss->key, req->key, sizeof(rss->key));
	rss->fields = cpu_to_le32((u32)req->fields);
	rss->log_size = (u8)log_size;
	return 0;
}

ORNIC_FOR_KUNIT(ornic_rss_fill);
