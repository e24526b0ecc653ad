# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# shellcheck shell=bash
#
# Functions for cases. $DEV is the device type (ornic, rxe or siw), $SCALE the factor of
# waits on slow kernels, $FULL is 1 for full counts, $WORK is a scratch folder. Waits
# are for a condition and bounded; cases never sleep.
#
# Topologies (topology NAME); each has a server and a client side:
#
#   loop          srv0 in the initial namespace is both sides
#
#   veth          [ns srv: srv0 on veth-srv] ==== [ns cli: cli0 on veth-cli]
#                       10.0.0.1, fd00::1            10.0.0.2, fd00::2
#
#   bridge        the same with a bridge between them, in the initial namespace:
#                 veth-srv ==== port-srv [hub] port-cli ==== veth-cli
#
#   macvlan       like veth, but the ends are two macvlans, two ipvlans, or a pair of
#   ipvlan        netkit, with the same names
#   netkit
#
#   initial       like veth, but both ends are in the initial namespace, where most users
#                 in the kernel have their ids of rdma_cm. Rules keep the ends apart:
#                 packets to the address of one leave by the netdev of the other, and
#                 only received packets are looked up in the local table first.
#
#   rxe-server    like veth, but the server or the client is rxe in the initial
#   rxe-client    namespace (rxe supports no other: with it, veth is initial)
#
#   nic, peer     a PCI NIC, and another guest: see nic.sh
#
# topology sets $srv_dev $cli_dev, the devices, and $srv_ip $cli_ip, the addresses
# of the chosen family; on_srv and on_cli run a command on that side.

# shellcheck source=qemu-tests/lib/nic.sh
. /ornic/qemu-tests/lib/nic.sh

skip()
{
	echo "$*" >"$WORK/skip"
	exit 77
}

fail()
{
	echo "FAILED: $*"
	exit 1
}

need()
{
	local program

	for program; do
		command -v "$program" >/dev/null || skip "$program is not installed"
	done
}

# need_modules NAME...: of the kernel; they are not loaded
need_modules()
{
	local module

	for module; do
		modprobe -n "$module" 2>/dev/null || skip "no module $module"
	done
}

need_pyverbs()
{
	/usr/bin/python3 -c 'import pyverbs' 2>/dev/null ||
		skip 'python3-pyverbs is not installed'
}

tracing=/sys/kernel/tracing

# has_events NAME: tracepoints, a folder of $tracing/events
has_events()
{
	[ -d $tracing/events ] || mount -t tracefs tracefs $tracing
	[ -d "$tracing/events/$1" ]
}

need_events() { has_events "$1" || skip "the kernel has no tracepoints of $1"; }

need_ornic() { [ "$DEV" = ornic ] || skip "for ornic, not for $DEV"; }

# times N: N on a full run, else a fifth of it, on a kernel that checks itself a
# tenth, at least 2
times()
{
	local part=5

	[ "$KERNEL" = stock ] || part=10
	if [ "$FULL" = 1 ]; then
		echo "$1"
	else
		echo $(($1 / part > 2 ? $1 / part : 2))
	fi
}

# mount_configfs: if it is not yet; its module is loaded
mount_configfs()
{
	mountpoint -q /sys/kernel/config ||
		mount -t configfs none /sys/kernel/config
}

# pause: wait 100 ms between two checks
pause() { read -r -t 0.1 <>/dev/ptmx || :; }

# ended PID: the process has exited; it may wait to be reaped
ended() { [ ! -e "/proc/$1/exe" ]; }

# wait_until SECONDS COMMAND...: until COMMAND succeeds
wait_until()
{
	local deadline=$((SECONDS + $1 * SCALE))

	shift
	until "$@" >/dev/null 2>&1; do
		[ "$SECONDS" -lt "$deadline" ] || fail "timeout: $*"
		pause
	done
}

# ends_within SECONDS COMMAND...: it ends in that time; not even SIGKILL ends some
# that do not
ends_within()
{
	local limit=$1 pid

	shift
	"$@" &
	pid=$!
	(wait_until "$limit" ended "$pid") || fail "hangs: $*"
	wait "$pid" || { echo "status $?: $*"; return 1; }
}

