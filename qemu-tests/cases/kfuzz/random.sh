# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# shellcheck shell=bash
# This test will run random programs of system calls, packets and stores to mapped
# queues in two threads, for $DURATION seconds: no kernel error, and what they leave
# can be removed. The report has each program before it runs.

limit=60
kernels='debug'

requires()
{
	need_ornic
}

run()
{
	local mac

	# Of dma-bufs
	[ -e /dev/udmabuf ] || fail 'the kernel has no udmabuf'
	modprobe rdma_ucm
	topology loop
	read -r mac </sys/class/net/veth-cli/address
	# No program waits for an address.
	ip neigh replace 10.0.0.2 lladdr "$mac" dev veth-srv nud permanent
	# 3 is the port of the report.
	ornic_kfuzz --seconds "${DURATION:-10}" \
		--seed "${SEED:-1}" --log 3 --cover \
		--seeds /ornic/qemu-tests/programs/kfuzz/seeds.txt \
		"$srv_dev" "$srv_gid" veth-srv veth-cli
	# The fuzzer deletes the link and adds it.
	[ -e "/sys/class/infiniband/$srv_dev" ] || fail 'no link is left'
	wait_until 10 no_objects "$srv_dev"
}
