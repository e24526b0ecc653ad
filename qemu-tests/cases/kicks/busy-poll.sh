# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# shellcheck shell=bash
# This test will post one message after another: with an idle CPU less than half of the
# posts kick; without one, or with busy_poll_us=0, nearly all do.

limit=150
kernels='stock'

requires()
{
	need_ornic
	[ "$(nproc)" -gt 1 ] || skip 'needs two CPUs'
}

# kicks_of POSTS: run ib_write_bw and print the percentage of posts that kick
kicks_of()
{
	local kicks posts

	kicks=$(stat "$cli_dev" kicks) posts=$(stat "$cli_dev" send_wqes)
	perftest ib_write_bw -s 64 -n "$1" -N >&2
	kicks=$(($(stat "$cli_dev" kicks) - kicks))
	posts=$(($(stat "$cli_dev" send_wqes) - posts))
	echo "$kicks kicks for $posts posts" >&2
	[ "$posts" -ge "$1" ] || fail 'posts are not counted'
	echo $((kicks * 100 / posts))
}

# On a loaded host the two CPUs of a guest run alternately: the poll time must be
# longer than the time until the posting CPU runs again.
few_kicks()
{
	local try percent

	set_busy_poll 60000
	for try in 1 2 3 4 5; do
		percent=$(kicks_of 60000)
		[ "$percent" -ge 50 ] || return 0
	done
	fail "$percent % kick with an idle CPU, in try $try"
}

# On busy CPUs nothing polls. What was posted while the host has stopped a CPU whose worker
# has just taken the queue needs no kick either.
busy_kicks()
{
	local try percent

	for try in 1 2 3; do
		percent=$(kicks_of 20000)
		[ "$percent" -le 50 ] || return 0
	done
	fail "$percent % kick on busy CPUs, in try $try"
}

# set_busy_poll US: of the device that posts
set_busy_poll()
{
	find "/sys/class/infiniband/$cli_dev/" -maxdepth 1 -name busy_poll_us |
		grep -q . || fail "$cli_dev has no busy_poll_us"
	echo "$1" >"/sys/class/infiniband/$cli_dev/busy_poll_us"
}

busy()
{
	taskset -c "$1" bash -c 'while :; do :; done' &
	hogs+=($!)
}

run()
{
	local hogs=() percent

	topology loop
	few_kicks
	set_busy_poll 0
	percent=$(kicks_of 20000)
	[ "$percent" -gt 80 ] || fail "$percent % kick without busy polling"
	set_busy_poll 60000
	busy 0
	busy 1
	busy_kicks
	kill "${hogs[@]}"
	few_kicks
}