# add_link NAME NETDEV [COMMAND PREFIX...]: a device of type $type or $DEV. It sends
# packets to the other end of a veth pair, too, unless $direct is 1.
add_link()
{
	local name=$1 netdev=$2 attribute=/sys/class/infiniband/$1/direct

	shift 2
	"$@" rdma link add "$name" type "${type:-$DEV}" netdev "$netdev"
	[ ! -e "$attribute" ] || echo "${direct-0}" >"$attribute"
	wait_until 5 link_up "$name"
}

# with_roce_v1 [0]: links that are added from now on have RoCE v1, until the case ends
with_roce_v1()
{
	modprobe ornic_soft
	echo "${1-1}" >/sys/module/ornic_soft/parameters/roce_v1
}

# port_is STATE DEVICE: STATE as in verbs, without IBV_PORT_
port_is()
{
	local state=

	read -r state <"/sys/class/infiniband/$2/ports/1/state"
	[ "${state#*: }" = "$1" ]
}

link_up() { port_is ACTIVE "$1"; }

del_link() { rdma link delete "$1"; }

# gid_of ADDRESS: set $gid to its GID, in the format of sysfs. It and gid_index start
# no process, which takes a second on the debug kernel.
gid_of()
{
	local IFS=. words=() head tail i

	case $1 in
	*.*)
		# shellcheck disable=SC2086 # split at the dots
		printf -v gid '0000:0000:0000:0000:0000:ffff:%02x%02x:%02x%02x' $1
		return ;;
	esac
	IFS=:
	head=${1%%::*} tail=
	[ "$head" = "$1" ] || tail=${1#*::}
	# shellcheck disable=SC2206 # split at the colons
	head=($head) tail=($tail)
	for ((i = ${#head[@]} + ${#tail[@]}; i < 8; i++)); do
		words+=(0)
	done
	words=("${head[@]}" "${words[@]}" "${tail[@]}")
	printf -v gid '%04x:' "${words[@]/#/0x}"
	gid=${gid%:}
}

# gid_index DEVICE ADDRESS: the entry of the address, of RoCEv2 or of $gid_type
gid_index()
{
	local ports=/sys/class/infiniband/$1/ports/1 gid found type i

	# That of iWARP is the MAC, for all addresses.
	[ "$DEV" != siw ] || { echo 0; return; }
	gid_of "$2"
	for i in {0..31}; do
		read -r found <"$ports/gids/$i" || return
		[ "$found" = "$gid" ] || continue
		read -r type <"$ports/gid_attrs/types/$i" || continue
		[ "$type" = "${gid_type:-RoCE v2}" ] || continue
		echo "$i"
		return
	done 2>/dev/null
	return 1
}

srv_prefix=() cli_prefix=()
# "${as_nobody[@]}" COMMAND: without any privilege
as_nobody=(setpriv --reuid=65534 --regid=65534 --clear-groups)

# Do not use these for background jobs: $! of a function is a shell.
on_srv() { "${srv_prefix[@]}" "$@"; }
on_cli() { "${cli_prefix[@]}" "$@"; }

# side NAME NUMBER [NAMESPACE]: set up this end of the veth pair, with addresses
side()
{
	local name=$1 number=$2 prefix=() inside=()

	if [ -n "${3-}" ]; then
		ip netns add "$3"
		ip link set "veth-$name" netns "$3"
		prefix=(ip netns exec "$3") inside=(-n "$3")
	fi
	# One process for all: see gid_of.
	ip "${inside[@]}" -batch - <<-END
		link set lo up
		link set veth-$name mtu ${mtu:-4500}
		addr add 10.0.0.$number/24 dev veth-$name
		addr add fd00::$number/64 dev veth-$name nodad
		link set veth-$name up
	END
	declare -ga "${name}_prefix=(${prefix[*]})"
}

# set_rule -4|-6 RULE...: it may be there, since rules outlive a case in the initial
# namespace
set_rule()
{
	ip "$1" rule delete "${@:2}" 2>/dev/null || :
	ip "$1" rule add "${@:2}"
}

# with_rules: print -4, and -6 if the kernel has rules for IPv6
with_rules() { echo -4; ! ip -6 rule show >/dev/null 2>&1 || echo -6; }

# local_wire NETDEV NETDEV: accept packets between two netdevs of this namespace, and
# let rules with preferences below 1000 route packets between them
local_wire()
{
	local netdev v

	for v in $(with_rules); do
		set_rule "$v" preference 1000 lookup local
		ip "$v" rule delete preference 0 2>/dev/null || :
	done
	for netdev; do
		echo 1 >"/proc/sys/net/ipv4/conf/$netdev/accept_local"
		echo 0 >"/proc/sys/net/ipv4/conf/$netdev/rp_filter"
	done
	echo 0 >/proc/sys/net/ipv4/conf/all/rp_filter
}

# topology_initial FAMILY
topology_initial()
{
	local name v net=10.0.0.

	ip link add veth-srv type veth peer name veth-cli
	local_wire veth-srv veth-cli
	side srv 1
	side cli 2
	for v in $(with_rules); do
		[ "$v" = -4 ] || net=fd00::
		for name in srv cli; do
			set_rule "$v" preference 10 dev "veth-$name" lookup local
		done
		end_of_wire "$v" "${net}1" veth-cli "${net}2" 101
		end_of_wire "$v" "${net}2" veth-srv "${net}1" 102
	done
	add_link srv0 veth-srv
	add_link cli0 veth-cli
	srv_dev=srv0 cli_dev=cli0 srv_host=10.0.0.1
	family_of_both "$1"
	wait_until 5 ping -c 1 -W 1 -I "$cli_ip" "$srv_ip"
	[ "$(cat /sys/class/net/veth-cli/statistics/tx_packets)" != 0 ] ||
		fail 'packets do not cross the wire'
}

# end_of_wire -4|-6 ADDRESS NETDEV SOURCE TABLE: send to ADDRESS by NETDEV
end_of_wire()
{
	set_rule "$1" preference 100 to "$2" lookup "$5"
	ip "$1" route replace "$2" dev "$3" src "$4" table "$5"
}

add_hub()
{
	local name

	ip link add hub type bridge
	for name in srv cli; do
		ip link add "veth-$name" type veth peer name "port-$name"
		ip link set "port-$name" mtu "${mtu:-4500}" master hub up
	done
	ip link set hub up
}

# add_pair KIND: the netdevs of a topology of that name
add_pair()
{
	local name mode=bridge

	case $1 in
	bridge) add_hub ;;
	macvlan | ipvlan)
		[ "$1" = macvlan ] || mode=l2
		modprobe "$1"
		ip link add under type dummy
		ip link set under mtu "${mtu:-4500}" up
		for name in srv cli; do
			ip link add "veth-$name" link under type "$1" mode $mode
		done
		;;
	netkit)
		# An older ip cannot name the other end.
		ip link add veth-srv type netkit
		name=$(cat /sys/class/net/veth-srv/iflink)
		name=$(grep -lx "$name" /sys/class/net/*/ifindex)
		name=${name%/ifindex}
		ip link set "${name##*/}" name veth-cli
		;;
	*) ip link add veth-srv type veth peer name veth-cli ;;
	esac
}

