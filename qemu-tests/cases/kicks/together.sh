# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# shellcheck shell=bash
# This test will kick the same QPs by two threads at once, while idle CPUs busy poll
# the queues: no QP may be polled twice at a time.

limit=120
cpus=4

requires()
{
	need_ornic
}

run()
{
	topology loop
	echo 60000 >"/sys/class/infiniband/$srv_dev/busy_poll_us"
	ornic_kicks "$srv_dev" "$srv_gid" "$(times 300)"
	no_objects "$srv_dev" || fail 'objects are left'
}
