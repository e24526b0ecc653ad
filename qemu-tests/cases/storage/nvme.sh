# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# shellcheck shell=bash
# This test will attach a RAM disk by NVMe over RDMA from one device to another,
# write it and verify what it reads, and detach it, again and again: with
# receive queues of the target's QPs and with SRQs.
#
# Both modules live in the initial network namespace only, so the two ends are
# kept apart by rules: see qemu-tests/lib/nvme.sh.

limit=300
full_limit=900

run()
{
	# shellcheck source=qemu-tests/lib/nvme.sh
	. /ornic/qemu-tests/lib/nvme.sh
	need_ornic
	need_nvme
	one_namespace
	nvme_rounds
	[ "$(stat srv0 tx_packets)" -gt 1000 ] || fail 'nothing went over the wire'
}
