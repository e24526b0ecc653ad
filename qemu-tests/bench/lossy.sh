# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# shellcheck shell=bash
# What `make bench-lossy` adds: a wire between ornic and rxe, netem on all wires, the
# check of data, and counters of ornic. Read after lib/guest.sh and serve.sh, by
# guest.sh, which has the rest.

# NAMESPACE NETDEV ADDRESS-OF-PEER of each end
wire_ends='srv veth-srv 10.0.0.2
	cli veth-cli 10.0.0.1
	- rxe-srv 10.1.0.2
	- rxe-cli 10.1.0.1
	- mix-srv 10.4.0.2
	mix mix-cli 10.4.0.1'
counters='tx_packets duplicate_request retries roce_adp_retrans local_ack_timeout_err'
wires=0

# at NAMESPACE PROGRAM [OPTIONS]: of iproute2, there
at()
{
	local namespace=$1 program=$2

	shift 2
	if [ "$namespace" = - ]; then
		"$program" "$@"
	else
		"$program" -n "$namespace" "$@"
	fi
}

# rxe2 of the initial namespace, and mix0 of ornic
set_up_mixed()
{
	wire mix
	ip netns add mix
	ip link set mix-cli netns mix
	ip addr add 10.4.0.1/24 dev mix-srv
	ip -n mix addr add 10.4.0.2/24 dev mix-cli
	ip link set mix-srv up
	ip -n mix link set mix-cli up
	ip -n mix link set lo up
	type=rxe add_link rxe2 mix-srv
	add_link mix0 mix-cli nsenter --net=/run/netns/mix
	wait_until 5 gid_index rxe2 10.4.0.1
	wait_until 5 gid_index mix0 10.4.0.2
	mix_rxe_gid=$(gid_index rxe2 10.4.0.1)
	mix_ornic_gid=$(gid_index mix0 10.4.0.2)
	wait_until 5 ping -c 1 -W 1 10.4.0.2
}

# read_programs: if the clock is the instructions of the guest, it goes on to the next timer
# while the guest waits for the host, so time limits would end what is read from there
read_programs()
{
	local program

	for program in ib_{write,send,read}_bw iperf3 ornic_verify; do
		"$program" --help || :
	done >/dev/null 2>&1
}

# netem loses a packet of TCP as it is; each is to be of the MTU, as those of RoCE
# are. ARP has no checksum: neighbours stay as they are. rxe may warn of responses
# that it does not expect, which must not end the guest: see note_warnings.
set_up_lossy()
{
	local namespace netdev to

	echo 0 >/proc/sys/kernel/panic_on_warn
	read_programs
	set_up_ornic
	set_up_rxe
	set_up_mixed
	while read -r namespace netdev to; do
		at "$namespace" ip link set "$netdev" gso_max_segs 1
		at "$namespace" ip neigh change "$to" dev "$netdev" nud permanent
	done <<<"$wire_ends"
}

# impair -|OPTIONS: of netem, on both ends of each wire. With a new handle it is a
# new qdisc: an option that is not named, such as corrupt, would stay otherwise.
impair()
{
	local namespace netdev _

	[ "$1" != - ] || shift
	wires=$((wires + 1))
	while read -r namespace netdev _; do
		at "$namespace" tc qdisc replace dev "$netdev" root \
			handle "$((wires % 1000 + 1)):" netem limit 100000 "$@"
	done <<<"$wire_ends"
}

# note_warnings: of the kernel
note_warnings()
{
	local line

	while read -r line; do
		note "$line"
	done < <(dmesg | grep WARNING:)
}

# check_data SECONDS TEST...: the data that arrives; sets $status
check_data()
{
	local limit=$1 preload lines
	local -a start

	shift
	status=ok numbers='' busy=0
	starting "$limit" - ornic_verify
	"${start[@]}" ornic_verify --client "$cli_device:$cli_gid:$(type_of "$cli_device")" \
		--server "$srv_device:$srv_gid:$(type_of "$srv_device")" "$@" \
		>cli.out 2>&1 || status=$?
	[ "$status" = ok ] && return
	in_a_word "$status"
	status=$outcome
	# What was wrong stands before the name of the test.
	lines=$(grep -B 1 '^not ok' cli.out | tr '\n' ' ')
	note "$name_of_peer: verify: $status: $lines"
}

type_of()
{
	[[ $1 = rxe* ]] && echo rxe || echo ornic
}

# count_ornic TIMES: add that many times each counter of ornic to $counts. rxe has
# others.
count_ornic()
{
	local side device name value key

	[ "$guest" = lossy ] || return 0
	for side in cli srv; do
		device=${side}_device
		for name in $counters; do
			read -r value <"/sys/class/infiniband/${!device}/ports/1/hw_counters/$name" ||
				continue
			key=$side-$name
			# shellcheck disable=SC2004 # it is an associative array
			counts[$key]=$((${counts[$key]-0} + $1 * value))
		done 2>/dev/null
	done
}

# add_counts: what was counted since count_ornic -1, as SIDE-NAME=VALUE, to $numbers
add_counts()
{
	local name

	count_ornic 1
	for name in "${!counts[@]}"; do
		numbers+=" $name=${counts[$name]}"
	done
}
