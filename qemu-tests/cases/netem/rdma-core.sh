# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# shellcheck shell=bash
# This test will run rdma-core's tests of RC and XRC with 1 % packet loss. Both ends are
# on one device; its packets return from a bridge port in hairpin mode.

limit=300
kernels='stock'

requires()
{
	# shellcheck source=qemu-tests/lib/rdma_core.sh
	. /ornic/qemu-tests/lib/rdma_core.sh
	need_ornic
	need_rdma_core_tests
}

# reflect: return packets of veth-srv to its sender
reflect()
{
	ip link add br0 mtu 4500 type bridge
	ip link set veth-cli master br0
	ip link set br0 up
	bridge link set dev veth-cli hairpin on
	# Our own address is the source of what comes in.
	sysctl -qw net.ipv4.conf.veth-srv.accept_local=1
	echo 0 >"/sys/class/infiniband/$srv_dev/loopback"
}

run()
{
	# shellcheck source=qemu-tests/lib/rdma_core.sh
	. /ornic/qemu-tests/lib/rdma_core.sh
	topology loop
	reflect
	tc qdisc replace dev veth-srv root netem loss 1%
	# Not bind_mw, which wants the NAK of a fatal error: that is sent once, since a QP
	# in the error state answers nothing, and one in a hundred is lost.
	rdma_core_tests '_x?rc_(?!bind_mw)|test_atomic|test_resize' 36
	[ "$(resends "$srv_dev")" -gt 0 ] || fail 'nothing was sent again'
}
