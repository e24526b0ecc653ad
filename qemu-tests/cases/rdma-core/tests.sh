# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# shellcheck shell=bash
# This test will run rdma-core's own test suite, as Debian ships it with its
# documentation and unchanged, and report each of its tests. Those for the
# hardware of others are left out.

limit=900
suite=/usr/share/doc/rdma-core/tests
# Of 170; each skip has its reason in Documentation/testing.rst.
least=112

requires()
{
	[ -d "$suite" ] || skip 'the tests of the package rdma-core are not here'
	/usr/bin/python3 -c 'import pyverbs' 2>/dev/null ||
		skip 'python3-pyverbs is not installed'
}

run()
{
	local status=0 passed

	# One test is for huge pages.
	echo 8 >/proc/sys/vm/nr_hugepages || :
	topology loop
	# Some of the files are compressed, as documentation is.
	cp -r "$suite" tests
	find tests -name '*.gz' -exec gunzip {} +
	/usr/bin/python3 /ornic/qemu-tests/lib/pyverbs_ktap.py "$WORK" $((60 * SCALE)) \
		--dev "$srv_dev" --port 1 --gid "$srv_gid" 2>&1 |
		tee suite.out
	status=${PIPESTATUS[0]}
	passed=$(sed -n 's/^# \([0-9]*\) passed, .*/\1/p' suite.out)
	[ "$status" = 0 ] || [ "$DEV" != ornic ] || fail 'tests failed'
	[ "$DEV" != ornic ] || [ "${passed:-0}" -ge "$least" ] ||
		fail "${passed:-none} passed, at least $least should"
	no_objects "$srv_dev" || fail 'objects stay'
}
