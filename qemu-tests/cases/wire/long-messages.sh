# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# shellcheck shell=bash
# This test will move messages of many packets and see that the receiver's work is
# done by a worker; not with rx_queues at 0; and not with one CPU, where there is
# nobody to leave it to.

limit=150
kernels='stock'
cpu=/sys/devices/system/cpu/cpu1
event=workqueue/workqueue_execute_start

requires()
{
	need_ornic
	[ "$(nproc)" -gt 1 ] || skip 'needs two CPUs'
	need_events $event
}

# workers SIZE: how often one received, while messages of that size were moved
workers()
{
	echo >"$tracing/trace"
	echo 1 >"$tracing/events/$event/enable"
	perftest ib_write_bw -s "$1" -n 50 >&2
	perftest ib_read_bw -s "$1" -n 50 >&2
	echo 0 >"$tracing/events/$event/enable"
	grep -c 'function rx_work \[ornic_soft\]' "$tracing/trace" || true
}

all_bytes()
{
	verify rc_gather_scatter rc_read_scatter rc_both_ways rc_mixed_in_order
}

run()
{
	topology veth
	[ "$(workers 65536)" -gt 0 ] || fail 'all was received by softirqs'
	[ "$(workers 1024)" = 0 ] || fail 'short messages went to a worker'
	echo 0 | tee /sys/class/infiniband/{srv0,cli0}/rx_queues
	[ "$(workers 65536)" = 0 ] || fail 'a worker, in spite of rx_queues'
	all_bytes
	echo 1 | tee /sys/class/infiniband/{srv0,cli0}/rx_queues
	all_bytes
	# A kernel may have no way to take a CPU away.
	[ -w $cpu/online ] || return 0
	trap 'echo 1 >$cpu/online' EXIT
	echo 0 >$cpu/online
	[ "$(workers 65536)" = 0 ] || fail 'a worker, and no CPU for it'
	all_bytes
}
