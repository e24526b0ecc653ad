# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# shellcheck shell=bash
# Functions for cases with multicast groups. Needs lib/rdmacm.sh.

group4=239.1.2.3 group6=ff0e::102:3
# In the format of perftest: 16 decimal bytes.
mgid4=0:0:0:0:0:0:0:0:0:0:255:255:239:1:2:3
mgid6=255:14:0:0:0:0:0:0:0:0:0:0:1:2:0:3

# in_group FAMILY [NETDEV]: the netdev of the server ($srv_netdev) is a member of the
# group
in_group()
{
	local group=group$1

	on_srv ip maddr show dev "${2:-${srv_netdev:-veth-srv}}" | grep -Eq " ${!group}( |\$)"
}

not_in_group() { ! in_group "$@"; }

# joined N: at least N QPs of the server have joined the group
joined() { [ "$(grep -c 'joined dgid' srv.out)" -ge "$1" ]; }

# mckey QPS [OPTIONS]: both sides join with QPS QPs, and the client sends. IPv4 only:
# the kernel's rdma_cm refuses IPv6 groups for RoCEv2. The client leaves the group
# after posting; rxe sends later and drops packets that are not sent by then, so
# retry with rxe as the client.
mckey()
{
	local try

	if [ "$cli_type" = rxe ]; then
		for try in {1..9}; do
			(mckey_once 5 "$@") && return
			echo "try $try: the client left before rxe had sent"
			wait_until 10 not_in_group 4
		done
	fi
	mckey_once 40 "$@"
}

# mckey_once SECONDS QPS [OPTIONS]
mckey_once()
{
	local limit=$(($1 * SCALE)) status=0 server qps=$2

	shift 2
	: >srv.out
	"${srv_prefix[@]}" timeout -s KILL "$limit" stdbuf -oL mckey \
		-m "$group4" -b "$srv_ip" -c "$qps" "$@" >srv.out 2>&1 &
	server=$!
	wait_until 20 joined "$qps"
	on_cli timeout -s KILL "$limit" mckey -s -m "$group4" -b "$cli_ip" \
		-c "$qps" "$@" >cli.out 2>&1 || status=$?
	[ "$status" = 0 ] || kill "$server" 2>/dev/null || :
	wait "$server" || status="$status, server $?"
	[ "$status" = 0 ] && return
	tail -n 15 srv.out cli.out
	fail "client status $status: mckey $*"
}

# mcast_perftest FAMILY: attach without rdma_cm; fails if a message is lost
mcast_perftest()
{
	local mgid=mgid$1

	family_of_both "$1"
	perftest ib_send_bw -c UD -g -M "${!mgid}" -n 200 -s 1000
	wait_until 10 not_in_group "$1"
}

# mcast_programs TOPOLOGY: run the programs. As the receiver, rxe only supports groups
# joined by rdma_cm; it does not support the flag of mckey -l.
mcast_programs()
{
	local i rounds=2

	[ "$FULL" != 1 ] || rounds=20
	for ((i = 0; i < rounds; i++)); do
		family_of_both 4
		mckey 1 -C 20 -S 1000
		mckey 3 -C 10
		wait_until 10 not_in_group 4
	done
	if [ "$1" != rxe-server ]; then
		mcast_perftest 4
		mcast_perftest 6
	fi
	case $1 in
	loop | veth | nic) family_of_both 4; mckey 1 -l -C 20 ;;
	esac
	wait_until 10 no_objects "$srv_dev"
	wait_until 10 no_objects "$cli_dev"
}
