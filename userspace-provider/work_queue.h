/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Send and receive queues: rings of WQEs and their doorbell records, as
 * ornic-hw.h lays them out. Nothing here knows where the memory comes from.
 *
 * Indices run freely; slot = index & mask. head_ counts the WQEs written, the
 * record's producer those that the device may see, tail_ those that are done.
 * tail_ is moved by whoever polls the CQ, all else by posters under lock_.
 */
#ifndef ORNIC_WORK_QUEUE_H
#define ORNIC_WORK_QUEUE_H

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <infiniband/verbs.h>
#include <rdma/ornic-hw.h>
#include <span>

#include "address_handle.h"
#include "doorbell.h"
#include "shared.h"

namespace ornic
{

/** Where a ring lies, and its shape. log_stride is log2 of bytes. */
struct ring_layout {
	std::byte *ring;
	ornic_wq_record *record;
	std::uint8_t log_depth;
	std::uint8_t log_stride;
	std::uint16_t max_sge;
	bool present;
};

/** A ring of WQE slots with room accounting. */
class wqe_ring {
public:
	void init(const ring_layout &layout) noexcept;

	/**
	 * Go on in other memory, where the device has put the WQEs that it has
	 * not taken at the start of the ring.
	 */
	void move(const ring_layout &layout) noexcept;

	/** Forget every WQE: the QP is in RESET. */
	void reset() noexcept;

	/** The WQE at @index and all before it are done. */
	void retire(std::uint32_t index) noexcept
	{
		tail_.store(index + 1, std::memory_order_release);
	}

	/** Of an SRQ, and of a tag list: what the device has copied is done. */
	void retire_taken() noexcept
	{
		tail_.store(load_acquire(record_->taken),
			    std::memory_order_relaxed);
	}

	/** Of an SRQ: tagged receives that are not in its list any more. */
	[[nodiscard]] std::uint32_t tags_gone() const noexcept
	{
		return load_acquire(record_->tags_gone);
	}

	[[nodiscard]] bool exists() const noexcept
	{
		return depth_ != 0;
	}

	[[nodiscard]] bool full() const noexcept
	{
		return head_ - tail_.load(std::memory_order_acquire) >= depth_;
	}

	/** The slot of the WQE that is written next. */
	[[nodiscard]] std::byte *slot() const noexcept
	{
		std::size_t index = head_ & mask_;

		return ring_ + (index << log_stride_);
	}

	void push() noexcept
	{
		++head_;
	}
	[[nodiscard]] std::uint32_t head() const noexcept
	{
		return head_;
	}
	/** Drop the WQEs from @head on, which the device has not seen. */
	void rewind(std::uint32_t head) noexcept
	{
		head_ = head;
	}

	/** Let the device see all WQEs that were pushed. */
	void publish() noexcept
	{
		store_release(record_->producer, head_);
	}
	/** Call after publish() and a full barrier. */
	[[nodiscard]] bool kick_wanted() const noexcept
	{
		return load_relaxed(record_->kick_wanted) != 0;
	}

	[[nodiscard]] std::uint32_t max_sge() const noexcept
	{
		return max_sge_;
	}
	/** Bytes from @at to the end of slot(). */
	[[nodiscard]] std::size_t room(const std::byte *at) const noexcept
	{
		return (std::size_t{ 1 } << log_stride_) -
		       static_cast<std::size_t>(at - slot());
	}

private:
	std::byte *ring_ = nullptr;
	ornic_wq_record *record_ = nullptr;
	std::uint32_t depth_ = 0;
	std::uint32_t mask_ = 0;
	std::uint32_t max_sge_ = 0;
	std::uint32_t log_stride_ = 0;
	std::uint32_t head_ = 0;
	std::atomic<std::uint32_t> tail_{ 0 };
};

/* Values of verbs that rdma-core 44 and older does not name. */
constexpr unsigned int verbs_wr_flush = 14;
constexpr unsigned int verbs_wr_atomic_write = 15;
constexpr unsigned int verbs_wc_flush = 8;
constexpr unsigned int verbs_wc_atomic_write = 9;

/** Everything of a send work request but its data and its UD address. */
struct send_work {
	unsigned int opcode = IBV_WR_SEND; // enum ibv_wr_opcode, or bad
	unsigned int flags = 0;
	std::uint64_t wr_id = 0;
	__be32 imm = 0;
	std::uint32_t srqn = 0; // XRC
	std::uint32_t rkey = 0;
	std::uint64_t raddr = 0;
	std::uint64_t swap_add = 0;
	std::uint64_t compare = 0;
	std::uint64_t bind_length = 0;
	std::uint32_t bind_lkey = 0;
	std::uint8_t bind_access = 0;
	std::uint8_t flush_type = 0; // enum ornic_flush_type
	std::uint8_t flush_level = 0; // enum ornic_flush_level
	std::uint32_t flush_length = 0;
};

/** Make @work the binding of a window that gets @rkey. 0, or EINVAL. */
int fill_bind(send_work &work, const ibv_mw_bind_info &info,
	      std::uint32_t rkey) noexcept;

/** What a send queue is made from. */
struct send_params {
	ring_layout layout;
	std::uint32_t qpn;
	const doorbell *bell;
	ibv_qp_type type;
	bool signal_all;
	std::uint16_t max_inline;
	bool single_threaded = false; // posted without a lock
};

class tag_room;

class send_queue {
public:
	void init(const send_params &params) noexcept;
	void reset() noexcept;
	void retire(std::uint32_t index) noexcept
	{
		ring_.retire(index);
	}

