# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# shellcheck shell=bash
# This test will run parallel programs on four hosts, two ranks on each: MPI over UCX and
# over libfabric, and OpenSHMEM, every word checked. The hosts are network namespaces with
# a device each, in exclusive mode, and nobody names the devices to use. nic runs MPI on four
# guests with a PCI NIC each, and OpenSHMEM on two: with more PEs it needs more memory.

# KASAN needs a part of it, and OpenSHMEM the most.
variants='ucx memory=4G libfabric memory=4G shmem memory=6G
	nic machines=nic+nic+nic+nic alone=1
	nic-libfabric machines=nic+nic+nic+nic alone=1
	nic-shmem machines=nic+nic alone=1'
kernels='stock'
limit=300

# shellcheck source=qemu-tests/lib/apps.sh
. /ornic/qemu-tests/lib/apps.sh
# shellcheck source=qemu-tests/lib/cluster.sh
. /ornic/qemu-tests/lib/cluster.sh

requires()
{
	need_ornic
	need_apps
}

run()
{
	local program=ornic_mpi options

	modprobe rdma_ucm
	case $VARIANT in
	nic*) cluster_of_guests ;;
	*) cluster_open ;;
	esac
	case $VARIANT in
	ucx | nic) options='--mca pml ucx' ;;
	*libfabric)
		options='--mca pml cm --mca mtl ofi'
		options+=' --mca mtl_ofi_provider_include verbs;ofi_rxm' ;;
	*shmem)
		# Each PE registers its heap, which has 256 MiB unless it is told.
		options='--mca pml ucx --mca spml ucx -x SHMEM_SYMMETRIC_SIZE=32M'
		program=ornic_shmem ;;
	esac
	# shellcheck disable=SC2086 # a list of words
	on_cluster 2 $options $program 1
	grep -E "^$((2 * ${#hosts[@]})) (ranks|PEs), [1-9][0-9]* words checked" mpi.out || fail 'no result'
	! grep -E 'ERROR|WARN' mpi.out || fail 'errors are logged'
	expect_traffic 1000000
}
