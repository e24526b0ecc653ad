# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# shellcheck shell=bash
# This test will run rdma-core's own test suite and report each of its tests.
# Each skip has its reason in Documentation/testing-skips.rst.

limit=900

requires()
{
	# shellcheck source=qemu-tests/lib/rdma_core.sh
	. /ornic/qemu-tests/lib/rdma_core.sh
	need_rdma_core_tests
}

# None of the tests of on-demand paging is skipped, if the kernel has it.
check_odp()
{
	# shellcheck source=qemu-tests/lib/odp.sh
	. /ornic/qemu-tests/lib/odp.sh
	has_odp || return 0
	! grep 'test_odp\..*# SKIP' suite.out || fail 'on-demand paging: tests are skipped'
}

run()
{
	# shellcheck source=qemu-tests/lib/rdma_core.sh
	. /ornic/qemu-tests/lib/rdma_core.sh
	# One test is for huge pages.
	echo 8 >/proc/sys/vm/nr_hugepages || :
	topology loop
	rdma_core_tests . 158
	check_odp
}
