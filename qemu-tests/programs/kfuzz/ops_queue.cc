// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause

#include "ops.h"

#include <fcntl.h>
#include <infiniband/verbs.h>
#include <rdma/ornic-hw-queue.h>
#include <rdma/rdma_user_ioctl_cmds.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>

#include "world.h"

namespace
{

constexpr uint32_t ring_entries = 16;

/* CQs, QPs and SRQs have queues, a completion counter its record, a DM itself. */
object &queue(world &w, const call &c, uint64_t which)
{
	static const kind kinds[] = { qp, cq, qp, srq, cntr, dm };

	return w.place(c, kinds[which % std::size(kinds)]);
}

void store(std::byte *at, uint64_t value)
{
	std::memcpy(at, &value, sizeof(uint32_t));
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
}

void increment(std::byte *at, uint64_t value)
{
	__atomic_fetch_add(reinterpret_cast<uint32_t *>(at),
			   static_cast<uint32_t>(value), __ATOMIC_SEQ_CST);
}

/* Where the next WQE goes; null if the queue is not mapped. */
std::byte *next_wqe(object &o, std::size_t record, uint32_t ring,
		    uint32_t stride)
{
	static thread_local uint32_t producer;
	std::byte *base = o.ring;

	if (!base)
		return nullptr;
	const auto load = [](std::byte *at, uint64_t) {
		std::memcpy(&producer, at, sizeof(producer));
	};
	if (!guarded(load, base + record, 0))
		return nullptr;
	const uint64_t at = ring + uint64_t{ producer % ring_entries } * stride;

	return at + stride <= o.mapped ? base + at : nullptr;
}

thread_local std::span<const std::byte> pending;

/* What of @wqe the slot has room for. */
template <typename T>
bool post(object &o, std::size_t record, std::byte *at, const T &wqe,
	  std::size_t stride)
{
	const auto bytes = std::as_bytes(std::span(&wqe, 1));

	pending = bytes.first(std::min(bytes.size(), stride));
	const auto copy = [](std::byte *to, uint64_t) {
		std::memcpy(to, pending.data(), pending.size());
	};
	std::byte *base = o.ring;

	return guarded(copy, at, 0) && guarded(increment, base + record, 1);
}

struct send_wqe {
	ornic_sq_hdr head;
	union {
		struct {
			ornic_seg_remote remote;
			union {
				ornic_sge sge[2];
				struct {
					ornic_seg_atomic atomic;
					ornic_sge result;
				};
				ornic_seg_bind bind;
				ornic_seg_reg reg;
				ornic_seg_flush flush;
			};
		};
		struct {
			ornic_seg_ud ud;
			ornic_sge datagram;
		};
		ornic_sge plain[2];
	};
};

ornic_sge sge_of(world &w, const call &c, uint64_t length)
{
	ornic_sge sge = {};

	sge.addr = reinterpret_cast<uint64_t>(w.memory);
	sge.length =
		static_cast<uint32_t>(length < 8 ? 4096 >> length : length);
	sge.lkey = w.place(c, mr, c.arg[2]).number;
	return sge;
}

int doorbell(world &w, const call &c)
{
	context_files &files = w.files(c);
	int fd = files.doorbell;

	if (fd >= 0)
		return fd;
	alignas(8) std::byte bytes[sizeof(ib_uverbs_ioctl_hdr) +
				   sizeof(ib_uverbs_attr)] = {};
	ib_uverbs_ioctl_hdr head = {};
	ib_uverbs_attr attr = {};

	head.length = sizeof(bytes);
	head.object_id = head.method_id = attr.attr_id = 1 << 12;
	head.num_attrs = 1;
	attr.flags = UVERBS_ATTR_F_MANDATORY;
	std::memcpy(bytes, &head, sizeof(head));
	std::memcpy(bytes + sizeof(head), &attr, sizeof(attr));
	if (ioctl(files.verbs, RDMA_VERBS_IOCTL, bytes))
		return -1;
	std::memcpy(&attr, bytes + sizeof(head), sizeof(attr));
	fd = static_cast<int>(attr.data_s64);
	fcntl(fd, F_SETFL, O_NONBLOCK);
	const int old = files.doorbell.exchange(fd);

	if (old >= 0)
		close(old);
	return fd;
}

bool kick(world &w, const call &c)
{
	std::array<uint32_t, 8> numbers;
	const std::size_t count = c.arg[1] % numbers.size() + 1;

	for (std::size_t i = 0; i < numbers.size(); i++)
		numbers[i] = w.place(c, qp, c.arg[0] + i).number;
	damage(std::as_writable_bytes(std::span(numbers)), c.noise);
	return write(doorbell(w, c), numbers.data(), count * 4) > 0;
}

} /* namespace */

