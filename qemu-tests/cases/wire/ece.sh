# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# shellcheck shell=bash
# This test will connect by rdma_cm, which carries the options of a connection (ECE), and
# look at the options of both ends and at the reserved bits of what they send: ornics agree
# on selective repeat. A peer without ECE, and one that refuses, sees none of these bits.
# Programs that do not use rdma_cm find out in band.

variants='veth
	rxe-server
	rxe-client'
limit=200
kernels='stock'

offer=$((0x10000001))

requires()
{
	need_ornic
	# shellcheck source=qemu-tests/lib/rdmacm.sh
	. /ornic/qemu-tests/lib/rdmacm.sh
	need_rdmacm
	need tcpdump tshark
}

# qp DEVICE DETAIL: print it, for the RC QPs in RTS
qp()
{
	local line

	line=$(rdma res show qp link "$1/1" -dd | tr '\n' ' ' | sed 's/link /\n/g' |
		grep 'type RC state RTS' | tail -n 1)
	[[ " $line " =~ [[:space:]]drv_$2[[:space:]]([0-9]+)[[:space:]] ]] || return 1
	echo "${BASH_REMATCH[1]}"
}

# expect DEVICE OPTIONS SET SELECTIVE: what its connection has
expect()
{
	[ "$(qp "$1" ece)" = "$2" ] || fail "$1: options $(qp "$1" ece), expected $2"
	[ "$(qp "$1" ece_set)" = "$3" ] || fail "$1: options are set: $(qp "$1" ece_set)"
	[ "$(qp "$1" selective)" = "$4" ] || fail "$1: repeats selectively: expected $4"
}

bits() { packets "rc && reserved && $1"; }

# while_pinging COMMAND...: with two programs that are connected by rdma_cm
while_pinging()
{
	local server client

	begin_tcpdump cli packets
	"${srv_prefix[@]}" env rping -s -a "$srv_ip" -S 8000 >srv.out 2>&1 &
	server=$!
	wait_until 30 cm_listening 7174
	"${cli_prefix[@]}" env rping -c -a "$srv_ip" -S 8000 >cli.out 2>&1 &
	client=$!
	wait_until 20 pinging
	"$@"
	stop_traffic "$client" "$server"
	end_tcpdump
	dissect 50
	wait_until 10 not_listening 7174
}

pinging() { [ "$(stat "$ours" rx_packets)" -gt $((100 + start)) ]; }

agreed()
{
	expect srv0 "$offer" 1 1
	expect cli0 "$offer" 1 1
}

refused_by_rxe() { expect cli0 0 1 0; }

# The server has not heard of options from rxe.
unknown_of_rxe() { expect srv0 0 0 0; }

# verify_with TEST: capture what it sends
verify_with()
{
	captured verify "$1"
	[ "$(packets rc)" -gt 50 ] || fail 'nothing was captured'
}

all_ornic()
{
	while_pinging agreed
	[ "$(bits from_srv)" -gt 20 ] || fail 'no bits of the server'
	[ "$(bits from_cli)" -gt 20 ] || fail 'no bits of the client'
	verify_with agreed
	[ "$(bits 1)" = "$(packets rc)" ] ||
		fail 'packets without the bit'
	verify_with refused
	[ "$(bits 1)" = 0 ] || fail 'bits in a standard connection'
	# In band: the first request asks, and all after the first response know.
	verify_with rc_fence
	[ "$(bits 1)" -gt 0 ] || fail 'nothing is found out in band'
	verify ece
}

run()
{
	# shellcheck source=qemu-tests/lib/rdmacm.sh
	. /ornic/qemu-tests/lib/rdmacm.sh
	# shellcheck source=qemu-tests/lib/capture.sh
	. /ornic/qemu-tests/lib/capture.sh
	rdmacm_topology "$VARIANT"
	ours=cli0
	[ "$VARIANT" != rxe-client ] || ours=srv0
	start=$(stat $ours rx_packets)
	case $VARIANT in
	veth) all_ornic ;;
	rxe-server)
		while_pinging refused_by_rxe
		[ "$(bits 1)" = 0 ] || fail 'bits to a peer without options'
		;;
	rxe-client)
		while_pinging unknown_of_rxe
		[ "$(bits 'from_srv && opcode == 17')" = 0 ] ||
			fail 'bits in responses to rxe'
		;;
	esac
	[ "$(packets rc)" -gt 50 ] || fail 'nothing was captured'
}
