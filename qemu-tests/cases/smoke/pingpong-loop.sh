# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# shellcheck shell=bash
# This test will run the verbs examples on one device, polling and by events.

run()
{
	local program

	topology loop
	for program in ibv_{rc,uc,ud,srq}_pingpong; do
		pingpong "$program" -n "$(times 1000)"
		pingpong "$program" -e -n "$(times 1000)"
	done
	no_objects "$srv_dev" || fail 'objects stay'
}
