# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# shellcheck shell=bash
# This test will send packets of all opcodes, with each field wrong in turn, cut
# short, in fragments, mutated and in floods, from another host and from the address
# of an innocent one: victims notice nothing, memory without a valid key does not
# change, no packet of a stranger is passed to a worker, and counters show the attack.

variants='ipv4
	ipv6'
limit=200
full_limit=1800

requires()
{
	need_ornic
	need rping
}

# attack ROUNDS [QPN[:PSN]]...
attack()
{
	on_cli ornic_attack_remote veth-cli "$mac" "$evil" \
		"$srv_ip" "$cli_ip" "$srv_dev" "$srv_gid" "$1" \
		"$share" "$seed" "${@:2}"
}

# In the absence of the victims, whose long messages a worker receives
no_worker_for_strangers()
{
	local event=workqueue/workqueue_execute_start before

	if ! has_events "$event"; then
		echo 'the kernel does not trace work'
		return
	fi
	before=$(stat "$srv_dev" rx_packets)
	echo >"$tracing/trace"
	echo 1 >"$tracing/events/$event/enable"
	attack 0
	echo 0 >"$tracing/events/$event/enable"
	[ "$(stat "$srv_dev" rx_packets)" -gt "$((before + 1000))" ] ||
		fail 'the packets of strangers did not arrive'
	! grep -m 3 'function rx_work \[ornic_soft\]' "$tracing/trace" ||
		fail 'packets of strangers went to a worker'
}

run()
{
	local rounds=1 share=1 evil mac seed=${SEED:-$RANDOM} qps

	# shellcheck source=qemu-tests/lib/attack.sh
	. /ornic/qemu-tests/lib/attack.sh
	with_roce_v1
	topology veth "${VARIANT#ipv}"
	case $family in
	4) evil=10.0.0.66; on_cli ip addr add $evil/24 dev veth-cli ;;
	6) evil=fd00::66; on_cli ip addr add $evil/64 dev veth-cli nodad ;;
	esac
	wait_until 5 on_srv ping -c 1 -W 1 "$evil"
	mac=$(on_srv cat /sys/class/net/veth-srv/address)
	[ "$FULL" != 1 ] || rounds=20
	# One packet of eight, on a short run on the debug kernel
	[ "$KERNEL$FULL" != debug0 ] || share=8
	start_victims
	note_counters "$srv_dev" rx_icrc_encapsulated rx_malformed rx_no_qp rx_bad_addr \
		rx_bad_qkey rx_bad_pkey rx_bad_rkey rx_bad_psn err_nak_sent \
		out_of_sequence duplicate_request
	echo "seed $seed"
	find_victims "$srv_dev"
	attack "$rounds" "${qps[@]}"
	counted_more "$srv_dev"
	stop_victims
	no_worker_for_strangers
}
