#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#
# The guest's part of `make bench-count`. Prints "count PEER ROW PROGRAM NUMBER...": what
# perftest prints, with the peers of `make bench`. The clock is the guest's instructions.
set -eu

tests=/ornic/qemu-tests
# shellcheck source=qemu-tests/lib/guest.sh
. "$tests/lib/guest.sh"
DEV=ornic

# measure PEER ROW PROGRAM OPTIONS...
measure()
{
	local cli_dev=$cli_dev cli_gid=$cli_gid cli_prefix=("${cli_prefix[@]}")
	local label="$1 $2 $3"

	[ "$1" != ornic-loop ] ||
		cli_dev=$srv_dev cli_gid=$srv_gid cli_prefix=("${srv_prefix[@]}")
	shift 2
	perftest "$@"
	awk -v label="$label" '/^ *[0-9]+ +[0-9]+ +[0-9.]+ / { print "count", label, $0 }' cli.out
}

# short_messages PEER [odp]: with memory on demand, of which there are more, since the first
# wait for pages. What waits does so for events: with one CPU, programs that poll take turns.
short_messages()
{
	local count=10000 odp=${2-}

	[ -z "$odp" ] || count=20000
	measure "$1" "write-8${odp:+-odp}" ib_write_bw -s 8 -n "$count" ${odp:+--odp}
	measure "$1" "read-8${odp:+-odp}" ib_read_bw -e -s 8 -n "$count" ${odp:+--odp}
	# perftest refuses atomics on such memory.
	[ "$odp" ] || measure "$1" atomic ib_atomic_bw -e -n 10000
	measure "$1" "turn-8${odp:+-odp}" ib_send_lat -e -s 8 -n 2000 ${odp:+--odp}
	measure "$1" "turn-4k${odp:+-odp}" ib_send_lat -e -s 4096 -n 2000 ${odp:+--odp}
}

# long_messages PEER [odp]: in packets only: what a copy costs depends on where the pages are.
# ib_write_bw polls: after it has waited for a page it may take turns with a worker.
long_messages()
{
	local count=500 odp=${2-}

	[ -z "$odp" ] || count=2000
	[ "$odp" ] || measure "$1" write-64k ib_write_bw -s 65536 -n 500
	measure "$1" "read-64k${odp:+-odp}" ib_read_bw -e -s 65536 -n "$count" ${odp:+--odp}
	measure "$1" "send-64k${odp:+-odp}" ib_send_bw -e -s 65536 -n "$count" ${odp:+--odp}
}

echo "note kernel $(uname -r)"
mtu=4500
topology veth
short_messages ornic-veth
long_messages ornic-veth
short_messages ornic-veth odp
long_messages ornic-veth odp
measure ornic-veth ud-turn-8 ib_send_lat -c UD -e -s 8 -n 2000
short_messages ornic-loop
short_messages ornic-loop odp
measure ornic-loop ud-turn-8 ib_send_lat -c UD -e -s 8 -n 2000
for device in srv0 cli0; do
	echo 1 >/sys/class/infiniband/$device/direct
done
short_messages ornic-direct
