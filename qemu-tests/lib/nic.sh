# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# shellcheck shell=bash
# Functions for cases with machines=; sourced by guest.sh. The PCI NIC is ornic0, its
# netdev eth0. Two more topologies:
#
#   nic           the NIC of this guest is both server and client
#
#   peer          [peer: ornic0, or srv0 of $srv_type] ===== [this guest: ornic0]
#                       10.0.0.1, fd00::1               10.0.0.2, fd00::2
#
# A guest without a NIC has a link on its virtio-net instead: srv0, cli0.
# Guests after these two are at 10.0.0.3, fd00::3 and so on: peer_ip=ADDRESS "$peer" runs a
# command there.
#
# host COMMAND... runs a command of lib/topology.py on the host: ask, dissect,
# kill-nic, stop-nic, continue-nic and kill-worker (of process 0 or 1),
# kill-peer, start-peer.

peer=/ornic/qemu-tests/lib/peer.sh

# at_srv FUNCTION [ARGUMENTS]: run a function of guest.sh in the guest of the server, with
# the same $gid_type. The shell of that guest is a new one each time, and runs
# $srv_prelude first, which may load other functions and set variables.
at_srv()
{
	if srv_is_peer; then
		"$peer" "gid_type='${gid_type-}'; ${srv_prelude:-:}; $*"
	else
		"$@"
	fi
}

srv_is_peer() { [ "${srv_prefix[0]-}" = "$peer" ]; }

host()
{
	local port response

	for port in /sys/class/virtio-ports/*; do
		[ "$(cat "$port/name")" = org.ornic.host ] || continue
		exec 9<>"/dev/${port##*/}"
		echo "$*" >&9
		IFS= read -r -t 60 response <&9 || response='error: no response'
		exec 9>&-
		echo "$response"
		[[ $response != error* ]]
		return
	done
	return 1
}

# nic_stat PROCESS KEY: print a number of `ornic-nic --ask stats`
nic_stat()
{
	local response value

	response=$(host ask "$1" stats) || :
	value=${response#*\""$2"\": }
	value=${value%%[,\}]*}
	if [[ ! $value =~ ^[0-9]+$ ]]; then
		echo "no $2 in '$response'" >&2
		return 1
	fi
	echo "$value"
}

# nic_up: load the driver and wait for the link
nic_up()
{
	modprobe ornic
	wait_until 20 link_up ornic0
}

# nic_gone: the device is removed
nic_gone() { [ ! -e /sys/class/infiniband/ornic0 ]; }

# unbind_nic, bind_nic: take its driver from the NIC, and give it back
nic_driver=/sys/bus/pci/drivers/ornic
unbind_nic()
{
	nic_pci >$nic_driver/unbind
	nic_gone || fail 'the device is still there'
}
bind_nic() { nic_pci >$nic_driver/bind; }

# nic_pci: print its PCI address, also without driver
nic_pci()
{
	local dev

	for dev in /sys/bus/pci/devices/*; do
		[ "$(cat "$dev/vendor" "$dev/device")" = $'0x1af4\n0x1110' ] || continue
		echo "${dev##*/}"
		return
	done
	return 1
}

peer_answers() { "$peer" true; }

topology_nic()
{
	[ "${NIC-}" = 1 ] || fail 'the case lacks machines='
	nic_up
	srv_dev=ornic0 cli_dev=ornic0 srv_type=ornic cli_type=ornic
	srv_host=10.0.0.1
	if [ "$MACHINES" != 1 ]; then
		# Another guest is the first one.
		srv_host=10.0.0.2
	fi
	family_of_both "${1:-4}"
}

topology_peer()
{
	[ "${MACHINES-0}" -gt 1 ] || fail 'the case lacks machines='
	srv_prefix=("$peer")
	cli_dev=ornic0 cli_type=ornic
	if [ "$NIC" = 1 ]; then
		nic_up
	else
		cli_dev=cli0
		type=ornic add_link cli0 eth0
	fi
	wait_until 60 peer_answers
	if [ "$PEER_NIC" = 1 ]; then
		srv_dev=ornic0 srv_type=ornic
		at_srv nic_up
	else
		srv_dev=srv0 srv_type=${srv_type:-ornic}
		"$peer" "type=$srv_type add_link srv0 eth0"
	fi
	srv_host=10.0.0.1
	family_of_both "${1:-4}"
	wait_until 5 ping -c 1 -W 1 "$srv_ip"
}
