# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# shellcheck shell=bash
# This test will have a process without privileges use the keys, handles and numbers
# of others, guess them, break its own rings, doorbells, commands and limits until it
# is killed, and send where netfilter forbids it: victims on the same device notice
# nothing, and nothing is left.

limit=200
full_limit=1800

requires()
{
	need_ornic
	need setpriv rping nft
}

# Of a process without privileges, to an address that a rule for output excludes
pass_netfilter()
{
	local program='ibv_rc_pingpong -n 1'

	on_srv ip addr add 10.0.0.99/24 dev veth-srv
	wait_until 5 gid_index "$srv_dev" 10.0.0.99
	wait_until 5 on_cli ping -c 1 -W 1 10.0.0.99
	on_cli nft add table ip f
	on_cli nft add chain ip f output '{ type filter hook output priority 0; }'
	on_cli nft add rule ip f output ip daddr 10.0.0.99 udp dport 4791 counter drop
	! (run_pair 30 "$program -d $srv_dev -g $(gid_index "$srv_dev" 10.0.0.99)" \
		"${as_nobody[*]} $program -d $cli_dev -g $cli_gid $srv_host") ||
		fail 'a process has passed netfilter'
	on_cli nft list chain ip f output | grep 'packets [1-9]' ||
		fail 'netfilter has seen no packet'
	on_cli nft delete table ip f
}

run()
{
	# shellcheck source=qemu-tests/lib/attack.sh
	. /ornic/qemu-tests/lib/attack.sh
	topology veth
	# shellcheck disable=SC2119 # no further attack
	attack_locally
	write_attributes
	pass_netfilter
}
