# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# shellcheck shell=bash
# What cases run between the PCI NIC and a device of another kind in another
# guest.

# wire_peer TYPE: of the other guest's device
wire_peer()
{
	local wrong

	srv_type=$1
	topology peer
	pingpong ibv_rc_pingpong -n 100
	pingpong ibv_uc_pingpong -n 100
	pingpong ibv_ud_pingpong -n 100 -s 1000
	# The peer reads from us as we do from it.
	perftest ib_write_bw -b -n 100
	perftest ib_send_bw -b -n 100
	perftest ib_read_bw -b -n 100
	perftest ib_atomic_lat -n 100
	rping -C 5 -S 10000
	for wrong in rx_icrc_errors rx_malformed; do
		[ "$(nic_stat 0 "$wrong")" = 0 ] || fail "$wrong"
	done
	[ "$1" = rxe ] || [ "$(at_srv stat srv0 rx_icrc_errors)" = 0 ] ||
		fail 'rx_icrc_errors of the peer'
	at_srv del_link srv0
	# Its socket stays until then, and the soft device wants the port as well.
	[ "$1" != rxe ] || "$peer" modprobe -r rdma_rxe
	host dissect 0 1000 || fail 'tshark finds fault'
}
