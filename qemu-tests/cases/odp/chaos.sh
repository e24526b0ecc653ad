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

requires()
{
	local huge=/sys/kernel/mm/transparent_hugepage

	need_odp
	need_zram
	need_file $ksm/run KSM
	need_file /proc/sys/vm/unprivileged_userfaultfd userfaultfd
	need_file /proc/sys/vm/compact_memory compaction
	grep -q pgmigrate_success /proc/vmstat ||
		skip 'the kernel counts no pages that move'
	need_file $huge/hpage_pmd_size 'huge pages'
	[ "$(<$huge/hpage_pmd_size)" = 2097152 ] || skip 'huge pages have another size'
}

end() { ksm_off; swap_off; }

run()
{
	local seconds=15

	[ "$FULL" != 1 ] || seconds=600
	topology_of_variant
	trap end EXIT
	swap_on 256
	ksm_on
	ornic_odp_chaos "$cli_dev:$cli_gid" "$srv_dev:$srv_gid" "$seconds"
	wait_until 5 no_objects "$srv_dev"
}
