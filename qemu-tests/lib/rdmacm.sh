# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# shellcheck shell=bash
# Functions for cases with the programs of rdmacm-utils, which find their devices by
# addresses.
#
# udpong is not used: datagram sockets of librdmacm 44 create address handles without
# a GRH, which is invalid for RoCE. It fails with rxe, too.

need_rdmacm() { need rping ucmatose udaddy rstream riostream cmtime; }

# cm_listening PORT: a program listens on this port of the server
cm_listening()
{
	local line

	if srv_is_peer; then
		on_srv ". /ornic/qemu-tests/lib/rdmacm.sh; cm_listening $1"
		return
	fi
	while read -r line; do
		[[ ! $line =~ LISTEN\ .*src-addr\ [^\ ]*:$1(\ |$) ]] || return 0
	done < <(rdma res show cm_id)
	return 1
}

# cm_pair PORT STAYS SERVER CLIENT: like run_pair; STAYS=1: kill the server after the
# client has exited
cm_pair()
{
	local limit=$((40 * SCALE)) port=$1 stays=$2 status=0 server

	# shellcheck disable=SC2086 # a list of words, here and below
	"${srv_prefix[@]}" timeout -s KILL "$limit" $3 >srv.out 2>&1 &
	server=$!
	(wait_until 30 cm_listening "$port") || { tail -n 15 srv.out; fail "$3"; }
	# shellcheck disable=SC2086
	on_cli timeout -s KILL "$limit" $4 >cli.out 2>&1 || status=$?
	if [ "$status" != 0 ] || [ "$stays" = 1 ]; then
		kill "$server" 2>/dev/null || :
		wait "$server" || :
	else
		wait "$server" || status="0, server $?"
	fi
	# The next program uses the same port.
	wait_until 10 not_listening "$port"
	[ "$status" = 0 ] && return
	tail -n 15 srv.out cli.out
	fail "client status $status: $4"
}

not_listening() { ! cm_listening "$1"; }

# PROGRAM [OPTIONS]: run a program, with OPTIONS for both sides
rping() { cm_pair 7174 0 "rping -s -a $srv_ip $*" "rping -c -a $srv_ip -V $*"; }
cm_both() { cm_pair "$1" "$2" "$3 -b $srv_ip ${*:4}" "$3 -s $srv_ip ${*:4}"; }
ucmatose() { cm_both 7471 0 ucmatose "$@"; }
udaddy() { cm_both 7174 0 udaddy "$@"; }
rstream() { cm_both 7471 0 rstream -T v "$@"; }
riostream() { cm_both 7471 0 riostream -T v "$@"; }
cmtime() { cm_both 7471 1 cmtime "$@"; }

# rdmacm_programs: run each program, with multi-packet messages
rdmacm_programs()
{
	rping -C 5 -S 60000
	ucmatose -c 4 -C 20 -S 5000
	udaddy -c 4 -C 20 -S 1000
	rstream -S 65536 -C 50 -I 2
	riostream -S 65536 -C 20 -I 1
	cmtime -c 20
}

# rdmacm_both_families: run all programs over IPv4 and IPv6, 20 times on a full run
rdmacm_both_families()
{
	local i rounds=1

	[ "$FULL" != 1 ] || rounds=20
	for ((i = 0; i < rounds; i++)); do
		family_of_both 4
		rdmacm_programs
		family_of_both 6
		rdmacm_programs
	done
}

# rdmacm_topology NAME FAMILY: set up the topology and user-space rdma_cm
rdmacm_topology()
{
	need_rdmacm
	modprobe rdma_ucm
	topology "$@"
}
