# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# shellcheck shell=bash
# This test will unbind the driver of the PCI NIC under programs that only poll: what they
# have posted is flushed, so they end by themselves.

machines=nic
limit=120

# shellcheck source=qemu-tests/lib/pollers.sh
. /ornic/qemu-tests/lib/pollers.sh
# shellcheck source=qemu-tests/lib/nic_life.sh
. /ornic/qemu-tests/lib/nic_life.sh

requires()
{
	need_ornic
	need ibv_rc_pingpong ib_send_bw
}

run()
{
	topology nic
	start_pollers
	unbind_nic
	pollers_told
	bind_nic
	wait_until 30 works_again nic
}
