# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# shellcheck shell=bash
# This test will run the programs of perftest on the PCI NIC, in one guest and
# between two: each operation, transport and option. FULL=1 runs the whole
# matrix.

machines=nic+nic
limit=300
full_limit=3600
kernels='stock'

# shellcheck source=qemu-tests/lib/perftest.sh
. /ornic/qemu-tests/lib/perftest.sh

requires()
{
	need_ornic
	need ib_write_bw
}

run()
{
	local name

	for name in nic peer; do
		topology "$name"
		perftest_more
		perftest_matrix
	done
	no_objects ornic0 || fail 'objects are left'
}
