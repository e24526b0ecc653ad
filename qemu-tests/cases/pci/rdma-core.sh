# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# shellcheck shell=bash
# This test will run rdma-core's own test suite on the PCI NIC and report each
# of its tests. Each skip has its reason in Documentation/testing-skips.rst.

machines=nic
limit=900

# shellcheck source=qemu-tests/lib/rdma_core.sh
. /ornic/qemu-tests/lib/rdma_core.sh

requires()
{
	need_ornic
	need_rdma_core_tests
}

run()
{
	# One test is for huge pages.
	echo 8 >/proc/sys/vm/nr_hugepages || :
	topology nic
	rdma_core_tests . 158
}
