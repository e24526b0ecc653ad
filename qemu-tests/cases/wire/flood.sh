# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# shellcheck shell=bash
# This test will send packets of long messages to all QPs, from an address that no QP
# is connected to: none is passed to a worker. QPs transfer long messages at the same
# time.

limit=150
kernels='stock'
event=workqueue/workqueue_execute_start

requires()
{
	need_ornic
	[ "$(nproc)" -gt 1 ] || skip 'needs two CPUs'
	need_events $event
}

# flood COUNT: send RC SEND FIRST and MIDDLE packets, COUNT rounds; 0: forever
flood()
{
	local qpns

	qpns=$(rdma res show qp link "$srv_dev" | grep -o 'lqpn [0-9]*')
	exec "${cli_prefix[@]}" python3 -c 'import itertools, socket, struct, sys
sock = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
sock.bind(("10.0.0.66", 0))
rounds = int(sys.argv[1])
qpns = [int(word) for word in sys.argv[2].split() if word.isdigit()]
for _ in range(rounds) if rounds else itertools.count():
    for opcode, qpn in itertools.product((0, 1), qpns):
        bth = struct.pack(">BBHII", opcode, 0x40, 0xffff, qpn, 0)
        sock.sendto(bth + bytes(1024), ("10.0.0.1", 4791))' "$1" "$qpns"
}

# of_worker: print how often a worker received since the trace was cleared
of_worker()
{
	grep -c 'function rx_work \[ornic_soft\]' "$tracing/trace" || true
}

run()
{
	local traffic before

	topology veth
	on_cli ip addr add 10.0.0.66/24 dev veth-cli
	# QPs of the server for the flood
	start_traffic 18600
	wait_until 20 busy_posting "$cli_dev"
	stop_traffic "$cli_pid"
	before=$(stat "$srv_dev" rx_packets)
	echo >"$tracing/trace"
	echo 1 >"$tracing/events/$event/enable"
	(flood 200)
	echo 0 >"$tracing/events/$event/enable"
	[ "$(stat "$srv_dev" rx_packets)" -ge $((before + 400)) ] ||
		fail 'the flood did not arrive'
	[ "$(of_worker)" = 0 ] || fail 'packets of unconnected senders went to a worker'
	stop_traffic "$srv_pid"

	flood 0 &
	traffic=$!
	perftest ib_write_bw -s 65536 -n 500
	perftest ib_send_bw -s 65536 -n 500
	kill $traffic
}
