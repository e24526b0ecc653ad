// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#include "stream.h"

#include <algorithm>
#include <cstdarg>
#include <cstdio>
#include <map>

extern "C" {
#include "pair_fixture.h"
}

namespace sim
{

namespace
{

constexpr u32 write_area = 24576;
constexpr u32 grh = ORNIC_GRH_LEN;

bool is_fetch(u8 op)
{
	return op == ORNIC_WQE_READ || op == ORNIC_WQE_CAS ||
	       op == ORNIC_WQE_FAA;
}

bool is_atomic(u8 op)
{
	return op == ORNIC_WQE_CAS || op == ORNIC_WQE_FAA;
}

bool is_on_word(u8 op)
{
	return is_atomic(op) || op == ORNIC_WQE_ATOMIC_WRITE;
}

bool is_write(u8 op)
{
	return op == ORNIC_WQE_WRITE || op == ORNIC_WQE_WRITE_IMM;
}

bool is_send(u8 op)
{
	return op == ORNIC_WQE_SEND || op == ORNIC_WQE_SEND_IMM;
}

bool has_imm(u8 op)
{
	return op == ORNIC_WQE_SEND_IMM || op == ORNIC_WQE_WRITE_IMM;
}

std::vector<ornic_lsge> sges(const region &r, const std::vector<piece> &list)
{
	std::vector<ornic_lsge> out;

	out.reserve(list.size());
	for (const piece &p : list)
		out.push_back({ r.va(p.off), p.len, r.key() });
	return out;
}

std::vector<u8> gather(const region &r, const std::vector<piece> &list, u32 len)
{
	std::vector<u8> out(len);
	u32 at = 0;

	for (const piece &p : list) {
		u32 n = std::min(p.len, len - at);

		if (n)
			r.read(p.off, out.data() + at, n);
		at += n;
	}
	return out;
}

} // namespace

// ---- region ---------------------------------------------------------------

region::~region()
{
	// The memory belongs to the harness.
}

int region::make(ornic_th *th, u32 bytes, random &rng, u32 align)
{
	u32 off0 = static_cast<u32>(rng.in(0, 4095)) / align * align;

	image_.resize(bytes);
	made_ = true;
	return ornic_th_mr_init(th, &mr_, bytes, off0, rng.chance(0.8),
				ORNIC_ACCESS_MASK);
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

void stream::fail(const char *fmt, ...)
{
	char text[256];
	va_list ap;

	if (!failure_.empty())
		return;
	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	failure_ = "stream " + std::to_string(index_) + " (QP " +
		   std::to_string(from_->qpn) + " type " +
		   std::to_string(from_->type) + "): " + text;
}

u8 stream::pick_opcode()
{
	static const u8 rc[] = {
		ORNIC_WQE_SEND,	     ORNIC_WQE_SEND_IMM, ORNIC_WQE_WRITE,
		ORNIC_WQE_WRITE_IMM, ORNIC_WQE_READ,	 ORNIC_WQE_CAS,
		ORNIC_WQE_FAA,	     ORNIC_WQE_WRITE,	 ORNIC_WQE_SEND,
		ORNIC_WQE_READ,	     ORNIC_WQE_FLUSH,	 ORNIC_WQE_ATOMIC_WRITE,
	};

	switch (from_->type) {
	case ORNIC_QPT_RC:
		return rc[rng_.in(0, sizeof(rc) - 1)];
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
	if (opcode == ORNIC_WQE_FLUSH)
		return 0;
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
	if (from_->type != ORNIC_QPT_RC && !has_imm(opcode))
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

void stream::plan(u32 mtu, bool sig_all, u32 max_inline)
{
	bool rc = from_->type == ORNIC_QPT_RC;
	u32 n = static_cast<u32>(rng_.in(1, 14));

	slot_bytes_ = 4;
	for (u32 i = 0; i < n; i++) {
		message m = {};

		m.id = i;
		m.opcode = pick_opcode();
		m.length = pick_length(mtu, m.opcode);
		m.signalled = sig_all || i + 1 == n || i % 4 == 3 ||
			      rng_.chance(0.5);
		m.takes_recv = is_send(m.opcode) || has_imm(m.opcode);
		if (m.signalled && (!sig_all || rng_.chance(0.5)))
			m.flags |= ORNIC_WQE_SIGNALED;
		if (rng_.chance(0.2))
			m.flags |= ORNIC_WQE_FENCE;
		if (rng_.chance(0.2))
			m.flags |= ORNIC_WQE_SOLICITED;
		if (!is_fetch(m.opcode) && m.opcode != ORNIC_WQE_FLUSH &&
		    m.length <= max_inline && rng_.chance(0.3))
			m.flags |= ORNIC_WQE_INLINE;
		if (is_atomic(m.opcode))
			model_atomic(m);
		if (m.opcode == ORNIC_WQE_ATOMIC_WRITE)
			model_atomic_write(m);
		if (is_send(m.opcode))
			slot_bytes_ = std::max(slot_bytes_, m.length);
		if (is_write(m.opcode))
			m.remote = rc ? static_cast<u32>(rng_.in(
						0, write_area - m.length)) :
					m.id * 16384;
		if (m.takes_recv)
			recv_order_.push_back(i);
		if (m.signalled)
			send_order_.push_back(i);
		msgs_.push_back(std::move(m));
	}
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

	for (message &m : msgs_) {
		if (m.opcode == ORNIC_WQE_READ) {
			m.remote = static_cast<u32>(
				rng_.in(0, read_len_ - m.length));
			m.data.assign(noise.begin() + read_off_ + m.remote,
				      noise.begin() + read_off_ + m.remote +
					      m.length);
			continue;
		}
		if (is_atomic(m.opcode))
			continue;
		if (!is_on_word(m.opcode))
			fill_message(m);
		if (m.flags & ORNIC_WQE_INLINE)
			continue;

		u32 at = 0;

		for (const piece &p : m.local) {
			src_.put(p.off, m.data.data() + at, p.len);
			at += p.len;
		}
	}
}

int stream::setup(ornic_th_qp *from, ornic_th_qp *to, u32 mtu, u32 ah,
		  bool sig_all, u32 max_inline)
{
	bool rc = from->type == ORNIC_QPT_RC, ud = from->type == ORNIC_QPT_UD;
	u32 top = 0, recv_top = 0;

	from_ = from;
	to_ = to;
	ah_ = ah;
	word_ = 0;
	plan(mtu, sig_all, max_inline);
	for (message &m : msgs_)
		m.local = place(m.length, top);
	for (u32 i = 0; i < nrecvs_; i++)
		slots_.push_back(place(slot_bytes_ + (ud ? grh : 0), recv_top));
	read_len_ = 16384;
	read_off_ = 16;
	write_off_ = read_off_ + read_len_ + 16;
	word_off_ = 0;

	u32 writes = rc ? write_area : static_cast<u32>(msgs_.size()) * 16384;
	u64 final_word = word_;
	int status = src_.make(from->th, top + 16, rng_, 1);

	if (!status)
		status = dst_.make(to->th, write_off_ + writes + 16, rng_, 8);
	if (!status)
		status = rcv_.make(to->th, recv_top + 16, rng_, 1);
	if (!status)
		fill_memory();
	dst_.expect(word_off_, reinterpret_cast<u8 *>(&final_word), 8);
	return status;
}

// ---- posting ------------------------------------------------------------------

bool stream::post_sends()
{
	u64 burst = rng_.in(1, 6);

	for (; burst && next_send_ < msgs_.size(); burst--) {
		const message &m = msgs_[next_send_];
		std::vector<ornic_lsge> list = sges(src_, m.local);
		ornic_th_wr wr = {};

		wr.wr_id = static_cast<u64>(index_) << 32 | m.id;
		wr.opcode = m.opcode;
		wr.flags = m.flags;
		wr.imm = cpu_to_be32(m.id);
		wr.ah = ah_;
		wr.dest_qpn = to_->qpn;
		wr.dest_qkey = to_->conn.qkey;
		wr.rkey = dst_.key();
		wr.raddr = dst_.va(
			is_on_word(m.opcode)	   ? word_off_ :
			m.opcode == ORNIC_WQE_READ ? read_off_ + m.remote :
						     write_off_ + m.remote);
		wr.flush_type = ORNIC_FLUSH_GLOBAL;
		wr.flush_level = m.id & 1;
		wr.bind_length = m.id;
		wr.swap_add = m.swap_add;
		wr.compare = m.compare;
		wr.sge = list.data();
		if (m.opcode != ORNIC_WQE_FLUSH)
			wr.nsge = static_cast<u32>(list.size());
		wr.inline_data = m.data.data();
		wr.inline_len = m.length;
		if (ornic_th_post_send(from_, &wr))
			return true;
		next_send_++;
	}
	return next_send_ < msgs_.size();
}

bool stream::post_recvs()
{
	u32 depth = 1u << to_->rq_log_depth;
	u64 burst = early_ ? depth : rng_.in(1, 5);

	for (; burst && next_recv_ < nrecvs_; burst--) {
		std::vector<ornic_lsge> list = sges(rcv_, slots_[next_recv_]);

		if (next_recv_ - recv_cqes_ >= depth)
			return true;
		ornic_th_post_recv(to_, next_recv_, list.data(),
				   static_cast<u32>(list.size()));
		next_recv_++;
	}
	return next_recv_ < nrecvs_;
}

// ---- completions -----------------------------------------------------------------

void stream::check_fetched(const message &m)
{
	if (gather(src_, m.local, m.length) != m.data)
		fail("message %u: wrong bytes read at its completion", m.id);
	u32 at = 0;

	for (const piece &p : m.local) {
		src_.expect(p.off, m.data.data() + at, p.len);
		at += p.len;
	}
}

void stream::on_send(const ornic_cqe &cqe)
{
	static const std::map<u8, u8> opcode = {
		{ ORNIC_WQE_SEND, ORNIC_CQE_SEND },
		{ ORNIC_WQE_SEND_IMM, ORNIC_CQE_SEND },
		{ ORNIC_WQE_WRITE, ORNIC_CQE_WRITE },
		{ ORNIC_WQE_WRITE_IMM, ORNIC_CQE_WRITE },
		{ ORNIC_WQE_READ, ORNIC_CQE_READ },
		{ ORNIC_WQE_CAS, ORNIC_CQE_CAS },
		{ ORNIC_WQE_FAA, ORNIC_CQE_FAA },
		{ ORNIC_WQE_ATOMIC_WRITE, ORNIC_CQE_ATOMIC_WRITE },
		{ ORNIC_WQE_FLUSH, ORNIC_CQE_FLUSH },
	};

	if (send_cqes_ == send_order_.size()) {
		fail("a completion too many, wr_id 0x%llx status %u",
		     (unsigned long long)le64_to_cpu(cqe.wr_id), cqe.status);
		return;
	}

	const message &m = msgs_[send_order_[send_cqes_++]];

	if (cqe.status) {
		fail("message %u opcode %u length %u: status %u verr %u", m.id,
		     m.opcode, m.length, cqe.status, cqe.vendor_err);
		return;
	}
	if (le64_to_cpu(cqe.wr_id) != (static_cast<u64>(index_) << 32 | m.id))
		fail("completion of 0x%llx where %u was due",
		     (unsigned long long)le64_to_cpu(cqe.wr_id), m.id);
	if (le32_to_cpu(cqe.wqe_index) != m.id)
		fail("message %u: WQE index %u", m.id,
		     le32_to_cpu(cqe.wqe_index));
	if (cqe.opcode != opcode.at(m.opcode))
		fail("message %u: CQE opcode %u", m.id, cqe.opcode);
	// Everything up to here has been fetched.
	for (u32 i = 0; i <= m.id; i++) {
		if (is_fetch(msgs_[i].opcode) && !arrived_[i]) {
			arrived_[i] = 1;
			check_fetched(msgs_[i]);
		}
	}
}

const message *stream::identify(const ornic_cqe &cqe, u32 slot)
{
	bool ud = to_->type == ORNIC_QPT_UD;
	u32 id = be32_to_cpu(cqe.imm);

	if (to_->type == ORNIC_QPT_RC)
		return &msgs_[recv_order_[slot]];
	if (!(cqe.flags & ORNIC_CQE_WITH_IMM)) {
		std::vector<u8> all =
			gather(rcv_, slots_[slot], 4 + (ud ? grh : 0));

		memcpy(&id, all.data() + (ud ? grh : 0), 4);
	}
	if (id >= next_send_ || !msgs_[id].takes_recv) {
		fail("receive %u: message %u was never sent", slot, id);
		return nullptr;
	}
	return &msgs_[id];
}

void stream::check_recv_bytes(const message &m, u32 slot)
{
	u32 head = to_->type == ORNIC_QPT_UD ? grh : 0;
	std::vector<u8> got = gather(rcv_, slots_[slot], m.length + head);

	if (m.length && memcmp(got.data() + head, m.data.data(), m.length) != 0)
		fail("receive %u: wrong bytes of message %u", slot, m.id);

	u32 at = 0;

	for (const piece &p : slots_[slot]) {
		u32 n = std::min<u32>(p.len, m.length + head - at);

		rcv_.expect(p.off, got.data() + at, n);
		at += n;
	}
}

void stream::on_recv(const ornic_cqe &cqe)
{
	bool ud = to_->type == ORNIC_QPT_UD;
	u32 slot = recv_cqes_;

	if (slot >= next_recv_) {
		fail("a receive too many");
		return;
	}
	recv_cqes_++;
	if (le64_to_cpu(cqe.wr_id) != slot || cqe.status) {
		fail("receive %u: wr_id %llu status %u verr %u", slot,
		     (unsigned long long)le64_to_cpu(cqe.wr_id), cqe.status,
		     cqe.vendor_err);
		return;
	}

	const message *m = identify(cqe, slot);

	if (!m)
		return;
	if (m->id >= next_send_)
		fail("receive %u: message %u comes before it was sent", slot,
		     m->id);
	if (rules_.once && arrived_[m->id])
		fail("message %u came twice", m->id);
	if (rules_.in_order && static_cast<s64>(m->id) <= last_id_)
		fail("message %u after %lld", m->id, (long long)last_id_);
	arrived_[m->id] = 1;
	last_id_ = m->id;
	if (le32_to_cpu(cqe.byte_len) != m->length + (ud ? grh : 0))
		fail("message %u: %u bytes, not %u", m->id,
		     le32_to_cpu(cqe.byte_len), m->length);
	if (has_imm(m->opcode) != !!(cqe.flags & ORNIC_CQE_WITH_IMM) ||
	    (has_imm(m->opcode) && be32_to_cpu(cqe.imm) != m->id))
		fail("message %u: immediate 0x%x", m->id, be32_to_cpu(cqe.imm));
	if (!!(m->flags & ORNIC_WQE_SOLICITED) !=
	    !!(cqe.flags & ORNIC_CQE_SOLICITED_EVENT))
		fail("message %u: solicited %u", m->id, cqe.flags);
	if (ud && le32_to_cpu(cqe.src_qpn) != from_->qpn)
		fail("message %u: from QP %u", m->id, le32_to_cpu(cqe.src_qpn));
	if (cqe.opcode !=
	    (is_write(m->opcode) ? ORNIC_CQE_RECV_WRITE_IMM : ORNIC_CQE_RECV))
		fail("message %u: CQE opcode 0x%x", m->id, cqe.opcode);
	if (is_send(m->opcode)) {
		check_recv_bytes(*m, slot);
		return;
	}

	// WRITE with immediate: all of it is there by now. RC may have later
	// ones behind it in the same place, which the end sorts out.
	if (to_->type == ORNIC_QPT_UC) {
		std::vector<u8> got(m->length);

		dst_.read(write_off_ + m->remote, got.data(), m->length);
		if (got != m->data)
			fail("message %u: wrong bytes written", m->id);
	}
}

bool stream::done() const
{
	bool all = from_->type == ORNIC_QPT_RC || rules_.all_arrive;

	if (next_send_ < msgs_.size() || send_cqes_ < send_order_.size())
		return false;
	return !all || recv_cqes_ == nrecvs_;
}

std::string stream::progress() const
{
	char text[160];

	snprintf(
		text, sizeof(text),
		"QP %u type %u: posted %u of %zu, completions %u of %zu, receives %u of %u posted, %u done",
		from_->qpn, from_->type, next_send_, msgs_.size(), send_cqes_,
		send_order_.size(), next_recv_, nrecvs_, recv_cqes_);
	return text;
}

void stream::check_end()
{
	bool rc = from_->type == ORNIC_QPT_RC;

	if (!failure_.empty())
		return;
	if (send_cqes_ != send_order_.size())
		fail("%u of %zu completions", send_cqes_, send_order_.size());
	if ((rc || rules_.all_arrive) && recv_cqes_ != nrecvs_)
		fail("%u of %u receives", recv_cqes_, nrecvs_);
	for (const message &m : msgs_)
		if (is_write(m.opcode) && rc)
			dst_.expect(write_off_ + m.remote, m.data.data(),
				    m.length);
	if (s64 off = src_.check(); off >= 0)
		fail("sender's memory differs at %lld", (long long)off);
	if (!rc)
		return;
	// Unreliable ones may leave parts of messages behind.
	if (s64 off = rcv_.check(); off >= 0)
		fail("receiver's buffers differ at %lld", (long long)off);
	if (s64 off = dst_.check(); off >= 0)
		fail("receiver's region differs at %lld (writes from %u)",
		     (long long)off, write_off_);
}

void stream::destroy()
{
	if (src_.destroy() || dst_.destroy() || rcv_.destroy())
		fail("an MR cannot be destroyed");
}

} // namespace sim
