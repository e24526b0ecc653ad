# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# shellcheck shell=bash
# This test will run an MPI program of two and of four ranks over UCX on one device:
# messages, broadcast, reduction and all to all of many sizes, every word checked.

kernels='stock'
limit=200

# shellcheck source=qemu-tests/lib/apps.sh
. /ornic/qemu-tests/lib/apps.sh

requires()
{
	need_apps
}

run()
{
	topology loop 4
	mpi 2
	mpi 4
}
