# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""In which order `make bench` runs what, and for how long: peers (a device in a
topology), guests and modes."""

import re
from dataclasses import dataclass, replace

import incast
import lossy
from rows import ROWS
from scale import PROGRAMS, SCALE_ROWS
from services import SERVICE_PROGRAMS
from storage import STORAGE_PROGRAMS, TRANSPORTS


@dataclass(frozen=True)
class Peer:
    """A device, the places where it is, and what it roughly does: it decides only
    how many messages fill the time of a run, in the first repeat."""
    name: str
    places: str
    latency_us: float
    message_us: float
    mb_per_s: float

    @property
    def device(self):
        return self.name.split("-")[0]


PEERS = [
    Peer("ornic-loop", "loop scale storage", 3, 4, 3000),
    Peer("rxe-loop", "loop scale storage services", 50, 15, 150),
    Peer("siw-loop", "loop scale", 20, 40, 400),
    Peer("ornic-veth", "veth lossy services", 15, 15, 450),
    Peer("ornic-direct", "direct services", 4, 4, 3000),
    Peer("rxe-veth", "veth lossy", 70, 25, 120),
    Peer("siw-veth", "veth", 25, 30, 100),
    Peer("pci-loop", "nic", 4, 1, 10000),
    Peer("rxe-loop-nic", "nic", 50, 15, 150),
    Peer("pci-two", "two", 5, 1, 10000),
    Peer("rxe-two", "two", 550, 200, 55),
    Peer("ornic-rxe", "lossy", 70, 25, 120),
    Peer("rxe-ornic", "lossy", 70, 25, 120),
    *[Peer(name, places, 0, 0, 0) for name, places in TRANSPORTS.items()],
]
PEER = {peer.name: peer for peer in PEERS}
# Which machines a guest has around it, as options of qemu-tests/run; its places.
GUESTS = {
    "main": [],
    "nic": ["--machines", "nic"],
    "two": ["--machines", "nic+nic", "--direct-wire"],
    "scale": [],
    "storage": [],
    "services": [],
    "lossy": [],
    "incast": [],
}
PLACES = {"main": {"loop", "veth", "direct"}, "nic": {"nic"}, "two": {"two"}, "scale": {"scale"},
          "storage": {"storage"}, "services": {"services"},
          "lossy": {"lossy"}, "incast": {"incast"}}
LOSSY_GUESTS = ["lossy", "incast"]
# With the instructions for checksums: where each instruction takes the same time, they cost what
# they do on hardware. TCG's clock of the host makes them slow (qemu-tests/lib/machine.py).
CPU_OF_ICOUNT = "max,-erms,-fsrm,-la57"
REFERENCES = ["kernel", "null-syscall", "tcp-bw", "tcp-lat"]


@dataclass(frozen=True)
class Mode:
    """How long the bench may take, with the boots of its guests. A run measures for
    run_ms; if it takes longer than limit in all, it has failed. The report is in the
    files that begin with report. accel and cpu: of qemu-tests/run, if not the default."""
    name: str
    repeats: int
    run_ms: int
    budget: dict
    limit: int = 15
    rows: str = ""
    report: str = "bench"
    accel: str = ""
    cpu: str = ""

    @property
    def reports(self):
        """The guests in that report."""
        return [guest for guest in GUESTS
                if (guest in LOSSY_GUESTS) == (self.report == "lossy")]

    def seconds_of(self, guest):
        return self.budget.get(guest, 60)

    def slower(self, times):
        """The same with that much time for it."""
        budget = {guest: seconds * times for guest, seconds in self.budget.items()}
        return replace(self, budget=budget, limit=self.limit * times)


MODES = {
    "full": Mode("full", 5, 150, {"main": 480, "nic": 90, "two": 130, "scale": 180,
                                 "storage": 160, "services": 240}),
    "quick": Mode("quick", 2, 120, {"main": 110, "nic": 20, "two": 40}),
    "lossy": Mode("lossy", 3, 500, {"lossy": 1500, "incast": 420}, 20, report="lossy"),
    "lossy-quick": Mode("lossy-quick", 1, 300, {"lossy": 600, "incast": 240}, 20, report="lossy"),
    "lossy-icount": Mode("lossy-icount", 2, 300, {"lossy": 20000, "incast": 2000}, 20,
                         report="lossy", accel="icount", cpu=CPU_OF_ICOUNT),
}


def runs(guest, peers, mode):
    """Each row on each peer: those of the mode, or those that were asked for."""
    for row in [*ROWS, *SCALE_ROWS, *PROGRAMS, *STORAGE_PROGRAMS,
                *SERVICE_PROGRAMS]:
        wanted = set(getattr(row, mode.name).split())
        if mode.rows:
            matches = re.fullmatch(mode.rows, row.name)
            wanted = set(row.full.split()) if matches else set()
        for peer in peers:
            if wanted & PLACES[guest] & set(peer.places.split()) and row.runs_on(peer):
                yield peer, row


def lines(guest, mode, budget):
    """The plan of a guest: every row on every peer, then all of it again, so
    that drift hits all of them alike; each time another peer begins. The guest
    leaves out repeats for which its budget of seconds does not suffice."""
    peers = [peer for peer in PEERS if PLACES[guest] & set(peer.places.split())]
    yield f"{guest} {budget} {mode.run_ms}"
    if guest == "lossy":
        yield from lossy.lines(mode, peers)
        return
    if guest == "incast":
        yield from incast.lines(mode)
        return
    for repeat in range(1, mode.repeats + 1):
        if guest == "main":
            for name in REFERENCES:
                yield f"{repeat} ref {name} {mode.limit} -"
        peers = peers[1:] + peers[:1]
        for peer, row in runs(guest, peers, mode):
            limit = mode.limit * (2 if row.many_qps else 1)
            yield (f"{repeat} {peer.name} {row.name} {limit} "
                   f"{row.command(peer)}")
