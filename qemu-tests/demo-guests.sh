#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#
# The second scene of `make demo`: two guests with PCI NICs of one ornic-nic on the host.
# Programs run over these, and then over rxe on the virtio-nets of the same guests. This
# script runs in one of them; the other one is the server.
set -u

# shellcheck source=qemu-tests/lib/guest.sh
. /ornic/qemu-tests/lib/guest.sh
# shellcheck source=qemu-tests/lib/rdmacm.sh
. /ornic/qemu-tests/lib/rdmacm.sh
# shellcheck source=qemu-tests/lib/demo.sh
. /ornic/qemu-tests/lib/demo.sh

rows=('ib_write_lat 8 1000' 'ib_send_lat 8 1000' 'ib_read_lat 8 1000'
	'ib_write_bw 65536 500' 'ib_read_bw 65536 500' 'ib_write_bw 1048576 50')

# measure PROGRAM SIZE COUNT
measure()
{
	(perftest "$1" -s "$2" -n "$3") >log || { cat log >&2; exit 1; }
	value "$1" cli.out
}

# column: measure all rows between $cli_dev and $srv_dev
column()
{
	local row

	for row in "${rows[@]}"; do
		# shellcheck disable=SC2086 # three words
		measure $row
		echo
	done
}

ping_over()
{
	printf '\n$ rping -c -a %s -V -C 5 -S 60000\n' "$srv_ip"
	rping -C 5 -S 60000
	echo "rping: five times 60000 bytes from $cli_dev to $srv_dev and back"
}

# rxe_link: add it on the virtio-net of this guest, without ornic taking its packets
rxe_link()
{
	modprobe -r ornic
	type=rxe add_link rxe0 eth0
}

title 'Two guests, each with a PCI NIC'
topology peer
show lspci -nnks "$(nic_pci)"
show ibv_devices
show rdma link show
ping_over
column >ornic

title 'The same two guests, with rxe on virtio-net'
rxe_link
at_srv "modprobe -r ornic; type=rxe add_link rxe0 eth0"
srv_dev=rxe0 cli_dev=rxe0 srv_type=rxe cli_type=rxe
family_of_both 4
show rdma link show
ping_over
column >rxe

title 'perftest, between the two guests'
printf '%-14s %8s  %14s  %14s\n' program bytes 'PCI NIC' 'rxe'
printf '%s\n' "${rows[@]}" | cut -d ' ' -f 1,2 | paste -d '|' - ornic rxe |
	while IFS='|' read -r row a b; do
		printf '%-14s %8s  %14s  %14s\n' "${row% *}" "${row#* }" "$a" "$b"
	done
echo
echo 'demo: complete'
