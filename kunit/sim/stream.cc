// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#include "stream.h"

#include <algorithm>
#include <cstdarg>
#include <cstdio>
#include <map>

#include "opcodes.h"

namespace sim
{

namespace
{

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

// ---- posting ------------------------------------------------------------------

u64 stream::remote_address(const message &m) const
{
	if (is_on_word(m.opcode) || m.where == area::word)
		return dst_.va(word_off_);
	if (m.where == area::live)
		return dst_.va(live_off_);
	if (m.opcode == ORNIC_WQE_BIND_MW)
		return src_.va(0);
	if (m.opcode == ORNIC_WQE_READ && m.where == area::constant)
		return dst_.va(read_off_ + m.remote);
	return dst_.va(write_off_ + m.remote);
}

void stream::change_live()
{
	live_++;
	dst_.put(live_off_, reinterpret_cast<u8 *>(&live_), sizeof(live_));
}

bool stream::post_sends()
{
	u64 burst = rng_.in(1, 6);

	if (!next_send_)
		base_ = from_->sq_producer;
	for (; burst && next_send_ < msgs_.size(); burst--) {
		const message &m = msgs_[next_send_];
		std::vector<ornic_lsge> list = sges(src_, m.local);
		ornic_th_wr wr = {};

		wr.wr_id = static_cast<u64>(index_) << 32 | m.id;
		wr.opcode = m.opcode;
		wr.flags = m.flags;
		wr.imm = cpu_to_be32(has_imm(m.opcode) ? m.id : m.key);
		wr.ah = ah_;
		wr.srqn = srq_ ? srq_->srqn : 0;
		wr.dest_qpn = to_->qpn;
		wr.dest_qkey = to_->conn.qkey;
		wr.rkey = m.key ? m.key : dst_.key();
		wr.raddr = remote_address(m);
		wr.flush_type = ORNIC_FLUSH_GLOBAL;
		wr.flush_level = m.id & 1;
		wr.bind_length = is_local(m.opcode) ? src_.size() : m.id;
		wr.bind_lkey = src_.key();
		wr.bind_access = ORNIC_ACCESS_REMOTE_READ;
		wr.swap_add = m.swap_add;
		wr.compare = m.compare;
		wr.sge = list.data();
		if (!is_bare(m.opcode))
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
	u32 depth = 1u << (srq_ ? srq_->log_depth : to_->rq_log_depth);
	u64 burst = early_ ? depth : rng_.in(1, 5);

	for (; burst && next_recv_ < nrecvs_; burst--) {
		std::vector<ornic_lsge> list = sges(rcv_, slots_[next_recv_]);

		if (next_recv_ - recv_cqes_ >= depth)
			return true;
		if (srq_)
			ornic_th_post_srq(srq_, next_recv_, list.data(),
					  static_cast<u32>(list.size()));
		else
			ornic_th_post_recv(to_, next_recv_, list.data(),
					   static_cast<u32>(list.size()));
		next_recv_++;
	}
	return next_recv_ < nrecvs_;
}

// ---- completions -----------------------------------------------------------------

void stream::check_fetched(const message &m)
{
	std::vector<u8> got = gather(src_, m.local, m.length);
	u32 at = 0;

	if (m.where != area::live && got != m.data)
		fail("message %u: wrong bytes read at its completion", m.id);
	for (const piece &p : m.local) {
		src_.expect(p.off, got.data() + at, p.len);
		at += p.len;
	}
}

// Retries ran out, or it was refused: this message fails, those after it are
// flushed.
void stream::on_failed_send(const ornic_cqe &cqe)
{
	u64 id = le64_to_cpu(cqe.wr_id) & 0xffffffff;

	if (refused_ >= 0 && !dead_ &&
	    (static_cast<s64>(id) != refused_ || cqe.status != refusal_))
		fail("message %llu fails with status %u, not %lld with %u",
		     (unsigned long long)id, cqe.status, (long long)refused_,
		     refusal_);
	else if (refused_ < 0 && !dead_ &&
		 cqe.status != ORNIC_CQE_RETRY_EXC_ERR &&
		 cqe.status != ORNIC_CQE_RNR_RETRY_EXC_ERR &&
		 cqe.status != ORNIC_CQE_WR_FLUSH_ERR)
		fail("message %llu fails with status %u",
		     (unsigned long long)id, cqe.status);
	if (dead_ && cqe.status != ORNIC_CQE_WR_FLUSH_ERR)
		fail("status %u after a failure", cqe.status);
	if (id < done_ || id >= next_send_ || (dead_ && id != done_))
		fail("message %llu fails where %u was due",
		     (unsigned long long)id, done_);
	done_ = static_cast<u32>(id) + 1;
	dead_ = true;
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
		{ ORNIC_WQE_SEND_INV, ORNIC_CQE_SEND },
		{ ORNIC_WQE_BIND_MW, ORNIC_CQE_BIND_MW },
		{ ORNIC_WQE_LOCAL_INV, ORNIC_CQE_LOCAL_INV },
	};

	if (rules_.may_die && cqe.status) {
		on_failed_send(cqe);
		return;
	}
	if (dead_)
		fail("success after a failure");

	if (send_cqes_ == send_order_.size()) {
		fail("a completion too many, wr_id 0x%llx status %u",
		     (unsigned long long)le64_to_cpu(cqe.wr_id), cqe.status);
		return;
	}

	const message &m = msgs_[send_order_[send_cqes_++]];

	if (orphaned_ && !is_local(m.opcode))
		fail("message %u: success without a peer", m.id);

	if (cqe.status) {
		fail("message %u opcode %u length %u: status %u verr %u", m.id,
		     m.opcode, m.length, cqe.status, cqe.vendor_err);
		return;
	}
	if (le64_to_cpu(cqe.wr_id) != (static_cast<u64>(index_) << 32 | m.id))
		fail("completion of 0x%llx where %u was due",
		     (unsigned long long)le64_to_cpu(cqe.wr_id), m.id);
	if (le32_to_cpu(cqe.wqe_index) != base_ + m.id)
		fail("message %u: WQE index %u", m.id,
		     le32_to_cpu(cqe.wqe_index));
	if (cqe.opcode != opcode.at(m.opcode))
		fail("message %u: CQE opcode %u", m.id, cqe.opcode);
	done_ = m.id + 1;
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

	if (reliable())
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

// What a datagram says of its way: the CQE, and the GRH before its bytes.
void stream::check_way(const ornic_cqe &cqe, const message &m, u32 slot)
{
	u8 gid = from_->conn.av.sgid_index;
	bool v1 = gid == ORNIC_TH_V1, ipv6 = v1 || gid == ORNIC_TH_IPV6;
	u32 vlan = gid == ORNIC_TH_VLAN ? ORNIC_TH_VLAN_ID : ORNIC_VLAN_NONE;
	std::vector<u8> head = gather(rcv_, slots_[slot], grh);
	u32 at = ipv6 ? 4 : 22;
	u32 len = ORNIC_BTH_LEN + 8 + (m.length + 3) / 4 * 4 + ORNIC_ICRC_LEN;

	if (has_imm(m.opcode))
		len += 4;
	if (!v1)
		len += ORNIC_UDP_LEN;
	if (!ipv6)
		len += 20;
	if (le32_to_cpu(cqe.src_qpn) != from_->qpn)
		fail("message %u: from QP %u", m.id, le32_to_cpu(cqe.src_qpn));
	// The ICRC does not cover MAC addresses and VLAN tag, which may be damaged.
	if (rules_.all_arrive &&
	    (cqe.sgid_index != gid || le16_to_cpu(cqe.vlan) != vlan ||
	     memcmp(cqe.smac, from_->th->mac, 6) != 0))
		fail("message %u: to GID %u, VLAN %u", m.id, cqe.sgid_index,
		     le16_to_cpu(cqe.vlan));
	if (!(cqe.flags & ORNIC_CQE_GRH) ||
	    ipv6 == !!(cqe.flags & ORNIC_CQE_IPV4) ||
	    v1 != !!(cqe.flags & ORNIC_CQE_ROCE_V1))
		fail("message %u: flags 0x%x", m.id, cqe.flags);
	if ((head[at] << 8 | head[at + 1]) != static_cast<int>(len))
		fail("message %u: %u bytes in its GRH, not %u", m.id,
		     head[at] << 8 | head[at + 1], len);
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
	if (rules_.may_die && cqe.status == ORNIC_CQE_WR_FLUSH_ERR)
		return;
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
	if ((m->opcode == ORNIC_WQE_SEND_INV) !=
		    !!(cqe.flags & ORNIC_CQE_WITH_INV) ||
	    (m->opcode == ORNIC_WQE_SEND_INV && be32_to_cpu(cqe.imm) != m->key))
		fail("message %u: invalidates 0x%x", m->id,
		     be32_to_cpu(cqe.imm));
	if (has_imm(m->opcode) != !!(cqe.flags & ORNIC_CQE_WITH_IMM) ||
	    (has_imm(m->opcode) && be32_to_cpu(cqe.imm) != m->id))
		fail("message %u: immediate 0x%x", m->id, be32_to_cpu(cqe.imm));
	if (!!(m->flags & ORNIC_WQE_SOLICITED) !=
	    !!(cqe.flags & ORNIC_CQE_SOLICITED_EVENT))
		fail("message %u: solicited %u", m->id, cqe.flags);
	if (ud)
		check_way(cqe, *m, slot);
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
	bool all = reliable() || rules_.all_arrive;

	if (next_send_ < msgs_.size())
		return false;
	if (dead_)
		return done_ == next_send_;
	if (send_cqes_ < send_order_.size())
		return false;
	// What fails the other way ends this one, too.
	return !all || recv_cqes_ == nrecvs_ || rules_.may_die;
}

u64 stream::bytes() const
{
	u64 sum = 0;

	for (u32 i = 0; i < next_send_; i++)
		sum += msgs_[i].length;
	return sum;
}

u64 stream::frames() const
{
	u64 sum = 0;

	for (u32 i = 0; i < next_send_; i++)
		if (!is_local(msgs_[i].opcode))
			sum += 1 + std::max<u64>(1, (msgs_[i].length + mtu_ -
						     1) / mtu_);
	return sum;
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

// Parts of messages may be missing, but nothing else is there.
void stream::check_unreliable()
{
	std::vector<u8> got, was;

	for (const message &m : msgs_) {
		if (!is_write(m.opcode))
			continue;
		got.resize(m.length);
		was.resize(m.length);
		dst_.read(write_off_ + m.remote, got.data(), m.length);
		dst_.image(write_off_ + m.remote, was.data(), m.length);
		for (u32 i = 0; i < m.length; i++)
			if (got[i] != m.data[i] &&
			    (rules_.all_arrive || got[i] != was[i]))
				fail("message %u: wrong byte %u", m.id, i);
		dst_.expect(write_off_ + m.remote, got.data(), m.length);
	}
	if (s64 off = dst_.check(); off >= 0)
		fail("receiver's region differs at %lld", (long long)off);
	if (!rules_.all_arrive)
		return;
	if (s64 off = rcv_.check(); off >= 0)
		fail("receiver's buffers differ at %lld", (long long)off);
}

void stream::check_end()
{
	if (refused_ >= 0 && !dead_)
		fail("message %lld was not refused", (long long)refused_);
	if (!failure_.empty() || dead_ || rules_.may_die)
		return;
	if (send_cqes_ != send_order_.size())
		fail("%u of %zu completions", send_cqes_, send_order_.size());
	if ((reliable() || rules_.all_arrive) && recv_cqes_ != nrecvs_)
		fail("%u of %u receives", recv_cqes_, nrecvs_);
	if (s64 off = src_.check(); off >= 0)
		fail("sender's memory differs at %lld", (long long)off);
	if (!reliable()) {
		check_unreliable();
		return;
	}
	for (const message &m : msgs_)
		if (is_write(m.opcode))
			dst_.expect(write_off_ + m.remote, m.data.data(),
				    m.length);
	if (s64 off = rcv_.check(); off >= 0)
		fail("receiver's buffers differ at %lld", (long long)off);
	if (s64 off = dst_.check(); off >= 0)
		fail("receiver's region differs at %lld (writes from %u)",
		     (long long)off, write_off_);
}

void stream::destroy()
{
	for (u32 key : windows_)
		if (key)
			ornic_th_destroy_obj(recv_th(), ORNIC_CMD_DESTROY_MW,
					     key);
	if (own_window_)
		ornic_th_destroy_obj(send_th(), ORNIC_CMD_DESTROY_MW,
				     own_window_);
	if (src_.destroy() || dst_.destroy() || rcv_.destroy())
		fail("an MR cannot be destroyed");
}

} // namespace sim
