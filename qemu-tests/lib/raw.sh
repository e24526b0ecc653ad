# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# shellcheck shell=bash
# Functions for cases with raw packet QPs.

# raw_netdev srv|cli: print the name of the netdev of that side
raw_netdev()
{
	if [ "${MACHINES-}" = 2 ]; then
		echo eth0
	else
		echo "veth-$1"
	fi
}

# side_mac srv|cli: print the Ethernet address of that side
side_mac()
{
	local -n command=$1_prefix

	"${command[@]}" cat "/sys/class/net/$(raw_netdev "$1")/address"
}

# begin_sink FILE ARGUMENTS...: receive frames on the server by raw_sink.py, and write
# to FILE what it prints, until end_sink. For several: $sink is its PID, and end_sink is
# of the FILE in $sink_out
begin_sink()
{
	sink_out=$1
	shift
	: >"$sink_out"
	"${srv_prefix[@]}" /usr/bin/python3 /ornic/qemu-tests/lib/raw_sink.py \
		"$srv_dev" "$@" >"$sink_out" 2>"$sink_out.err" &
	sink=$!
	wait_until 30 sink_is_ready
}

sink_is_ready()
{
	kill -0 "$sink" || fail "$(<"$sink_out.err")"
	grep ready "$sink_out"
}

# end_sink: ... and set frames, longest, payload, wrong, sctp_frames and tagged
end_sink()
{
	local words

	kill -TERM "$sink" 2>/dev/null || :
	wait "$sink" || fail "$(<"$sink_out.err")"
	read -ra words < <(grep ^frames "$sink_out")
	# shellcheck disable=SC2034 # for the caller
	frames=${words[1]} longest=${words[3]} payload=${words[5]} wrong=${words[7]} \
		sctp_frames=${words[9]} tagged=${words[11]}
	cat "$sink_out"
}

# end_restarted: end_sink of QPs that have ended. They start again with CAP_NET_RAW only,
# EPERM without.
end_restarted()
{
	end_sink
	grep -x 'restart 0 1' "$sink_out" || fail 'restart'
}

# udp_to PORT COUNT: the client sends so many datagrams of 100 bytes to the server
udp_to()
{
	on_cli /usr/bin/python3 -c "$send_udp" "$srv_host" "$1" "$2"
}

send_udp='import socket, sys, time
sock = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
for i in range(int(sys.argv[3])):
    sock.sendto(bytes(100), (sys.argv[1], int(sys.argv[2])))
    time.sleep(0.001)'

# udp_received: datagrams that programs or nobody on the server could get
# shellcheck disable=SC2016 # words of awk
udp_received()
{
	on_srv awk '/^Udp: [0-9]/ { print $2 + $3 }' /proc/net/snmp
}

# has_received COUNT: so many since $before
has_received() { [ $(($(udp_received) - before)) = "$1" ]; }

# keep_neighbours srv|cli: what that side knows of neighbours stays as it is. It would ask
# them 5 s after it has used what is stale, and answers go to the Ethernet address that
# raw QPs have rules for.
keep_neighbours()
{
	local netdev address mac _
	local -n command=$1_prefix

	netdev=$(raw_netdev "$1")
	while read -r address _ mac _; do
		[ -z "$mac" ] || "${command[@]}" ip neigh replace "$address" \
			lladdr "$mac" dev "$netdev" nud permanent
	done < <("${command[@]}" ip neigh show dev "$netdev")
}

# raw PROGRAM [OPTIONS]: both sides, without a connection to talk over: the server is
# there when it has posted its receives, after it has made its rule
raw()
{
	local program=$1 server posted status=0

	shift
	keep_neighbours srv
	keep_neighbours cli
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
