# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# shellcheck shell=bash
# This test will enable the poll thread and run ib_write_bw: less than 1 % of the
# posts kick. Traffic also flows after it is disabled again.

limit=90
kernels='stock'

requires()
{
	need_ornic
}

run()
{
	local kicks posts

	topology veth
	echo 1 >"$(poll_switch "$cli_dev")"
	perftest ib_write_bw -s 4096 -n 5000
	kicks=$(stat "$cli_dev" kicks) posts=$(stat "$cli_dev" send_wqes)
	echo "$kicks kicks for $posts posts"
	[ "$posts" -ge 5000 ] || fail 'posts are not counted'
	[ $((kicks * 100)) -lt "$posts" ] || fail 'too many kicks'
	echo 0 >"$(poll_switch "$cli_dev")"
	perftest ib_write_bw -s 4096 -n 500
}
