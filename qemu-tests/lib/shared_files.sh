# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# shellcheck shell=bash
# Use of a file system that a server exports: what it has at $export_dir is mounted at
# $mount_dir.

forget_caches() { echo 3 >/proc/sys/vm/drop_caches; }

# same_files NAME: on client and server
same_files()
{
	cmp "$mount_dir/$1" "$export_dir/$1" || fail "$1 differs"
}

both_ways()
{
	head -c 3000001 /dev/urandom >"$mount_dir/up" || fail 'up cannot be written'
	sync "$mount_dir/up" || fail 'up cannot be written back'
	head -c 3000001 /dev/urandom >"$export_dir/down"
	forget_caches
	same_files up
	same_files down
}

# fio_verifies OPTIONS: on the mounted file system
fio_verifies()
{
	fio --name=verify --directory="$mount_dir" --direct=1 --ioengine=libaio \
		--verify=crc32c --verify_fatal=1 "$@" >fio.out 2>&1
}

# programs: read and write, and create, rename and remove files
programs()
{
	fio_verifies --rw=randrw --bsrange=512-512k --size=8M --iodepth=8 ||
		{ tail -n 20 fio.out; fail 'fio'; }
	dbench -D "$mount_dir" -t "$(times 20)" -c /usr/share/dbench/client.txt 2 \
		>dbench.out 2>&1 || { tail -n 20 dbench.out; fail 'dbench'; }
}
