# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# shellcheck shell=bash
# NVMe over RDMA with the target and host of the kernel: configfs configures the
# target, nvme-cli the host, and fio verifies its data.
#
# Both create their ids of rdma_cm in the initial network namespace: topology initial.

nqn=nqn.2024-01.org.ornic:storage
nvmet=/sys/kernel/config/nvmet
# Of the host. With no name in /etc/nvme, nvme invents one, for which Linux 6.12 has
# another id already.
hostid=6f726e69-6300-4000-8000-000000000001

need_nvme()
{
	need nvme fio
	need_modules nvmet-rdma nvme-rdma brd
}

put() { echo "$2" >"$1" || fail "$1: $2 is refused"; }

port_listen() { ln -s "$nvmet/subsystems/$nqn" "$nvmet/ports/$1/subsystems/$nqn"; }

# port_open NUMBER ADDRESS: of the target
port_open()
{
	local port=$nvmet/ports/$1

	mkdir "$port"
	put "$port/addr_trtype" rdma
	put "$port/addr_adrfam" ipv4
	put "$port/addr_traddr" "$2"
	put "$port/addr_trsvcid" 4420
	port_listen "$1" || fail "nothing listens at $2"
}

port_close()
{
	rm "$nvmet/ports/$1/subsystems/$nqn"
	rmdir "$nvmet/ports/$1"
}

# target_open [MODULE PARAMETERS]: export a RAM disk of $disk_mib MiB at $srv_ip
target_open()
{
	local subsystem=$nvmet/subsystems/$nqn

	modprobe brd rd_nr=1 rd_size=$((${disk_mib:-64} * 1024))
	modprobe nvmet-rdma "$@"
	mount_configfs
	mkdir "$subsystem"
	put "$subsystem/attr_allow_any_host" 1
	mkdir "$subsystem/namespaces/1"
	put "$subsystem/namespaces/1/device_path" /dev/ram0
	put "$subsystem/namespaces/1/enable" 1
	port_open 1 "$srv_ip"
}

# nvme_listen_again: the target has lost its device, and does not listen any more
nvme_listen_again()
{
	rm "$nvmet/ports/1/subsystems/$nqn"
	port_listen 1 || fail 'the port does not listen'
}

target_close()
{
	local subsystem=$nvmet/subsystems/$nqn

	port_close 1
	put "$subsystem/namespaces/1/enable" 0
	rmdir "$subsystem/namespaces/1" "$subsystem"
	wait_until 10 modprobe -r nvmet-rdma
	modprobe -r nvmet brd
}

find_disk()
{
	local node

	disk=
	for node in /dev/nvme*n1; do
		[ ! -b "$node" ] || disk=$node
	done
	[ -n "$disk" ]
}

# host_connect [OPTIONS]: sets $disk
# shellcheck disable=SC2120 # cases give some
host_connect()
{
	modprobe nvme-rdma
	nvme connect --transport=rdma --nqn="$nqn" --traddr="$srv_ip" \
		--trsvcid=4420 --host-traddr="$cli_ip" --nr-io-queues=2 \
		--hostid=$hostid \
		--hostnqn="nqn.2014-08.org.nvmexpress:uuid:$hostid" \
		--queue-size=32 "$@" >connect.out 2>&1 ||
		{ cat connect.out; fail 'no connection'; }
	wait_until 10 find_disk
}

host_disconnect()
{
	nvme disconnect --nqn="$nqn" >disconnect.out 2>&1 ||
		{ cat disconnect.out; fail 'cannot disconnect'; }
	wait_until 10 test ! -e "$disk"
}

# target_sum BLOCK COUNT: of what the target has
target_sum()
{
	dd if=/dev/ram0 bs="$1" count="$2" iflag=direct status=none | sha256sum
}

# copied BLOCK COUNT: write random data with direct I/O and compare
copied()
{
	local size=$(($1 * $2))

	head -c "$size" /dev/urandom >data
	dd if=data of="$disk" bs="$1" oflag=direct status=none ||
		fail 'the disk cannot be written'
	dd if="$disk" of=back bs="$1" count="$2" iflag=direct status=none ||
		fail 'the disk cannot be read'
	cmp data back || fail "block size $1: wrong data from the disk"
	[ "$(at_srv target_sum "$1" "$2")" = "$(sha256sum <data)" ] ||
		fail "block size $1: wrong data on the target"
}

# disk_works: in-capsule data, one page, several pages, more than one MR
disk_works()
{
	copied 512 16
	copied 4096 64
	copied 65536 32
	copied $((2 << 20)) 4
	fio --name=verify --filename="$disk" --direct=1 --rw=randwrite \
		--bsrange=4k-512k --size=16M --iodepth=16 --ioengine=posixaio \
		--verify=crc32c --verify_fatal=1 >fio.out 2>&1 ||
		{ tail -n 20 fio.out; fail 'fio'; }
}

# nvme_rounds: connect, use and disconnect; with receive queues, then with SRQs
nvme_rounds()
{
	local srq i

	for srq in 0 1; do
		target_open "use_srq=$srq"
		for ((i = 0; i < $(times 10); i++)); do
			# shellcheck disable=SC2119
			host_connect
			disk_works
			host_disconnect
		done
		modprobe -r nvme-rdma
		target_close
		wait_until 10 no_objects "$srv_dev"
		wait_until 10 no_objects "$cli_dev"
	done
}
