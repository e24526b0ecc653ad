# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# shellcheck shell=bash
# This test will mount a file system of ksmbd by SMB Direct, and compare what client and
# server read of what the other has written: by the cache, direct, by programs that create,
# rename and remove files: from one device to another, and on the PCI NIC. Between two devices
# also over a wire that loses packets. Then it deletes each end's device while a program
# reads: the program ends, and files can be read and written when the device is back.
#
# The program does not write: cifs keeps the MR of a write that it could not send. Then it
# waits for the MR to become free, and the device for cifs, for ever. Nor is a SEND of it on
# its way: if one fails, send_done() wakes nobody, and smbd_send() waits for ever. So the
# server acknowledges it, but its answer is dropped.

variants='initial nic machines=nic'
kernels='stock'
limit=300

# shellcheck source=qemu-tests/lib/smb.sh
. /ornic/qemu-tests/lib/smb.sh

requires()
{
	need fio dbench nft
	need_smb
}

# stalled PID: the program waits for what it has asked for. What has arrived before the
# server's requests were dropped may go on for a moment.
stalled()
{
	local stack

	for _ in 1 2 3 4 5; do
		pause
		stack=$(cat "/proc/$1/stack")
		[[ $stack = *netfs_* && $stack != *smbd_send* ]] || return 1
	done
}

# removal DEVICE NETDEV: the device goes while a program reads, and comes back
removal()
{
	local before pid status=0

	before=$(carried srv)
	timeout $((60 * SCALE)) dd if="$mount_dir/long" of=back bs=64k iflag=direct \
		status=none &
	pid=$!
	wait_until 30 carries 2000000 "$before" carried srv
	nft add table ip stall
	nft add chain ip stall c '{ type filter hook input priority 0; }'
	# SENDs, WRITEs and READ requests of RC have opcodes up to 12, IBTA table 38. They
	# are the first byte of the BTH.
	nft add rule ip stall c ip saddr "$srv_ip" udp dport 4791 @th,64,8 0-12 drop
	wait_until 30 stalled "$(pgrep -P "$pid")"
	ends_within 20 rdma link delete "$1"
	nft delete table ip stall
	add_link "$1" "$2"
	wait "$pid" || status=$?
	echo "the program ends with status $status"
	case $status in
	0) cmp back "$export_dir/long" || fail 'wrong data' ;;
	124) fail 'the program does not end' ;;
	esac
	wait_until 60 touch "$mount_dir/again"
	both_ways
}

run()
{
	topology "$VARIANT"
	smb_server_open
	smb_mount
	both_ways
	programs
	[ "$(carried srv)" -gt 3000000 ] || fail 'nothing went over the wire'
	if [ "$VARIANT" = initial ]; then
		with_loss both_ways
		head -c 64M /dev/urandom >"$export_dir/long"
		removal srv0 veth-srv
		removal cli0 veth-cli
	fi
	smb_unmount
	smb_server_close
	wait_until 10 no_objects "$srv_dev"
	wait_until 10 no_objects "$cli_dev"
}
