# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# shellcheck shell=bash
# Functions for cases that look at packets. tshark, which takes seconds to start in a
# guest, dissects each capture once, into the table that `packets` searches.

# begin_tcpdump srv|cli FILE [FILTER...]: capture RoCE packets, or those of the filter,
# on the netdev of that side, until end_tcpdump
begin_tcpdump()
{
	local -n prefix=$1_prefix

	begin_tcpdump_of "veth-$1" "${@:2}"
}

# begin_tcpdump_of NETDEV FILE FILTER...: the same, where the words $prefix lead
begin_tcpdump_of()
{
	local filter=("${@:3}")

	[ $# -gt 2 ] || filter=(udp port 4791)
	rm -f "$2"
	: >tcpdump.log
	"${prefix[@]}" tcpdump -i "$1" --immediate-mode -U -B 32768 -s 300 \
		-w "$2" "${filter[@]}" 2>tcpdump.log &
	tcpdump=$!
	wait_until 10 tcpdump_listens
}

tcpdump_listens() { [[ $(<tcpdump.log) == *listening* ]]; }

end_tcpdump()
{
	kill -INT "$tcpdump"
	wait "$tcpdump" || :
}

# in_capture FILE: print how many packets it has
in_capture() { tcpdump -r "$1" 2>/dev/null | wc -l; }

# has_captured FILE COUNT: so many or more. SIGINT lets tcpdump drop what it has not read
# yet.
has_captured() { [ "$(in_capture "$1")" -ge "$2" ]; }

# dissect MINIMUM: dissect the capture in the file packets; it has MINIMUM RoCE packets
# or more, and tshark finds none of them invalid
dissect()
{
	/ornic/qemu-tests/lib/dissect.sh packets "$1" table ||
		fail 'tshark reports invalid packets'
}

# captured COMMAND...: run it, and dissect what the client sends and receives meanwhile
captured()
{
	begin_tcpdump cli packets
	"$@"
	end_tcpdump
	dissect 1
}

# What conditions and values know of a RoCE packet: the side that sent it, its UDP source
# port, fields of IP and of the tag, and of the BTH, among them the P_Key in hexadecimal.
# Byte 4 of it, likewise, has FECN (80), BECN (40) and six reserved bits.
# shellcheck disable=SC2016 # words of awk
columns='
	$3 !~ /infiniband/ { next }
	{
		from_srv = $5 $6 == srv; from_cli = $5 $6 == cli; sport = $7
		dscp = $8 $10; ecn = $9; pcp = $11; vlan = $12
		opcode = $13; rc = opcode < 32; psn = $15; aeth = $16 != ""
		byte4 = substr($14, 9, 2); reserved = byte4 !~ /[048c]0/
		pkey = substr($14, 5, 4)
	}'

search() { awk -F '\t' -v srv="$srv_ip" -v cli="$cli_ip" "$columns $1" table; }

# packets CONDITION: print how many packets of the table meet this condition of awk
packets() { search "$1 { n++ } END { print n + 0 }"; }

# values CONDITION EXPRESSION: print the value for each packet that meets the condition
values() { search "$1 { print $2 }"; }
