# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# shellcheck shell=bash
# NVMe over RDMA with the kernel's own target and host, without their tools:
# configfs for the target, the file /dev/nvme-fabrics for the host.
#
# Both make their rdma_cm ids in the initial network namespace and know no
# other: so both ends of the wire are there. What keeps the two ends apart is a
# VRF for each: an address of the one is not local to the other, so that routes
# and neighbours lead over the wire. rdma_cm follows, since an id that is bound
# to an address (traddr, host_traddr) looks up routes on the device of it.
#
#   [vrf-srv: srv0 on veth-srv] ==== [vrf-cli: cli0 on veth-cli]
#          10.0.0.1                        10.0.0.2

nqn=nqn.2024-01.org.ornic:storage
nvmet=/sys/kernel/config/nvmet

need_nvme()
{
	local module

	for module in nvmet-rdma nvme-rdma brd; do
		modprobe -n "$module" 2>/dev/null || skip "no module $module"
	done
}

# vrf_wire: the topology above
vrf_wire()
{
	local name number=1

	modprobe -n vrf 2>/dev/null || skip 'no module vrf'
	ip link add veth-srv type veth peer name veth-cli
	for name in srv cli; do
		ip link add "vrf-$name" type vrf table $((100 + number))
		ip link set "vrf-$name" up
		# Before it has addresses: it loses their routes here.
		ip link set "veth-$name" master "vrf-$name"
		side "$name" "$number"
		number=$((number + 1))
	done
	add_link srv0 veth-srv
	add_link cli0 veth-cli
	srv_dev=srv0 cli_dev=cli0
	family_of_both 4
}

put() { echo "$2" >"$1" || fail "$1: $2 is refused"; }

# target_open [MODULE PARAMETERS]: a RAM disk behind $srv_ip
target_open()
{
	local subsystem=$nvmet/subsystems/$nqn port=$nvmet/ports/1

	modprobe brd rd_nr=1 rd_size=65536
	modprobe nvmet-rdma "$@"
	mountpoint -q /sys/kernel/config ||
		mount -t configfs none /sys/kernel/config
	mkdir "$subsystem"
	put "$subsystem/attr_allow_any_host" 1
	mkdir "$subsystem/namespaces/1"
	put "$subsystem/namespaces/1/device_path" /dev/ram0
	put "$subsystem/namespaces/1/enable" 1
	mkdir "$port"
	put "$port/addr_trtype" rdma
	put "$port/addr_adrfam" ipv4
	put "$port/addr_traddr" "$srv_ip"
	put "$port/addr_trsvcid" 4420
	ln -s "$subsystem" "$port/subsystems/$nqn" || fail 'the port does not listen'
}

target_close()
{
	local subsystem=$nvmet/subsystems/$nqn port=$nvmet/ports/1

	rm "$port/subsystems/$nqn"
	rmdir "$port"
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

# host_connect: sets $disk and $controller
host_connect()
{
	local options answer=

	modprobe nvme-rdma
	options="transport=rdma,nqn=$nqn,traddr=$srv_ip,trsvcid=4420"
	options+=",host_traddr=$cli_ip,nr_io_queues=2,queue_size=32"
	exec 9<>/dev/nvme-fabrics
	printf '%s' "$options" >&9 || fail "no connection: $options"
	read -r answer <&9 || :
	exec 9>&-
	controller=${answer#*instance=}
	controller=nvme${controller%%,*}
	[ -d "/sys/class/nvme/$controller" ] || fail "connected: $answer"
	wait_until 10 find_disk
}

host_disconnect()
{
	put "/sys/class/nvme/$controller/delete_controller" 1
	wait_until 10 test ! -e "/sys/class/nvme/$controller"
}

# copied BLOCK COUNT: random bytes to the disk and back, past all caches
copied()
{
	local size=$(($1 * $2))

	head -c "$size" /dev/urandom >data
	dd if=data of="$disk" bs="$1" oflag=direct status=none
	dd if="$disk" of=back bs="$1" count="$2" iflag=direct status=none
	cmp data back || fail "blocks of $1: the disk gives back something else"
	dd if=/dev/ram0 of=back bs="$1" count="$2" iflag=direct status=none
	cmp data back || fail "blocks of $1: the target has something else"
}

# disk_works: data that the command carries, one page, several, more than an MR
disk_works()
{
	copied 512 16
	copied 4096 64
	copied 65536 32
	copied $((2 << 20)) 4
	command -v fio >/dev/null || return 0
	fio --name=verify --filename="$disk" --direct=1 --rw=randwrite \
		--bsrange=4k-512k --size=16M --iodepth=16 --ioengine=libaio \
		--verify=crc32c --verify_fatal=1 >fio.out 2>&1 ||
		{ tail -n 20 fio.out; fail 'fio'; }
}

# nvme_rounds: connect, use and disconnect, with receive queues, then with SRQs
nvme_rounds()
{
	local srq i

	for srq in 0 1; do
		target_open "use_srq=$srq"
		for ((i = 0; i < $(times 10); i++)); do
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
