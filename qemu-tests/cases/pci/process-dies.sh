# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# shellcheck shell=bash
# This test will kill both processes of ornic-nic under traffic: the driver disables the
# device, nothing hangs, and the driver can be unloaded. The debug kernel panics over the
# memory that is leaked, since nobody has said that the device has stopped.

machines=nic
kernels='stock'
alone=1
full_repeat=20
limit=120

# shellcheck source=qemu-tests/lib/nic_life.sh
. /ornic/qemu-tests/lib/nic_life.sh

requires()
{
	need_ornic
	need ibv_asyncwatch
}

run()
{
	topology nic
	watch_events
	start_traffic 20001 -q 4
	wait_until 20 busy_posting ornic0
	host kill-nic 0
	wait_until 40 saw_fatal
	end_traffic
	wait_until 20 nic_gone
	rmmod ornic
}
