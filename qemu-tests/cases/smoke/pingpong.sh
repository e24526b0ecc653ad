# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# shellcheck shell=bash
# This test will run the verbs examples on one device and between two namespaces,
# polling and by events, over IPv4, and between two also over IPv6.

variants='loop veth'
limit=150

run()
{
	local program

	topology "$VARIANT"
	for program in ibv_{rc,uc,ud,srq}_pingpong; do
		pingpong "$program" -n "$(times 1000)"
		pingpong "$program" -e -n "$(times 1000)"
	done
	if [ "$VARIANT" = veth ]; then
		family_of_both 6
		reach_server
		for program in ibv_{rc,uc,ud,srq}_pingpong; do
			pingpong "$program" -e -n "$(times 1000)"
		done
	fi
	no_objects "$srv_dev" || fail 'objects are left'
}
