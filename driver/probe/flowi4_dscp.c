// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* Without it: flowi4_dscp */
#include <net/flow.h>
#include <net/inet_dscp.h>

static const struct flowi4 fl = { .flowi4_dscp = 0 };
