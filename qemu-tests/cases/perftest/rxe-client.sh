# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# shellcheck shell=bash
# This test will run the programs of perftest from rxe to ornic, over
# IPv4: write, send, read, atomic, bandwidth and latency, RC, UC and UD, and the
# options that change the data path. FULL=1 runs the whole matrix.

full_only=1
limit=400
full_limit=2400
kernels='stock'

run()
{
	# shellcheck source=qemu-tests/lib/perftest.sh
	. /ornic/qemu-tests/lib/perftest.sh
	topology rxe-client 4
	perftest_selection
	perftest_matrix
}
