# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# shellcheck shell=bash
# This test will run the XRC example of verbs on one device, where both programs
# share a domain, polling and by events.

run()
{
	[ "$DEV" = ornic ] || skip 'rxe has no XRC'
	topology loop
	pingpong ibv_xsrq_pingpong -n "$(times 1000)"
	pingpong ibv_xsrq_pingpong -e -n "$(times 1000)"
	no_objects "$srv_dev" || fail 'objects stay'
}
