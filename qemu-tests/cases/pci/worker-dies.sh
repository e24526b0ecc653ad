# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# shellcheck shell=bash
# This test will kill the worker of ornic-nic under traffic, repeatedly: programs get an
# event, and the drivers of both guests recover.

machines=nic+nic
limit=300
full_limit=1200

# shellcheck source=qemu-tests/lib/nic_life.sh
. /ornic/qemu-tests/lib/nic_life.sh

requires()
{
	need_ornic
	need ibv_asyncwatch
}

run()
{
	local round

	for ((round = 1; round <= $(times 20); round++)); do
		topology peer
		watch_events
		start_traffic $((20000 + round)) -q 4
		wait_until 20 busy_posting ornic0
		host kill-worker 0
		wait_until 40 saw_fatal
		end_traffic
		wait_until 60 works_again peer
	done
	[ "$(nic_stat 0 resets)" -gt 0 ] || fail 'no reset'
}
