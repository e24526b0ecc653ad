# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# shellcheck shell=bash
# This test will check the counters of traffic of known size: those of the port, of QPs
# bound by type or by number, and optional ones. The counts of a QP stay in the port's
# counters when the QP is destroyed.

limit=120

# count KIND DEVICE NAME: print that counter of `rdma statistic KIND show`
count()
{
	local words

	words=$(rdma statistic ${1:+"$1"} show link "$2/1") || fail "statistic $2"
	words=${words//$'\n'/ }
	[[ " $words " =~ \ $3\ ([0-9]+)\  ]] || return 1
	echo "${BASH_REMATCH[1]}"
}

moves() { [ "$(count qp "$1" "$2")" -gt "$3" ]; }

# expect DEVICE NAME BEFORE DELTA
expect()
{
	local now

	now=$(count '' "$1" "$2") || fail "$1 has no $2"
	[ "$((now - $3))" = "$4" ] || fail "$1 $2: $((now - $3)), not $4"
}

by_type()
{
	local wqes bytes again

	rdma statistic qp set link cli0/1 auto type on
	rdma statistic qp mode link cli0/1 | grep -q 'auto type on' || fail mode
	wqes=$(count '' cli0 send_wqes) bytes=$(count '' cli0 tx_bytes)
	again=$(resends cli0)
	perftest ib_write_bw -n 1000 -s 4096
	expect cli0 send_wqes "$wqes" 1000
	# A packet that is sent again, as it is on a busy host, counts as well.
	if [ "$(resends cli0)" = "$again" ]; then
		expect cli0 tx_bytes "$bytes" 4096000
	else
		[ "$(count '' cli0 tx_bytes)" -ge $((bytes + 4096000)) ] ||
			fail 'resends without bytes'
	fi
	start_traffic 18600
	wait_until 20 moves cli0 send_wqes 100
	rdma statistic qp show link cli0/1
	stop_traffic "$cli_pid" "$srv_pid"
	[ -z "$(rdma statistic qp show link cli0/1)" ] || fail 'a QP that is gone'
	rdma statistic qp set link cli0/1 auto off
}

by_number()
{
	local qpn counter

	start_traffic 18601
	wait_until 20 busy_posting cli0
	qpn=$(rdma res show qp link cli0/1 | sed -n 's/.*lqpn \([0-9]*\) .*type RC.*/\1/p' | head -n 1)
	rdma statistic qp bind link cli0/1 lqpn "$qpn"
	wait_until 20 moves cli0 tx_packets 100
	counter=$(count qp cli0 cntn)
	rdma statistic qp show link cli0/1 cntn "$counter" | grep -q "$qpn" ||
		fail "counter $counter does not name QP $qpn"
	! rdma statistic qp bind link cli0/1 lqpn "$qpn" || fail 'bound twice'
	rdma statistic qp unbind link cli0/1 cntn "$counter" lqpn "$qpn"
	[ -z "$(rdma statistic qp show link cli0/1)" ] || fail 'still bound'
	stop_traffic "$cli_pid" "$srv_pid"
}

optional()
{
	local before

	rdma statistic mode supported link srv0/1 | grep -q cc_rx_ce_pkts ||
		fail 'no optional counters'
	! count '' srv0 rx_write_requests || fail 'an optional counter is shown'
	rdma statistic set link srv0/1 optional-counters \
		rx_write_requests,rx_send_requests
	before=$(count '' srv0 rx_write_requests)
	perftest ib_write_bw -n 500 -s 4096
	expect srv0 rx_write_requests "$before" 500
	before=$(count '' srv0 rx_send_requests)
	perftest ib_send_bw -n 500 -s 4096
	expect srv0 rx_send_requests "$before" 500
	rdma statistic unset link srv0/1 optional-counters
	! count '' srv0 rx_write_requests || fail 'it is still shown'
}

run()
{
	need_ornic
	topology veth
	by_type
	by_number
	optional
}
