# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# shellcheck shell=bash
# This test will mount a file system by NFS over RDMA, of each version, and compare what
# client and server read of what the other has written: by the cache, direct, and by
# programs that create, rename and remove files: between namespaces, and on the PCI NIC.
# Between namespaces also over a wire that loses packets, and both devices are deleted in the
# middle of it, and come back.

variants='veth nic machines=nic'
kernels='stock'
limit=300
full_limit=900

# shellcheck source=qemu-tests/lib/nfs.sh
. /ornic/qemu-tests/lib/nfs.sh

requires()
{
	need fio dbench
	need_nfs
}

written() { [ "0$(find "$export_dir" -name verify.0.0 -printf %s)" -ge "$1" ]; }

# removal: both devices go while a program writes, and come back. That of the client is the
# first, see users.rst. Rarely the program is told: if xprtrdma connects again just while its
# device goes, it gives the error of that, EINVAL, to all whose requests wait.
removal()
{
	local pid

	rm -f "$mount_dir/verify.0.0"
	fio_verifies --rw=write --bs=64k --size=32M --iodepth=4 --fallocate=none \
		--rate=16m &
	pid=$!
	wait_until 30 written 2000000
	del_link cli0
	del_link srv0
	add_link srv0 veth-srv "${srv_prefix[@]}"
	add_link cli0 veth-cli "${cli_prefix[@]}"
	if wait "$pid"; then
		grep -q 'err= 0' fio.out || fail 'no result'
	else
		head -n 30 fio.out
		grep -q 'Invalid argument' fio.out || fail 'the program has failed'
	fi
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