/* map(place, kind, bytes more, protection): 5 is without PROT_WRITE */
void op_map(world &w, const call &c)
{
	object &o = queue(w, c, c.arg[1]);
	const uint64_t size = o.size + (c.arg[2] < 8 ? 0 : c.arg[2]);
	const int protection = c.arg[3] == 7 ? PROT_READ | PROT_EXEC :
			       c.arg[3] == 5 ? PROT_READ :
					       PROT_READ | PROT_WRITE;
	const int flags = c.arg[3] == 6 ? MAP_PRIVATE : MAP_SHARED;

	if (!size || size > 1 << 24)
		return;
	void *memory =
		mmap(nullptr, size, protection, flags, w.files(c).verbs,
		     static_cast<off_t>(o.offset + (c.noise & ~4095ull)));
	if (memory == MAP_FAILED)
		return;
	unmap(o);
	o.mapped = size;
	o.ring = static_cast<std::byte *>(memory);
	w.count(c, true);
}

void op_unmap(world &w, const call &c)
{
	object &o = queue(w, c, c.arg[1]);

	w.count(c, o.ring != nullptr);
	unmap(o);
}

/* scribble(place, kind, offset, value) */
void op_scribble(world &w, const call &c)
{
	object &o = queue(w, c, c.arg[1]);
	std::byte *base = o.ring;
	const uint64_t size = o.mapped;

	if (!base || size < 4096)
		return;
	/* Small ones are the words of the records. */
	const uint64_t at = c.arg[2] < 8 ? c.arg[2] * 4 + (c.noise & 64) :
					   c.arg[2] % (size - 8);
	w.count(c, guarded(store, base + at, c.arg[3]));
}

/* post_send(place, opcode and flags, mr, length) */
void op_post_send(world &w, const call &c)
{
	object &o = w.place(c, qp);
	const uint64_t opcode = c.arg[1] % 16;
	send_wqe wqe = {};
	std::byte *at =
		next_wqe(o, ORNIC_SQ_RECORD, ORNIC_RING_OFFSET, o.sq_stride);

	if (!at)
		return;
	wqe.head.opcode = static_cast<uint8_t>(opcode);
	wqe.head.flags = ORNIC_WQE_SIGNALED |
			 static_cast<uint8_t>(c.arg[1] >> 4);
	wqe.head.payload = 1;
	wqe.head.wr_id = c.arg[1];
	if (opcode < ORNIC_WQE_WRITE || opcode == ORNIC_WQE_SEND_INV) {
		wqe.plain[0] = sge_of(w, c, c.arg[3]);
		wqe.head.imm = w.place(c, mr, c.arg[2]).number;
	} else {
		wqe.remote.raddr = reinterpret_cast<uint64_t>(w.memory) + 65536;
		wqe.remote.rkey = w.place(c, mr, c.arg[2] >> 2).number;
		wqe.sge[0] = sge_of(w, c, c.arg[3]);
	}
	if (opcode == ORNIC_WQE_CAS || opcode == ORNIC_WQE_FAA) {
		wqe.atomic = { c.arg[3], c.arg[2] };
		wqe.result = sge_of(w, c, 8);
		wqe.result.length = 8;
	}
	/* Bit 8: a datagram to the QP of the place that the length names. */
	if (c.arg[1] >> 8 & 1) {
		wqe.datagram = sge_of(w, c, c.arg[3]);
		wqe.ud = { w.place(c, ah, c.arg[2]).number,
			   w.place(c, qp, c.arg[3]).number,
			   0x11111111,
			   static_cast<uint16_t>(c.arg[1] >> 16 & 31),
			   {} };
	}
	damage({ reinterpret_cast<std::byte *>(&wqe), sizeof(wqe) }, c.noise);
	w.count(c, post(o, ORNIC_SQ_RECORD, at, wqe, o.sq_stride));
	kick(w, c);
}

