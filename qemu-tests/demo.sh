#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#
# The first scene of `make demo`: one guest with two netdevs, ornic on one and rxe on the
# other, and the same unmodified programs on both. COUNT scales the measurements. Both
# bind UDP port 4791, and rxe only supports the initial network namespace, so ornic has
# a namespace of its own.
set -u

n=${COUNT:-1000}
table=/tmp/table

# shellcheck source=qemu-tests/lib/demo.sh
. /ornic/qemu-tests/lib/demo.sh

# in_ns COMMAND...: run it in the namespace of $dev
in_ns()
{
	case $dev in
	ornic0) ip netns exec ornic "$@" ;;
	*) "$@" ;;
	esac
}

# netdev NAME ADDRESS: create one end of a veth pair for $dev
netdev()
{
	ip link add "$1" type veth peer name "$1-far"
	[ "$dev" = rxe0 ] || ip link set "$1" netns ornic
	ip link set "$1-far" mtu 4500 up
	in_ns ip link set "$1" mtu 4500 up
	in_ns ip link set lo up
	in_ns ip addr add "$2/24" dev "$1"
}

# gid DEVICE ADDRESS: print the index of the RoCEv2 GID of an IPv4 address
gid()
{
	local ports=/sys/class/infiniband/$1/ports/1 hex i byte

	IFS=. read -r -a byte <<<"$2"
	hex=$(printf 'ffff:%02x%02x:%02x%02x' "${byte[@]}")
	for i in {0..15}; do
		grep -q "$hex" "$ports/gids/$i" &&
			grep -q v2 "$ports/gid_attrs/types/$i" && echo "$i" && return
	done 2>/dev/null
	return 1
}

# wait_for COMMAND...: wait up to ten seconds until it succeeds
wait_for()
{
	for _ in {1..100}; do
		"$@" >/dev/null 2>&1 && return
		read -r -t 0.1 <>/dev/ptmx
	done
	return 1
}

# shellcheck disable=SC2317 # called by wait_for
listens() { in_ns ss -Hltn 'sport = :18515' | grep -q .; }

# pair SERVER-COMMAND...: run a server, and the same command as its client
pair()
{
	in_ns timeout 60 "$@" >/tmp/server 2>&1 &
	wait_for listens
	in_ns timeout 60 "$@" 127.0.0.1 >/tmp/client 2>&1
	local status=$?
	wait $! || status=1
	return $status
}

pingpong()
{
	printf '\n$ %s\n' "$*"
	pair "$@" && grep 'iters\|Mbit' /tmp/client && return
	cat /tmp/client
	failed=1
}

# measure GID PROGRAM SIZE COUNT: run it on $dev
measure()
{
	if pair "$2" -d "$dev" -x "$1" -F -s "$3" -n "$4"; then
		value "$2" /tmp/client
	else
		echo failed
		failed=1
	fi
}

row()
{
	local program=$1 size=$2 count=$3 a b

	a=$(dev=ornic0 measure "$ornic_gid" "$program" "$size" "$count")
	b=$(dev=rxe0 measure "$rxe_gid" "$program" "$size" "$count")
	printf '%-14s %8s  %14s  %14s\n' "$program" "$size" "$a" "$b" |
		tee -a "$table"
	! [[ $a$b =~ failed ]] || failed=1
}

failed=0
ip netns add ornic
dev=rxe0
netdev eth-rxe 198.51.100.1
dev=ornic0
netdev eth-ornic 192.0.2.1

title 'A netdev becomes an RDMA NIC'
show ip netns exec ornic rdma link add ornic0 type ornic netdev eth-ornic
show rdma link add rxe0 type rxe netdev eth-rxe
if ! wait_for gid ornic0 192.0.2.1 || ! wait_for gid rxe0 198.51.100.1; then
	echo 'demo: no device'
	exit 1
fi
ornic_gid=$(gid ornic0 192.0.2.1)
rxe_gid=$(gid rxe0 198.51.100.1)
show ip netns exec ornic rdma link show
show ibv_devices
show ibv_devinfo -v -d ornic0

title 'Programs of rdma-core'
pingpong ibv_rc_pingpong -d ornic0 -g "$ornic_gid" -n "$n"
pingpong ibv_rc_pingpong -d ornic0 -g "$ornic_gid" -n "$n" -e
pingpong ibv_uc_pingpong -d ornic0 -g "$ornic_gid" -n "$n"
pingpong ibv_uc_pingpong -d ornic0 -g "$ornic_gid" -n "$n" -e
pingpong ibv_ud_pingpong -d ornic0 -g "$ornic_gid" -n "$n"
pingpong ibv_ud_pingpong -d ornic0 -g "$ornic_gid" -n "$n" -e

title 'perftest, both ends on one device, in this guest'
printf '%-14s %8s  %14s  %14s\n' program bytes ornic rxe | tee "$table"
for program in ib_write_lat ib_send_lat ib_read_lat ib_atomic_lat; do
	row "$program" 8 "$n"
done
for program in ib_write_bw ib_send_bw ib_read_bw; do
	row "$program" 65536 $((n / 2))
done
row ib_write_bw 64 $((n * 5))

title 'What the device counted'
show rdma statistic show link ornic0/1
[ "$failed" = 0 ] && echo && echo 'demo: complete' && exit 0
echo 'demo: something failed, see above'
exit 1
