#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#
# The guest's part of `make bench`: sets up every peer once, then does one line
# of the plan after the other. Line of a plan: REPEAT PEER ROW SECONDS COMMAND..., or
# REPEAT wire NAME - OPTIONS of netem. Peers, by where their two ends are:
#
#   ornic-loop ornic-veth   srv0 in namespace srv, cli0 in namespace cli
#   ornic-direct            the same two, without packets
#   rxe-loop rxe-veth       rxe0 and rxe1 in the initial one, by policy routing
#   siw-loop siw-veth       on lo of wlo, and between wsrv and wcli
#   pci-loop pci-two        the PCI NIC, its own peer or the other guest's
#   rxe-two                 rxe of both guests, a wire of their own between them
#   ornic-rxe rxe-ornic     ornic in namespace mix, rxe2 in the initial one; the
#                           client is named first
#   tcp local               by TCP, and within the kernel: see storage.sh, services.sh
#   ref                     what is no RDMA: copies, checksums, calls, TCP
#   ornic                   all devices of guest incast: see incast.sh
#
# Prints "run REPEAT PEER ROW STATUS WALL_US TICKS VALUE..." for each line.
set -u

tests=/ornic/qemu-tests
# shellcheck source=qemu-tests/lib/guest.sh
. "$tests/lib/guest.sh"
# shellcheck source=qemu-tests/bench/serve.sh
. "$tests/bench/serve.sh"
# shellcheck source=qemu-tests/bench/scale.sh
. "$tests/bench/scale.sh"
# shellcheck source=qemu-tests/bench/storage.sh
. "$tests/bench/storage.sh"
# shellcheck source=qemu-tests/bench/services.sh
. "$tests/bench/services.sh"
# shellcheck source=qemu-tests/bench/lossy.sh
. "$tests/bench/lossy.sh"
# shellcheck source=qemu-tests/bench/incast.sh
. "$tests/bench/incast.sh"
DEV=ornic
runs=0
# Preloaded into programs that use sockets; none
sockets=

note() { echo "note $*"; }

set_up_ornic()
{
	topology veth 4
	ornic_srv_gid=$srv_gid ornic_cli_gid=$cli_gid
}

# wire NAME: veth pair NAME-srv, NAME-cli of the bench's MTU
wire()
{
	ip link add "$1-srv" mtu 4500 type veth peer name "$1-cli" mtu 4500
}

# rxe knows the initial namespace only: both ends are local, and what leaves one
# netdev for the other must not be delivered within the host.
set_up_rxe()
{
	local end number=1 to

	wire rxe
	local_wire rxe-srv rxe-cli
	for end in srv cli; do
		to=$((3 - number))
		ip addr add "10.1.0.$number/24" dev "rxe-$end"
		ip link set "rxe-$end" up
		ip route add "10.1.0.$to" dev "rxe-$end" table "10$to"
		ip rule add preference 5 oif "rxe-$end" to "10.1.0.$to" \
			lookup "10$to"
		number=$((number + 1))
	done
	ip neigh replace 10.1.0.2 lladdr "$(</sys/class/net/rxe-cli/address)" \
		dev rxe-srv nud permanent
	ip neigh replace 10.1.0.1 lladdr "$(</sys/class/net/rxe-srv/address)" \
		dev rxe-cli nud permanent
	type=rxe add_link rxe0 rxe-srv
	type=rxe add_link rxe1 rxe-cli
	wait_until 5 gid_index rxe0 10.1.0.1
	wait_until 5 gid_index rxe1 10.1.0.2
	rxe_srv_gid=$(gid_index rxe0 10.1.0.1)
	rxe_cli_gid=$(gid_index rxe1 10.1.0.2)
}

set_up_siw()
{
	local end number=1

	modprobe -a libcrc32c ib_uverbs rdma_ucm
	insmod "$bench/siw.ko" || return
	# Its GID is the MAC, and one of zeros is none.
	ip netns add wlo
	ip -n wlo link set lo address 02:00:00:00:00:01
	ip -n wlo addr add 10.3.0.1/32 dev lo
	ip -n wlo link set lo up
	type=siw add_link siw-lo lo nsenter --net=/run/netns/wlo
	wire siw
	for end in srv cli; do
		ip netns add "w$end"
		ip link set "siw-$end" netns "w$end"
		ip -n "w$end" link set lo up
		ip -n "w$end" addr add "10.2.0.$number/24" dev "siw-$end"
		ip -n "w$end" link set "siw-$end" up
		number=$((number + 1))
	done
	# It looks for a carrier once only.
	for end in srv cli; do
		type=siw add_link "siw-$end" "siw-$end" \
			nsenter "--net=/run/netns/w$end"
	done
	# A server listens on each, one after the other.
	siw_devices=3
}

