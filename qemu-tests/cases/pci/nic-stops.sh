# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# shellcheck shell=bash
# This test will stop ornic-nic under traffic for longer than the timeout of the driver,
# kill the program whose memory it writes to, pinned or on demand, and continue ornic-nic:
# the driver must not have freed that memory. Then the NIC works again.

machines=nic
alone=1
full_repeat=5
limit=180

# shellcheck source=qemu-tests/lib/nic_life.sh
. /ornic/qemu-tests/lib/nic_life.sh
# shellcheck source=qemu-tests/lib/odp.sh
. /ornic/qemu-tests/lib/odp.sh

requires()
{
	need_ornic
	need ibv_asyncwatch
}

# logged TEXT: since the NIC was stopped
logged() { dmesg | sed "1,/nic-stops:$memory:/d" | grep -q "$1"; }

# stops MEMORY: an option of perftest, or ''
stops()
{
	local memory=$1

	topology nic
	echo "nic-stops:$1:" >/dev/kmsg
	watch_events
	# shellcheck disable=SC2086 # no word, or one
	start_traffic 20001 -q 4 $1
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

run()
{
	if has_odp; then
		stops --odp
		[ "$KERNEL$FULL" != stock0 ] || return 0
	fi
	stops ''
}
