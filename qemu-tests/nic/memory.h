/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* The RAM of a guest: translates guest physical addresses. */
#ifndef ORNIC_NIC_MEMORY_H
#define ORNIC_NIC_MEMORY_H

#include <csignal>

#include "base.h"

namespace nic
{

/**
 * Where QEMU puts RAM. pc and q35: below lowmem as it is, the rest from 4 GiB on;
 * virt (arm64): all of it from 1 GiB on.
 */
enum class machine {
	any, // detected by the nonce of the guest
	pc,
	q35,
	virt,
};

const char *machine_name(machine type);

/** Where the bytes of RAM are: @low from @start on, @high from 4 GiB on. */
struct ram_layout {
	machine type = machine::any;
	u64 start = 0;
	u64 low = 0;
	u64 high = 0; // follows low in the file
};

/** Of a guest with @size bytes. */
ram_layout layout_of(machine type, u64 size);

/** Written to a page by the guest, to detect the RAM layout. */
struct ram_nonce {
	u64 addr;
	__le32 words[4];
};

/**
 * The mapped RAM of a guest. Every access is checked here. No address is valid
 * before locate() has found the layout.
 *
 * Access to pages missing in the file (it was truncated, or its file system is full)
 * raises SIGBUS. The handler of catch_faults() replaces the RAM of this guest by
 * zeros and sets lost(); other guests are not affected.
 */
class guest_memory {
public:
	guest_memory() = default;
	guest_memory(const guest_memory &) = delete;
	guest_memory &operator=(const guest_memory &) = delete;
	~guest_memory();

	/** Map @size bytes of @fd, and unmap the previous RAM. */
	bool map(int fd, u64 size);
	/** Unmap it and close the file. */
	void forget();
	bool mapped() const
	{
		return base_;
	}
	/** Replaced by zeros after a fault. */
	bool lost() const
	{
		return lost_;
	}
	/** Map the file again, after a fault. */
	bool renew();

	/**
	 * Search @nonce in the layout of @type. If it is found in two layouts,
	 * only their common part is accessible. False: not found, and nothing
	 * is accessible.
	 */
	bool locate(machine type, const ram_nonce &nonce);
	/** Nothing is accessible until the next locate(). */
	void forget_layout()
	{
		layout_ = {};
	}
	machine layout() const
	{
		return layout_.type;
	}

	/** Memory at the guest's physical address @addr. NULL unless all @len
	 *  bytes are contiguous RAM. */
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
	// List of all mapped RAM, for the signal handler.
	guest_memory *next_ = nullptr;
	static guest_memory *first_;
};

} // namespace nic

#endif // ORNIC_NIC_MEMORY_H
