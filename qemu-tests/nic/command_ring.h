/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* The command and response rings of a guest. */
#ifndef ORNIC_NIC_COMMAND_RING_H
#define ORNIC_NIC_COMMAND_RING_H

#include "base.h"
#include "memory.h"

namespace nic
{

class command_ring {
public:
	/** On a reset: unmap the rings. */
	void reset();

	/** Read the producer from @regs, and map the rings when it is first
	 *  set. False: invalid rings or producer. */
	bool poll(const guest_memory &memory, const ornic_pci_host_regs *regs);

	/** Copy the next request. False: none is left. */
	bool next(union ornic_req &req);
	void respond(union ornic_rsp rsp);
	/** Requests without a response yet. */
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
