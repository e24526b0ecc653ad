/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Frames, flow rules and raw packet QPs. */
#pragma once

#include <arpa/inet.h>

#include <array>
#include <cerrno>
#include <cstring>

#include "verbs.h"

constexpr size_t header = 14;
constexpr size_t slot = 2048;
constexpr size_t source = 16 * slot; /* of frames to be sent */
constexpr uint32_t depth = 16;

using mac = std::array<uint8_t, 6>;

inline constexpr mac client_mac = { 2, 0, 0, 0, 0xaa, 1 };
inline constexpr mac server_mac = { 2, 0, 0, 0, 0xaa, 2 };

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

inline flow_request make(const rule &r)
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
inline void put_frame(raw_end &from, const mac &destination, size_t size,
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
