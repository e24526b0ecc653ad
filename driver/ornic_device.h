/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#ifndef ORNIC_DEVICE_H
#define ORNIC_DEVICE_H

#include <rdma/ib_verbs.h>

int ornic_ib_query_device(struct ib_device *ibdev, struct ib_device_attr *attr,
			  struct ib_udata *udata);
void ornic_ib_get_dev_fw_str(struct ib_device *ibdev, char *str);

#endif /* ORNIC_DEVICE_H */
