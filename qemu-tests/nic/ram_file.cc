// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#include "ram_file.h"

#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <sys/stat.h>

#include "options.h"

namespace nic
{

namespace
{

// True if all users may make files beside @path, or if that cannot be found out.
bool in_shared_folder(const std::string &path)
{
	std::size_t slash = path.rfind('/');
	std::string folder =
		slash == std::string::npos ? "." : path.substr(0, slash + 1);
	struct stat st;

	return stat(folder.c_str(), &st) || st.st_mode & S_IWOTH;
}

bool is_trusted(const struct stat &st, gid_t group)
{
	return !st.st_uid || st.st_uid == geteuid() ||
	       (group != static_cast<gid_t>(-1) && st.st_gid == group);
}

} // namespace

std::string open_ram_file(const guest_config &config, gid_t group,
			  unique_fd &fd)
{
	bool shared = in_shared_folder(config.ram);
	struct stat st;

	fd.reset(open(config.ram.c_str(),
		      O_RDWR | O_CLOEXEC | (shared ? O_NOFOLLOW : 0)));
	if (!fd || fstat(fd.get(), &st))
		return config.ram +
		       ": cannot open guest RAM: " + strerror(errno);
	if (shared && !is_trusted(st, group))
		return config.ram + ": belongs to user " +
		       std::to_string(st.st_uid) +
		       ", and all users may write to its folder";
	if (!S_ISREG(st.st_mode))
		return config.ram + ": guest RAM must be a regular file";
	if (static_cast<u64>(st.st_size) != config.size)
		return config.ram + ": has " + std::to_string(st.st_size) +
		       " bytes, expected " + std::to_string(config.size);
	return "";
}

} // namespace nic
