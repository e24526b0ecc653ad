/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* The RAM of a guest: its file, and guest physical addresses in it. */
#ifndef ORNIC_NIC_MEMORY_H
#define ORNIC_NIC_MEMORY_H

#include "base.h"

namespace nic
{

/** Where QEMU puts RAM: below lowmem as it is, the rest from 4 GiB on. */
enum class machine {
	pc,
	q35,
};

/** Bytes of RAM below 4 GiB of a guest with @size bytes of it. */
u64 lowmem_of(machine type, u64 size);

/** The RAM of a guest, mapped. Every access is checked here. */
class guest_memory {
public:
	guest_memory() = default;
	guest_memory(const guest_memory &) = delete;
	guest_memory &operator=(const guest_memory &) = delete;
	~guest_memory();

	/** Map @size bytes of @fd in the place of what was mapped before. */
	bool map(int fd, u64 size, machine type);
	void unmap();
	bool mapped() const
	{
		return base_;
	}

	/** Memory at the guest's physical address @addr, @len bytes without a
	 *  gap; NULL if that is not RAM, all of it. */
	void *at(u64 addr, u64 len) const;

private:
	u8 *base_ = nullptr;
	u64 size_ = 0;
	u64 lowmem_ = 0;
};

} // namespace nic

#endif // ORNIC_NIC_MEMORY_H
