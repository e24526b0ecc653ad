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

# captured PROGRAM [OPTIONS]: capture its packets
captured()
{
	local capture

	rm -f packets tcpdump.log
	"${cli_prefix[@]}" tcpdump -i veth-cli --immediate-mode -U -B 32768 -s 128 \
		-w packets udp port 4791 2>tcpdump.log &
	capture=$!
	wait_until 10 grep -q listening tcpdump.log
	perftest "$@"
	kill -INT "$capture"
	wait "$capture" || :
}

# ports FILTER: print how many source ports the packets have that match
ports()
{
	tshark -r packets -Y "$1" -T fields -e udp.srcport 2>/dev/null | sort -u | wc -l
}

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
	topology veth
	attribute
	captured ib_write_bw -n 200 -s 16384
	[ "$(ports 'infiniband.bth.opcode <= 11')" = 1 ] || fail 'ports of requests'
	echo 4 >$sys/cli0/spray
	echo 4 >$sys/srv0/spray
	captured ib_write_bw -n 200 -s 16384
	[ "$(ports 'infiniband.bth.opcode <= 11')" = 4 ] || fail 'requests: not four ports'
	captured ib_read_bw -n 100 -s 16384
	[ "$(ports 'infiniband.bth.opcode >= 13 && infiniband.bth.opcode <= 16')" = 4 ] ||
		fail 'READ responses: not four ports'
	/ornic/qemu-tests/lib/dissect.sh packets 100 || fail 'tshark reports invalid packets'
	echo 0 >$sys/cli0/spray
	captured ib_write_bw -n 200 -s 16384
	[ "$(ports 'infiniband.bth.opcode <= 11')" = 1 ] || fail 'sprayed without the attribute'
}
