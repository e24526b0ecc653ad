# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# shellcheck shell=bash
# This test will run the test suite of another release of rdma-core with the libraries of
# that release and the provider as a part of them: `make rdma-core-test`.

variants='loop nic machines=nic'
limit=900

# shellcheck source=qemu-tests/lib/rdma_core.sh
. /ornic/qemu-tests/lib/rdma_core.sh

requires() { need_rdma_core_tree; }

run()
{
	topology_of_variant
	rdma_core_tree_tests
}
