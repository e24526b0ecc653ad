# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# shellcheck shell=bash
# This test will stop ornic-nic under traffic for longer than the timeout of the driver,
# kill the program whose memory it writes to, and continue ornic-nic: the driver must
# not have freed that memory. Then the NIC works again.

machines=nic
alone=1
full_repeat=5
limit=180

# shellcheck source=qemu-tests/lib/nic_life.sh
. /ornic/qemu-tests/lib/nic_life.sh

requires()
{
	need_ornic
	need ibv_asyncwatch
}

logged() { dmesg | grep -q "$1"; }

run()
{
	topology nic
	watch_events
	start_traffic 20001 -q 4
	wait_until 20 busy_posting ornic0
	host stop-nic 0
	kill -9 "$srv_pid" "$cli_pid"
	wait_until 60 logged 'its memory is leaked'
	wait_until 30 saw_fatal
	end_traffic
	wait_until 20 logged 'bytes leaked'
	# Allocate and fill the freed memory.
	dd if=/dev/zero of="$WORK/fill" bs=1M count=64 2>/dev/null
	host continue-nic 0
	wait_until 60 works_again nic
	[ -z "$(tr -d '\0' <"$WORK/fill" | head -c 1)" ] || fail 'the NIC wrote into freed memory'
}
