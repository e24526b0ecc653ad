// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* Raw packet QPs: frames over the wire or on one device, and which rule takes them. */

#include <arpa/inet.h>

#include <array>
#include <cerrno>
#include <cstring>

#include "tests.h"

namespace
{

constexpr size_t header = 14;
constexpr size_t slot = 2048;
constexpr size_t source = 16 * slot; /* of frames to be sent */
constexpr uint32_t depth = 16;

using mac = std::array<uint8_t, 6>;

constexpr mac client_mac = { 2, 0, 0, 0, 0xaa, 1 };
constexpr mac server_mac = { 2, 0, 0, 0, 0xaa, 2 };

/* ibv_destroy_flow() is a static function, as ibv_free_dm() is. */
struct flow_destroyer {
	void operator()(ibv_flow *flow) const
	{
		ibv_destroy_flow(flow);
	}
};

using flow_ptr = std::unique_ptr<ibv_flow, flow_destroyer>;

/* Which frames a rule is for; only what is set counts. */
struct rule {
	const mac *destination = nullptr;
	uint16_t vlan = 0; /* TCI */
	uint16_t udp_port = 0;
	uint16_t priority = 0;
	ibv_flow_attr_type type = IBV_FLOW_ATTR_NORMAL;
	uint32_t flags = 0;
};

struct flow_request {
	ibv_flow_attr attr;
	std::array<std::byte, 2 * sizeof(ibv_flow_spec)> specs;
};

template <typename Spec> void add(flow_request &to, const Spec &spec)
{
	size_t used = to.attr.size - sizeof(to.attr);

	std::memcpy(to.specs.data() + used, &spec, sizeof(spec));
	to.attr.size = static_cast<uint16_t>(to.attr.size + sizeof(spec));
	to.attr.num_of_specs++;
}

flow_request make(const rule &r)
{
	flow_request flow{};
	ibv_flow_spec_eth eth{};
	ibv_flow_spec_tcp_udp udp{};

	flow.attr.type = r.type;
	flow.attr.size = sizeof(flow.attr);
	flow.attr.priority = r.priority;
	flow.attr.flags = r.flags;
	flow.attr.port = 1;
	if (r.destination || r.vlan) {
		eth.type = IBV_FLOW_SPEC_ETH;
		eth.size = sizeof(eth);
		if (r.destination) {
			std::memcpy(eth.val.dst_mac, r.destination, 6);
			std::memset(eth.mask.dst_mac, 0xff, 6);
		}
		eth.val.vlan_tag = htons(r.vlan);
		eth.mask.vlan_tag = r.vlan ? htons(0xfff) : 0;
		add(flow, eth);
	}
	if (r.udp_port) {
		udp.type = IBV_FLOW_SPEC_UDP;
		udp.size = sizeof(udp);
		udp.val.dst_port = htons(r.udp_port);
		udp.mask.dst_port = 0xffff;
		add(flow, udp);
	}
	return flow;
}

/* A raw packet QP in RTS. */
struct raw_end : endpoint {
	explicit raw_end(port &p)
		: endpoint(p, { .type = IBV_QPT_RAW_PACKET,
				.depth = depth,
				.inline_size = 128,
				.buffer = 256 << 10 })
	{
		for (ibv_qp_state state :
		     { IBV_QPS_INIT, IBV_QPS_RTR, IBV_QPS_RTS })
			to(state);
	}

