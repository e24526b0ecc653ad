# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# shellcheck shell=bash
# This test will attach a RAM disk by NVMe over RDMA, write it, verify what it reads
# and detach it, repeatedly, with receive queues of the target's QPs and with SRQs:
# from one device to another (nvme), and on one device (nvme-loop).
#
# Both modules live in the initial network namespace only, so rules keep the two
# ends apart: see qemu-tests/lib/nvme.sh.

variants='nvme nvme-loop'
limit=300
full_limit=900

run()
{
	# shellcheck source=qemu-tests/lib/nvme.sh
	. /ornic/qemu-tests/lib/nvme.sh
	need_ornic
	need_nvme
	if [ "$VARIANT" = nvme-loop ]; then
		topology loop
		nvme_rounds
		return
	fi
	one_namespace
	nvme_rounds
	[ "$(stat srv0 tx_packets)" -gt 1000 ] || fail 'nothing went over the wire'
}
