/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Shared receive queues of a context. */
#ifndef ORNIC_SRQ_H
#define ORNIC_SRQ_H

#include <atomic>
#include <type_traits>

#include "pabi.h"
#include "resource.h"
#include "tags.h"
#include "work_queue.h"

namespace ornic
{

struct shared_receive_queue {
	pabi_srq base;
	shared_queue queue;
	mapping memory;
	std::uint32_t number;
	std::uint32_t log_stride;
	std::uint16_t max_sge;
	ibv_pd *pd;
	queue_pair *tags; // what changes its tag list, or null
	tag_room room; // of that list
	std::atomic<std::uint32_t> takers; // QPs, if there is such a list
};

static_assert(std::is_standard_layout_v<shared_receive_queue>);

[[nodiscard]] inline shared_receive_queue &to_srq(ibv_srq *srq) noexcept
{
	return *reinterpret_cast<shared_receive_queue *>(srq);
}

} // namespace ornic

#endif // ORNIC_SRQ_H
