/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* The RAM of a guest: its file, and guest physical addresses in it. */
#ifndef ORNIC_NIC_MEMORY_H
#define ORNIC_NIC_MEMORY_H

#include <csignal>

#include "base.h"

namespace nic
{

/** Where QEMU puts RAM: below lowmem as it is, the rest from 4 GiB on. */
enum class machine {
	any, // whichever the guest's nonce is found with
	pc,
	q35,
};

const char *machine_name(machine type);

/** Bytes of RAM below 4 GiB of a guest with @size bytes of it. */
u64 lowmem_of(machine type, u64 size);

/** Where the bytes of RAM are: @low from address 0 on, @high from 4 GiB on. */
struct ram_layout {
	machine type = machine::any;
	u64 low = 0;
	u64 high = 0; // in the file they follow the others
};

/** What the guest wrote to a page, to show where its RAM is. */
struct ram_nonce {
	u64 addr;
	__le32 words[4];
};

/**
 * The RAM of a guest, mapped. Every access is checked here. No address is good
 * before locate() has found the layout.
 *
 * Memory that the file does not have (it was truncated, or its file system is full)
 * raises SIGBUS. catch_faults() makes that the end of this RAM and of nothing else:
 * zeros take its place, and lost() says so.
 */
class guest_memory {
public:
	guest_memory() = default;
	guest_memory(const guest_memory &) = delete;
	guest_memory &operator=(const guest_memory &) = delete;
	~guest_memory();

	/** Map @size bytes of @fd in the place of what was mapped before. */
	bool map(int fd, u64 size);
	/** Unmap it and close the file, whose pages are free when all have. */
	void forget();
	bool mapped() const
	{
		return base_;
	}
	/** A fault has put zeros in its place. */
	bool lost() const
	{
		return lost_;
	}
	/** Map the file again, after a fault. */
	bool renew();

	/**
	 * Look for @nonce under the layout of @type. If two layouts have it, only
	 * what they agree upon can be reached. False: it is not there, and
	 * nothing can be reached.
	 */
	bool locate(machine type, const ram_nonce &nonce);
	/** Reach nothing until the next locate(). */
	void forget_layout()
	{
		layout_ = {};
	}
	machine layout() const
	{
		return layout_.type;
	}

	/** Memory at the guest's physical address @addr, @len bytes without a
	 *  gap; NULL if that is not RAM, all of it. */
	void *at(u64 addr, u64 len) const
	{
		return at(layout_, addr, len);
	}

	/** Handle SIGBUS of this process. */
	static void catch_faults();

private:
	static void on_fault(int signal, siginfo_t *info, void *context);
	bool map_file();
	void unmap();
	u8 *at(const ram_layout &layout, u64 addr, u64 len) const;
	bool has(const ram_layout &layout, const ram_nonce &nonce) const;

	unique_fd fd_;
	u8 *base_ = nullptr;
	u64 size_ = 0;
	ram_layout layout_;
	volatile sig_atomic_t lost_ = 0;
	// All that are mapped, for the handler of signals.
	guest_memory *next_ = nullptr;
	static guest_memory *first_;
};

} // namespace nic

#endif // ORNIC_NIC_MEMORY_H
