# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# shellcheck shell=bash
# This test will moderate the events of CQs, use CQs on all completion vectors, and
# read the clock of completion timestamps.

limit=60

run()
{
	need_ornic
	topology veth
	ibv_devinfo -v -d cli0 >devinfo || fail ibv_devinfo
	grep -q 'completion timestamp_mask:.*0xffffffffffffffff' devinfo ||
		fail 'timestamp mask'
	grep -q 'hca_core_clock:.*1000000kHZ' devinfo || fail 'core clock'
	grep -q 'max_cq_count:.*65535' devinfo || fail 'moderation caps'
	verify cq_moderation cq_vectors cq_clock
}
