# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# shellcheck shell=bash
# This test will kill -9 the client or the server of busy pairs, five pairs at a time:
# 50 kills on a full run. No QP is left in `rdma res`.

limit=400
direct=1

requires()
{
	need_ornic
}

# kill_round LAP: kill one side of five pairs, and then the other one. On the debug
# kernel only two pairs, except on a full run.
kill_round()
{
	local i victims=() others=() pairs=5

	[ "$KERNEL$FULL" != debug0 ] || pairs=2
	for ((i = 0; i < pairs; i++)); do
		start_traffic $((18515 + i))
		if [ $((($1 + i) % 2)) = 0 ]; then
			victims+=("$srv_pid") others+=("$cli_pid")
		else
			victims+=("$cli_pid") others+=("$srv_pid")
		fi
	done
	wait_until 20 busy_posting "$cli_dev"
	kill -9 "${victims[@]}"
	wait "${victims[@]}" 2>/dev/null || :
	stop_traffic "${others[@]}"
	wait_until 10 no_objects "$srv_dev"
	wait_until 10 no_objects "$cli_dev"
}

run()
{
	local lap

	topology veth
	for ((lap = 0; lap < $(times 10); lap++)); do
		kill_round "$lap"
	done
	pingpong ibv_rc_pingpong -n 50
}
