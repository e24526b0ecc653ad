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

run()
{
	# Of dma-bufs
	modprobe vgem 2>/dev/null || :
	echo 2 >/sys/kernel/mm/hugepages/hugepages-2048kB/nr_hugepages || :
	topology_of_variant
	verify
}
