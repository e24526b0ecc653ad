# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# shellcheck shell=bash
# This test will send streams by sockets of SMC-R, of version 1 by RoCE v1, and of version 2 by
# RoCE v2, for which both ends have the same EID: they go over RDMA, also if packets are lost.
# Then it deletes each end's device while a stream is on its way: both ends are told, or neither
# if SMC has a second link, on the other device. No byte is wrong, but for one reason of Linux.
# Streams go over RDMA again when the device is back. nic has two guests with a PCI NIC each,
# and version 1.
#
# Version 2 needs RoCE v1 as well: Linux 6.12 proposes it with the MAC that version 1 found, or
# else with a MAC of zeroes.

variants='v1 v2 nic machines=nic+nic nic_keys=roce-v1=on'
kernels='stock'
limit=200

# shellcheck source=qemu-tests/lib/lifecycle.sh
. /ornic/qemu-tests/lib/lifecycle.sh
# shellcheck source=qemu-tests/lib/capture.sh
. /ornic/qemu-tests/lib/capture.sh
# shellcheck source=qemu-tests/lib/smc.sh
. /ornic/qemu-tests/lib/smc.sh

requires()
{
	[ "$DEV" = ornic ] || skip "$DEV has no RoCE v1"
	need_smc
	need tcpdump
	[ "$VARIANT" != v2 ] || /usr/bin/python3 -c 'import pyroute2' 2>/dev/null ||
		skip 'python3-pyroute2 is not installed'
}

# streams: both ways
streams() { over_rdma 3799999 smc_stream 2000000; }

set_eid() { [ "$VARIANT" != v2 ] || /ornic/qemu-tests/lib/smc_eid.py ORNIC; }

# streams_again: one that starts while SMC adds a link may be ended. Of version 2 the client
# asks for a link; if that comes while the server is about to add one it is dropped
# (smc_llc_flow_parallel() of 6.12), and no more streams start in this link group.
streams_again()
{
	local try status

	for try in 1 2 3; do
		status=0
		(streams) || status=$?
		port=$((port + 1))
		[ $status != 0 ] || return 0
		echo "try $try: status $status"
		smc_close
		modprobe smc
		set_eid
	done
	fail 'streams do not go over RDMA again'
}

# removal srv|cli: the device of that end goes while a stream is on its way; sets
# $credited_twice if Linux has then sent wrong bytes
removal()
{
	local bytes=200000000 before server client over='' told=''
	local -n prefix=${1}_prefix

	credited_twice=''
	port=$((port + 1))
	before=$(carried_by_both)
	"${srv_prefix[@]}" ornic_smc $port $bytes >srv.out 2>&1 &
	server=$!
	wait_until 10 listening $server $port
	"${cli_prefix[@]}" ornic_smc $port $bytes "$srv_ip" >cli.out 2>&1 &
	client=$!
	wait_until 20 carries 2000000 "$before" carried_by_both
	ends_within 20 rdma link delete "${1}0"
	! ended $client || over=1
	wait_until 60 ended $server
	wait_until 60 ended $client
	wait $client || told+=client
	wait $server || told+=server
	cat srv.out cli.out
	echo "${1}0 was deleted: ${told:-nobody} is told"
	if grep 'wrong bytes' srv.out cli.out; then
		# It counts a message twice if that completes when its stream has left the
		# link (smc_cdc_tx_handler() of 6.12), and so takes more bytes than its ring
		# of 64 KiB has.
		grep "the stream's +65536 bytes" srv.out cli.out || fail 'wrong bytes'
		credited_twice=1
	fi
	case $told in
	'') [ ! "$over" ] || fail 'the stream had ended before' ;;
	clientserver) ;;
	*) fail "only the $told is told" ;;
	esac
	add_link "${1}0" "veth-$1" "${prefix[@]}"
}

# survives srv|cli: a removal, after which streams go over RDMA again
survives()
{
	local try

	for try in 1 2 3; do
		echo "removal $try"
		removal "$1"
		streams_again
		[ "$credited_twice" ] || return 0
	done
	fail 'wrong bytes each time'
}

between_namespaces()
{
	local packets='ether proto 0x8915'

	with_roce_v1
	if [ "$VARIANT" = v2 ]; then
		packets='udp port 4791'
	fi
	set_eid
	topology veth
	begin_tcpdump cli packets "$packets"
	streams
	end_tcpdump
	has_captured packets 100 || fail "not by $packets"
	with_loss streams
	survives cli
	survives srv
	smc_close
}

between_guests()
{
	topology peer
	"$peer" modprobe smc
	streams
	smc_close
	wait_until 10 "$peer" modprobe -r smc
}

run()
{
	if [ "$VARIANT" = nic ]; then
		between_guests
	else
		between_namespaces
	fi
}
