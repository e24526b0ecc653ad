# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# shellcheck shell=bash
# This test will offer the PCI NIC a netdev with its address that an unprivileged
# user has made in a namespace of his own: it stays unpaired, until the netdev of
# the host is back.

machines=nic
alone=1
limit=120

# shellcheck source=qemu-tests/lib/nic_life.sh
. /ornic/qemu-tests/lib/nic_life.sh

requires()
{
	need_ornic
	need unshare nsenter
}

# in_user_ns COMMAND...: in the namespaces of $holder
in_user_ns() { nsenter -t "$holder" -U -n --preserve-credentials "$@"; }

has_dummy() { in_user_ns ip link show d0; }

run()
{
	local mac dev driver=/sys/bus/virtio/drivers/virtio_net

	topology nic
	mac=$(cat /sys/class/net/eth0/address)
	dev=$(basename "$(readlink -f /sys/class/net/eth0/device)")
	echo "$dev" >"$driver/unbind"
	wait_until 20 nic_gone
	unshare -Urn sleep 600 &
	holder=$!
	wait_until 10 in_user_ns ip link set lo up
	in_user_ns ip link add d0 address "$mac" type dummy
	wait_until 10 has_dummy
	in_user_ns ip link set d0 up
	# What is queued by then is through when another netdev has been offered.
	ip link add d1 address 52:54:00:00:00:77 type dummy
	pause; pause; pause; pause; pause
	nic_gone || fail 'it took the netdev of a user'
	echo "$dev" >"$driver/bind"
	wait_until 20 test -e /sys/class/infiniband/ornic0
	rdma link show ornic0/1 | grep 'netdev eth0'
	kill "$holder"
	ip addr add 10.0.0.1/24 dev eth0
	ip link set eth0 up
	wait_until 20 works_again nic
}
