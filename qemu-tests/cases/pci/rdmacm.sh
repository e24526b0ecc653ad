# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# shellcheck shell=bash
# This test will connect with the programs of rdmacm-utils over the PCI NIC, in
# one guest and between two, over IPv4 and IPv6.

machines=nic+nic
append=dma_debug=off # see local-attack.sh
limit=300
full_limit=3600

# shellcheck source=qemu-tests/lib/rdmacm.sh
. /ornic/qemu-tests/lib/rdmacm.sh

requires() { need_ornic; }

run()
{
	local name

	wait_until 60 peer_answers
	"$peer" modprobe rdma_ucm
	for name in nic peer; do
		rdmacm_topology "$name"
		rdmacm_both_families
	done
	no_objects ornic0 || fail 'objects are left'
}
