# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""In which order `make bench` runs what, and for how long: peers (a device in a
topology), guests and modes."""

import re
from dataclasses import dataclass, replace

from rows import ROWS
from scale import PROGRAMS, SCALE_ROWS


@dataclass(frozen=True)
class Peer:
    """A device in a topology, the guests that have it, and what it roughly does:
    it decides only how many messages fill the time of a run."""
    name: str
    guests: str
    latency_us: float
    message_us: float
    mb_per_s: float

    @property
    def device(self):
        return self.name.split("-")[0]


PEERS = [
    Peer("ornic-loop", "main scale", 8, 8, 2000),
    Peer("rxe-loop", "main scale", 60, 20, 100),
    Peer("siw-loop", "main scale", 20, 40, 400),
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
    "scale": [],
}
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

    def seconds_of(self, guest):
        return self.budget.get(guest, 60)

    def slower(self, times):
        """The same with that much time for it."""
        budget = {guest: seconds * times for guest, seconds in self.budget.items()}
        return replace(self, budget=budget, limit=self.limit * times)


MODES = {
    "full": Mode("full", 5, 0.25, {"main": 440, "nic": 100, "two": 110, "scale": 190}),
    "quick": Mode("quick", 2, 0.12, {"main": 100, "nic": 20, "two": 30}),
}


def rows_of(guest, mode):
    for row in [*ROWS, *SCALE_ROWS, *PROGRAMS]:
        if mode.rows:
            # Those of scaling need a guest of that kind, the others none.
            chosen = (guest == "scale") == (row.full == "scale") and \
                re.fullmatch(mode.rows, row.name)
        else:
            chosen = guest in getattr(row, mode.name).split()
        if chosen:
            yield row


def lines(guest, mode):
    """The plan of a guest: every row on every peer, then all of it again, so
    that drift hits all of them alike; each time another peer begins."""
    peers = [peer for peer in PEERS if guest in peer.guests.split()]
    yield str(mode.seconds_of(guest))
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
