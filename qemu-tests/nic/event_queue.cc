// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#include "event_queue.h"

namespace nic
{

namespace
{

constexpr u32 min_log_depth = 4;
constexpr u32 max_log_depth = 16;

// The queues of a QP, whose page faults are events of their own.
constexpr u8 fault_queues = ORNIC_FAULT_RQ + 1;

u64 identity(u8 type, u8 queue, u32 obj)
{
	return (static_cast<u64>(queue) << 8 | type) << 32 | obj;
}

u64 identity(const ornic_eqe &eqe)
{
	u8 queue = eqe.type == ORNIC_EVENT_PAGE_FAULT ? eqe.vector : 0;

	return identity(eqe.type, queue, le32_to_cpu(eqe.obj));
}

int status_of(int err)
{
	return err == -ENOMEM ? ORNIC_NO_RESOURCE :
	       err == -EFAULT ? ORNIC_BAD_ADDR :
				ORNIC_BAD_PARAM;
}

} // namespace

int event_queue::open(ornic_engine *engine, const ornic_req_create_eq &req)
{
	u64 bytes = ORNIC_RING_OFFSET, run;
	int err;

	if (is_open())
		return ORNIC_BUSY;
	if (req.log_depth < min_log_depth || req.log_depth > max_log_depth)
		return ORNIC_BAD_PARAM;
	err = ornic_engine_pages_get(engine, &req.mem, &pages_);
	if (err)
		return status_of(err);
	bytes += static_cast<u64>(sizeof(ornic_eqe)) << req.log_depth;
	record_ = static_cast<ornic_eq_record *>(
		ornic_pages_at(&pages_, 0, &run));
	if (ornic_pages_bytes(&pages_) < bytes ||
	    reinterpret_cast<uintptr_t>(record_) % ORNIC_RING_OFFSET) {
		close();
		return ORNIC_BAD_PARAM;
	}
	depth_ = 1u << req.log_depth;
	return ORNIC_OK;
}

void event_queue::close()
{
	ornic_pages_put(&pages_);
	record_ = nullptr;
	producer_ = 0;
	kept_.clear();
	waiting_.clear();
}

// An invalid consumer index counts as a full queue.
bool event_queue::has_room() const
{
	return producer_ - le32_to_cpu(READ_ONCE(record_->consumer)) < depth_;
}

bool event_queue::write(const ornic_eqe &eqe)
{
	u32 slot = producer_ & (depth_ - 1);
	u64 run;
	auto *to = static_cast<ornic_eqe *>(ornic_pages_at(
		&pages_, ORNIC_RING_OFFSET + slot * sizeof(ornic_eqe), &run));
	ornic_eqe copy = eqe;
	u32 words[4];

	copy.flags = !(producer_ & depth_);
	memcpy(words, &copy, sizeof(words));
	memcpy(to, words, 12);
	smp_store_release(reinterpret_cast<u32 *>(to) + 3, words[3]);
	producer_++;
	// Pairs with the barrier of the driver between consumer update and re-check.
	smp_mb();
	return le32_to_cpu(READ_ONCE(record_->consumer)) == producer_ - 1;
}

bool event_queue::post(const ornic_eqe &eqe)
{
	if (!is_open())
		return false;
	if (kept_.empty() && has_room())
		return write(eqe);
	auto [it, is_new] = waiting_.try_emplace(identity(eqe));
	if (is_new)
		it->second = kept_.insert(kept_.end(), eqe);
	return flush();
}

bool event_queue::flush()
{
	bool send = false;

	if (!is_open() || kept_.empty())
		return false;
	WRITE_ONCE(record_->kick_wanted, cpu_to_le32(1));
	// Between kick_wanted and the read of the consumer, as in write().
	smp_mb();
	while (!kept_.empty() && has_room()) {
		send |= write(kept_.front());
		waiting_.erase(identity(kept_.front()));
		kept_.pop_front();
	}
	if (kept_.empty())
		WRITE_ONCE(record_->kick_wanted, 0);
	return send;
}

void event_queue::forget(u64 identity)
{
	auto it = waiting_.find(identity);

	if (it == waiting_.end())
		return;
	kept_.erase(it->second);
	waiting_.erase(it);
}

void event_queue::forget(u32 obj, std::span<const u8> types)
{
	if (kept_.empty())
		return;
	for (u8 type : types)
		for (u8 queue = 0; queue < fault_queues; queue++)
			forget(identity(type, queue, obj));
	if (kept_.empty())
		WRITE_ONCE(record_->kick_wanted, 0);
}

} // namespace nic
