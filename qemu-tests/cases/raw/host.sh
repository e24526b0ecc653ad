# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# shellcheck shell=bash
# This test will let raw packet QPs take frames of one port from a host, and copies of
# those of another: all others of the host notice nothing, tcpdump sees all, and a QP
# gets what was merged or left to hardware as it would be on the wire.

limit=200
kernels=stock

requires()
{
	need_ornic
	need_pyverbs
	need tcpdump ping
}

# The host gets nothing of the port of the rule, and all of the next one.
take_port()
{
	local before ping

	begin_sink taken udp 5000 take
	begin_tcpdump srv seen udp dst port 5000
	on_cli ping -i 0.05 -c 40 "$srv_host" >ping.out &
	ping=$!
	before=$(udp_received)
	udp_to 5000 100
	udp_to 5001 50
	wait_until 5 has_received 50
	wait "$ping" || fail 'ping failed'
	grep ' 0% packet loss' ping.out
	wait_until 10 has_captured seen 100
	end_tcpdump
	end_sink
	[ "$frames $payload $wrong" = '100 10000 0' ] || fail 'frames'
	[ "$(in_capture seen)" = 100 ] || fail 'tcpdump'
	before=$(udp_received)
	udp_to 5000 20
	wait_until 5 has_received 20
}

# A megabyte by TCP, which arrives as a whole; its frames are no longer than the MTU.
copy_tcp()
{
	local transfer

	begin_sink copied tcp 7000 copy
	"${srv_prefix[@]}" /usr/bin/python3 - >tcp.out <<-'END' &
		import socket
		with socket.create_server(("", 7000)) as server:
		    peer, _ = server.accept()
		    print(sum(iter(lambda: len(peer.recv(65536)), 0)))
	END
	transfer=$!
	wait_until 10 listening "$transfer" 7000
	on_cli /usr/bin/python3 - "$srv_host" <<-'END'
		import socket, sys
		with socket.create_connection((sys.argv[1], 7000)) as sock:
		    sock.sendall(bytes(1000000))
	END
	wait "$transfer"
	[ "$(<tcp.out)" = 1000000 ] || fail 'the host has lost bytes'
	end_sink
	[ "$wrong" = 0 ] || fail 'checksums'
	[ "$frames" -gt 200 ] || fail 'frames'
	[ "$longest" -le 4514 ] || fail 'a frame longer than the MTU'
}

run()
{
	# shellcheck source=qemu-tests/lib/raw.sh
	. /ornic/qemu-tests/lib/raw.sh
	# shellcheck source=qemu-tests/lib/capture.sh
	. /ornic/qemu-tests/lib/capture.sh
	topology veth
	take_port
	copy_tcp
	no_objects "$srv_dev" || fail 'objects are left'
}
