# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# shellcheck shell=bash
# A program that writes to the block device $disk, or to a file below $mount_dir (needs
# shared_files.sh), while something happens to what is below it, and verifies at its end
# what it has written.

write_rate=16m # bytes of 48 MiB that it writes in a second

# disk_written: print how many bytes were written to $disk
disk_written() { awk '{ printf "%.0f", 512 * $7 }' "/sys/block/${disk##*/}/stat"; }

# file_written: print how many bytes the client of NFS has sent
file_written()
{
	awk -v at="$mount_dir" '$4 == "on" { here = $5 == at }
		here && $1 == "bytes:" { print $7 }' /proc/self/mountstats
}

# written_since BEFORE COMMAND: 3 MB more than when COMMAND printed BEFORE
written_since() { [ $(($("$2") - $1)) -gt 3000000 ]; }

writes_disk()
{
	fio --name=verify --filename="$disk" --direct=1 --rw=write --bs=64k --size=48M \
		--rate=$write_rate --iodepth=8 --ioengine=posixaio --verify=crc32c \
		--verify_fatal=1 >fio.out 2>&1
}

writes_file()
{
	rm -f "$mount_dir/verify.0.0"
	fio_verifies --rw=write --bs=64k --size=48M --iodepth=4 --fallocate=none \
		--rate=$write_rate
}

disk_is_right() { writes_disk || { tail -n 20 fio.out; fail 'fio'; }; }

# meanwhile disk|file COMMAND...: run it while the program $writer writes
meanwhile()
{
	local before begin

	before=$("$1_written")
	"writes_$1" &
	writer=$!
	wait_until 30 written_since "$before" "$1_written"
	! ended "$writer" || fail 'the program has ended before'
	begin=$EPOCHREALTIME
	"${@:2}"
	awk "BEGIN { printf \"${*:2}: %.1f s\n\", $EPOCHREALTIME - $begin }"
}

# continues: the program has not noticed
continues()
{
	wait_until 90 ended "$writer"
	wait "$writer" || { head -n 30 fio.out; fail 'the program failed'; }
}

# continues_on_nfs: or it was told, and the log says so. If xprtrdma connects again just while
# its device goes, it gives the error of that, EINVAL, to all whose requests wait: rarely, see
# users.rst.
continues_on_nfs()
{
	wait_until 90 ended "$writer"
	! wait "$writer" || return 0
	grep 'Invalid argument' fio.out ||
		{ head -n 30 fio.out; fail 'the program failed'; }
}

# ends: the program gets an error, but no wrong data
ends()
{
	wait_until 30 ended "$writer"
	! wait "$writer" || fail 'the program did not notice'
	! grep 'verify: bad\|verify failed' fio.out || fail 'wrong data'
}
