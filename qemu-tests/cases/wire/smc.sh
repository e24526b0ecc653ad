# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# shellcheck shell=bash
# This test will send streams by sockets of SMC-R, which is the kernel's and needs RoCE v1,
# between namespaces: their bytes are right, and they went over RDMA and not over TCP. They
# go from memory to memory, unless somebody takes packets: of all protocols, or of RoCE v1.

limit=150
direct=1
# shellcheck source=qemu-tests/lib/lifecycle.sh
. /ornic/qemu-tests/lib/lifecycle.sh
# shellcheck source=qemu-tests/lib/capture.sh
. /ornic/qemu-tests/lib/capture.sh
# shellcheck source=qemu-tests/lib/smc.sh
. /ornic/qemu-tests/lib/smc.sh
kernels='stock'
bytes=4000000

requires()
{
	[ "$DEV" = ornic ] || skip "$DEV has no RoCE v1"
	need tcpdump
	need_smc
}

# Takes RoCE v1 from the netdev of the server
watch_v1()
{
	"${srv_prefix[@]}" python3 -c '
import socket, time
s = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(0x8915))
s.bind(("veth-srv", 0x8915))
print("listening", flush=True)
time.sleep(100)' >watcher.log &
	watcher=$!
	wait_until 10 grep -q listening watcher.log
}

run()
{
	with_roce_v1
	topology veth
	begin_tcpdump cli packets ether proto 0x8915
	smc_carried tx_bytes $bytes || fail 'captured, it did not go by packets'
	end_tcpdump
	/ornic/qemu-tests/lib/roce_v1.py packets 50 || fail 'wrong packets'
	smc_carried loop_bytes $bytes || fail 'it did not go from memory to memory'
	watch_v1
	smc_carried tx_bytes $bytes || fail 'watched, it did not go by packets'
	end "$watcher"
	smc_close
}
