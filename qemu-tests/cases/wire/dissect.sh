# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# shellcheck shell=bash
# This test will capture RC, UC and UD traffic of every operation, over IPv4 and IPv6
# and with rxe as the peer, and dissect it with tshark: all packets are RoCE and none
# is malformed.

limit=120
kernels='stock'

requires()
{
	need tcpdump tshark
}

run()
{
	# shellcheck source=qemu-tests/lib/capture.sh
	. /ornic/qemu-tests/lib/capture.sh
	topology "$([ "$DEV" = rxe ] && echo loop || echo rxe-server)"
	[ "$DEV" = ornic ] || skip 'packets of one rxe never reach a netdev'
	begin_tcpdump cli packets
	verify rc_gather_scatter rc_read_scatter rc_inline rc_mixed_in_order \
		uc_inline ud_send ud_reply
	family_of_both 6
	reach_server
	verify rc_inline rc_read_scatter uc_inline ud_send
	end_tcpdump
	dissect 500
}
