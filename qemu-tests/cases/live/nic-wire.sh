# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# shellcheck shell=bash
# This test will move memory that its programs write to all the time between two
# guests whose NICs are those of two processes: by packets.

machines=nic/nic
full_only=1
limit=100
full_limit=360
kernels='stock'

requires() { need_ornic; }

run()
{
	local process

	topology peer
	live 100000
	[ "$(nic_stat 0 wire_tx_frames)" -gt 1000 ] || fail 'not by the wire'
	for process in 0 1; do
		[ "$(nic_stat "$process" rx_icrc_errors)" = 0 ] ||
			fail "rx_icrc_errors of process $process"
	done
}
