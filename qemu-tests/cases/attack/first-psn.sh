# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# shellcheck shell=bash
# This test will show that the first PSNs of connections of rdma_cm are spread over all
# of 24 bits.

limit=120

requires()
{
	need_ornic
	# shellcheck source=qemu-tests/lib/rdmacm.sh
	. /ornic/qemu-tests/lib/rdmacm.sh
	need_rdmacm
}

# first_psns: print how many values the high 8 bits of the PSNs of 50 connections have
first_psns()
{
	rdma res show qp link "$srv_dev/1" | awk '
		/type RC/ && match($0, /sq-psn [0-9]+/) {
			high[int(substr($0, RSTART + 7, RLENGTH - 7) / 65536)] = 1
			qps++
		}
		END { print qps < 50 ? 0 : length(high) }'
}

# By chance 45 of 256 differ, and hardly ever fewer than 30.
are_spread() { [ "$(first_psns)" -ge 30 ]; }

run()
{
	local pids

	rdmacm_topology veth
	"${srv_prefix[@]}" ucmatose -b "$srv_ip" -c 50 -C 20000 -S 64 >srv.out 2>&1 &
	pids=$!
	wait_until 10 cm_listening 7471
	"${cli_prefix[@]}" ucmatose -s "$srv_ip" -c 50 -C 20000 -S 64 >cli.out 2>&1 &
	pids+=" $!"
	wait_until 20 are_spread
	echo "50 connections: $(first_psns) of 256 values of the high bits"
	# shellcheck disable=SC2086 # a list of words
	stop_traffic $pids
}
