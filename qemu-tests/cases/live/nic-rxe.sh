# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# shellcheck shell=bash
# This test will move memory that its programs write to all the time between the
# PCI NIC and rxe in another guest, from and to both. Of two CPUs: emulated, a guest
# of one dies, or its programs do, while rxe works beside a busy thread. It does so
# with rxe at both ends, too.

machines=nic/net
alone=1
cpus=2
limit=100
full_limit=360
kernels='stock'

requires() { need_ornic; }

run()
{
	srv_type=rxe
	topology peer
	live 20000
	[ "$(nic_stat 0 rx_icrc_errors)" = 0 ] || fail 'rx_icrc_errors'
	at_srv del_link srv0
	# Its socket stays until then, and the soft device wants the port as well.
	"$peer" modprobe -r rdma_rxe
}
