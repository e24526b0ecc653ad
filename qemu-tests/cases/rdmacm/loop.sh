# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# shellcheck shell=bash
# This test will connect with the programs of rdmacm-utils on one device,
# over IPv4 and IPv6: RC and UD, many connections, streams that are verified.

limit=300
full_limit=3600
kernels='stock'

run()
{
	# shellcheck source=qemu-tests/lib/rdmacm.sh
	. /ornic/qemu-tests/lib/rdmacm.sh
	rdmacm_topology loop
	rdmacm_both_families
	no_objects "$srv_dev" || fail 'objects stay'
}
