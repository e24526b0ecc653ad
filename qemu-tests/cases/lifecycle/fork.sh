# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# shellcheck shell=bash
# This test will fork a program after ibv_fork_init() while it sends messages; the
# children overwrite the inherited memory.

limit=120

run()
{
	topology loop
	ornic_fork "$srv_dev" "$srv_gid" "$(times 50)"
	no_objects "$srv_dev" || fail 'objects are left'
}
