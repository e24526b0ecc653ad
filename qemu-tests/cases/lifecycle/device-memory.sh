# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# shellcheck shell=bash
# This test will delete the link while a program has all device memory mapped: the
# program still reads what it has written, and the next link has all of its memory.

limit=60

# shellcheck source=qemu-tests/lib/device_memory.sh
. /ornic/qemu-tests/lib/device_memory.sh

requires()
{
	need_ornic
	need_pyverbs
}

run()
{
	local first second

	topology loop
	take_memory first
	first=$owner_pid
	del_link "$srv_dev"
	add_link "$srv_dev" veth-srv
	take_memory second
	second=$owner_pid
	found first "$first" own
	found second "$second" own
	wait_until 10 no_objects "$srv_dev"
}
