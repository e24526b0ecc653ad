# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# shellcheck shell=bash
# This test will check bytes, completions, errors and refusals of all verbs in
# each topology, over RoCEv2 on IPv4 and IPv6.

variants='loop
	veth full_only=1 kernels=stock
	veth-ipv6
	rxe-client
	rxe-client-ipv6 full_only=1 kernels=stock
	rxe-server full_only=1
	rxe-server-ipv6 kernels=stock'
limit=150
full_limit=300

# For pages that the kernel takes away; it may lack what that needs.
swap_on()
{
	modprobe -q brd rd_nr=1 rd_size=65536 && mkswap /dev/ram0 >/dev/null &&
		swapon /dev/ram0
}

swap_off()
{
	! grep -q /dev/ram0 /proc/swaps || swapoff /dev/ram0
	modprobe -q -r brd || :
}

run()
{
	# Of dma-bufs
	modprobe vgem 2>/dev/null || :
	modprobe -q ornic_dmabuf_exporter || :
	modprobe -q ornic_dmabuf_importer || :
	echo 2 >/sys/kernel/mm/hugepages/hugepages-2048kB/nr_hugepages || :
	topology_of_variant
	# For memory whose pages never come; a kernel may lack it.
	modprobe -q fuse || :
	trap swap_off EXIT
	swap_on || :
	verify
}
