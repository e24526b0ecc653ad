# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# shellcheck shell=bash
# This test will make a device on each kind of Ethernet netdev and move data
# over it: bridge, vlan, bond, tap, dummy, macvlan.

limit=90

on_netdev()
{
	local netdev=$1

	ip link set "$netdev" up
	ip addr add 10.1.0.1/24 dev "$netdev"
	add_link srv0 "$netdev"
	srv_dev=srv0 cli_dev=srv0 srv_ip=10.1.0.1 cli_ip=10.1.0.1
	srv_host=10.1.0.1
	wait_until 5 gid_index srv0 10.1.0.1
	srv_gid=$(gid_index srv0 10.1.0.1) cli_gid=$srv_gid
	pingpong ibv_rc_pingpong -n 20
	echo "$netdev: ok"
	del_link srv0
	ip link delete "$netdev"
}

run()
{
	need_ornic
	ip link add v0 type veth peer name v1
	ip link set v0 up
	ip link set v1 up
	ip link add br0 type bridge
	ip link set v1 master br0
	on_netdev br0
	ip link add link v0 name v0.7 type vlan id 7
	on_netdev v0.7
	ip link add link v0 name mac0 type macvlan
	on_netdev mac0
	ip link add name dummy7 type dummy
	on_netdev dummy7
	ip tuntap add dev tap7 mode tap
	exec 9<>/dev/net/tun
	on_netdev tap7
	ip link set v0 down
	ip link add bond7 type bond mode active-backup
	ip link set v0 master bond7
	on_netdev bond7
}
