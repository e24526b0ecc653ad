// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
// The parent of an RDMA device, by sysfs.

#include "match.h"

#include <climits>
#include <cstdio>
#include <cstring>
#include <dirent.h>
#include <fcntl.h>
#include <unistd.h>

namespace ornic
{
namespace
{

/* Set @path to @name in the folder @dir. Return: whether there is room for it. */
[[nodiscard]] bool join(char (&path)[PATH_MAX], const char *dir,
			const char *name) noexcept
{
	int len = std::snprintf(path, sizeof(path), "%s/%s", dir, name);

	return len >= 0 && len < static_cast<int>(sizeof(path));
}

/* A soft device, by the modalias of its parent, which has no driver. */
[[nodiscard]] bool is_soft(const char *ibdev_path) noexcept
{
	char path[PATH_MAX], modalias[32] = {};

	if (!join(path, ibdev_path, "device/modalias"))
		return false;

	int fd = open(path, O_RDONLY | O_CLOEXEC);

	if (fd < 0)
		return false;

	ssize_t bytes = read(fd, modalias, sizeof(modalias) - 1);

	close(fd);
	return bytes > 0 && !std::strncmp(modalias, soft_modalias,
					  std::strlen(soft_modalias));
}

} // namespace

bool parent_has_driver(const char *ibdev_path, const char *driver) noexcept
{
	char link[PATH_MAX], target[PATH_MAX];

	if (!join(link, ibdev_path, "device/driver"))
		return false;

	ssize_t bytes = readlink(link, target, sizeof(target) - 1);

	if (bytes < 0)
		return false;
	target[bytes] = '\0';

	const char *slash = std::strrchr(target, '/');

	return std::strcmp(slash ? slash + 1 : target, driver) == 0;
}

bool has_device(const char *devices) noexcept
{
	bool found = false;
	DIR *dir = opendir(devices);

	if (!dir)
		return false;
	while (const dirent *entry = found ? nullptr : readdir(dir)) {
		char path[PATH_MAX];

		found = entry->d_name[0] != '.' &&
			join(path, devices, entry->d_name) &&
			(is_soft(path) || parent_has_driver(path, pci_driver));
	}
	closedir(dir);
	return found;
}

} // namespace ornic
