# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# shellcheck shell=bash
# This test will have the peer use its NIC to the limits: memory, commands,
# doorbells and frames. This guest has traffic on a NIC of the same process: all
# bytes are right, the traffic does not pause, and the heap of the process grows by
# no more than mem-limit.

machines=nic+nic
alone=1
limit=240
full_limit=1200

# shellcheck source=qemu-tests/lib/nic_life.sh
. /ornic/qemu-tests/lib/nic_life.sh

requires() { need_ornic; }

# Record the private memory of the process until the file stop exists.
watch_memory()
{
	while [ ! -e stop ]; do
		nic_stat 0 private_bytes
		pause
	done >memory
}

most_memory()
{
	local bytes most=0

	while read -r bytes; do
		[ "$bytes" -le "$most" ] || most=$bytes
	done <memory
	echo "$most"
}

run()
{
	local worker before grown quota wait_us seconds steady memory

	topology nic
	wait_until 60 peer_answers
	worker=$(nic_stat 0 worker)
	before=$(nic_stat 0 private_bytes)
	quota=$(nic_stat 0 mem_limit)
	seconds=$(times 600)
	# Pauses can only be measured on an idle host.
	[ "$FULL" != 1 ] || export STEADY_PAUSE_MS=100
	STEADY_UNTIL=stop verify steady_send &
	steady=$!
	watch_memory &
	memory=$!
	wait_until 20 busy_posting ornic0
	"$peer" "/ornic/qemu-tests/lib/fault_driver.py --exhaust $seconds"
	kill -0 $steady || fail 'the traffic has stopped'
	touch stop
	wait $steady || fail 'the traffic was disturbed'
	wait $memory
	[ "$(nic_stat 0 worker)" = "$worker" ] || fail 'the worker died'
	grown=$(($(most_memory) - before))
	wait_us=$(nic_stat 0 longest_turn_us)
	echo "longest turn of a guest: $wait_us us; most memory: $grown of $quota bytes"
	[ "$grown" -gt 1048576 ] || fail 'the peer has allocated nothing'
	[ "$grown" -le "$quota" ] || fail 'the process exceeds mem-limit'
	# The NIC works again with the real driver.
	topology peer
	pingpong ibv_rc_pingpong -n 10
}
