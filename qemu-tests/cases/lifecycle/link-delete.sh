# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# shellcheck shell=bash
# This test will delete the link under traffic, 20 times on a full run: this takes no
# time, the programs get errors and exit, and the link can be added again.

limit=300

requires()
{
	need_ornic
}

run()
{
	local lap

	topology veth
	for ((lap = 0; lap < $(times 20); lap++)); do
		start_traffic 18515
		wait_until 20 busy_posting "$cli_dev"
		if [ $((lap % 2)) = 0 ]; then
			ends_within 20 rdma link delete cli0
			[ ! -e /sys/class/infiniband/cli0 ] || fail 'the link is still there'
			stop_traffic "$srv_pid" "$cli_pid"
			add_link cli0 veth-cli "${cli_prefix[@]}"
		else
			ends_within 20 rdma link delete srv0
			[ ! -e /sys/class/infiniband/srv0 ] || fail 'the link is still there'
			stop_traffic "$srv_pid" "$cli_pid"
			add_link srv0 veth-srv "${srv_prefix[@]}"
		fi
		family_of_both 4
	done
	pingpong ibv_rc_pingpong -n 50
}
