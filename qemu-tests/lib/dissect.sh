#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# dissect.sh CAPTURE MINIMUM: have tshark dissect all packets. What UDP port 4791
# carries must be RoCE, nothing may be malformed, and there must be at least
# MINIMUM packets of RoCE.
set -eu

# These guess from payload bytes that what RoCE carries is theirs, and call it
# malformed then.
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
echo "$roce packets of RoCE, $(wc -l <"$folder/other") that are none," \
	"$(wc -l <"$folder/malformed") malformed"
[ "$roce" -ge "$2" ] && [ ! -s "$folder/other" ] && [ ! -s "$folder/malformed" ]