	void to(ibv_qp_state state) const
	{
		ibv_qp_attr attr{};
		int mask = IBV_QP_STATE;

		attr.qp_state = state;
		attr.port_num = 1;
		if (state == IBV_QPS_INIT)
			mask |= IBV_QP_PORT;
		check_equal(ibv_modify_qp(qp.get(), &attr, mask), 0, "modify");
	}
	flow_ptr try_flow(const rule &r) const
	{
		flow_request flow = make(r);

		errno = 0;
		return flow_ptr(ibv_create_flow(qp.get(), &flow.attr));
	}
	[[nodiscard]] flow_ptr flow(const rule &r) const
	{
		flow_ptr made = try_flow(r);

		check(made != nullptr,
		      "ibv_create_flow: " + std::string(std::strerror(errno)));
		return made;
	}
	void refused(const rule &r, int error, const std::string &what) const
	{
		check(!try_flow(r), what);
		check_equal(errno, error, what);
	}
	void send(size_t size, unsigned int flags = IBV_SEND_SIGNALED)
	{
		post(request(IBV_WR_SEND, size, flags), { sge(source, size) });
		(void)sent(size);
	}
};

/* A UDP frame of @size in the memory of @from, for @port, with a tag if @vlan. */
void put_frame(raw_end &from, const mac &destination, size_t size,
	       uint16_t udp_port = 1000, uint16_t vlan = 0)
{
	std::span<std::byte> frame = from.at(source, size);
	size_t at = header - 2;

	fill(frame, static_cast<uint32_t>(size) + udp_port);
	auto put = [&](std::initializer_list<int> bytes) {
		for (int byte : bytes)
			if (at < size)
				frame[at++] = static_cast<std::byte>(byte);
	};
	std::memcpy(frame.data(), destination.data(), 6);
	std::memcpy(frame.data() + 6, client_mac.data(), 6);
	if (vlan)
		put({ 0x81, 0, vlan >> 8, vlan & 0xff });
	const int ip = static_cast<int>(size - at - 2);
	put({ 8, 0, 0x45, 0, ip >> 8, ip & 0xff, 0, 0, 0, 0, 64, 17, 0, 0 });
	put({ 192, 0, 2, 1, 192, 0, 2, 2 });
	put({ 3, 0xe8, udp_port >> 8, udp_port & 0xff, (ip - 20) >> 8,
	      (ip - 20) & 0xff, 0, 0 });
}

class raw : public verify {
protected:
	raw()
		: client_(made(on.client))
		, server_(made(on.server))
	{
	}

	/* A receive for the next frame, and what it got. */
	void expect(raw_end &to, size_t size, const std::string &what)
	{
		ibv_wc wc = to.received(7);

		check_equal(wc.byte_len, size, what + ", bytes");
		check_equal(wc.wc_flags & IBV_WC_GRH, 0U, what + ", GRH");
		check(!std::memcmp(to.at(0, size).data(),
				   client().at(source, size).data(), size),
		      what + ", content");
	}
	/* Sends a frame that @to gets. */
	void deliver(raw_end &to, size_t size, uint16_t udp_port = 1000,
		     uint16_t vlan = 0)
	{
		const std::string what = std::to_string(size) + " bytes";

		clear(to.at(0, slot));
		to.post_recv(7, 0, slot);
		put_frame(client(), server_mac, size, udp_port, vlan);
		client().send(size);
		expect(to, size, what);
	}
	raw_end &client()
	{
		return *client_;
	}
	raw_end &server()
	{
		return *server_;
	}

private:
	static std::unique_ptr<raw_end> made(port &p)
	{
		if (!(p.limits.device_cap_flags &
		      IBV_DEVICE_MANAGED_FLOW_STEERING))
			skip(p.name + " has no raw packet QPs");
		return std::make_unique<raw_end>(p);
	}

