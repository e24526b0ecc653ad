# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# shellcheck shell=bash
# Messages from the memory of cli0 to that of srv0, or by packets; beside lifecycle.sh.

# grows COUNTER MINIMUM: within 100 ms
grows()
{
	local before

	before=$(stat cli0 "$1")
	pause
	[ "$(stat cli0 "$1")" -ge $((before + $2)) ]
}

# Let messages take the way: a case may need more for that.
allow() { :; }

in_memory() { grows loop_bytes 8192; }

# Nothing goes otherwise for 300 ms, while packets do; a QP proves its
# way by one in 100 ms
by_packets()
{
	local before _

	before=$(stat cli0 loop_bytes)
	for _ in 1 2 3; do
		grows tx_packets 3 || return 1
	done
	[ "$(stat cli0 loop_bytes)" = "$before" ]
}

# seen BEFORE [NEXT...] AFTER: traffic, which is in memory, goes by packets from the command
# BEFORE to AFTER, and so it does after each NEXT. Prints when, since BEFORE began, the last
# message went without packets.
seen()
{
	local begin ended noting next

	echo "$1"
	note_messages &
	noting=$!
	begin=${EPOCHREALTIME/./}
	eval "$1"
	ended=${EPOCHREALTIME/./}
	wait_until 5 by_packets
	end "$noting"
	echo "  packets only after $((($(<last) - begin) / 1000)) ms, the command" \
		"took $(((ended - begin) / 1000)) ms"
	for next in "${@:2:$#-2}"; do
		echo "$next"
		eval "$next"
		wait_until 5 by_packets
	done
	eval "${!#}"
	wait_until 5 in_memory
}

# Write to the file last when the latest message went from memory to memory, until it is killed
note_messages()
{
	local bytes before=''

	while :; do
		read -r bytes </sys/class/infiniband/cli0/ports/1/hw_counters/loop_bytes
		if [ "$bytes" != "$before" ]; then
			before=$bytes
			echo "${EPOCHREALTIME/./}" >last
		fi
		read -r -t 0.005 <>/dev/ptmx || :
	done
}

# available COMMAND...: it succeeds, or the log says what is left out
available()
{
	"$@" >available.out 2>&1 && return
	echo "left out, since this fails: $* $(head -n 1 available.out)"
	return 1
}

# has_bpf KIND: the kernel has programs of that kind, or the log says that it does not
has_bpf()
{
	local status=0

	ornic_bpf "$1" >bpf.out 2>&1 || status=$?
	case $status in
	0) return ;;
	77) echo "left out: $1, $(<bpf.out)" ;;
	*) fail "ornic_bpf $1: $(<bpf.out)" ;;
	esac
	return 1
}

# begin_bpf KIND NETDEV [PREFIX...]: a program of ornic_bpf there passes all packets, until
# end_bpf
begin_bpf()
{
	: >bpf.out
	"${@:3}" ornic_bpf "$1" "$2" >bpf.out 2>&1 &
	bpf=$!
	wait_until 10 [ -s bpf.out ]
	[[ $(<bpf.out) == attached* ]] || fail "$(<bpf.out)"
}

end_bpf()
{
	kill -0 "$bpf" || fail "$(<bpf.out)"
	end "$bpf"
}

# counting FAMILY HOOK NETDEV: print a rule for nft which counts and accepts packets of RoCE; a
# hook of the family netdev is on that one
counting()
{
	local device=

	[ "$1" != netdev ] || device="device $3"
	echo "table $1 t {
		chain c {
			type filter hook $2 $device priority 0
			udp dport 4791 counter accept
		}
	}"
}

# has_counting FAMILY HOOK: the kernel has such rules
has_counting() { nft -c "$(counting "$@" lo)"; }

