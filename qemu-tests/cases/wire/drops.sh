# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# shellcheck shell=bash
# This test will transfer data with all operations between ornic and rxe, over IPv4 and
# IPv6, and check the drop counters: each side accepts all headers and ICRCs of the
# other one.

limit=120
kernels='stock'

no_drops()
{
	local counter

	for counter in rx_icrc_encapsulated rx_malformed; do
		[ "$(stat "$cli_dev" $counter)" = 0 ] || fail "ornic: $counter"
	done
	# rxe only logs a rate-limited message when it drops a packet with a bad ICRC.
	! dmesg | grep -i 'bad ICRC' || fail 'rxe: bad ICRC'
}

run()
{
	need_ornic
	topology rxe-server
	verify rc_send rc_write rc_read uc_inline ud_send
	no_drops
	family_of_both 6
	reach_server
	verify rc_send rc_write rc_read uc_inline ud_send
	no_drops
	rdma statistic show link
}
