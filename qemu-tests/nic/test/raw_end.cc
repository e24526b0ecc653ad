// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#include "raw_end.h"

namespace test
{

std::string udp(u8 to, u8 from, u16 dst_port, const std::string &what)
{
	std::string f = ethernet(to, from, "").substr(0, 12) + "\x08";

	f += std::string("\0\x45\0", 3);
	put16(f, 20 + 8 + what.size());
	f += std::string("\0\0\0\0\x40\x11\0\0\x0a\0\0", 11);
	f += static_cast<char>(from);
	f += std::string("\x0a\0\0", 3);
	f += static_cast<char>(to);
	put16(f, 1000);
	put16(f, dst_port);
	put16(f, 8 + what.size());
	put16(f, 0);
	return f + what;
}

u16 udp_port_of(const std::string &f)
{
	return f.size() < 38 ? 0 :
			       static_cast<u16>(static_cast<u8>(f[36]) << 8 |
						static_cast<u8>(f[37]));
}

ornic_flow_match to_port(u16 dst_port, u16 mask)
{
	ornic_flow_match match{};

	match.value.layers = match.mask.layers = ORNIC_FLOW_UDP;
	match.value.dst_port = cpu_to_be16(dst_port);
	match.mask.dst_port = cpu_to_be16(mask);
	return match;
}

ornic_flow_match to_address(u8 guest)
{
	ornic_flow_match match{};

	memcpy(match.value.dmac, ethernet(guest, 1, "").data(), 6);
	memset(match.mask.dmac, 0xff, 6);
	return match;
}

raw_end::raw_end(fake_guest &g, u8 queues)
	: end(g, ORNIC_QPT_RAW, queues)
	, out(g.make_mr(page))
{
	for (u8 state : { ORNIC_QPS_INIT, ORNIC_QPS_RTR, ORNIC_QPS_RTS })
		EXPECT_TRUE(g.set_state(qp, state));
	for (u32 i = 0; i < receives && queues & has_rq; i++)
		post_next();
}

buffer raw_end::slot(u64 wr_id) const
{
	u64 at = wr_id % receives * page;

	return { mr.dma + at, mr.ptr + at, page, mr.key };
}

void raw_end::post_next()
{
	guest.post_recv(qp, slot(qp.recv_index), page);
}

std::string raw_end::receive(bool wait)
{
	auto cqe = wait ? guest.poll(cq) : guest.poll_now(cq);
	std::string f;

	if (!cqe)
		return "";
	EXPECT_EQ(cqe->status, ORNIC_CQE_SUCCESS);
	EXPECT_EQ(cqe->opcode, ORNIC_CQE_RECV);
	EXPECT_EQ(cqe->qpn, qp.number);
	f.assign(reinterpret_cast<char *>(slot(cqe->wr_id).ptr), cqe->byte_len);
	post_next();
	return f;
}

int raw_end::send(const std::string &f)
{
	memcpy(out.ptr, f.data(), f.size());
	guest.post(qp, ORNIC_WQE_SEND, out, 0, 0, static_cast<u32>(f.size()));

	auto cqe = guest.poll(cq);

	return cqe ? cqe->status : -1;
}

} // namespace test
