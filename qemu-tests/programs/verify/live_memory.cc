// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause

#include "live_memory.h"

#include <algorithm>
#include <fstream>

namespace
{

constexpr size_t sizes[] = { 8, 64, 1000, 4096, 65536, 1 << 20 };
constexpr uint64_t mean_bytes = 10 << 10; /* of an operation, at most */

/* Where a counter is, if there is one. */
std::string path_of(const port &on, std::string name)
{
	if (on.is_rxe && name != "retries")
		return "";
	if (on.is_rxe)
		name = "completer_retry_err";
	return "/sys/class/infiniband/" + on.name + "/ports/1/hw_counters/" +
	       name;
}

} /* namespace */

live_writer::live_writer(std::span<std::byte> range)
	: range_(range)
	, thread_([this] { run(); })
{
	while (!rounds_)
		std::this_thread::yield();
}

live_writer::~live_writer()
{
	stop_ = true;
	thread_.join();
}

void live_writer::run()
{
	auto *words = reinterpret_cast<volatile uint64_t *>(range_.data());

	for (uint64_t value = 1; !stop_; value++, rounds_++)
		for (size_t i = 0; i < range_.size() / 8; i++)
			words[i] = value * 0x9e3779b97f4a7c15;
}

live_counter::live_counter(const port &on, const std::string &name)
	: path_(path_of(on, name))
	, before_(read())
{
}

uint64_t live_counter::read() const
{
	uint64_t count = 0;

	if (path_.empty())
		return 0;
	std::ifstream file(path_);
	check(bool(file >> count), "cannot read " + path_);
	return count;
}

options live_options()
{
	return { .buffer = 3 << 20 };
}

std::span<const size_t> live_sizes(ibv_wr_opcode opcode)
{
	const bool is_atomic = opcode == IBV_WR_ATOMIC_FETCH_AND_ADD ||
			       opcode == IBV_WR_ATOMIC_CMP_AND_SWP;

	return std::span(sizes).first(is_atomic ? 1 : std::size(sizes));
}

uint64_t live_count(size_t size, uint64_t most)
{
	return std::clamp<uint64_t>(most * mean_bytes / size, 1, most);
}

bool is_live_at_peer(ibv_wr_opcode opcode)
{
	return opcode != IBV_WR_RDMA_WRITE && opcode != IBV_WR_SEND;
}

void post_live(endpoint &from, const remote_end &to, ibv_wr_opcode opcode,
	       uint64_t id, size_t size)
{
	switch (opcode) {
	case IBV_WR_RDMA_READ:
		from.post(rdma(opcode, id, to, live_source),
			  { from.sge(live_target, size) });
		return;
	case IBV_WR_ATOMIC_FETCH_AND_ADD:
	case IBV_WR_ATOMIC_CMP_AND_SWP:
		from.post(atomic(opcode, id, to, live_source, id, id + 1),
			  { from.sge(live_target, size) });
		return;
	default:
		from.post(rdma(opcode, id, to, live_target),
			  { from.sge(live_source, size) });
	}
}
