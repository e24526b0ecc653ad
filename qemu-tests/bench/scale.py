# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""How cost grows with the number and the size of objects, on one device: more
rows of perftest, and what other programs print."""

from dataclasses import dataclass

from rows import LATENCY, RATE, Row, short

SCALE_QPS = (1, 4, 16, 64, 256, 1024)
SCALE_IDLE = (0, 1024)
SCALE_MR_BYTES = (4 << 10, 64 << 10, 1 << 20, 16 << 20)
SCALE_MR = tuple(short(size) for size in SCALE_MR_BYTES)
SCALE_ROWS = [
    *[Row("write", RATE, 64, qps=qps, tx_depth=16, full="scale", title=f"qps-{qps}")
      for qps in SCALE_QPS],
    *[Row("write", LATENCY, 8, full="scale", idle=idle, title=f"lat-idle-{idle}")
      for idle in SCALE_IDLE],
    *[Row("send", RATE, 64, "-e", qps=qps, full="scale", title=f"events-{qps}")
      for qps in (1, 16)],
]


@dataclass(frozen=True)
class Value:
    """A row that such a program prints, as "NAME VALUE"."""
    program: str
    what: str
    unit: str
    less_is_better: bool = False
    metric = "value"
    kind = "value"

    @property
    def name(self):
        return f"{self.program}-{self.what}"


@dataclass(frozen=True)
class Program:
    """What it prints are rows of their own."""
    name: str
    line: str
    lacks: tuple = ()
    full: str = "scale"
    quick: str = ""
    many_qps = True

    def runs_on(self, peer):
        return peer.device not in self.lacks

    def command(self, _):
        return self.line


PROGRAMS = [
    # siw has 71 QPs in one process, which is too few to tell from noise.
    Program("memory", "objects memory 512", lacks=("siw",)),
    Program("mr", "objects mr"),
    Program("cm", "cmtime 50"),
    Program("odp", "odp", lacks=("rxe", "siw", "pci"), full="loop veth", quick="loop veth"),
]
VALUES = [
    *[Value("memory", what, "bytes", True) for what in ("qp", "cq", "mr")],
    *[Value("mr", f"{what}-{size}", "/s")
      for what in ("reg", "dereg") for size in SCALE_MR],
    Value("cm", "connect", "/s"),
]
ODP_VALUES = [
    *[Value("odp", f"reg-{what}", "/s") for what in ("pinned-4k", "4k", "implicit")],
    *[Value("odp", f"{what}-{figure}", "us", True)
      for what in ("present", "absent") for figure in ("p50", "p99")],
    Value("odp", "both-reads", "/s"),
    Value("odp", "timeouts", "", True),
]
