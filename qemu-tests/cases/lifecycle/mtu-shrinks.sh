# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# shellcheck shell=bash
# This test will reduce the MTU of the netdev below the path MTU of a busy QP: the
# netdev gets no frame above its MTU, and the QP fails when its retries are used up.

limit=150
kernels='stock' # for netfilter's hook at egress
# shellcheck source=qemu-tests/lib/lifecycle.sh
. /ornic/qemu-tests/lib/lifecycle.sh

requires()
{
	need_ornic
	need nft
	[ "$KERNEL" != kcsan ] || skip 'the kernel has no tables for netdevs'
}

client_is_gone() { ! kill -0 "$cli_pid"; }

run()
{
	local before

	topology veth
	traffic ib_write_bw -s 65536 -m 4096 -u 17
	on_cli ip link set veth-cli mtu 1500
	on_cli nft add table netdev t
	on_cli nft add chain netdev t c \
		'{ type filter hook egress device veth-cli priority 0; }'
	on_cli nft add rule netdev t c meta length gt 1514 counter
	before=$(stat "$cli_dev" tx_errors)
	wait_until 10 counted "$cli_dev" tx_errors "$before"
	wait_until 60 client_is_gone
	on_cli nft list chain netdev t c | grep -q 'packets 0 ' ||
		fail "larger than the MTU: $(on_cli nft list chain netdev t c)"
	end "$srv_pid"
	on_cli ip link set veth-cli mtu 4500
	perftest ib_write_bw -s 65536 -n "$(times 100)"
}
