# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# shellcheck shell=bash
# This test will check that lspci and ibv_devinfo show the PCI NIC, and run
# ibverbs-utils and perftest, with both sides in one guest.

machines=nic
limit=240

# shellcheck source=qemu-tests/lib/perftest.sh
. /ornic/qemu-tests/lib/perftest.sh

requires()
{
	need_ornic
	need lspci ibv_devinfo ib_write_bw
}

run()
{
	topology nic
	lspci -nnks "$(nic_pci)" | grep 'in use: ornic' || fail 'not in use'
	rdma link show ornic0/1 | grep 'state ACTIVE.*netdev eth0'
	ibv_devinfo -v -d ornic0 >devinfo
	grep -q PORT_ACTIVE devinfo || fail 'no port'
	grep -q 'available device memory:.*16777216Bytes' devinfo ||
		fail 'no device memory'
	for program in rc uc ud srq; do
		pingpong "ibv_${program}_pingpong" -n 100
		pingpong "ibv_${program}_pingpong" -n 100 -e
	done
	perftest_selection
	no_objects ornic0 || fail 'objects are left'
}
