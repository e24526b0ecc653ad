# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# shellcheck shell=bash
# This test will add a link without loading a module first, check that rdma, ibv_devices
# and ibv_devinfo show the device, and delete the link. It tests the module alias,
# registration, the match of the provider among those that are installed, and
# unregistration.

run()
{
	umount /etc/libibverbs.d # see few_providers of agent.sh
	topology loop
	rdma link show "$srv_dev/1" | grep -q 'state ACTIVE' || fail 'no link'
	ibv_devices | grep -qw "$srv_dev" || fail 'no provider for the device'
	ibv_devinfo -v -d "$srv_dev" >devinfo
	grep -q PORT_ACTIVE devinfo || fail 'no port'
	grep -q 'available device memory:.*16777216Bytes' devinfo ||
		fail 'no device memory'
	del_link "$srv_dev"
	[ ! -e "/sys/class/infiniband/$srv_dev" ] || fail 'the link is still there'
}