/* post_recv(place, srq, mr, length) */
void op_post_recv(world &w, const call &c)
{
	const bool is_srq = c.arg[1] & 1;
	object &o = w.place(c, is_srq ? srq : qp);
	const std::size_t record = is_srq ? 0 : ORNIC_RQ_RECORD;
	struct {
		ornic_rq_hdr head;
		ornic_sge sge[2];
	} wqe = {};
	std::byte *at = next_wqe(
		o, record, is_srq ? ORNIC_RING_OFFSET : o.rq_offset.load(),
		o.rq_stride);

	if (!at)
		return;
	wqe.head.num_sge = 1;
	wqe.sge[0] = sge_of(w, c, c.arg[3]);
	damage({ reinterpret_cast<std::byte *>(&wqe), sizeof(wqe) }, c.noise);
	w.count(c, post(o, record, at, wqe, o.rq_stride));
}

/* post_bind(place, type, mr, mw): BIND_MW, LOCAL_INV or REG_MR */
void op_post_bind(world &w, const call &c)
{
	static const uint8_t opcodes[] = { ORNIC_WQE_BIND_MW,
					   ORNIC_WQE_LOCAL_INV,
					   ORNIC_WQE_REG_MR };
	object &o = w.place(c, qp);
	send_wqe wqe = {};
	std::byte *at =
		next_wqe(o, ORNIC_SQ_RECORD, ORNIC_RING_OFFSET, o.sq_stride);

	if (!at)
		return;
	wqe.head.opcode = opcodes[c.arg[1] % sizeof(opcodes)];
	wqe.head.flags = ORNIC_WQE_SIGNALED;
	wqe.head.imm = __builtin_bswap32(w.place(c, mw, c.arg[3]).number);
	wqe.remote.raddr = reinterpret_cast<uint64_t>(w.memory);
	/* The next key of its index. */
	wqe.remote.rkey = w.place(c, mw, c.arg[3]).number + (c.arg[1] >> 2 & 1);
	wqe.bind.length = c.arg[2] < 8 ? 4096 : c.arg[2];
	wqe.bind.lkey = w.place(c, mr, c.arg[2]).number;
	wqe.bind.access = 0x6;
	damage({ reinterpret_cast<std::byte *>(&wqe), sizeof(wqe) }, c.noise);
	w.count(c, post(o, ORNIC_SQ_RECORD, at, wqe, o.sq_stride));
	kick(w, c);
}

/* consume(place, how many, arm): completions, unread */
void op_consume(world &w, const call &c)
{
	object &o = w.place(c, cq);
	std::byte *base = o.ring;

	w.count(c, guarded(increment, base, c.arg[1]));
	if (base && c.arg[2] & 3)
		guarded(increment, base + 4, c.arg[2]);
}

/* kick(place, how many): by the doorbell file */
void op_kick(world &w, const call &c)
{
	w.count(c, kick(w, c));
}

/* Whatever is there to be read. */
void op_events(world &w, const call &c)
{
	std::byte bytes[256];

	(void)!read(w.files(c).async, bytes, sizeof(bytes));
	const int channel = w.files(c).channel;

	if (channel < 0)
		return;
	fcntl(channel, F_SETFL, O_NONBLOCK);
	(void)!read(channel, bytes, c.arg[1] & 1 ? 8 : sizeof(bytes));
}

/* memory(how): under MRs and while they are used */
void op_memory(world &w, const call &c)
{
	const std::size_t offset = c.arg[1] % 16 * 4096;

	switch (c.arg[0] % 3) {
	case 0:
		madvise(w.memory + offset, 4096, MADV_DONTNEED);
		break;
	case 1:
		static_cast<void>(
			mmap(w.memory + offset, 4096, PROT_READ | PROT_WRITE,
			     MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0));
		break;
	default:
		mprotect(w.memory + offset, 4096,
			 c.arg[2] & 1 ? PROT_READ : PROT_READ | PROT_WRITE);
	}
}
