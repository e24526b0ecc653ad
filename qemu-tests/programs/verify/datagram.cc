// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * UD: bytes, the 40 bytes before them, and who the sender was.
 */

#include <arpa/inet.h>
#include <endian.h>

#include <cstring>

#include "tests.h"

namespace
{

class datagram : public verify {};

constexpr size_t grh_size = 40;
constexpr size_t source = 4096 + 13;
constexpr size_t target = 8192 + 27;

const options ud_options = { .type = IBV_QPT_UD, .depth = 32 };

ah_ptr address_of(const endpoint &from, const port &peer,
		  uint32_t flow_label = 0, uint8_t sl = 0)
{
	ibv_ah_attr attr = path_to(peer.gid, from.on.gid_index);

	attr.grh.flow_label = flow_label;
	attr.sl = sl;
	ah_ptr ah(ibv_create_ah(from.on.pd.get(), &attr));
	check(ah != nullptr, "ibv_create_ah");
	return ah;
}

ibv_send_wr to(const endpoint &peer, ibv_ah *ah, ibv_wr_opcode opcode,
	       uint64_t id, uint32_t qkey = ud_qkey,
	       unsigned int flags = IBV_SEND_SIGNALED)
{
	ibv_send_wr wr = request(opcode, id, flags);

	wr.wr.ud.ah = ah;
	wr.wr.ud.remote_qpn = peer.qp->qp_num;
	wr.wr.ud.remote_qkey = qkey;
	return wr;
}

/*
 * IBTA A17.4.5.2: IPv4 stands in the last 20 of the 40 bytes. What follows IPv6 is UDP, what
 * follows a GRH a BTH.
 */
void check_grh(const pair &p, std::span<const std::byte> grh)
{
	const auto *raw = reinterpret_cast<const uint8_t *>(grh.data());
	const ibv_gid &from = p.client.on.gid, &dest = p.server.on.gid;

	if (p.client.on.is_ipv4()) {
		check_equal(raw[20] >> 4, 4, "IP version in the GRH area");
		check(!std::memcmp(raw + 32, from.raw + 12, 4), "source IP");
		check(!std::memcmp(raw + 36, dest.raw + 12, 4), "target IP");
	} else {
		check_equal(raw[0] >> 4, 6, "IP version in the GRH area");
		check_equal(raw[6], p.client.on.is_roce_v1 ? 0x1b : 17,
			    "next header");
		check(!std::memcmp(raw + 8, from.raw, 16), "source GID");
		check(!std::memcmp(raw + 24, dest.raw, 16), "target GID");
	}
}

TEST_F(datagram, ud_send)
{
	pair p(on.client, on.server, ud_options);
	const ah_ptr ah = address_of(p.client, on.server);
	const size_t mtu = mtu_bytes(
		std::min(on.client.attr.active_mtu, on.server.attr.active_mtu));

	for (size_t size :
	     { size_t{ 0 }, size_t{ 1 }, size_t{ 3 }, size_t{ 64 },
	       size_t{ 255 }, mtu / 2 + 1, mtu - 1, mtu }) {
		const auto seed = static_cast<uint32_t>(size);
		const bool imm = size % 2;
		ibv_send_wr wr = to(p.server, ah.get(),
				    imm ? IBV_WR_SEND_WITH_IMM : IBV_WR_SEND,
				    size);

		wr.imm_data = htobe32(seed + 5);
		fill(p.client.at(source, size), seed);
		clear(p.server.at(target, size + grh_size + 64));
		p.server.post_recv(size, target, size + grh_size);
		p.client.post(wr, { p.client.sge(source, size) });
		(void)p.client.sent(size);

		const ibv_wc wc = p.server.received(size);
		check_equal(wc.byte_len, size + grh_size, "byte_len");
		check_equal(wc.src_qp, p.client.qp->qp_num, "src_qp");
		check(wc.wc_flags & IBV_WC_GRH, "IBV_WC_GRH");
		if (!on.server.is_rxe)
			check_equal(wc.sl,
				    on.server.is_roce_v1 ? 0 :
				    on.server.is_ipv4()	 ? 2 :
							   1,
				    "L3 type in sl");
		check_equal(!!(wc.wc_flags & IBV_WC_WITH_IMM), imm, "imm flag");
		if (imm)
			check_equal(be32toh(wc.imm_data), seed + 5, "imm");
		check_grh(p, p.server.at(target, grh_size));
		check_fill(p.server.at(target + grh_size, size), seed, "UD");
		check_clear(p.server.at(target + grh_size + size, 64), "UD");
	}
}

/* What does not fit on the wire is not looked at: UCX passes all ones. */
TEST_F(datagram, ud_wide_values)
{
	pair p(on.client, on.server, ud_options);
	const ah_ptr ah = address_of(p.client, on.server, 0xffffffff, 0xf8);

	p.server.post_recv(1, target, 200);
	fill(p.client.at(source, 50), 9);
	p.client.post(to(p.server, ah.get(), IBV_WR_SEND, 2),
		      { p.client.sge(source, 50) });
	(void)p.client.sent(2);
	(void)p.server.received(1);
	check_fill(p.server.at(target + grh_size, 50), 9, "UD");
	if (on.client.is_ipv4() || on.client.is_rxe)
		return;
	const auto *ip6 = reinterpret_cast<const uint8_t *>(
		p.server.at(target, grh_size).data());
	check(ip6[0] == 0x60 && ip6[1] == 0x0f && ip6[2] == 0xff &&
		      ip6[3] == 0xff,
	      "20 bits of the flow label");
}

/* The address handle made from a completion leads back to the sender. */
TEST_F(datagram, ud_reply)
{
	pair p(on.client, on.server, ud_options);
	const ah_ptr ah = address_of(p.client, on.server);

	p.server.post_recv(1, 0, 100);
	p.client.post_recv(2, 0, 200);
	p.client.post(to(p.server, ah.get(), IBV_WR_SEND, 3),
		      { p.client.sge(1000, 60) });
	(void)p.client.sent(3);
	ibv_wc wc = p.server.received(1);
	auto *grh = reinterpret_cast<ibv_grh *>(p.server.at(0, 40).data());
	const ah_ptr back(
		ibv_create_ah_from_wc(on.server.pd.get(), &wc, grh, 1));

	check(back != nullptr, "ibv_create_ah_from_wc");
	fill(p.server.at(1000, 77), 4);
	ibv_send_wr wr = to(p.client, back.get(), IBV_WR_SEND, 5);
	wr.wr.ud.remote_qpn = wc.src_qp;
	p.server.post(wr, { p.server.sge(1000, 77) });
	(void)p.server.sent(5);
	check_equal(p.client.received(2).byte_len, 77 + grh_size, "byte_len");
	check_fill(p.client.at(grh_size, 77), 4, "reply");
}

/* IBTA 10.2.5: a datagram with a wrong Q_Key is as if it never came. */
TEST_F(datagram, ud_wrong_qkey)
{
	pair p(on.client, on.server, ud_options);
	const ah_ptr ah = address_of(p.client, on.server);

	p.server.post_recv(1, 0, 200);
	p.client.post(to(p.server, ah.get(), IBV_WR_SEND, 1, ud_qkey + 1),
		      { p.client.sge(0, 50) });
	p.client.post(to(p.server, ah.get(), IBV_WR_SEND, 2),
		      { p.client.sge(0, 60) });
	(void)p.client.sent(1);
	(void)p.client.sent(2);
	check_equal(p.server.received(1).byte_len, 60 + grh_size, "byte_len");
	p.server.nothing_more();
}

/* With no receive posted a datagram is dropped; the next one arrives. */
TEST_F(datagram, ud_no_receive)
{
	if (on.server.is_rxe)
		skip("the QPs of rxe receive in any order");

	pair p(on.client, on.server, ud_options);
	const ah_ptr ah = address_of(p.client, on.server);

	p.client.post(to(p.server, ah.get(), IBV_WR_SEND, 1),
		      { p.client.sge(0, 50) });
	(void)p.client.sent(1);
	/* Over the same path behind it, a reply proves that it went by. */
	endpoint other(on.server, ud_options);
	other.to_init();
	other.to_rtr(p.client);
	other.to_rts();
	other.post_recv(7, 0, 200);
	p.client.post(to(other, ah.get(), IBV_WR_SEND, 2),
		      { p.client.sge(0, 50) });
	(void)p.client.sent(2);
	(void)other.received(7);

	p.server.post_recv(3, 0, 200);
	p.client.post(to(p.server, ah.get(), IBV_WR_SEND, 4),
		      { p.client.sge(0, 70) });
	(void)p.client.sent(4);
	check_equal(p.server.received(3).byte_len, 70 + grh_size, "byte_len");
}

/* The completion says that the buffer may be reused, and it is. */
TEST_F(datagram, ud_reuse_after_completion)
{
	pair p(on.client, on.server, ud_options);
	const ah_ptr ah = address_of(p.client, on.server);

	for (uint32_t i = 0; i < 200; i++) {
		p.server.post_recv(i, target, 2000);
		fill(p.client.at(source, 900), i);
		p.client.post(to(p.server, ah.get(), IBV_WR_SEND, i),
			      { p.client.sge(source, 900) });
		(void)p.client.sent(i);
		clear(p.client.at(source, 900));
		(void)p.server.received(i);
		check_fill(p.server.at(target + grh_size, 900), i, "UD");
	}
}

TEST_F(datagram, ud_inline)
{
	options o = ud_options;

	o.inline_size = 64;
	pair p(on.client, on.server, o);
	const ah_ptr ah = address_of(p.client, on.server);

	p.server.post_recv(1, target, 200);
	fill(p.client.at(source, 61), 8);
	p.client.post(to(p.server, ah.get(), IBV_WR_SEND, 2, ud_qkey,
			 IBV_SEND_SIGNALED | IBV_SEND_INLINE),
		      { p.client.sge(source, 61) });
	clear(p.client.at(source, 61));
	(void)p.client.sent(2);
	(void)p.server.received(1);
	check_fill(p.server.at(target + grh_size, 61), 8, "inline UD");
}

} /* namespace */
