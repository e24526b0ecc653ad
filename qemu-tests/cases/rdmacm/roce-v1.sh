# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# shellcheck shell=bash
# This test will connect with the programs of rdmacm-utils while RoCE v1 is rdma_cm's
# default for the ports, and send to multicast groups: all packets are of RoCE v1, with
# a right ICRC, those to groups with their MAC. Then RoCEv2 is the default again.

limit=240
kernels='stock'
config=/sys/kernel/config/rdma_cm

requires()
{
	need_ornic
	# shellcheck source=qemu-tests/lib/rdmacm.sh
	. /ornic/qemu-tests/lib/rdmacm.sh
	need_rdmacm
	need mckey python3 tcpdump tshark
}

# default_mode MODE: of both devices
default_mode()
{
	local dev

	for dev in srv0 cli0; do
		echo "$1" >"$config/$dev/ports/1/default_roce_mode"
		[ "$(<"$config/$dev/ports/1/default_roce_mode")" = "$1" ] ||
			fail "$dev: no mode $1"
	done
}

programs()
{
	rping -C 5 -S 60000
	ucmatose -c 4 -C 20 -S 5000
	udaddy -c 4 -C 20 -S 1000
	mckey 2 -C 10 -S 1000
	family_of_both 6
	rping -C 5 -S 60000
	udaddy -c 2 -C 20 -S 1000
	family_of_both 4
}

# shellcheck disable=SC2016 # words of awk
run()
{
	# shellcheck source=qemu-tests/lib/rdmacm.sh
	. /ornic/qemu-tests/lib/rdmacm.sh
	# shellcheck source=qemu-tests/lib/mcast.sh
	. /ornic/qemu-tests/lib/mcast.sh
	# shellcheck source=qemu-tests/lib/capture.sh
	. /ornic/qemu-tests/lib/capture.sh
	with_roce_v1
	rdmacm_topology veth
	modprobe configfs
	mountpoint -q /sys/kernel/config || mount -t configfs none /sys/kernel/config
	mkdir $config/srv0 $config/cli0
	default_mode 'IB/RoCE v1'
	begin_tcpdump cli packets 'ether proto 0x8915 or udp port 4791'
	programs
	end_tcpdump
	dissect 200
	[ "$(packets '$2 != ""')" = 0 ] || fail 'packets with UDP'
	/ornic/qemu-tests/lib/roce_v1.py packets 100 || fail 'wrong packets'
	# 239.1.2.3, as RFC 2464 maps ff0e::ffff:239.1.2.3
	[ "$(tcpdump -r packets 'ether dst 33:33:ef:01:02:03' 2>/dev/null | wc -l)" -ge 10 ] ||
		fail 'no packets with the MAC of the group'
	default_mode 'RoCE v2'
	begin_tcpdump cli packets 'ether proto 0x8915 or udp port 4791'
	rping -C 5
	end_tcpdump
	dissect 10
	[ "$(packets '$2 == ""')" = 0 ] || fail 'packets without UDP'
	rmdir $config/srv0 $config/cli0
	no_objects "$srv_dev" || fail 'objects are left'
}
