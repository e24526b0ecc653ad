/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Queues on plain memory, with the test in the place of the device. */
#ifndef ORNIC_TEST_FIXTURE_H
#define ORNIC_TEST_FIXTURE_H

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <fcntl.h>
#include <poll.h>
#include <vector>

#include "cq_ring.h"
#include "qp.h"
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
	/** From now on kicks fail. */
	void break_off()
	{
		bell.use_file(file_descriptor(open("/dev/full", O_WRONLY)));
	}
	/** Sleep until something is kicked; false after @ms milliseconds. */
	bool wait(int ms)
	{
		pollfd readable = { .fd = read_end_.get(),
				    .events = POLLIN,
				    .revents = 0 };

		return poll(&readable, 1, ms) == 1 && !take().empty();
	}

	doorbell bell;

private:
	file_descriptor read_end_;
};

/** Memory of a send queue: 4 WQEs of 128 bytes, 3 SGEs. */
struct send_ring {
	static constexpr std::uint8_t log_depth = 2;
	static constexpr std::uint8_t log_stride = 7;

	/** For send_queue::init(). */
	send_params params(ibv_qp_type type, std::uint16_t max_inline = 64)
	{
		return {
			.layout = { .ring = memory.ring(),
				    .record = record,
				    .log_depth = log_depth,
				    .log_stride = log_stride,
				    .max_sge = 3,
				    .present = true },
			.qpn = test_qpn,
			.bell = &kicks.bell,
			.type = type,
			.signal_all = false,
			.max_inline = max_inline,
		};
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

	queue_memory memory{ std::size_t{ 1 } << (log_depth + log_stride) };
	ornic_wq_record *record =
		reinterpret_cast<ornic_wq_record *>(memory.data());
	kick_counter kicks;
};

/** A send queue alone. */
struct send_fixture : send_ring {
	explicit send_fixture(ibv_qp_type type = IBV_QPT_RC,
			      bool signal_all = false)
	{
		send_params p = params(type);

		p.signal_all = signal_all;
		sq.init(p);
	}

	send_queue sq;
};

/** A QP in RTS with every operation that its type has. */
struct qp_fixture : send_ring {
	explicit qp_fixture(ibv_qp_type type, std::uint16_t max_inline = 64)
	{
		qp.sq.init(params(type, max_inline));
		qp.base.qp.qp_type = type;
		qp.base.qp.state = IBV_QPS_RTS;
		set_send_ops(qp.base,
			     send_ops_of(type, placement_ops(UINT64_MAX)));
	}

	ibv_qp_ex *ex()
	{
		return &qp.base.qp_ex;
	}

	queue_pair qp{};
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
