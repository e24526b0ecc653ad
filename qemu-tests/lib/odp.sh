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

# number FILE NAME: of a file of lines "NAME NUMBER"
number()
{
	local name value _

	while read -r name value _; do
		[ "$name" != "$2" ] || echo "$value"
	done <"$1"
}
