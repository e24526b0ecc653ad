# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# shellcheck shell=bash
# rdma-core's own test suite, as Debian ships it with its documentation and
# unchanged. Tests for the hardware of others are left out.

rdma_core_suite=/usr/share/doc/rdma-core/tests

need_rdma_core_tests()
{
	[ -d "$rdma_core_suite" ] ||
		skip 'the tests of the package rdma-core are not here'
	/usr/bin/python3 -c 'import pyverbs' 2>/dev/null ||
		skip 'python3-pyverbs is not installed'
}

# rdma_core_tests PATTERN LEAST: those whose name matches, on the server's
# device; none fails, and on ornic at least LEAST pass
rdma_core_tests()
{
	local status=0 passed

	# Some of the files are compressed, as documentation is.
	cp -r "$rdma_core_suite" tests
	find tests -name '*.gz' -exec gunzip {} +
	/usr/bin/python3 /ornic/qemu-tests/lib/pyverbs_ktap.py "$WORK" $((60 * SCALE)) \
		"$1" --dev "$srv_dev" --port 1 --gid "$srv_gid" 2>&1 |
		tee suite.out
	status=${PIPESTATUS[0]}
	passed=$(sed -n 's/^# \([0-9]*\) passed, .*/\1/p' suite.out)
	[ "$status" = 0 ] || [ "$DEV" != ornic ] || fail 'tests failed'
	[ "$DEV" != ornic ] || [ "${passed:-0}" -ge "$2" ] ||
		fail "${passed:-none} passed, at least $2 should"
	no_objects "$srv_dev" || fail 'objects stay'
}
