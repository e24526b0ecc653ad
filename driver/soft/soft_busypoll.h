/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#ifndef ORNIC_SOFT_BUSYPOLL_H
#define ORNIC_SOFT_BUSYPOLL_H

struct ornic_soft_busypoll;
struct ornic_soft_qp;

/*
 * ornic_soft_busypoll_init() - no QP is polled yet.
 * ornic_soft_busypoll_stop() - remove all QPs, for good, while the engine still
 * exists. Sleeps.
 * ornic_soft_busypoll_kicked() - @qp was kicked and has been run. In process
 * context, in the RCU section in which @qp was looked up.
 * ornic_soft_busypoll_module_init() - prepare for devices.
 * ornic_soft_busypoll_module_exit() - all devices are gone.
 */
void ornic_soft_busypoll_init(struct ornic_soft_busypoll *busypoll);
void ornic_soft_busypoll_stop(struct ornic_soft_busypoll *busypoll);
void ornic_soft_busypoll_kicked(struct ornic_soft_qp *qp);
int ornic_soft_busypoll_module_init(void);
void ornic_soft_busypoll_module_exit(void);

#endif /* ORNIC_SOFT_BUSYPOLL_H */
