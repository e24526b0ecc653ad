# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# shellcheck shell=bash
# This test will copy a file by a program that knows nothing of RDMA, on the rsockets of
# the preloaded library of librdmacm: between namespaces, and on the PCI NIC.

variants='veth nic machines=nic'
kernels='stock'
limit=120
direct=1

# shellcheck source=qemu-tests/lib/rdmacm.sh
. /ornic/qemu-tests/lib/rdmacm.sh

requires()
{
	need nc.traditional
	preload=/usr/lib/$(uname -m)-linux-gnu/rsocket/librspreload.so
	[ -e "$preload" ] || skip 'no librspreload.so'
}

run()
{
	local nc="env LD_PRELOAD=$preload nc.traditional -n" before

	topology "$VARIANT"
	before=$(carried cli)
	head -c 3000001 /dev/urandom >data
	cm_pair 7000 0 "$nc -l -p 7000" "$nc -q 0 $srv_ip 7000" <data
	cmp data srv.out || fail 'wrong data'
	[ $(($(carried cli) - before)) -gt 3000000 ] || fail 'not over RDMA'
}
