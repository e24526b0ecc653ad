/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#ifndef ORNIC_IMPORT_H
#define ORNIC_IMPORT_H

#include <rdma/uverbs_ioctl.h>

extern const struct uapi_definition ornic_import_defs[];

#endif /* ORNIC_IMPORT_H */
