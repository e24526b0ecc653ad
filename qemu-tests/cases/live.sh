# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# shellcheck shell=bash
# This test will READ, WRITE and change by atomics memory of two guests, which their
# programs write to at the same time. The two guests have
#
#   nics       NICs of one process: memory to memory
#   nic-wire   NICs of two processes: by packets
#   nic-rxe    a NIC and rxe
#   soft       soft devices on virtio-net
#
# rxe and the soft device get guests with two CPUs, so that one can write while the
# other one sends. On a single emulated CPU rxe hangs beside a busy thread.

variants='nics machines=nic+nic
	nic-wire machines=nic/nic full_only=1
	nic-rxe machines=nic/net alone=1 cpus=2
	soft machines=net/net alone=1 cpus=2'
limit=100
full_limit=360
kernels=stock

requires() { need_ornic; }

# no_icrc_errors PROCESS...
no_icrc_errors()
{
	local process

	for process; do
		[ "$(nic_stat "$process" rx_icrc_encapsulated)" = 0 ] ||
			fail "rx_icrc_encapsulated of process $process"
	done
}

run()
{
	local count=100000

	case $VARIANT in
	nic-rxe) count=20000 srv_type=rxe ;;
	soft) count=10000 ;;
	esac
	topology peer
	live "$count"
	case $VARIANT in
	nics)
		[ "$(nic_stat 0 roce_frames)" = 0 ] || fail 'by packets' ;;
	nic-wire)
		[ "$(nic_stat 0 wire_tx_frames)" -gt 1000 ] || fail 'not by the wire'
		no_icrc_errors 0 1 ;;
	nic-rxe)
		no_icrc_errors 0
		at_srv del_link srv0
		# rxe occupies the RoCEv2 port until it is unloaded.
		"$peer" modprobe -r rdma_rxe ;;
	soft)
		at_srv del_link srv0 ;;
	esac
}
