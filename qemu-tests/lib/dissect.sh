#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# dissect.sh CAPTURE MINIMUM: dissect all packets with tshark. Fails if a packet of UDP
# port 4791 is not RoCE, if a packet is malformed, or if there are less than MINIMUM
# RoCE packets.
set -eu

# These heuristics match random payload, and report it as malformed.
guesses=(--disable-heuristic rpcrdma_infiniband
	--disable-heuristic mellanox_eoib --disable-heuristic eth_over_ib)

folder=$(mktemp -d)
trap 'rm -r "$folder"' EXIT
tshark -r "$1" "${guesses[@]}" -T fields -E separator=/t -e frame.number \
	-e udp.dstport -e frame.protocols -e _ws.malformed \
	>"$folder/frames" 2>"$folder/log" || { tail -n 5 "$folder/log"; exit 1; }
awk -F '\t' '$2 == 4791 && $3 !~ /infiniband/' "$folder/frames" >"$folder/other"
awk -F '\t' '$4 != ""' "$folder/frames" >"$folder/malformed"
cut -f 3 "$folder/frames" | sort | uniq -c
head -n 5 "$folder/other" "$folder/malformed"
roce=$(grep -c infiniband "$folder/frames" || :)
echo "$roce RoCE packets, $(wc -l <"$folder/other") others on the port," \
	"$(wc -l <"$folder/malformed") malformed"
[ "$roce" -ge "$2" ] && [ ! -s "$folder/other" ] && [ ! -s "$folder/malformed" ]
