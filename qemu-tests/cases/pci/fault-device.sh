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
	grep -qx 0x1110 /sys/bus/pci/devices/*/device || skip 'no faulty device'
}

lives() { dmesg | grep -c 'RDMA device on d0'; }

# Make the driver issue commands, and kernel and processes use queues.
use()
{
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

# What the device claims to have is only for devices that are part of the kernel.
no_raw_packets()
{
	local caps

	caps=$(rdma -d dev show ornic0)
	[[ $caps = *RC_RNR_NAK_GEN* ]] || fail "$caps"
	[[ $caps != *MANAGED_FLOW_STEERING* ]] || fail 'a PCI device has raw packet QPs'
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
	no_raw_packets
	while [ "$(lives)" -lt "$wanted" ]; do
		use >/dev/null 2>&1 || :
		[ $((SECONDS - begin)) -lt 250 ] || break
	done
	lives
	[ "$(lives)" -gt 1 ] || fail 'the device was not reset'
	modprobe -r ornic || fail 'the driver cannot be unloaded'
}
