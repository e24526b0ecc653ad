# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# shellcheck shell=bash
# This test will send messages between two namespaces that a bridge joins, without packets,
# and by packets as soon as somebody may look at them on the bridge or at its ports. Bytes
# and completions are right meanwhile. What the bridge would not forward does not arrive,
# and the bridge, a netdev or a device can go at any time.

limit=240
direct=1
# shellcheck source=qemu-tests/lib/lifecycle.sh
. /ornic/qemu-tests/lib/lifecycle.sh
# shellcheck source=qemu-tests/lib/capture.sh
. /ornic/qemu-tests/lib/capture.sh
# shellcheck source=qemu-tests/lib/direct.sh
. /ornic/qemu-tests/lib/direct.sh

requires()
{
	need_ornic
	need nft tcpdump tc bridge
}

# Once a link is added again, too: see removal().
allow()
{
	local end

	for end in srv0 cli0; do
		echo 1 >/sys/class/infiniband/$end/direct_bridge
	done
}

watchers()
{
	local netdev hook prefix=()

	for netdev in port-srv hub port-cli; do
		seen "begin_tcpdump_of $netdev packets" end_tcpdump
		[ "$(command stat -c %s packets)" -gt 1000 ] || fail 'nothing was captured'
	done
	seen 'ip link set hub promisc on' 'ip link set hub promisc off'
	! has_bpf xdp-generic || seen 'begin_bpf xdp-generic port-srv' end_bpf
	! has_bpf xdp-native || seen 'begin_bpf xdp-native port-cli' end_bpf
	for hook in ingress egress; do
		! has_bpf tcx-$hook || seen "begin_bpf tcx-$hook port-srv" end_bpf
	done
	! available has_tc || seen 'begin_matching port-srv' 'end_matching port-srv'
	for netdev in port-srv port-cli; do
		seen "tc qdisc add dev $netdev root pfifo" "tc qdisc del dev $netdev root"
	done
	! available has_counting netdev ingress ||
		seen 'count_by none netdev ingress port-cli' \
			'count_by netdev none ingress port-cli'
	for hook in prerouting forward postrouting; do
		! available has_counting bridge $hook ||
			seen "count_by none bridge $hook hub" "count_by bridge none $hook hub"
	done
}

isolated() { bridge link set dev "$1" isolated "$2"; }

blocked()
{
	local mac

	mac=$(on_srv cat /sys/class/net/veth-srv/address)
	isolated port-srv on
	blocked_by isolated port-cli on
	isolated port-cli off
	# Else a frame of srv that is on its way takes the entry to port-srv.
	blocked_by bridge fdb replace "$mac" dev port-cli master static sticky
	bridge fdb del "$mac" dev port-cli master
	blocked_by ip link set port-cli mtu 1500
	ip link set port-cli mtu 4500
	blocked_by ip link set port-srv nomaster
	ip link set port-srv master hub
	wait_until 10 in_memory
}

# The bridge goes, and then a netdev, in the middle of traffic.
ends_of_all()
{
	traffic ib_write_bw -b -s 4096 -u 18
	blocked_by ip link delete hub
	stop_traffic
	ip link add hub type bridge
	ip link set port-srv master hub
	ip link set port-cli master hub
	ip link set hub up
	reach_server
	traffic ib_write_bw -b -s 4096
	wait_until 5 in_memory
	ip link delete port-srv
	wait_until 10 gone srv0
	stop_traffic
}

run()
{
	topology bridge
	traffic ib_write_bw -s 8192 -u 18
	wait_until 5 by_packets
	allow
	wait_until 5 in_memory
	seen 'echo 0 >/sys/class/infiniband/srv0/direct_bridge' allow
	seen 'echo 0 >/sys/class/infiniband/cli0/direct_bridge' allow
	stop_traffic
	begin_verified
	watchers
	end_verified
	traffic ib_write_bw -s 8192 -u 18
	blocked
	stop_traffic
	verified_meanwhile
	removal 1
	ends_of_all
	wait_until 10 no_objects cli0
}
