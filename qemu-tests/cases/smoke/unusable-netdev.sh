# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# shellcheck shell=bash
# This test will add links on netdevs that cannot carry RoCE, twice on one netdev, and
# with an existing name: each attempt fails with an errno.

refused()
{
	! rdma link add "$1" type "$DEV" netdev "$2" 2>err ||
		fail "a link on $2 was added"
	cat err
}

run()
{
	topology loop
	need_ornic
	refused bad0 lo
	refused bad1 nosuchdev
	refused again0 veth-srv
	refused srv0 veth-cli
	[ "$(rdma link show | wc -l)" = 1 ] || fail 'a refused link is there'
	pingpong ibv_rc_pingpong -n 10
}
