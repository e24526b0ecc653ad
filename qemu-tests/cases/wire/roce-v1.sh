# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# shellcheck shell=bash
# This test will run verbs over RoCE v1 between namespaces: with GIDs of IPv4, IPv6, a
# VLAN and a VLAN of a bond, beside those of RoCEv2. All packets have a GRH and a right
# ICRC, tshark finds none malformed, rules lose some, and a device without RoCE v1 has no
# such GID and does not receive them.

limit=260
kernels='stock'
gid_type='IB/RoCE v1'

requires()
{
	need_ornic
	need ibv_devinfo python3 tcpdump tshark
	modprobe 8021q || skip 'the kernel lacks 8021q'
}

# gids_of DEVICE TYPE: print how many GIDs of that type it has
gids_of() { ibv_devinfo -v -d "$1" | grep -c "GID\[.*, $2\$" || :; }

# vlan SIDE NUMBER: its VLAN 5
vlan()
{
	"on_$1" ip link add link "veth-$1" name "v5-$1" type vlan id 5
	"on_$1" ip addr add "10.0.5.$2/24" dev "v5-$1"
	"on_$1" ip link set "v5-$1" up
}

# over FILTER COMMAND...: all packets of the capture are of RoCE v1, and right
over()
{
	begin_tcpdump cli packets "$1"
	"${@:2}"
	end_tcpdump
	dissect 50
	# shellcheck disable=SC2016 # words of awk
	[ "$(packets '$2 != ""')" = 0 ] || fail 'packets with UDP'
	/ornic/qemu-tests/lib/roce_v1.py packets 50 || fail 'wrong packets'
}

both_families()
{
	verify rc_gather_scatter rc_read_scatter rc_inline rc_mixed_in_order \
		uc_inline ud_send ud_reply
	perftest ib_write_bw -b -n 100
	family_of_both 6
	reach_server
	verify rc_inline rc_read_scatter uc_inline ud_send
}

on_vlan()
{
	srv_ip=10.0.5.1 cli_ip=10.0.5.2
	wait_until 5 gid_index srv0 $srv_ip
	wait_until 5 gid_index cli0 $cli_ip
	srv_gid=$(gid_index srv0 $srv_ip) cli_gid=$(gid_index cli0 $cli_ip)
	reach_server
	verify rc_inline rc_read_scatter ud_send
}

# The netdev of the server is a bond now, which has the VLAN.
on_bond()
{
	del_link srv0
	on_srv ip -batch - <<-END
		link del v5-srv
		link add bond7 mtu 4500 type bond mode active-backup
		link set veth-srv down
		link set veth-srv master bond7
		link set bond7 up
		link add link bond7 name v5-srv type vlan id 5
		addr add 10.0.5.1/24 dev v5-srv
		link set v5-srv up
	END
	add_link srv0 bond7 "${srv_prefix[@]}"
	on_vlan
}

# The server gets a frame whose ICRC is wrong, counted since $before.
send_wrong()
{
	local mac

	mac=$(on_srv cat /sys/class/net/veth-srv/address)
	before=$(stat srv0 rx_icrc_encapsulated)
	on_cli python3 - "$mac" <<-'END'
		import socket, sys
		to = bytes.fromhex(sys.argv[1].replace(":", ""))
		grh = b"\x60\0\0\0\0\x10\x1b\x40" + bytes(32)
		bth = b"\x04\0\xff\xff\0\0\0\x11" + bytes(8)
		with socket.socket(socket.AF_PACKET, socket.SOCK_RAW) as out:
		    out.bind(("veth-cli", 0))
		    out.send(to + b"\x02\0\0\0\0\x09\x89\x15" + grh + bth)
	END
}

counted() { [ $(($(stat srv0 rx_icrc_encapsulated) - before)) = "$1" ]; }

run()
{
	local before

	# shellcheck source=qemu-tests/lib/capture.sh
	. /ornic/qemu-tests/lib/capture.sh
	# shellcheck source=qemu-tests/lib/impair.sh
	. /ornic/qemu-tests/lib/impair.sh
	with_roce_v1
	topology veth
	[ "$(gids_of cli0 'RoCE v1')" = "$(gids_of cli0 'RoCE v2')" ] ||
		fail 'GIDs of one type only'
	over 'ether proto 0x8915 or udp port 4791' both_families
	vlan srv 1
	vlan cli 2
	over 'vlan 5' on_vlan
	family_of_both 4
	messages cli0 'tx op=request dst=10.0.0.1 psn=+2 drop' 1
	messages srv0 'rx op=send psn=+1 duplicate' 1
	echo clear >"$sys/srv0/impair"
	send_wrong
	wait_until 5 counted 1
	over 'vlan 5' on_bond
	del_link srv0
	with_roce_v1 0
	add_link srv0 bond7 "${srv_prefix[@]}"
	[ "$(gids_of srv0 'RoCE v1')" = 0 ] || fail 'it has GIDs'
	[ "$(gids_of srv0 'RoCE v2')" -gt 0 ] || fail 'it has no GIDs'
	send_wrong
	pause
	counted 0 || fail 'it receives'
}
