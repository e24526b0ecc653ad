# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# shellcheck shell=bash
# This test will attach a RAM disk by NVMe over RDMA on the PCI NIC, write it, verify
# what it reads and detach it, repeatedly.

machines=nic
append=dma_debug=off # see local-attack.sh
limit=300
full_limit=900

requires()
{
	# shellcheck source=qemu-tests/lib/nvme.sh
	. /ornic/qemu-tests/lib/nvme.sh
	need_ornic
	need_nvme
}

run()
{
	# shellcheck source=qemu-tests/lib/nvme.sh
	. /ornic/qemu-tests/lib/nvme.sh
	topology nic
	nvme_rounds
}
