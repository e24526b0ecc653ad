# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# shellcheck shell=bash
# Functions for cases in which a device ends that has MRs on dma-bufs.

need_udmabuf() { [ -e /dev/udmabuf ] || skip 'the kernel has no udmabuf'; }

# runs_with MODULE TEST: with that module the test passes, and is not skipped
runs_with()
{
	modprobe -q "$1" || return
	verify "$2" >dmabuf.out 2>&1 || { cat dmabuf.out; fail "$2"; }
	! grep -q '# SKIP' dmabuf.out
}

# takes_moves: $srv_dev has MRs on dma-bufs that move, and the guest an exporter of such
takes_moves() { runs_with ornic_dmabuf_exporter dmabuf_revoked_beside_others; }

# hold_dmabuf [EXPORTER]: start a process with an MR on a dma-buf of $srv_dev, and traffic
# to it; that of the exporter moving moves all the time
hold_dmabuf()
{
	rm -f held
	DMABUF_EXPORTER=${1-udmabuf} DMABUF_HELD=held \
		verify dmabuf_outlives_its_device >dmabuf.out 2>&1 &
	dmabuf_holder=$!
	(wait_until 20 test -e held) || { cat dmabuf.out; fail 'there is no MR'; }
}

# dmabuf_is_back: the device has ended, and the process still has its dma-buf for itself
dmabuf_is_back()
{
	wait "$dmabuf_holder" || { cat dmabuf.out; fail 'the dma-buf is not given back'; }
}
