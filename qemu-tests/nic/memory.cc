// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#include "memory.h"

#include <sys/mman.h>

namespace nic
{

namespace
{

constexpr u64 gib = 1ull << 30;
constexpr u64 high_base = 4 * gib;

} // namespace

u64 lowmem_of(machine type, u64 size)
{
	if (type == machine::q35)
		return size >= 0xb0000000 ? 0x80000000 : size;
	return size >= 0xe0000000 ? 0xc0000000 : size;
}

guest_memory::~guest_memory()
{
	unmap();
}

bool guest_memory::map(int fd, u64 size, machine type)
{
	void *p;

	unmap();
	p = mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (p == MAP_FAILED)
		return false;
	// A core of the worker is of no use with the guest's RAM in it.
	madvise(p, size, MADV_DONTDUMP);
	base_ = static_cast<u8 *>(p);
	size_ = size;
	lowmem_ = lowmem_of(type, size);
	return true;
}

void guest_memory::unmap()
{
	if (base_)
		munmap(base_, size_);
	base_ = nullptr;
	size_ = 0;
	lowmem_ = 0;
}

void *guest_memory::at(u64 addr, u64 len) const
{
	if (addr < lowmem_)
		return len <= lowmem_ - addr ? base_ + addr : nullptr;
	if (addr < high_base)
		return nullptr;
	addr = addr - high_base;
	if (addr >= size_ - lowmem_ || len > size_ - lowmem_ - addr)
		return nullptr;
	return base_ + lowmem_ + addr;
}

} // namespace nic
