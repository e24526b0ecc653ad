// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * What is around a device: connection management, netlink, sysfs, the netdev and
 * the packets that come to it.
 */
#include "ops.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <linux/netlink.h>
#include <net/if.h>
#include <net/if_arp.h>
#include <rdma/rdma_netlink.h>
#include <rdma/rdma_user_cm.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <memory>

#include "world.h"

namespace
{

sockaddr_in address(uint64_t arg)
{
	sockaddr_in to = {};

	to.sin_family = AF_INET;
	to.sin_port = htons(7471);
	/* 10.0.0.1 is ours, .2 is at the other end of the wire. */
	to.sin_addr.s_addr = htonl(0x0a000000 | (arg < 8 ? 1 + arg % 2 : arg));
	return to;
}

/*
 * The body of a command: the identifier stands at an offset that differs, and so
 * does the address.
 */
std::size_t cm_body(world &w, const call &c, uint32_t number,
		    std::span<std::byte> body, uint64_t response)
{
	const uint32_t id = w.cm_ids[c.arg[1] % num_places];
	const sockaddr_in to = address(c.arg[2]);
	const auto put = [&](std::size_t at, const auto &value) {
		std::memcpy(body.data() + at, &value, sizeof(value));
	};

	switch (number) {
	case RDMA_USER_CM_CMD_CREATE_ID:
		put(offsetof(rdma_ucm_create_id, response), response);
		put(offsetof(rdma_ucm_create_id, ps),
		    static_cast<uint16_t>(c.arg[2] & 1 ? 0x111 : 0x106));
		put(offsetof(rdma_ucm_create_id, qp_type),
		    static_cast<uint8_t>(c.arg[2] & 1 ? 4 : 2));
		return sizeof(rdma_ucm_create_id);
	case RDMA_USER_CM_CMD_BIND:
		put(offsetof(rdma_ucm_bind, id), id);
		put(offsetof(rdma_ucm_bind, addr_size), uint16_t{ 16 });
		put(offsetof(rdma_ucm_bind, addr), to);
		return sizeof(rdma_ucm_bind);
	case RDMA_USER_CM_CMD_RESOLVE_ADDR:
		put(offsetof(rdma_ucm_resolve_addr, id), id);
		put(offsetof(rdma_ucm_resolve_addr, timeout_ms),
		    uint32_t{ 50 });
		put(offsetof(rdma_ucm_resolve_addr, dst_size), uint16_t{ 16 });
		put(offsetof(rdma_ucm_resolve_addr, dst_addr), to);
		return sizeof(rdma_ucm_resolve_addr);
	case RDMA_USER_CM_CMD_CONNECT:
		put(offsetof(rdma_ucm_connect, conn_param.qp_num),
		    w.place(c, qp).number.load());
		put(offsetof(rdma_ucm_connect, conn_param.valid), uint8_t{ 1 });
		put(offsetof(rdma_ucm_connect, id), id);
		return sizeof(rdma_ucm_connect);
	case RDMA_USER_CM_CMD_ACCEPT:
		put(offsetof(rdma_ucm_accept, conn_param.valid), uint8_t{ 1 });
		put(offsetof(rdma_ucm_accept, id), id);
		return sizeof(rdma_ucm_accept);
	case RDMA_USER_CM_CMD_JOIN_MCAST:
		put(offsetof(rdma_ucm_join_mcast, response), response);
		put(offsetof(rdma_ucm_join_mcast, id), id);
		put(offsetof(rdma_ucm_join_mcast, addr_size), uint16_t{ 16 });
		put(offsetof(rdma_ucm_join_mcast, addr), to);
		return sizeof(rdma_ucm_join_mcast);
	case RDMA_USER_CM_CMD_LISTEN:
	case RDMA_USER_CM_CMD_RESOLVE_ROUTE:
	case RDMA_USER_CM_CMD_REJECT:
	case RDMA_USER_CM_CMD_DISCONNECT:
	case RDMA_USER_CM_CMD_NOTIFY:
		put(0, id);
		put(4, static_cast<uint32_t>(c.arg[3] % 64));
		return number == RDMA_USER_CM_CMD_REJECT ?
			       sizeof(rdma_ucm_reject) :
			       sizeof(rdma_ucm_listen);
	default:
		put(0, response);
		put(8, id);
		put(12, static_cast<uint32_t>(c.arg[3] % 4));
		return 16 + c.arg[2] % 8 * 16;
	}
}

std::vector<std::byte> attr(uint16_t type, const void *data, std::size_t size)
{
	const nlattr head = { static_cast<uint16_t>(NLA_HDRLEN + size), type };
	std::vector<std::byte> bytes(NLA_ALIGN(NLA_HDRLEN + size));

	std::memcpy(bytes.data(), &head, sizeof(head));
	std::memcpy(bytes.data() + NLA_HDRLEN, data, size);
	return bytes;
}

void drain(int fd)
{
	std::byte bytes[8192];

	for (int i = 0; i < 64 && recv(fd, bytes, sizeof(bytes), 0) > 0; i++)
		;
}

uint32_t crc32(uint32_t crc, std::span<const std::byte> bytes)
{
	for (const std::byte b : bytes) {
		crc ^= static_cast<uint8_t>(b);
		for (int i = 0; i < 8; i++)
			crc = crc >> 1 ^ (crc & 1 ? 0xedb88320 : 0);
	}
	return crc;
}

void put16(std::byte *at, uint32_t value)
{
	at[0] = static_cast<std::byte>(value >> 8);
	at[1] = static_cast<std::byte>(value);
}

void put32(std::byte *at, uint32_t value)
{
	put16(at, value >> 16);
	put16(at + 2, value);
}

constexpr std::size_t eth_size = 14, ip_size = 20, udp_size = 8, bth_size = 12,
		      icrc_size = 4;

/* Ethernet, IPv4 and UDP of a packet from 10.0.0.2 to 10.0.0.1. */
void put_headers(const world &w, std::byte *frame, std::size_t size)
{
	std::byte *ip = frame + eth_size, *udp = ip + ip_size;
	uint32_t sum = 0;

	std::memcpy(frame, w.netdev_mac.data(), 6);
	std::memcpy(frame + 6, w.peer_mac.data(), 6);
	put16(frame + 12, 0x0800);
	ip[0] = std::byte{ 0x45 };
	put16(ip + 2, static_cast<uint32_t>(size - eth_size));
	put16(ip + 6, 0x4000);
	ip[8] = std::byte{ 64 };
	ip[9] = std::byte{ 17 };
	put32(ip + 12, 0x0a000002);
	put32(ip + 16, 0x0a000001);
	for (std::size_t i = 0; i < ip_size; i += 2)
		sum += static_cast<uint32_t>(ip[i]) << 8 |
		       static_cast<uint32_t>(ip[i + 1]);
	sum = (sum & 0xffff) + (sum >> 16);
	put16(ip + 10, ~(sum + (sum >> 16)));
	put16(udp, 0xc000);
	put16(udp + 2, 4791);
	put16(udp + 4, static_cast<uint32_t>(size - eth_size - ip_size));
}

/* Over what does not change on the way, with ones for what may. */
void put_icrc(std::byte *frame, std::size_t size)
{
	const std::size_t end = size - icrc_size;
	std::vector<std::byte> masked(8 + end - eth_size, std::byte{ 0xff });

	std::memcpy(masked.data() + 8, frame + eth_size, end - eth_size);
	std::byte *ip = masked.data() + 8, *bth = ip + ip_size + udp_size;

	ip[1] = ip[8] = ip[10] = ip[11] = std::byte{ 0xff };
	ip[ip_size + 6] = ip[ip_size + 7] = std::byte{ 0xff };
	bth[4] = std::byte{ 0xff };
	const uint32_t crc = ~crc32(0xffffffff, masked);

	std::memcpy(frame + end, &crc, sizeof(crc));
}

/* A netdev that goes down forgets it, and programs would wait for an answer. */
void keep_neighbour(const world &w, int fd)
{
	const sockaddr_in to = address(1);
	arpreq entry = {};

	std::memcpy(&entry.arp_pa, &to, sizeof(to));
	entry.arp_ha.sa_family = ARPHRD_ETHER;
	std::memcpy(entry.arp_ha.sa_data, w.peer_mac.data(), w.peer_mac.size());
	entry.arp_flags = ATF_PERM | ATF_COM;
	std::strncpy(entry.arp_dev, w.netdev.c_str(),
		     sizeof(entry.arp_dev) - 1);
	ioctl(fd, SIOCSARP, &entry);
}

} /* namespace */

