# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# shellcheck shell=bash
# This test will moderate the events of CQs, use CQs on all completion vectors, read the
# clock of completion timestamps, and delete the link while its PTP clock is open.

limit=60

# ptp_of DEVICE: print the name of its PTP clock
ptp_of() { basename /sys/class/infiniband/"$1"/device/ptp/ptp*; }

# Its file stays, and fails.
ptp_outlives_link()
{
	local clock

	[ -e /sys/class/ptp ] || return 0
	clock=$(ptp_of cli0)
	exec 9<"/dev/$clock"
	ends_within 20 rdma link delete cli0
	[ ! -e "/sys/class/ptp/$clock" ] || fail 'the PTP clock is still there'
	python3 -c 'import time; time.clock_gettime((~9 << 3) | 3)' 2>ptp.err &&
		fail 'the clock of a link that is gone tells the time'
	grep -q 'Errno 19' ptp.err || { cat ptp.err; fail 'another error than ENODEV'; }
	exec 9<&-
}

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
	ptp_outlives_link
}
