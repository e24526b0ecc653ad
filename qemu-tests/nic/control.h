/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* The control socket: a line with a command, a line of JSON in return. */
#ifndef ORNIC_NIC_CONTROL_H
#define ORNIC_NIC_CONTROL_H

#include <functional>
#include <map>
#include <string>
#include <sys/epoll.h>

#include "base.h"

namespace nic
{

class control_server {
public:
	using handler = std::function<std::string(const std::string &)>;

	/** Serve @listener (-1: there is none) in @epoll. Events of this server
	 *  have the tag @tag, and in their low bits a file descriptor. */
	control_server(int listener, int epoll, u64 tag, handler answer);

	void serve(const epoll_event &event);

private:
	struct client {
		unique_fd fd;
		std::string input;
	};

	void watch(int fd);
	void accept_one();
	bool read_from(client &c);

	int listener_;
	int epoll_;
	u64 tag_;
	handler answer_;
	std::map<int, client> clients_;
};

/** Be a client: print the answer to @what. Return: exit status. */
int ask(const std::string &path, const std::string &what);

} // namespace nic

#endif // ORNIC_NIC_CONTROL_H
