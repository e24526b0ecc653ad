# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# shellcheck shell=bash
# This test will mount a file system by NFS over RDMA, of each version, and compare what
# client and server read of what the other has written: by the cache, direct, and by
# programs that create, rename and remove files: between namespaces, and on the PCI NIC.
# Between namespaces both devices are deleted in the middle of it, and come back.

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

forget_caches() { echo 3 >/proc/sys/vm/drop_caches; }

# same_files NAME: on client and server
same_files()
{
	cmp "$nfs_dir/$1" "$export_dir/$1" || fail "$1 differs"
}

both_ways()
{
	head -c 3000001 /dev/urandom >"$nfs_dir/up"
	sync "$nfs_dir/up"
	head -c 3000001 /dev/urandom >"$export_dir/down"
	forget_caches
	same_files up
	same_files down
}

programs()
{
	fio --name=verify --directory="$nfs_dir" --direct=1 --rw=randrw \
		--bsrange=512-512k --size=8M --iodepth=8 --ioengine=libaio \
		--verify=crc32c --verify_fatal=1 >fio.out 2>&1 ||
		{ tail -n 20 fio.out; fail 'fio'; }
	dbench -D "$nfs_dir" -t "$(times 20)" -c /usr/share/dbench/client.txt 2 \
		>dbench.out 2>&1 || { tail -n 20 dbench.out; fail 'dbench'; }
}

written() { [ "0$(find "$export_dir" -name verify.0.0 -printf %s)" -ge "$1" ]; }

# removal: both devices go while a program writes, and come back
removal()
{
	local pid

	fio --name=verify --directory="$nfs_dir" --direct=1 --rw=write --bs=64k \
		--size=32M --iodepth=4 --ioengine=libaio --verify=crc32c \
		--verify_fatal=1 --fallocate=none >fio.out 2>&1 &
	pid=$!
	wait_until 30 written 2000000
	del_link srv0
	del_link cli0
	add_link srv0 veth-srv "${srv_prefix[@]}"
	add_link cli0 veth-cli "${cli_prefix[@]}"
	wait "$pid" || { tail -n 20 fio.out; fail 'the program has failed'; }
	grep -q 'err= 0' fio.out || fail 'no result'
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
		[ "$VARIANT" = nic ] || removal
		umount "$nfs_dir" || fail "version $version cannot be unmounted"
		rm -rf "${export_dir:?}"/*
	done
	nfs_server_close
	wait_until 10 no_objects "$srv_dev"
	wait_until 10 no_objects "$cli_dev"
}
