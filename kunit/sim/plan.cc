// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
// Before traffic: which messages a stream sends, their memory and windows.
#include <algorithm>

#include "opcodes.h"
#include "stream.h"

namespace sim
{

// ---- region ---------------------------------------------------------------

region::~region()
{
	// The memory belongs to the harness.
}

int region::make(ornic_th *th, u32 bytes, random &rng, u32 align, bool paged)
{
	u32 off0 = static_cast<u32>(rng.in(0, 4095)) / align * align;

	image_.resize(bytes);
	made_ = true;
	if (paged)
		return ornic_th_odp_init(th, &mr_, bytes, off0,
					 ORNIC_ACCESS_MR_MASK);
	return ornic_th_mr_init(th, &mr_, bytes, off0, rng.chance(0.8),
				ORNIC_ACCESS_MR_MASK);
}

void region::expect(u32 off, const u8 *data, u32 len)
{
	if (len)
		memcpy(image_.data() + off, data, len);
}

void region::put(u32 off, const u8 *data, u32 len)
{
	expect(off, data, len);
	ornic_th_mr_write(&mr_, off, data, len);
}

void region::read(u32 off, u8 *data, u32 len) const
{
	ornic_th_mr_read(&mr_, off, data, len);
}

void region::image(u32 off, u8 *data, u32 len) const
{
	std::copy_n(image_.begin() + off, len, data);
}

s64 region::check() const
{
	u32 off = 0;

	while (off < mr_.length) {
		u32 run;
		const u8 *p = ornic_th_mr_at(&mr_, off, &run);

		run = std::min(run, mr_.length - off);
		if (run && memcmp(p, image_.data() + off, run) != 0) {
			for (u32 i = 0; i < run; i++)
				if (p[i] != image_[off + i])
					return off + i;
		}
		off += run;
	}
	return -1;
}

int region::destroy()
{
	if (!made_)
		return 0;
	made_ = false;
	return ornic_th_mr_fini(&mr_);
}

// ---- planning --------------------------------------------------------------

stream::stream(random &rng, const rules &r, u32 index)
	: rng_(rng)
	, rules_(r)
	, index_(index)
{
}

u8 stream::pick_opcode()
{
	static const u8 rc[] = {
		ORNIC_WQE_SEND,	     ORNIC_WQE_SEND_IMM, ORNIC_WQE_WRITE,
		ORNIC_WQE_WRITE_IMM, ORNIC_WQE_READ,	 ORNIC_WQE_CAS,
		ORNIC_WQE_FAA,	     ORNIC_WQE_WRITE,	 ORNIC_WQE_SEND,
		ORNIC_WQE_READ,	     ORNIC_WQE_FLUSH,	 ORNIC_WQE_ATOMIC_WRITE,
		ORNIC_WQE_BIND_MW,   ORNIC_WQE_SEND_INV, ORNIC_WQE_READ,
	};
	constexpr u64 of_xrc = 9; // the others are of RC alone

	switch (from_->type) {
	case ORNIC_QPT_RC:
		return rc[rng_.in(0, sizeof(rc) - 1)];
	case ORNIC_QPT_XRC_INI:
		return rc[rng_.in(0, of_xrc)];
	case ORNIC_QPT_UC:
		return static_cast<u8>(rng_.in(0, 3));
	default:
		return static_cast<u8>(rng_.in(0, 1));
	}
}

u32 stream::pick_length(u32 mtu, u8 opcode)
{
	u64 what = rng_.in(0, 9);
	u32 len;

	if (is_on_word(opcode))
		return 8;
	if (is_bare(opcode))
		return 0;
	if (rules_.longest > 16384)
		return static_cast<u32>(rng_.in(0, rules_.longest));
	if (what < 4)
		len = static_cast<u32>(rng_.in(0, 64));
	else if (what < 7)
		len = static_cast<u32>(mtu * rng_.in(0, 3) + rng_.in(0, 4));
	else if (what < 9)
		len = static_cast<u32>(rng_.in(0, 4 * u64{ mtu }));
	else
		len = static_cast<u32>(rng_.in(0, 16384));
	if (from_->type == ORNIC_QPT_UD)
		len = std::min(len, mtu);
	// What has no immediate carries its number in its first bytes.
	if (!reliable() && !has_imm(opcode))
		len = std::max(len, 4u);
	return len;
}

// Cut @len bytes into up to four pieces, some of them empty, with gaps.
std::vector<piece> stream::place(u32 len, u32 &top)
{
	std::vector<piece> list;
	u64 n = rng_.in(1, 4);

	for (u64 i = 1; i <= n; i++) {
		u32 part = i == n ? len : static_cast<u32>(rng_.in(0, len));

		if (rng_.chance(0.2) && i != n)
			part = 0;
		top += static_cast<u32>(rng_.in(0, 9));
		list.push_back({ top, part });
		top += part;
		len -= part;
	}
	return list;
}

// RC executes in order, so every atomic's result is known beforehand.
void stream::model_atomic(message &m)
{
	m.orig = word_;
	m.swap_add = rng_.next();
	m.compare = rng_.chance(0.5) ? word_ : rng_.next();
	if (m.opcode == ORNIC_WQE_FAA)
		word_ += m.swap_add;
	else if (m.compare == word_)
		word_ = m.swap_add;
	m.data.resize(8);
	memcpy(m.data.data(), &m.orig, 8);
}

void stream::model_atomic_write(message &m)
{
	word_ = rng_.next();
	m.data.resize(8);
	memcpy(m.data.data(), &word_, 8);
}

// Does it change what a READ before it may still be reading, or take its key? The fence
// keeps them apart (IBTA 10.8.3.3).
bool stream::overtakes(const message &m) const
{
	for (auto r = msgs_.rbegin(); r != msgs_.rend(); ++r) {
		if (r->flags & ORNIC_WQE_FENCE && !is_fetch(r->opcode))
			return false;
		if (r->opcode != ORNIC_WQE_READ)
			continue;
		if (is_on_word(m.opcode) && r->where == area::word)
			return true;
		if (m.opcode == ORNIC_WQE_SEND_INV && r->key == m.key)
			return true;
		if (is_write(m.opcode) && r->where == area::written &&
		    m.remote < r->remote + r->length &&
		    r->remote < m.remote + m.length)
			return true;
	}
	return false;
}

void stream::plan_flags(message &m, bool last)
{
	m.signalled = from_->sig_all || last || m.id % 4 == 3 ||
		      rng_.chance(0.5);
	m.takes_recv = is_send(m.opcode) || has_imm(m.opcode);
	if (m.signalled && (!from_->sig_all || rng_.chance(0.5)))
		m.flags |= ORNIC_WQE_SIGNALED;
	if (rng_.chance(0.2) || overtakes(m))
		m.flags |= ORNIC_WQE_FENCE;
	if (is_local(m.opcode))
		return;
	if (rng_.chance(0.2))
		m.flags |= ORNIC_WQE_SOLICITED;
	if (!is_fetch(m.opcode) && !is_bare(m.opcode) &&
	    m.length <= from_->max_inline && rng_.chance(0.3))
		m.flags |= ORNIC_WQE_INLINE;
}

// By the window that is still valid, or by the key of the MR.
void stream::plan_key(message &m)
{
	if (windows_[0] && next_window_ < 2 && rng_.chance(0.5))
		m.key = windows_[next_window_];
}

void stream::plan_remote(message &m)
{
	if (m.opcode == ORNIC_WQE_READ) {
		m.where = static_cast<area>(rng_.in(0, 3));
		if (m.where == area::word || m.where == area::live)
			m.length = 8;
		else if (m.where == area::constant)
			m.remote = static_cast<u32>(
				rng_.in(0, read_len_ - m.length));
		else
			m.remote = static_cast<u32>(
				rng_.in(0, write_bytes_ - m.length));
		if (m.where == area::written)
			plan_key(m);
	} else if (is_write(m.opcode)) {
		m.remote = reliable() ? static_cast<u32>(rng_.in(
						0, write_bytes_ - m.length)) :
					m.id * 16384;
		plan_key(m);
	}
}

// BIND_MW and LOCAL_INV in turn; SEND_INV while there is something to invalidate.
void stream::plan_window(message &m)
{
	if (m.opcode == ORNIC_WQE_SEND_INV) {
		if (next_window_ < 2)
			m.key = windows_[next_window_++];
		else
			m.opcode = ORNIC_WQE_SEND;
	}
	if (m.opcode != ORNIC_WQE_BIND_MW)
		return;
	if (own_bound_)
		m.opcode = ORNIC_WQE_LOCAL_INV;
	else
		own_window_ = next_variant(own_window_);
	own_bound_ = !own_bound_;
	m.key = own_window_;
}

// One message names a key that does not exist.
void stream::plan_refusal()
{
	message &m = msgs_[rng_.in(0, msgs_.size() - 1)];

	if (!m.length && m.opcode != ORNIC_WQE_FLUSH)
		return;
	if (!is_fetch(m.opcode) && !is_write(m.opcode) &&
	    !is_on_word(m.opcode) && m.opcode != ORNIC_WQE_FLUSH)
		return;
	m.key = next_variant(dst_.key());
	refused_ = m.id;
	refusal_ = ORNIC_CQE_REM_ACCESS_ERR;
}

void stream::expect_no_response()
{
	refused_ = -1;
	refusal_ = ORNIC_CQE_RETRY_EXC_ERR;
	for (const message &m : msgs_) {
		if (is_local(m.opcode))
			continue;
		refused_ = m.id;
		return;
	}
}

void stream::plan(u32 mtu, u32 n)
{
	slot_bytes_ = 4;
	for (u32 i = 0; i < n; i++) {
		message m = {};

		m.id = i;
		m.opcode = pick_opcode();
		m.length = pick_length(mtu, m.opcode);
		plan_window(m);
		plan_remote(m);
		plan_flags(m, i + 1 == n);
		if (is_atomic(m.opcode))
			model_atomic(m);
		if (m.opcode == ORNIC_WQE_ATOMIC_WRITE)
			model_atomic_write(m);
		if (m.opcode == ORNIC_WQE_READ && m.where == area::word)
			m.orig = word_;
		if (is_send(m.opcode))
			slot_bytes_ = std::max(slot_bytes_, m.length);
		if (m.takes_recv)
			recv_order_.push_back(i);
		if (m.signalled)
			send_order_.push_back(i);
		msgs_.push_back(std::move(m));
	}
	if (rules_.refuses)
		plan_refusal();
	arrived_.resize(n);
	nrecvs_ = static_cast<u32>(recv_order_.size());
}

void stream::fill_message(message &m) const
{
	m.data.resize(m.length);
	for (u32 i = 0; i < m.length; i++)
		m.data[i] = ornic_fix_byte(index_ << 8 | m.id, i);
	if (m.length >= 4)
		memcpy(m.data.data(), &m.id, 4);
}

// Contents of all memory, and the images of what it must become.
void stream::fill_memory()
{
	std::vector<u8> noise(
		std::max({ src_.size(), dst_.size(), rcv_.size() }));

	for (size_t i = 0; i < noise.size(); i++)
		noise[i] = ornic_fix_byte(0x5000 + index_, static_cast<u32>(i));
	src_.put(0, noise.data(), src_.size());
	dst_.put(0, noise.data(), dst_.size());
	rcv_.put(0, noise.data(), rcv_.size());
	word_ = 0;
	dst_.put(word_off_, reinterpret_cast<u8 *>(&word_), 8);

	fill_messages(noise);
}

// READs find what the WRITEs before them have written.
void stream::fill_messages(const std::vector<u8> &noise)
{
	std::vector<u8> all(noise.begin(), noise.begin() + dst_.size());

	for (message &m : msgs_) {
		if (is_atomic(m.opcode) || is_bare(m.opcode))
			continue;
		if (m.opcode == ORNIC_WQE_READ) {
			auto from = all.begin() +
				    (m.where == area::constant ? read_off_ :
								 write_off_) +
				    m.remote;

			m.data.assign(from, from + m.length);
			if (m.where == area::word)
				memcpy(m.data.data(), &m.orig, 8);
			continue;
		}
		if (!is_on_word(m.opcode))
			fill_message(m);
		if (is_write(m.opcode))
			std::copy(m.data.begin(), m.data.end(),
				  all.begin() + write_off_ + m.remote);
		if (m.flags & ORNIC_WQE_INLINE)
			continue;

		u32 at = 0;

		for (const piece &p : m.local) {
			src_.put(p.off, m.data.data() + at, p.len);
			at += p.len;
		}
	}
}

// The receiver's windows on all that WRITEs write, and some READs read.
int stream::bind_for_peer()
{
	for (u32 &key : windows_) {
		ornic_th_wr wr = {};
		ornic_cqe cqe;

		if (ornic_th_mw(to_->th, ORNIC_MW_TYPE_2, &key))
			return -1;
		key = next_variant(key);
		wr.opcode = ORNIC_WQE_BIND_MW;
		wr.flags = ORNIC_WQE_SIGNALED;
		wr.raddr = dst_.va(write_off_);
		wr.rkey = key;
		wr.bind_length = write_bytes_;
		wr.bind_lkey = dst_.key();
		wr.bind_access = ORNIC_ACCESS_REMOTE_WRITE |
				 ORNIC_ACCESS_REMOTE_READ;
		ornic_th_post_send(to_, &wr);
		ornic_th_run(to_->th);
		if (!ornic_th_poll(to_->scq, &cqe) || cqe.status)
			return -1;
	}
	return 0;
}

int stream::make_windows()
{
	if (from_->type != ORNIC_QPT_RC)
		return 0;
	if (ornic_th_mw(from_->th, ORNIC_MW_TYPE_2, &own_window_))
		return -1;
	return bind_for_peer();
}

int stream::setup(ornic_th_qp *from, ornic_th_qp *to, ornic_th_srq *srq,
		  u32 mtu, u32 ah)
{
	bool ud = from->type == ORNIC_QPT_UD;
	u32 top = 0, recv_top = 0;
	// A list of one page names the pages of an MR.
	u32 n = static_cast<u32>(
		rng_.in(1, std::min(14u, 2000000 / rules_.longest)));
	int status;

	mtu_ = mtu;
	from_ = from;
	to_ = to;
	srq_ = srq;
	ah_ = ah;
	word_ = 0;
	read_len_ = rules_.longest;
	read_off_ = 16;
	write_off_ = read_off_ + read_len_ + 16;
	word_off_ = 0;
	live_off_ = 8;
	write_bytes_ = reliable() ? rules_.longest * 3 / 2 : ud ? 0 : n * 16384;
	status = dst_.make(to->th, write_off_ + write_bytes_ + 16, rng_, 8,
			   rules_.paged);
	if (!status)
		status = make_windows();
	if (status)
		return status;
	plan(mtu, n);
	for (message &m : msgs_)
		m.local = place(m.length, top);
	for (u32 i = 0; i < nrecvs_; i++)
		slots_.push_back(place(slot_bytes_ + (ud ? grh : 0), recv_top));

	u64 final_word = word_;

	status = src_.make(from->th, top + 16, rng_, 1, rules_.paged);
	if (!status)
		status =
			rcv_.make(to->th, recv_top + 16, rng_, 1, rules_.paged);
	if (!status)
		fill_memory();
	dst_.expect(word_off_, reinterpret_cast<u8 *>(&final_word), 8);
	return status;
}

} // namespace sim
