# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# shellcheck shell=bash
# This test will send to multicast groups on the PCI NIC, within a guest and to another
# one: to members that mckey has joined by rdma_cm, and to members that perftest
# attaches.

machines=nic+nic
limit=300
full_limit=1200

# shellcheck source=qemu-tests/lib/rdmacm.sh
. /ornic/qemu-tests/lib/rdmacm.sh
# shellcheck source=qemu-tests/lib/mcast.sh
. /ornic/qemu-tests/lib/mcast.sh

requires()
{
	need_ornic
	need mckey ib_send_bw
}

run()
{
	srv_netdev=eth0
	rdmacm_topology nic
	mcast_programs nic
	topology peer
	mcast_perftest 4
	mcast_perftest 6
}
