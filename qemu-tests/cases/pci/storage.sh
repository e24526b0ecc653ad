# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# shellcheck shell=bash
# This test will attach a RAM disk on the PCI NIC, write it, verify what it reads and
# detach it, repeatedly: by NVMe over RDMA (nvme), and by SRP and iSER, whose MRs have
# gaps (srp, iser).

variants='nvme srp iser'
machines=nic
append=dma_debug=off # see local-attack.sh
limit=300
full_limit=900

run()
{
	# shellcheck source=qemu-tests/lib/nvme.sh
	. /ornic/qemu-tests/lib/nvme.sh
	# shellcheck source=qemu-tests/lib/srp.sh
	. /ornic/qemu-tests/lib/srp.sh
	# shellcheck source=qemu-tests/lib/iser.sh
	. /ornic/qemu-tests/lib/iser.sh
	need_ornic
	"need_$VARIANT"
	topology nic
	"${VARIANT}_rounds"
}