set_up_two()
{
	topology peer 4
	ornic_srv_gid=$srv_gid ornic_cli_gid=$cli_gid
	"$peer" ". $tests/bench/serve.sh; drop_other_providers; add_rxe_wire 1"
	add_rxe_wire 2
	wait_until 10 ping -c 1 -W 1 10.1.0.1
	wait_until 5 gid_index rxe0 10.1.0.2
	wait_until 5 at_srv gid_index rxe0 10.1.0.1
	rxe_srv_gid=$(at_srv gid_index rxe0 10.1.0.1)
	rxe_cli_gid=$(gid_index rxe0 10.1.0.2)
}

set_up()
{
	drop_other_providers
	if [ "${MACHINES-}" = 2 ]; then
		set_up_two
	elif [ -n "${MACHINES-}" ]; then
		topology nic 4
		ornic_srv_gid=$srv_gid
		set_up_rxe
	elif [ "$guest" = storage ]; then
		set_up_storage
	elif [ "$guest" = services ]; then
		set_up_services
	elif [ "$guest" = lossy ]; then
		set_up_lossy
	elif [ "$guest" = incast ]; then
		set_up_incast
	else
		set_up_siw || note 'no siw'
		set_up_ornic
		set_up_rxe
	fi
}

# ends DEVICE GID DEVICE GID HOST [ADDRESS]: of server, of client; the server's
# host for TCP, and its address for rdma_cm if that is another
ends()
{
	srv_device=$1 srv_gid=$2 srv_host=$5 rdma_host=${6:-$5}
	cli_device=$3 cli_gid=$4
	srv_options="-d $1 -x $2" cli_options="-d $3 -x $4"
}

# make_packets PEER: or none
make_packets()
{
	local direct=0 end

	[ "$1" != ornic-direct ] || direct=1
	for end in srv0 cli0; do
		echo "$direct" >"/sys/class/infiniband/$end/direct"
	done
}

# select_peer NAME: $name_of_peer, $srv_prefix (another guest), $srv_ns $cli_ns
# (namespaces), and what ends sets
select_peer()
{
	name_of_peer=$1 srv_prefix=() srv_ns='-' cli_ns='-'
	case $1 in
	ornic-loop) srv_ns=srv cli_ns=srv ;;
	ornic-veth | ornic-direct) srv_ns=srv cli_ns=cli ;;
	tcp) srv_ns=srv cli_ns=cli rdma_host=10.0.0.1 ;;
	siw-loop) srv_ns=wlo cli_ns=wlo ;;
	siw-veth) srv_ns=wsrv cli_ns=wcli ;;
	ornic-rxe) cli_ns=mix ;;
	rxe-ornic) srv_ns=mix ;;
	*-two) srv_prefix=("$peer") ;;
	esac
	case $1 in
	ornic-loop) ends srv0 "$ornic_srv_gid" srv0 "$ornic_srv_gid" 10.0.0.1 ;;
	ornic-veth | ornic-direct)
		ends srv0 "$ornic_srv_gid" cli0 "$ornic_cli_gid" 10.0.0.1
		make_packets "$1"
		;;
	rxe-loop*) ends rxe0 "$rxe_srv_gid" rxe0 "$rxe_srv_gid" 127.0.0.1 10.1.0.1 ;;
	rxe-veth) ends rxe0 "$rxe_srv_gid" rxe1 "$rxe_cli_gid" 127.0.0.1 ;;
	siw-loop) ends siw-lo 0 siw-lo 0 10.3.0.1 ;;
	siw-veth) ends siw-srv 0 siw-cli 0 10.2.0.1 ;;
	pci-loop) ends ornic0 "$ornic_srv_gid" ornic0 "$ornic_srv_gid" 127.0.0.1 ;;
	pci-two) ends ornic0 "$ornic_srv_gid" ornic0 "$ornic_cli_gid" 10.0.0.1 ;;
	rxe-two) ends rxe0 "$rxe_srv_gid" rxe0 "$rxe_cli_gid" 10.0.0.1 ;;
	ornic-rxe) ends rxe2 "$mix_rxe_gid" mix0 "$mix_ornic_gid" 10.4.0.1 ;;
	rxe-ornic) ends mix0 "$mix_ornic_gid" rxe2 "$mix_rxe_gid" 10.4.0.2 ;;
	esac
	# iWARP has its connections from rdma_cm alone.
	[[ $1 != siw-* ]] || srv_options+=' -R' cli_options+=' -R'
}

# numbers FILE: of the last line of a table of perftest, in $numbers
numbers()
{
	local line

	numbers=
	while read -r line; do
		[[ ! $line =~ ^[0-9]+\ +[0-9]+\ +[0-9.]+ ]] || numbers=$line
	done <"$1"
	# shellcheck disable=SC2086 # to one blank each
	set -- $numbers
	numbers=$*
}

