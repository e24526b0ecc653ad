# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# shellcheck shell=bash
# This test will add a link by name, without loading a module first, see the
# device everywhere a user looks for it, and delete it again. It proves the
# autoload alias, registration, the provider's match and unregistration.

run()
{
	topology loop
	rdma link show "$srv_dev/1" | grep -q 'state ACTIVE' || fail 'no link'
	ibv_devices | grep -qw "$srv_dev" || fail 'no provider for the device'
	ibv_devinfo -v -d "$srv_dev" | grep -q PORT_ACTIVE || fail 'no port'
	del_link "$srv_dev"
	[ ! -e "/sys/class/infiniband/$srv_dev" ] || fail 'the link stays'
}
