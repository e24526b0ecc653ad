# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# shellcheck shell=bash
# This test will connect the PCI NIC by a wire to the soft device of another guest, over
# RoCE v1, and dissect the frames on the wire.

machines=nic/net
append=dma_debug=off # see local-attack.sh
capture=1
nic_keys=roce-v1=on
limit=240
gid_type='IB/RoCE v1'

requires()
{
	need_ornic
	need tshark
}

run()
{
	local wrong

	wait_until 60 peer_answers
	"$peer" with_roce_v1
	topology peer
	pingpong ibv_rc_pingpong -n 100
	pingpong ibv_uc_pingpong -n 100
	pingpong ibv_ud_pingpong -n 100 -s 1000
	perftest ib_write_bw -b -n 100
	perftest ib_read_bw -b -n 100
	for wrong in rx_icrc_encapsulated rx_malformed; do
		[ "$(nic_stat 0 "$wrong")" = 0 ] || fail "$wrong"
	done
	[ "$(at_srv stat srv0 rx_icrc_encapsulated)" = 0 ] ||
		fail 'rx_icrc_encapsulated of the peer'
	at_srv del_link srv0
	host dissect 0 1000 || fail 'tshark reports invalid packets'
}
