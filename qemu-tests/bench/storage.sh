# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# shellcheck shell=bash
# The guest "storage" of `make bench`: a target and a host of NVMe in one kernel. Read after
# lib/guest.sh and serve.sh, by guest.sh. The disk is null_blk, so the transport is what
# takes time: RDMA on one device of ornic or rxe, TCP by the same address, and "local", the
# kernel's loopback of NVMe without a network. Only one device is there at a time, since both
# want the UDP port of the initial namespace.

# shellcheck source=qemu-tests/lib/nvme.sh
. "$tests/lib/nvme.sh"

set_up_storage()
{
	local subsystem=$nvmet/subsystems/$nqn

	modprobe -a null_blk nvmet-rdma nvmet-tcp nvme-loop nvme-rdma nvme-tcp
	mount_configfs
	mkdir "$subsystem" "$subsystem/namespaces/1"
	put "$subsystem/attr_allow_any_host" 1
	put "$subsystem/namespaces/1/device_path" /dev/nullb0
	put "$subsystem/namespaces/1/enable" 1
	wire disk
	ip addr add 10.0.0.1/24 dev disk-srv
	ip link set disk-srv up
	ip link set disk-cli up
	# No program names them.
	ornic_srv_gid=- rxe_srv_gid=-
}

# nvme_connect: to the target by the peer's transport; sets $disk
nvme_connect()
{
	local port=$nvmet/ports/1 transport=rdma address=() _

	case $name_of_peer in
	local) transport=loop ;;
	tcp) transport=tcp ;;
	*)
		type=${name_of_peer%-loop} add_link disk0 disk-srv
		wait_until 5 gid_index disk0 10.0.0.1
		;;
	esac
	mkdir "$port" || return
	echo "$transport" >"$port/addr_trtype"
	if [ "$transport" != loop ]; then
		echo ipv4 >"$port/addr_adrfam"
		echo 10.0.0.1 >"$port/addr_traddr"
		echo 4420 >"$port/addr_trsvcid"
		address=(--traddr=10.0.0.1 --trsvcid=4420)
	fi
	ln -s "$nvmet/subsystems/$nqn" "$port/subsystems/$nqn" || return
	nvme connect --transport="$transport" --nqn="$nqn" --hostid=$hostid \
		--hostnqn="nqn.2014-08.org.nvmexpress:uuid:$hostid" \
		"${address[@]}" >cli.out 2>&1 || return
	for _ in {1..50}; do
		! find_disk || return 0
		blink
	done
	return 1
}

nvme_disconnect()
{
	nvme disconnect --nqn="$nqn" >/dev/null 2>&1
	rm "$nvmet/ports/1/subsystems/$nqn"
	rmdir "$nvmet/ports/1"
	[ ! -e /sys/class/infiniband/disk0 ] || del_link disk0
	[ ! -e /sys/module/rdma_rxe ] || wait_until 10 rmmod rdma_rxe
} 2>/dev/null

# fio_fields DIRECTION SIZE DEPTH OPTIONS...: of fio's terse line, for a second, in
# $fields. KiB/s of reads are in ${fields[6]}, IOPS in 7; of writes in 47 and 48
fio_fields()
{
	IFS=';' read -r -a fields < <(fio --name=bench --direct=1 --rw="$1" --bs="$2" \
		--iodepth="$3" --ioengine=libaio --runtime=1 --ramp_time=0.3 \
		--time_based --output-format=terse "${@:4}" 2>cli.out)
}

# megabytes KIB: of that, a second
megabytes() { echo $((${1:-0} * 1024 / 1000000)); }

# note_failure NAME: say why, unless $status is ok
note_failure()
{
	[ "$status" = ok ] && return
	last_lines 3 cli.out
	note "$name_of_peer: $1: $status: $lines"
}

# nvme_values SECONDS DEPTH...: sets $status $numbers
nvme_values()
{
	local limit=$1 depth fields SECONDS=0

	shift
	status=ok numbers=''
	nvme_connect || status=no-connection
	for depth; do
		[ "$status" = ok ] || break
		[ "$SECONDS" -lt "$limit" ] || break
		fio_fields randread 4k "$depth" --filename="$disk"
		numbers+="nvme-4k-d$depth=${fields[7]-0} "
		fio_fields randread 128k "$depth" --filename="$disk"
		numbers+="nvme-128k-d$depth=$(megabytes "${fields[6]}") "
	done
	nvme_disconnect
	[ "$status" != ok ] || [[ $numbers == *"d${*: -1}"=[1-9]* ]] || status=no-result
	note_failure nvme
}
