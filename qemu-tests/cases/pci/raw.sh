# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# shellcheck shell=bash
# This test will let raw packet QPs of a PCI NIC send and receive, alone and between two
# guests: by ornic_verify, by perftest, and beside the netdev of the guest, from which
# rules take frames. Then the netdev moves to another namespace: QPs and rules end, and
# only who has CAP_NET_RAW starts a QP again.

machines=nic+nic
append=dma_debug=off # see local-attack.sh
limit=240

requires()
{
	need_ornic
	need_pyverbs
	need raw_ethernet_bw raw_ethernet_lat
}

# The peer sends, and this guest receives: it has the rules.
receive_from_peer()
{
	topology peer
	cli_prefix=("${srv_prefix[@]}") srv_prefix=() srv_host=10.0.0.2
}

# The guest gets nothing of the port of the rule, and all of the next one.
take_port()
{
	local before

	begin_sink taken udp 5000 take
	before=$(udp_received)
	udp_to 5000 100
	udp_to 5001 50
	wait_until 5 has_received 50
	end_sink
	[ "$frames $payload $wrong" = '100 10000 0' ] || fail 'frames'
	udp_to 5000 20
	wait_until 5 has_received 70
}

copy_all()
{
	local before

	begin_sink copied sniffer
	before=$(udp_received)
	udp_to 5000 100
	wait_until 5 has_received 100
	end_sink
	[ "$frames" -ge 100 ] || fail 'the sniffer has lost frames'
}

# move_to NAMESPACE, from the one that $srv_prefix enters
move_to()
{
	on_srv ip link set eth0 netns "$1"
	srv_prefix=(ip netns exec other) cli_prefix=(ip netns exec other "$peer")
	[ "$1" = other ] || srv_prefix=() cli_prefix=("$peer")
	on_srv ip addr add "$srv_host/24" dev eth0
	on_srv ip link set eth0 up
	wait_until 20 on_cli true
}

ends_elsewhere()
{
	local before

	ip netns add other
	begin_sink ended udp 5000 take
	move_to other
	wait_until 20 grep -q ended "$sink_out"
	before=$(udp_received)
	udp_to 5000 20
	wait_until 5 has_received 20
	end_restarted
	move_to 1
	ip netns delete other
}

run()
{
	local ports

	# shellcheck source=qemu-tests/lib/raw.sh
	. /ornic/qemu-tests/lib/raw.sh
	topology nic
	verify raw rate rss
	receive_from_peer
	take_port
	copy_all
	# Without ports the rule takes all that comes to the address, from the peer's agent too.
	ports="-J $srv_host -j 10.0.0.1 -K 6000 -k 7000"
	raw raw_ethernet_bw -n 200 -s 1024 -r 512 "$ports"
	raw raw_ethernet_lat -n 100 -s 64 "$ports"
	ends_elsewhere
	take_port
	no_objects ornic0 || fail 'objects are left'
	on_cli no_objects ornic0 || fail 'objects are left in the peer'
}