# topology NAME [FAMILY]: see the head of this file. $mtu is the MTU of the netdevs.
topology()
{
	local srv_ns=srv cli_ns=cli

	srv_type=$DEV cli_type=$DEV
	case $DEV-$1 in
	*-nic | *-peer | *-initial) "topology_$1" "${2:-4}"; return ;;
	rxe-veth) topology_initial "${2:-4}"; return ;;
	esac
	case $1 in
	loop) srv_ns='' cli_ns='' ;;
	rxe-server) need_ornic; srv_ns='' srv_type=rxe ;;
	rxe-client) need_ornic; cli_ns='' cli_type=rxe ;;
	esac
	add_pair "$1"
	side srv 1 "$srv_ns"
	if [ "$1" = loop ]; then
		ip link set veth-cli up
	else
		side cli 2 "$cli_ns"
		type=$cli_type add_link cli0 veth-cli "${cli_prefix[@]}"
	fi
	type=$srv_type add_link srv0 veth-srv "${srv_prefix[@]}"
	srv_dev=srv0 cli_dev=cli0 srv_host=10.0.0.1
	[ "$1" != loop ] || cli_dev=srv0
	family_of_both "${2:-4}"
	[ "$1" = loop ] || reach_server
}

# topology_of_variant: the one that $VARIANT names, with IPv6 if it ends in -ipv6
topology_of_variant()
{
	case $VARIANT in
	*-ipv6) topology "${VARIANT%-ipv6}" 6 ;;
	*) topology "$VARIANT" 4 ;;
	esac
}

# Resolve the neighbour in advance: MODIFY_QP waits one second for it, which is too
# short on a busy host.
reach_server() { wait_until 5 on_cli ping -c 1 -W 1 "$srv_ip"; }

