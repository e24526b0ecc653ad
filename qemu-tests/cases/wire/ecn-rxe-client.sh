# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# shellcheck shell=bash
# This test will mark requests of rxe to a soft device, which answers with CNPs: rxe drops
# them, and all operations deliver their data as before. rxe sees neither BECN nor another
# packet that it does not know.

limit=300
kernels='stock'

requires()
{
	need_ornic
	need tcpdump tshark
}

# count FILTER: print how many packets of the capture match
count() { tshark -r packets -Y "$1" 2>/dev/null | wc -l; }

run()
{
	local capture

	topology rxe-client
	"${srv_prefix[@]}" tcpdump -i veth-srv --immediate-mode -U -B 32768 -s 300 \
		-w packets udp port 4791 2>tcpdump.log &
	capture=$!
	wait_until 10 grep -q listening tcpdump.log
	echo "rx op=request every=3 count=all ce" \
		>/sys/class/infiniband/srv0/impair
	verify rc_send rc_write rc_read uc_inline ud_send
	perftest ib_write_bw -n 200 -s 16384
	kill -INT "$capture"
	wait "$capture" || :
	[ "$(stat srv0 np_ecn_marked_roce_packets)" -gt 0 ] || fail 'no marks'
	[ "$(stat srv0 np_cnp_sent)" -gt 0 ] || fail 'no CNPs'
	[ "$(count 'infiniband.bth.opcode == 129 && ip.dsfield.dscp == 48')" -gt 0 ] ||
		fail 'tshark sees no CNPs'
	[ "$(count 'infiniband.bth.opcode != 129 && infiniband.bth[4:1] == 40')" = 0 ] ||
		fail 'BECN to rxe'
	/ornic/qemu-tests/lib/dissect.sh packets 100 || fail 'tshark reports invalid packets'
}
