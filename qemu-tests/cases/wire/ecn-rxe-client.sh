# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# shellcheck shell=bash
# This test will mark requests of rxe to a soft device, which answers with CNPs: rxe drops
# them, and all operations deliver their data as before. rxe sees neither BECN nor another
# packet that it does not know.

limit=300
kernels='stock'

requires()
{
	need_ornic
	need tcpdump tshark
}

run()
{
	# shellcheck source=qemu-tests/lib/capture.sh
	. /ornic/qemu-tests/lib/capture.sh
	topology rxe-client
	begin_tcpdump srv packets
	echo "rx op=request every=3 count=all ce" \
		>/sys/class/infiniband/srv0/impair
	verify rc_gather_scatter rc_read_scatter rc_mixed_in_order uc_inline ud_send
	perftest ib_write_bw -n 200 -s 16384
	end_tcpdump
	dissect 100
	[ "$(stat srv0 np_ecn_marked_roce_packets)" -gt 0 ] || fail 'no marks'
	[ "$(stat srv0 np_cnp_sent)" -gt 0 ] || fail 'no CNPs'
	[ "$(packets 'opcode == 129 && dscp == 48')" -gt 0 ] || fail 'tshark sees no CNPs'
	[ "$(packets 'opcode != 129 && byte4 == 40')" = 0 ] || fail 'BECN to rxe'
}
