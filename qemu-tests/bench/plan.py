# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""What `make bench` measures: rows (a program with its options), peers (a
device in a topology), and how often each row is run on each."""

import re
from dataclasses import dataclass, replace

MANY_QPS = 512
# Kinds of rows. A set-up row transfers next to nothing: it is taken off the
# time that the others needed.
RATE, LATENCY, SETUP = "rate", "latency", "setup"
EVERYWHERE = "main nic two"


@dataclass(frozen=True)
class Peer:
    """A device in a topology, and what it roughly does: it decides only how
    many messages fill the time of a run."""
    name: str
    guest: str
    latency_us: float
    message_us: float
    mb_per_s: float

    @property
    def device(self):
        return self.name.split("-")[0]


PEERS = [
    Peer("ornic-loop", "main", 8, 8, 2000),
    Peer("rxe-loop", "main", 60, 20, 100),
    Peer("siw-loop", "main", 20, 40, 400),
    Peer("ornic-veth", "main", 30, 30, 200),
    Peer("rxe-veth", "main", 80, 40, 80),
    Peer("siw-veth", "main", 30, 40, 130),
    Peer("pci-loop", "nic", 4, 3, 5000),
    Peer("rxe-loop-nic", "nic", 60, 20, 100),
    Peer("pci-two", "two", 6, 4, 5000),
    Peer("rxe-two", "two", 350, 90, 55),
]
PEER = {peer.name: peer for peer in PEERS}
# Which machines a guest has around it: options of qemu-tests/run.
GUESTS = {
    "main": [],
    "nic": ["--machines", "nic"],
    "two": ["--machines", "nic+nic", "--direct-wire"],
}


def short(size):
    """64, 4k, 1m"""
    for shift, unit in ((20, "m"), (10, "k")):
        if size >> shift:
            return f"{size >> shift}{unit}"
    return str(size)


@dataclass(frozen=True)
class Row:
    """One program with its options. quick, full: guests that have it then."""
    operation: str
    kind: str
    size: int
    options: str = ""
    qps: int = 1
    quick: str = ""
    full: str = EVERYWHERE
    only: tuple = ()

    @property
    def name(self):
        if self.kind == SETUP:
            return SETUP
        words = [self.operation, "bw" if self.kind == RATE else "lat", short(self.size)]
        if "UD" in self.options:
            words.insert(1, "ud")
        if self.qps > 1:
            words.append(f"q{self.qps}")
        if "-l " in self.options:
            words.append("l32")
        if "-e" in self.options.split():
            words.append("e")
        return "-".join(words)

    def runs_on(self, peer):
        if self.only:
            return peer.name in self.only
        # siw is iWARP: no datagrams, and this one has no atomics.
        return peer.device != "siw" or not (
            self.operation == "atomic" or "UD" in self.options)

    def count(self, peer, seconds):
        """-n: messages of each QP."""
        if self.kind == SETUP:
            return 5
        if self.kind == LATENCY:
            transfer = peer.latency_us + self.size / peer.mb_per_s
            return max(200, min(2000, int(seconds * 1e6 / transfer / 2)))
        each = max(peer.message_us, self.size / peer.mb_per_s)
        total = min(60000, max(8, int(seconds * 1e6 / each)))
        count = max(5, total // self.qps)
        return (count // 32 + 1) * 32 if "-l " in self.options else count

    def command(self, peer, seconds):
        program = f"ib_{self.operation}_{'lat' if self.kind == LATENCY else 'bw'}"
        words = [program, "-s", str(self.size), "-n", str(self.count(peer, seconds))]
        if self.operation == "atomic":
            del words[1:3]
        if self.kind != LATENCY:
            words.append("-N")
        if self.qps > 1:
            words += ["-q", str(self.qps)]
        if self.qps >= MANY_QPS:
            words += ["-t", "16"]
        return " ".join(words + self.options.split())


def latency(operation, size, options="", quick="", full=EVERYWHERE):
    return Row(operation, LATENCY, size, options, quick=quick, full=full)


def rate(operation, size, options="", qps=1, quick="", full=EVERYWHERE, only=()):
    return Row(operation, RATE, size, options, qps, quick, full, only)


OPERATIONS = ("write", "send", "read")
ROWS = [
    Row("write", SETUP, 64, quick=EVERYWHERE),
    *[latency(op, 8, quick=EVERYWHERE) for op in OPERATIONS],
    *[latency(op, 4096, full="main") for op in OPERATIONS],
    latency("atomic", 8, quick="main"),
    latency("send", 8, "-c UD"),
    latency("send", 4096, "-c UD", full="main"),
    latency("send", 8, "-e"),
    *[rate(op, 64, quick=EVERYWHERE if op == "write" else "") for op in OPERATIONS],
    *[rate(op, 4096, full=EVERYWHERE if op == "write" else "main") for op in OPERATIONS],
    *[rate(op, 65536, quick=EVERYWHERE) for op in OPERATIONS],
    rate("write", 1 << 20, quick=EVERYWHERE),
    *[rate(op, 1 << 20, quick="main", full="main") for op in ("send", "read")],
    rate("atomic", 8, full="main"),
    *[rate("send", size, "-c UD", full="main") for size in (64, 4096)],
    *[rate("write", size, qps=16) for size in (64, 65536)],
    *[rate(op, 64, qps=16, full="main") for op in ("send", "read")],
    rate("write", 64, "-l 32", quick="main"),
    rate("send", 64, "-l 32", full="main"),
    rate("send", 64, "-e", full="main"),
    rate("write", 64, qps=MANY_QPS, quick="main", only=("ornic-loop",)),
]
ROW = {row.name: row for row in ROWS}
REFERENCES = ["kernel", "null-syscall", "tcp-bw", "tcp-lat"]


@dataclass(frozen=True)
class Mode:
    """How long the bench may take. A single run that takes longer than limit
    has failed."""
    name: str
    repeats: int
    seconds: float
    budget: dict
    limit: int = 15
    rows: str = ""

    def slower(self, times):
        """The same with that much time for it."""
        budget = {guest: seconds * times for guest, seconds in self.budget.items()}
        return replace(self, budget=budget, limit=self.limit * times)


MODES = {
    "full": Mode("full", 5, 0.25, {"main": 570, "nic": 110, "two": 140}),
    "quick": Mode("quick", 2, 0.12, {"main": 100, "nic": 20, "two": 30}),
}


def rows_of(guest, mode):
    for row in ROWS:
        chosen = re.fullmatch(mode.rows, row.name) if mode.rows else (
            guest in getattr(row, mode.name).split())
        if chosen:
            yield row


def lines(guest, mode):
    """The plan of a guest: every row on every peer, then all of it again, so
    that drift hits all of them alike; each time another peer begins."""
    peers = [peer for peer in PEERS if peer.guest == guest]
    yield str(mode.budget[guest])
    for repeat in range(1, mode.repeats + 1):
        if guest == "main":
            for name in REFERENCES:
                yield f"{repeat} ref {name} {mode.limit} -"
        peers = peers[1:] + peers[:1]
        for row in rows_of(guest, mode):
            for peer in peers:
                if row.runs_on(peer):
                    yield (f"{repeat} {peer.name} {row.name} {mode.limit} "
                           f"{row.command(peer, mode.seconds)}")
