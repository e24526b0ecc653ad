# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# shellcheck shell=bash
# This test will enable the tracepoints and send a known number of messages: the trace
# has all kicks, packets, ACKs and completions, and a retry when the peer stops.

limit=120

run()
{
	local name

	need_ornic
	topology veth # loads the module, and with it its tracepoints
	need_events ornic
	echo 1 >"$tracing/events/ornic/enable"
	perftest ib_write_lat -n 20 -s 64
	cat "$tracing/trace" >trace.out
	head -n 20 trace.out
	for name in kick tx rx completion; do
		grep -q "ornic_$name: veth-cli qpn=" trace.out ||
			fail "no ornic_$name"
	done
	grep -q 'ornic_ack: veth-.* syndrome=0x' trace.out || fail 'no ornic_ack'
	echo >"$tracing/trace"
	on_cli tc qdisc replace dev veth-cli root netem loss 5%
	perftest ib_write_bw -n 200 -s 4096
	grep -q 'ornic_retry: veth-' "$tracing/trace" || fail 'no ornic_retry'
	echo 0 >"$tracing/events/ornic/enable"
	echo >"$tracing/trace"
	on_cli tc qdisc del dev veth-cli root
	perftest ib_write_lat -n 20 -s 64
	! grep -q ornic_ "$tracing/trace" || fail 'traced while it is off'
}
