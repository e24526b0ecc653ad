# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# shellcheck shell=bash
# This test will fork a program after ibv_fork_init while its messages are on
# their way; the children overwrite what they inherit.

limit=120

run()
{
	topology loop
	/ornic/build/programs/ornic_fork "$srv_dev" "$srv_gid" "$(times 50)"
	no_objects "$srv_dev" || fail 'objects stay'
}
