/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Work queues for receives, over which RSS QPs spread frames. */
#ifndef ORNIC_RWQ_H
#define ORNIC_RWQ_H

#include <type_traits>

#include "pabi.h"
#include "qp.h"

namespace ornic
{

/** To device and pollers a QP without a send queue, and with the same number. */
struct work_queue {
	ibv_wq base;
	queue_pair qp;
};

static_assert(std::is_standard_layout_v<work_queue>);

[[nodiscard]] inline work_queue &to_wq(ibv_wq *wq) noexcept
{
	return *reinterpret_cast<work_queue *>(wq);
}

} // namespace ornic

#endif // ORNIC_RWQ_H
