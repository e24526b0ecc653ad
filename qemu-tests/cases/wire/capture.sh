# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# shellcheck shell=bash
# This test will capture all packets of a soft device on its netdev with dumpcap, on the
# fast receive path and with receive queues: there is one for each packet that the
# device has counted, in pcapng, and none is malformed. Messages from memory to memory
# are none.

limit=200
kernels='stock'

requires()
{
	need_ornic
	need dumpcap capinfos tshark
}

# capture_begins: on the client's netdev
capture_begins()
{
	rm -f packets.pcapng
	: >dumpcap.log
	"${cli_prefix[@]}" dumpcap -q -i veth-cli -B 32 -f 'udp port 4791' \
		-w packets.pcapng 2>dumpcap.log &
	capture=$!
	wait_until 30 grep -q '^File:' dumpcap.log
	before=$(packets)
}

# packets: print how many packets $cli_dev has sent and received
packets() { echo $(($(stat "$cli_dev" tx_packets) + $(stat "$cli_dev" rx_packets))); }

# captured: print how many packets the file has
captured() { capinfos -Mc packets.pcapng | sed -n 's/.*packets: *//p'; }

# all_captured: as many as the device has counted
all_captured() { [ "$(captured)" = $(($(packets) - before)) ]; }

capture_ends()
{
	wait_until 10 all_captured
	kill -INT "$capture"
	wait "$capture" || :
	all_captured || fail "$(captured) packets, not $(($(packets) - before))"
	capinfos -t packets.pcapng | grep -q '^File type:.*pcapng' || fail 'not pcapng'
}

between_devices()
{
	capture_begins
	pingpong ibv_rc_pingpong -n 20 -c
	pingpong ibv_ud_pingpong -n 20 -s 1024
	perftest ib_write_bw -s 65536 -n 20
	perftest ib_read_bw -s 65536 -n 20
	capture_ends
	/ornic/qemu-tests/lib/dissect.sh packets.pcapng 500 ||
		fail 'tshark reports invalid packets'
}

on_one_device()
{
	local pingpong="ibv_rc_pingpong -d cli0 -g $cli_gid -n 20 -p 18600" loops

	loops=$(stat cli0 loop_msgs)
	capture_begins
	# shellcheck disable=SC2086 # a list of words, here and below
	"${cli_prefix[@]}" $pingpong >own.out 2>&1 &
	wait_until 20 listening $! 18600
	# shellcheck disable=SC2086
	on_cli $pingpong "$cli_ip"
	wait $! || fail "$(<own.out)"
	capture_ends
	[ "$(captured)" = 0 ] || fail 'packets of messages that need none'
	[ "$(stat cli0 loop_msgs)" -gt "$loops" ] || fail 'no message from memory to memory'
}

run()
{
	topology veth
	between_devices
	on_one_device
}
