# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# shellcheck shell=bash
# This test will send messages of many sizes by RDS sockets in both directions, over the
# kernel's RDMA transport of RDS: each comes once, in order and unchanged, also over a
# wire that loses, duplicates, corrupts and reorders packets, and when the device of either
# end is deleted meanwhile and comes back. nic has two guests with a PCI NIC each.

variants='initial nic machines=nic+nic'
kernels='stock'
limit=300

requires()
{
	need python3
	need_modules rds_rdma
}

# exchange COUNT: messages, each way
exchange()
{
	local program="/ornic/qemu-tests/lib/rds_messages.py $srv_ip $cli_ip $1" server

	if ! srv_is_peer; then
		# shellcheck disable=SC2086 # a list of words
		python3 $program
		return
	fi
	"$peer" "python3 $program 0" &
	server=$!
	# shellcheck disable=SC2086
	python3 $program 1 || return
	wait $server
}

# messages COUNT WHEN
messages()
{
	local before

	before=$(carried cli)
	exchange "$1" || fail "wrong messages $2"
	carries "$1" "$before" carried cli || fail 'it did not go over RDMA'
}

# removal srv|cli: that device goes while messages are on their way, and comes back
removal()
{
	local before pid

	before=$(carried cli)
	exchange 1000 &
	pid=$!
	wait_until 20 carries 1000000 "$before" carried cli
	ends_within 20 rdma link delete "${1}0"
	! ended $pid || fail 'all messages had come before'
	add_link "${1}0" "veth-$1"
	wait $pid || fail "wrong messages when ${1}0 was deleted"
}

between_guests()
{
	topology peer
	modprobe rds_rdma
	"$peer" modprobe rds_rdma
	messages "$(times 1000)" ''
	wait_until 20 modprobe -r rds_rdma
	wait_until 20 "$peer" modprobe -r rds_rdma
	wait_until 20 no_objects ornic0
	wait_until 20 at_srv no_objects ornic0
}

run()
{
	if [ "$VARIANT" = nic ]; then
		between_guests
		return
	fi
	topology initial
	modprobe rds_rdma
	messages "$(times 1000)" ''
	with_loss messages "$(times 500)" 'with loss'
	with_netem 'delay 1ms loss 1% duplicate 1% corrupt 1% reorder 99%' \
		messages "$(times 500)" 'on a bad wire'
	[ "$dropped" -gt 0 ] || fail 'the wire was not bad'
	removal srv
	removal cli
	messages "$(times 500)" 'in the end'
	wait_until 20 modprobe -r rds_rdma
	wait_until 20 no_objects srv0
	wait_until 20 no_objects cli0
}
