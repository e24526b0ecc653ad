# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# shellcheck shell=bash
# The guest "services" of `make bench`: NFS, and sockets of SMC-R, between two namespaces
# over the veth of ornic, in memory or by packets, or by TCP. rxe, which knows the initial
# namespace only, has NFS on one device. Read after lib/guest.sh, serve.sh and
# storage.sh, by guest.sh.

# shellcheck source=qemu-tests/lib/nfs.sh
. "$tests/lib/nfs.sh"

set_up_services()
{
	# SMC-R, version 1, needs it.
	with_roce_v1
	set_up_ornic
	with_roce_v1 0
	set_up_rxe
	modprobe -a smc nfsd nfsv4 rpcrdma
}

# file_fields DIRECTION SIZE DEPTH: of fio on the file, in $fields
file_fields() { fio_fields "$@" --filename="$mount_dir/file" --size=32M; }

# nfs_values: sets $status $numbers
nfs_values()
{
	local srv_prefix=() cli_prefix=() srv_ip=$rdma_host transport=rdma fields

	status=ok numbers=''
	[ "$srv_ns" = - ] || srv_prefix=("$srv_ns") cli_prefix=("$cli_ns")
	[ "$name_of_peer" != tcp ] || transport=tcp
	if (
		nfs_server_open
		head -c 32M /dev/zero >"$export_dir/file"
		nfs_mount 4.2 $transport
		# No file can be opened while the server waits for clients from before.
		cat "$mount_dir/file" >/dev/null
	) >cli.out 2>&1; then
		file_fields randread 4k 1
		numbers+="nfs-read-4k-d1=${fields[7]-0} "
		file_fields randread 4k 16
		numbers+="nfs-read-4k-d16=${fields[7]-0} "
		file_fields read 1m 4
		numbers+="nfs-read-1m=$(megabytes "${fields[6]}") "
		file_fields write 1m 4
		numbers+="nfs-write-1m=$(megabytes "${fields[47]}")"
	else
		status=no-mount
	fi
	{
		umount "$mount_dir"
		nfs_server_close
	} >srv.out 2>&1
	[ "$status" != ok ] || [[ $numbers == *=[1-9]*=[1-9]*=[1-9]*=[1-9]* ]] ||
		status=no-result
	note_failure nfs
}

# smc_values SECONDS: sets $status $numbers
smc_values()
{
	local sockets='' asked14 asked4k before speed

	status=ok
	[ "$name_of_peer" = tcp ] || sockets=$PROGRAMS/ornic_smc_sockets.so
	before=$(carried_by_both)
	asks "$1" 14
	asked14=$asked
	asks "$1" 4096
	asked4k=$asked
	stream "$1"
	speed=$numbers
	numbers="smc-ask-14=$asked14 smc-ask-4k=$asked4k smc-stream=$speed"
	[[ $numbers == *=[1-9]*=[1-9]*=[1-9]* ]] || status=no-result
	[ -z "$sockets" ] || [ $(($(carried_by_both) - before)) -gt 10000000 ] ||
		status=not-over-rdma
	note_failure smc
}

# asks SECONDS BYTES: requests and responses a second, one at a time, in $asked
asks()
{
	ping_pong "$@"
	# It prints half of the time that they take.
	asked=$(awk '/Summary: Latency is/ { printf "%.0f", 1e6 / (2 * $(NF - 1)) }' cli.out)
}
