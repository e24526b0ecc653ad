// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* Without it: comp_cntr */
#include <rdma/ib_verbs.h>

static int read(struct ib_comp_cntr *cc, enum ib_comp_cntr_entry entry,
		u64 *value);

static const struct ib_device_ops ops = { .read_comp_cntr = read };
