# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# shellcheck shell=bash
# This test will transfer data between two guests with NICs of one process: from memory
# to memory, without RoCE frames, except for multicast.

machines=nic+nic
append=dma_debug=off # see local-attack.sh
limit=240

# shellcheck source=qemu-tests/lib/perftest.sh
. /ornic/qemu-tests/lib/perftest.sh
# shellcheck source=qemu-tests/lib/rdmacm.sh
. /ornic/qemu-tests/lib/rdmacm.sh

requires()
{
	need_ornic
	need ib_write_bw rping
}

run()
{
	local family

	for family in 4 6; do
		topology peer "$family"
		pingpong ibv_rc_pingpong -n 100
		pingpong ibv_ud_pingpong -n 100 -s 1000 -e
		rping -C 5 -S 60000
	done
	perftest_selection
	udaddy -c 4 -C 20 -S 1000
	[ "$(nic_stat 0 roce_frames)" = 0 ] || fail 'by packets'
	no_objects ornic0 || fail 'objects are left'
	at_srv no_objects ornic0 || fail 'objects are left in the peer'
}
