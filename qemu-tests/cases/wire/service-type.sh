# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# shellcheck shell=bash
# This test will set the type of service by rdma_set_service_type() and by rdma_cm's
# default for the port, and look at what both ends send: DSCP of requests, responses and
# datagrams, PCP of tagged frames, and the priority by which qdiscs and VLAN devices sort
# them. Service levels of verbs do the same.

limit=200
kernels='stock'
tos=0x68 # DSCP 26
interactive=0x10 # priority 6 in Linux

requires()
{
	need_ornic
	# shellcheck source=qemu-tests/lib/rdmacm.sh
	. /ornic/qemu-tests/lib/rdmacm.sh
	need_rdmacm
	need tcpdump tshark
	modprobe -a sch_prio 8021q || skip 'the kernel lacks sch_prio or 8021q'
}

# all_have COLUMN VALUE: all packets of RC do, in both directions
all_have()
{
	[ "$(packets 'opcode < 12')" -gt 0 ] || fail 'no requests'
	[ "$(packets 'opcode == 17')" -gt 0 ] || fail 'no responses'
	[ "$(packets "rc && $1 != $2")" = 0 ] || fail "packets without $1 $2"
}

connections()
{
	captured ucmatose -c 1 -C 20 -S 5000 -t $tos
	all_have dscp 26
	captured ucmatose -c 1 -C 20 -S 5000
	all_have dscp 0
	family_of_both 6
	captured ucmatose -c 1 -C 20 -S 5000 -t $tos
	all_have dscp 26
	family_of_both 4
}

datagrams()
{
	# udaddy sends with immediate data, QP 1 does not.
	captured udaddy -c 1 -C 20 -S 1000 -t $tos
	[ "$(packets 'opcode == 101 && from_cli')" -gt 0 ] || fail 'no datagrams'
	[ "$(packets 'opcode == 101 && from_cli && dscp != 26')" = 0 ] ||
		fail 'datagrams without DSCP'
}

# The port's default, which connections have that set none
defaults()
{
	local config=/sys/kernel/config/rdma_cm/cli0

	modprobe configfs
	mountpoint -q /sys/kernel/config || mount -t configfs none /sys/kernel/config
	mkdir $config
	echo $((tos)) >$config/ports/1/default_roce_tos
	captured ucmatose -c 1 -C 20 -S 5000
	rmdir $config
	all_have dscp 26
}

# on_vlan IP COMMAND...: with the addresses of the VLAN
on_vlan()
{
	local srv_ip=10.0.5.1 cli_ip=10.0.5.2

	wait_until 5 gid_index cli0 $cli_ip
	wait_until 5 gid_index srv0 $srv_ip
	wait_until 5 on_cli ping -c 1 -W 1 $srv_ip
	"$@"
}

# vlan SIDE NUMBER: its VLAN 5, on which Linux's priority 6 is PCP 3
vlan()
{
	"on_$1" ip link add link "veth-$1" name "v5-$1" type vlan id 5 egress-qos-map 6:3 \
		ingress-qos-map 3:3
	"on_$1" ip addr add "10.0.5.$2/24" dev "v5-$1"
	"on_$1" ip link set "v5-$1" up
}

# A connection over the VLAN. tcpdump's filter for UDP does not look into tags.
tagged_connection()
{
	begin_tcpdump cli packets vlan 5
	on_vlan ucmatose -c 1 -C 20 -S 5000 -t $interactive
	end_tcpdump
	dissect 1
	all_have pcp 3
}

tagged()
{
	vlan srv 1
	vlan cli 2
	tagged_connection
	all_have vlan 5
}

# band: print how many packets priority 6 has had on the client
band()
{
	on_cli tc -s class show dev veth-cli | awk '
		/class prio 1:1 / { mine = 1 }
		/class prio 1:2 / { mine = 0 }
		mine && /Sent/ { print $4; exit }'
}

# sorted COMMAND...: it sends with priority 6
sorted()
{
	local before

	before=$(band)
	"$@"
	[ "$(band)" -gt $((before + 20)) ] || fail "priority 6 has $(band), had $before: $*"
}

priorities()
{
	local before

	on_cli tc qdisc add dev veth-cli root handle 1: prio bands 3 \
		priomap 1 1 1 1 1 1 0 1 1 1 1 1 1 1 1 1
	before=$(band)
	ucmatose -c 1 -C 20 -S 5000
	[ "$(band)" = "$before" ] || fail 'priority 6 without a type of service'
	sorted ucmatose -c 1 -C 20 -S 5000 -t $interactive
	sorted perftest ib_write_bw -n 200 -s 4096 -S 6
	on_cli tc qdisc del dev veth-cli root
}

# A soft device on a VLAN device, which makes the tag from the priority
vlan_device()
{
	rdma link delete cli0
	type=ornic add_link cli0 v5-cli "${cli_prefix[@]}"
	tagged_connection
}

run()
{
	# shellcheck source=qemu-tests/lib/rdmacm.sh
	. /ornic/qemu-tests/lib/rdmacm.sh
	# shellcheck source=qemu-tests/lib/capture.sh
	. /ornic/qemu-tests/lib/capture.sh
	rdmacm_topology veth
	connections
	datagrams
	defaults
	tagged
	priorities
	vlan_device
}
