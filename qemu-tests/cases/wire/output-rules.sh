# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# shellcheck shell=bash
# This test will block the frames of busy QPs by netfilter rules and by an IPsec policy
# for output, and unblock them: no frame bypasses the rules.

limit=150
# shellcheck source=qemu-tests/lib/lifecycle.sh
. /ornic/qemu-tests/lib/lifecycle.sh

requires()
{
	need_ornic
	need nft
}

same_packets()
{
	local before

	before=$(stat "$srv_dev" rx_packets)
	pause
	[ "$(stat "$srv_dev" rx_packets)" = "$before" ]
}

stopped() { wait_until 2 same_packets; }

# Frames counted in front of the rules
frames_seen()
{
	local words

	words=$(on_cli nft list chain "$type" f "$1")
	words=${words##*packets }
	[ "${words%% *}" -gt 0 ] || fail "$1: no frame was seen"
}

rules()
{
	local type=ip hook

	[ "$family" = 4 ] || type=ip6
	on_cli nft add table "$type" f
	for hook in output postrouting; do
		on_cli nft add chain "$type" f $hook "{ type filter hook $hook priority 0; }"
		on_cli nft add rule "$type" f $hook udp dport 4791 counter
		flowing
		frames_seen $hook
		on_cli nft add rule "$type" f $hook udp dport 4791 drop
		stopped
		on_cli nft delete chain "$type" f $hook
		flowing
	done
	on_cli nft delete table "$type" f
}

# With a policy that requires ESP, and without a key, no plain text is sent.
policy()
{
	local selector=(src "$cli_ip" dst "$srv_ip" proto udp dport 4791 dir out)

	if ! ip xfrm policy list >/dev/null; then
		echo 'the kernel has no IPsec'
		return
	fi
	on_cli ip xfrm policy add "${selector[@]}" tmpl proto esp mode transport
	stopped
	on_cli ip xfrm policy delete "${selector[@]}"
	flowing
}

run()
{
	modprobe xfrm_user || :
	topology veth
	for family in 4 6; do
		family_of_both $family
		reach_server
		traffic ib_send_bw -s 8192 -u 18
		rules
		policy
		stop_traffic
	done
	counted "$cli_dev" tx_errors 0 || fail 'no refused frame was counted'
}
