# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# shellcheck shell=bash
# This test will send streams by sockets of SMC-R, which is the kernel's and needs RoCE v1,
# between namespaces: their bytes are right, and they went over RDMA and not over TCP.

limit=120
kernels='stock'
bytes=4000000

requires()
{
	[ "$DEV" = ornic ] || skip "$DEV has no RoCE v1"
	need python3 tcpdump
	modprobe smc || skip 'the kernel lacks SMC'
}

run()
{
	local before

	# shellcheck source=qemu-tests/lib/capture.sh
	. /ornic/qemu-tests/lib/capture.sh
	with_roce_v1
	topology veth
	before=$(stat cli0 tx_bytes)
	begin_tcpdump cli packets ether proto 0x8915
	port=18600 run_pair 60 "ornic_smc 18600 $bytes" "ornic_smc 18600 $bytes $srv_ip"
	end_tcpdump
	/ornic/qemu-tests/lib/roce_v1.py packets 50 || fail 'wrong packets'
	[ $(($(stat cli0 tx_bytes) - before)) -ge $bytes ] || fail 'it went over TCP'
	# It keeps the connection for ten minutes.
	wait_until 10 modprobe -r smc
}
