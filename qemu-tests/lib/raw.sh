# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# shellcheck shell=bash
# Functions for cases with raw packet QPs.

# side_mac srv|cli: print the Ethernet address of that side
side_mac()
{
	local -n command=$1_prefix

	"${command[@]}" cat "/sys/class/net/veth-$1/address"
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

# udp_to PORT COUNT: the client sends so many datagrams of 100 bytes to the server
udp_to()
{
	on_cli /usr/bin/python3 - "$srv_host" "$1" "$2" <<-'END'
		import socket, sys, time
		sock = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
		for i in range(int(sys.argv[3])):
		    sock.sendto(bytes(100), (sys.argv[1], int(sys.argv[2])))
		    time.sleep(0.001)
	END
}

# udp_received: datagrams that programs or nobody on the server could get
# shellcheck disable=SC2016 # words of awk
udp_received()
{
	on_srv awk '/^Udp: [0-9]/ { print $2 + $3 }' /proc/net/snmp
}
