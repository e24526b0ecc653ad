# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# shellcheck shell=bash
# This test will double, damage, hold and mark single packets of a QP by rules of either
# device: the counters of the peer show just that.

limit=200
# shellcheck source=qemu-tests/lib/impair.sh
. /ornic/qemu-tests/lib/impair.sh

requires()
{
	need_ornic
	need ib_send_lat
}

# requests DEVICE DIRECTION: impair packets to the server
requests()
{
	messages "$1" "$2 op=request psn=+1 duplicate" 1
	expect srv0 'duplicate_request 1+' 'seq_nak_sent 0'
	messages "$1" "$2 op=request psn=+2 corrupt" 1
	expect srv0 'rx_icrc_encapsulated 1' 'rx_malformed 0'
	messages "$1" "$2 op=request psn=+1 swap" 1
	expect srv0 'out_of_sequence 1+' 'rx_icrc_encapsulated 0'
	# Longer than a host stops the CPU that is about to pass on the next packet
	messages "$1" "$2 op=request psn=+1 delay=500ms" 1
	expect srv0 'out_of_sequence 1+' 'rx_icrc_encapsulated 0'
	marks "$1" "$2"
	echo clear >"$sys/$1/impair"
}

# ce_packets: print how many marked packets the server has received
ce_packets()
{
	rdma statistic show link srv0/1 | sed -n 's/.* cc_rx_ce_pkts \([0-9]*\).*/\1/p'
}

marks()
{
	local before

	before=$(ce_packets)
	messages "$1" "$2 op=request nth=4 every=8 count=3 ce" 3
	[ $(($(ce_packets) - before)) = 3 ] || fail "$(ce_packets) marks"
	expect srv0 'rx_icrc_encapsulated 0' 'seq_nak_sent 0'
}

run()
{
	topology veth
	rdma statistic set link srv0/1 optional-counters cc_rx_ce_pkts
	requests cli0 tx
	requests srv0 rx
}
