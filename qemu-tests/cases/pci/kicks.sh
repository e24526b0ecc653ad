# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# shellcheck shell=bash
# This test will run ib_write_bw between two guests: posting and polling take no system
# calls, and less than 1 % of the posts kick.

machines=nic+nic
limit=180
kernels='stock'

requires()
{
	need_ornic
	need ib_write_bw strace
}

# calls OPTIONS: print the number of system calls of the client
calls()
{
	run_pair 60 "ib_write_bw -d $srv_dev -x $srv_gid -F $1" \
		"strace -f -c -U calls,name -o trace ib_write_bw -d $cli_dev -x $cli_gid -F $1 $srv_host"
	awk '$2 == "total" { print $1 }' trace
}

# few_kicks: less than 1 % of the posts of a run kick
few_kicks()
{
	local kicks posts

	kicks=$(nic_stat 0 kicks) posts=$(nic_stat 0 send_wqes)
	perftest ib_write_bw -D "$(times 10)"
	kicks=$(($(nic_stat 0 kicks) - kicks))
	posts=$(($(nic_stat 0 send_wqes) - posts))
	echo "$kicks kicks for $posts posts"
	[ "$posts" -ge 1000 ] || fail 'posts are not counted'
	[ $((kicks * 100)) -lt "$posts" ]
}

run()
{
	local few many

	topology peer
	few=$(calls '-n 100')
	many=$(calls "-D $(times 10)")
	echo "$few calls for 100 messages, $many for $(times 10) s"
	cat trace
	[ "$((many - few))" -lt 50 ] || fail 'there are system calls on the data path'
	# While the CPU is contended, the device sleeps instead of polling: retry.
	few_kicks || few_kicks || few_kicks || fail 'too many kicks'
}
