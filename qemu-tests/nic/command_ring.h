/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* The rings of commands and responses of a guest. */
#ifndef ORNIC_NIC_COMMAND_RING_H
#define ORNIC_NIC_COMMAND_RING_H

#include "base.h"
#include "memory.h"

namespace nic
{

class command_ring {
public:
	/** Forget the rings, as a reset does. */
	void reset();

	/** Look at the producer in @regs; the first time that there is one,
	 *  take the rings. False: they, or it, are nonsense. */
	bool poll(const guest_memory &memory, const ornic_pci_host_regs *regs);

	/** The next request, read once; false: none is left. */
	bool next(union ornic_req &req);
	void respond(union ornic_rsp rsp);
	/** Are there requests that have had no response? */
	bool waiting() const
	{
		return done_ != producer_;
	}

private:
	bool map_rings(const guest_memory &memory,
		       const ornic_pci_host_regs *regs);

	const ornic_req *requests_ = nullptr;
	ornic_rsp *responses_ = nullptr;
	u32 depth_ = 0;
	u32 producer_ = 0;
	u32 done_ = 0;
};

} // namespace nic

#endif // ORNIC_NIC_COMMAND_RING_H
