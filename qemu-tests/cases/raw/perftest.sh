# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# shellcheck shell=bash
# This test will run perftest's raw_ethernet programs from one soft device to another,
# by Ethernet addresses alone, and by addresses and ports of UDP and TCP.

limit=200
kernels=stock

requires()
{
	need_ornic
	need raw_ethernet_bw raw_ethernet_lat
}

run()
{
	local ports

	# shellcheck source=qemu-tests/lib/raw.sh
	. /ornic/qemu-tests/lib/raw.sh
	topology veth
	ports="-J $srv_host -j 10.0.0.2 -K 6000 -k 7000"
	raw raw_ethernet_lat -n 100 -s 64
	raw raw_ethernet_bw -n 200 -s 1024 -r 512
	raw raw_ethernet_bw -n 200 -s 1024 -r 512 "$ports"
	raw raw_ethernet_lat -n 100 -s 64 "$ports" --tcp
	no_objects "$srv_dev" || fail 'objects are left'
	no_objects "$cli_dev" || fail 'objects are left'
}
