# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# shellcheck shell=bash
# This test will run the XRC example of verbs between two namespaces over veth,
# polling and by events, over IPv4 and IPv6.

run()
{
	[ "$DEV" = ornic ] || skip 'rxe has no XRC'
	topology veth
	pingpong ibv_xsrq_pingpong -n "$(times 1000)"
	pingpong ibv_xsrq_pingpong -e -n "$(times 1000)"
	family_of_both 6
	reach_server
	pingpong ibv_xsrq_pingpong -e -n "$(times 1000)"
}
