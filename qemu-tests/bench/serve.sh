# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# shellcheck shell=bash
# The server's half of a run of `make bench`, in this guest or its peer. Read
# after lib/guest.sh.

bench=/ornic/build/bench

# cpu_ticks: hundredths of a second that CPUs were busy since boot, in $ticks
cpu_ticks()
{
	local user nice system irq softirq _

	read -r _ user nice system _ _ irq softirq _ </proc/stat
	ticks=$((user + nice + system + irq + softirq))
}

# blink: let others run for a moment
blink() { read -r -t 0.02 <>/dev/ptmx || :; }

# starting SECONDS NAMESPACE PROGRAM...: $start begins its command, so that it
# ends in time and is in that namespace ("-": in this one); and $preload is for it
starting()
{
	start=("$bench/netns_run" "$1" "$2")
	preload=
	[[ $3 != ib_* ]] || preload=$bench/perftest_nosleep.so
}

# last_lines NUMBER FILE: in $lines, in one line
last_lines()
{
	local -a all=()

	[ ! -r "$2" ] || mapfile -t all <"$2"
	lines=${all[*]: -$1}
	[ ${#all[@]} -ge "$1" ] || lines=${all[*]}
}

# serve SECONDS PORT[/SOCKETS] NAMESPACE COMMAND...: says "ready PID" once it listens
# with so many of them (0: at once), and in the end "served STATUS TICKS" and what
# it has printed last
serve()
{
	local port=${2%/*} sockets=1 pid status=0 begun preload lines
	local -a start

	[[ $2 != */* ]] || sockets=${2#*/}
	starting "$1" "$3" "$4"
	shift 3
	cpu_ticks
	begun=$ticks
	# The namespace of $pid is where the port is looked for.
	LD_PRELOAD=$preload "${start[@]}" "$@" >srv.out 2>&1 &
	pid=$!
	until sockets_at "$pid" "$port" "$sockets"; do
		kill -0 "$pid" || break
		blink
	done 2>/dev/null
	# peer.sh holds back the last line that it has.
	printf 'ready %s\n-\n' "$pid"
	wait "$pid" 2>/dev/null || status=$?
	cpu_ticks
	last_lines 1 srv.out
	echo "served $status $((ticks - begun)) $lines"
}

# drop_other_providers: a program loads all that there are, which takes longer
# than most runs
drop_other_providers()
{
	local file

	for file in /etc/libibverbs.d/*.driver; do
		[[ $file = *@(ornic|rxe|siw).driver ]] || rm "$file"
	done
}

# add_rxe_wire NUMBER: rxe0 on the direct wire between two guests
add_rxe_wire()
{
	ip link set eth1 mtu 4500
	ip addr add "10.1.0.$1/24" dev eth1
	ip link set eth1 up
	type=rxe add_link rxe0 eth1
}