/* cm(number, place, address, other) */
void op_cm(world &w, const call &c)
{
	static thread_local std::vector<uint64_t> response(1024);
	alignas(8) std::byte bytes[1024] = {};
	const auto number = static_cast<uint32_t>(c.arg[0] % 23);
	rdma_ucm_cmd_hdr head = { number, 0, 2048 };
	const std::size_t size =
		cm_body(w, c, number, { bytes + sizeof(head), 640 },
			reinterpret_cast<uint64_t>(response.data()));

	head.in = static_cast<uint16_t>(size);
	std::memcpy(bytes, &head, sizeof(head));
	/* Whose response is the second word. */
	if (c.noise & 1 && number != RDMA_USER_CM_CMD_CREATE_ID)
		damage({ bytes + sizeof(head) + 8, size - 8 }, c.noise);
	const bool ok = write(w.cm, bytes, sizeof(head) + size) > 0;

	w.count(c, ok);
	if (ok && number == RDMA_USER_CM_CMD_CREATE_ID)
		w.cm_ids[c.arg[1] % num_places] =
			static_cast<uint32_t>(response[0]);
	/* The id of a connection request. */
	if (number == RDMA_USER_CM_CMD_GET_EVENT && response[1])
		w.cm_ids[c.arg[1] % num_places] =
			static_cast<uint32_t>(response[1]);
}

