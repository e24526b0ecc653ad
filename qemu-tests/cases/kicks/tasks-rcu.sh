# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# shellcheck shell=bash
# This test will disable a function tracer while the poll thread runs. The kernel
# frees its trampoline after a Tasks RCU grace period, which never ends if a thread
# passes no quiescent state.

limit=120
kernels='stock'
instance=/sys/kernel/tracing/instances/ornic

requires()
{
	need_ornic
	need_events workqueue
	grep -qw function "$tracing/available_tracers" || skip 'no function tracer'
}

run()
{
	topology loop
	echo 1 >"$(poll_switch srv0)"
	mkdir $instance
	echo do_nanosleep >$instance/set_ftrace_filter
	echo function >$instance/current_tracer
	timeout $((30 * SCALE)) bash -c "echo nop >$instance/current_tracer" ||
		fail 'the tracer stays: Tasks RCU waits for the poll thread'
	rmdir $instance
	echo 0 >"$(poll_switch srv0)"
}
