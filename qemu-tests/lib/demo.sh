# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# shellcheck shell=bash
# Output functions of both scenes of `make demo`.

title() { printf '\n=== %s\n' "$*"; }
show() { printf '\n$ %s\n' "$*"; "$@"; }

# value PROGRAM OUTPUT: print the typical value of perftest's table
value()
{
	case $1 in
	*_lat) awk '/^ [0-9]/ { v = $5 } END { printf "%8.1f us", v }' "$2" ;;
	*_bw) awk '/^ [0-9]/ { v = $4 } END { printf "%8.0f MB/s", v }' "$2" ;;
	esac
}
