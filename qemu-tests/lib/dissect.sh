#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# dissect.sh CAPTURE MINIMUM [TABLE]: dissect all packets with tshark. Fails if a packet
# of UDP port 4791 is not RoCE, if a packet is malformed, or if there are less than
# MINIMUM RoCE packets. TABLE gets a line for each packet, see capture.sh.
set -eu

# These heuristics match random payload, and report it as malformed.
guesses=(--disable-heuristic rpcrdma_infiniband
	--disable-heuristic mellanox_eoib --disable-heuristic eth_over_ib)
fields=(frame.number udp.dstport frame.protocols _ws.malformed ip.src ipv6.src
	udp.srcport ip.dsfield.dscp ip.dsfield.ecn ipv6.tclass.dscp vlan.priority vlan.id
	infiniband.bth.opcode infiniband.bth infiniband.bth.psn infiniband.aeth)

folder=$(mktemp -d)
trap 'rm -r "$folder"' EXIT
table=${3:-$folder/table}
tshark -n -r "$1" "${guesses[@]}" -T fields -E separator=/t -E occurrence=f \
	"${fields[@]/#/-e}" >"$table" 2>"$folder/log" ||
	{ tail -n 5 "$folder/log"; exit 1; }
awk -F '\t' -v least="$2" '
	{ count[$3]++ }
	$3 ~ /infiniband/ { roce++ }
	$2 == 4791 && $3 !~ /infiniband/ && ++others <= 5
	$4 != "" && ++malformed <= 5
	END {
		for (protocols in count)
			print count[protocols], protocols
		printf "%d RoCE packets, %d others on the port, %d malformed\n",
			roce, others, malformed
		exit roce < least || others || malformed
	}' "$table"
