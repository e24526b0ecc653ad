# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# shellcheck shell=bash
# This test will connect with the programs of rdmacm-utils between two namespaces,
# over IPv4 and IPv6: RC and UD, many connections, streams that are verified.

limit=300
full_limit=3600

run()
{
	# shellcheck source=qemu-tests/lib/rdmacm.sh
	. /ornic/qemu-tests/lib/rdmacm.sh
	rdmacm_topology veth
	rdmacm_both_families
	no_objects "$srv_dev" || fail 'objects stay'
}
