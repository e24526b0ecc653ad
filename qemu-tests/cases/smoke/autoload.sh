# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# shellcheck shell=bash
# This test will add a link while no module of ornic is loaded: the rdma-link alias
# loads them.

requires()
{
	need_ornic
}

run()
{
	rmmod ornic_soft ornic 2>/dev/null || :
	[ ! -e /sys/module/ornic ] || fail 'ornic.ko stays loaded'
	topology loop
	[ -e /sys/module/ornic_soft ] || fail 'ornic_soft.ko is not loaded'
	rdma dev show "$srv_dev" | grep -q "$srv_dev" || fail 'no device'
}
