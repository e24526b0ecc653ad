// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause

#include "nldev.h"

#include <linux/netlink.h>
#include <rdma/rdma_netlink.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "../verify/verbs.h"

namespace
{

using bytes = std::vector<std::byte>;

void append(bytes &to, const void *data, std::size_t size)
{
	const auto *first = static_cast<const std::byte *>(data);

	to.insert(to.end(), first, first + size);
	to.resize(NLMSG_ALIGN(to.size()));
}

void append_attr(bytes &to, uint16_t type, const void *data, std::size_t size)
{
	const nlattr head = { static_cast<uint16_t>(NLA_HDRLEN + size), type };

	append(to, &head, sizeof(head));
	append(to, data, size);
}

void append_attr(bytes &to, uint16_t type, const std::string &text)
{
	append_attr(to, type, text.c_str(), text.size() + 1);
}

void append_index(bytes &to, int index)
{
	const auto value = static_cast<uint32_t>(index);

	append_attr(to, RDMA_NLDEV_ATTR_DEV_INDEX, &value, sizeof(value));
}

bytes request(uint16_t command, uint16_t flags)
{
	nlmsghdr head = {};
	bytes message;

	head.nlmsg_type =
		static_cast<uint16_t>(RDMA_NL_GET_TYPE(RDMA_NL_NLDEV, command));
	head.nlmsg_flags = static_cast<uint16_t>(NLM_F_REQUEST | flags);
	append(message, &head, sizeof(head));
	return message;
}

nlmsghdr head_of(const bytes &message, std::size_t offset)
{
	nlmsghdr head;

	std::memcpy(&head, message.data() + offset, sizeof(head));
	return head;
}

/* The value of an attribute of the first level; empty without it. */
bytes value_of(const bytes &message, std::size_t offset, uint16_t type)
{
	const std::size_t end = offset + head_of(message, offset).nlmsg_len;
	nlattr attr;

	for (std::size_t at = offset + NLMSG_HDRLEN; at + NLA_HDRLEN <= end;
	     at += NLA_ALIGN(attr.nla_len)) {
		std::memcpy(&attr, message.data() + at, sizeof(attr));
		if (attr.nla_len < NLA_HDRLEN)
			break;
		if ((attr.nla_type & NLA_TYPE_MASK) == type)
			return { message.data() + at + NLA_HDRLEN,
				 message.data() + at + attr.nla_len };
	}
	return {};
}

} /* namespace */

nldev::nldev()
	: fd_(socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_RDMA))
{
	check(fd_ >= 0, "NETLINK_RDMA");
}

nldev::~nldev()
{
	close(fd_);
}

int nldev::send(const bytes &message)
{
	bytes copy = message;
	nlmsghdr head = head_of(copy, 0);

	head.nlmsg_len = static_cast<uint32_t>(copy.size());
	head.nlmsg_seq = ++sequence_;
	std::memcpy(copy.data(), &head, sizeof(head));
	return ::send(fd_, copy.data(), copy.size(), 0) < 0 ? errno : 0;
}

bytes nldev::receive(int flags)
{
	bytes message(65536);
	const ssize_t size = recv(fd_, message.data(), message.size(), flags);

	message.resize(size < 0 ? 0 : static_cast<std::size_t>(size));
	return message;
}

int nldev::find(const std::string &device)
{
	found_ = -1;
	check(!send(request(RDMA_NLDEV_CMD_GET, NLM_F_DUMP)), "nldev get");
	for (;;) {
		const bytes message = receive(0);
		std::size_t at = 0;

		check(!message.empty(), "nldev dump");
		for (; at + NLMSG_HDRLEN <= message.size();
		     at += NLMSG_ALIGN(head_of(message, at).nlmsg_len)) {
			const bytes name =
				value_of(message, at, RDMA_NLDEV_ATTR_DEV_NAME);
			const bytes number = value_of(
				message, at, RDMA_NLDEV_ATTR_DEV_INDEX);

			if (head_of(message, at).nlmsg_type == NLMSG_DONE)
				return found_;
			if (name.size() == device.size() + 1 &&
			    number.size() == sizeof(found_) &&
			    !std::memcmp(name.data(), device.c_str(),
					 name.size()))
				std::memcpy(&found_, number.data(),
					    sizeof(found_));
		}
	}
}

bytes nldev::objects(int index)
{
	bytes message = request(RDMA_NLDEV_CMD_RES_GET, 0);

	append_index(message, index);
	check(!send(message), "nldev res");
	message = receive(0);
	check(message.size() > NLMSG_HDRLEN, "nldev res: no answer");
	return value_of(message, 0, RDMA_NLDEV_ATTR_RES_SUMMARY);
}

int nldev::send_add(const std::string &device, const std::string &netdev)
{
	bytes message = request(RDMA_NLDEV_CMD_NEWLINK, NLM_F_ACK);

	append_attr(message, RDMA_NLDEV_ATTR_DEV_NAME, device);
	append_attr(message, RDMA_NLDEV_ATTR_LINK_TYPE, "ornic");
	append_attr(message, RDMA_NLDEV_ATTR_NDEV_NAME, netdev);
	return send(message);
}

int nldev::send_delete()
{
	bytes message = request(RDMA_NLDEV_CMD_DELLINK, NLM_F_ACK);

	append_index(message, found_);
	return send(message);
}

int nldev::answer()
{
	const bytes message = receive(MSG_DONTWAIT);
	int error = 0;

	if (message.size() < NLMSG_HDRLEN + sizeof(error))
		return ENOBUFS;
	std::memcpy(&error, message.data() + NLMSG_HDRLEN, sizeof(error));
	return -error;
}
