# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# shellcheck shell=bash
# This test will lose, double, overtake, delay, mark and damage single packets of a QP
# by rules of the soft device: counters and captures of the peer show just that. Users
# without CAP_NET_ADMIN neither read nor write rules.

limit=300
sys=/sys/class/infiniband

requires()
{
	need_ornic
	need ib_send_lat setpriv
}

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

# note: remember all counters
note()
{
	local dev counter

	declare -gA noted=()
	for dev in srv0 cli0; do
		for counter in "$sys/$dev/ports/1/hw_counters/"*; do
			noted[$dev/${counter##*/}]=$(<"$counter")
		done
	done
}

# expect DEVICE "COUNTER DIFFERENCE"...: what was counted since note; N+ is N or more,
# where a busy host delays a response until the packet goes again
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

# messages DEVICE TEXT HITS: exchange messages under that rule
messages()
{
	echo "$1: $2"
	rule "$1" "$2"
	note
	exchange
	cat "$sys/$1/impair"
	[ "$(count_of "$1" hits)" = "$3" ] || fail "not $3 hits"
	[ "$(count_of "$1" missed)" = 0 ] || fail 'missed packets'
}

losses()
{
	messages cli0 'tx op=request qpn=first psn=+2 drop' 1
	expect srv0 'seq_nak_sent 1+' 'rx_icrc_errors 0'
	expect cli0 'seq_nak_rcvd 1+' 'timeouts 0'
	messages srv0 'rx op=request qpn=first nth=3 drop' 1
	expect srv0 'seq_nak_sent 1+'
	# The packet, and the first time that it is sent again.
	messages cli0 'tx op=request psn=+2 count=2 drop' 2
	expect cli0 'timeouts 0'
	# The NAK is lost, and the rule for it counts no ACK.
	rule srv0 'tx op=nak drop'
	note
	echo 'tx op=request psn=+2 drop' >$sys/cli0/impair
	exchange
	[ "$(count_of srv0 hits)" = 1 ] || fail 'no NAK was lost'
	expect cli0 'timeouts 0'
	echo clear >$sys/srv0/impair
}

others()
{
	messages cli0 'tx op=request psn=+1 duplicate' 1
	expect srv0 'duplicates 1+' 'seq_nak_sent 0'
	messages srv0 'rx op=request psn=+1 duplicate' 1
	expect srv0 'duplicates 1+' 'seq_nak_sent 0'
	messages cli0 'tx op=request psn=+2 corrupt' 1
	expect srv0 'rx_icrc_errors 1' 'rx_malformed 0'
	messages srv0 'rx op=request psn=+2 corrupt' 1
	expect srv0 'rx_icrc_errors 1' 'rx_malformed 0'
	messages srv0 'rx op=request psn=+1 swap' 1
	messages srv0 'rx op=request psn=+1 delay=1ms' 1
	messages cli0 'tx op=request psn=+1 delay=1ms' 1
}

# ce_packets: print how many marked packets the server has received
ce_packets()
{
	rdma statistic show link srv0/1 | sed -n 's/.* rx_ce_packets \([0-9]*\).*/\1/p'
}

marks()
{
	local dev dir before

	rdma statistic set link srv0/1 optional-counters rx_ce_packets
	for dev in cli0 srv0; do
		[ $dev = cli0 ] && dir=tx || dir=rx
		before=$(ce_packets)
		messages $dev "$dir op=request nth=4 every=8 count=3 ce" 3
		[ $(($(ce_packets) - before)) = 3 ] || fail "$(ce_packets) marks"
		expect srv0 'rx_icrc_errors 0' 'seq_nak_sent 0'
		echo clear >$sys/$dev/impair
	done
	rdma statistic unset link srv0/1 optional-counters
}

# order_of FILE: print the distances of the first PSNs that cli0 sent in requests
order_of()
{
	tshark -r "$1" -Y "ip.src == $cli_ip && !infiniband.aeth" -T fields \
		-e infiniband.bth.psn 2>/dev/null | head -n 4 |
		awk 'NR == 1 { first = $1 } { printf "%d ", $1 - first }'
}

# has_order: set $order; the capture has as many packets as order_of looks at
has_order()
{
	order=$(order_of swapped)
	[ "$(wc -w <<<"$order")" = 4 ]
}

# swapped TEXT ORDER: the server's netdev sees packets in that order
swapped()
{
	local capture order

	"${srv_prefix[@]}" tcpdump -i veth-srv --immediate-mode -U -w swapped \
		-s 200 udp port 4791 2>tcpdump.log &
	capture=$!
	wait_until 10 grep -q listening tcpdump.log
	messages cli0 "$1" 1
	# What is not read yet is lost.
	wait_until 10 has_order
	kill -INT "$capture"
	wait "$capture" || :
	[ "$order" = "$2" ] || fail "order $order"
}

refused()
{
	local file=$sys/cli0/impair text

	rule cli0 'tx drop'
	! "${as_nobody[@]}" cat $file || fail 'nobody reads rules'
	! "${as_nobody[@]}" bash -c "echo clear >$file" || fail 'nobody writes rules'
	! setpriv --bounding-set=-net_admin cat $file || fail 'read without CAP_NET_ADMIN'
	! setpriv --bounding-set=-net_admin bash -c "echo clear >$file" ||
		fail 'written without CAP_NET_ADMIN'
	for text in 'drop' 'tx' 'tx qpn=0x1000000 drop' 'tx drop rx' 'tx drop=1' \
		'tx delay=11s' "$(printf '%4000s' 'tx drop')" $'tx drop\nrx drop'; do
		# In one write
		echo "$text" >text
		! cat text >$file 2>err || fail "accepted: $text"
		grep -q 'Invalid argument' err || fail "$text: $(<err)"
	done
	dmesg | tail -n 20 | grep 'cli0: impair: expected a QPN up to 0xffffff' ||
		fail 'no message says why'
	[ "$(wc -l <$file)" = 1 ] || fail 'a wrong rule was taken'
	for ((text = 1; text < 12; text++)); do
		echo 'tx drop' >$file
	done
	! (echo 'tx drop' >$file) 2>err || fail 'rules have no limit'
	echo clear >$file
	[ -z "$(<$file)" ] || fail 'rules are left'
}

# holds DEVICE: packets are held
holds() { [ "$(count_of "$1" hits)" -gt 0 ]; }

# Packets of running QPs are held while the link goes.
removal()
{
	rule cli0 'tx count=all delay=10s'
	rule srv0 'rx count=all delay=10s'
	start_traffic 18600
	wait_until 20 holds cli0
	echo clear >$sys/cli0/impair
	wait_until 20 holds srv0
	rule cli0 'tx count=all swap=200'
	del_link cli0
	on_srv ip link delete veth-srv
	stop_traffic "$srv_pid" "$cli_pid"
}

run()
{
	topology veth
	losses
	others
	marks
	if command -v tcpdump tshark >/dev/null && [ "$KERNEL" = stock ]; then
		swapped 'tx op=request psn=+1 swap' '0 2 1 3 '
		swapped 'tx op=request psn=+1 swap=2' '0 2 3 1 '
	fi
	refused
	removal
}
