/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#ifndef ORNIC_PORT_H
#define ORNIC_PORT_H

#include <rdma/ib_verbs.h>

struct ornic_ib_dev;

int ornic_port_start(struct ornic_ib_dev *dev);
void ornic_port_stop(struct ornic_ib_dev *dev);

int ornic_ib_query_port(struct ib_device *ibdev, u32 port,
			struct ib_port_attr *attr);
int ornic_ib_get_port_immutable(struct ib_device *ibdev, u32 port,
				struct ib_port_immutable *immutable);
enum rdma_link_layer ornic_ib_get_link_layer(struct ib_device *ibdev, u32 port);
int ornic_ib_query_pkey(struct ib_device *ibdev, u32 port, u16 index,
			u16 *pkey);

#endif /* ORNIC_PORT_H */
