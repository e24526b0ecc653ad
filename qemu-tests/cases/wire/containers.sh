# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# shellcheck shell=bash
# This test will send messages between two namespaces whose netdevs are no veth pair. Those
# of netkit have no Ethernet address, and two ipvlans the same, but each device has a GUID of
# its own.

limit=120
kernels='stock'
variants='macvlan ipvlan netkit'

requires()
{
	need_ornic
	if [ "$VARIANT" = netkit ]; then
		ip link add veth-srv type netkit 2>/dev/null || skip 'the kernel has no netkit'
		ip link delete veth-srv
	else
		need_modules "$VARIANT"
	fi
}

# guid_of_address MAC: its EUI-64
guid_of_address()
{
	local b

	IFS=: read -ra b <<<"$1"
	printf '%02x%s:%sff:fe%s:%s%s\n' $((0x${b[0]} ^ 2)) "${b[@]:1:2}" "${b[@]:3:3}"
}

run()
{
	topology "$VARIANT"
	[ "$(on_srv cat /sys/class/infiniband/srv0/node_guid)" != \
		"$(on_cli cat /sys/class/infiniband/cli0/node_guid)" ] || fail 'the GUIDs are equal'
	[ "$VARIANT" != macvlan ] ||
		[ "$(cat /sys/class/infiniband/srv0/node_guid)" = \
			"$(guid_of_address "$(on_srv cat /sys/class/net/veth-srv/address)")" ] ||
		fail 'the GUID is not made of the address'
	pingpong ibv_rc_pingpong
	pingpong ibv_uc_pingpong
	pingpong ibv_ud_pingpong -s 1024
	verify rc_both_ways rc_mixed_in_order
}