# in_a_word STATUS: what the exit status of a program of start.c means, in $outcome
in_a_word()
{
	case $1 in
	142) outcome=took-too-long ;;
	134 | 139) outcome=crashed ;;
	*) outcome=$1 ;;
	esac
}

# pair SECONDS PROGRAM [OPTIONS]: both ends, of which the server may come second,
# unless rdma_cm connects them; sets $status $numbers $busy
pair()
{
	local limit=$1 program=$2 port=$((18000 + runs % 2000)) pid='' command
	local served=lost said='' word result words server_ticks=0 await=0/0
	local preload lines outcome
	local -a server start

	shift 2
	cpu_ticks
	busy=$ticks status=0 numbers=''
	[[ $srv_options != *-R* ]] || await=$port/$siw_devices
	# shellcheck disable=SC2206 # lists of words
	server=($program $srv_options -F -p $port $*)
	if srv_is_peer; then
		command=". $tests/bench/serve.sh; serve $limit $await - ${server[*]}"
		exec 8< <("$peer" "$command")
	else
		exec 8< <(serve "$limit" "$await" "$srv_ns" "${server[@]}")
	fi
	[ "$await" = 0/0 ] || read -r -t "$limit" _ pid <&8 || status=no-server
	if [ "$status" = 0 ]; then
		starting "$limit" "$cli_ns" "$program"
		# shellcheck disable=SC2086 # a list of words
		{ LD_PRELOAD=$preload "${start[@]}" $program \
			$cli_options -F -p "$port" "$@" "$srv_host" \
			>cli.out 2>&1 || status=$?; } 2>/dev/null
	fi
	[ "$await" != 0/0 ] || read -r -t "$limit" _ pid <&8 || status=no-server
	[ "$status" = 0 ] || [ -z "$pid" ] || on_server_side kill "$pid" 2>/dev/null
	while read -r -t "$limit" word result ticks words <&8; do
		[ "$word" != served ] || served=$result server_ticks=$ticks said=$words
	done
	exec 8<&-
	cpu_ticks
	busy=$((ticks - busy))
	! srv_is_peer || busy=$((busy + server_ticks))
	if [ "$status" != 0 ]; then
		in_a_word "$status"
		status=$outcome
	elif [ "$served" != 0 ]; then
		in_a_word "$served"
		status=server-$outcome
	fi
	[ "$status" != 0 ] || numbers cli.out
	[ "$status" != 0 ] || [ -n "$numbers" ] || status=no-result
	# On a busy host perftest may not find out how fast the clock is.
	[ "$status" != 0 ] || [[ $numbers != *' 0.000000' ]] || status=no-clock
	[ "$status" = 0 ] && status=ok && return
	last_lines 3 cli.out
	note "$name_of_peer: $program $* : $status: $lines / $said"
}

on_server_side()
{
	if srv_is_peer; then
		"$peer" "$@"
	else
		"$@"
	fi
}

# stream SECONDS, ping_pong SECONDS BYTES: of TCP between srv and cli of ornic's wire, or of
# what the library $sockets makes of it; says so in cli.out
stream()
{
	exec 8< <(serve "$1" 5201 srv env "LD_PRELOAD=$sockets" iperf3 -4 -s -1)
	read -r -t "$1" _ <&8
	nsenter --net=/run/netns/cli timeout "$1" env "LD_PRELOAD=$sockets" \
		iperf3 -c 10.0.0.1 -t 1 -f m >cli.out 2>&1
	exec 8<&-
	numbers=$(awk '/receiver/ { print $7 / 8 }' cli.out)
}

ping_pong()
{
	local pid=''

	exec 8< <(serve "$1" 11111 srv env "LD_PRELOAD=$sockets" \
		sockperf server --tcp -i 10.0.0.1)
	read -r -t "$1" _ pid <&8
	nsenter --net=/run/netns/cli timeout "$1" env "LD_PRELOAD=$sockets" \
		sockperf ping-pong --tcp -i 10.0.0.1 -t 1 -m "$2" >cli.out 2>&1
	[ -z "$pid" ] || kill "$pid"
	exec 8<&-
	numbers=$(awk '/percentile 50.000/ { p50 = $NF }
		/percentile 99.000/ { p99 = $NF }
		/percentile 99.900/ { p999 = $NF }
		END { if (p50) print p50, p99, p999 }' cli.out)
}

# reference NAME SECONDS: sets $status $numbers
reference()
{
	status=ok numbers='' busy=0
	case $1 in
	kernel)
		insmod "$bench/ref/ornic_bench_ref.ko" 2>/dev/null
		numbers=$(dmesg | awk '/ornic_bench: / { v[$(NF - 1)] = $NF }
			END { for (k in v) printf "%s=%s ", k, v[k] }') ;;
	null-syscall) numbers=$("$bench/null_syscall") ;;
	tcp-bw*) stream "$2" ;;
	tcp-lat) ping_pong "$2" 14 ;;
	esac
	[ -n "$numbers" ] && return
	status=failed
	last_lines 3 cli.out
	note "$1 : $lines"
}

