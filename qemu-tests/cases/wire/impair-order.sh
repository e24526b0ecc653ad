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

# order_of FILE: print the distances of the first four PSNs that cli0 sent in requests
order_of()
{
	tshark -r "$1" -Y "ip.src == $cli_ip && !infiniband.aeth" -T fields \
		-e infiniband.bth.psn 2>/dev/null | head -n 4 |
		awk 'NR == 1 { first = $1 } { printf "%d ", $1 - first }'
}

# has_order: set $order; the capture has four packets or more
has_order()
{
	order=$(order_of swapped)
	[ "$(wc -w <<<"$order")" = 4 ]
}

# swapped TEXT ORDER: the server's netdev receives packets in that order
swapped()
{
	local order

	begin_tcpdump srv swapped
	messages cli0 "$1" 1
	# tcpdump loses what it has not read when it ends.
	wait_until 10 has_order
	end_tcpdump
	[ "$order" = "$2" ] || fail "order $order"
}

run()
{
	topology veth
	swapped 'tx op=request psn=+1 swap' '0 2 1 3 '
	swapped 'tx op=request psn=+1 swap=2' '0 2 3 1 '
}
