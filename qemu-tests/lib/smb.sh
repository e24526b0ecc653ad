# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# shellcheck shell=bash
# SMB Direct (MS-SMBD) with ksmbd and the cifs of the kernel, which `run --with smb` builds.
# What the server exports is a folder of the tmpfs at /run: ksmbd does not see the mounts of a
# case.
#
# Both have their ids of rdma_cm in the initial network namespace: topology initial.

# shellcheck source=qemu-tests/lib/shared_files.sh
. /ornic/qemu-tests/lib/shared_files.sh

export_dir=/run/smb-export
mount_dir=/run/smb
smb_conf=$WORK/ksmbd.conf

need_smb()
{
	need ksmbd.mountd ksmbd.adduser mount.cifs
	need_modules ksmbd cifs
	[[ $(modinfo -F depends cifs) = *rdma_cm* ]] ||
		skip 'cifs has no SMB Direct: run --with smb'
}

# The server listens on port 445, as for RoCE and not for iWARP.
smb_listens() { rdma res show cm_id | grep 'state LISTEN' | grep -q ':445 '; }

# smb_server_open: export $export_dir
smb_server_open()
{
	modprobe ksmbd
	mkdir -p "$export_dir" "$mount_dir"
	cat >"$smb_conf" <<-END
		[global]
			netbios name = ORNIC
		[share]
			path = $export_dir
			writeable = yes
	END
	ksmbd.adduser -c "$smb_conf" -i users -a root -p ornic || fail 'no user'
	ksmbd.mountd -c "$smb_conf" -u users || fail 'no ksmbd.mountd'
	wait_until 20 smb_listens
}

smb_server_close()
{
	ksmbd.control -s
	rm -r "$export_dir"
	wait_until 20 modprobe -r ksmbd
}

smb_mount()
{
	modprobe cifs
	mount -t cifs -o rdma,vers=3.1.1,username=root,password=ornic \
		"//$srv_ip/share" "$mount_dir" || fail 'cannot be mounted'
	grep -q '^SMBDirect (in hex) protocol version' /proc/fs/cifs/DebugData ||
		fail 'the transport is not RDMA'
}

smb_unmount()
{
	umount "$mount_dir" || fail 'cannot be unmounted'
	wait_until 20 modprobe -r cifs
}
