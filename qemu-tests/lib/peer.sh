#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# peer.sh COMMAND...: run a command in the other guest, with its output and exit status.
# The command is words, or one line of shell with functions of guest.sh.
exec 5<>"/dev/tcp/${peer_ip:-10.0.0.1}/7777" || exit 125
if [ $# = 1 ]; then
	printf '%s\n' "$1" >&5
else
	printf '%q ' "$@" >&5
	echo >&5
fi
last='' status=126
while IFS= read -r line || [ -n "$line" ]; do
	if [[ $line =~ ^status\ ([0-9-]+)$ ]]; then
		status=${BASH_REMATCH[1]}
		break
	fi
	[ -z "$last" ] || printf '%s\n' "${last#.}"
	last=.$line
done <&5
[ "${last:-.}" = . ] || printf '%s\n' "${last#.}"
[ "$status" -ge 0 ] || status=137
exit "$status"
