# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# shellcheck shell=bash
# This test will delete a device under a program that posts all the time and reads no
# events: a post to the QP that is gone fails.

limit=90

requires()
{
	need_ornic
	need_pyverbs
}

run()
{
	local poster

	topology loop
	/usr/bin/python3 /ornic/qemu-tests/lib/late_poster.py "$srv_dev" \
		$((30 * SCALE)) >poster.out 2>&1 &
	poster=$!
	wait_until 30 grep -q . poster.out
	grep -q posting poster.out || fail "does not post: $(cat poster.out)"
	rdma link delete srv0
	wait "$poster" || fail "posts do not fail: $(cat poster.out)"
	grep -q EIO poster.out || fail "another end: $(cat poster.out)"
}
