# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# shellcheck shell=bash
# This test will run the XRC example of verbs on one device, where both programs
# share a domain, and between two namespaces, polling and by events, over IPv4, and
# between two also over IPv6.

variants='loop veth'

run()
{
	[ "$DEV" = ornic ] || skip 'rxe has no XRC'
	topology "$VARIANT"
	pingpong ibv_xsrq_pingpong -n "$(times 1000)"
	pingpong ibv_xsrq_pingpong -e -n "$(times 1000)"
	if [ "$VARIANT" = veth ]; then
		family_of_both 6
		reach_server
		pingpong ibv_xsrq_pingpong -e -n "$(times 1000)"
	fi
	no_objects "$srv_dev" || fail 'objects are left'
}
