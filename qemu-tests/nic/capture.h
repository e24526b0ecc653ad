/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Writes all frames to a pcapng file, for tshark. */
#ifndef ORNIC_NIC_CAPTURE_H
#define ORNIC_NIC_CAPTURE_H

#include "base.h"

namespace nic
{

/** Create the file and write its header, with an interface for each port: one per
 *  guest, then the wire. Empty fd on failure. */
unique_fd create_capture(const char *path, u32 guests);

/** Append a frame that entered the switch from @port. One write per frame, so a
 *  new worker can continue. */
void capture_frame(int fd, u32 port, bytes frame);

} // namespace nic

#endif // ORNIC_NIC_CAPTURE_H
