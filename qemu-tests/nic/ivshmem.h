/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The server of QEMU's ivshmem-doorbell: what its clients are told, see
 * docs/specs/ivshmem-spec.txt of QEMU. Each guest has a server of its own, so
 * it sees itself and the device and nobody else.
 */
#ifndef ORNIC_NIC_IVSHMEM_H
#define ORNIC_NIC_IVSHMEM_H

#include "shared_state.h"

namespace nic
{

/** Make the memory and the eventfds of @g; die when they cannot be made. */
void make_bar(guest_state &g);

/** Tell the QEMU at @sock all that it has to know. False: it does not listen. */
bool send_setup(const guest_state &g, int sock);

} // namespace nic

#endif // ORNIC_NIC_IVSHMEM_H
