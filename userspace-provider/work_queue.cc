// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
// Writing WQEs and telling the device about them.

#include "work_queue.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>

namespace ornic
{
namespace
{

enum qp_type_bits : std::uint8_t {
	type_rc = 1,
	type_uc = 2,
	type_ud = 4,
	type_xrc = 8,
	type_raw = 16,
};

enum send_op_traits : std::uint8_t {
	has_remote = 1,
	has_atomic = 2,
	may_inline = 4,
	may_solicit = 8, // it completes a receive WQE of the peer
	has_bind = 16,
	no_data = 32,
	has_flush = 64,
	one_word = 128, // inline as well, whatever max_inline is
};

/* How a work request becomes a WQE. */
struct send_op {
	std::uint8_t opcode;
	std::uint8_t types;
	std::uint8_t traits;
};

constexpr std::uint8_t reliable = type_rc | type_xrc;
constexpr std::uint8_t connected = reliable | type_uc;
constexpr std::uint8_t any_type = connected | type_ud;
constexpr std::uint8_t remote_inline = has_remote | may_inline;
constexpr std::uint8_t remote_atomic = has_remote | has_atomic;

constexpr std::array<send_op, 16> make_send_ops() noexcept
{
	constexpr std::uint8_t send = may_inline | may_solicit;
	constexpr std::uint8_t write_imm = remote_inline | may_solicit;
	std::array<send_op, 16> ops{};

	ops[IBV_WR_RDMA_WRITE] = { ORNIC_WQE_WRITE, connected, remote_inline };
	ops[IBV_WR_RDMA_WRITE_WITH_IMM] = { ORNIC_WQE_WRITE_IMM, connected,
					    write_imm };
	ops[IBV_WR_SEND] = { ORNIC_WQE_SEND, any_type | type_raw, send };
	ops[IBV_WR_SEND_WITH_IMM] = { ORNIC_WQE_SEND_IMM, any_type, send };
	ops[IBV_WR_RDMA_READ] = { ORNIC_WQE_READ, reliable, has_remote };
	ops[IBV_WR_ATOMIC_CMP_AND_SWP] = { ORNIC_WQE_CAS, reliable,
					   remote_atomic };
	ops[IBV_WR_ATOMIC_FETCH_AND_ADD] = { ORNIC_WQE_FAA, reliable,
					     remote_atomic };
	ops[IBV_WR_LOCAL_INV] = { ORNIC_WQE_LOCAL_INV, connected, no_data };
	ops[IBV_WR_BIND_MW] = { ORNIC_WQE_BIND_MW, connected,
				has_remote | has_bind | no_data };
	ops[IBV_WR_SEND_WITH_INV] = { ORNIC_WQE_SEND_INV, reliable, send };
	ops[verbs_wr_flush] = { ORNIC_WQE_FLUSH, type_rc,
				has_remote | has_flush | no_data };
	ops[verbs_wr_atomic_write] = { ORNIC_WQE_ATOMIC_WRITE, type_rc,
				       remote_inline | one_word };
	return ops;
}

constexpr std::array<send_op, 16> send_ops = make_send_ops();

constexpr unsigned int known_flags = IBV_SEND_FENCE | IBV_SEND_SIGNALED |
				     IBV_SEND_SOLICITED | IBV_SEND_INLINE;

[[nodiscard]] std::uint8_t type_bit(ibv_qp_type type) noexcept
{
	switch (type) {
	case IBV_QPT_RC:
		return type_rc;
	case IBV_QPT_UC:
		return type_uc;
	case IBV_QPT_XRC_SEND:
		return type_xrc;
	case IBV_QPT_RAW_PACKET:
		return type_raw;
	default:
		return type_ud;
	}
}

/* Flags without a meaning for this request are not passed on. */
[[nodiscard]] std::uint8_t wqe_flags(const send_op &op, unsigned int flags,
				     std::uint8_t type,
				     bool signal_all) noexcept
{
	unsigned int out = 0;

	if (signal_all || (flags & IBV_SEND_SIGNALED))
		out |= ORNIC_WQE_SIGNALED;
	if ((op.traits & may_solicit) && (flags & IBV_SEND_SOLICITED))
		out |= ORNIC_WQE_SOLICITED;
	if ((type & reliable) && (flags & IBV_SEND_FENCE))
		out |= ORNIC_WQE_FENCE;
	return static_cast<std::uint8_t>(out);
}

template <typename Segment>
[[nodiscard]] std::byte *put(std::byte *at, const Segment &segment) noexcept
{
	std::memcpy(at, &segment, sizeof(segment));
	return at + sizeof(segment);
}

[[nodiscard]] ornic_seg_remote remote_segment(const send_work &work) noexcept
{
	ornic_seg_remote segment{};

	segment.raddr = le<__le64>(work.raddr);
	segment.rkey = le<__le32>(work.rkey);
	return segment;
}

[[nodiscard]] ornic_seg_atomic atomic_segment(const send_work &work) noexcept
{
	ornic_seg_atomic segment{};

	segment.swap_add = le<__le64>(work.swap_add);
	segment.compare = le<__le64>(work.compare);
	return segment;
}

[[nodiscard]] ornic_seg_bind bind_segment(const send_work &work) noexcept
{
	ornic_seg_bind segment{};

	segment.length = le<__le64>(work.bind_length);
	segment.lkey = le<__le32>(work.bind_lkey);
	segment.access = work.bind_access;
	return segment;
}

[[nodiscard]] ornic_seg_flush flush_segment(const send_work &work) noexcept
{
	ornic_seg_flush segment{};

	segment.length = le<__le32>(work.flush_length);
	segment.type = work.flush_type;
	segment.level = work.flush_level;
	return segment;
}

[[nodiscard]] std::byte *put_sge(std::byte *at, const ibv_sge &sge) noexcept
{
	ornic_sge segment{};

	segment.addr = le<__le64>(sge.addr);
	segment.length = le<__le32>(sge.length);
	segment.lkey = le<__le32>(sge.lkey);
	return put(at, segment);
}

[[nodiscard]] const void *piece_start(const ibv_sge &piece) noexcept
{
	// struct ibv_sge carries addresses as integers.
	// NOLINTNEXTLINE(performance-no-int-to-ptr)
	return reinterpret_cast<const void *>(
		static_cast<std::uintptr_t>(piece.addr));
}

[[nodiscard]] const void *piece_start(const ibv_data_buf &piece) noexcept
{
	return piece.addr;
}

[[nodiscard]] ornic_seg_xrc xrc_segment(std::uint32_t srqn) noexcept
{
	ornic_seg_xrc segment{};

	segment.srqn = le<__le32>(srqn);
	return segment;
}

/* A receive WQE into the free slot of @ring. 0, or EINVAL. */
int write_receive(wqe_ring &ring, const ibv_recv_wr &wr) noexcept
{
	if (wr.num_sge < 0 ||
	    static_cast<std::uint32_t>(wr.num_sge) > ring.max_sge())
		return EINVAL;

	ornic_rq_hdr hdr{};
	hdr.wr_id = le<__le64>(wr.wr_id);
	hdr.num_sge = le(static_cast<__le16>(wr.num_sge));
	std::byte *at = put(ring.slot(), hdr);
	if (static_cast<std::size_t>(wr.num_sge) >
	    ring.room(at) / sizeof(ornic_sge))
		return EINVAL;
	for (int i = 0; i < wr.num_sge; ++i)
		at = put_sge(at, wr.sg_list[i]);
	return 0;
}

/*
 * ibv_post_send() has no place for what FLUSH needs: the SGEs say how much of
 * remote_addr it covers, and name no memory; without any it is the MR.
 */
void fill_flush(send_work &work, const ibv_send_wr &wr) noexcept
{
	work.raddr = wr.wr.rdma.remote_addr;
	work.rkey = wr.wr.rdma.rkey;
	work.flush_type = ORNIC_FLUSH_GLOBAL;
	work.flush_level = wr.num_sge ? ORNIC_FLUSH_RANGE : ORNIC_FLUSH_MR;
	std::uint64_t length = 0;
	for (int i = 0; i < wr.num_sge; ++i)
		length += wr.sg_list[i].length;
	work.flush_length = static_cast<std::uint32_t>(length);
	// What the wire cannot say fails as an opcode that does not exist.
	if (length > UINT32_MAX)
		work.opcode = ~0U;
}

[[nodiscard]] send_work to_work(const ibv_send_wr &wr) noexcept
{
	send_work work{};

	work.opcode = raw(wr.opcode);
	work.flags = wr.send_flags;
	work.wr_id = wr.wr_id;
	work.imm = wr.imm_data;
	work.srqn = wr.qp_type.xrc.remote_srqn;
	switch (work.opcode) {
	case IBV_WR_ATOMIC_CMP_AND_SWP:
		work.raddr = wr.wr.atomic.remote_addr;
		work.rkey = wr.wr.atomic.rkey;
		work.swap_add = wr.wr.atomic.swap;
		work.compare = wr.wr.atomic.compare_add;
		break;
	case IBV_WR_ATOMIC_FETCH_AND_ADD:
		work.raddr = wr.wr.atomic.remote_addr;
		work.rkey = wr.wr.atomic.rkey;
		work.swap_add = wr.wr.atomic.compare_add;
		break;
	case IBV_WR_LOCAL_INV:
	case IBV_WR_SEND_WITH_INV:
		work.imm = big_endian(wr.invalidate_rkey);
		break;
	case IBV_WR_BIND_MW:
		break;
	case verbs_wr_flush:
		fill_flush(work, wr);
		break;
	default:
		work.raddr = wr.wr.rdma.remote_addr;
		work.rkey = wr.wr.rdma.rkey;
		break;
	}
	return work;
}

} // namespace

int fill_bind(send_work &work, const ibv_mw_bind_info &info,
	      std::uint32_t rkey) noexcept
{
	constexpr unsigned int rights =
		IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE |
		IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_ATOMIC;

	if ((info.mw_access_flags & ~rights) || (!info.mr && info.length))
		return EINVAL;
	work.opcode = IBV_WR_BIND_MW;
	work.raddr = info.addr;
	work.rkey = rkey;
	work.bind_length = info.length;
	work.bind_lkey = info.mr ? info.mr->lkey : 0;
	work.bind_access = static_cast<std::uint8_t>(info.mw_access_flags);
	return 0;
}

void wqe_ring::init(const ring_layout &layout) noexcept
{
	ring_ = layout.ring;
	record_ = layout.record;
	depth_ = layout.present ? 1U << layout.log_depth : 0;
	mask_ = depth_ ? depth_ - 1 : 0;
	max_sge_ = layout.max_sge;
	log_stride_ = layout.log_stride;
}

void wqe_ring::move(const ring_layout &layout) noexcept
{
	init(layout);
	head_ = load_acquire(record_->producer);
	tail_.store(0, std::memory_order_release);
}

void wqe_ring::reset() noexcept
{
	head_ = 0;
	tail_.store(0, std::memory_order_release);
	store_release(record_->producer, 0);
}

void send_queue::init(const send_params &params) noexcept
{
	ring_.init(params.layout);
	bell_ = params.bell;
	qpn_ = params.qpn;
	type_ = type_bit(params.type);
	signal_all_ = params.signal_all;
	max_inline_ = params.max_inline;
	if (params.single_threaded)
		lock_.omit();
}

void send_queue::reset() noexcept
{
	lock_guard guard(lock_);

	ring_.reset();
}

/*
 * The one place that rings the doorbell. The barrier stands between the store
 * of producer and the load of kick_wanted; the device has one between its
 * store of kick_wanted and its last look at producer. So either it sees the
 * WQEs or we see that it sleeps. The kick may execute the WQEs in this very
 * thread, so other posters are let in before it.
 */
int send_queue::submit_and_unlock() noexcept
{
	ring_.publish();
	full_barrier();
	bool kick = ring_.kick_wanted();
	lock_.unlock();
	return kick ? bell_->ring(qpn_) : 0;
}

/* Header and segments; leaves data_ where the data goes. */
int send_queue::open(const send_work &work) noexcept
{
	if (work.opcode >= send_ops.size() || (work.flags & ~known_flags))
		return EINVAL;
	const send_op &op = send_ops[work.opcode];
	if (!(op.types & type_))
		return EINVAL;
	if (ring_.full())
		return ENOMEM;

	hdr_ = reinterpret_cast<ornic_sq_hdr *>(ring_.slot());
	hdr_->opcode = op.opcode;
	hdr_->flags = wqe_flags(op, work.flags, type_, signal_all_);
	hdr_->payload = 0;
	hdr_->imm = work.imm;
	hdr_->wr_id = le<__le64>(work.wr_id);
	inline_limit_ = op.traits & one_word   ? sizeof(std::uint64_t) :
			op.traits & may_inline ? max_inline_ :
						 0;
	may_inline_ = op.traits & may_inline;
	data_ = ring_.slot() + sizeof(*hdr_);
	if (type_ == type_ud)
		data_ += sizeof(ornic_seg_ud);
	if (type_ == type_xrc && !(op.traits & no_data))
		data_ = put(data_, xrc_segment(work.srqn));
	if (op.traits & has_remote)
		data_ = put(data_, remote_segment(work));
	if (op.traits & has_atomic)
		data_ = put(data_, atomic_segment(work));
	if (op.traits & has_bind)
		data_ = put(data_, bind_segment(work));
	if (op.traits & has_flush)
		data_ = put(data_, flush_segment(work));
	no_data_ = op.traits & no_data;
	needs_address_ = type_ == type_ud || (type_ == type_xrc && !no_data_);
	return 0;
}

int send_queue::put_address(const address_handle *ah, std::uint32_t qpn,
			    std::uint32_t qkey) noexcept
{
	if (!ah || type_ != type_ud)
		return EINVAL;
	ornic_seg_ud segment{};

	segment.ah = le<__le32>(ah->number);
	segment.dest_qpn = le<__le32>(qpn);
	segment.dest_qkey = le<__le32>(qkey);
	static_cast<void>(put(ring_.slot() + sizeof(*hdr_), segment));
	needs_address_ = false;
	return 0;
}

int send_queue::put_srqn(std::uint32_t srqn) noexcept
{
	if (type_ != type_xrc || no_data_)
		return EINVAL;
	static_cast<void>(put(ring_.slot() + sizeof(*hdr_), xrc_segment(srqn)));
	needs_address_ = false;
	return 0;
}

int send_queue::put_sges(std::span<const ibv_sge> sges) noexcept
{
	if (no_data_)
		return EINVAL;
	if (sges.size() > ring_.max_sge() ||
	    sges.size() > ring_.room(data_) / sizeof(ornic_sge))
		return EINVAL;
	std::byte *at = data_;
	for (const ibv_sge &sge : sges)
		at = put_sge(at, sge);
	hdr_->payload = le(static_cast<__le16>(sges.size()));
	return 0;
}

template <typename Piece>
int send_queue::put_inline(std::span<const Piece> pieces) noexcept
{
	std::size_t limit =
		std::min<std::size_t>(inline_limit_, ring_.room(data_));
	std::size_t room = limit;
	std::byte *at = data_;

	if (!may_inline_)
		return EINVAL;
	for (const Piece &piece : pieces) {
		if (piece.length > room)
			return EINVAL;
		if (!piece.length)
			continue;
		std::memcpy(at, piece_start(piece), piece.length);
		at += piece.length;
		room -= piece.length;
	}
	hdr_->flags |= ORNIC_WQE_INLINE;
	hdr_->payload = le(static_cast<__le16>(limit - room));
	return 0;
}

int send_queue::write(const ibv_send_wr &wr) noexcept
{
	if (wr.num_sge < 0 ||
	    static_cast<std::uint32_t>(wr.num_sge) > ring_.max_sge())
		return EINVAL;
	send_work work = to_work(wr);
	if (work.opcode == IBV_WR_BIND_MW) {
		const ibv_mw *mw = wr.bind_mw.mw;

		if (!mw || mw->type != IBV_MW_TYPE_2)
			return EINVAL;
		if (int ret = fill_bind(work, wr.bind_mw.bind_info,
					wr.bind_mw.rkey))
			return ret;
	}
	if (int ret = open(work))
		return ret;
	if (no_data_)
		return 0;
	if (type_ == type_ud) {
		if (int ret = put_address(to_ah(wr.wr.ud.ah),
					  wr.wr.ud.remote_qpn,
					  wr.wr.ud.remote_qkey))
			return ret;
	}
	std::span<const ibv_sge> sges(wr.sg_list,
				      static_cast<std::size_t>(wr.num_sge));
	return wr.send_flags & IBV_SEND_INLINE ? put_inline(sges) :
						 put_sges(sges);
}

int send_queue::post(ibv_send_wr *wr, ibv_send_wr **bad_wr) noexcept
{
	ibv_send_wr *first = wr;
	int ret = 0;

	lock_.lock();
	for (; wr; wr = wr->next) {
		ret = write(*wr);
		if (ret) {
			*bad_wr = wr;
			break;
		}
		ring_.push();
	}
	if (int gone = submit_and_unlock()) [[unlikely]] {
		*bad_wr = first;
		return gone;
	}
	return ret;
}

int send_queue::post_local(const send_work &work) noexcept
{
	lock_.lock();
	int ret = open(work);
	if (!ret)
		ring_.push();
	int gone = submit_and_unlock();
	return gone ? gone : ret;
}

void send_queue::batch_start() noexcept
{
	lock_.lock();
	batch_head_ = ring_.head();
	error_ = 0;
	hdr_ = nullptr;
}

/*
 * The WQE of the batch that is open gets its place in the ring only when the
 * next one begins or the batch ends: the setters write to slot(). Where no
 * address was set, the slot may have that of an older WQE.
 */
void send_queue::batch_push() noexcept
{
	if (error_ || !hdr_)
		return;
	if (needs_address_)
		error_ = EINVAL;
	else
		ring_.push();
	hdr_ = nullptr;
}

void send_queue::batch_begin(const send_work &work) noexcept
{
	batch_push();
	if (error_)
		return;
	// IBV_SEND_INLINE says nothing here: the setter decides.
	send_work plain = work;
	plain.flags &= ~static_cast<unsigned int>(IBV_SEND_INLINE);
	error_ = open(plain);
}

void send_queue::batch_address(const address_handle *ah, std::uint32_t qpn,
			       std::uint32_t qkey) noexcept
{
	if (!error_)
		error_ = hdr_ ? put_address(ah, qpn, qkey) : EINVAL;
}

void send_queue::batch_srqn(std::uint32_t srqn) noexcept
{
	if (!error_)
		error_ = hdr_ ? put_srqn(srqn) : EINVAL;
}

void send_queue::batch_sges(std::span<const ibv_sge> sges) noexcept
{
	if (!error_)
		error_ = hdr_ ? put_sges(sges) : EINVAL;
}

void send_queue::batch_inline(std::span<const ibv_data_buf> pieces) noexcept
{
	if (!error_)
		error_ = hdr_ ? put_inline(pieces) : EINVAL;
}

int send_queue::batch_complete() noexcept
{
	batch_push();
	if (error_) {
		int ret = error_;

		batch_abort();
		return ret;
	}
	return submit_and_unlock();
}

void send_queue::batch_abort() noexcept
{
	ring_.rewind(batch_head_);
	lock_.unlock();
}

void receive_queue::init(const receive_params &params) noexcept
{
	ring_.init(params.layout);
	bell_ = params.bell;
	qpn_ = params.qpn;
	if (params.single_threaded)
		lock_.omit();
}

void receive_queue::reset() noexcept
{
	lock_guard guard(lock_);

	ring_.reset();
}

int receive_queue::write(const ibv_recv_wr &wr) noexcept
{
	if (ring_.full())
		return ring_.exists() ? ENOMEM : EINVAL;
	return write_receive(ring_, wr);
}

/* As for a send queue; its partner here is the flush of a QP in error. */
int receive_queue::submit_and_unlock() noexcept
{
	ring_.publish();
	full_barrier();
	bool kick = ring_.kick_wanted();
	lock_.unlock();
	if (kick) [[unlikely]]
		return bell_->ring(qpn_);
	return 0;
}

int receive_queue::post(ibv_recv_wr *wr, ibv_recv_wr **bad_wr) noexcept
{
	ibv_recv_wr *first = wr;
	int ret = 0;

	lock_.lock();
	for (; wr; wr = wr->next) {
		ret = write(*wr);
		if (ret) {
			*bad_wr = wr;
			break;
		}
		ring_.push();
	}
	if (int gone = submit_and_unlock()) [[unlikely]] {
		*bad_wr = first;
		return gone;
	}
	return ret;
}

void shared_queue::init(const ring_layout &layout,
			bool single_threaded) noexcept
{
	ring_.init(layout);
	if (single_threaded)
		lock_.omit();
}

void shared_queue::move(const ring_layout &layout) noexcept
{
	ring_.move(layout);
}

int shared_queue::write(const ibv_recv_wr &wr) noexcept
{
	if (ring_.full()) {
		ring_.retire_taken();
		if (ring_.full())
			return ENOMEM;
	}
	return write_receive(ring_, wr);
}

int shared_queue::post(ibv_recv_wr *wr, ibv_recv_wr **bad_wr) noexcept
{
	lock_guard guard(lock_);
	int ret = 0;

	for (; wr; wr = wr->next) {
		ret = write(*wr);
		if (ret) {
			*bad_wr = wr;
			break;
		}
		ring_.push();
	}
	ring_.publish();
	return ret;
}

} // namespace ornic
