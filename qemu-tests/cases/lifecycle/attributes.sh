# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# shellcheck shell=bash
# This test will write each attribute of a soft device as root without CAP_NET_ADMIN,
# as in a container, which must fail, and then with it.

limit=60
attributes='poll_thread busy_poll_us rx_fast_path direct direct_bridge rx_queues
	loopback'

requires()
{
	need_ornic
	need setpriv
}

# write_as VALUE FILE PREFIX...
write_as()
{
	"${@:3}" bash -c "echo $1 >$2" 2>err
}

run()
{
	local folder=/sys/class/infiniband/srv0 name before

	topology loop
	for name in $attributes; do
		before=$(<"$folder/$name")
		! write_as 0 "$folder/$name" setpriv --bounding-set=-net_admin ||
			fail "$name: written without CAP_NET_ADMIN"
		cat err
		grep -q 'not permitted' err || fail "$name: not EPERM"
		[ "$(<"$folder/$name")" = "$before" ] || fail "$name changed"
		for value in 1 0 "$before"; do
			write_as "$value" "$folder/$name" || fail "$name: $(<err)"
			[ "$(<"$folder/$name")" = "$value" ] || fail "$name: no $value"
		done
	done
	pingpong ibv_rc_pingpong -n 20
}
