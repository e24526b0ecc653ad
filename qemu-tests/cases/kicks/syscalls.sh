# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# shellcheck shell=bash
# This test will count the system calls of programs that post, poll and arm CQs:
# with the poll thread their number does not depend on the number of messages.

limit=120
kernels='stock'

requires()
{
	need_ornic
	need strace
}

# calls MESSAGES PROGRAM: print the number of write() and ioctl() calls of the client
calls()
{
	local trace='strace -f --seccomp-bpf -e trace=write,ioctl -o trace'

	run_pair 60 "$2 -d $srv_dev -x $srv_gid -F -s 64 -n $1" \
		"$trace $2 -d $cli_dev -x $cli_gid -F -s 64 -n $1 $srv_host"
	grep -cE '(write|ioctl)\(' trace
}

run()
{
	local program few many

	topology veth
	echo 1 >"$(poll_switch "$cli_dev")"
	for program in ib_write_bw ib_send_bw; do
		few=$(calls 100 "$program")
		many=$(calls 2000 "$program")
		echo "$program: $few calls for 100 messages, $many for 2000"
		[ "$((many - few))" -lt 20 ] || fail "$program posts by system calls"
	done
}
