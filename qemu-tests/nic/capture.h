/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* All frames in a file, in pcapng, for tshark and the like. */
#ifndef ORNIC_NIC_CAPTURE_H
#define ORNIC_NIC_CAPTURE_H

#include "base.h"

namespace nic
{

/** Make the file with its head; an empty fd when it cannot be made. */
unique_fd create_capture(const char *path);

/** Append a frame, in one write, so that workers may come and go. */
void capture_frame(int fd, bytes frame);

} // namespace nic

#endif // ORNIC_NIC_CAPTURE_H
