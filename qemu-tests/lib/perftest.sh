# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# shellcheck shell=bash
# Functions for cases with perftest.

# perftest_events PROGRAM [OPTIONS]: run it with -e. The latency programs have SQs and
# send CQs with one entry. If the message of the peer arrives before the ACK, which is
# legal, ornic fails the next post, and rxe drops a completion ("queue full") and
# waits forever, also between two QPs of rxe. This happens about once in 1000 runs
# with rxe: retry then.
perftest_events()
{
	local seconds_max=60 try

	if [ "$srv_type" != "$cli_type" ]; then
		seconds_max=15
		for try in {1..9}; do
			(perftest "$@" -e) && return
			echo "try $try: a message arrived before the ACK"
		done
	fi
	perftest "$@" -e
}

# perftest_selection: run each operation and each option once
perftest_selection()
{
	local qps=16

	# With 16 QPs rxe stalls for seconds on a loaded host.
	[ "$srv_type" = "$cli_type" ] || [ "$FULL" = 1 ] || qps=4
	perftest ib_write_bw -D "$(times 5)"
	perftest ib_send_bw -b -q "$qps" -n 200
	perftest ib_read_bw -n 200
	perftest ib_atomic_bw -n 200
	if [ "$srv_type" = "$cli_type" ]; then
		perftest ib_send_lat -c UD -e -n 200
	else
		# Not its CQ of one entry, see perftest_events.
		perftest ib_send_bw -c UD -e -n 200
	fi
	perftest ib_write_lat -c UC -I 64 -s 64 -n 200
	perftest ib_send_bw --use-srq -q 4 -n 200
}

# perftest_more: run the programs and transports that are not in the selection
perftest_more()
{
	perftest ib_write_lat -n 200
	perftest ib_send_lat -I 64 -s 64 -n 200
	perftest ib_read_lat -n 200
	perftest ib_atomic_lat -n 200
	perftest ib_write_bw -a -n 5
	perftest_events ib_send_bw -n 200
	perftest ib_send_bw -c UC -n 200
	perftest_xrc
}

# perftest_xrc: run each operation over XRC
perftest_xrc()
{
	local operation

	has_xrc || return 0
	for operation in send write read atomic; do
		perftest "ib_${operation}_bw" -c XRC -n 200
	done
	perftest ib_send_lat -c XRC -n 200
	perftest ib_send_bw -c XRC -e -q 4 -n 200
}

# has_xrc: both ends support XRC, unlike rxe
has_xrc() { [ "$cli_type" != rxe ] && [ "$srv_type" != rxe ]; }

# transports OPERATION: print the transports that support it
transports()
{
	has_xrc && echo XRC
	case $1 in
	send) echo RC UC UD ;;
	write) echo RC UC ;;
	*) echo RC ;;
	esac
}

# perftest_options PROGRAM TRANSPORT: run it with each option that its help lists
perftest_options()
{
	local program=$1 transport=$2 known option

	known=$("$program" --help) || :
	for option in '-n 1000' '-a -n 10' '-q 16 -n 500' '-b -n 1000' \
		'--use-srq -q 4 -n 500' '-I 64 -s 64 -n 1000' '-D 5'; do
		[[ $known = *" ${option%% *}"[,\ ]* ]] || continue
		# The latency programs support one QP only, despite the help. The
		# SRQ has receives for one QP, so UC and UD would lose messages
		# with four.
		[[ $program = *_bw && $transport != U? ]] ||
			option=${option/--use-srq -q 4/--use-srq}
		perftest "$program" -c "$transport" "$option"
	done
	[[ $known != *' -e, '* ]] ||
		perftest_events "$program" -c "$transport" -n 500
}

# perftest_matrix: on a full run, all programs, transports and options
perftest_matrix()
{
	local operation kind transport

	[ "$FULL" = 1 ] || return 0
	for operation in write send read atomic; do
		for kind in bw lat; do
			for transport in $(transports "$operation"); do
				perftest_options "ib_${operation}_$kind" "$transport"
			done
		done
	done
	perftest ib_atomic_bw -A CMP_AND_SWAP -n 1000
	perftest ib_atomic_bw -A FETCH_AND_ADD -n 1000
}
