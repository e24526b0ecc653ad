# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# shellcheck shell=bash
# This test will run the tests of trees/tests on the PCI NIC.

machines=nic
limit=900

# shellcheck source=qemu-tests/lib/rdma_core.sh
. /ornic/qemu-tests/lib/rdma_core.sh

requires() { need_rdma_core_tree; }

run()
{
	topology nic
	rdma_core_tree_tests
}
