# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# shellcheck shell=bash
# This test will check that device memory of the PCI NIC is in its BAR, that messages
# between such memory use no other, and that it is zeroed when the driver is bound again
# under a program that has all of it mapped.

machines=nic
limit=120

# shellcheck source=qemu-tests/lib/device_memory.sh
. /ornic/qemu-tests/lib/device_memory.sh

requires()
{
	need_ornic
	need_pyverbs
	need lspci
}

run()
{
	local first second before

	topology nic
	lspci -vs "$(nic_pci)" | grep -q 'Memory at .*64-bit.*size=32M' ||
		fail 'no BAR of 32 MiB'

	# WRITE from such memory to such memory, READ from it, SEND to it: 70000 bytes each
	before=$(stat ornic0 dm_bytes)
	verify dm_messages
	[ $(($(stat ornic0 dm_bytes) - before)) = 280000 ] ||
		fail "dm_bytes was $before, is $(stat ornic0 dm_bytes)"
	[ "$(nic_stat 0 dm)" = 16777216 ] || fail 'ornic-nic has another size'

	take_memory first
	first=$owner_pid
	unbind_nic
	bind_nic
	topology nic
	take_memory second
	second=$owner_pid
	# The kernel has put zeroes there.
	found first "$first" zero
	found second "$second" own
	wait_until 10 no_objects ornic0
}
