# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# shellcheck shell=bash
# Disks and files between two guests with a PCI NIC each: the target or server is in the
# peer, the initiator or client, and what writes and verifies, in this guest. Each end's
# NIC is called srv or cli.

# shellcheck source=qemu-tests/lib/nvme.sh
. /ornic/qemu-tests/lib/nvme.sh
# shellcheck source=qemu-tests/lib/srp.sh
. /ornic/qemu-tests/lib/srp.sh
# shellcheck source=qemu-tests/lib/iser.sh
. /ornic/qemu-tests/lib/iser.sh
# shellcheck source=qemu-tests/lib/nfs.sh
. /ornic/qemu-tests/lib/nfs.sh
# shellcheck source=qemu-tests/lib/writer.sh
. /ornic/qemu-tests/lib/writer.sh

# Two guests share the CPUs of the host, and the wire loses frames.
write_rate=8m

# two_guests: topology peer, with the functions of this file for at_srv
two_guests()
{
	topology peer
	iser_portal=$srv_ip:3260
	srv_prelude='set -eu; . /ornic/qemu-tests/lib/two_guests.sh'
	srv_prelude+="; srv_dev=$srv_dev srv_ip=$srv_ip iser_portal=$iser_portal"
	srv_prelude+=" srp_initiator=$(interface_id "$cli_dev")"
}

# at_end srv|cli FUNCTION [ARGUMENTS]: in the guest of that end
at_end()
{
	case $1 in
	srv) at_srv "${@:2}" ;;
	cli) "${@:2}" ;;
	esac
}

# over_nic COMMAND...: it moves 5 MB or more by the NICs
over_nic()
{
	local before

	before=$(carried_by_both)
	"$@"
	carries 5000000 "$before" carried_by_both || fail "not by the NIC: $*"
}

# Frames that the wire has lost, and what both ends have sent again
lost_frames()
{
	local here there

	here=$(nic_stat 0 lost)
	there=$(nic_stat 1 lost)
	echo $((here + there))
}
sent_again()
{
	local here there

	here=$(resends ornic0)
	there=$(at_srv resends ornic0)
	echo $((here + there))
}

# set_loss RATE: of both processes
set_loss()
{
	local process

	for process in 0 1; do
		host ask $process faults "loss=$1" || fail 'no loss'
	done
}

# with_wire_loss COMMAND...: while the wire loses 1 % in each direction
with_wire_loss()
{
	local lost again

	lost=$(lost_frames)
	again=$(sent_again)
	set_loss 0.01
	"$@"
	set_loss 0
	lost=$(($(lost_frames) - lost))
	again=$(($(sent_again) - again))
	echo "$lost frames lost, $again times sent again"
	[ "$lost" -gt 0 ] || fail 'nothing was lost'
	[ "$again" -gt 0 ] || fail 'nothing was sent again'
}

# ---- The end of a NIC -------------------------------------------------------

# nic_works ADDRESS: the NIC has its link and the GID of that address
nic_works() { link_up ornic0 && gid_index ornic0 "$1"; }

# await_nic srv|cli
await_nic()
{
	local -n address=${1}_ip

	wait_until 60 at_end "$1" nic_works "$address"
}

# unbind_end, bind_end srv|cli: the driver of its NIC
unbind_end() { ends_within 20 at_end "$1" unbind_nic; }
bind_end()
{
	at_end "$1" bind_nic
	await_nic "$1"
}

# remove_nic, rescan_nic: the PCI function of this guest
remove_nic()
{
	echo 1 >"/sys/bus/pci/devices/$(nic_pci)/remove"
	nic_gone || fail 'the device is still there'
	! nic_pci || fail 'the function is still there'
}
rescan_nic()
{
	echo 1 >/sys/bus/pci/rescan
	await_nic cli
}

# nic_made: print the number of the device in sysfs, a new one for each new device
nic_made() { find -L /sys/class/infiniband/ornic0 -maxdepth 0 -printf '%i\n'; }

# nic_made_again NUMBER: nic_made was NUMBER before
nic_made_again() { link_up ornic0 && [ "$(nic_made)" != "$1" ]; }

# worker_dies PROCESS srv|cli...: SIGKILL of a worker of ornic-nic: the NICs of these ends
# fail, and their drivers make the devices again
worker_dies()
{
	local end
	local -A made=()

	for end in "${@:2}"; do
		made[$end]=$(at_end "$end" nic_made)
	done
	! ended "$writer" || fail 'the program has ended before'
	host kill-worker "$1"
	for end in "${@:2}"; do
		wait_until 60 at_end "$end" nic_made_again "${made[$end]}"
		await_nic "$end"
	done
}

# ---- Files ------------------------------------------------------------------

# both_see NAME: the client and the server have the same file of that name
both_see()
{
	local sum

	sum=$(sha256sum <"$mount_dir/$1") || fail "$1 cannot be read"
	[ "$(at_srv "sha256sum <$export_dir/$1")" = "$sum" ] || fail "$1 differs"
}

# files_are_right: files that either end writes, and fio
files_are_right()
{
	head -c 3000001 /dev/urandom >"$mount_dir/up" || fail 'up cannot be written'
	sync "$mount_dir/up" || fail 'up cannot be written back'
	at_srv "head -c 3000001 /dev/urandom >$export_dir/down" || fail 'no file'
	forget_caches
	both_see up
	both_see down
	fio_verifies --rw=randrw --bsrange=512-512k --size=8M --iodepth=8 ||
		{ tail -n 20 fio.out; fail 'fio'; }
}
