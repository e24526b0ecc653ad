# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# shellcheck shell=bash
# This test will use a PCI NIC that breaks the device interface in one way after
# the other (lib/liar.py): answers, events, completions, registers and interrupts
# that make no sense, or none at all. The guest must stay as it is, get rid of
# the device each time, and at last of the driver.

machines=liar
limit=300

mac=52:54:00:00:00:01

requires()
{
	need_ornic
	grep -qx 0x1110 /sys/bus/pci/devices/*/device || skip 'no device that lies'
}

lives() { dmesg | grep -c 'RDMA device on d0'; }

# What makes the driver issue commands, and kernel and processes use queues
use()
{
	ip addr add 10.9.9.9/24 dev d0
	ip link set d0 mtu 1500
	timeout 3 ibv_rc_pingpong -d ornic0 -g 0 -n 10 127.0.0.1
	ip link set d0 mtu 4500
	ip addr del 10.9.9.9/24 dev d0
	timeout 3 ibv_devinfo -v -d ornic0
}

run()
{
	local begin=$SECONDS wanted

	wanted=$(times 15)
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
	[ "$(lives)" -gt 1 ] || fail 'it never came back'
	modprobe -r ornic || fail 'the driver stays'
}
