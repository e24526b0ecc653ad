#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# Captures what the kernel's rxe says on a wire, for rxe_packets.h:
#
#	qemu-tests/run --script kunit/data/capture.sh >capture.txt
#	kunit/data/to_header.py <capture.txt >kunit/data/rxe_packets.h
#
# rxe knows the initial network namespace only, so both ends of the veth pair
# stay there, and a rule for packets bound to an interface sends them out
# although their destination is local:
#
#   [rxe a: veth-a 10.0.0.1 fd00::1] ==== [veth-b 10.0.0.2 fd00::2: rxe b]
set -eu
work=/run/capture
mkdir -p "$work"
cc -o "$work/rxe_traffic" /ornic/kunit/data/rxe_traffic.c -libverbs
# shellcheck disable=SC1091
. /ornic/qemu-tests/lib/guest.sh

ip link add veth-a address 02:00:00:00:00:0a type veth \
	peer name veth-b address 02:00:00:00:00:0b
ip addr add 10.0.0.1/24 dev veth-a
ip addr add 10.0.0.2/24 dev veth-b
ip addr add fd00::1/64 dev veth-a nodad
ip addr add fd00::2/64 dev veth-b nodad
for dev in veth-a veth-b; do
	echo 1 >"/proc/sys/net/ipv4/conf/$dev/accept_local"
	echo 0 >"/proc/sys/net/ipv4/conf/$dev/rp_filter"
	ip link set "$dev" mtu 1500 up
done
echo 0 >/proc/sys/net/ipv4/conf/all/rp_filter

# wire FAMILY DEVICE PEER_ADDRESS PEER_MAC TABLE
wire()
{
	ip "-$1" neigh replace "$3" lladdr "$4" dev "$2" nud permanent
	ip "-$1" route add "$3" dev "$2" table "$5"
	ip "-$1" rule add pref 5 oif "$2" to "$3" lookup "$5"
}
wire 4 veth-a 10.0.0.2 02:00:00:00:00:0b 100
wire 4 veth-b 10.0.0.1 02:00:00:00:00:0a 101
wire 6 veth-a fd00::2 02:00:00:00:00:0b 100
wire 6 veth-b fd00::1 02:00:00:00:00:0a 101
for family in 4 6; do
	ip "-$family" rule add pref 10 lookup local
	ip "-$family" rule del pref 0
done

rdma link add rxe_a type rxe netdev veth-a
rdma link add rxe_b type rxe netdev veth-b
tcpdump --immediate-mode -i veth-a -U -w "$work/pcap" udp port 4791 2>"$work/tcpdump" &
wait_until 10 test -s "$work/pcap"
for address in 10.0.0 fd00:; do
	[ "$address" = 10.0.0 ] && dot=. || dot=:
	wait_until 5 gid_index rxe_a "$address${dot}1"
	wait_until 5 gid_index rxe_b "$address${dot}2"
	"$work/rxe_traffic" rxe_a "$(gid_index rxe_a "$address${dot}1")" \
		rxe_b "$(gid_index rxe_b "$address${dot}2")"
done
for _ in {1..20}; do pause; done
kill %1
wait %1 || :
echo "kernel $(uname -r)"
od -An -v -tx1 "$work/pcap"
