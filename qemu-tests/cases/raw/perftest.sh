# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# shellcheck shell=bash
# This test will run perftest's raw_ethernet programs from one soft device to another,
# by Ethernet addresses alone, and by addresses and ports of UDP and TCP.

limit=200
kernels=stock

requires()
{
	need_ornic
	need raw_ethernet_bw raw_ethernet_lat
}

# raw PROGRAM [OPTIONS]: both sides, without a connection to talk over: the server is
# there when it has posted its receives, after it has made its rule
raw()
{
	local program=$1 server posted status=0

	shift
	echo "$program $*"
	# shellcheck disable=SC2068 # options are words
	on_srv timeout -s KILL $((60 * SCALE)) "$program" -d "$srv_dev" --server \
		-B "$(side_mac srv)" -E "$(side_mac cli)" -F $@ >srv.out 2>&1 &
	server=$!
	posted=0
	wait_until 30 has_receives "$server"
	# shellcheck disable=SC2068
	on_cli timeout -s KILL $((60 * SCALE)) "$program" -d "$cli_dev" --client \
		-B "$(side_mac cli)" -E "$(side_mac srv)" -F $@ >cli.out 2>&1 ||
		status=$?
	wait "$server" || status="$status, server $?"
	[ "$status" = 0 ] && return
	tail -n 40 srv.out cli.out
	fail "status $status: $program $*"
}

# has_receives PID: its QP has receives, as many as at the last call
has_receives()
{
	local before=$posted

	kill -0 "$1" || fail "$(<srv.out)"
	posted=$(rdma resource show qp link "$srv_dev/1" -dd | tr -s '\n\t ' ' ' |
		sed 's/link /\n/g' |
		sed -n 's/.* RAW_PACKET .* drv_rq_producer \([0-9]*\) .*/\1/p')
	[ "${posted:=0}" -gt 0 ] && [ "$posted" = "$before" ]
}

run()
{
	local ports

	# shellcheck source=qemu-tests/lib/raw.sh
	. /ornic/qemu-tests/lib/raw.sh
	topology veth
	ports="-J $srv_host -j 10.0.0.2 -K 6000 -k 7000"
	raw raw_ethernet_lat -n 100 -s 64
	raw raw_ethernet_bw -n 200 -s 1024 -r 512
	raw raw_ethernet_bw -n 200 -s 1024 -r 512 "$ports"
	raw raw_ethernet_lat -n 100 -s 64 "$ports" --tcp
	no_objects "$srv_dev" || fail 'objects are left'
	no_objects "$cli_dev" || fail 'objects are left'
}
