# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# shellcheck shell=bash
# Runs the test suite of rdma-core, as shipped in its documentation by Debian, or that of
# a tree, without tests for specific hardware.

rdma_core_suite=/usr/share/doc/rdma-core/tests

need_rdma_core_tests()
{
	[ -d "$rdma_core_suite" ] ||
		skip 'the tests of the package rdma-core are missing'
	need_pyverbs
}

# use_rdma_core_tree DIR: take tests, pyverbs, libraries and provider from DIR, where
# `make rdma-core-test` has put them
use_rdma_core_tree()
{
	rdma_core_suite=$1/tests
	export PYTHONPATH=$1/python LD_LIBRARY_PATH=$1/lib
	export RDMAV_DRIVERS=$1/lib/libornic
	ls "$RDMAV_DRIVERS"-rdmav*.so || fail "$1 has no provider"
}

# rdma_core_tests PATTERN LEAST [PRELOAD]: run the tests whose name matches on the device of
# the server, with a library that is loaded before others. Fails if a test fails, or if less
# than LEAST pass on ornic.
rdma_core_tests()
{
	local status=0 passed

	# Debian compresses some of the files.
	cp -r "$rdma_core_suite" tests
	find tests -name '*.gz' -exec gunzip {} +
	LD_PRELOAD=${3:-} /usr/bin/python3 \
		/ornic/qemu-tests/lib/pyverbs_ktap.py "$WORK" $((60 * SCALE)) "$1" \
		--dev "$srv_dev" --port 1 --gid "$srv_gid" 2>&1 | tee suite.out
	status=${PIPESTATUS[0]}
	passed=$(sed -n 's/^# \([0-9]*\) passed, .*/\1/p' suite.out)
	[ "$status" = 0 ] || [ "$DEV" != ornic ] || fail 'tests failed'
	[ "$DEV" != ornic ] || [ "${passed:-0}" -ge "$2" ] ||
		fail "${passed:-none} passed, at least $2 should"
	no_objects "$srv_dev" || fail 'objects are left'
}

rdma_core_tree=/ornic/build/rdma-core-tree

need_rdma_core_tree()
{
	[ -d "$rdma_core_tree" ] || skip 'make rdma-core-test has put no tree there'
}

# tree_pattern: of the tests that this kernel can run. rdma_resolve_addrinfo() needs a command
# of rdma_ucm that came with Linux 6.17.
tree_pattern()
{
	local major minor

	IFS=.- read -r major minor _ < <(uname -r)
	if [ $((major * 100 + minor)) -lt 617 ]; then
		echo '^(?!.*async_resolve_addrinfo)'
	else
		echo .
	fi
}

# has_gpu: is there what the tests of dma-bufs need? A GPU, for which ornic_i915.so shows them
# vgem; pyverbs built with DRM (libdrm-dev); and atomics, which dma-bufs have on x86 only.
has_gpu()
{
	[ "$(uname -m)" = x86_64 ] || return
	grep -q /dev/dri/ "$rdma_core_tree"/python/pyverbs/dmabuf.*.so || return
	modprobe vgem 2>/dev/null || return
	wait_until 5 test -e /dev/dri/renderD128
}

# rdma_core_tree_tests: run the tests of the tree on its own libraries, on the device of the
# topology
rdma_core_tree_tests()
{
	local passed

	use_rdma_core_tree "$rdma_core_tree"
	echo 8 >/proc/sys/vm/nr_hugepages || :
	if ! has_gpu; then
		echo 'without the tests of dma-bufs'
		rdma_core_tests "$(tree_pattern)" 158
		return
	fi
	rdma_core_tests "$(tree_pattern)" 168 "$PROGRAMS/ornic_i915.so"
	passed=$(grep -c '^ok .*\.test_dmabuf_[a-z_]*$' suite.out || :)
	[ "$DEV" != ornic ] || [ "$passed" = 10 ] ||
		fail "$passed tests of dma-bufs passed, 10 should"
}
