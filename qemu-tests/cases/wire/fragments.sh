# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# shellcheck shell=bash
# This test will send a datagram to the RoCEv2 port, as one packet and in fragments,
# over IPv4 and IPv6: one packet is counted as a bad ICRC, fragments are ignored.

limit=60

# datagram: print a BTH of SEND ONLY for QPN 1, followed by 3000 bytes
datagram()
{
	on_cli python3 -c 'import socket, struct, sys
family = socket.AF_INET6 if ":" in sys.argv[1] else socket.AF_INET
sock = socket.socket(family, socket.SOCK_DGRAM)
IP_MTU_DISCOVER, IP_PMTUDISC_DONT = 10, 0
if family == socket.AF_INET:
    sock.setsockopt(socket.IPPROTO_IP, IP_MTU_DISCOVER, IP_PMTUDISC_DONT)
bth = struct.pack(">BBHII", 0x04, 0x40, 0xffff, 1, 0)
sock.sendto(bth + bytes(3000), (sys.argv[1], 4791))' "$srv_ip"
}

# counts NAME: sending the datagram increments that counter of the server
counts()
{
	local before

	before=$(stat "$srv_dev" "$1")
	datagram
	wait_until 5 counted "$srv_dev" "$1" "$before"
}

counted() { [ "$(stat "$1" "$2")" -gt "$3" ]; }

run()
{
	local bad

	need_ornic
	topology veth
	for family in 4 6; do
		family_of_both $family
		reach_server
		on_cli ip link set veth-cli mtu 4500
		counts rx_icrc_encapsulated
		bad=$(stat "$srv_dev" rx_icrc_encapsulated)
		on_cli ip link set veth-cli mtu 1500
		counts rx_malformed
		[ "$(stat "$srv_dev" rx_icrc_encapsulated)" = "$bad" ] ||
			fail "IPv$family: fragments were taken for a packet"
	done
}
