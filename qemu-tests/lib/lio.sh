# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# shellcheck shell=bash
# The SCSI target of the kernel (LIO), configured by configfs: a RAM disk of 64 MiB that
# targets export, and how an initiator finds it.

target=/sys/kernel/config/target
lio_disk=$target/core/rd_mcp_0/disk

# lio_disk_open: make the RAM disk, $lio_disk
lio_disk_open()
{
	modprobe -a target_core_mod sd_mod
	mount_configfs
	mkdir -p "$lio_disk" || fail 'no RAM disk'
	put "$lio_disk/control" rd_pages=16384
	put "$lio_disk/enable" 1
}

lio_disk_close() { rmdir "$lio_disk" "${lio_disk%/disk}"; }

# find_lio_disk: sets $disk
find_lio_disk()
{
	local vendor

	disk=
	for vendor in /sys/block/sd*/device/vendor; do
		if grep -qs LIO-ORG "$vendor"; then
			vendor=${vendor%/device/vendor}
			disk=/dev/${vendor##*/}
		fi
	done
	[ -b "$disk" ]
}
