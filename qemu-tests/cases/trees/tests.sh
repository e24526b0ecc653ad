# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# shellcheck shell=bash
# This test will run the test suite of another release of rdma-core with the libraries of
# that release and the provider as a part of them: `make rdma-core-test`.

limit=900
tree=/ornic/build/rdma-core-tree

# shellcheck source=qemu-tests/lib/rdma_core.sh
. /ornic/qemu-tests/lib/rdma_core.sh

requires()
{
	[ -d "$tree" ] || skip 'make rdma-core-test has put no tree there'
}

# pattern: of the tests that this kernel can run. rdma_resolve_addrinfo() needs a command
# of rdma_ucm that came with Linux 6.17.
pattern()
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
	grep -q /dev/dri/ "$tree"/python/pyverbs/dmabuf.*.so || return
	modprobe vgem 2>/dev/null || return
	wait_until 5 test -e /dev/dri/renderD128
}

run()
{
	local passed

	use_rdma_core_tree "$tree"
	echo 8 >/proc/sys/vm/nr_hugepages || :
	topology loop
	if ! has_gpu; then
		echo 'without the tests of dma-bufs'
		rdma_core_tests "$(pattern)" 141
		return
	fi
	rdma_core_tests "$(pattern)" 141 "$PROGRAMS/ornic_i915.so"
	passed=$(grep -c '^ok .*\.test_dmabuf_[a-z_]*$' suite.out || :)
	[ "$DEV" != ornic ] || [ "$passed" = 10 ] ||
		fail "$passed tests of dma-bufs passed, 10 should"
}
