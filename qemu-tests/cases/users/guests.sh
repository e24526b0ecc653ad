# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# shellcheck shell=bash
# This test will use a disk or files of another guest by the PCI NIC: NVMe, SRP, iSER and
# NFS 4.2, verified. While a program writes, the NIC of each end goes and comes back: either
# the program does not notice, or it ends with an error, and all works again.
#
# The NICs of one process need no frames: their drivers are unbound, NVMe's PCI function is
# removed, and the worker of both dies. NICs of two processes (wire) use a wire that
# loses frames, and the worker of each dies.

variants='nvme srp iser nfs
	nvme-wire machines=nic/nic srp-wire machines=nic/nic
	iser-wire machines=nic/nic nfs-wire machines=nic/nic'
machines=nic+nic
kernels='stock'
limit=300
full_limit=600

# shellcheck source=qemu-tests/lib/two_guests.sh
. /ornic/qemu-tests/lib/two_guests.sh

protocol=${VARIANT%-wire}

requires()
{
	need_ornic
	need fio
	"need_$protocol"
}

by_wire() { [ "$VARIANT" != "$protocol" ]; }

# works COMMAND...: it does, by memory or by a wire, there also under loss
works()
{
	local frames

	frames=$(nic_stat 0 roce_frames)
	over_nic "$@"
	frames=$(($(nic_stat 0 roce_frames) - frames))
	if by_wire; then
		[ "$frames" -gt 1000 ] || fail 'not by the wire'
		with_wire_loss over_nic "$@"
	else
		[ "$frames" = 0 ] || fail "by $frames frames"
	fi
}

# goes srv|cli: its NIC goes. With its worker it is back at once.
goes()
{
	if ! by_wire; then
		unbind_end "$1"
	elif [ "$1" = srv ]; then
		worker_dies 1 srv
	else
		worker_dies 0 cli
	fi
}

comes_back() { by_wire || bind_end "$1"; }

# The host connects again by itself, until its own device goes.
by_nvme()
{
	at_srv target_open
	host_connect --reconnect-delay=1
	works disk_works
	meanwhile disk goes srv
	comes_back srv
	at_srv nvme_listen_again
	continues
	over_nic disk_works
	meanwhile disk goes cli
	comes_back cli
	nvme_is_new
	if ! by_wire; then
		meanwhile disk remove_nic
		rescan_nic
		nvme_is_new
		meanwhile disk worker_dies 0 srv cli
		at_srv nvme_listen_again
		nvme_is_new
	fi
	host_disconnect
	modprobe -r nvme-rdma
	at_srv target_close
}

# nvme_is_new: the disk has gone with the host's NIC, and a new connection has it
nvme_is_new()
{
	ends
	wait_until 10 test ! -e "$disk"
	wait_until 60 at_srv no_qps ornic0
	host_connect --reconnect-delay=1
	over_nic disk_works
}

by_srp()
{
	at_srv srp_target_open
	srp_login
	works disk_is_right
	# A NIC that has failed is more than ib_srp can take, see users.rst.
	if ! by_wire; then
		meanwhile disk goes cli
		ends
		comes_back cli
		srp_login
		over_nic disk_is_right
	fi
	meanwhile disk goes srv
	comes_back srv
	at_srv srp_target_close
	# Before there is a target again, whose disk has lost all.
	ends
	at_srv srp_target_open
	srp_logout
	srp_login
	over_nic disk_is_right
	srp_logout
	at_srv srp_target_close
}

# The session waits for the NIC of either end.
by_iser()
{
	at_srv iser_target_open
	iser_login
	works disk_is_right
	meanwhile disk goes cli
	comes_back cli
	continues
	over_nic disk_is_right
	meanwhile disk goes srv
	comes_back srv
	at_srv iser_listen_again
	continues
	over_nic disk_is_right
	iser_logout
	pkill -x iscsid
	at_srv iser_target_close
}

# The mount waits for the NIC of either end, and the server listens to all of them.
by_nfs()
{
	mkdir -p "$mount_dir"
	at_srv nfs_server_open
	nfs_mount 4.2
	works files_are_right
	meanwhile file goes cli
	comes_back cli
	continues_on_nfs
	over_nic files_are_right
	meanwhile file goes srv
	comes_back srv
	continues
	over_nic files_are_right
	umount "$mount_dir" || fail 'it cannot be unmounted'
	at_srv nfs_server_close
}

run()
{
	two_guests
	# A case that failed may have left some.
	! by_wire || set_loss 0
	"by_$protocol"
	wait_until 10 no_objects ornic0
	wait_until 10 at_srv no_objects ornic0
}
