/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* What is needed of the kernel's <drm/drm.h>, which has a package of its own. */
#pragma once

#include <sys/ioctl.h>

#include <cstddef>
#include <cstdint>

struct drm_version {
	int major, minor, patch;
	size_t name_len;
	char *name;
	size_t date_len;
	char *date;
	size_t desc_len;
	char *desc;
};

struct drm_gem_close {
	uint32_t handle, pad;
};

struct drm_prime_handle {
	uint32_t handle, flags;
	int32_t fd;
};

struct drm_mode_create_dumb {
	uint32_t height, width, bpp, flags;
	uint32_t handle, pitch;
	uint64_t size;
};

struct drm_mode_map_dumb {
	uint32_t handle, pad;
	uint64_t offset;
};

struct drm_vgem_fence_attach {
	uint32_t handle, flags;
	uint32_t fence, pad;
};

constexpr unsigned long drm_ioctl_version = _IOWR('d', 0x00, drm_version);
constexpr unsigned long drm_ioctl_gem_close = _IOW('d', 0x09, drm_gem_close);
constexpr unsigned long drm_ioctl_prime_handle_to_fd =
	_IOWR('d', 0x2d, drm_prime_handle);
constexpr unsigned long drm_ioctl_prime_fd_to_handle =
	_IOWR('d', 0x2e, drm_prime_handle);
constexpr unsigned long drm_ioctl_vgem_fence_attach =
	_IOWR('d', 0x41, drm_vgem_fence_attach);
constexpr unsigned long drm_ioctl_mode_create_dumb =
	_IOWR('d', 0xb2, drm_mode_create_dumb);
constexpr unsigned long drm_ioctl_mode_map_dumb =
	_IOWR('d', 0xb3, drm_mode_map_dumb);

/* A request for a buffer of at least @size bytes, in rows of 4 KiB. */
inline drm_mode_create_dumb dumb_buffer(uint64_t size)
{
	constexpr uint32_t row = 4096;
	drm_mode_create_dumb create{};

	create.width = row;
	create.bpp = 8;
	create.height = static_cast<uint32_t>((size + row - 1) / row);
	return create;
}
