# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# shellcheck shell=bash
# This test will connect the NICs of two processes by a wire that loses,
# breaks and delays frames: what arrives is right all the same.

machines=nic/nic
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
	[ "$(nic_stat 0 wire_tx_frames)" -gt 1000 ] || { host ask 0 stats; fail 'not by the wire'; }
	[ "$(nic_stat 0 rx_icrc_errors)" = 0 ] || fail 'rx_icrc_errors'
	host ask 0 faults loss=0.01,corrupt=0.01,delay=1ms
	pingpong ibv_rc_pingpong -n 100 -c
	perftest ib_read_bw -n 50
	[ "$(nic_stat 0 lost)" -gt 0 ] || fail 'nothing was lost'
}
