# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# shellcheck shell=bash
# This test will attach a RAM disk by NVMe over RDMA on one device, write it and
# verify what it reads, and detach it, again and again: with receive queues of
# the target's QPs and with SRQs.

limit=300
full_limit=900

run()
{
	# shellcheck source=qemu-tests/lib/nvme.sh
	. /ornic/qemu-tests/lib/nvme.sh
	need_ornic
	need_nvme
	topology loop
	nvme_rounds
}
