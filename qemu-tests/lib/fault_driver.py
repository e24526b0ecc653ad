#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""A faulty driver of the PCI NIC. The real driver must not be loaded.

  fault_driver.py ROUNDS
  fault_driver.py --exhaust SECONDS

Each round resets the NIC, executes random commands from a valid ring, and then
writes random data to the registers. The device only gets addresses of locked
pages of this process, so it cannot overwrite other memory of the guest.

With --exhaust the driver creates memory keys with page lists that refer to
themselves, as long as the device allows, and QPs, until the device refuses. It
resets the NIC, sometimes with an invalid nonce, rings the doorbells all the time,
and sends frames, some of them with a spoofed MAC, to the other guest."""

import ctypes
import glob
import mmap
import os
import random
import socket
import struct
import sys
import time

PAGE = 4096
HOST = PAGE  # registers of the host in BAR 2
PAGES = 64
RESET, DEPTH, RINGS, PRODUCER = HOST, HOST + 4, HOST + 8, HOST + 24
NONCE = HOST + 32  # its address, then 16 bytes
QUERY_STATS = 0x63
CREATE_CQ, CREATE_QP, CREATE_MKEY = 0x10, 0x20, 0x30
SET_PAGES = 0x35
# Those that take memory or numbers of objects, and one that does not exist.
OPCODES = (0x01, QUERY_STATS, 0x03, 0x04, 0x05, CREATE_CQ, 0x13, CREATE_QP,
           0x22, 0x23, 0x24, 0x26, 0x27, 0x28, CREATE_MKEY, 0x32, 0x33, SET_PAGES,
           0x36, 0x40, 0x50, 0x54, 0x90, 0x91, 0x92,
           0x80, 0x81, 0xff)


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
    """Locked pages and their DMA addresses."""

    def __init__(self):
        self.map = mmap.mmap(-1, PAGES * PAGE)
        self.map[:] = bytes(PAGES * PAGE)
        start = ctypes.addressof(ctypes.c_char.from_buffer(self.map))
        if ctypes.CDLL(None, use_errno=True).mlock(
                ctypes.c_void_p(start), ctypes.c_size_t(PAGES * PAGE)):
            sys.exit("mlock failed")
        self.at = [physical(start + i * PAGE) for i in range(PAGES)]


def random_command(memory):
    """A random command with an existing opcode and our memory."""
    raw = bytearray(random.choice((0, 0, 0, random.randrange(256)))
                    for _ in range(64))
    raw[0] = random.choice(OPCODES)
    # Single pages only: random data in a page list could address other memory.
    struct.pack_into("<QIBB", raw, 8, random.choice(memory.at), 1, 12, 0)
    if raw[0] == QUERY_STATS:
        struct.pack_into("<QI", raw, 8, random.choice(memory.at), 64)
    if raw[0] == SET_PAGES:
        struct.pack_into("<Q", raw, 16, random.choice(memory.at))
    return raw


class Nic:
    """The function, and a ring of 64 commands."""

    def __init__(self):
        path = find_nic()
        self.doorbell, self.bar, self.memory = open_bar(path, 0), open_bar(path, 2), Memory()
        with open(path + "/enable", "w", encoding="ascii") as file:
            file.write("1")
        os.system(f"setpci -s {os.path.basename(path)} COMMAND=6")
        self.producer = 0

    def ring(self, vector):
        self.doorbell[12:16] = struct.pack("<I", vector)

    def reset(self, valid_nonce=True):
        bar, memory, nonce = self.bar, self.memory, random.randbytes(16)
        memory.map[2 * PAGE:2 * PAGE + 16] = nonce if valid_nonce else bytes(16)
        memory.map[PAGE:2 * PAGE] = bytes(PAGE)
        bar[NONCE:NONCE + 24] = struct.pack("<Q", memory.at[2]) + nonce
        bar[PRODUCER:PRODUCER + 4] = bytes(4)
        bar[DEPTH:DEPTH + 4] = struct.pack("<I", 6)
        bar[RINGS:RINGS + 16] = struct.pack("<QQ", memory.at[0], memory.at[1])
        bar[RESET:RESET + 4] = struct.pack("<I", random.getrandbits(32))
        self.producer = 0
        self.ring(0)

    def execute(self, command):
        """Issue 64 copies of @command. Returns the statuses; [] after 20 s."""
        self.memory.map[:PAGE] = bytes(command) * 64
        self.producer += 64
        self.bar[PRODUCER:PRODUCER + 4] = struct.pack("<I", self.producer)
        self.ring(0)
        phase, end = self.producer & 64, time.monotonic() + 20
        while time.monotonic() < end:
            self.ring(random.choice((0, 1)))
            statuses = self.memory.map[PAGE + 1:2 * PAGE:64]
            if all((status >> 7) == (phase != 0) for status in statuses):
                return [status & 127 for status in statuses]
        return []


def flood(seconds):
    """Send RoCEv2 packets to QP 1 and to random QPs of the other guest."""
    interface = next(name for name in os.listdir("/sys/class/net") if name != "lo")
    with open(f"/sys/class/net/{interface}/address", encoding="ascii") as file:
        own = bytes.fromhex(file.read().strip().replace(":", ""))
    victim = own[:5] + bytes([own[5] ^ 3])
    wire = socket.socket(socket.AF_PACKET, socket.SOCK_RAW)
    wire.bind((interface, 0))
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        source = random.choice((own, own, own, victim, random.randbytes(6)))
        payload = random.randbytes(random.randrange(16, 1400))
        bth = struct.pack(">BBHII", random.choice((0x64, 4, 10, 12)), 0, 0xffff,
                          random.choice((1, random.randrange(1 << 24))),
                          random.getrandbits(32))
        udp = struct.pack(">HHHH", 49152, 4791, 8 + len(bth + payload), 0)
        header = bytearray(struct.pack(
            ">BBHHHBBH4B4B", 0x45, 0, 20 + len(udp + bth + payload), 0, 0x4000, 64, 17,
            0, 10, 0, 0, own[5], 10, 0, 0, victim[5]))
        total = sum(struct.unpack(">10H", header))
        total = (total & 0xffff) + (total >> 16)
        header[10:12] = struct.pack(">H", ~(total + (total >> 16)) & 0xffff)
        try:
            wire.send(victim + source + b"\x08\x00" + header + udp + bth + payload)
        except OSError:
            time.sleep(0.001)


def until_refused(nic, command, limit):
    """Repeat @command until it fails. Returns how often it succeeded."""
    count = 0
    while count < limit:
        statuses = nic.execute(command)
        count += statuses.count(0)
        if not statuses or any(statuses):
            break
    return count


def create_qps(nic, one_page):
    """Create up to 65536 QPs on one CQ, with their rings in the same page."""
    command = bytearray(64)
    struct.pack_into("<B", command, 0, CREATE_CQ)
    struct.pack_into("<QIBBHB", command, 8, one_page, 2, 12, 1, 0, 4)
    nic.execute(command)
    cqn = struct.unpack_from("<I", nic.memory.map, PAGE + 4)[0]
    command = bytearray(64)
    struct.pack_into("<B", command, 0, CREATE_QP)
    struct.pack_into("<QIBBHIIIBBBBBBBBBB", command, 8, one_page, 3, 12, 1, 0, 7, cqn,
                     cqn, 2, 0, 1, 1, 4, 6, 4, 6, 1, 1)
    return until_refused(nic, command, 65536)


def exhaust(seconds):
    if not os.fork():
        flood(seconds)
        os._exit(0)
    nic, rounds, keys, qps = Nic(), 0, 0, 0
    at, pages = nic.memory.at, os.sysconf("SC_PHYS_PAGES")
    for level in (10, 11, 12):
        below = at[level - 1] if level > 10 else at[9]
        nic.memory.map[level * PAGE:(level + 1) * PAGE] = struct.pack("<Q", below) * 512
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        nic.reset(valid_nonce=rounds % 8 != 7)
        npages = random.choice((1 << 27, pages, pages // 2, 1))
        # CREATE_MKEY: header, memory, iova, length, PD, access
        command = bytearray(64)
        struct.pack_into("<B", command, 0, CREATE_MKEY)
        struct.pack_into("<QIBBHQQIB", command, 8, at[12], npages, 12, 3, 0, 0,
                         npages * PAGE, 1, 1)
        if rounds % 4 == 3:
            qps = max(qps, create_qps(nic, at[10]))
        else:
            keys = max(keys, until_refused(nic, command, 1 << 20))
        rounds += 1
    os.wait()
    print(f"{rounds} rounds, up to {keys} keys and {qps} QPs at once")


def main():
    if sys.argv[1] == "--exhaust":
        exhaust(int(sys.argv[2]))
        return
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
            memory.map[slot * 64:slot * 64 + 64] = bytes(random_command(memory))
        bar[PRODUCER:PRODUCER + 4] = struct.pack("<I", random.choice((1, 64, 64, 65)))
        ring(0)
        for _ in range(50):
            at = random.randrange(2 * PAGE, PAGES * PAGE - 8)
            memory.map[at:at + 8] = random.randbytes(8)
            ring(random.choice((0, 1, 1, random.getrandbits(32))))
        # All registers but those of the rings, which could address other memory.
        at = random.choice((random.randrange(HOST - 4), PRODUCER, DEPTH,
                            random.randrange(PRODUCER, 2 * PAGE - 4)))
        bar[at:at + 4] = random.randbytes(4)
        ring(0)
    print(f"{number + 1} rounds")


main()
