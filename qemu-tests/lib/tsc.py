# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""The frequency of the host's TSC, for guests that QEMU emulates.

Their RDTSC executes as the host's, but they measure its frequency against an emulated timer,
at boot. On a busy host the result may be a tenth of it, and then time in the guest
is ten times as fast, so whatever has a limit fails. Linux takes the parameter
tsc_early_khz instead of measuring."""

import ctypes
import functools
import mmap
import platform
import time

RDTSC = bytes.fromhex("0f31"      # rdtsc
                      "48c1e220"  # shl $32, %rdx
                      "4809d0"    # or %rdx, %rax
                      "c3")       # ret
TRIES = 50
SECONDS = 0.05


def sample(rdtsc):
    """A pair of TSC and monotonic time in ns, from the try that was interrupted least."""
    best = None
    for _ in range(TRIES):
        begin = time.monotonic_ns()
        ticks = rdtsc()
        end = time.monotonic_ns()
        if best is None or end - begin < best[0]:
            best = end - begin, ticks, (begin + end) // 2
    return best[1:]


@functools.cache
def tsc_khz():
    """None on a host that has no TSC, or does not let us execute code of our own."""
    if platform.machine() != "x86_64":
        return None
    try:
        code = mmap.mmap(-1, len(RDTSC),
                         prot=mmap.PROT_READ | mmap.PROT_WRITE | mmap.PROT_EXEC)
    except PermissionError:
        return None
    code.write(RDTSC)
    address = ctypes.addressof(ctypes.c_char.from_buffer(code))
    rdtsc = ctypes.CFUNCTYPE(ctypes.c_uint64)(address)
    first = sample(rdtsc)
    time.sleep(SECONDS)
    last = sample(rdtsc)
    return (last[0] - first[0]) * 10**6 // (last[1] - first[1])
