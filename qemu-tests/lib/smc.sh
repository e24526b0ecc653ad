# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# shellcheck shell=bash
# Streams of SMC-R, which are TCP's until both ends have found RDMA.

need_smc()
{
	need python3
	# With EIDs of a case before it would choose version 2.
	modprobe -r smc 2>/dev/null || :
	modprobe smc || skip 'the kernel lacks SMC'
}

# Nobody listens twice on a port: that of the stream before is in use for a minute.
port=18600

# smc_stream BYTES: they go to the server and back, and are right
smc_stream()
{
	port=$((port + 1))
	run_pair 60 "ornic_smc $port $1" "ornic_smc $port $1 $srv_ip"
}

# smc_carried COUNTER BYTES: a stream of that many goes both ways, and the client counts at
# least half of them there: packets go before the way is proven
smc_carried()
{
	local before

	before=$(stat cli0 "$1")
	smc_stream "$2"
	[ $(($(stat cli0 "$1") - before)) -ge $(($2 / 2)) ]
}

# over_rdma BYTES COMMAND...: it sends more than that over RDMA; SMC goes back to TCP without a
# word
over_rdma()
{
	local before

	before=$(carried_by_both)
	"${@:2}"
	carries "$1" "$before" carried_by_both || fail "not over RDMA: ${*:2}"
}

# It keeps the connections for ten minutes.
smc_close() { wait_until 10 modprobe -r smc; }
