# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# shellcheck shell=bash
# This test will unbind and bind the driver of the PCI NIC under traffic, also to a
# dma-buf, and to device memory that is one, and unload and load the driver.

machines=nic
limit=240
full_limit=900

# shellcheck source=qemu-tests/lib/nic_life.sh
. /ornic/qemu-tests/lib/nic_life.sh
# shellcheck source=qemu-tests/lib/dmabuf.sh
. /ornic/qemu-tests/lib/dmabuf.sh

requires() { need_ornic; }

# unbind_with_dmabuf EXPORTER: while a process has an MR on a dma-buf of it
unbind_with_dmabuf()
{
	topology nic
	hold_dmabuf "$1"
	unbind_nic
	dmabuf_is_back
	bind_nic
	wait_until 30 works_again nic
}

# dm_is_mapped: PCI functions can have device memory, by the kernel's configuration
dm_is_mapped() { runs_with ornic_dmabuf_importer dm_exports_are_mapped; }

# unbind_with_dm LATE: while a PCI function has device memory mapped, which is told, and
# unmaps it LATE milliseconds after that
unbind_with_dm()
{
	local holder

	topology nic
	rm -f held
	DM_HELD=held DM_LATE=$1 verify dm_exports_end_with_their_device >dm.out 2>&1 &
	holder=$!
	(wait_until 20 test -e held) || { cat dm.out; fail 'it is not mapped'; }
	unbind_nic
	wait "$holder" || { cat dm.out; fail 'it was not told'; }
	cat dm.out
	bind_nic
	wait_until 30 works_again nic
}

run()
{
	local round

	topology nic
	[ ! -e /dev/udmabuf ] || unbind_with_dmabuf udmabuf
	! takes_moves || unbind_with_dmabuf moving
	topology nic
	if dm_is_mapped; then
		unbind_with_dm 0
		unbind_with_dm 1000
	else
		[ "$KERNEL" != debug ] || fail 'the debug kernel has P2PDMA'
	fi
	for ((round = 1; round <= $(times 20); round++)); do
		topology nic
		watch_events
		start_traffic $((20000 + round)) -q 4
		wait_until 20 busy_posting ornic0
		unbind_nic
		end_traffic
		bind_nic
		wait_until 30 works_again nic
	done
	rmmod ornic_soft 2>/dev/null || :
	rmmod ornic
	topology nic
	pingpong ibv_rc_pingpong -n 10
}
