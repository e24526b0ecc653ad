# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# shellcheck shell=bash
# The guest "incast" of `make bench-lossy`: many flows that share a port, and one flow
# over four paths. Read after lib/guest.sh and serve.sh, by guest.sh, which has the rest.
#
#	[s1: device s1 on eth0] -- s1 --+              +-- recv -- [recv: recv on eth0]
#	  ...                           +- bridge hub -+
#	[s16: s16 on eth0] ------ s16 --+              +-- other -- [other: other on eth0]
#
# Each [ ] is a namespace, 10.5.0.1 to 10.5.0.16, .101 and .102. The qdiscs of the hub's
# netdevs are those of a switch: the one of recv is the port, those of other the paths.
# ornic_flows runs in the initial namespace, which sees all devices.

senders=16
port_mbit=50
path_mbit=12
# 32 frames of 1082 bytes, at port_mbit
mark_us=5540

# host NAME NUMBER: a namespace, its netdev on the hub and its device, all of that name
host()
{
	local mac

	printf -v mac '02:05:00:00:00:%02x' "$2"
	ip netns add "$1"
	ip link add "$1" type veth peer name eth0 address "$mac" netns "$1"
	ip link set "$1" master hub up
	ip -n "$1" -b - <<-END
		link set lo up
		addr add 10.5.0.$2/24 dev eth0
		link set eth0 up
	END
	add_link "$1" eth0 nsenter "--net=/run/netns/$1"
	wait_until 5 gid_index "$1" "10.5.0.$2"
	end_of[$1]=$1:$(gid_index "$1" "10.5.0.$2")
}

# know NAME NUMBER...: neighbours that stay: a full queue would lose ARP as well
know()
{
	local number

	for number in "${@:2}"; do
		printf 'neigh replace 10.5.0.%d lladdr 02:05:00:00:00:%02x dev eth0\n' \
			"$number" "$number"
	done | ip -n "$1" -b -
}

set_up_incast()
{
	local i
	declare -gA end_of=()

	modprobe -a sch_tbf sch_codel sch_prio sch_netem cls_u32 bridge
	ip link add hub type bridge
	ip link set hub up
	host recv 101
	host other 102
	flows=()
	for ((i = 1; i <= senders; i++)); do
		host "s$i" "$i"
		know "s$i" 101 102
		flows+=("${end_of[s$i]}")
	done
	know recv {1..16}
	know other {1..16}
}

# limit_rate NETDEV root|CLASS NUMBER MBIT marks|drops: tbf with what it holds. The target
# of codel is so far away that it only marks.
limit_rate()
{
	local -a where=(parent "$2")

	[ "$2" != root ] || where=(root)
	tc qdisc add dev "$1" "${where[@]}" handle "$3:" \
		tbf rate "$4mbit" burst 64k limit 8m
	case $5 in
	marks) tc qdisc add dev "$1" parent "$3:1" codel limit 8000 target 1000s \
		interval 1000s ecn ce_threshold "${mark_us}us" ;;
	drops) tc qdisc add dev "$1" parent "$3:1" pfifo limit 256 ;;
	esac
}

# split NETDEV: a band for each path, which the UDP source port chooses
split()
{
	local i

	tc qdisc add dev "$1" root handle 1: prio bands 4 \
		priomap 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0
	for i in 1 2 3 4; do
		tc filter add dev "$1" parent 1: protocol ip u32 \
			match ip sport $((i - 1)) 3 flowid "1:$i"
	done
}

# shape marks|drops|paths: the hub
shape()
{
	local i netdev

	for netdev in recv other s1; do
		tc qdisc del dev "$netdev" root 2>/dev/null
	done
	case $1 in
	paths)
		split s1
		split other
		for i in 1 2 3 4; do
			limit_rate other "1:$i" "1$i" "$path_mbit" marks
		done ;;
	*) limit_rate recv root 1 "$port_mbit" "$1" ;;
	esac
}

# set_all ATTRIBUTE VALUE: of all devices
set_all()
{
	local device

	for device in "${!end_of[@]}"; do
		echo "$2" >"/sys/class/infiniband/$device/$1"
	done
}

# measured LIMIT MBIT ARGUMENT...: of ornic_flows; sets $status $numbers
measured()
{
	local limit=$1 mbit=$2 lines outcome

	shift 2
	status=ok
	rdma -j statistic >counters.out
	timeout "$limit" ornic_flows "$@" >flows.out 2>tc.out || status=$?
	rdma -j statistic >>counters.out
	if [ "$status" = ok ]; then
		numbers=$("$tests/bench/flow_figures.py" "$mbit" flows.out tc.out \
			counters.out 2>&1) || status=no-result lines=$numbers
		numbers+=" mark_us=$mark_us"
	else
		last_lines 1 flows.out
		in_a_word "$status"
		status=$outcome
	fi
	[ "$status" = ok ] && return
	numbers=
	note "ornic_flows $*: $status: $lines"
}

# over_paths LIMIT SPRAY ARGUMENT...: one connection, over so many paths
over_paths()
{
	local limit=$1

	set_all spray "$2"
	shift 2
	shape paths
	measured "$limit" "$path_mbit" "to=${end_of[other]}" window=128 "$@" "${flows[0]}"
	set_all spray 0
}

# incast LIMIT ROW: sets $status $numbers. A path dies in both directions.
incast()
{
	local limit=$1 row=$2 i shared to=${end_of[recv]} from=${flows[0]} late=()

	shared=("$limit" "$port_mbit" port=recv "to=$to")
	shape marks
	case $row in
	many-16) measured "${shared[@]}" seconds=6 "${flows[@]}" ;;
	many-64*)
		shape drops
		[ "$row" = many-64 ] || set_all cc_params 'rp_rtt_enable 1'
		measured "${shared[@]}" seconds=6 qps=4 "${flows[@]}"
		set_all cc_params 'rp_rtt_enable 0' ;;
	late)
		for i in 2 3 4 5 6; do
			late+=("${flows[-1]}@$i-$i.5")
		done
		measured "${shared[@]}" seconds=7 "${flows[@]}" "${late[@]}" ;;
	victim) measured "${shared[@]}" from=3 seconds=7 "ping=$from,${end_of[other]}" \
		"${flows[@]}" ;;
	victim-port) measured "${shared[@]}" from=3 seconds=7 "ping=$from,$to" \
		"${flows[@]}" ;;
	path-1) over_paths "$limit" 0 seconds=4 ;;
	path-4) over_paths "$limit" 4 seconds=7 \
		'tc=4:qdisc replace dev other parent 1:4 handle 99: netem loss 100%' \
		'tc=4:qdisc replace dev s1 parent 1:4 handle 99: netem loss 100%' ;;
	esac
}
