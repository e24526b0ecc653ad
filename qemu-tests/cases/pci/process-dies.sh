# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# shellcheck shell=bash
# This test will kill ornic-nic as a whole under traffic: the driver gives the
# device up, nothing hangs, and the driver can be unloaded.

machines=nic
limit=120

# shellcheck source=qemu-tests/lib/nic_life.sh
. /ornic/qemu-tests/lib/nic_life.sh

requires() { need_ornic; }

run()
{
	topology nic
	start_traffic 20001 -q 4
	wait_until 20 busy_posting ornic0
	host kill-nic 0
	wait_until 40 traffic_ended
	stop_traffic "$srv_pid" "$cli_pid"
	wait_until 20 nic_gone
	rmmod ornic
}
