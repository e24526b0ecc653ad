# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# shellcheck shell=bash
# This test will map a RAM disk by RNBD over RTRS, write it and verify what it reads: from one
# device to another, and on the PCI NIC. Between two devices also over a wire that loses
# packets. Then it deletes each end's device while a program writes: the program ends, and
# the disk works again when the device is back.
#
# RTRS does not take the removal of a device for the end of its connections: the client
# waits half a minute for that, when its device goes and twice after it.

variants='initial nic machines=nic'
kernels='stock'
limit=300

# shellcheck source=qemu-tests/lib/rnbd.sh
. /ornic/qemu-tests/lib/rnbd.sh
# shellcheck source=qemu-tests/lib/writer.sh
. /ornic/qemu-tests/lib/writer.sh

requires() { need_rnbd; }

# removal DEVICE NETDEV: the device goes while a program writes, and comes back
removal()
{
	local before pid

	before=$(disk_written)
	fio --name=removal --filename="$disk" --direct=1 \
		--rw=write --bs=64k --size=48M --loops=100 --iodepth=8 \
		--ioengine=libaio >fio.out 2>&1 &
	pid=$!
	wait_until 30 written_since "$before" disk_written
	ends_within 50 rdma link delete "$1"
	wait_until 60 ended "$pid"
	! wait "$pid" || fail 'the program did not notice'
	add_link "$1" "$2"
	wait_until 40 rnbd_reconnect
	disk_works
}

run()
{
	local before

	topology "$VARIANT"
	rnbd_server_open
	rnbd_map
	before=$(carried srv)
	disk_works
	carries 1000000 "$before" carried srv || fail 'nothing went over the wire'
	if [ "$VARIANT" = initial ]; then
		with_loss disk_works
		removal srv0 veth-srv
		removal cli0 veth-cli
	fi
	rnbd_unmap
	rnbd_server_close
	wait_until 10 no_objects "$srv_dev"
	wait_until 10 no_objects "$cli_dev"
}
