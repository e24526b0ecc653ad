# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# shellcheck shell=bash
# This test will have a guest write garbage to every register of its NIC and
# ring its doorbells, while the other guest of the process, which is under
# sanitizers, has traffic: that goes on, and the process does not mind.

machines=nic+nic
alone=1
sanitized=1
limit=240

# shellcheck source=qemu-tests/lib/nic_life.sh
. /ornic/qemu-tests/lib/nic_life.sh

requires() { need_ornic; }

run()
{
	local worker

	topology nic
	start_traffic 20001
	wait_until 20 busy_posting ornic0
	wait_until 60 peer_answers
	worker=$(nic_stat 0 worker)
	"$peer" "/ornic/qemu-tests/lib/hostile_guest.py $(times 500)"
	[ "$(nic_stat 0 worker)" = "$worker" ] || fail 'the worker died'
	is_busy || fail 'the traffic stands still'
	stop_traffic "$srv_pid" "$cli_pid"
	# It is a NIC again for who drives it as one.
	topology peer
	pingpong ibv_rc_pingpong -n 10
}
