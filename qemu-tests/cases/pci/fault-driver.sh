# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# shellcheck shell=bash
# This test will write random data to all registers of the peer's NIC and ring its
# doorbells, while this guest has traffic on a NIC of the same process. The
# traffic continues, and the sanitizers of the process report nothing.

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
	"$peer" "/ornic/qemu-tests/lib/fault_driver.py $(times 500)"
	[ "$(nic_stat 0 worker)" = "$worker" ] || fail 'the worker died'
	wait_until 5 is_busy
	stop_traffic "$srv_pid" "$cli_pid"
	# The NIC works again with the real driver.
	topology peer
	pingpong ibv_rc_pingpong -n 10
}
