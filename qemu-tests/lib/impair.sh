# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# shellcheck shell=bash
# Functions for cases with impairment rules of soft devices: see
# Documentation/impairment.rst.

sys=/sys/class/infiniband

# rule DEVICE TEXT: let TEXT be the only rule of DEVICE
rule()
{
	echo clear >"$sys/$1/impair"
	echo "$2" >"$sys/$1/impair"
}

# count_of DEVICE WORD: print what follows "seen", "hits" or "missed" of its rule
count_of()
{
	local words

	words=$(<"$sys/$1/impair")
	words=${words#*"$2" }
	echo "${words%% *}"
}

# note: remember all counters, of which there are many: without a process for each
note()
{
	local dev counter value

	declare -gA noted=()
	for dev in srv0 cli0; do
		for counter in "$sys/$dev/ports/1/hw_counters/"*; do
			read -r value <"$counter"
			noted[$dev/${counter##*/}]=$value
		done
	done
}

# expect DEVICE "COUNTER DIFFERENCE"...: what was counted since note; N+ is N or more,
# where a busy host delays a response until the packet is sent again
expect()
{
	local dev=$1 name want got

	shift
	while read -r name want; do
		got=$(($(stat "$dev" "$name") - noted[$dev/$name]))
		echo "$dev: $name $got"
		case $want in
		*+) [ "$got" -ge "${want%+}" ] ;;
		*) [ "$got" = "$want" ] ;;
		esac || fail "$dev: $name $got, not $want"
	done < <(printf '%s\n' "$@")
}

# exchange: ten messages of four packets, in turn. An ACK timeout of seconds does not
# expire because the host is busy.
exchange() { perftest ib_send_lat -n 10 -s 4096 -m 1024 -u 20; }

# None is on its way of those that DEVICE delays
holds_none() { ! grep -q '^# held' "$sys/$1/impair"; }

# messages DEVICE TEXT HITS: exchange messages under that rule
messages()
{
	echo "$1: $2"
	rule "$1" "$2"
	note
	exchange
	wait_until 5 holds_none "$1"
	cat "$sys/$1/impair"
	[ "$(count_of "$1" hits)" = "$3" ] || fail "not $3 hits"
	[ "$(count_of "$1" missed)" = 0 ] || fail 'missed packets'
}
