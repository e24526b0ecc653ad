# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# shellcheck shell=bash
# Functions for cases in which the device goes away under programs that poll, read no
# events and have no time limit: they end only if what they have posted completes. Server
# and client of each are on one device.

# PIDs; the output of number N is poller.N
pollers=()
poller_port=18515

# start_poller COMMAND...: in the background
start_poller()
{
	local out=poller.${#pollers[@]}

	# The output of an earlier one is not to be read as if it were of this.
	: >"$out"
	stdbuf -oL "$@" >"$out" 2>&1 &
	pollers+=($!)
}

# poller_pair PROGRAM OPTION...: start both sides
poller_pair()
{
	local port=$((poller_port++))

	start_poller "$@" -p "$port"
	ln -sf "poller.$((${#pollers[@]} - 1))" srv.out
	await_server "${pollers[-1]}" "$port" "$*"
	start_poller "$@" -p "$port" "$srv_host"
}

# start_pollers: pingpongs and perftest; wait until each sends. A pingpong does so as soon
# as its QP is in RTS, perftest reports each second.
start_pollers()
{
	local program

	pollers=()
	for program in 'ibv_rc_pingpong' 'ibv_ud_pingpong' 'ibv_rc_pingpong -e'; do
		# shellcheck disable=SC2086 # a list of words
		poller_pair $program -d "$srv_dev" -g "$srv_gid" -n 1000000000
		wait_until 20 has_rts "${pollers[-2]}"
		wait_until 20 has_rts "${pollers[-1]}"
	done
	poller_pair ib_send_bw -d "$srv_dev" -x "$srv_gid" -F -s 4096 -D 1 \
		--run_infinitely
	wait_until 30 has_report "poller.$((${#pollers[@]} - 1))"
}

# has_rts PID: it has a QP in that state
has_rts() { rdma resource show qp | grep "state RTS .* pid $1 "; }

# has_report FILE: perftest has printed its first result
has_report() { grep -q '^ 4096 ' "$1"; }

# has_flush FILE: a completion with IBV_WC_WR_FLUSH_ERR, 5, was reported. The server of
# perftest does not print the status.
has_flush()
{
	grep -qi 'flush\|failed status 5\|completion with error in run_inf' "$1"
}

# has_refusal FILE: a post failed
has_refusal() { grep -qi "couldn't post" "$1"; }

# pollers_told: each ends by itself, with an error: a flush error of what it had posted, or
# its next post has failed, if it had just polled what was complete. The pingpong with
# events may find its event channel closed instead.
pollers_told()
{
	local i

	for i in "${!pollers[@]}"; do
		if ! (wait_until 10 ended "${pollers[i]}"); then
			tr '\0' ' ' <"/proc/${pollers[i]}/cmdline"
			kill -KILL "${pollers[@]}" 2>/dev/null || :
			fail "polls for ever: $(cat "poller.$i")"
		fi
		! wait "${pollers[i]}" || fail "no error: $(cat "poller.$i")"
		has_flush "poller.$i" || has_refusal "poller.$i" ||
			grep -q 'cq_event' "poller.$i" ||
			fail "ends without being told: $(cat "poller.$i")"
	done
}
