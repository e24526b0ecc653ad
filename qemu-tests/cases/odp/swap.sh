# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# shellcheck shell=bash
# This test will move data to and from 256 MiB of memory on demand of a process that may have
# 64 MiB: all other pages are in swap, in zram. No byte is wrong, and no ACK timer expires.

variants='loop veth'
kernels=stock
limit=300
full_limit=600

# shellcheck source=qemu-tests/lib/odp.sh
. /ornic/qemu-tests/lib/odp.sh

group=/sys/fs/cgroup/odp-swap

requires()
{
	need_odp
	need_zram
	grep -qw memory /sys/fs/cgroup/cgroup.controllers || skip 'no memory cgroup'
}

# limited COMMAND...: run it in the group
limited() { (echo 0 >$group/cgroup.procs; exec "$@"); }

# at_least NUMBER WHAT VALUE
at_least()
{
	echo "$2: $3"
	[ "$3" -ge "$1" ] || fail "$2: at least $1 expected"
}

# check_swap MIB IN OUT: pages that were swapped in and out meanwhile, by the kernel, and
# what the group had of it
check_swap()
{
	local pages=$(($1 * 256)) zram_max

	at_least $((pages / 4)) 'pages swapped in' "$2"
	at_least $((pages / 4)) 'pages swapped out' "$3"
	at_least $((pages / 4)) 'pages of the group that came back' \
		"$(number $group/memory.stat workingset_refault_anon)"
	[ ! -e $group/memory.swap.peak ] ||
		at_least $((128 << 20)) 'bytes in swap' "$(<$group/memory.swap.peak)"
	read -r _ _ _ _ zram_max _ <$zram/mm_stat
	at_least $((4 << 20)) 'bytes in zram' "$zram_max"
}

# move KIND MIB: by MRs of that KIND
move()
{
	local in out

	mkdir $group
	echo 64M >$group/memory.max
	in=$(number /proc/vmstat pswpin)
	out=$(number /proc/vmstat pswpout)
	echo "$1:"
	limited ornic_odp_swap "$cli_dev:$cli_gid" "$srv_dev:$srv_gid" "$1" "$2" ||
		fail "$1: $(number $group/memory.events oom_kill) processes killed for memory"
	in=$(($(number /proc/vmstat pswpin) - in))
	out=$(($(number /proc/vmstat pswpout) - out))
	check_swap "$2" "$in" "$out"
	wait_until 10 no_group
}

# no_group: it is gone, which one is not while a process of it is
no_group() { [ ! -d $group ] || rmdir $group; }

run()
{
	local mib

	topology_of_variant
	# Of a run that did not come to its end.
	wait_until 10 no_group
	trap swap_off EXIT
	swap_on 512
	echo +memory >/sys/fs/cgroup/cgroup.subtree_control
	mib=$(times 1024)
	move explicit "$mib"
	move implicit "$mib"
	wait_until 5 no_objects "$srv_dev"
}
