/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* One event queue of a guest, see CREATE_EQ in ornic-hw-pci.h. */
#ifndef ORNIC_NIC_EVENT_QUEUE_H
#define ORNIC_NIC_EVENT_QUEUE_H

#include <list>
#include <span>
#include <unordered_map>

#include "base.h"

namespace nic
{

class event_queue {
public:
	event_queue() = default;
	event_queue(const event_queue &) = delete;
	event_queue &operator=(const event_queue &) = delete;
	~event_queue()
	{
		close();
	}

	/** Map the memory of @req. Return: enum ornic_status. */
	int open(ornic_engine *engine, const ornic_req_create_eq &req);
	void close();
	bool is_open() const
	{
		return record_;
	}

	/** Write @eqe, or keep it until there is room. Return: whether to
	 *  send an interrupt message. */
	bool post(const ornic_eqe &eqe);
	/** Write kept events. Return: whether to send an interrupt message. */
	bool flush();
	/** Object @obj is gone, and with it its kept events, which have @types. */
	void forget(u32 obj, std::span<const u8> types);

private:
	bool write(const ornic_eqe &eqe);
	bool has_room() const;
	void forget(u64 identity);

	ornic_pages pages_{};
	ornic_eq_record *record_ = nullptr;
	u32 depth_ = 0;
	u32 producer_ = 0;
	std::list<ornic_eqe> kept_;
	// Equal events are merged while they wait, and go with their object: so the number
	// of objects limits kept_ even if the guest never consumes.
	std::unordered_map<u64, std::list<ornic_eqe>::iterator> waiting_;
};

} // namespace nic

#endif // ORNIC_NIC_EVENT_QUEUE_H
