# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# shellcheck shell=bash
# This test will send messages of many sizes by RDS sockets in both directions, over the
# kernel's RDMA transport of RDS: each comes once, in order and unchanged, also over a
# wire that loses packets.

kernels='stock'
limit=300

requires()
{
	need python3
	need_modules rds_rdma
}

messages()
{
	local before

	before=$(carried cli)
	python3 /ornic/qemu-tests/lib/rds_messages.py "$srv_ip" "$cli_ip" "$1" ||
		fail "$2"
	[ $(($(carried cli) - before)) -gt "$1" ] ||
		fail 'it did not go over RDMA'
}

run()
{
	topology initial
	modprobe rds_rdma
	messages "$(times 1000)" 'wrong messages'
	with_loss messages "$(times 500)" 'wrong messages with loss'
	wait_until 20 modprobe -r rds_rdma
	wait_until 20 no_objects srv0
}
