#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""Play a hostile driver of the PCI NIC, with no driver loaded.

  hostile_guest.py ROUNDS

Each round is a reset, commands made of garbage in a ring that is all right,
and then garbage in the registers. What the device writes goes to memory of
this process: its pages are locked, and their addresses are all that is named."""

import ctypes
import glob
import mmap
import os
import random
import struct
import sys

PAGE = 4096
HOST = PAGE  # registers of the host in BAR 2
PAGES = 64
RESET, DEPTH, RINGS, PRODUCER = HOST, HOST + 4, HOST + 8, HOST + 24
NONCE = HOST + 32  # its address, then 16 bytes


def find_nic():
    for path in glob.glob("/sys/bus/pci/devices/*"):
        with open(path + "/vendor", encoding="ascii") as vendor, \
                open(path + "/device", encoding="ascii") as device:
            if (vendor.read(), device.read()) == ("0x1af4\n", "0x1110\n"):
                return path
    sys.exit("no NIC")


def open_bar(path, number):
    fd = os.open(f"{path}/resource{number}", os.O_RDWR)
    return mmap.mmap(fd, os.fstat(fd).st_size)


def physical(address):
    with open("/proc/self/pagemap", "rb") as file:
        file.seek(address // PAGE * 8)
        return (struct.unpack("<Q", file.read(8))[0] & ((1 << 55) - 1)) * PAGE


class Memory:
    """Locked pages and where the device sees them."""

    def __init__(self):
        self.map = mmap.mmap(-1, PAGES * PAGE)
        self.map[:] = bytes(PAGES * PAGE)
        start = ctypes.addressof(ctypes.c_char.from_buffer(self.map))
        if ctypes.CDLL(None, use_errno=True).mlock(
                ctypes.c_void_p(start), ctypes.c_size_t(PAGES * PAGE)):
            sys.exit("mlock failed")
        self.at = [physical(start + i * PAGE) for i in range(PAGES)]


def request(memory):
    """Nearly a command: an opcode that exists, and memory of ours."""
    raw = bytearray(random.choice((0, 0, 0, random.randrange(256)))
                    for _ in range(64))
    raw[0] = random.choice((1, 2, 3, 4, 0x10, 0x12, 0x20, 0x22, 0x23, 0x30,
                            0x32, 0x38, 0x40, 0x50, 0x54, 0x65, 0x70, 0x80,
                            0x81, 0xff))
    # Only single pages, and never lists, whose garbage could name others'.
    struct.pack_into("<QIBB", raw, 8, random.choice(memory.at), 1, 12, 0)
    if raw[0] == 0x02:
        struct.pack_into("<QI", raw, 8, random.choice(memory.at), 64)
    return raw


def main():
    path = find_nic()
    doorbell, bar, memory = open_bar(path, 0), open_bar(path, 2), Memory()
    with open(path + "/enable", "w", encoding="ascii") as file:
        file.write("1")
    os.system(f"setpci -s {os.path.basename(path)} COMMAND=6")

    def ring(vector):
        doorbell[12:16] = struct.pack("<I", vector)

    for number in range(int(sys.argv[1])):
        bar[PRODUCER:PRODUCER + 4] = bytes(4)
        bar[DEPTH:DEPTH + 4] = struct.pack("<I", 6)
        bar[RINGS:RINGS + 16] = struct.pack("<QQ", memory.at[0], memory.at[1])
        nonce = random.randbytes(16)
        memory.map[2 * PAGE:2 * PAGE + 16] = nonce
        bar[NONCE:NONCE + 24] = struct.pack("<Q", memory.at[2]) + nonce
        bar[RESET:RESET + 4] = struct.pack("<I", random.getrandbits(32))
        ring(0)
        for slot in range(64):
            memory.map[slot * 64:slot * 64 + 64] = bytes(request(memory))
        bar[PRODUCER:PRODUCER + 4] = struct.pack("<I", random.choice((1, 64, 64, 65)))
        ring(0)
        for _ in range(50):
            at = random.randrange(2 * PAGE, PAGES * PAGE - 8)
            memory.map[at:at + 8] = random.randbytes(8)
            ring(random.choice((0, 1, 1, random.getrandbits(32))))
        # Registers, but for the rings: they would name memory of others.
        at = random.choice((random.randrange(HOST - 4), PRODUCER, DEPTH,
                            random.randrange(PRODUCER, 2 * PAGE - 4)))
        bar[at:at + 4] = random.randbytes(4)
        ring(0)
    print(f"{number + 1} rounds")


main()