	std::unique_ptr<raw_end> client_, server_;
};

TEST_F(raw, raw_frames)
{
	flow_ptr flow = server().flow({ .destination = &server_mac });

	for (size_t size :
	     { 60UL, 61UL, 64UL, 96UL, 97UL, 590UL, 1513UL, 1514UL })
		deliver(server(), size);
	/* Inline. */
	server().post_recv(7, 0, slot);
	put_frame(client(), server_mac, 100);
	client().send(100, IBV_SEND_SIGNALED | IBV_SEND_INLINE);
	expect(server(), 100, "inline");
	/* Many, in order. */
	for (uint32_t i = 0; i < depth; i++)
		server().post_recv(i, i * slot, slot);
	for (uint32_t i = 0; i < depth; i++) {
		put_frame(client(), server_mac, 60 + i);
		client().send(60 + i);
	}
	for (uint32_t i = 0; i < depth; i++)
		check_equal(server().received(i).byte_len, 60 + i, "order");
}

/* With its tag, whatever the netdev does with it. */
TEST_F(raw, raw_vlan)
{
	flow_ptr flow =
		server().flow({ .destination = &server_mac, .vlan = 0x0123 });

	deliver(server(), 100, 1000, 0x6123);
	deliver(server(), 1518, 1000, 0x0123);
	/* Those of other VLANs do not take the receive. */
	server().post_recv(7, 0, slot);
	put_frame(client(), server_mac, 100, 1000, 0x0124);
	client().send(100);
	put_frame(client(), server_mac, 101);
	client().send(101);
	put_frame(client(), server_mac, 102, 1000, 0x0123);
	client().send(102);
	expect(server(), 102, "after other VLANs");
}

TEST_F(raw, raw_rules)
{
	raw_end second(on.server);
	flow_ptr address =
		server().flow({ .destination = &server_mac, .priority = 2 });

	{
		flow_ptr port =
			second.flow({ .udp_port = 2000, .priority = 1 });

		deliver(second, 100, 2000);
		deliver(server(), 100, 2001);
		/* A copy for both. */
		flow_ptr copy = server().flow(
			{ .udp_port = 2000,
			  .priority = 0,
			  .flags = IBV_FLOW_ATTR_FLAGS_DONT_TRAP });
		server().post_recv(7, 0, slot);
		deliver(second, 100, 2000);
		expect(server(), 100, "copy");
	}
	deliver(server(), 100, 2000);
	/* All that arrives. */
	flow_ptr all = second.flow({ .type = IBV_FLOW_ATTR_SNIFFER });
	second.post_recv(7, 0, slot);
	deliver(server(), 100);
	(void)second.received(7);
}

/* What no receive is for, or too small a one, is lost, and nothing else happens. */
TEST_F(raw, raw_misfits)
{
	raw_end second(on.server);
	flow_ptr flow = server().flow({ .destination = &server_mac });
	/* Gets each frame after the server. */
	flow_ptr later = second.flow({ .destination = &server_mac });

	second.post_recv(7, 0, slot);
	put_frame(client(), server_mac, 100);
	client().send(100);
	(void)second.received(7);
	deliver(server(), 200);
	server().post_recv(7, 0, 100);
	put_frame(client(), server_mac, 101);
	client().send(101);
	put_frame(client(), server_mac, 100);
	client().send(100);
	expect(server(), 100, "the one that fits");
	server().nothing_more();
}

TEST_F(raw, raw_lengths)
{
	flow_ptr flow = server().flow({ .destination = &server_mac });

	for (size_t size : { size_t{ 13 }, size_t{ 65536 + 15 } }) {
		put_frame(client(), server_mac, size);
		client().post(request(IBV_WR_SEND, 1),
			      { client().sge(source, size) });
		check_wc(client().wait_send(), IBV_WC_LOC_LEN_ERR, "length");
		check_equal(client().state(), IBV_QPS_SQE, "state");
		client().to(IBV_QPS_RTS);
		deliver(server(), 100);
	}
}

TEST_F(raw, raw_refusals)
{
	const mac group = { 0x33, 0x33, 0, 0, 0, 1 };
	flow_ptr flow = server().flow({ .destination = &server_mac });
	raw_end second(on.server);

	server().refused({ .destination = &server_mac }, EEXIST, "twice");
	flow_ptr shared = second.flow({ .destination = &server_mac });
	server().refused({}, EINVAL, "no specification");
	server().refused({ .destination = &server_mac,
			   .type = IBV_FLOW_ATTR_SNIFFER },
			 EINVAL, "sniffer with a specification");
	server().refused({ .type = IBV_FLOW_ATTR_ALL_DEFAULT,
			   .flags = IBV_FLOW_ATTR_FLAGS_DONT_TRAP },
			 EINVAL, "default without trap");
	flow_ptr many = server().flow({ .destination = &group });
	flow_ptr sniffer = server().flow({ .type = IBV_FLOW_ATTR_SNIFFER });
	server().refused({ .type = IBV_FLOW_ATTR_SNIFFER }, EEXIST, "sniffer");

	/* Only for raw packets; its rules outlive no QP. */
	endpoint ud(on.server, { .type = IBV_QPT_UD });
	flow_request plain = make({ .destination = &server_mac });
	errno = 0;
	check(!ibv_create_flow(ud.qp.get(), &plain.attr), "flow of a UD QP");
	check_equal(errno, EOPNOTSUPP, "errno");
	check_equal(ibv_destroy_qp(server().qp.get()), EBUSY, "QP with rules");
	shared.reset();
	deliver(server(), 100);
}

/* RoCEv2 goes on beside, and each has its own. */
TEST_F(raw, raw_beside_rc)
{
	flow_ptr flow = server().flow({ .destination = &server_mac });
	pair p(on.client, on.server);

	for (int i = 0; i < 20; i++) {
		fill(p.client.at(0, 8192), static_cast<uint32_t>(i));
		p.server.post_recv(9, 0, 8192);
		p.client.post(request(IBV_WR_SEND, 9),
			      { p.client.sge(0, 8192) });
		deliver(server(), 1000);
		(void)p.client.sent(9);
		(void)p.server.received(9);
		check_fill(p.server.at(0, 8192), static_cast<uint32_t>(i),
			   "RC message");
	}
}

} /* namespace */
