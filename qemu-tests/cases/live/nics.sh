# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# shellcheck shell=bash
# This test will move memory that its programs write to all the time between two
# guests whose NICs one process plays: memory to memory.

machines=nic+nic
limit=100
full_limit=360
kernels='stock'

requires() { need_ornic; }

run()
{
	topology peer
	live 100000
	[ "$(nic_stat 0 roce_frames)" = 0 ] || fail 'by packets'
}
