# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# shellcheck shell=bash
# Four hosts in one guest, at a switch: namespaces n1 to n4, each with a netdev, addresses
# and a device that no other sees (exclusive mode). mpirun is at the switch and starts its
# processes on the hosts as it does by ssh. Or guests, one of which has mpirun.

# shellcheck source=qemu-tests/lib/exclusive.sh
. /ornic/qemu-tests/lib/exclusive.sh

hosts=(n1 n2 n3 n4)

# host_has_gid HOST: of its address of IPv4
host_has_gid()
{
	index_of "$1" "10.0.0.${1#n}" ip netns exec "$1"
}

# host_stat HOST COUNTER: as stat, of its device
host_stat()
{
	case $1 in
	n*) ip netns exec "$1" cat "/sys/class/infiniband/$1/ports/1/hw_counters/$2" ;;
	"$cli_ip") stat ornic0 "$2" ;;
	*) peer_ip=$1 "$peer" stat ornic0 "$2" ;;
	esac
}

cluster_open()
{
	local host

	exclusive
	ip link add switch type bridge
	ip addr add 10.0.0.254/24 dev switch
	ip link set switch up
	for host in "${hosts[@]}"; do
		ip link add "port-$host" type veth peer name "veth-$host"
		ip link set "port-$host" mtu 4500 master switch up
		side "$host" "${host#n}" "$host"
		ip netns exec "$host" rdma link add "$host" type "$DEV" netdev "veth-$host"
	done
	for host in "${hosts[@]}"; do
		wait_until 10 host_has_gid "$host"
	done
	# Each is a host of its own: its processes share memory with each other only.
	cat >on_host <<-'END'
		#!/bin/sh
		host=$1
		shift
		exec ip netns exec "$host" unshare --uts --ipc sh -c \
			"hostname $host; exec sh -c '$*'"
	END
	chmod +x on_host
}

# other_guest ADDRESS: it has a NIC that works, and what mpirun needs
other_guest()
{
	local -x peer_ip=$1

	wait_until 60 peer_answers
	"$peer" nic_up
	"$peer" modprobe rdma_ucm
	# The daemon of mpirun looks for it on each host.
	"$peer" "mkdir -p '$PWD'; ln -sf /bin/false '$PWD/on_host'"
}

# cluster_of_guests: the hosts are guests with a PCI NIC each
cluster_of_guests()
{
	local number

	topology peer
	hosts=("$cli_ip")
	for ((number = 1; number <= MACHINES; number++)); do
		[ "10.0.0.$number" != "$cli_ip" ] || continue
		other_guest "10.0.0.$number"
		hosts+=("10.0.0.$number")
	done
	cat >on_host <<-END
		#!/bin/sh
		export peer_ip=\$1
		shift
		exec "$peer" "\$*"
	END
	chmod +x on_host
}

# on_cluster RANKS OPTIONS... PROGRAM: with so many ranks on each host; output: mpi.out
on_cluster()
{
	local each=$1 list status=0

	shift
	list=$(printf ",%s:$each" "${hosts[@]}")
	echo "mpirun $*"
	timeout -s KILL $((200 * SCALE)) mpirun --allow-run-as-root --host "${list#,}" \
		--mca plm_rsh_agent "$PWD/on_host" --mca oob_tcp_if_include 10.0.0.0/24 \
		--mca mpi_yield_when_idle 1 "$@" >mpi.out 2>&1 ||
		status=$?
	[ "$status" = 0 ] && return
	# The reason may be above the stacks of all ranks.
	grep -E -m 5 'error|ERROR' mpi.out || true
	tail -n 30 mpi.out
	fail "status $status"
}

# expect_traffic BYTES: each device has sent that much since it was made
expect_traffic()
{
	local host

	# Guests of one ornic-nic need no packets.
	for host in "${hosts[@]}"; do
		[ $(($(host_stat "$host" tx_bytes) + $(host_stat "$host" loop_bytes))) -gt "$1" ] ||
			fail "the device of $host was not used"
	done
}
