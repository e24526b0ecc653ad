# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# shellcheck shell=bash
# This test will remove the device under programs that only poll, by `rdma link delete`,
# with its netdev, and with its module: what they have posted is flushed, so they end by
# themselves.

limit=200

# shellcheck source=qemu-tests/lib/lifecycle.sh
. /ornic/qemu-tests/lib/lifecycle.sh
# shellcheck source=qemu-tests/lib/pollers.sh
. /ornic/qemu-tests/lib/pollers.sh

requires()
{
	need_ornic
	need ibv_rc_pingpong ib_send_bw
}

# remove_under COMMAND...: start the programs, remove the device, wait for them
remove_under()
{
	echo "$*"
	start_pollers
	ends_within 20 "$@"
	pollers_told
	wait_until 10 gone srv0
}

run()
{
	# As after a boot, when the driver is the first that needs ib_uverbs.
	modprobe -r ornic_soft ornic rdma_ucm ib_uverbs || :
	[ ! -e /sys/module/ib_uverbs ] || echo 'ib_uverbs is in use'
	topology loop
	remove_under rdma link delete srv0
	add_link srv0 veth-srv
	family_of_both 4
	remove_under rmmod ornic_soft
	modprobe ornic_soft
	add_link srv0 veth-srv
	family_of_both 4
	pingpong ibv_rc_pingpong -n 50
	remove_under ip link delete veth-srv
}
