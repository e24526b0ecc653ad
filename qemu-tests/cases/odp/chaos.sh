# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# shellcheck shell=bash
# This test will READ, WRITE, SEND and change by atomics memory on demand whose pages are
# unmapped, moved, copied by fork, merged by KSM, made huge and split, compacted, swapped,
# protected and filled by userfaultfd meanwhile. No byte comes from or goes to a page that was
# gone, and each kind of event has happened.

variants='loop veth'
limit=120
full_limit=1400

# shellcheck source=qemu-tests/lib/odp.sh
. /ornic/qemu-tests/lib/odp.sh

requires() { need_chaos; }

run()
{
	local seconds=15

	[ "$FULL" != 1 ] || seconds=600
	topology_of_variant
	trap chaos_off EXIT
	chaos_on
	chaos "$seconds"
	wait_until 5 no_objects "$srv_dev"
}
