# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# shellcheck shell=bash
# This test will move data of all kinds between ornic and rxe, over IPv4 and
# IPv6, and look at the drop counters of both sides: each accepts every ICRC and
# every header of the other.

limit=120
kernels='stock'

no_drops()
{
	local counter

	for counter in rx_icrc_errors rx_malformed; do
		[ "$(stat "$cli_dev" $counter)" = 0 ] || fail "ornic: $counter"
	done
	# rxe drops what has a bad ICRC, and counts a rate-limited message only.
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
