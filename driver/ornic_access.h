/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#ifndef ORNIC_ACCESS_H
#define ORNIC_ACCESS_H

#include "ornic_pure.h"

int ornic_mr_access(u32 flags, u8 *access);
int ornic_qp_access(u32 flags, u8 *access);
u32 ornic_access_flags(u8 access);

#endif /* ORNIC_ACCESS_H */
