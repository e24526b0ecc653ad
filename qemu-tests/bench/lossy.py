# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""`make bench-lossy`: the same rows on wires that lose, delay, reorder, duplicate and
corrupt packets, by netem on both ends: what the guest runs, its goals and tables."""

import re

from rows import LATENCY, RATE, Row

# Options of netem
WIRES = {
    "none": "",
    "loss-0.1": "loss 0.1%",
    "loss-1": "loss 1%",
    "loss-5": "loss 5%",
    "loss-10": "loss 10%",
    "delay": "delay 1ms",
    "delay-loss-1": "delay 1ms loss 1%",
    "delay-loss-5": "delay 1ms loss 5%",
    "reorder": "delay 1ms reorder 25% 50%",
    "duplicate": "duplicate 5%",
    "corrupt": "corrupt 1%",
}
LATENCY_WIRES = ("none", "loss-1")
# Client and server
PEERS = ["ornic-veth", "rxe-veth", "ornic-rxe", "rxe-ornic"]
OURS, RXE, TO_RXE, FROM_RXE = PEERS
OPERATIONS = ("write", "send", "read")
CHECKS = ("rc_mixed_in_order", "rc_gather_scatter", "rc_read_scatter",
          "rc_fetch_and_add", "rc_both_ways")
SIZE = 65536
MTU = 4096
# Messages of a run, at least
LONG_RUN = 10000
# Messages of a latency row; where a loss costs the ACK timeout, fewer do.
MOST_PINGS = {"lossy": 100000, "lossy-quick": 10000, "lossy-icount": 100000}
FEW_PINGS = 2000


class LossyRow(Row):
    """A row on a wire, written ROW/WIRE."""

    def count(self, peer):
        """The first run, of which the result is not used, finds the speed. What goes again
        while it is learned how late packets may be is to be a small part."""
        learns = peer.name == OURS and self.name.endswith("/reorder")
        return f"1:1:100:{LONG_RUN if learns else 32}:30000"


def bandwidth(operation, wire):
    return LossyRow(operation, RATE, SIZE, title=f"{operation}-bw-64k/{wire}")


def ping(wire):
    return LossyRow("send", LATENCY, MTU, title=f"send-lat-4k/{wire}")


LOSSY_ROWS = [
    *[bandwidth(operation, wire) for wire in WIRES for operation in OPERATIONS],
    *[ping(wire) for wire in LATENCY_WIRES],
]


def events(operation, mode):
    """With one CPU, programs that poll take turns. WRITE has no events."""
    return " -e" if mode.accel == "icount" and operation != "write" else ""


def runs(repeat, peers, wire, mode):
    """The lines of a repeat on that wire; 0 only finds out the speeds."""
    if repeat:
        yield f"ref tcp-bw/{wire} {mode.limit} -"
    for operation in OPERATIONS:
        row = bandwidth(operation, wire)
        for peer in peers:
            yield (f"{peer.name} {row.name} {mode.limit} {row.command(peer)}"
                   f"{events(operation, mode)}")
    # ib_send_lat has to poll, which takes two CPUs: with events it goes wrong when
    # completions of its two CQs come in another order, as they do after a loss.
    if repeat and wire in LATENCY_WIRES:
        for peer in peers:
            count = MOST_PINGS[mode.name] if peer.name == OURS else FEW_PINGS
            program = "sends" if mode.accel == "icount" else f"ib_send_lat -s {MTU} -n"
            yield f"{peer.name} {ping(wire).name} {mode.limit * 4} {program} {count}"
    if repeat == 1:
        for peer in peers:
            if peer.name != RXE:
                yield (f"{peer.name} verify/{wire} {mode.limit * 4} "
                       f"verify {' '.join(CHECKS)}")


def lines(mode, peers):
    """The plan of the guest; see plan.lines()."""
    for repeat in range(mode.repeats + 1):
        peers = peers[1:] + peers[:1]
        for wire, options in WIRES.items():
            chosen = [run for run in runs(repeat, peers, wire, mode)
                      if not mode.rows or re.fullmatch(mode.rows, run.split()[1])]
            if chosen:
                yield f"{repeat} wire {wire} - {options or '-'}"
                yield from (f"{repeat} {run}" for run in chosen)
