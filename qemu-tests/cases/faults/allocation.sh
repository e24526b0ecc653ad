# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# shellcheck shell=bash
# This test will let each allocation and each copy from or to user memory in the life
# of every object fail once: the call fails with the right errno, leaves nothing, and
# works afterwards. A short run lets every 1999th of those of `link add` fail.

limit=60
full_limit=1200
kernels='debug'
# vmalloc() reports that it was refused a page.
allow_log='Call Trace:'

requires()
{
	need_ornic
	[ -d /sys/kernel/debug/failslab ] || skip 'no fault injection'
}

# libibverbs waits for udev's names of a device that it cannot open at once.
link_devices()
{
	local dev number

	mkdir -p /dev/char
	for dev in /sys/class/infiniband_verbs/uverbs*; do
		read -r number <"$dev/dev"
		ln -sfn "../infiniband/${dev##*/}" "/dev/char/$number"
	done
}

run()
{
	modprobe rdma_ucm
	topology veth
	link_devices
	ip link add faults type dummy
	ip link set faults up
	ornic_faults "$cli_dev" "$cli_gid" "$srv_dev" "$srv_gid" \
		faults
	no_objects "$cli_dev" || fail 'objects are left'
}
