# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# shellcheck shell=bash
# This test will send to multicast groups in each topology: to members that mckey
# has joined by rdma_cm, and to members that perftest attaches.

variants='loop
	veth
	rxe-client kernels=stock
	rxe-server kernels=stock'
limit=300
full_limit=1200

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
	rdmacm_topology "$VARIANT"
	mcast_programs "$VARIANT"
}
