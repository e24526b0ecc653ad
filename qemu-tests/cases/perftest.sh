# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# shellcheck shell=bash
# This test will run the programs of perftest in each topology, over IPv4 and
# IPv6: write, send, read, atomic, bandwidth and latency, RC, UC and UD, and the
# options that change the data path. FULL=1 runs the whole matrix.

variants='loop limit=600
	veth full_only=1
	veth-ipv6
	rxe-client full_only=1
	rxe-client-ipv6
	rxe-server
	rxe-server-ipv6 full_only=1'
limit=400
full_limit=2400
kernels=stock

run()
{
	# shellcheck source=qemu-tests/lib/perftest.sh
	. /ornic/qemu-tests/lib/perftest.sh
	topology_of_variant
	perftest_selection
	[ "$VARIANT" != loop ] || perftest_more
	perftest_matrix
}
