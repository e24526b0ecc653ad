# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# shellcheck shell=bash
# This test will receive what a hostile container asks to be finished: checksums before
# the packet, and thousands of segments. It will also receive SCTP, tagged frames, frames
# beside a macvlan, and frames of its own device to an address of the port that has
# changed.

limit=300
kernels=stock

requires()
{
	need_ornic
	need_pyverbs
	need tcpdump ping
}

# vnet PORT WHAT: send frames of raw_vnet.py, and print how many the kernel has taken
vnet()
{
	on_cli /usr/bin/python3 /ornic/qemu-tests/lib/raw_vnet.py veth-cli \
		"$(side_mac srv)" "$@"
}

# Each arrives as it was sent, or is counted, and the kernel does not warn. Linux 6.12
# refuses to send them from a packet socket, so that only an older kernel tries this; it
# forgets the checksum where a veth pulls the Ethernet header.
lying_checksums()
{
	local before sent counted

	begin_sink lies udp 5000 take
	before=$(stat "$srv_dev" rx_malformed)
	sent=$(vnet 5000 checksums)
	echo "$sent frames with a checksum outside of the packet"
	[[ $sent = 4 || $(uname -r) != 6.1.* ]] || fail 'frames were not sent'
	udp_to 5000 10
	end_sink
	counted=$(($(stat "$srv_dev" rx_malformed) - before))
	[ "$((frames + counted)) $wrong" = "$((10 + sent)) 0" ] ||
		fail "frames with a checksum outside: $counted counted"
}

# 43 segments are delivered; 7500 of 8 bytes would take too long for a softirq.
segments()
{
	local before

	begin_sink segments tcp 7000 take
	before=$(stat "$srv_dev" rx_malformed)
	[ "$(vnet 7000 1400)" = 1 ] || fail 'segments of 1400 bytes'
	[ "$(vnet 7000 8)" = 1 ] || fail 'segments of 8 bytes'
	end_sink
	[ "$frames $payload $wrong" = '43 60000 0' ] || fail 'segments'
	[ $(($(stat "$srv_dev" rx_malformed) - before)) = 1 ] || fail 'rx_malformed'
}

# Its checksum is a CRC, which a sender on this host leaves to the netdev.
sctp()
{
	modprobe sctp || fail 'no SCTP'
	begin_sink sctp sniffer
	on_cli /usr/bin/python3 - "$srv_host" <<-'END'
		import socket, sys
		sock = socket.socket(socket.AF_INET, socket.SOCK_STREAM, 132)
		sock.settimeout(20)
		try:
		    sock.connect((sys.argv[1], 9999))
		except ConnectionRefusedError:
		    print("refused")
	END
	end_sink
	[ "$sctp_frames" -ge 1 ] || fail 'no frame of SCTP'
	[ "$wrong" = 0 ] || fail 'checksums'
}

# add_vlan srv|cli NUMBER
add_vlan()
{
	"on_$1" ip link add link "veth-$1" name v7 type vlan id 7
	"on_$1" ip addr add "10.0.7.$2/24" dev v7
	"on_$1" ip link set v7 up
}

# The QP gets the tag, which the kernel has beside the frame, and a checksum.
tagged_frames()
{
	local before

	add_vlan srv 1
	add_vlan cli 2
	wait_until 10 on_cli ping -c 1 -W 1 10.0.7.1
	begin_sink tagged udp 5003 copy
	before=$(udp_received)
	srv_host=10.0.7.1 udp_to 5003 10
	end_sink
	[ "$frames $tagged $wrong" = '10 10 0' ] || fail 'tagged frames'
	wait_until 5 has_received 10
	on_srv ip link delete v7
	on_cli ip link delete v7
}

# What is not for the address of the port is the macvlan's, and the QP gets copies.
beside_macvlan()
{
	ip netns add container
	on_srv ip link add mac0 link veth-srv type macvlan mode bridge
	on_srv ip link set mac0 netns container
	ip -n container addr add 10.0.0.9/24 dev mac0
	ip -n container link set mac0 up
	wait_until 10 on_cli ping -c 1 -W 1 10.0.0.9
	begin_sink copies all
	on_cli ping -i 0.05 -c 20 10.0.0.9 >ping.out || fail "$(<ping.out)"
	end_sink
	grep ' 0% packet loss' ping.out || fail 'the macvlan has lost frames'
	[ "$frames" -ge 20 ] || fail 'the QP has no copies'
	ip netns delete container
}

# send_to ADDRESS: five frames from the server's own device
send_to()
{
	on_srv /usr/bin/python3 /ornic/qemu-tests/lib/raw_send.py "$srv_dev" "$1" 5002 5
}

# A frame to the address that the port has now stays; one to that before it leaves.
changed_address()
{
	local old

	old=$(side_mac srv)
	begin_sink own udp 5002 copy
	on_srv ip link set veth-srv address 02:00:00:00:05:77
	begin_tcpdump cli seen udp dst port 5002
	send_to 02:00:00:00:05:77
	send_to "$old"
	wait_until 10 has_captured seen 5
	end_tcpdump
	end_sink
	on_srv ip link set veth-srv address "$old"
	[ "$frames" = 10 ] || fail 'the rule has not taken all'
	[ "$(in_capture seen)" = 5 ] || fail 'frames that left'
	! tcpdump -e -r seen 2>/dev/null | grep 02:00:00:00:05:77 || fail 'own address'
}

run()
{
	# shellcheck source=qemu-tests/lib/raw.sh
	. /ornic/qemu-tests/lib/raw.sh
	# shellcheck source=qemu-tests/lib/capture.sh
	. /ornic/qemu-tests/lib/capture.sh
	topology veth
	lying_checksums
	segments
	sctp
	tagged_frames
	beside_macvlan
	changed_address
	no_objects "$srv_dev" || fail 'objects are left'
}
