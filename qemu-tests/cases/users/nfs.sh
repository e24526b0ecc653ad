# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# shellcheck shell=bash
# This test will mount a file system by NFS over RDMA, of each version, and compare what
# client and server read of what the other has written: by the cache, direct, mapped, and by
# programs that truncate, create, rename and remove files: between namespaces, and on the PCI
# NIC. The server restarts while a program writes, which does not notice. Between namespaces
# also over a wire that loses packets, and both devices are deleted in the middle of it, and
# come back.

variants='veth nic machines=nic'
kernels='stock'
limit=600
full_limit=2400

# shellcheck source=qemu-tests/lib/nfs.sh
. /ornic/qemu-tests/lib/nfs.sh
# shellcheck source=qemu-tests/lib/writer.sh
. /ornic/qemu-tests/lib/writer.sh

requires()
{
	need fio dbench
	need_nfs
}

# one_file: in all ways that a program may use it. Not by cifs: there a read of a gap that a
# write behind the end has made returns nothing (Linux 6.12).
one_file()
{
	local operations=1000

	[ "$FULL" != 1 ] || operations=25000
	ornic_files "$mount_dir/any" $operations $RANDOM any || fail 'ornic_files'
	cmp any "$export_dir/any" || fail 'any differs on the server'
}

no_requests() { ! grep -q . /sys/kernel/debug/sunrpc/rpc_clnt/*/tasks; }

# stop_server: while no request to connect reaches it, see users.rst. On the PCI NIC the
# program pauses, else it has the network cut off.
stop_server()
{
	if [ "$VARIANT" = nic ]; then
		pkill -STOP -x fio
		wait_until 10 no_requests
		in_srv rpc.nfsd 0
		pkill -CONT -x fio
	else
		on_cli tc qdisc add dev veth-cli root netem loss 100%
		in_srv rpc.nfsd 0
		on_cli tc qdisc del dev veth-cli root
	fi
}

# restart: the server ends while a program writes and starts again, and the client goes on
restart()
{
	meanwhile file stop_server
	nfs_server_start
	continues
	both_ways
}

delete_both()
{
	del_link cli0
	del_link srv0
}

# removal: both devices go while a program writes, and come back. That of the client is the
# first, see users.rst.
removal()
{
	meanwhile file delete_both
	add_link srv0 veth-srv "${srv_prefix[@]}"
	add_link cli0 veth-cli "${cli_prefix[@]}"
	continues_on_nfs
	both_ways
}

run()
{
	local version

	topology "$VARIANT"
	nfs_server_open
	for version in 3 4.0 4.1 4.2; do
		nfs_mount $version
		both_ways
		programs
		one_file
		# 4.0 and 4.1 take as long as 4.2: only on a full run.
		[[ $version = 4.[01] && $FULL != 1 ]] || restart
		if [ "$VARIANT" != nic ]; then
			[ $version != 4.2 ] || with_loss both_ways
			removal
		fi
		umount "$mount_dir" || fail "version $version cannot be unmounted"
		rm -rf "${export_dir:?}"/*
	done
	nfs_server_close
	wait_until 10 no_objects "$srv_dev"
	wait_until 10 no_objects "$cli_dev"
}
