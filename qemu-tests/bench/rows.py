# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""What `make bench` measures with perftest: rows, each a program with its
options, and the guests that have it."""

from dataclasses import dataclass

MANY_QPS = 512
# More than siw has, in one process.
SIW_QPS = 64
# Kinds of rows. A set-up row transfers next to nothing: it is taken off the
# time that the others needed.
RATE, LATENCY, SETUP = "rate", "latency", "setup"
EVERYWHERE = "main nic two"
# Of perftest's -t, and of the completions that it asks for: one in that many.
TX_DEPTH, CQ_MOD = 128, 100


def short(size):
    """64, 4k, 1m"""
    for shift, unit in ((20, "m"), (10, "k")):
        if size >> shift:
            return f"{size >> shift}{unit}"
    return str(size)


@dataclass(frozen=True)
class Row:
    """One program of perftest with its options. quick, full: guests that have it
    then. tx_depth: of a QP. idle: QPs that do nothing meanwhile. title: its
    name, if not made of its parts."""
    operation: str
    kind: str
    size: int
    options: str = ""
    qps: int = 1
    quick: str = ""
    full: str = EVERYWHERE
    only: tuple = ()
    tx_depth: int = TX_DEPTH
    idle: int = 0
    title: str = ""
    program = ""

    @property
    def name(self):
        if self.title:
            return self.title
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

    @property
    def metric(self):
        """What stands for the row, and its unit."""
        if self.kind == LATENCY:
            return "typical_us"
        return "messages_per_s" if self.size <= 64 else "mb_per_s"

    @property
    def unit(self):
        return {"typical_us": "us", "messages_per_s": "/s", "mb_per_s": "MB/s"}[self.metric]

    @property
    def less_is_better(self):
        return self.kind == LATENCY

    def runs_on(self, peer):
        if self.only:
            return peer.name in self.only
        # siw is iWARP: no datagrams, and this one has no atomics.
        return peer.device != "siw" or not (
            self.operation == "atomic" or "UD" in self.options or
            max(self.qps, self.idle) > SIW_QPS or
            # With events, perftest dies of siw's second QP.
            ("-e" in self.options.split() and self.qps > 1))

    def count(self, peer, seconds):
        """-n: messages of each QP."""
        if self.kind == SETUP:
            return 5
        if self.kind == LATENCY:
            transfer = peer.latency_us + self.size / peer.mb_per_s
            return max(200, min(2000, int(seconds * 1e6 / transfer / 2)))
        each = max(peer.message_us, self.size / peer.mb_per_s)
        total = min(60000, max(8, int(seconds * 1e6 / each)))
        least = self.tx_depth if self.tx_depth < TX_DEPTH else 5
        count = max(least, total // self.qps)
        if "-l " in self.options:
            return (count // 32 + 1) * 32
        # With some QPs, ib_write_bw can wait forever for the end of a count
        # that leaves a rest.
        step = min(self.tx_depth, CQ_MOD)
        return count // step * step or count

    def command(self, peer, seconds):
        program = f"ib_{self.operation}_{'lat' if self.kind == LATENCY else 'bw'}"
        words = [program, "-s", str(self.size), "-n", str(self.count(peer, seconds))]
        if self.operation == "atomic":
            del words[1:3]
        if self.kind != LATENCY:
            words.append("-N")
        if self.qps > 1:
            words += ["-q", str(self.qps)]
        if self.tx_depth != TX_DEPTH:
            words += ["-t", str(self.tx_depth)]
        if self.idle:
            words = ["idle", str(self.idle), *words]
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
    Row("write", RATE, 64, qps=MANY_QPS, tx_depth=16, quick="main",
        only=("ornic-loop",)),
]
