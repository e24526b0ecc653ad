# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# shellcheck shell=bash
# This test will attach a RAM disk by NVMe over RDMA, write it, verify what it reads
# and detach it, repeatedly, with receive queues of the target's QPs and with SRQs:
# from one device to another (nvme), and on one device (nvme-loop).
#
# Then the same disk by SRP, whose initiator gives the target MRs with gaps: it writes
# from and reads to scattered memory (srp, srp-loop), and by iSER (iser, iser-loop).

variants='nvme nvme-loop srp srp-loop iser iser-loop'
limit=300
full_limit=900

run()
{
	local protocol=${VARIANT%-loop}

	# shellcheck source=qemu-tests/lib/nvme.sh
	. /ornic/qemu-tests/lib/nvme.sh
	# shellcheck source=qemu-tests/lib/srp.sh
	. /ornic/qemu-tests/lib/srp.sh
	# shellcheck source=qemu-tests/lib/iser.sh
	. /ornic/qemu-tests/lib/iser.sh
	"need_$protocol"
	if [ "$VARIANT" != "$protocol" ]; then
		topology loop
		"${protocol}_rounds"
		return
	fi
	topology initial
	"${protocol}_rounds"
	[ "$(carried srv)" -gt 1000000 ] || fail 'nothing went over the wire'
}
