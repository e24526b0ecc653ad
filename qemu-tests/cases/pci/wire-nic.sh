# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# shellcheck shell=bash
# This test will connect the NICs of two processes by a wire that drops, corrupts and
# delays frames: all data arrives unchanged.

machines=nic/nic
append=dma_debug=off # see local-attack.sh
limit=200

# shellcheck source=qemu-tests/lib/rdmacm.sh
. /ornic/qemu-tests/lib/rdmacm.sh

requires() { need_ornic; }

run()
{
	topology peer
	pingpong ibv_rc_pingpong -n 100 -c
	perftest ib_write_bw -b -n 200
	rping -C 5 -S 10000
	[ "$(nic_stat 0 wire_tx_frames)" -gt 1000 ] ||
		fail "not by the wire: $(host ask 0 stats)"
	[ "$(nic_stat 0 rx_icrc_encapsulated)" = 0 ] || fail 'rx_icrc_encapsulated'
	host ask 0 faults loss=0.01,corrupt=0.01,delay=1ms
	# Only programs that wait for each other at the end: otherwise one side may have
	# exited when the last ACK to its peer is lost.
	rping -C 20 -S 20000
	perftest ib_send_bw -b -n 200
	perftest ib_read_bw -n 50
	[ "$(nic_stat 0 lost)" -gt 0 ] || fail 'nothing was lost'
}
