# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# shellcheck shell=bash
# This test will attack others on a PCI NIC as attack/local does on a soft device: the
# rings, records and doorbell page that it breaks are those that ornic-nic reads.

machines=nic
# To the kernel's DMA debugging a page that is mapped eight times for the device is an
# error of its driver. It is what eight MRs of one page are.
append=dma_debug=off
limit=240
full_limit=1800

requires()
{
	need_ornic
	need setpriv rping
}

run()
{
	local worker

	# shellcheck source=qemu-tests/lib/attack.sh
	. /ornic/qemu-tests/lib/attack.sh
	topology nic
	worker=$(nic_stat 0 worker)
	# More events at a time than an event queue holds
	attack_locally "${as_nobody[@]}" ornic_events \
		"$srv_dev" "$srv_gid" 600 "$(times 500)"
	[ "$(nic_stat 0 worker)" = "$worker" ] || fail 'the worker died'
}
