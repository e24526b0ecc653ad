# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# shellcheck shell=bash
# Functions for cases of lifecycle: traffic that runs until it is stopped.

trap '[ $? = 0 ] || tail -n 8 srv.out cli.out 2>/dev/null || :' EXIT

# counted DEVICE NAME NUMBER: the hardware counter is above NUMBER
counted() { [ "$(stat "$1" "$2")" -gt "$3" ]; }

# flowing: wait until the client sends
flowing()
{
	wait_until 10 counted "$cli_dev" send_wqes \
		"$(stat "$cli_dev" send_wqes)"
}

# traffic PROGRAM [OPTIONS]: start both sides of a perftest program, $srv_pid and
# $cli_pid, and wait until it sends
traffic()
{
	local program=$1 before length=(-D 600)

	shift
	# perftest cannot have both a duration and events.
	[[ " $* " != *' -e '* ]] || length=(-N -n 5000000)
	before=$(stat "$cli_dev" send_wqes)
	"${srv_prefix[@]}" "$program" -d "$srv_dev" -x "$srv_gid" -F \
		"${length[@]}" "$@" >srv.out 2>&1 &
	srv_pid=$!
	wait_until 10 listening "$srv_pid" 18515
	"${cli_prefix[@]}" "$program" -d "$cli_dev" -x "$cli_gid" -F \
		"${length[@]}" "$@" "$srv_host" >cli.out 2>&1 &
	cli_pid=$!
	wait_until 20 counted "$cli_dev" send_wqes "$before"
}

# end PID: kill and reap a child
end()
{
	kill -KILL "$1" 2>/dev/null || :
	wait "$1" 2>/dev/null || :
}

stop_traffic() { end "$cli_pid"; end "$srv_pid"; }

gone() { [ ! -e "/sys/class/infiniband/$1" ]; }

# users DEVICE: print the object counts of `rdma res`
users() { rdma res show "$1"; }

same_users() { [ "$(users "$1")" = "$2" ]; }

# refused ERROR COMMAND...: the command must fail and print ERROR
refused()
{
	local error=$1

	shift
	! "$@" >refused.out 2>&1 || fail "not refused: $*"
	cat refused.out
	grep -q "$error" refused.out || fail "refused without '$error': $*"
}
