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
# shellcheck source=qemu-tests/lib/raw.sh
. /ornic/qemu-tests/lib/raw.sh

requires()
{
	need_ornic
	need_pyverbs
	need nft tcpdump tc
}

# grows COUNTER MINIMUM: within 100 ms
grows()
{
	local before

	before=$(stat cli0 "$1")
	pause
	[ "$(stat cli0 "$1")" -ge $((before + $2)) ]
}

in_memory() { grows loop_bytes 8192; }

# Nothing goes otherwise for 300 ms, while packets do; a QP proves its
# way by one in 100 ms
by_packets()
{
	local before _

	before=$(stat cli0 loop_bytes)
	for _ in 1 2 3; do
		grows tx_packets 3 || return 1
	done
	[ "$(stat cli0 loop_bytes)" = "$before" ]
}

# seen BEFORE AFTER: traffic goes by packets from the command BEFORE to AFTER
seen()
{
	echo "$1"
	wait_until 5 in_memory
	eval "$1"
	wait_until 5 by_packets
	eval "$2"
	wait_until 5 in_memory
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

# The way changes every few milliseconds, at either end, until it is stopped.
change_often()
{
	local value

	while :; do
		for value in 0 1; do
			echo "$value" >/sys/class/infiniband/srv0/direct
			sleep 0.003
			echo "$value" >/sys/class/infiniband/cli0/direct
			sleep 0.003
		done
	done
}

# Bytes, order and completions of all verbs, while the way changes
verified_meanwhile()
{
	local changes messages packets

	messages=$(stat cli0 loop_msgs) packets=$(stat cli0 tx_packets)
	change_often &
	changes=$!
	if [ "$KERNEL" = debug ]; then
		verify order live
	else
		verify order transfer srq xrc tags live
	fi
	end "$changes"
	echo 1 >/sys/class/infiniband/srv0/direct
	echo 1 >/sys/class/infiniband/cli0/direct
	counted cli0 loop_msgs $((messages + 100)) || fail 'not in memory'
	counted cli0 tx_packets $((packets + 100)) || fail 'not by packets'
}

# Nothing arrives for 300 ms, and packets are sent again.
is_blocked()
{
	local before resent

	before=$(stat cli0 loop_bytes) resent=$(resends cli0)
	pause
	pause
	pause
	[ "$(stat cli0 loop_bytes)" = "$before" ] &&
		[ "$(resends cli0)" -gt "$resent" ]
}

# The route to the sender goes, which packets then need.
blocked()
{
	on_srv sysctl -q net.ipv4.conf.veth-srv.rp_filter=1
	wait_until 5 in_memory
	on_srv ip route add blackhole "$cli_ip/32"
	wait_until 10 is_blocked
	on_srv ip route del blackhole "$cli_ip/32"
	wait_until 10 in_memory
}

# Either device goes under traffic of both directions, over IPv4 and IPv6.
removal()
{
	local end i family

	for ((i = 0; i < $(times 10); i++)); do
		family=4
		for end in srv cli; do
			traffic ib_write_bw -b -s 4096
			wait_until 5 in_memory
			del_link ${end}0
			wait_until 5 gone ${end}0
			stop_traffic
			local -n prefix=${end}_prefix
			add_link ${end}0 "veth-$end" "${prefix[@]}"
			family=$((10 - family))
			family_of_both "$family"
			reach_server
		done
	done
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
	removal
	moved
	wait_until 10 no_objects srv0
	wait_until 10 no_objects cli0
}
