# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# shellcheck shell=bash
# For cases in which network namespaces do not share their devices.

# seen DEVICES [PREFIX...]: what there is, as `rdma` and as sysfs say
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

# The mode changes only while there is no other namespace.
tidy()
{
	ip -all netns delete
	wait_until 20 set_mode shared
}

# exclusive: from now on, until the case ends
exclusive()
{
	modprobe ib_core
	wait_until 20 set_mode exclusive
	trap tidy EXIT
}
