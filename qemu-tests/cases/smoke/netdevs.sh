# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# shellcheck shell=bash
# This test will add a link on each kind of Ethernet netdev and transfer data: bridge,
# vlan, bond, tap, dummy, macvlan. The speed of the port is that of the netdev.

limit=120

on_netdev()
{
	local netdev=$1

	ip link set "$netdev" up
	ip addr add 10.1.0.1/24 dev "$netdev"
	add_link srv0 "$netdev"
	srv_dev=srv0 cli_dev=srv0 srv_type=ornic cli_type=ornic srv_ip=10.1.0.1 cli_ip=10.1.0.1
	srv_host=10.1.0.1
	wait_until 5 gid_index srv0 10.1.0.1
	srv_gid=$(gid_index srv0 10.1.0.1) cli_gid=$srv_gid
	pingpong ibv_rc_pingpong -n 20
	verify port_speed
	echo "$netdev: ok"
	del_link srv0
	ip link delete "$netdev" 2>/dev/null || [ "$netdev" = tap7 ]
}

# hold_tap NAME: open the tap, so that it has a carrier
hold_tap()
{
	exec python3 -c 'import fcntl, signal, struct, sys
tun = open("/dev/net/tun", "r+b", buffering=0)
TUNSETIFF, IFF_TAP, IFF_NO_PI = 0x400454ca, 2, 0x1000
fcntl.ioctl(tun, TUNSETIFF,
	    struct.pack("16sH22x", sys.argv[1].encode(), IFF_TAP | IFF_NO_PI))
signal.pause()' "$1"
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
	modprobe tun
	hold_tap tap7 &
	holder=$!
	wait_until 5 test -e /sys/class/net/tap7
	on_netdev tap7
	kill "$holder"
	ip link set v0 down
	ip link add bond7 type bond mode active-backup
	ip link set v0 master bond7
	on_netdev bond7
}
