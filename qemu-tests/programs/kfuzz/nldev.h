/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Links and objects by netlink, as rdma(8) has them, without a process.
 */
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

class nldev {
public:
	nldev();
	~nldev();
	nldev(const nldev &) = delete;
	nldev &operator=(const nldev &) = delete;

	/* The index of the device, or -1. */
	int find(const std::string &device);
	/* How many objects of each type it has, as a message to be compared. */
	std::vector<std::byte> objects(int index);
	/*
	 * Add a link, or delete the one that find() found. The kernel works in
	 * send(); answer() returns its errno, or ENOBUFS if it could not
	 * allocate the answer.
	 */
	int send_add(const std::string &device, const std::string &netdev);
	int send_delete();
	int answer();

private:
	int send(const std::vector<std::byte> &message);
	std::vector<std::byte> receive(int flags);

	int fd_;
	int found_ = -1;
	uint32_t sequence_ = 0;
};