	/**
	 * Post a list of work requests, all or up to the first bad one.
	 * Return: 0, EINVAL (opcode, flag, SGE count, inline length, no AH) or
	 * ENOMEM (ring full); then *@bad_wr is the request that failed. EIO: the
	 * device is gone, and none of the list completes.
	 */
	int post(ibv_send_wr *wr, ibv_send_wr **bad_wr) noexcept;

	/** Post a request without data, such as a bind. Return: as post(). */
	int post_local(const send_work &work) noexcept;

	/**
	 * Post changes of a tag list that has @room, all or up to the first bad
	 * one. TAG_ADD gets its handle. Only on the queue of an SRQ (tags.h).
	 * Return: 0, EINVAL (opcode, flag, SGE count) or ENOMEM (the ring or
	 * the list is full); EIO as for post().
	 */
	int post_tags(ibv_ops_wr *wr, ibv_ops_wr **bad_wr,
		      tag_room &room) noexcept;

	/**
	 * The same in steps, for ibv_wr_*: start, then for each request begin,
	 * address (UD) or srqn (XRC) and sges or inline_data, then complete or
	 * abort. The queue is locked from start to complete or abort. An error
	 * sticks: complete returns it and posts nothing. A request without its
	 * address or srqn is EINVAL.
	 */
	void batch_start() noexcept;
	void batch_begin(const send_work &work) noexcept;
	void batch_address(const address_handle *ah, std::uint32_t qpn,
			   std::uint32_t qkey) noexcept;
	void batch_srqn(std::uint32_t srqn) noexcept;
	void batch_sges(std::span<const ibv_sge> sges) noexcept;
	void batch_inline(std::span<const ibv_data_buf> pieces) noexcept;
	int batch_complete() noexcept;
	void batch_abort() noexcept;

private:
	int write(const ibv_send_wr &wr) noexcept;
	int write_tag(ibv_ops_wr &wr, tag_room &room) noexcept;
	int open(const send_work &work) noexcept;
	int put_address(const address_handle *ah, std::uint32_t qpn,
			std::uint32_t qkey) noexcept;
	int put_srqn(std::uint32_t srqn) noexcept;
	void batch_push() noexcept;
	int put_sges(std::span<const ibv_sge> sges) noexcept;
	template <typename Piece>
	int put_inline(std::span<const Piece> pieces) noexcept;
	[[nodiscard]] int submit_and_unlock() noexcept;

	spin_lock lock_;
	wqe_ring ring_;
	const doorbell *bell_ = nullptr;
	std::uint32_t qpn_ = 0;
	std::uint8_t type_ = 0;
	bool signal_all_ = false;
	std::uint16_t max_inline_ = 0;

	// The WQE that is being written.
	ornic_sq_hdr *hdr_ = nullptr;
	std::byte *data_ = nullptr;
	bool may_inline_ = false;
	std::uint16_t inline_limit_ = 0;
	bool no_data_ = false;
	bool needs_address_ = false; // or SRQ number

	// The batch that is being written.
	std::uint32_t batch_head_ = 0;
	int error_ = 0;
};

/** What a receive queue is made from. */
struct receive_params {
	ring_layout layout;
	std::uint32_t qpn;
	const doorbell *bell;
	bool single_threaded = false;
};

class receive_queue {
public:
	void init(const receive_params &params) noexcept;
	void reset() noexcept;
	void retire(std::uint32_t index) noexcept
	{
		ring_.retire(index);
	}

	/**
	 * Post a list of receives, all or up to the first bad one. The device
	 * is kicked only if it asks for that: a QP in error has its receives
	 * flushed and does not look for new ones by itself.
	 * Return: 0, EINVAL (SGE count, or no such queue) or ENOMEM (ring full);
	 * EIO as for a send queue.
	 */
	int post(ibv_recv_wr *wr, ibv_recv_wr **bad_wr) noexcept;

private:
	int write(const ibv_recv_wr &wr) noexcept;
	[[nodiscard]] int submit_and_unlock() noexcept;

	spin_lock lock_;
	wqe_ring ring_;
	const doorbell *bell_ = nullptr;
	std::uint32_t qpn_ = 0;
};

/**
 * A receive queue of several QPs. Its messages end in any order and on any
 * CQ, so no completion frees its slots: the device says how many WQEs it has
 * copied.
 */
class shared_queue {
public:
	void init(const ring_layout &layout,
		  bool single_threaded = false) noexcept;

	/**
	 * Post a list of receives, all or up to the first bad one. Never kicks:
	 * the device looks when a message arrives.
	 * Return: 0, EINVAL (SGE count) or ENOMEM (ring full).
	 */
	int post(ibv_recv_wr *wr, ibv_recv_wr **bad_wr) noexcept;

	/** Who holds it keeps posters out, and may move the queue. */
	[[nodiscard]] spin_lock &lock() noexcept
	{
		return lock_;
	}
	void move(const ring_layout &layout) noexcept;

	/** As wqe_ring::tags_gone(). */
	[[nodiscard]] std::uint32_t tags_gone() noexcept
	{
		lock_guard guard(lock_);

		return ring_.tags_gone();
	}

private:
	int write(const ibv_recv_wr &wr) noexcept;

	spin_lock lock_;
	wqe_ring ring_;
};

} // namespace ornic

#endif // ORNIC_WORK_QUEUE_H