# count_by OLD NEW HOOK NETDEV [PREFIX...]: from the rule of one family, which has counted, to
# that of the other in one step; either may be none. That of ip6 has nothing to count.
count_by()
{
	local script=

	if [ "$1" != none ]; then
		[[ $1 == ip6 || $("${@:5}" nft list table "$1" t) == *'counter packets '[1-9]* ]] ||
			fail "no packet was counted by $1 $3"
		script="delete table $1 t;"
	fi
	[ "$2" = none ] || script+=$(counting "${@:2:3}")
	"${@:5}" nft "$script"
}

has_tc() { modprobe -aq sch_ingress cls_matchall; }

# begin_matching NETDEV [PREFIX...]: filters of tc match all packets of both directions
begin_matching()
{
	local hook

	"${@:2}" tc qdisc add dev "$1" clsact
	for hook in ingress egress; do
		"${@:2}" tc filter add dev "$1" $hook matchall classid 1:1
	done
}

# end_matching NETDEV [PREFIX...]: each has matched some
end_matching()
{
	local hook

	for hook in ingress egress; do
		[[ $("${@:2}" tc -s filter show dev "$1" $hook) == *'rule hit '[1-9]* ]] ||
			fail "nothing was matched by the $hook filter"
	done
	"${@:2}" tc qdisc del dev "$1" clsact
}

# The way changes every few milliseconds, at either end, until it is stopped.
change_often()
{
	local value

	while :; do
		for value in 0 1; do
			echo "$value" >/sys/class/infiniband/srv0/direct
			sleep 0.003
			echo "$value" >/sys/class/infiniband/cli0/direct
			sleep 0.003
		done
	done
}

# Bytes, order and completions of all verbs, while the way changes
verified_meanwhile()
{
	local changes messages packets

	messages=$(stat cli0 loop_msgs) packets=$(stat cli0 tx_packets)
	change_often &
	changes=$!
	if [ "$KERNEL" = debug ]; then
		verify order live
	else
		verify order transfer srq xrc tags live
	fi
	end "$changes"
	echo 1 >/sys/class/infiniband/srv0/direct
	echo 1 >/sys/class/infiniband/cli0/direct
	counted cli0 loop_msgs $((messages + 100)) || fail 'not in memory'
	counted cli0 tx_packets $((packets + 100)) || fail 'not by packets'
}

# begin_verified: SENDs of which every byte and completion is verified, until end_verified
begin_verified()
{
	rm -f over
	resent=$(resends cli0)
	STEADY_UNTIL=over verify steady_send >cli.out 2>&1 &
	verified=$!
	wait_until 20 busy_posting cli0
	wait_until 5 in_memory
}

end_verified()
{
	kill -0 "$verified" || fail 'the traffic has ended'
	touch over
	wait "$verified" || fail 'bytes or completions were lost'
	grep '^# ' cli.out
	echo "sent again: $(($(resends cli0) - resent)) times"
}

# is_blocked RESENDS: nothing arrives for 300 ms, though more than RESENDS were sent again
is_blocked()
{
	local before

	before=$(arrived)
	pause
	pause
	pause
	[ "$(arrived)" = "$before" ] && [ "$(resends cli0)" -gt "$1" ]
}

# What srv0 has got from the memory of cli0, and by packets
arrived() { echo "$(stat cli0 loop_bytes) $(stat srv0 rx_packets)"; }

# blocked_by COMMAND...: traffic goes neither way after it. ACK timeouts double, so that
# there may be one packet in seconds.
blocked_by()
{
	local resent

	echo "blocked by $*"
	wait_until 10 in_memory
	resent=$(resends cli0)
	"$@"
	wait_until 10 is_blocked "$resent"
}

# removal COUNT: either device goes under traffic of both directions, over IPv4 and IPv6
removal()
{
	local end i family

	for ((i = 0; i < $1; i++)); do
		family=4
		for end in srv cli; do
			traffic ib_write_bw -b -s 4096
			wait_until 5 in_memory
			del_link ${end}0
			wait_until 5 gone ${end}0
			stop_traffic
			local -n prefix=${end}_prefix
			add_link ${end}0 "veth-$end" "${prefix[@]}"
			allow
			family=$((10 - family))
			family_of_both "$family"
			reach_server
		done
	done
}
