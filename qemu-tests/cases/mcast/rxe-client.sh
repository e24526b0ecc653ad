# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# shellcheck shell=bash
# This test will send to multicast groups from rxe to ornic:
# members that mckey has joined by rdma_cm, and members that perftest attaches.

limit=300
full_limit=1200
kernels='stock'

requires()
{
	need_ornic
	need mckey ib_send_bw
}

run()
{
	# shellcheck source=qemu-tests/lib/rdmacm.sh
	. /ornic/qemu-tests/lib/rdmacm.sh
	# shellcheck source=qemu-tests/lib/mcast.sh
	. /ornic/qemu-tests/lib/mcast.sh
	rdmacm_topology rxe-client
	mcast_programs rxe-client
}