# sockets_at PID PORT COUNT: COUNT sockets listen on the TCP port in the namespace of
# PID. Starts no process, see gid_of; 0A is TCP_LISTEN of <net/tcp_states.h>.
sockets_at()
{
	local table port at state _ count=0

	printf -v port '%04X' "$2"
	for table in tcp tcp6; do
		while read -r _ at _ state _; do
			[[ $at$state != *:"${port}0A" ]] || count=$((count + 1))
		done <"/proc/$1/net/$table"
	done
	[ "$count" -ge "$3" ]
}

# listening PID PORT: a socket listens on the TCP port in the namespace of PID
listening()
{
	if srv_is_peer && [ "$1" != self ]; then
		"$peer" "listening self $2"
	else
		sockets_at "$1" "$2" 1
	fi
}

# listening_or_gone PID PORT
listening_or_gone() { listening "$1" "$2" || ! kill -0 "$1"; }

# await_server PID PORT COMMAND LINE: wait until the server listens; fail if it exits
await_server()
{
	(wait_until 30 listening_or_gone "$1" "$2") && listening "$1" "$2" && return
	tail -n 15 srv.out
	fail "does not listen on port $2: $3"
}

# run_pair SECONDS SERVER CLIENT: run two command lines, the client when the server
# listens on TCP port $port. Both must exit 0; with stays=1 the server is killed after
# the client instead. Output: srv.out, cli.out
run_pair()
{
	local limit=$(($1 * SCALE)) status=0 server

	# shellcheck disable=SC2086 # a list of words, here and below
	"${srv_prefix[@]}" timeout -s KILL "$limit" $2 >srv.out 2>&1 &
	server=$!
	await_server "$server" "${port:-18515}" "$2"
	# shellcheck disable=SC2086
	on_cli timeout -s KILL "$limit" $3 >cli.out 2>&1 || status=$?
	[ "$status${stays-}" = 0 ] || kill "$server" 2>/dev/null || :
	wait "$server" || [ "${stays-}" = 1 ] || status="$status, server $?"
	[ "$status" = 0 ] && return
	# Errors come first: standard error is not buffered.
	tail -n 40 srv.out cli.out
	fail "client status $status: $3"
}

# perftest PROGRAM [OPTIONS]: run both sides of a perftest program, with a limit of
# $seconds_max (60) seconds
perftest()
{
	local program=$1

	shift
	echo "$program $*"
	run_pair "${seconds_max:-60}" "$program -d $srv_dev -x $srv_gid -F $*" \
		"$program -d $cli_dev -x $cli_gid -F $* $srv_host"
}

# pingpong PROGRAM [OPTIONS]: run both sides of an example of ibverbs-utils
pingpong()
{
	local program=$1

	shift
	run_pair 30 "$program -d $srv_dev -g $srv_gid $*" \
		"$program -d $cli_dev -g $cli_gid $* $srv_host"
}

# verify [OPTIONS] [GROUP|TEST...]: ornic_verify from the client to the server; a short run
# on the debug kernel leaves out some path MTUs, as the stock kernel has all
verify()
{
	local few=()

	[ "$KERNEL$FULL" != debug0 ] || few=(--few-mtus)
	ornic_verify --client "$cli_dev:$cli_gid:$cli_type" \
		--server "$srv_dev:$srv_gid:$srv_type" "${few[@]}" "$@"
}

# live FULL-COUNT: READs, WRITEs and atomics to changing memory, from each side to the
# other; FULL-COUNT of each kind and size on a full run, else 1000
live()
{
	local program=ornic_live count=1000 limit=60

	[ "$FULL" != 1 ] || count=$1 limit=330
	run_pair "$limit" "$program $srv_dev $srv_gid $srv_type $count" \
		"$program $cli_dev $cli_gid $cli_type $count $srv_host"
	sed 's/^/client: /' cli.out
	sed 's/^/server: /' srv.out
}

# stat DEVICE NAME: print a hardware counter of `rdma statistic`
stat()
{
	local value

	read -r value <"/sys/class/infiniband/$1/ports/1/hw_counters/$2"
	echo "$value"
}

# carried srv|cli: print how many bytes that end has sent, with packets and without. Of
# devices without such counters, those that its netdev has sent
carried()
{
	local -n device=${1}_dev
	local at=at_srv

	[ "$1" = srv ] || at=
	if [ "$DEV" = ornic ]; then
		echo $(($($at stat "$device" tx_bytes) + $($at stat "$device" loop_bytes)))
	else
		"on_$1" cat "/sys/class/net/veth-$1/statistics/tx_bytes"
	fi
}

