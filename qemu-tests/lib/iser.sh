# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# shellcheck shell=bash
# iSER (RFC 7145) with the target of the kernel and open-iscsi.

# shellcheck source=qemu-tests/lib/lio.sh
. /ornic/qemu-tests/lib/lio.sh

iqn=iqn.2024-01.org.ornic:storage
iser_wwn=$target/iscsi/$iqn
iser_tpg=$iser_wwn/tpgt_1

need_iser()
{
	need iscsid iscsiadm fio python3
	need_modules ib_iser ib_isert iscsi_target_mod sd_mod
}

# iser_target_open: export a RAM disk at $srv_ip, and set $iser_portal
iser_target_open()
{
	iser_portal=$srv_ip:3260
	lio_disk_open
	modprobe -a iscsi_target_mod ib_isert
	mkdir "$target/iscsi" "$iser_wwn" "$iser_tpg" "$iser_tpg/lun/lun_0" \
		"$iser_tpg/np/$iser_portal" || fail 'no iSCSI target'
	put "$iser_tpg/np/$iser_portal/iser" 1
	put "$iser_tpg/attrib/authentication" 0
	put "$iser_tpg/attrib/generate_node_acls" 1
	put "$iser_tpg/attrib/demo_mode_write_protect" 0
	ln -s "$lio_disk" "$iser_tpg/lun/lun_0/disk" || fail 'the LUN has no disk'
	put "$iser_tpg/enable" 1
}

# iser_listen_again: the target has lost its device, and does not listen any more
iser_listen_again()
{
	rmdir "$iser_tpg/np/$iser_portal"
	mkdir "$iser_tpg/np/$iser_portal"
	put "$iser_tpg/np/$iser_portal/iser" 1
}

iser_target_close()
{
	put "$iser_tpg/enable" 0
	rm "$iser_tpg/lun/lun_0/disk"
	rmdir "$iser_tpg/lun/lun_0" "$iser_tpg/np/$iser_portal" "$iser_tpg" \
		"$iser_wwn" "$target/iscsi"
	lio_disk_close
	wait_until 10 modprobe -r ib_isert
}

node() { iscsiadm -m node -T "$iqn" -p "$iser_portal" "$@" >>iscsi.out 2>&1; }

# iser_login: sets $disk
iser_login()
{
	modprobe -a ib_iser sd_mod
	mkdir -p /run/lock/iscsi
	pgrep -x iscsid >/dev/null || iscsid || fail 'no iscsid'
	node -I iser -o new || { cat iscsi.out; fail 'no record'; }
	node -I iser --login || { cat iscsi.out; fail 'no login'; }
	wait_until 20 find_lio_disk
}

iser_logout()
{
	node --logout || { tail -n 5 iscsi.out; fail 'no logout'; }
	node -o delete
	wait_until 10 test ! -e "$disk"
}

# iser_rounds: log in, write from and read to scattered memory and by fio, and log out
iser_rounds()
{
	local i

	iser_target_open
	for ((i = 0; i < $(times 3); i++)); do
		iser_login
		python3 /ornic/qemu-tests/lib/scattered_io.py "$disk" "$i" ||
			fail 'wrong data'
		fio --name=verify --filename="$disk" --direct=1 --rw=randwrite \
			--bsrange=4k-512k --size=16M --iodepth=16 --ioengine=libaio \
			--verify=crc32c --verify_fatal=1 >fio.out 2>&1 ||
			{ tail -n 20 fio.out; fail 'fio'; }
		iser_logout
	done
	pkill -x iscsid
	iser_target_close
	wait_until 10 no_objects "$srv_dev"
	wait_until 10 no_objects "$cli_dev"
}
