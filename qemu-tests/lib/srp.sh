# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# shellcheck shell=bash
# SCSI over RDMA (SRP) with the target and initiator of the kernel, whose MRs have gaps
# if the device has such MRs. Both are configured by files: configfs and sysfs.
#
# Target and initiator are named by the first GID of their devices.

# shellcheck source=qemu-tests/lib/lio.sh
. /ornic/qemu-tests/lib/lio.sh

srp_port=5555

need_srp()
{
	need python3
	need_modules ib_srp ib_srpt sd_mod target_core_mod
}

# first_gid DEVICE: its first GID, 32 digits
first_gid()
{
	tr -d ':\n' <"/sys/class/infiniband/$1/ports/1/gids/0"
}

# interface_id DEVICE: the second half of its first GID
interface_id() { first_gid "$1" | cut -c 17-; }

# srp_target_open: export a RAM disk of 64 MiB on $srv_dev, to the port of the interface
# ID $srp_initiator, by default that of $cli_dev
srp_target_open()
{
	local acl srp_wwn srp_tpg

	srp_wwn=$target/srpt/0x$(first_gid "$srv_dev")
	srp_tpg=$srp_wwn/tpg
	# An extension that is 0, and the interface ID of the port
	acl=$srp_tpg/acls/0x0000000000000000${srp_initiator-$(interface_id "$cli_dev")}
	modprobe ib_srpt
	lio_disk_open
	mkdir "$target/srpt" || fail 'no SRP target'
	put "$target/srpt/discovery_auth/rdma_cm_port" $srp_port
	mkdir "$srp_wwn" "$srp_tpg" "$srp_tpg/lun/lun_0" "$acl" "$acl/lun_0" ||
		fail "no target on $srv_dev"
	ln -s "$lio_disk" "$srp_tpg/lun/lun_0/disk" || fail 'the LUN has no disk'
	ln -s "$srp_tpg/lun/lun_0" "$acl/lun_0/lun" || fail 'no LUN for the peer'
	put "$acl/lun_0/write_protect" 0
	put "$srp_tpg/enable" 1
}

srp_target_close()
{
	local acl srp_wwn srp_tpg

	# The only one. Its device may be gone, with the name.
	srp_wwn=$(echo "$target"/srpt/0x*)
	srp_tpg=$srp_wwn/tpg
	put "$srp_tpg/enable" 0
	for acl in "$srp_tpg"/acls/*; do
		rm "$acl/lun_0/lun"
		rmdir "$acl/lun_0" "$acl"
	done
	rm "$srp_tpg/lun/lun_0/disk"
	rmdir "$srp_tpg/lun/lun_0" "$srp_tpg" "$srp_wwn"
	put "$target/srpt/discovery_auth/rdma_cm_port" 0
	rmdir "$target/srpt"
	lio_disk_close
	wait_until 10 modprobe -r ib_srpt
}

# srp_login: sets $disk. Data goes through MRs, however little it is.
srp_login()
{
	local guid

	guid=$(at_srv cat /sys/module/ib_srpt/parameters/srpt_service_guid)
	guid=${guid#0x}
	modprobe sd_mod
	modprobe ib_srp cmd_sg_entries=64 use_imm_data=0
	put "/sys/class/infiniband_srp/srp-$cli_dev-1/add_target" \
		"id_ext=$guid,ioc_guid=$guid,dest=$srv_ip:$srp_port,src=$cli_ip"
	wait_until 20 find_lio_disk
}

srp_logout()
{
	local port

	for port in /sys/class/srp_remote_ports/port-*; do
		put "$port/delete" 1
	done
	wait_until 10 test ! -e "$disk"
	wait_until 10 modprobe -r ib_srp
}

# gaps_in_use DEVICE: MRs with gaps that have been registered
gaps_in_use()
{
	rdma res show mr dev "$1" -dd | tr -s '\n\t ' ' ' | sed 's/ mrn /\n&/g' |
		grep -v 'mrlen 0 ' | grep -c 'drv_sg_gaps 1 '
}

# srp_rounds: log in, write from and read to scattered memory, and log out
srp_rounds()
{
	local i

	srp_target_open
	for ((i = 0; i < $(times 3); i++)); do
		srp_login
		python3 /ornic/qemu-tests/lib/scattered_io.py "$disk" "$i" ||
			fail 'wrong data'
		[ "$DEV" != ornic ] || gaps_in_use "$cli_dev" ||
			fail 'no MR with gaps was used'
		srp_logout
	done
	srp_target_close
	wait_until 10 no_objects "$srv_dev"
	wait_until 10 no_objects "$cli_dev"
}
