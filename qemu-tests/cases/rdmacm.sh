# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# shellcheck shell=bash
# This test will connect with the programs of rdmacm-utils in each topology, over
# IPv4 and IPv6: RC and UD, many connections, streams that are verified.

variants='loop kernels=stock
	veth
	rxe-client kernels=stock
	rxe-server kernels=stock'
limit=300
full_limit=3600

run()
{
	# shellcheck source=qemu-tests/lib/rdmacm.sh
	. /ornic/qemu-tests/lib/rdmacm.sh
	# Of the others the other end is no ornic.
	direct=1
	rdmacm_topology "$VARIANT"
	rdmacm_both_families
	no_objects "$srv_dev" || fail 'objects are left'
}
