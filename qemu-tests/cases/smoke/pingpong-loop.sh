# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# shellcheck shell=bash
# This test will run the verbs examples on one device, polling and by events.

run()
{
	local program

	topology loop
	for program in ibv_rc_pingpong ibv_uc_pingpong ibv_ud_pingpong; do
		pingpong "$program" -n "$(times 1000)"
		pingpong "$program" -e -n "$(times 1000)"
	done
	no_objects "$srv_dev" || fail 'objects stay'
}
