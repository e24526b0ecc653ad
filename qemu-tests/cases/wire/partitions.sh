# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# shellcheck shell=bash
# This test will give two hosts P_Keys: packets have the key of their sender, rdma_cm
# and programs connect where one is a full member, and get nothing of another partition.
# Only root changes the table, and programs are told.

limit=300
kernels='stock'
sys=/sys/class/infiniband

requires()
{
	# shellcheck source=qemu-tests/lib/rdmacm.sh
	. /ornic/qemu-tests/lib/rdmacm.sh
	need_ornic
	need tcpdump tshark ibv_asyncwatch stdbuf setpriv
	need_rdmacm
}

attribute()
{
	local file=$sys/cli0/pkeys

	[ "$(<$file)" = '0 0xffff' ] || fail 'not the default table'
	! "${as_nobody[@]}" bash -c "echo 1 0x8001 >$file" || fail 'nobody writes it'
	! setpriv --bounding-set=-net_admin bash -c "echo 1 0x8001 >$file" ||
		fail 'written without CAP_NET_ADMIN'
	[ "$(<$file)" = '0 0xffff' ] || fail 'it was changed'
}

# keys SIDE: print the P_Keys of the packets that it has sent
keys() { values "from_$1" pkey | sort -u; }

changed() { grep -qi PKEY watch.out; }
# Of the server, since that was noted in $dropped
dropped() { [ "$(stat srv0 rx_bad_pkey)" -gt "$dropped" ]; }

# Both are limited members: what they send to each other is dropped, and counted.
limited_members()
{
	local server

	"${srv_prefix[@]}" rping -s -a "$srv_ip" >srv.out 2>&1 &
	server=$!
	wait_until 30 cm_listening 7174
	! "${cli_prefix[@]}" timeout $((5 * SCALE)) rping -c -a "$srv_ip" -C 1 ||
		fail 'limited members have connected'
	wait_until 10 dropped
	kill "$server"
	wait "$server" || :
	wait_until 10 not_listening 7174
}

run()
{
	local watcher dropped

	# shellcheck source=qemu-tests/lib/capture.sh
	. /ornic/qemu-tests/lib/capture.sh
	topology veth
	attribute
	verify partition
	"${cli_prefix[@]}" stdbuf -oL ibv_asyncwatch -d cli0 >watch.out 2>&1 &
	watcher=$!
	wait_until 10 grep -q . watch.out
	echo 0 0x7fff >$sys/cli0/pkeys
	wait_until 10 changed
	kill "$watcher"
	dropped=$(stat srv0 rx_bad_pkey)
	captured rping -C 5 -S 1000
	[ "$(keys cli)/$(keys srv)" = 7fff/ffff ] || fail 'the P_Keys of packets'
	! dropped || fail 'packets of a member were dropped'
	echo 0 0x7fff >$sys/srv0/pkeys
	limited_members
	echo 0 0xffff >$sys/srv0/pkeys
	rping -C 5 -S 1000
}
