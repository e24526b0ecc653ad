// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
// The kernel driver of an RDMA device's parent, by sysfs.

#include "match.h"

#include <climits>
#include <cstdio>
#include <cstring>
#include <unistd.h>

namespace ornic
{

bool parent_has_driver(const char *ibdev_path, const char *driver) noexcept
{
	char link[PATH_MAX], target[PATH_MAX];
	int len = std::snprintf(link, sizeof(link), "%s/device/driver",
				ibdev_path);

	if (len < 0 || len >= static_cast<int>(sizeof(link)))
		return false;

	ssize_t bytes = readlink(link, target, sizeof(target) - 1);

	if (bytes < 0)
		return false;
	target[bytes] = '\0';

	const char *slash = std::strrchr(target, '/');

	return std::strcmp(slash ? slash + 1 : target, driver) == 0;
}

} // namespace ornic
