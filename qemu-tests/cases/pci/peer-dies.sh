# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# shellcheck shell=bash
# This test will kill and reboot one of two guests of a process, under traffic between
# them: other traffic of the remaining guest continues.

machines=nic+nic
limit=300
full_limit=3600

# shellcheck source=qemu-tests/lib/nic_life.sh
. /ornic/qemu-tests/lib/nic_life.sh

requires() { need_ornic; }

peer_is_down() { ! timeout 1 "$peer" true; }

# connected N: this guest has N connected QPs
connected() { [ "$(rdma res show qp link ornic0 state RTS | wc -l)" -ge "$1" ]; }

# Traffic within this guest
start_own()
{
	(
		srv_prefix=()
		topology nic
		start_traffic "$1"
		echo "$srv_pid $cli_pid" >own
		wait
	) >own.log 2>&1 &
	wait_until 30 test -s own
}

run()
{
	local pid pids=() round rounds

	# Twenty of each kind on a full run.
	rounds=$(times 20)
	[ "$FULL" != 1 ] || rounds=40
	for ((round = 1; round <= rounds; round++)); do
		topology peer
		start_traffic $((20000 + round))
		# Before other traffic uses the device. A client would wait for
		# the socket of its server forever.
		wait_until 20 busy_posting ornic0
		rm -f own
		start_own $((21000 + round))
		read -r -a pids <own
		wait_until 20 connected 3
		if ((round % 2)); then
			host kill-peer
			host start-peer
		else
			# A dead guest does not close its connections.
			timeout 5 "$peer" busybox reboot -f || :
			wait_until 20 peer_is_down
		fi
		wait_until 30 traffic_ended
		stop_traffic "$srv_pid" "$cli_pid"
		for pid in "${pids[@]}"; do
			kill -0 "$pid" || fail 'other traffic has ended'
		done
		wait_until 5 busy_posting ornic0
		kill -9 "${pids[@]}" || :
		wait_until 90 peer_answers
		wait_until 30 works_again peer
	done
}
