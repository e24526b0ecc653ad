/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#ifndef ORNIC_FLOW_SPEC_H
#define ORNIC_FLOW_SPEC_H

#include <rdma/ornic-hw.h>

#include "ornic_pure.h"

/* Values of enum ib_flow_spec_type. */
enum ornic_spec_type {
	ORNIC_SPEC_ETH = 0x20,
	ORNIC_SPEC_IPV4 = 0x30,
	ORNIC_SPEC_IPV6 = 0x31,
	ORNIC_SPEC_TCP = 0x40,
	ORNIC_SPEC_UDP = 0x41,
};

/**
 * ornic_flow_spec_add - add a specification of verbs to what a rule matches
 * @match: of the rule, zero at first
 * @type: enum ornic_spec_type
 * @value: struct ib_uverbs_flow_*_filter of this type
 * @mask: likewise
 *
 * A specification names its layer, even if its mask is zero.
 *
 * Return: 0; -EOPNOTSUPP for another type; -EINVAL if the rule has such a one.
 */
int ornic_flow_spec_add(struct ornic_flow_match *match, u32 type,
			const void *value, const void *mask);

#endif /* ORNIC_FLOW_SPEC_H */
