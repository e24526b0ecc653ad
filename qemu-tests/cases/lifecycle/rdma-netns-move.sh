# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# shellcheck shell=bash
# This test will move links to network namespaces in exclusive mode, and back: each
# link is visible only in its namespace, and transfers data there.

limit=120

requires()
{
	need_ornic
}

# Move a device, and then its netdev. Users of the device are disconnected.
moved_inside()
{
	local holder

	ip netns add box
	ip link add veth-box type veth peer name veth-out
	ip link set veth-out up
	ip link set veth-box up
	add_link box0 veth-box
	seen box0: || fail 'not seen outside'
	ibv_asyncwatch -d box0 >watch.out 2>&1 &
	holder=$!
	ends_within 20 rdma dev set box0 netns box
	kill "$holder" 2>/dev/null || :
	wait "$holder" || :
	seen '' || fail 'seen outside'
	wait_until 5 seen box0: ip netns exec box

	ip link set veth-box netns box
	srv_prefix=(ip netns exec box) cli_prefix=(ip netns exec box)
	on_srv ip link set lo up
	on_srv ip addr add 10.0.1.1/24 dev veth-box
	on_srv ip link set veth-box up
	wait_until 5 index_of box0 10.0.1.1 on_srv
	srv_dev=box0 cli_dev=box0 srv_host=10.0.1.1
	srv_gid=$(index_of box0 10.0.1.1 on_srv) cli_gid=$srv_gid
	pingpong ibv_rc_pingpong -n 50
}

# A device without its netdev returns when the namespace is deleted.
comes_back()
{
	ip netns add box2
	ip link add veth-back type veth peer name veth-out2
	ip link set veth-back up
	ip link set veth-out2 up
	add_link back0 veth-back
	rdma dev set back0 netns box2
	seen '' || fail 'seen outside'
	ip netns delete box2
	wait_until 20 seen back0:
	rdma link delete back0
}

run()
{
	# shellcheck source=qemu-tests/lib/exclusive.sh
	. /ornic/qemu-tests/lib/exclusive.sh
	exclusive
	moved_inside
	ip netns delete box
	# Its netdevs go later than the name.
	wait_until 20 test ! -e /sys/class/net/veth-out
	wait_until 20 seen ''
	comes_back
}
