# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# shellcheck shell=bash
# This test will check that the driver refuses a PCI NIC that would not reach the memory
# of queues and MRs: its DMA goes to bounce buffers, or through an IOMMU.

machines=nic
kernels='stock'
full_only=1
variants='bounced append=swiotlb=force translated append=intel_iommu=on iommu=1'

requires()
{
	need_ornic
	[ "$(uname -m)" = x86_64 ] || skip 'for x86-64'
}

refused() { dmesg | grep -q "ornic.*: DMA is $VARIANT"; }

run()
{
	modprobe ornic
	wait_until 10 refused
	[ ! -e /sys/class/infiniband/ornic0 ] || fail 'the device is used'
	rmmod ornic
}
