# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# shellcheck shell=bash
# This test will use completion counters of the soft device and of the PCI NIC: their
# values by memory and by command, what they count, by two threads at once, and what a
# process leaves. Linux 7.3 has them.

variants='veth nic machines=nic'
limit=120

requires() { need_ornic; }

run()
{
	local status=0

	topology_of_variant
	ornic_comp_cntr "$srv_dev" "$srv_gid" || status=$?
	[ "$status" != 77 ] || skip 'the kernel has no completion counters'
	[ "$status" = 0 ] || fail "ornic_comp_cntr: $status"
	ornic_comp_cntr "$srv_dev" "$srv_gid" leave
	no_objects "$srv_dev" || fail 'objects are left'
}
