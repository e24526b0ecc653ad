/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* The control socket: one line per command, one line of JSON per response. */
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

	/** Serve @listener (-1: none). Events in @epoll have @tag, and a file
	 *  descriptor in the low bits. */
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

/** Client: send command @what and print the response. Return: exit status. */
int ask(const std::string &path, const std::string &what);

} // namespace nic

#endif // ORNIC_NIC_CONTROL_H
