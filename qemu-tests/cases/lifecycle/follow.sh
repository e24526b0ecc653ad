# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# shellcheck shell=bash
# This test will change the netdev of the device: MTU, addresses, carrier, name and
# namespace. The device follows, and transfers data after each change.

limit=90

requires()
{
	need_ornic
}

mtu_is() { ibv_devinfo -d srv0 | grep -qE "active_mtu:[[:space:]]*$1"; }
no_gid() { ! gid_index "$@"; }
# shows NETDEV: it is the one that programs find in sysfs
shows() { [ "$(ls /sys/class/infiniband/srv0/device/net)" = "$1" ]; }

# works ADDRESS: transfer data with the GID of that address
works()
{
	wait_until 5 gid_index srv0 "$1"
	srv_ip=$1 cli_ip=$1 srv_host=$1
	srv_gid=$(gid_index srv0 "$1") cli_gid=$(gid_index srv0 "$1")
	pingpong ibv_rc_pingpong -n 20
}

run()
{
	topology loop
	ip link set veth-srv mtu 1500
	wait_until 5 mtu_is 1024
	works 10.0.0.1
	ip link set veth-srv mtu 9000
	wait_until 5 mtu_is 4096

	ip addr add 10.0.0.77/24 dev veth-srv
	works 10.0.0.77
	ip addr delete 10.0.0.77/24 dev veth-srv
	wait_until 5 no_gid srv0 10.0.0.77
	works 10.0.0.1

	ip link set veth-cli down
	wait_until 5 port_is DOWN srv0
	ip link set veth-cli up
	wait_until 5 link_up srv0

	ip link set veth-srv down
	ip link set veth-srv name renamed
	ip link set renamed up
	rdma link show srv0/1 | grep -q 'netdev renamed' || fail 'old name'
	shows renamed || fail 'old link in sysfs'
	works 10.0.0.1

	ip netns add elsewhere
	ip link set renamed netns elsewhere name moved
	shows moved || fail 'old link in sysfs after the move'
	srv_prefix=(ip netns exec elsewhere) cli_prefix=(ip netns exec elsewhere)
	on_srv ip link set lo up
	on_srv ip addr add 10.0.0.5/24 dev moved
	on_srv ip link set moved up
	wait_until 5 link_up srv0
	works 10.0.0.5
}
