# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# shellcheck shell=bash
# This test will send messages from one namespace to another without packets, and by
# packets as soon as somebody may look at them, in the middle of traffic: a capture,
# filters, programs, rules, queues and impairments of either end. Bytes and completions are
# right while it changes all the time. What the network would not deliver does not arrive,
# and either device can go, or its netdev to another namespace, at any time.

limit=360
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

# at_ends BEFORE [NEXT...] AFTER: the same, END being the name of either end; on a short run
# of one of them, by turns
turn=0
at_ends()
{
	local end ends=(srv cli)

	turn=$((1 - turn))
	[ "$FULL" = 1 ] || ends=("${ends[turn]}")
	for end in "${ends[@]}"; do
		seen "${@//END/$end}"
	done
}

# Rules that count packets. Those of IPv6 turn off the way for IPv4, too, without seeing it.
rules()
{
	local hook to

	for hook in ingress egress; do
		to="$hook veth-END on_END"
		! available has_counting netdev "$hook" ||
			at_ends "count_by none netdev $to" "count_by netdev none $to"
	done
	for hook in prerouting input output postrouting; do
		to="$hook veth-END on_END"
		at_ends "count_by none ip $to" "count_by ip ip6 $to" "count_by ip6 inet $to" \
			"count_by inet none $to"
	done
}

watchers()
{
	local end kind attribute dir policy='src 10.9.0.0/24 dst 10.9.0.0/24'

	[ "$KERNEL" = debug ] || seen 'begin_sink sniffed sniffer' end_sink
	for end in srv cli; do
		seen "begin_tcpdump $end packets" end_tcpdump
		[ "$(command stat -c %s packets)" -gt 1000 ] || fail 'nothing was captured'
	done
	for kind in xdp-generic xdp-native tcx-ingress tcx-egress; do
		! has_bpf "$kind" ||
			at_ends "begin_bpf $kind veth-END \"\${END_prefix[@]}\"" end_bpf
	done
	! available has_tc ||
		at_ends 'begin_matching veth-END on_END' 'end_matching veth-END on_END'
	at_ends 'on_END tc qdisc add dev veth-END root pfifo' \
		'on_END tc qdisc del dev veth-END root'
	rules
	at_ends "echo 'tx op=nak drop' >/sys/class/infiniband/END0/impair" \
		'echo clear >/sys/class/infiniband/END0/impair'
	for attribute in direct rx_fast_path; do
		at_ends "echo 0 >/sys/class/infiniband/END0/$attribute" \
			"echo 1 >/sys/class/infiniband/END0/$attribute"
	done
	! available modprobe -q xfrm_user ||
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
	begin_verified
	watchers
	end_verified
	traffic ib_write_bw -s 8192 -u 18
	blocked
	stop_traffic
	removal "$(times 10)"
	moved
	wait_until 10 no_objects srv0
	wait_until 10 no_objects cli0
}
