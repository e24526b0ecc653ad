# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# shellcheck shell=bash
# This test will drop 1 % of the packets in both directions, and then delay and reorder
# them: perftest finishes, and all data is right.

limit=240

impair()
{
	on_srv tc qdisc replace dev veth-srv root netem "$@"
	on_cli tc qdisc replace dev veth-cli root netem "$@"
}

run()
{
	need_ornic
	topology veth
	impair loss 1%
	perftest ib_write_bw -n 500
	perftest ib_send_bw -s 4096 -n 500
	perftest ib_read_bw -n 200
	perftest ib_atomic_lat -n 200
	verify rc_mixed_in_order rc_gather_scatter rc_read_scatter rc_both_ways
	impair delay 1ms reorder 25% 50%
	perftest ib_write_bw -n 200
	verify rc_gather_scatter rc_read_scatter
	impair duplicate 5%
	verify rc_mixed_in_order rc_fetch_and_add rc_both_ways
	# ARP has no checksum.
	on_srv ip neigh replace "$cli_ip" lladdr \
		"$(on_cli cat /sys/class/net/veth-cli/address)" \
		dev veth-srv nud permanent
	on_cli ip neigh replace "$srv_ip" lladdr \
		"$(on_srv cat /sys/class/net/veth-srv/address)" \
		dev veth-cli nud permanent
	impair corrupt 1%
	verify rc_mixed_in_order rc_fetch_and_add rc_both_ways
	[ "$(resends "$cli_dev")" -gt 0 ] || fail 'nothing was sent again'
}
