# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# shellcheck shell=bash
# This test will use a PCI NIC that violates the device interface
# (lib/fault_device.py): responses, events, completions, registers and interrupts
# are invalid or missing. The driver must reset the device each time and can be
# unloaded at the end; the kernel reports no error.

machines=faulty
limit=300

mac=52:54:00:00:00:01

requires()
{
	need_ornic
	need_pyverbs
	grep -qx 0x1110 /sys/bus/pci/devices/*/device || skip 'no faulty device'
}

lives() { dmesg | grep -c 'RDMA device on d0'; }

# A raw packet QP with a rule ends when the netdev moves; or the device does not obey.
move_netdev()
{
	: >sink.out
	/usr/bin/python3 /ornic/qemu-tests/lib/raw_sink.py ornic0 udp 5000 take >sink.out &
	(wait_until 3 grep -q ready sink.out)
	ip netns add other
	ip link set d0 netns other
	ip -n other link set d0 netns 1 && grep ready sink.out && touch moved
	ip netns delete other
	kill $!
	wait $!
	ip addr add 10.0.0.1/24 dev d0
	ip link set d0 up
}

# Make the driver issue commands, and kernel and processes use queues.
use()
{
	move_netdev
	ip addr add 10.9.9.9/24 dev d0
	ip link set d0 mtu 1500
	timeout 9 ibv_rc_pingpong -d ornic0 -g 0 -n 10 &
	(wait_until 2 listening_or_gone $! 18515)
	# Queries the QPs, before the next change of their state
	rdma resource show qp
	# With memory on demand
	timeout 2 ibv_rc_pingpong -d ornic0 -g 0 -n 10 -o 127.0.0.1
	kill $!
	wait $!
	ip link set d0 mtu 4500
	ip addr del 10.9.9.9/24 dev d0
	timeout 3 ibv_devinfo -v -d ornic0
}

run()
{
	local begin=$SECONDS wanted

	wanted=$(times 17)
	ip link add d0 address $mac mtu 4500 type dummy
	ip addr add 10.0.0.1/24 dev d0
	ip link set d0 up
	modprobe ornic
	wait_until 20 link_up ornic0
	while [ "$(lives)" -lt "$wanted" ]; do
		use >/dev/null 2>&1 || :
		[ $((SECONDS - begin)) -lt 250 ] || break
	done
	lives
	[ "$(lives)" -gt 1 ] || fail 'the device was not reset'
	[ -e moved ] || fail 'the netdev has never moved from under a rule'
	# Each fault has had its turn.
	[ "$FULL" != 1 ] || dmesg | grep 'it did not end raw packet QPs' ||
		fail 'no netdev has moved while the device refused that'
	modprobe -r ornic || fail 'the driver cannot be unloaded'
}
