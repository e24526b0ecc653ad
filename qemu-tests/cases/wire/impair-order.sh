# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# shellcheck shell=bash
# This test will have packets of a QP overtaken by one and by two others: a capture on
# the peer's netdev shows their order.

limit=90
kernels='stock'
# shellcheck source=qemu-tests/lib/impair.sh
. /ornic/qemu-tests/lib/impair.sh

requires()
{
	need_ornic
	need ib_send_lat tcpdump tshark
}

# has_order: set $order to the distances of the first four PSNs that cli0 sent in requests,
# if the capture has as many
has_order()
{
	/ornic/qemu-tests/lib/dissect.sh packets 4 table || return
	order=$(values 'from_cli && !aeth' psn | head -n 4 |
		awk 'NR == 1 { first = $1 } { printf "%d ", $1 - first }')
	[ "$(wc -w <<<"$order")" = 4 ]
}

# swapped TEXT ORDER: the server's netdev receives packets in that order
swapped()
{
	local order

	begin_tcpdump srv packets
	messages cli0 "$1" 1
	# tcpdump loses what it has not read when it ends.
	wait_until 10 has_order
	end_tcpdump
	[ "$order" = "$2" ] || fail "order $order"
}

run()
{
	# shellcheck source=qemu-tests/lib/capture.sh
	. /ornic/qemu-tests/lib/capture.sh
	topology veth
	swapped 'tx op=request psn=+1 swap' '0 2 1 3 '
	swapped 'tx op=request psn=+1 swap=2' '0 2 3 1 '
}
