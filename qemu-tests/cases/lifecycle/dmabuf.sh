# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# shellcheck shell=bash
# This test will delete the link, move it to another namespace, unload the module, and delete
# the netdev, while a process has an MR on a dma-buf and traffic to it: the dma-buf is given
# back, and the process still has it. So it is with a dma-buf that moves.

limit=300

# shellcheck source=qemu-tests/lib/dmabuf.sh
. /ornic/qemu-tests/lib/dmabuf.sh

requires()
{
	need_ornic
	need_udmabuf
}

# ended_by COMMAND...: the dma-buf of $exporter is given back when this ends the device
ended_by()
{
	hold_dmabuf "$exporter"
	ends_within 30 "$@"
	dmabuf_is_back
}

link_again()
{
	add_link srv0 veth-srv
	family_of_both 4
}

end_each_way()
{
	ended_by rdma link delete srv0

	link_again
	ip netns add box
	ended_by rdma dev set srv0 netns box
	ip netns delete box
	wait_until 20 seen srv0:
	del_link srv0

	link_again
	ended_by rmmod ornic_soft
	modprobe ornic_soft

	link_again
	ended_by ip link delete veth-srv
	wait_until 10 test ! -e /sys/class/infiniband/srv0
}

run()
{
	local exporter

	# shellcheck source=qemu-tests/lib/exclusive.sh
	. /ornic/qemu-tests/lib/exclusive.sh
	exclusive
	topology loop
	exporter=udmabuf
	end_each_way
	topology loop
	! takes_moves || { exporter=moving; end_each_way; }
}
