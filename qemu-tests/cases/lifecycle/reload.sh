# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# shellcheck shell=bash
# This test will load and unload the modules in a loop, with a link and traffic
# in between, and unload while a program still has the device open.

limit=200

requires()
{
	need_ornic
}

unload()
{
	{ [ ! -e /sys/module/ornic_soft ] || rmmod ornic_soft; } && rmmod ornic
}

run()
{
	local lap

	topology loop
	for ((lap = 0; lap < $(times 20); lap++)); do
		pingpong ibv_rc_pingpong -n 10
		del_link srv0
		wait_until 10 unload
		modprobe ornic_soft
		add_link srv0 veth-srv
		family_of_both 4
	done

	# With a user of the device, rmmod either fails or disconnects the user.
	start_traffic 18515
	wait_until 20 busy_posting srv0
	ends_within 30 rmmod ornic_soft || :
	stop_traffic "$srv_pid" "$cli_pid"
	[ ! -e /sys/class/infiniband/srv0 ] || del_link srv0
	[ ! -e /sys/module/ornic_soft ] || wait_until 10 rmmod ornic_soft
	wait_until 10 rmmod ornic
}
