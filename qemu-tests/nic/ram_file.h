/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* The file that is a guest's RAM. */
#ifndef ORNIC_NIC_RAM_FILE_H
#define ORNIC_NIC_RAM_FILE_H

#include <string>

#include "base.h"

namespace nic
{

struct guest_config;

/**
 * Open the RAM of @config for reading and writing. Return: what is wrong with the
 * file, or "". In a folder that all users may write to, such as /dev/shm, anybody
 * may have made it: there it must not be a symbolic link, and must belong to root,
 * to the user of this process or to @group (-1: none).
 */
std::string open_ram_file(const guest_config &config, gid_t group,
			  unique_fd &fd);

} // namespace nic

#endif // ORNIC_NIC_RAM_FILE_H
