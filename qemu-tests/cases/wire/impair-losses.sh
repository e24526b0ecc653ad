# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# shellcheck shell=bash
# This test will lose single requests and NAKs by rules of either device: the QPs
# recover by NAKs, before the ACK timeout.

limit=150
# shellcheck source=qemu-tests/lib/impair.sh
. /ornic/qemu-tests/lib/impair.sh

requires()
{
	need_ornic
	need ib_send_lat
}

run()
{
	topology veth
	messages cli0 'tx op=request qpn=first psn=+2 drop' 1
	expect srv0 'seq_nak_sent 1+' 'rx_icrc_encapsulated 0'
	expect cli0 'packet_seq_err 1+' 'local_ack_timeout_err 0'
	messages srv0 'rx op=request qpn=first nth=3 drop' 1
	expect srv0 'seq_nak_sent 1+'
	# The packet, and the first time that it is sent again.
	messages cli0 'tx op=request psn=+2 count=2 drop' 2
	expect cli0 'local_ack_timeout_err 0'
	# The NAK is lost, and the rule for it counts no ACK.
	rule srv0 'tx op=nak drop'
	messages cli0 'tx op=request psn=+2 drop' 1
	[ "$(count_of srv0 hits)" = 1 ] || fail 'no NAK was lost'
	expect cli0 'local_ack_timeout_err 0'
}
