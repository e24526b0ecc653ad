# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# shellcheck shell=bash
# This test will migrate a machine from one QEMU to another by RDMA, while it writes to its
# memory: with memory that is registered when it is sent, and all at first. Afterwards both
# have the same memory. The machine runs what is in its boot sector.

kernels='stock'
limit=300
direct=1

requires()
{
	need qemu-system-x86_64 python3
	qemu-system-x86_64 -help | grep -q 'incoming rdma:' || skip 'a QEMU without RDMA'
}

# boot_sector: the code adds one to each word of a segment, in turn and for ever.
#
#	mov ax, 0x2000
#	mov es, ax
#	xor di, di
#   1:	inc word es:[di]
#	add di, 2
#	jmp 1b
boot_sector()
{
	printf '\xb8\x00\x20\x8e\xc0\x31\xff\x26\xff\x05\x83\xc7\x02\xeb\xf8' >boot
	truncate -s 510 boot
	printf '\x55\xaa' >>boot
	truncate -s 1440K boot
}

# same_memory: but for the segment that is written to, whose last writes QEMU 7.2 with its
# TCG may forget to send, by TCP as well
same_memory()
{
	local file

	for file in source.memory target.memory; do
		dd if=/dev/zero of="$file" bs=64k seek=2 count=1 conv=notrunc status=none
	done
	cmp source.memory target.memory
}

run()
{
	local machine='qemu-system-x86_64 -nodefaults -display none -m 64 -accel tcg
		-drive if=floppy,format=raw,file=boot -boot a'
	local pin source target

	modprobe rdma_ucm
	topology veth
	boot_sector
	head -c 24M /dev/urandom >memory
	for pin in off on; do
		# shellcheck disable=SC2086 # a list of words
		"${srv_prefix[@]}" $machine -S -incoming "rdma:$srv_ip:4444" \
			-qmp unix:target,server,nowait >srv.out 2>&1 &
		target=$!
		# shellcheck disable=SC2086
		"${cli_prefix[@]}" $machine -qmp unix:source,server,nowait \
			-device loader,file=memory,addr=0x1000000,force-raw=on >cli.out 2>&1 &
		source=$!
		python3 /ornic/qemu-tests/lib/migrate.py source target \
			"rdma:$srv_ip:4444" $pin || {
			tail -n 15 srv.out cli.out
			fail 'no migration'
		}
		wait "$source" || fail 'the source ends with an error'
		wait "$target" || fail 'the target ends with an error'
		same_memory || fail "the memory differs, registered at first: $pin"
		cmp -n $((24 << 20)) memory target.memory 0 $((16 << 20)) ||
			fail 'the memory is not what was loaded'
	done
	[ "$(carried cli)" -gt 50000000 ] || fail 'not over RDMA'
	wait_until 10 no_objects "$srv_dev"
	wait_until 10 no_objects "$cli_dev"
}
