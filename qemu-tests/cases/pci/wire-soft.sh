# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# shellcheck shell=bash
# This test will connect the PCI NIC by a wire to another guest, that has the
# soft device on its virtio-net.

machines=nic/net
capture=1
limit=240

# shellcheck source=qemu-tests/lib/rdmacm.sh
. /ornic/qemu-tests/lib/rdmacm.sh
# shellcheck source=qemu-tests/lib/wire_peer.sh
. /ornic/qemu-tests/lib/wire_peer.sh

requires()
{
	need_ornic
	need tshark
}

run() { wire_peer ornic; }
