# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""Messages by RDS sockets in both directions: rds_messages.py ADDRESS ADDRESS COUNT [END].

Each of two sockets sends COUNT messages of random sizes to the other, whose text says
which one of the sequence it is. RDS promises that each comes once, and in order. END, 0 or
1, is the one of this machine, if they are two."""

import errno
import os
import random
import select
import socket
import sys
import time

AF_RDS = 21
PORT = 4000
LARGEST = 100000  # less than half of the default SO_SNDBUF
SECONDS = 120 * int(os.environ["SCALE"])


def message(seed, number):
    rng = random.Random(seed << 32 | number)
    size = rng.choice((4, 100, 4000, 4096, 5000, 60000, LARGEST))
    return number.to_bytes(4, "big") + rng.randbytes(size - 4)


class End:
    def __init__(self, address, peer, seed):
        self.socket = socket.socket(AF_RDS, socket.SOCK_SEQPACKET, 0)
        self.socket.bind((address, PORT))
        self.socket.setblocking(False)
        self.address, self.peer = address, (peer, PORT)
        self.seed, self.sent, self.received = seed, 0, 0

    def send(self):
        try:
            self.socket.sendto(message(self.seed, self.sent), self.peer)
            self.sent += 1
        except BlockingIOError:
            pass
        except OSError as error:
            # The receiver is congested.
            if error.errno != errno.ENOBUFS:
                raise

    def receive(self, seed):
        try:
            data, source = self.socket.recvfrom(LARGEST)
        except BlockingIOError:
            return
        if source[0] != self.peer[0] or data != message(seed, self.received):
            sys.exit(f"message {self.received}: {len(data)} wrong bytes of {source}")
        self.received += 1

    def meet(self):
        """Return a connection to the machine of the other end, which has its socket by then:
        without it messages are dropped."""
        if self.seed == 0:
            with socket.create_server((self.address, PORT)) as listener:
                listener.settimeout(SECONDS)
                return listener.accept()[0]
        limit = time.monotonic() + SECONDS
        while True:
            try:
                return socket.create_connection((self.peer[0], PORT))
            except ConnectionRefusedError:
                if time.monotonic() > limit:
                    raise
                time.sleep(0.1)


def part(connection):
    """Wait until the other end has received all: RDS drops what a closed socket has sent."""
    connection.settimeout(SECONDS)
    connection.sendall(b"x")
    if connection.recv(1) != b"x":
        sys.exit("the other end has not received all")


def main():
    addresses, count = sys.argv[1:3], int(sys.argv[3])
    ends = [End(addresses[number], addresses[1 - number], number)
            for number in map(int, sys.argv[4:] or (0, 1))]
    connection = ends[0].meet() if len(ends) == 1 else None
    limit = time.monotonic() + SECONDS
    while any(end.sent < count or end.received < count for end in ends):
        if time.monotonic() > limit:
            sys.exit(f"{[end.sent for end in ends]} sent, "
                     f"{[end.received for end in ends]} received")
        writing = [end.socket for end in ends if end.sent < count]
        can_read, can_write, _ = select.select([end.socket for end in ends], writing, [], 1)
        for end in ends:
            if end.socket in can_write:
                end.send()
            if end.socket in can_read:
                end.receive(1 - end.seed)
    if connection:
        part(connection)


main()