# counted WHICH COMMAND...: in $command, with a count for rows.py's -n
# SPEED:QPS:STEP:LEAST:MOST, by the speed that WHICH had in the repeat before
counted()
{
	local which=$1 word speed qps step least most count

	shift
	command=()
	for word; do
		if [[ $word == *:*:*:*:* ]]; then
			IFS=: read -r speed qps step least most <<<"$word"
			count=$((${speeds[$which]-$speed} * run_ms / 1000 / qps))
			count=$((count > most ? most : count))
			count=$((count < least ? least : count))
			[ "$count" -le "$step" ] || count=$((count / step * step))
			word=$count
		fi
		command+=("$word")
	done
}

# note_speed WHICH: messages a second, from the line of perftest in $numbers
note_speed()
{
	local -a fields

	read -r -a fields <<<"$numbers"
	case ${#fields[@]} in
	5) speeds[$1]=$((10#${fields[4]/./})) ;; # millions, with six digits
	9) speeds[$1]=$((10 ** 8 / (2 * 10#${fields[5]/./} + 1))) ;; # half of us
	esac
}

# step REPEAT PEER ROW SECONDS COMMAND...
step()
{
	local repeat=$1 name=$2 row=$3 limit=$4 begin
	local -a command
	local -A counts=()

	shift 4
	if [ "$name" = wire ]; then
		impair "$@"
		return
	fi
	if [ "${failures[$name/$row]-0}" -ge 2 ]; then
		echo "run $repeat $name $row given-up 0 0"
		return
	fi
	runs=$((runs + 1))
	begin=${EPOCHREALTIME/./}
	busy=0
	if [ "$guest" = incast ]; then
		incast "$limit" "$row"
	elif [ "$name" = ref ]; then
		reference "$row" "$limit"
	else
		select_peer "$name"
		counted "$name/$row" "$@"
		count_ornic -1
		case $1 in
		objects) values "$limit" "${command[@]:1}" ;;
		nvme) nvme_values "$limit" "${command[@]:1}" ;;
		nfs) nfs_values ;;
		smc) smc_values "$limit" ;;
		odp) values "$limit" odp "$cli_device" "$cli_gid" ;;
		sends) values "$limit" send "$cli_device" "$cli_gid" "$2" ;;
		cmtime) connections "$limit" "$2" ;;
		idle) among_idle "$limit" "${command[@]:1}" ;;
		verify) check_data "$limit" "${command[@]:1}" ;;
		*) pair "$limit" "${command[@]}" ;;
		esac
		[ "$status" != ok ] || note_speed "$name/$row"
		add_counts
	fi
	[ "$status" = ok ] || failures[$name/$row]=$((${failures[$name/$row]-0} + 1))
	echo "run $repeat $name $row $status $((${EPOCHREALTIME/./} - begin))" \
		"$busy $numbers"
}

# follow_plan SECONDS MS: all of it, but no repeat that would end later than that
# after the guest has started, if it takes as long as the longest so far
follow_plan()
{
	local -A failures=() speeds=()
	local budget=$1 run_ms=$2 now begun longest=0 last=1 repeat words

	uptime_seconds
	begun=$now
	while read -r repeat words; do
		if [ "$repeat" != "$last" ]; then
			uptime_seconds
			longest=$((now - begun > longest ? now - begun : longest))
			begun=$now last=$repeat
			if [ $((now + longest)) -gt "$budget" ]; then
				note "$((last - 1)) repeats: another of $longest" \
					"seconds would not end within $budget"
				return
			fi
		fi
		# shellcheck disable=SC2086 # a list of words
		step "$repeat" $words
	done
}

# uptime_seconds: in $now, rounded up
uptime_seconds()
{
	read -r now _ </proc/uptime
	now=$((${now%.*} + 1))
}

echo "about kernel $(uname -r)"
echo "about cpu $(sed -n 's/^model name\t*: //p;T;q' /proc/cpuinfo)"
echo "about cpus $(nproc)"
read -r guest budget run_ms <"$bench/plan"
set_up
uptime_seconds
note "set up after $now seconds"
follow_plan "$budget" "$run_ms" < <(tail -n +2 "$bench/plan")
[ "$guest" != lossy ] || note_warnings
uptime_seconds
note "ended after $now seconds of $budget"
echo 'about end complete'
