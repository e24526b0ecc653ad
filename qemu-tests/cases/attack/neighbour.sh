# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# shellcheck shell=bash
# This test will let a host on the same wire, with a device and all rights in a network
# namespace of its own, listen at addresses of others, send datagrams to QP 1 and to
# their UD QPs, and connect and die: victims notice nothing.

limit=200

requires()
{
	need_ornic
	need setpriv rping
}

# on_evil COMMAND: in the namespace of the neighbour
on_evil() { ip netns exec evil "$@"; }

add_neighbour()
{
	ip netns add evil
	on_cli ip link add link veth-cli name macvlan0 type macvlan mode bridge
	on_cli ip link set macvlan0 netns evil
	on_evil ip link set lo up
	on_evil ip link set macvlan0 mtu 4500 up
	on_evil ip addr add 10.0.0.66/24 dev macvlan0
	add_link evil0 macvlan0 ip netns exec evil
	wait_until 5 on_evil ping -c 1 -W 1 "$srv_ip"
}

# QP 1 with its Q_Key, which all know, and the UD QPs of others without
list_targets()
{
	echo '1 0x80010000'
	printf '%s 0x22222222\n' "${qps[@]%%:*}"
}

refused() { [ "$(stat "$srv_dev" rx_too_long)" -gt "$1" ]; }

send_datagrams()
{
	local sender qps

	find_victims "$srv_dev"
	list_targets >qps
	ip netns exec evil "${as_nobody[@]}" \
		python3 /ornic/qemu-tests/lib/oversized.py --source 10.0.0.66 \
		--to "$srv_ip" --qps qps &
	sender=$!
	wait_until 60 refused $(($(stat "$srv_dev" rx_too_long) + $(times 2000)))
	kill "$sender"
	wait "$sender" || :
}

# start_server: rping, which may end when a client dies before it has seen the reply
start_server()
{
	"${srv_prefix[@]}" rping -s -P -a "$srv_ip" -p 7177 >server.out 2>&1 &
	server=$!
	wait_until 10 cm_listening 7177
}

# Connections that end half way. Every other one is established, and the victim's.
die_connected()
{
	local client i port server

	for ((i = 0; i < $(times 20); i++)); do
		port=7175
		((i % 2 == 0)) || { port=7177; start_server; }
		: >client.out
		ip netns exec evil stdbuf -oL rping -c -d -a "$srv_ip" -p "$port" \
			-C 100000 >client.out 2>&1 &
		client=$!
		pause
		((i % 2)) || wait_until 10 grep 'rdma_connect successful' client.out
		kill -9 "$client"
		wait "$client" 2>/dev/null || :
		((i % 2 == 0)) || stop_traffic "$server"
	done
}

# listens ADDRESS SECONDS: the neighbour can, and waits there until it is ended
listens()
{
	local status=0

	on_evil timeout "$2" rping -s -a "$1" -p 7176 -C 1 || status=$?
	[ "$status" = 124 ]
}

run()
{
	# shellcheck source=qemu-tests/lib/attack.sh
	. /ornic/qemu-tests/lib/attack.sh
	# shellcheck source=qemu-tests/lib/rdmacm.sh
	. /ornic/qemu-tests/lib/rdmacm.sh
	topology veth
	chmod 755 .
	start_victims
	add_neighbour
	note_counters "$srv_dev" rx_too_long rx_bad_qkey
	listens 10.0.0.66 2 || fail 'the neighbour cannot listen at its own address'
	! listens "$srv_ip" 30 || fail 'the neighbour listens at an address of others'
	send_datagrams
	die_connected
	counted_more "$srv_dev"
	stop_victims
}
