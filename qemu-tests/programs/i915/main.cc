// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * A library to preload, which makes pyverbs take vgem for a GPU: dma-bufs of its tests
 * are those of DRM drivers by the name of i915 or amdgpu. What it does with the render
 * node of i915 (version, GEM_CREATE, MMAP_GTT) is done with the card of vgem, whose
 * buffers are dumb ones; all else is passed on.
 */
#include <fcntl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstdarg>
#include <cstring>

#include "../verify/drm.h"

namespace
{

struct i915_gem_create {
	uint64_t size;
	uint32_t handle, pad;
};

constexpr unsigned long i915_create = _IOWR('d', 0x40 + 0x1b, i915_gem_create);
/* Has the arguments of the dumb buffer's. */
constexpr unsigned long i915_mmap = _IOWR('d', 0x40 + 0x24, drm_mode_map_dumb);

int call(int fd, unsigned long number, void *argument)
{
	return static_cast<int>(syscall(SYS_ioctl, fd, number, argument));
}

int create(int fd, i915_gem_create &wanted)
{
	drm_mode_create_dumb dumb = dumb_buffer(wanted.size);

	if (call(fd, drm_ioctl_mode_create_dumb, &dumb))
		return -1;
	wanted.handle = dumb.handle;
	return 0;
}

/* The kernel has noted the length of the name, which has no zero. */
void rename(const drm_version &version)
{
	constexpr char from[] = "vgem", to[] = "i915";

	if (version.name && version.name_len == std::strlen(from) &&
	    !std::memcmp(version.name, from, std::strlen(from)))
		std::memcpy(version.name, to, std::strlen(to));
}

const char *card_of(const char *path)
{
	constexpr const char *prefix = "/dev/dri/render";

	if (std::strncmp(path, prefix, std::strlen(prefix)) != 0)
		return path;
	return access(path, F_OK) ? path : "/dev/dri/card0";
}

int open_card(const char *path, int flags, mode_t mode)
{
	return static_cast<int>(
		syscall(SYS_openat, AT_FDCWD, card_of(path), flags, mode));
}

} /* namespace */

extern "C" {

int ioctl(int fd, unsigned long number, ...) noexcept
{
	va_list list;

	va_start(list, number);
	void *argument = va_arg(list, void *);
	va_end(list);
	if (number == i915_create)
		return create(fd, *static_cast<i915_gem_create *>(argument));
	if (number == i915_mmap)
		number = drm_ioctl_mode_map_dumb;
	const int status = call(fd, number, argument);
	if (!status && number == drm_ioctl_version)
		rename(*static_cast<drm_version *>(argument));
	return status;
}

int open(const char *path, int flags, ...)
{
	va_list list;

	va_start(list, flags);
	const mode_t mode = __OPEN_NEEDS_MODE(flags) ? va_arg(list, mode_t) : 0;
	va_end(list);
	return open_card(path, flags, mode);
}

int open64(const char *path, int flags, ...)
{
	va_list list;

	va_start(list, flags);
	const mode_t mode = __OPEN_NEEDS_MODE(flags) ? va_arg(list, mode_t) : 0;
	va_end(list);
	return open_card(path, flags, mode);
}

} // extern "C"