/* netlink(command, flags, attribute, value); an odd value has no rights */
void op_netlink(world &w, const call &c)
{
	static const uint16_t commands[] = {
		RDMA_NLDEV_CMD_GET,
		RDMA_NLDEV_CMD_PORT_GET,
		RDMA_NLDEV_CMD_SYS_GET,
		RDMA_NLDEV_CMD_RES_GET,
		RDMA_NLDEV_CMD_RES_QP_GET,
		RDMA_NLDEV_CMD_RES_CM_ID_GET,
		RDMA_NLDEV_CMD_RES_CQ_GET,
		RDMA_NLDEV_CMD_RES_MR_GET,
		RDMA_NLDEV_CMD_RES_PD_GET,
		RDMA_NLDEV_CMD_GET_CHARDEV,
		RDMA_NLDEV_CMD_STAT_SET,
		RDMA_NLDEV_CMD_STAT_GET,
		RDMA_NLDEV_CMD_STAT_DEL,
		RDMA_NLDEV_CMD_RES_QP_GET_RAW,
		RDMA_NLDEV_CMD_RES_CQ_GET_RAW,
		RDMA_NLDEV_CMD_RES_MR_GET_RAW,
		RDMA_NLDEV_CMD_RES_CTX_GET,
		RDMA_NLDEV_CMD_RES_SRQ_GET,
		RDMA_NLDEV_CMD_STAT_GET_STATUS,
	};
	const auto index =
		static_cast<uint32_t>(w.links[c.thread].find(w.device));
	const auto value = static_cast<uint32_t>(
		c.arg[3] < 8 ? w.place(c, qp).number.load() : c.arg[3]);
	const uint32_t port = 1;
	nlmsghdr head = {};
	std::vector<std::byte> message(sizeof(head));
	const auto add = [&](uint16_t type, const uint32_t &what) {
		const auto bytes = attr(type, &what, sizeof(what));

		message.insert(message.end(), bytes.begin(), bytes.end());
	};

	add(RDMA_NLDEV_ATTR_DEV_INDEX, index);
	add(RDMA_NLDEV_ATTR_PORT_INDEX, port);
	add(static_cast<uint16_t>(c.arg[2] % RDMA_NLDEV_ATTR_MAX), value);
	add(RDMA_NLDEV_ATTR_RES_LQPN, value);
	add(RDMA_NLDEV_ATTR_STAT_MODE, value % 3);
	damage({ message.data() + sizeof(head), message.size() - sizeof(head) },
	       c.noise);
	head.nlmsg_len = static_cast<uint32_t>(message.size());
	head.nlmsg_type = static_cast<uint16_t>(RDMA_NL_GET_TYPE(
		RDMA_NL_NLDEV, commands[c.arg[0] % std::size(commands)]));
	head.nlmsg_flags = static_cast<uint16_t>(
		NLM_F_REQUEST | (c.arg[1] & 1 ? NLM_F_DUMP : NLM_F_ACK));
	std::memcpy(message.data(), &head, sizeof(head));
	const int fd = w.netlink[c.arg[3] & 1];

	send(fd, message.data(), message.size(), 0);
	drain(fd);
}

