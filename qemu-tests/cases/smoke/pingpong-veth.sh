# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# shellcheck shell=bash
# This test will run the verbs examples between two namespaces over veth,
# polling and by events, over IPv4 and IPv6.

run()
{
	local program

	topology veth
	for program in ibv_{rc,uc,ud,srq}_pingpong; do
		pingpong "$program" -n "$(times 1000)"
		pingpong "$program" -e -n "$(times 1000)"
	done
	family_of_both 6
	reach_server
	for program in ibv_{rc,uc,ud,srq}_pingpong; do
		pingpong "$program" -e -n "$(times 1000)"
	done
}
