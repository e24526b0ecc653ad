# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# shellcheck shell=bash
# Functions for cases of odp: swap in compressed memory, KSM, and counters of the kernel.

ksm=/sys/kernel/mm/ksm
zram=/sys/block/zram0

# has_odp: the kernel has on-demand paging
has_odp()
{
	modprobe -q ib_uverbs || :
	grep -qw ib_umem_odp_get /proc/kallsyms
}

need_odp()
{
	need_ornic
	has_odp || skip 'the kernel has no on-demand paging'
}

need_zram()
{
	need mkswap swapon
	modprobe -q zram || :
	[ -e $zram ] || skip 'the kernel has no zram'
}

need_file() { [ -e "$1" ] || skip "the kernel has no $2"; }

# has_swap: of zram
has_swap() { grep -q '^/dev/zram0 ' /proc/swaps; }

# swap_on MIB
swap_on()
{
	swap_off
	echo "$1M" >$zram/disksize
	mkswap /dev/zram0 >/dev/null
	swapon /dev/zram0
}

swap_off()
{
	! has_swap || swapoff /dev/zram0
	echo 1 >$zram/reset
}

# Often enough for a few MiB, on a slow CPU.
ksm_on()
{
	echo 200 >$ksm/pages_to_scan
	echo 20 >$ksm/sleep_millisecs
	echo 1 >$ksm/run
}

# What was merged is separate again.
ksm_off()
{
	echo 2 >$ksm/run
	echo 0 >$ksm/run
}

# number FILE NAME: of a file of lines "NAME NUMBER". The file is read in one go: `read`
# goes back to the end of its line by a count of bytes, and a counter of a line before it
# may have got a digit more since.
number()
{
	local name value _

	while read -r name value _; do
		[ "$name" != "$2" ] || echo "$value"
	done <<<"$(<"$1")"
}

# ---- ornic_odp_chaos, see Documentation/testing-odp.rst ------------------------------

need_chaos()
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

chaos_on() { swap_on 256; ksm_on; }

chaos_off() { ksm_off; swap_off; }

# chaos SECONDS: between the devices of the topology
chaos() { ornic_odp_chaos "$cli_dev:$cli_gid" "$srv_dev:$srv_gid" "$1"; }

# ---- ornic_hang ----------------------------------------------------------------------

need_fuse()
{
	modprobe -q fuse || :
	[ -c /dev/fuse ] || skip 'the kernel has no FUSE'
}

says_hung() { grep -q hung hang.out; }

# start_hang DEVICE: the driver waits for a page of a program
start_hang()
{
	rm -f hang.in
	mkfifo hang.in
	: >hang.out
	ornic_hang "$1" 0 <hang.in >hang.out &
	hang=$!
	exec 7>hang.in
	wait_until 10 says_hung
}

end_hang()
{
	kill -0 "$hang" || fail 'the program has not waited'
	exec 7>&-
	wait "$hang" || fail 'the program has failed'
}
