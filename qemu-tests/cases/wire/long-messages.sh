# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# shellcheck shell=bash
# This test will send messages of many packets, which a worker receives, but not with
# rx_queues=0, and not with one CPU.

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

# workers SIZE: print how often a worker received during messages of that size
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
	[ "$(workers 65536)" -gt 0 ] || fail 'softirqs received all packets'
	[ "$(workers 1024)" = 0 ] || fail 'short messages went to a worker'
	echo 0 | tee /sys/class/infiniband/{srv0,cli0}/rx_queues
	[ "$(workers 65536)" = 0 ] || fail 'a worker received with rx_queues=0'
	all_bytes
	echo 1 | tee /sys/class/infiniband/{srv0,cli0}/rx_queues
	all_bytes
	# The kernel may lack CPU hotplug.
	[ -w $cpu/online ] || return 0
	trap 'echo 1 >$cpu/online' EXIT
	echo 0 >$cpu/online
	[ "$(workers 65536)" = 0 ] || fail 'a worker received with one CPU'
	all_bytes
}
