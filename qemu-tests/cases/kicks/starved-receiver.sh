# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# shellcheck shell=bash
# This test will READ while a real-time task leaves the CPU where responses are
# received to the others for a fifth of the time only. What waits there is not lost, so the
# requester may ask for hardly anything again.

kernels=stock
cpus=2

reads=100

requires()
{
	need_ornic
}

hog()
{
	local end

	while :; do
		end=$((${EPOCHREALTIME/./} + 400000))
		while ((${EPOCHREALTIME/./} < end)); do :; done
		sleep 0.1
	done
}

run()
{
	local hog status=0 again

	topology veth
	export -f hog
	chrt -f 1 taskset -c 0 bash -c hog &
	hog=$!
	taskset -p -c 1 $BASHPID
	(perftest ib_read_bw -m 1024 -n "$reads") || status=$?
	kill "$hog"
	again=$(resends "$cli_dev")
	rdma statistic show link "$cli_dev"/1 || :
	echo "$reads READs, $again resends"
	[ "$status" = 0 ] && [ "$again" -le $((reads / 20)) ]
}