# carried_by_both: the bytes of both ends, since SMC has links over all devices that it finds
carried_by_both() { echo $(($(carried srv) + $(carried cli))); }

# carries BYTES BEFORE COMMAND...: more than that many since COMMAND, carried DEVICE or
# carried_by_both, printed BEFORE
carries() { [ $(($("${@:3}") - $2)) -gt "$1" ]; }

# with_netem OPTIONS COMMAND...: run it while netem does that to what both ends of the veth
# pair send; sets $dropped, how many packets it has dropped
with_netem()
{
	local end status=0

	dropped=0
	for end in srv cli; do
		# shellcheck disable=SC2086 # a list of words
		"on_$end" tc qdisc add dev "veth-$end" root netem $1
	done
	"${@:2}" || status=$?
	for end in srv cli; do
		dropped=$((dropped + $("on_$end" tc -s qdisc show dev "veth-$end" root |
			awk 'sub(/.*dropped /, "") { print $1 + 0 }')))
		"on_$end" tc qdisc del dev "veth-$end" root
	done
	return "$status"
}

# with_loss COMMAND...: while both ends lose 1 %
with_loss()
{
	with_netem 'loss 1%' "$@"
	[ "$dropped" -gt 0 ] || fail 'nothing was lost'
}

# resends DEVICE: print how often its QPs have sent something again
resends() { echo $(($(stat "$1" retries) + $(stat "$1" roce_adp_retrans))); }

# no_objects DEVICE: `rdma res` shows no objects of users
no_objects()
{
	local words kind

	read -r -a words < <(rdma res show "$1")
	for kind in cm_id mr ctx srq; do
		[[ " ${words[*]} " != *" $kind "[1-9]* ]] || return 1
	done
	no_qps "$1"
}

# no_qps DEVICE: but QP 1, which belongs to the kernel
no_qps()
{
	local words

	words=$(rdma res show "$1")
	[[ $words =~ ' qp '[01]' ' ]]
}

# family_of_both FAMILY: switch to the addresses and GIDs of that family
family_of_both()
{
	family=$1
	case $1 in
	4) srv_ip=10.0.0.1 cli_ip=10.0.0.2 ;;
	6) srv_ip=fd00::1 cli_ip=fd00::2 ;;
	esac
	# One device in one guest.
	if [ "$srv_dev" = "$cli_dev" ] && ! srv_is_peer; then
		[ "${MACHINES-1}" = 1 ] || srv_ip=$cli_ip
		cli_ip=$srv_ip
	fi
	wait_until 5 at_srv gid_index "$srv_dev" "$srv_ip"
	wait_until 5 gid_index "$cli_dev" "$cli_ip"
	srv_gid=$(at_srv gid_index "$srv_dev" "$srv_ip")
	cli_gid=$(gid_index "$cli_dev" "$cli_ip")
}

# poll_switch DEVICE: print the path of its poll_thread attribute
poll_switch()
{
	find "/sys/class/infiniband/$1/" -maxdepth 3 -name poll_thread | grep . ||
		fail "$1 has no poll_thread"
}

# busy_posting DEVICE: its counter of send WQEs increases
busy_posting()
{
	local before

	before=$(stat "$1" send_wqes)
	pause
	[ "$(stat "$1" send_wqes)" -gt "$before" ]
}

# start_traffic PORT [OPTIONS]: start an endless ib_write_bw; sets $srv_pid $cli_pid
start_traffic()
{
	local tcp=$1 options

	shift
	options="-x $srv_gid -F -s 4096 -p $tcp -D 600 $*"
	# shellcheck disable=SC2086 # a list of words
	"${srv_prefix[@]}" ib_write_bw -d "$srv_dev" $options >"srv.$tcp" 2>&1 &
	srv_pid=$!
	wait_until 20 listening "$srv_pid" "$tcp"
	options="-x $cli_gid -F -s 4096 -p $tcp -D 600 $*"
	# shellcheck disable=SC2086
	"${cli_prefix[@]}" ib_write_bw -d "$cli_dev" $options "$srv_host" >"cli.$tcp" 2>&1 &
	cli_pid=$!
}

# stop_traffic PID...: kill and reap the processes
stop_traffic()
{
	kill -9 "$@" 2>/dev/null || :
	wait "$@" 2>/dev/null || :
}
