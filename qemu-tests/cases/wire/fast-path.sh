# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# shellcheck shell=bash
# This test will count the packets that are received through the UDP socket: few, as
# most take the fast path; all of them with rx_fast_path=0, a netfilter hook or a routing
# rule. Dropping them by a filter or a route works, too.

limit=150
# shellcheck source=qemu-tests/lib/lifecycle.sh
. /ornic/qemu-tests/lib/lifecycle.sh

requires()
{
	need_ornic
	need nft
}

# datagrams: print the number of datagrams that sockets of the server received
# shellcheck disable=SC2016 # words of awk
datagrams()
{
	if [ "$family" = 6 ]; then
		on_srv awk '$1 == "Udp6InDatagrams" { print $2 }' /proc/net/snmp6
	else
		on_srv awk '$1 == "Udp:" { n = $2 } END { print n }' /proc/net/snmp
	fi
}

# path FAST|SLOW: the packets of some thousand messages take this path
path()
{
	local packets datagrams

	datagrams=$(datagrams)
	packets=$(stat "$srv_dev" rx_packets)
	perftest ib_send_bw -s 64 -n "$(times 10000)"
	datagrams=$(($(datagrams) - datagrams))
	packets=$(($(stat "$srv_dev" rx_packets) - packets))
	echo "$family: $datagrams of $packets packets by the socket"
	case $1 in
	FAST) [ $((4 * datagrams)) -lt $packets ] ;;
	SLOW) [ $datagrams -ge $packets ] ;;
	esac || fail "IPv$family: not the $1 path"
}

same_packets()
{
	local before

	before=$(stat "$srv_dev" rx_packets)
	pause
	[ "$(stat "$srv_dev" rx_packets)" = "$before" ]
}

# ends COMMAND...: after it the server receives no more packets
ends()
{
	traffic ib_send_bw -s 64 -u 20
	wait_until 5 counted "$srv_dev" rx_packets "$(stat "$srv_dev" rx_packets)"
	on_srv "$@"
	wait_until 2 same_packets
	stop_traffic
}

hooks()
{
	local type=ip hook

	[ "$family" = 4 ] || type=ip6
	path FAST
	on_srv nft add table $type t
	for hook in prerouting input; do
		on_srv nft add chain $type t c "{ type filter hook $hook priority 0; }"
		path SLOW
		on_srv nft delete chain $type t c
	done
	path FAST
	ends nft add chain $type t c \
		'{ type filter hook input priority 0; policy drop; }'
	on_srv nft delete table $type t
}

run()
{
	topology veth
	echo 0 >"/sys/class/infiniband/$srv_dev/rx_fast_path"
	path SLOW
	echo 1 >"/sys/class/infiniband/$srv_dev/rx_fast_path"
	hooks
	family_of_both 6
	reach_server
	hooks
	family_of_both 4

	# With the reverse path filter, the route to the sender matters.
	on_srv sysctl -q net.ipv4.conf.veth-srv.rp_filter=1
	ends ip route add blackhole "$cli_ip/32"
	on_srv ip route del blackhole "$cli_ip/32"
	path FAST
	# Last, since the kernel evaluates rules forever once there was one.
	on_srv ip rule add from 10.1.1.1 lookup main
	path SLOW
}
