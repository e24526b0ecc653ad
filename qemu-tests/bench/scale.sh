# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# shellcheck shell=bash
# Runs of `make bench` that are not of perftest: both ends are one program, or
# those of rdmacm-utils. Read after lib/guest.sh and serve.sh, by guest.sh, whose
# variables say where the peer is.

# values SECONDS COMMAND...: objects.cc on the server's device, whose lines "NAME
# VALUE" become $numbers; sets $status
values()
{
	local limit=$1 name value preload lines
	local -a start

	shift
	status=ok numbers=''
	starting "$limit" "$srv_ns" objects
	"${start[@]}" "$bench/objects" "$srv_device" "$srv_gid" "$@" \
		>cli.out 2>&1 || status=$?
	if [ "$status" != ok ]; then
		last_lines 3 cli.out
		note "$name_of_peer: objects $* : $status: $lines"
		return
	fi
	while read -r name value; do
		numbers+="$name=$value "
	done <cli.out
}

# connections SECONDS COUNT: cmtime, each step of that many at a time; the rate is
# of all steps up to connect. Its server says what failed, but not by its status.
connections()
{
	local limit=$1 count=$2 port=$((18000 + runs % 2000)) pid preload lines
	local -a start

	status=ok numbers=''
	starting "$limit" "$srv_ns" cmtime
	"${start[@]}" cmtime -b "$rdma_host" -p "$port" -c "$count" >srv.out 2>&1 &
	pid=$!
	until rdma res show cm_id | grep -q "LISTEN .*:$port "; do
		kill -0 "$pid" || break
		blink
	done 2>/dev/null
	starting "$limit" "$cli_ns" cmtime
	"${start[@]}" cmtime -s "$rdma_host" -p "$port" -c "$count" \
		>cli.out 2>&1 || status=$?
	{ kill "$pid" && wait "$pid"; } 2>/dev/null
	! grep -q fail srv.out || status=server
	if [ "$status" != ok ]; then
		last_lines 2 srv.out
		note "$name_of_peer: cmtime: $status: $lines"
		return
	fi
	numbers=$(awk -F : -v "count=$count" '
		/^(create id|resolve addr|resolve route|create qp|connect) *:/ {
			split($2, value, " ")
			ms += value[1]
		}
		END { if (ms) printf "cm-connect=%.1f", count * 1000 / ms }' cli.out)
	[ -n "$numbers" ] || status=no-result
}

# among_idle SECONDS QPS COMMAND...: a pair of perftest while so many QPs of its
# device do nothing; sets $status $numbers $busy
among_idle()
{
	local limit=$1 qps=$2 said='' pid preload
	local -a start

	shift 2
	starting $((limit * 2)) "$srv_ns" objects
	: >idle.out
	exec 7> >(exec "${start[@]}" "$bench/objects" "$srv_device" "$srv_gid" \
		idle "$qps" >idle.out 2>&1)
	pid=$!
	until read -r said <idle.out; do
		kill -0 "$pid" || break
		blink
	done 2>/dev/null
	if [ "$said" = "idle $qps" ]; then
		pair "$limit" "$@"
	else
		status=no-idle-qps numbers='' busy=0
		note "$name_of_peer: idle $qps: $said"
	fi
	exec 7>&-
	wait "$pid"
}
