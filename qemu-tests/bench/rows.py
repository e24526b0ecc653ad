# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""What `make bench` measures with perftest: rows, each a program with its
options, and the places where it runs."""

from dataclasses import dataclass

MANY_QPS = 512
# More than siw has, in one process.
SIW_QPS = 64
# Kinds of rows. A set-up row transfers next to nothing: it is taken off the
# time that the others needed.
RATE, LATENCY, SETUP = "rate", "latency", "setup"
# Places, where the two ends of a row are; who is there is in plan.py.
EVERYWHERE = "loop veth direct nic two"
# Of perftest's -t, and of the completions that it asks for: one in that many.
TX_DEPTH, CQ_MOD = 128, 100
POST_LIST = 32
MOST_MESSAGES = 300000


def short(size):
    """64, 4k, 1m"""
    for shift, unit in ((20, "m"), (10, "k")):
        if size >> shift:
            return f"{size >> shift}{unit}"
    return str(size)


@dataclass(frozen=True)
class Row:
    """One program of perftest with its options. quick, full: places that have it
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
            words.append(f"l{POST_LIST}")
        if "-e" in self.options.split():
            words.append("e")
        if "--odp" in self.options:
            words.append("odp")
        return "-".join(words)

    @property
    def many_qps(self):
        """Setting them up takes its time."""
        return max(self.qps, self.idle) >= MANY_QPS

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
        # Datagrams make packets.
        if peer.places == "direct" and "UD" in self.options:
            return False
        # siw is iWARP: no datagrams, and this one has no atomics.
        return peer.device != "siw" or not (
            self.operation == "atomic" or "UD" in self.options or
            max(self.qps, self.idle) > SIW_QPS)

    def count(self, peer):
        """-n, messages of each QP, as the guest works it out from a speed, which is
        a guess in the first repeat: SPEED:QPS:STEP:LEAST:MOST. With several QPs,
        ib_write_bw may wait forever for the end of a count that is larger than
        a step and not a multiple; with -l, perftest takes no other."""
        if self.kind == SETUP:
            return "5"
        if self.kind == LATENCY:
            speed = 1e6 / 2 / (peer.latency_us + self.size / peer.mb_per_s)
            return f"{speed:.0f}:1:1:200:2000"
        speed = 1e6 / max(peer.message_us, self.size / peer.mb_per_s)
        step = POST_LIST if "-l " in self.options else min(self.tx_depth, CQ_MOD)
        least = step if step < CQ_MOD else 5
        return f"{speed:.0f}:{self.qps}:{step}:{least}:{MOST_MESSAGES // self.qps}"

    def command(self, peer):
        program = f"ib_{self.operation}_{'lat' if self.kind == LATENCY else 'bw'}"
        words = [program, "-s", str(self.size), "-n", self.count(peer)]
        if self.operation == "atomic":
            del words[1:3]
        if self.kind != LATENCY:
            words.append("-N")
        if self.qps > 1:
            words += ["-q", str(self.qps)]
        if self.tx_depth != TX_DEPTH:
            words += ["-t", str(self.tx_depth)]
        if self.qps > 1 and self.operation == "send":
            # With 512 receives for each QP, perftest crashes on siw.
            words += ["-r", str(TX_DEPTH)]
        if self.idle:
            words = ["idle", str(self.idle), *words]
        return " ".join(words + self.options.split())


def latency(operation, size, options="", quick="", full=EVERYWHERE):
    return Row(operation, LATENCY, size, options, quick=quick, full=full)


def rate(operation, size, options="", qps=1, quick="", full=EVERYWHERE):
    return Row(operation, RATE, size, options, qps, quick, full)


OPERATIONS = ("write", "send", "read")
HERE = "loop veth"
# Devices with on-demand paging
ON_DEMAND = ("ornic-loop", "ornic-veth")
ROWS = [
    Row("write", SETUP, 64),
    latency("write", 8, quick=EVERYWHERE),
    *[latency(op, 8, quick=HERE) for op in ("send", "read")],
    latency("write", 4096, full=HERE),
    *[latency(op, 4096, full="veth") for op in ("send", "read")],
    latency("atomic", 8),
    latency("send", 8, "-c UD"),
    latency("send", 4096, "-c UD", full="veth"),
    latency("send", 8, "-e"),
    rate("write", 64, quick="loop"),
    *[rate(op, 64) for op in ("send", "read")],
    rate("write", 4096),
    *[rate(op, 4096, full=HERE) for op in ("send", "read")],
    rate("write", 65536, quick=EVERYWHERE),
    *[rate(op, 65536, quick="veth") for op in ("send", "read")],
    rate("write", 1 << 20, quick=HERE),
    *[rate(op, 1 << 20, quick="veth", full=HERE) for op in ("send", "read")],
    rate("atomic", 8, full=HERE),
    *[rate("send", size, "-c UD", full=HERE) for size in (64, 4096)],
    # On one device, scale.py has them.
    *[rate("write", size, qps=16, full="veth nic two") for size in (64, 65536)],
    *[rate(op, 64, qps=16, full="veth") for op in ("send", "read")],
    rate("send", 64, "-e", full="veth"),
    rate("write", 64, f"-l {POST_LIST}", quick="loop"),
    # With perftest's own depth, as the one QP that it is compared with: refilling
    # short queues takes perftest longer than the device.
    Row("write", RATE, 64, qps=MANY_QPS, quick="loop", full="loop",
        only=("ornic-loop",)),
    # perftest has written to all pages before it begins.
    *[Row(op, LATENCY, 8, "--odp", quick=HERE, full=HERE, only=ON_DEMAND)
      for op in ("write", "read")],
    Row("write", RATE, 65536, "--odp", quick=HERE, full=HERE, only=ON_DEMAND),
    Row("read", RATE, 65536, "--odp", quick="veth", full=HERE, only=ON_DEMAND),
]
