// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#include "command_ring.h"

namespace nic
{

namespace
{

constexpr u64 page_mask = (1u << ORNIC_PAGE_SHIFT) - 1;

} // namespace

void command_ring::reset()
{
	*this = {};
}

bool command_ring::map_rings(const guest_memory &memory,
			     const ornic_pci_host_regs *regs)
{
	u32 log_depth = le32_to_cpu(READ_ONCE(regs->cmd_log_depth));
	u64 requests = le64_to_cpu(READ_ONCE(regs->cmd_ring));
	u64 responses = le64_to_cpu(READ_ONCE(regs->rsp_ring));
	u64 size;

	if (log_depth > ORNIC_PCI_MAX_LOG_CMDS ||
	    ((requests | responses) & page_mask))
		return false;
	size = sizeof(union ornic_req) << log_depth;
	requests_ =
		static_cast<const union ornic_req *>(memory.at(requests, size));
	responses_ = static_cast<union ornic_rsp *>(memory.at(responses, size));
	depth_ = 1u << log_depth;
	return requests_ && responses_;
}

bool command_ring::poll(const guest_memory &memory,
			const ornic_pci_host_regs *regs)
{
	u32 producer = le32_to_cpu(smp_load_acquire(&regs->cmd_producer));

	if (!depth_ && !producer)
		return true;
	if (!depth_ && !map_rings(memory, regs))
		return false;
	producer_ = producer;
	return producer_ - done_ <= depth_;
}

bool command_ring::next(union ornic_req &req)
{
	if (!depth_ || done_ == producer_)
		return false;
	memcpy(&req, &requests_[done_ & (depth_ - 1)], sizeof(req));
	// The compiler must not read the guest's memory again.
	__asm__ __volatile__("" ::: "memory");
	return true;
}

void command_ring::respond(union ornic_rsp rsp)
{
	union ornic_rsp *to = &responses_[done_ & (depth_ - 1)];
	u32 first;

	if (!(done_ & depth_))
		rsp.hdr.status |= ORNIC_PCI_RSP_PHASE;
	memcpy(&first, &rsp, sizeof(first));
	memcpy(to->bytes + 4, rsp.bytes + 4, sizeof(rsp) - 4);
	smp_store_release(reinterpret_cast<u32 *>(to), first);
	done_++;
}

} // namespace nic
