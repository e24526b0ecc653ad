# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# shellcheck shell=bash
# This test will run ucx_perftest between two namespaces over veth, over GIDs of IPv4
# and IPv6: active messages, tags, put, get and atomics, on each transport and on those
# that UCX chooses, with default settings. A short run over IPv6 has one operation each.

kernels='stock'
limit=300
full_limit=900
direct=1

# shellcheck source=qemu-tests/lib/apps.sh
. /ornic/qemu-tests/lib/apps.sh

requires()
{
	need_apps
}

run()
{
	topology veth 4
	ucx_programs "$(times 250)"
	without_ipv4
	if [ "$FULL" = 1 ]; then
		ucx_programs 250
	else
		uct rc_verbs am_lat -n 50
		uct ud_verbs am_lat -n 50
		ucx tag_lat -n 50
	fi
}
