# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# shellcheck shell=bash
# This test will remove devices while the driver waits for a page of a program that never
# comes: by `rdma link delete`, with the netdev, and with its namespace. Nothing waits for
# the page, and no namespace of somebody else either.

limit=150

# shellcheck source=qemu-tests/lib/lifecycle.sh
. /ornic/qemu-tests/lib/lifecycle.sh
# shellcheck source=qemu-tests/lib/odp.sh
. /ornic/qemu-tests/lib/odp.sh

requires()
{
	need_odp
	need_fuse
}

no_netdev() { [ ! -e "/sys/class/net/$1" ]; }

by_link()
{
	start_hang "$srv_dev"
	ends_within 20 rdma link delete srv0
	gone srv0 || fail 'srv0 is there'
	add_link srv0 veth-srv
	family_of_both 4
	pingpong ibv_rc_pingpong -n 50
	end_hang
}

by_netdev()
{
	ip link add veth-a type veth peer name veth-b
	ip link set veth-a up
	ip link set veth-b up
	add_link other0 veth-a
	start_hang other0
	ends_within 20 ip link delete veth-a
	wait_until 20 gone other0
	end_hang
}

# Its end is complete when the peer of its netdev is gone.
namespace_goes()
{
	ip netns delete "$1"
	wait_until 20 no_netdev "$2"
}

by_namespace()
{
	ip netns add first
	ip link add veth-c type veth peer name veth-d netns first
	ip link set veth-c up
	ip -n first link set veth-d up
	add_link other1 veth-d ip netns exec first
	start_hang other1
	ip netns add second
	ip link add veth-e type veth peer name veth-f netns second
	namespace_goes first veth-c
	wait_until 20 gone other1
	namespace_goes second veth-e
	ends_within 20 ip netns add third
	ip netns delete third
	end_hang
}

run()
{
	topology loop
	by_link
	by_netdev
	by_namespace
}
