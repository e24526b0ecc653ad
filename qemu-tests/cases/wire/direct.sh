# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# shellcheck shell=bash
# This test will send messages from one namespace to another without packets, and by
# packets as soon as somebody may look at them, in the middle of traffic: a capture,
# filters, programs, rules, queues and impairments of either end. Bytes and completions are
# right while it changes all the time. What the network would not deliver does not arrive,
# and either device can go, or its netdev to another namespace, at any time.

limit=240
direct=1
# shellcheck source=qemu-tests/lib/lifecycle.sh
. /ornic/qemu-tests/lib/lifecycle.sh
# shellcheck source=qemu-tests/lib/capture.sh
. /ornic/qemu-tests/lib/capture.sh
# shellcheck source=qemu-tests/lib/direct.sh
. /ornic/qemu-tests/lib/direct.sh
# shellcheck source=qemu-tests/lib/raw.sh
. /ornic/qemu-tests/lib/raw.sh

requires()
{
	need_ornic
	need_pyverbs
	need nft tcpdump tc
}

# at_ends BEFORE AFTER: the same, END being the name of either end; on a short run of one
# of them, by turns
turn=0
at_ends()
{
	local end ends=(srv cli)

	turn=$((1 - turn))
	[ "$FULL" = 1 ] || ends=("${ends[turn]}")
	for end in "${ends[@]}"; do
		seen "${1//END/$end}" "${2//END/$end}"
	done
}

watchers()
{
	local end hook attribute dir policy='src 10.9.0.0/24 dst 10.9.0.0/24'
	local chain="nft add chain"

	[ "$KERNEL" = debug ] || seen 'begin_sink sniffed sniffer' end_sink
	for end in srv cli; do
		seen "begin_tcpdump $end packets" end_tcpdump
		[ "$(command stat -c %s packets)" -gt 1000 ] || fail 'nothing was captured'
	done
	! modprobe -q sch_ingress ||
		at_ends 'on_END tc qdisc add dev veth-END clsact' \
			'on_END tc qdisc del dev veth-END clsact'
	at_ends 'on_END tc qdisc add dev veth-END root pfifo' \
		'on_END tc qdisc del dev veth-END root'
	for hook in ingress egress; do
		! nft add table netdev t ||
			at_ends "on_END nft add table netdev t; on_END $chain netdev t c \
				'{ type filter hook $hook device veth-END priority 0; }'" \
				'on_END nft delete table netdev t'
	done
	for hook in prerouting input output postrouting; do
		at_ends "on_END nft add table ip t; on_END $chain ip t c \
			'{ type filter hook $hook priority 0; }'" \
			'on_END nft delete table ip t'
	done
	at_ends "echo 'tx op=nak drop' >/sys/class/infiniband/END0/impair" \
		'echo clear >/sys/class/infiniband/END0/impair'
	for attribute in direct rx_fast_path; do
		at_ends "echo 0 >/sys/class/infiniband/END0/$attribute" \
			"echo 1 >/sys/class/infiniband/END0/$attribute"
	done
	! modprobe -q xfrm_user ||
		for dir in in out; do
			at_ends "on_END ip xfrm policy add $policy dir $dir" \
				"on_END ip xfrm policy delete $policy dir $dir"
		done
}

# The route to the sender goes, which packets then need.
blocked()
{
	on_srv sysctl -q net.ipv4.conf.veth-srv.rp_filter=1
	blocked_by on_srv ip route add blackhole "$cli_ip/32"
	on_srv ip route del blackhole "$cli_ip/32"
	wait_until 10 in_memory
}

stands_still()
{
	local before

	before=$(stat cli0 loop_bytes)
	pause
	[ "$(stat cli0 loop_bytes)" = "$before" ]
}

# In another namespace the netdev has no address, and no other traffic comes there.
moved()
{
	traffic ib_write_bw -b -s 4096
	wait_until 5 in_memory
	ip netns add other
	on_srv ip link set veth-srv netns other
	wait_until 5 stands_still
	stop_traffic
}

run()
{
	topology veth
	verified_meanwhile
	verify order
	traffic ib_write_bw -s 8192 -u 18
	watchers
	blocked
	stop_traffic
	removal "$(times 10)"
	moved
	wait_until 10 no_objects srv0
	wait_until 10 no_objects cli0
}
