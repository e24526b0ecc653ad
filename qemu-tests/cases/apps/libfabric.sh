# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# shellcheck shell=bash
# This test will run fi_pingpong between two namespaces over veth, with the verbs
# provider of libfabric, over connected and datagram QPs and with ofi_rxm, and check
# the data.

kernels='stock'
limit=150
direct=1

# shellcheck source=qemu-tests/lib/apps.sh
. /ornic/qemu-tests/lib/apps.sh

requires()
{
	need_apps
}

run()
{
	modprobe rdma_ucm
	topology veth 4
	fabric_programs
}
