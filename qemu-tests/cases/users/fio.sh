# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# shellcheck shell=bash
# This test will send data by the rdma engine of fio, which registers its memory itself:
# by WRITE and by READ, between namespaces, and on the PCI NIC.
#
# SEND is left out: fio allows no retry after an RNR NAK, and posts receives again only
# after the sender may have sent the next.

variants='veth nic machines=nic'
kernels='stock'
limit=120
direct=1

# shellcheck source=qemu-tests/lib/rdmacm.sh
. /ornic/qemu-tests/lib/rdmacm.sh

requires()
{
	need fio
	fio --enghelp | grep -qw rdma || skip 'fio has no engine rdma'
}

run()
{
	local verb job='fio --name=job --ioengine=rdma --port=5555 --bs=64k --iodepth=8'

	topology "$VARIANT"
	for verb in write read; do
		# The end that reads listens, whatever the verb.
		cm_pair 5555 0 "$job --rw=read --size=32m" \
			"$job --rw=write --size=32m --verb=$verb --hostname=$srv_ip"
		grep -q 'err= 0' cli.out || fail 'no result'
	done
	[ $(($(carried cli) + $(carried srv))) -gt 64000000 ] || fail 'not over RDMA'
}
