# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# shellcheck shell=bash
# This test will make the netdev a port of a VRF and of a bridge, which take over its
# packets: an existing link is removed, and adding a link fails.

limit=60
# shellcheck source=qemu-tests/lib/lifecycle.sh
. /ornic/qemu-tests/lib/lifecycle.sh

requires()
{
	need_ornic
}

# takes TYPE [OPTIONS]: with a master of that type
takes()
{
	ip link add master0 type "$@" || skip "no netdev of type $1"
	ip link set master0 up
	ip link set veth-srv master master0
	wait_until 10 gone srv0
	refused 'resource busy' rdma link add srv0 type ornic netdev veth-srv
	ip link set veth-srv nomaster
	ip link delete master0
	add_link srv0 veth-srv
	family_of_both 4
	pingpong ibv_rc_pingpong -n 20
}

run()
{
	topology loop
	takes bridge
	# Last, since the addresses stay in the table of the VRF.
	takes vrf table 10
}