/* sysfs(attribute, write, value) */
void op_sysfs(world &w, const call &c)
{
	if (w.attributes.empty())
		return;
	const std::string &path = w.attributes[c.arg[0] % w.attributes.size()];
	const int fd = open(path.c_str(), (c.arg[1] & 1 ? O_WRONLY : O_RDONLY) |
						  O_CLOEXEC | O_NONBLOCK);
	char text[4096];

	if (fd < 0)
		return;
	if (c.arg[1] & 1) {
		const std::string value = std::to_string(c.arg[2]);

		(void)!write(fd, value.data(), value.size());
	} else {
		(void)!read(fd, text, sizeof(text));
	}
	close(fd);
}

/* inject(opcode, QP, key, payload): a packet with a right ICRC */
void op_inject(world &w, const call &c)
{
	std::array<std::byte, 1600> frame = {};
	const std::size_t payload = c.arg[3] < 8 ? c.arg[3] * 16 :
						   c.arg[3] % 1100;
	const std::size_t size = eth_size + ip_size + udp_size + bth_size + 28 +
				 (payload & ~std::size_t{ 3 }) + icrc_size;
	std::byte *bth = frame.data() + eth_size + ip_size + udp_size;

	put_headers(w, frame.data(), size);
	bth[0] = static_cast<std::byte>(c.arg[0]);
	bth[1] = std::byte{ 0x40 };
	put16(bth + 2, 0xffff);
	put32(bth + 4, w.place(c, qp, c.arg[1]).number & 0xffffff);
	/* With AckReq; the PSN that a QP of ours begins with, and those near. */
	put32(bth + 8, 0x80000000 | static_cast<uint32_t>(c.arg[1] >> 2 & 7));
	/* A RETH, the first words of which fit other headers, too. */
	const uint64_t remote = reinterpret_cast<uint64_t>(w.memory);

	put32(bth + 12, static_cast<uint32_t>(remote >> 32));
	put32(bth + 16, static_cast<uint32_t>(remote));
	put32(bth + 20, w.place(c, mr, c.arg[2]).number);
	put32(bth + 24, static_cast<uint32_t>(payload));
	damage({ frame.data() + (c.noise & 16 ? 0 : eth_size + ip_size),
		 size - eth_size - ip_size },
	       c.noise);
	put_icrc(frame.data(), size);
	w.count(c, send(w.wire, frame.data(), size, 0) > 0);
}

/* netdev(what, value): its MTU, its carrier, its address */
void op_netdev(world &w, const call &c)
{
	static const int mtus[] = { 4500, 1500, 1024, 576 };
	const int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	ifreq request = {};

	std::strncpy(request.ifr_name, w.netdev.c_str(), IFNAMSIZ - 1);
	switch (c.arg[0] % 3) {
	case 0:
		request.ifr_mtu = mtus[c.arg[1] % std::size(mtus)];
		ioctl(fd, SIOCSIFMTU, &request);
		break;
	case 1:
		ioctl(fd, SIOCGIFFLAGS, &request);
		request.ifr_flags ^= IFF_UP;
		ioctl(fd, SIOCSIFFLAGS, &request);
		request.ifr_flags ^= IFF_UP;
		ioctl(fd, SIOCSIFFLAGS, &request);
		break;
	default: {
		/* A second address, which the next one replaces. */
		const sockaddr_in to = address(100 + c.arg[1] % 8);

		std::strncat(request.ifr_name, ":1",
			     IFNAMSIZ - 1 - std::strlen(request.ifr_name));
		std::memcpy(&request.ifr_addr, &to, sizeof(to));
		ioctl(fd, SIOCSIFADDR, &request);
	}
	}
	keep_neighbour(w, fd);
	close(fd);
}

/* The link goes under all that others do, and comes back. */
void op_link(world &w, const call &c)
{
	nldev &links = w.links[c.thread];

	if (c.arg[0] % 4 || links.find(w.device) < 0)
		return;
	links.send_delete();
	links.answer();
	links.send_add(w.device, w.netdev);
	links.answer();
}
