// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * The method QUERY_PORT_SPEED of the kernel, called without libibverbs: older
 * headers and releases of rdma-core do not have it.
 */

#include <cerrno>
#include <cstring>
#include <fstream>

#include "tests.h"
#include "uverbs_method.h"

namespace
{

class speed : public verify {};

/* Headers of the kernel may not have it yet. */
constexpr uint16_t query_port_speed_method = 7;

/* 0, or an errno. */
int query_port_speed(const port &on, uint64_t number, uint64_t &value)
{
	ib_uverbs_attr attrs[2]{};

	for (uint16_t id = 0; id < 2; id++) {
		attrs[id].attr_id = id;
		attrs[id].len = sizeof(uint64_t);
		attrs[id].flags = UVERBS_ATTR_F_MANDATORY;
	}
	attrs[0].data = number;
	attrs[1].data = reinterpret_cast<uintptr_t>(&value);
	return run_method(on, UVERBS_OBJECT_DEVICE, query_port_speed_method,
			  attrs);
}

/* In Mbit/s; 1000 for a netdev that does not know. */
uint64_t netdev_speed(const port &on)
{
	std::string netdev;
	int value = -1;

	std::ifstream("/sys/class/infiniband/" + on.name +
		      "/ports/1/gid_attrs/ndevs/" +
		      std::to_string(on.gid_index)) >>
		netdev;
	check(!netdev.empty(), "no netdev in sysfs");
	std::ifstream file("/sys/class/net/" + netdev + "/speed");
	if (!file)
		skip("the netdev is in another namespace");
	file >> value;
	return value > 0 ? static_cast<uint64_t>(value) : 1000;
}

TEST_F(speed, port_speed)
{
	uint64_t value = 0;

	if (on.client.is_rxe)
		skip("the client is rxe");
	const int status = query_port_speed(on.client, 1, value);
	if (status == EPROTONOSUPPORT)
		skip("the kernel has no QUERY_PORT_SPEED");
	check_equal(status, 0, "QUERY_PORT_SPEED");
	check_equal(value, (netdev_speed(on.client) + 99) / 100,
		    "speed in units of 100 Mbit/s");
	check_equal(query_port_speed(on.client, 2, value), EINVAL,
		    "speed of port 2");
}

} /* namespace */
