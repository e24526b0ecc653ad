// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#include "memory.h"

#include <algorithm>
#include <cerrno>
#include <fcntl.h>
#include <sys/mman.h>

namespace nic
{

namespace
{

constexpr u64 gib = 1ull << 30;
constexpr u64 high_base = 4 * gib;

} // namespace

guest_memory *guest_memory::first_;

const char *machine_name(machine type)
{
	return type == machine::pc   ? "pc" :
	       type == machine::q35  ? "q35" :
	       type == machine::virt ? "virt" :
				       "any";
}

ram_layout layout_of(machine type, u64 size)
{
	u64 low = size;

	if (type == machine::virt)
		return { type, gib, size, 0 };
	if (type == machine::q35 && size >= 0xb0000000)
		low = 2 * gib;
	else if (type == machine::pc && size >= 0xe0000000)
		low = 3 * gib;
	return { type, 0, low, size - low };
}

guest_memory::~guest_memory()
{
	unmap();
}

bool guest_memory::map_file()
{
	void *p = mmap(nullptr, size_, PROT_READ | PROT_WRITE, MAP_SHARED,
		       fd_.get(), 0);

	if (p == MAP_FAILED)
		return false;
	// Keep the RAM out of core dumps.
	madvise(p, size_, MADV_DONTDUMP);
	base_ = static_cast<u8 *>(p);
	lost_ = 0;
	next_ = first_;
	first_ = this;
	return true;
}

bool guest_memory::map(int fd, u64 size)
{
	unmap();
	fd_.reset(fcntl(fd, F_DUPFD_CLOEXEC, 0));
	size_ = size;
	return fd_ && map_file();
}

void guest_memory::unmap()
{
	guest_memory **p = &first_;

	forget_layout();
	if (!base_)
		return;
	while (*p != this)
		p = &(*p)->next_;
	*p = next_;
	munmap(base_, size_);
	base_ = nullptr;
}

void guest_memory::forget()
{
	unmap();
	fd_.reset();
}

bool guest_memory::renew()
{
	unmap();
	return map_file();
}

bool guest_memory::has(const ram_layout &layout, const ram_nonce &nonce) const
{
	const void *p = at(layout, nonce.addr, sizeof(nonce.words));

	return p && !memcmp(p, nonce.words, sizeof(nonce.words));
}

bool guest_memory::locate(machine type, const ram_nonce &nonce)
{
	bool found = false;

	forget_layout();
	for (machine m : { machine::pc, machine::q35, machine::virt }) {
		ram_layout layout = layout_of(m, size_);

		if ((type != machine::any && type != m) || !has(layout, nonce))
			continue;
		// Above 4 GiB pc has the same; guests of virt put the nonce below.
		if (found && m == machine::virt)
			break;
		if (found) {
			layout.type = machine::any;
			if (layout.low != layout_.low)
				layout.high = 0;
			layout.low = std::min(layout.low, layout_.low);
		}
		layout_ = layout;
		found = true;
	}
	return found;
}

u8 *guest_memory::at(const ram_layout &layout, u64 addr, u64 len) const
{
	u64 off = addr - layout.start;

	if (addr >= layout.start && off < layout.low)
		return len <= layout.low - off ? base_ + off : nullptr;
	if (addr < high_base)
		return nullptr;
	addr = addr - high_base;
	if (addr >= layout.high || len > layout.high - addr)
		return nullptr;
	return base_ + layout.low + addr;
}

// ---- SIGBUS ---------------------------------------------------------------------------

// Only accesses to RAM fault, and none happens while the list is modified: so the list
// is consistent here. The access continues with zeros.
void guest_memory::on_fault(int signal, siginfo_t *info, void *)
{
	const u8 *at = static_cast<const u8 *>(info->si_addr);
	int saved = errno;
	guest_memory *m = info->si_code > 0 ? first_ : nullptr;

	while (m && (at < m->base_ || at >= m->base_ + m->size_))
		m = m->next_;
	if (m && mmap(m->base_, m->size_, PROT_READ | PROT_WRITE,
		      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED,
		      -1, 0) != MAP_FAILED) {
		m->lost_ = 1;
		errno = saved;
		return;
	}
	// Not RAM: repeat the access or the signal, with the default action.
	::signal(signal, SIG_DFL);
	if (info->si_code <= 0)
		raise(signal);
}

void guest_memory::catch_faults()
{
	struct sigaction action {};

	action.sa_sigaction = on_fault;
	action.sa_flags = SA_SIGINFO;
	sigaction(SIGBUS, &action, nullptr);
}

} // namespace nic
