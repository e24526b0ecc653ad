// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Steps around the objects: connection management and links.
 */
#include "steps.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <rdma/rdma_user_cm.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <memory>

namespace
{

/* rdma_cm without librdmacm, whose threads would take faults of their own. */
struct cm {
	int fd = -1;
	uint32_t id = 0;

	template <typename Command>
	int call(uint32_t number, const Command &command,
		 uint16_t response) const
	{
		struct {
			rdma_ucm_cmd_hdr head;
			Command command;
		} message = { { number, sizeof(Command), response }, command };

		return write(fd, &message, sizeof(message)) < 0 ? errno : 0;
	}
	int open_device()
	{
		fd = open("/dev/infiniband/rdma_cm", O_RDWR | O_CLOEXEC);
		return fd < 0 ? errno : 0;
	}
	int create()
	{
		rdma_ucm_create_id_resp resp = {};
		rdma_ucm_create_id command = {};

		command.response = reinterpret_cast<uint64_t>(&resp);
		command.ps = RDMA_PS_TCP;
		command.qp_type = IBV_QPT_RC;
		const int status =
			call(RDMA_USER_CM_CMD_CREATE_ID, command, sizeof(resp));
		id = resp.id;
		return status;
	}
	int destroy() const
	{
		rdma_ucm_destroy_id_resp resp = {};
		rdma_ucm_destroy_id command = {};

		command.response = reinterpret_cast<uint64_t>(&resp);
		command.id = id;
		const int status = call(RDMA_USER_CM_CMD_DESTROY_ID, command,
					sizeof(resp));
		/* If the response could not be copied, it is gone. */
		return status == ENOENT ? 0 : status;
	}
	int bind() const
	{
		rdma_ucm_bind command = {};
		sockaddr_in address = {};

		address.sin_family = AF_INET;
		address.sin_port = htons(7471);
		std::memcpy(&command.addr, &address, sizeof(address));
		command.addr_size = sizeof(address);
		command.id = id;
		return call(RDMA_USER_CM_CMD_BIND, command, 0);
	}
	int listen() const
	{
		rdma_ucm_listen command = {};

		command.id = id;
		command.backlog = 8;
		return call(RDMA_USER_CM_CMD_LISTEN, command, 0);
	}
	int renew()
	{
		const int status = destroy();

		return status ? status : create();
	}
	/* These leave what was before if they fail: a fault comes only once. */
	int unbind()
	{
		const int status = renew();

		if (status) {
			renew();
			bind();
		}
		return status;
	}
	int stop_listening()
	{
		int status = renew();

		if (!status)
			status = bind();
		if (status) {
			renew();
			bind();
			listen();
		}
		return status;
	}
};

} /* namespace */

std::vector<step> cm_steps()
{
	const auto c = std::make_shared<cm>();

	return {
		{ "open rdma_cm", [=] { return c->open_device(); },
		  [=] { return close(c->fd) ? errno : 0; } },
		{ "create_id", [=] { return c->create(); },
		  [=] { return c->destroy(); } },
		{ "bind_addr", [=] { return c->bind(); },
		  [=] { return c->unbind(); } },
		{ "listen", [=] { return c->listen(); },
		  [=] { return c->stop_listening(); } },
	};
}

std::vector<step> link_steps(life &l, const std::string &netdev)
{
	const std::string name = "faults0";
	step link = { "link add",
		      [=, &l] { return l.links.send_add(name, netdev); },
		      [=, &l] { return l.links.send_delete(); } };

	/* The kernel may have failed to allocate its answer, and nothing else. */
	const auto outcome = [=, &l](bool wanted) {
		return [=, &l](int sent) {
			const int status = sent ? sent : l.links.answer();
			const bool exists = l.links.find(name) >= 0;

			if (status != ENOBUFS)
				return status;
			return exists == wanted ? 0 : ENOMEM;
		};
	};
	link.made = outcome(true);
	link.undone = outcome(false);
	link.stride = 1999;
	link.others = { ENFILE, ENOBUFS };
	return { link };
}
