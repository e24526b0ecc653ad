# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# shellcheck shell=bash
# This test will create a netdev with the address of the PCI NIC in the user namespace
# of an unprivileged user: the NIC must not pair with it, and pairs when the netdev of
# the initial namespace is back.

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

# in_user_ns COMMAND...: run it in the namespaces of $holder
in_user_ns() { nsenter -t "$holder" -U -n --preserve-credentials "$@"; }

has_dummy() { in_user_ns ip link show d0; }

paired() { rdma link show ornic0/1 | grep 'netdev eth0'; }

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
	# Another netdev event: earlier ones are processed before it.
	ip link add d1 address 52:54:00:00:00:77 type dummy
	pause; pause; pause; pause; pause
	nic_gone || fail 'it paired with the netdev of a user'
	echo "$dev" >"$driver/bind"
	wait_until 20 test -e /sys/class/infiniband/ornic0
	wait_until 20 paired
	kill "$holder"
	ip addr add 10.0.0.1/24 dev eth0
	ip link set eth0 up
	wait_until 20 works_again nic
}
