# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# shellcheck shell=bash
# Functions for cases with the exclusive network namespace mode.

# seen DEVICES [PREFIX...]: `rdma` and sysfs show exactly these devices
seen()
{
	local devices=$1

	shift
	[ "$("$@" rdma dev | cut -d ' ' -f 2 | tr -d '\n')" = "$devices" ] &&
		[ "$("$@" ls /sys/class/infiniband | tr '\n' ' ')" = "${devices//:/ }" ]
}

# index_of DEVICE ADDRESS PREFIX...: gid_index in that namespace
index_of()
{
	"${@:3}" bash -c "$(declare -f gid_of gid_index); gid_index $1 $2"
}

set_mode() { rdma system set netns "$1"; }

# The mode can only be changed without other namespaces.
tidy()
{
	ip -all netns delete
	wait_until 20 set_mode shared
}

# exclusive: switch to exclusive mode until the case ends
exclusive()
{
	modprobe ib_core
	wait_until 20 set_mode exclusive
	trap tidy EXIT
}
