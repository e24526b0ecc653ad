#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""A faulty PCI NIC: implements the device interface on ivshmem-doorbell, and
injects one kind of fault per life, after a time without faults.

  fault_device.py --socket PATH --ram FILE --mac MAC [--vectors N] [--seed N]

A life is the time between two resets by the host. The device writes only to
memory that the host has given it: only the content is wrong. Prints one line
per life.
"""

import argparse
import array
import mmap
import os
import random
import select
import socket
import struct
import sys
import time

REGS_SIZE = 1 << 20  # a power of two, as ivshmem requires
MAGIC = 0x43494e63696e726f
READY, FAILED = 1, 2
VERSION, STATUS, HEALTH, NUM_MSGS, RESET_DONE = 8, 12, 16, 20, 24
HOST = 4096
QUERY_DEVICE = 0x01
CREATE_CQ, DESTROY_CQ = 0x10, 0x11
CREATE_QP, DESTROY_QP, QUERY_QP, TAKE_FAULT = 0x20, 0x21, 0x23, 0x26
CREATE_MKEY, DESTROY_MKEY, DESTROY_MW, CLEAR_PAGES = 0x30, 0x31, 0x34, 0x36
CREATE_AH, DESTROY_AH = 0x40, 0x41
CREATE_SRQ, DESTROY_SRQ = 0x50, 0x51
DESTROY_COUNTERS = 0x61
CREATE_EQ = 0x80
CREATE_FLOW, DESTROY_FLOW, END_RAW = 0x90, 0x91, 0x92
CREATES = (CREATE_CQ, CREATE_QP, CREATE_MKEY, CREATE_AH, CREATE_SRQ, CREATE_EQ,
           CREATE_FLOW)
DESTROYS = (DESTROY_CQ, DESTROY_QP, DESTROY_MKEY, DESTROY_MW, DESTROY_AH,
            DESTROY_SRQ, DESTROY_COUNTERS, DESTROY_FLOW)
MANDATORY = DESTROYS + (CLEAR_PAGES, END_RAW)
NOT_FOUND, BUSY = 6, 7
PAGE_FAULT = 11
MKEY_ODP = 8
PHASE = 0x80
CORRECT_SECONDS = 1.5
FAULT_SECONDS = 6

PAGE_SIZES = 1 << 12 | 1 << 14 | 1 << 16
EFD_NONBLOCK = os.EFD_NONBLOCK | os.EFD_CLOEXEC


class Memory:
    """The guest's RAM, by DMA address. Small guests: all of it is low, on arm64
    from 1 GiB on."""

    def __init__(self, path, start):
        self.start = start
        with open(path, "r+b") as file:
            self.map = mmap.mmap(file.fileno(), 0)

    def read(self, addr, size):
        addr -= self.start
        if addr < 0 or addr + size > len(self.map):
            return bytes(size)
        return self.map[addr:addr + size]

    def write(self, addr, data):
        addr -= self.start
        if addr >= 0 and addr + len(data) <= len(self.map):
            self.map[addr:addr + len(data)] = data


class Ring:
    """A ring of the device: entries whose last byte has the phase in bit 0."""

    def __init__(self, memory, pages, log_depth, size):
        self.memory, self.pages = memory, pages
        self.depth, self.size = 1 << log_depth, size
        self.producer = 0

    def put(self, data, advance=True):
        at = 4096 + self.producer % self.depth * self.size
        phase = ~(self.producer // self.depth) & 1
        entry = data[:self.size - 1] + bytes([data[-1] & 0xfe | phase])
        self.memory.write(self.pages[at // 4096] + at % 4096, entry)
        self.producer += advance


class FaultDevice:
    def __init__(self, options):
        self.options = options
        self.random = random.Random(options.seed)
        self.memory = Memory(options.ram, options.ram_start)
        fd = os.memfd_create("ornic-fault-device")
        os.ftruncate(fd, REGS_SIZE)
        self.regs_fd = fd
        self.regs = mmap.mmap(fd, REGS_SIZE)
        self.kicks = [os.eventfd(0, EFD_NONBLOCK) for _ in range(2)]
        self.messages = [os.eventfd(0, EFD_NONBLOCK)
                         for _ in range(options.vectors)]
        self.faults = [self.page_faults, self.refusals,
                     self.wrong_responses, self.no_responses, self.events,
                     self.completions, self.interrupts, self.garbage,
                     self.random_registers, self.limits, self.repeated_responses,
                     self.failures, self.no_heartbeat, self.object_numbers, self.states]
        self.lives = 0
        self.write32(NUM_MSGS, options.vectors)
        self.write32(VERSION, 1)
        self.regs[32:38] = bytes.fromhex(options.mac.replace(":", ""))
        self.regs[40:52] = struct.pack("<III", 12, 0, 1)
        self.write32(STATUS, READY)
        self.regs[0:8] = struct.pack("<Q", MAGIC)
        self.begin(0)

    # ---- Registers and messages

    def read32(self, at):
        return struct.unpack_from("<I", self.regs, at)[0]

    def write32(self, at, value):
        struct.pack_into("<I", self.regs, at, value & 0xffffffff)

    def message(self, number):
        os.eventfd_write(self.messages[number % len(self.messages)], 1)

    # ---- Lives

    def begin(self, reset):
        self.producer = self.consumer = 0
        self.eqs, self.cqs, self.qps, self.mkeys = {}, [], [], []
        self.next_obj = 16
        self.begun = time.monotonic()
        self.rings = None
        # The first life has no fault.
        self.fault = self.faults[(self.lives - 1) % len(self.faults)] \
            if self.lives else self.nothing
        print(f"life {self.lives}: {self.fault.__name__}", flush=True)
        self.lives += 1
        self.write32(STATUS, READY)
        self.write32(RESET_DONE, reset)

    @property
    def faulty(self):
        return time.monotonic() - self.begun > CORRECT_SECONDS

    def poll(self):
        reset = self.read32(HOST)
        if reset != self.read32(RESET_DONE):
            self.begin(reset)
        producer = self.read32(HOST + 24)
        if not producer:
            return
        if not self.rings:
            self.rings = struct.unpack_from("<IQQ", self.regs, HOST + 4)
        while self.consumer != producer:
            self.next_command()

    def next_command(self):
        depth = 1 << (self.rings[0] & 15)
        request = self.memory.read(
            self.rings[1] + self.consumer % depth * 64, 64)
        self.consumer += 1
        if self.fault == self.no_responses and self.faulty:
            return
        self.respond(request[0], struct.unpack_from("<H", request, 2)[0],
                    self.execute(request), self.status(request[0]))

    @property
    def pages_are_missing(self):
        return self.faulty and self.fault in (self.refusals, self.page_faults)

    def status(self, opcode):
        if opcode == TAKE_FAULT and not self.pages_are_missing:
            return NOT_FOUND
        refuses = self.fault == self.refusals and self.faulty
        return BUSY if refuses and opcode in MANDATORY else 0

    def respond(self, opcode, number, body, status=0):
        """@body: the 60 bytes after opcode, status and id"""
        if self.fault == self.wrong_responses and self.faulty:
            opcode = self.random.choice([opcode, self.random.randrange(256)])
            number = self.random.choice([number, self.random.randrange(65536)])
        depth = 1 << (self.rings[0] & 15)
        phase = 0 if self.producer // depth & 1 else PHASE
        at = self.rings[2] + self.producer % depth * 64
        self.producer += 1
        self.memory.write(at + 4, body)
        self.memory.write(at, struct.pack("<BBH", opcode, status | phase,
                                          number))
        self.message(0)
        if self.fault == self.repeated_responses and self.faulty:
            self.fault = self.nothing
            self.respond(opcode, number, body)

    def execute(self, request):
        opcode, obj = request[0], struct.unpack_from("<I", request, 4)[0]
        if opcode == QUERY_DEVICE:
            return self.query_device()
        if opcode == DESTROY_CQ:
            self.cqs = [cq for cq in self.cqs if cq[0] != obj]
        if opcode in CREATES:
            obj = self.next_obj
            self.next_obj += 1
            if self.fault == self.object_numbers and self.faulty:
                obj = self.random.choice([0, 1 << 24, 0xffffffff, 16, *self.qps])
            if opcode == CREATE_MKEY and request[45] & MKEY_ODP:
                self.mkeys.append((obj, *struct.unpack_from("<QQ", request, 24)))
            if opcode in (CREATE_CQ, CREATE_EQ):
                self.make_ring(opcode, obj, request)
            if opcode == CREATE_QP:
                if request[37] & 4:
                    obj = 1
                self.qps.append(obj)
        if opcode == QUERY_QP and self.fault == self.states and self.faulty:
            return struct.pack("<I", obj) + self.random_bytes(56)
        if opcode == TAKE_FAULT:
            return struct.pack("<I", obj) + self.take_fault()
        return struct.pack("<I", obj) + bytes(56)

    def take_fault(self):
        """A key, if there is one, and a range that it often has; 56 bytes"""
        key, iova, length = self.random.choice(self.mkeys or [(0, 0, 1)])
        addr = iova + self.random.randrange(max(length, 1))
        if self.fault == self.page_faults and self.random.randrange(4) == 0:
            key = self.random.choice([key, 0, self.random.getrandbits(32)])
            addr = self.random.choice([addr, 0, (1 << 64) - 1,
                                       self.random.getrandbits(64)])
            length = self.random.getrandbits(64)
        return struct.pack("<IIQQB31x", key, self.random.getrandbits(32),
                           addr & (1 << 64) - 1, length, self.random.randrange(2))

    def make_ring(self, opcode, obj, request):
        addr, npages, _, levels = struct.unpack_from("<QIBB", request, 8)
        if levels == 0:
            pages = [addr + 4096 * n for n in range(npages)]
        elif levels == 1:
            pages = struct.unpack(f"<{npages}Q",
                                  self.memory.read(addr, 8 * npages))
        else:
            return
        ring = Ring(self.memory, pages, request[24],
                    16 if opcode == CREATE_EQ else 64)
        if opcode == CREATE_EQ:
            self.eqs[struct.unpack_from("<H", request, 26)[0]] = ring
        else:
            self.cqs.append((obj, ring, request[25]))

    def query_device(self):
        # RC, UD, KERNEL; RAW, ODP and RSS; and DM without pages of it
        caps = sum(1 << bit for bit in (0, 2, 8, 22, 25, 27, 28))
        numbers = [1, 16, 16, 20, 16, 0, 14, 16, 32, 16, 16,
                   len(self.messages) - 1]
        if self.fault == self.limits:
            numbers = [1] + [self.random.randrange(256) for _ in range(11)]
        return struct.pack("<IQQQ12BHH6s10x", 0, caps, PAGE_SIZES, 1 << 40,
                           *numbers, 992, 128, self.regs[32:38])

    # ---- Faults, injected periodically

    def nothing(self):
        pass

    # next_command(), respond() and execute() inject these seven.

    def wrong_responses(self):
        pass

    def no_responses(self):
        pass

    def repeated_responses(self):
        pass

    def limits(self):
        pass

    def object_numbers(self):
        pass

    def states(self):
        pass

    def refusals(self):
        """next_command() injects it: here the key gets pages, to be taken away."""
        self.page_faults()

    def page_faults(self):
        """Of queues; TAKE_FAULT tells of any key and range."""
        for obj in self.qps + [self.random.getrandbits(24)]:
            if 0 in self.eqs:
                self.eqs[0].put(struct.pack("<IBB10x", obj, PAGE_FAULT,
                                            self.random.randrange(3)))
        self.message(0)

    def random_bytes(self, size):
        return self.random.randbytes(size)

    def events(self):
        for message, ring in self.eqs.items():
            for _ in range(40):
                kind = self.random.choice([0, 1, 2, 5, 7, 9,
                                           self.random.randrange(256)])
                if kind == 8:
                    continue
                obj = self.random.choice(
                    self.qps + [n for n, _, _ in self.cqs] +
                    [self.random.getrandbits(32)])
                ring.put(struct.pack("<IB", obj, kind) + self.random_bytes(11))
            self.message(message)

    def completions(self):
        """CQEs of WQEs that were never posted, with random pointers."""
        for number, ring, vector in self.cqs:
            for _ in range(self.random.randrange(1, 200)):
                qpn = self.random.choice(self.qps + [0, 0xffffffff])
                index = self.random.choice(
                    [0, 1, 5, 511, 512, 0xffffffff,
                     self.random.getrandbits(32)])
                opcode = self.random.choice([0x80, 0, 0x81, 1, 7, 0xff])
                ring.put(struct.pack("<QQIIII", 0xdead4ead00000000 | index, 0,
                                     index, qpn, 0xffffffff, 0) +
                         self.random_bytes(28) +
                         bytes([opcode, self.random.choice([0, 5, 255]), 0,
                                self.random.randrange(256)]))
            if 1 + vector in self.eqs:
                self.eqs[1 + vector].put(struct.pack("<IB", number, 0) +
                                         bytes(11))
                self.message(1 + vector)

    def interrupts(self):
        for _ in range(2000):
            self.message(self.random.randrange(len(self.messages)))

    def garbage(self):
        """Random data in every ring and record of the host."""
        for ring in [*self.eqs.values()] + [r for _, r, _ in self.cqs]:
            for page in ring.pages:
                self.memory.write(page, self.random_bytes(4096))
        for message in self.eqs:
            self.message(message)
        if self.rings:
            self.memory.write(self.rings[2], self.random_bytes(4096))
            self.message(0)

    def random_registers(self):
        done = self.read32(RESET_DONE)
        for at in (VERSION, NUM_MSGS, RESET_DONE, 28, 36, 40, 44, 48, 52, 56):
            self.write32(at, self.random.getrandbits(32))
        self.message(0)
        self.regs[28:32] = bytes(4)
        self.regs[32:38] = bytes.fromhex(self.options.mac.replace(":", ""))
        self.regs[40:60] = struct.pack("<IIIII", 12, 0, 1, 0, 0)
        self.write32(VERSION, 1)
        self.write32(NUM_MSGS, len(self.messages))
        self.write32(STATUS, self.random.choice([READY, FAILED, 0]))
        self.write32(RESET_DONE, done)

    def failures(self):
        self.write32(STATUS, FAILED)
        self.message(0)
        self.fault = self.nothing

    def no_heartbeat(self):
        pass

    # ---- ivshmem

    def serve(self):
        listener = socket.socket(socket.AF_UNIX)
        listener.bind(self.options.socket)
        listener.listen(1)
        guest, _ = listener.accept()
        send = lambda value, fd=None: guest.sendmsg(
            [struct.pack("<q", value)],
            [] if fd is None else [(socket.SOL_SOCKET, socket.SCM_RIGHTS,
                                    array.array("i", [fd]))])
        send(0)
        send(1)
        send(-1, self.regs_fd)
        for fd in self.kicks:
            send(0, fd)
        for fd in self.messages:
            send(1, fd)
        return guest

    def run(self):
        guest = self.serve()
        fault_at = heartbeat_at = 0
        while True:
            ready, _, _ = select.select([guest, *self.kicks], [], [], 0.05)
            if guest in ready and not guest.recv(8):
                return
            for fd in self.kicks:
                if fd in ready:
                    os.eventfd_read(fd)
            now = time.monotonic()
            if now > heartbeat_at and not (self.fault == self.no_heartbeat and self.faulty):
                self.write32(HEALTH, self.read32(HEALTH) + 1)
                heartbeat_at = now + 0.3
            self.poll()
            if self.faulty and now > fault_at and \
                    now - self.begun < CORRECT_SECONDS + FAULT_SECONDS:
                self.fault()
                fault_at = now + 0.2
            elif now - self.begun > CORRECT_SECONDS + FAULT_SECONDS and \
                    self.lives > 1 and self.fault not in (self.no_responses,
                                                        self.no_heartbeat):
                # Makes the host reset the device: the next life.
                self.fault = self.nothing
                self.write32(STATUS, FAILED)
                self.message(0)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--socket", required=True)
    parser.add_argument("--ram", required=True)
    parser.add_argument("--ram-start", type=int, default=0)
    parser.add_argument("--mac", required=True)
    parser.add_argument("--vectors", type=int, default=3)
    parser.add_argument("--seed", type=int, default=1)
    FaultDevice(parser.parse_args()).run()


if __name__ == "__main__":
    sys.exit(main())
