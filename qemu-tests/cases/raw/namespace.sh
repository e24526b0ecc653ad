# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# shellcheck shell=bash
# This test will have raw packet QPs and flow rules refused to who lacks CAP_NET_RAW,
# and move a netdev to another namespace: its raw packet QPs and rules end, and its
# filter closes. Who has the right in the other one starts the QPs again.

limit=240

requires()
{
	need_ornic
	need_pyverbs
	need setpriv unshare bridge ping
}

# refused COMMAND...: who runs raw_sink.py like this may not
refused()
{
	local status=0

	on_srv timeout 60 "$@" /usr/bin/python3 /ornic/qemu-tests/lib/raw_sink.py \
		"$srv_dev" udp 5000 take >refused.out 2>&1 || status=$?
	grep -q 'Errno: 1, Operation not permitted' refused.out ||
		fail "$*: status $status, $(tail -n 3 refused.out)"
}

promiscuity()
{
	on_srv ip -d link show veth-srv | sed -n 's/.*promiscuity \([0-9]*\).*/\1/p'
}

passes() { on_srv bridge fdb show dev veth-srv | grep "^$address "; }

# The QPs of all three programs have ended, which keep them and their rules.
move()
{
	local file

	ip netns add other
	on_srv ip link set veth-srv netns other
	srv_prefix=(ip netns exec other)
	for file in taken sniffed addressed; do
		wait_until 20 grep -q ended "$file"
	done
	on_srv ip link set lo up
	on_srv ip addr add "$srv_host/24" dev veth-srv
	on_srv ip link set veth-srv up
	wait_until 10 on_cli ping -c 1 -W 1 "$srv_host"
}

run()
{
	local address=02:00:00:00:00:77 taker sniffer addressee before

	# shellcheck source=qemu-tests/lib/raw.sh
	. /ornic/qemu-tests/lib/raw.sh
	topology veth
	refused setpriv --reuid 65534 --clear-groups --bounding-set -all \
		--inh-caps -all
	refused setpriv --bounding-set -net_raw --inh-caps -net_raw
	# Its own namespace of users gives rights there only.
	refused unshare --user --map-root-user
	begin_sink taken udp 5000 take
	taker=$sink
	udp_to 5000 10
	begin_sink sniffed sniffer
	sniffer=$sink
	begin_sink addressed mac "$address" take
	addressee=$sink
	[ "$(promiscuity)" -ge 1 ] || fail 'the filter is not open'
	passes || fail 'the filter does not have the address'
	move

	before=$(udp_received)
	udp_to 5000 20
	wait_until 5 has_received 20
	[ "$(promiscuity)" = 0 ] || fail 'the filter is open elsewhere'
	on_srv ip link add mac0 link veth-srv address "$address" type macvlan
	on_srv ip link set mac0 up
	passes || fail 'the filter does not have the address of the macvlan'

	sink=$sniffer sink_out=sniffed end_restarted
	sink=$addressee sink_out=addressed end_restarted
	sink=$taker sink_out=taken end_restarted
	[ "$frames" = 10 ] || fail 'frames'
	passes || fail 'the macvlan has lost its address'
	on_srv ip link delete mac0
	[ "$(promiscuity)" = 0 ] || fail 'the filter is not as before'
	no_objects "$srv_dev" || fail 'objects are left'
}
