# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""Direct I/O between a disk and pieces of memory that do not touch: scattered_io.py DISK
SEED. What is read must be what was written, and the memory between the pieces as it was.
"""

import mmap
import os
import random
import sys

SECTOR = 512
ROUNDS = 200
FILL = 0xa7


def layout(rng, sectors):
    """Pieces (offset, length) of a buffer, with gaps; whole sectors, as the disk
    requires, that begin and end anywhere in a page."""
    pieces, at = [], SECTOR * rng.randrange(1, 8)
    while sectors:
        length = min(rng.choice((1, 1, 2, 3, 5, 8, 11)), sectors)
        pieces.append((at, length * SECTOR))
        sectors -= length
        at += SECTOR * (length + rng.randrange(1, 4))
    return pieces, at


def buffer_of(size):
    area = mmap.mmap(-1, size + SECTOR)
    area[:] = bytes([FILL]) * len(area)
    return area


def parts(area, pieces):
    view = memoryview(area)
    return [view[at:at + length] for at, length in pieces]


def write(disk, rng, sectors, where):
    """Returns what was written."""
    pieces, size = layout(rng, sectors)
    area = buffer_of(size)
    data = rng.randbytes(sectors * SECTOR)
    done = 0
    for part in parts(area, pieces):
        part[:] = data[done:done + len(part)]
        done += len(part)
    if os.pwritev(disk, parts(area, pieces), where) != len(data):
        sys.exit("short write")
    return data


def read(disk, rng, sectors, where):
    """Returns what was read; ends the program if a gap has changed."""
    pieces, size = layout(rng, sectors)
    area = buffer_of(size)
    if os.preadv(disk, parts(area, pieces), where) != sectors * SECTOR:
        sys.exit("short read")
    data = b"".join(bytes(part) for part in parts(area, pieces))
    for part in parts(area, pieces):
        part[:] = bytes([FILL]) * len(part)
    if area[:] != bytes([FILL]) * len(area):
        sys.exit("memory beside the pieces has changed")
    return data


def main():
    rng = random.Random(int(sys.argv[2]))
    disk = os.open(sys.argv[1], os.O_RDWR | os.O_DIRECT)
    for i in range(ROUNDS):
        sectors = rng.randrange(1, 160)
        where = SECTOR * rng.randrange(0, 65536)
        data = write(disk, rng, sectors, where)
        if read(disk, rng, sectors, where) != data:
            sys.exit(f"round {i}: {sectors} sectors at {where}: wrong data")


main()
