/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#ifndef ORNIC_RSS_H
#define ORNIC_RSS_H

#include <rdma/ornic-abi.h>
#include <rdma/ornic-hw.h>

#include "ornic_pure.h"

/* Values of enum ibv_rx_hash_function_flags. */
#define ORNIC_RX_HASH_TOEPLITZ 1u

/**
 * ornic_rss_fill - how frames are spread, as create_qp has it
 * @rss: out; zero at first. Its QPNs are left to the caller
 * @req: from the user
 * @log_size: log2 of the entries of the table
 *
 * Return: 0; -EOPNOTSUPP for another function or field; -EINVAL for a key of another
 * length, fields that exclude each other, more than one entry without a field, or
 * reserved bits that are not zero.
 */
int ornic_rss_fill(struct ornic_rss *rss,
		   const struct ornic_create_rss_qp_req *req, u32 log_size);

#endif /* ORNIC_RSS_H */
