# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# shellcheck shell=bash
# This test will run programs of UCX, libfabric and Open MPI on the PCI NIC: UCX and
# libfabric between two guests, MPI within one.

machines=nic+nic
kernels='stock'
limit=400
full_limit=900

# shellcheck source=qemu-tests/lib/apps.sh
. /ornic/qemu-tests/lib/apps.sh

requires()
{
	need_ornic
	need_apps
}

run()
{
	wait_until 60 peer_answers
	"$peer" modprobe rdma_ucm
	modprobe rdma_ucm
	topology peer
	ucx_programs "$(times 250)"
	fabric_programs
	srv_prefix=()
	topology nic
	mpi 2
	mpi 4
	no_objects ornic0 || fail 'objects are left'
}
