/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The server of QEMU's ivshmem-doorbell, see docs/specs/ivshmem-spec.txt of
 * QEMU. Each guest has its own server, so its only peer is the device.
 */
#ifndef ORNIC_NIC_IVSHMEM_H
#define ORNIC_NIC_IVSHMEM_H

#include "shared_state.h"

namespace nic
{

/** Create the memory and the eventfds of @g; die on failure. */
void make_bar(guest_state &g);

/** Send all ids and file descriptors to the QEMU at @sock. False: failed. */
bool send_setup(const guest_state &g, int sock);

} // namespace nic

#endif // ORNIC_NIC_IVSHMEM_H
