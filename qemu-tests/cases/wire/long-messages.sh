# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# shellcheck shell=bash
# This test will send messages of many packets, which a worker receives, but not those of
# a few packets in a dialogue, not with rx_queues=0, and not with one CPU.

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

# count_workers COMMAND...: print how often a worker received meanwhile
count_workers()
{
	echo >"$tracing/trace"
	echo 1 >"$tracing/events/$event/enable"
	"$@" >&2
	echo 0 >"$tracing/events/$event/enable"
	grep -c 'function rx_work \[ornic_soft\]' "$tracing/trace" || true
}

# stream SIZE [OPTIONS]: set $writes and $reads to how often workers received during streams
# of messages of that size
stream()
{
	writes=$(count_workers perftest ib_write_bw -n 50 -s "$@")
	reads=$(count_workers perftest ib_read_bw -n 50 -s "$@")
	echo "workers with $*: $writes for WRITEs, $reads for READs"
}

by_workers() { stream "$@"; [ "$writes" -gt 0 ] && [ "$reads" -gt 0 ]; }
by_softirqs() { stream "$@"; [ "$writes" = 0 ] && [ "$reads" = 0 ]; }

# in_dialogue SIZE: during 400 messages, of packets of 1024 bytes
in_dialogue() { count_workers perftest ib_write_lat -s "$1" -m 1024 -n 200; }

all_bytes()
{
	verify rc_gather_scatter rc_read_scatter rc_both_ways rc_mixed_in_order
}

run()
{
	topology veth
	by_workers 65536 || fail 'softirqs received all packets'
	by_softirqs 1024 || fail 'short messages went to a worker'
	by_workers 4096 -m 1024 || fail 'softirqs received messages of 4 packets'
	# A message that is sent again is none of a dialogue.
	[ "$(in_dialogue 4096)" -lt 100 ] || fail 'messages of a dialogue went to a worker'
	[ "$(in_dialogue 65536)" -gt 200 ] || fail 'softirqs received messages of 64 KiB'
	echo 0 | tee /sys/class/infiniband/{srv0,cli0}/rx_queues
	by_softirqs 65536 || fail 'a worker received with rx_queues=0'
	all_bytes
	echo 1 | tee /sys/class/infiniband/{srv0,cli0}/rx_queues
	all_bytes
	# The kernel may lack CPU hotplug.
	[ -w $cpu/online ] || return 0
	trap 'echo 1 >$cpu/online' EXIT
	echo 0 >$cpu/online
	by_softirqs 65536 || fail 'a worker received with one CPU'
	all_bytes
}
