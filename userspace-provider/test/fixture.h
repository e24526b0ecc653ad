/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Queues on plain memory, with the test in the place of the device. */
#ifndef ORNIC_TEST_FIXTURE_H
#define ORNIC_TEST_FIXTURE_H

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <fcntl.h>
#include <vector>

#include "cq_ring.h"
#include "work_queue.h"

namespace ornic::test
{

constexpr std::uint32_t test_qpn = 0x123456;

/** Aligned memory as the kernel maps it: record page, then a ring. */
class queue_memory {
public:
	explicit queue_memory(std::size_t ring_bytes)
		: pages_(1 + (ring_bytes + sizeof(page) - 1) / sizeof(page))
	{
	}
	std::byte *data()
	{
		return pages_[0].bytes;
	}
	std::byte *ring()
	{
		return data() + ORNIC_RING_OFFSET;
	}

private:
	struct alignas(4096) page {
		std::byte bytes[4096];
	};

	std::vector<page> pages_;
};

/** A doorbell that is a pipe: what was kicked can be read back. */
class kick_counter {
public:
	kick_counter()
	{
		int fds[2];

		if (pipe2(fds, O_NONBLOCK) == 0) {
			read_end_ = file_descriptor(fds[0]);
			bell.use_file(file_descriptor(fds[1]));
		}
	}
	/** The QPNs kicked since the last call. */
	std::vector<std::uint32_t> take()
	{
		std::vector<std::uint32_t> kicked;
		std::uint32_t qpn = 0;

		while (read(read_end_.get(), &qpn, sizeof(qpn)) == sizeof(qpn))
			kicked.push_back(qpn);
		return kicked;
	}

	doorbell bell;

private:
	file_descriptor read_end_;
};

/** A send queue of 4 WQEs of 128 bytes, 3 SGEs, 64 bytes inline. */
struct send_fixture {
	static constexpr std::uint8_t log_depth = 2;
	static constexpr std::uint8_t log_stride = 7;

	explicit send_fixture(ibv_qp_type type = IBV_QPT_RC,
			      bool signal_all = false)
		: memory(std::size_t{ 1 } << (log_depth + log_stride))
		, record(reinterpret_cast<ornic_wq_record *>(memory.data()))
	{
		sq.init({
			.layout = { .ring = memory.ring(),
				    .record = record,
				    .log_depth = log_depth,
				    .log_stride = log_stride,
				    .max_sge = 3,
				    .present = true },
			.qpn = test_qpn,
			.bell = &kicks.bell,
			.type = type,
			.signal_all = signal_all,
			.max_inline = 64,
		});
	}

	/** What the device reads from slot @index at byte @offset. */
	template <typename T> T wqe(std::uint32_t index, std::size_t offset = 0)
	{
		T value;
		std::size_t slot = index & ((1U << log_depth) - 1);

		std::memcpy(&value,
			    memory.ring() + (slot << log_stride) + offset,
			    sizeof(value));
		return value;
	}

	queue_memory memory;
	ornic_wq_record *record;
	kick_counter kicks;
	send_queue sq;
};

/** A work request with nothing but an opcode. */
inline ibv_send_wr make_wr(ibv_wr_opcode opcode, std::uint64_t wr_id = 1)
{
	ibv_send_wr wr{};

	wr.opcode = opcode;
	wr.wr_id = wr_id;
	return wr;
}

} // namespace ornic::test

#endif // ORNIC_TEST_FIXTURE_H
