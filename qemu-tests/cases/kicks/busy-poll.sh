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

# expect_kicks LEAST MOST POSTS WHAT: percent, in one of five runs. What is posted while
# the host has stopped a CPU whose worker has just taken the queue needs no kick.
expect_kicks()
{
	local try percent

	for try in 1 2 3 4 5; do
		percent=$(kicks_of "$3")
		[ "$percent" -lt "$1" ] || [ "$percent" -gt "$2" ] || return 0
	done
	fail "$percent % kick $4, in try $try"
}

# On a loaded host the two CPUs of a guest run alternately: the poll time must be
# longer than the time until the posting CPU runs again.
few_kicks()
{
	set_busy_poll 60000
	expect_kicks 0 49 60000 'with an idle CPU'
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
	local hogs=()

	topology loop
	few_kicks
	set_busy_poll 0
	expect_kicks 81 100 20000 'without busy polling'
	set_busy_poll 60000
	busy 0
	busy 1
	# Nothing polls.
	expect_kicks 51 100 20000 'on busy CPUs'
	kill "${hogs[@]}"
	few_kicks
}
