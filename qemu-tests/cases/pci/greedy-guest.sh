# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# shellcheck shell=bash
# This test will have a guest take all that its NIC gives it, in memory, commands and
# doorbells, for as long as it is let, while the other guest of the process has
# traffic: that goes on without a pause, and the process does not grow.

machines=nic+nic
alone=1
limit=240
full_limit=1200

# shellcheck source=qemu-tests/lib/nic_life.sh
. /ornic/qemu-tests/lib/nic_life.sh

requires() { need_ornic; }

run()
{
	local worker wait_us

	topology nic
	start_traffic 20001
	wait_until 20 busy_posting ornic0
	wait_until 60 peer_answers
	worker=$(nic_stat 0 worker)
	"$peer" "/ornic/qemu-tests/lib/hostile_guest.py --greedy $(times 600)"
	[ "$(nic_stat 0 worker)" = "$worker" ] || fail 'the worker died'
	is_busy || fail 'the traffic stands still'
	stop_traffic "$srv_pid" "$cli_pid"
	wait_us=$(nic_stat 0 longest_turn_us)
	echo "the longest turn of a guest: $wait_us us"
	# It is a NIC again for who drives it as one.
	topology peer
	pingpong ibv_rc_pingpong -n 10
}
