# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# shellcheck shell=bash
# RNBD, a block device over RTRS, with the server and the client of the kernel, which
# `run --with rnbd` builds. Both are configured by files in sysfs.
#
# Both have their ids of rdma_cm in the initial network namespace: topology initial.

# disk_works
# shellcheck source=qemu-tests/lib/nvme.sh
. /ornic/qemu-tests/lib/nvme.sh

rnbd_disk=/dev/rnbd0
rnbd_session=/sys/devices/virtual/rtrs-client/ornic

need_rnbd()
{
	need fio
	need_modules rnbd-client rnbd-server brd
}

rnbd_server_open()
{
	modprobe brd rd_nr=1 rd_size=65536
	# Buffers of 16 MiB, not of 64
	modprobe rtrs-server sess_queue_depth=128
	modprobe rnbd-server dev_search_path=/dev
}

rnbd_server_close()
{
	wait_until 20 modprobe -r rnbd-server
	modprobe -r brd
}

# rnbd_map: map the RAM disk of the server as $disk
rnbd_map()
{
	modprobe rnbd-client
	put /sys/devices/virtual/rnbd-client/ctl/map_device \
		"sessname=ornic path=ip:$cli_ip@ip:$srv_ip device_path=ram0"
	disk=$rnbd_disk
	wait_until 10 test -b "$disk"
}

rnbd_unmap()
{
	put /sys/block/rnbd0/rnbd/unmap_device normal
	wait_until 10 test ! -e "$disk"
	# It warns if it is unloaded while a session ends.
	wait_until 60 test ! -e "$rnbd_session"
	wait_until 20 modprobe -r rnbd-client
}

# rnbd_path FILE: a file of the path of the session
rnbd_path() { echo "$rnbd_session/paths/ip:$cli_ip@ip:$srv_ip/$1"; }

rnbd_connected() { [ "$(cat "$(rnbd_path state)")" = connected ]; }

# rnbd_reconnect: at once, and not when the client's delay of half a minute ends
rnbd_reconnect()
{
	rnbd_connected || echo 1 >"$(rnbd_path reconnect)" || return
	rnbd_connected && [ "$(cat /sys/block/rnbd0/rnbd/state)" = open ]
}
