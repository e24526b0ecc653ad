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

# watch ETHERTYPE SOCKETS: so many take it from the netdev of the server
watch()
{
	"${srv_prefix[@]}" python3 - "$@" >watcher.log <<-'END' &
		import socket, sys, time
		ethertype = int(sys.argv[1], 0)
		sockets = [socket.socket(socket.AF_PACKET, socket.SOCK_RAW, 0)
		           for _ in range(int(sys.argv[2]))]
		for s in sockets:
		    s.bind(("veth-srv", ethertype))
		print("listening", flush=True)
		time.sleep(100)
	END
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
	watch 0x8915 1
	smc_carried tx_bytes $bytes || fail 'watched, it did not go by packets'
	end "$watcher"
	# One of them might be of RoCE v1, and nobody looks at so many for each message.
	watch 0x88b5 100
	smc_carried tx_bytes $bytes || fail 'with many sockets, it did not go by packets'
	end "$watcher"
	smc_close
}
