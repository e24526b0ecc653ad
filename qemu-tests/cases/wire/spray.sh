# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# shellcheck shell=bash
# This test will spray connections over four UDP source ports: requests and responses have
# four each, data arrives whole. Without the attribute there is one. Only root changes it.

limit=300
kernels='stock'
sys=/sys/class/infiniband

requires()
{
	need_ornic
	need tcpdump tshark
}

# ports CONDITION: print how many source ports the packets have that meet it
ports() { values "$1" sport | sort -u | wc -l; }

attribute()
{
	local file=$sys/cli0/spray value

	[ "$(<$file)" = 0 ] || fail 'it is on'
	for value in 17 -1 x ''; do
		! (echo "$value" >$file) 2>err || fail "accepted: $value"
	done
	! "${as_nobody[@]}" bash -c "echo 4 >$file" || fail 'nobody writes it'
	! setpriv --bounding-set=-net_admin bash -c "echo 4 >$file" ||
		fail 'written without CAP_NET_ADMIN'
	[ "$(<$file)" = 0 ] || fail 'a wrong value was taken'
}

run()
{
	# shellcheck source=qemu-tests/lib/capture.sh
	. /ornic/qemu-tests/lib/capture.sh
	topology veth
	attribute
	captured perftest ib_write_bw -n 200 -s 16384
	[ "$(ports 'opcode <= 11')" = 1 ] || fail 'ports of requests'
	echo 4 >$sys/cli0/spray
	echo 4 >$sys/srv0/spray
	captured perftest ib_write_bw -n 200 -s 16384
	[ "$(ports 'opcode <= 11')" = 4 ] || fail 'requests: not four ports'
	captured perftest ib_read_bw -n 100 -s 16384
	[ "$(ports 'opcode >= 13 && opcode <= 16')" = 4 ] ||
		fail 'READ responses: not four ports'
	[ "$(packets 1)" -ge 100 ] || fail 'nothing was captured'
	echo 0 >$sys/cli0/spray
	captured perftest ib_write_bw -n 200 -s 16384
	[ "$(ports 'opcode <= 11')" = 1 ] || fail 'sprayed without the attribute'
}
