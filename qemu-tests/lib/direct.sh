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

# seen BEFORE AFTER: traffic goes by packets from the command BEFORE to AFTER
seen()
{
	echo "$1"
	wait_until 5 in_memory
	eval "$1"
	wait_until 5 by_packets
	eval "$2"
	wait_until 5 in_memory
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
