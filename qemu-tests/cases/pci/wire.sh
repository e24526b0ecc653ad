# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# shellcheck shell=bash
# This test will connect the PCI NIC by a wire to another guest, which has rxe or
# the soft device on its virtio-net, and dissect the frames on the wire.

variants='rxe soft'
machines=nic/net
append=dma_debug=off # see local-attack.sh
capture=1
limit=240

# shellcheck source=qemu-tests/lib/rdmacm.sh
. /ornic/qemu-tests/lib/rdmacm.sh

requires()
{
	need_ornic
	need tshark
}

run()
{
	local wrong

	srv_type=ornic
	[ "$VARIANT" = soft ] || srv_type=rxe
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
	for wrong in rx_icrc_encapsulated rx_malformed; do
		[ "$(nic_stat 0 "$wrong")" = 0 ] || fail "$wrong"
	done
	[ "$VARIANT" = rxe ] || [ "$(at_srv stat srv0 rx_icrc_encapsulated)" = 0 ] ||
		fail 'rx_icrc_encapsulated of the peer'
	at_srv del_link srv0
	# rxe occupies the RoCEv2 port until it is unloaded.
	[ "$VARIANT" != rxe ] || "$peer" modprobe -r rdma_rxe
	host dissect 0 1000 || fail 'tshark reports invalid packets'
}
