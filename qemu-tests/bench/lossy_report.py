# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""What `make bench-lossy` has measured: tables, and its goals met or missed."""

import incast
from lossy import (CHECKS, FROM_RXE, LATENCY_WIRES, MTU, OPERATIONS, OURS, PEERS, RXE,
                   SIZE, TO_RXE, WIRES, bandwidth, ping)
from report import number

# Against the speed of the same pair on another wire: wire, other, part at least
OWN_SPEED = [
    ("loss-0.1", "none", 0.98),
    ("loss-1", "none", 0.9),
    ("loss-5", "none", 0.7),
    ("loss-10", "none", 0.5),
    ("delay-loss-1", "delay", 0.9),
    ("delay-loss-5", "delay", 0.6),
    ("reorder", "delay", 0.9),
]
TCP_WIRES = [wire for wire in WIRES if "loss" in wire]
RXE_WIRES = ["none", "loss-0.1", "loss-1", "loss-5", "reorder", "duplicate", "corrupt"]
SPURIOUS_PERCENT_MOST = 0.1
FROM_RXE_TIMES = 10
READ_TIMES = 5
LATENCY_TIMES_MOST = 20


def speed(results, peer, operation, wire):
    return results.median(peer, bandwidth(operation, wire).name, "mb_per_s")


def tcp(results, wire):
    return results.median("ref", f"tcp-bw/{wire}", "value")


def ratio(one, other):
    return one / other if one and other else None


def counted(results, row, name, sides=("cli", "srv")):
    """By ornic in all repeats, which differ in the number of messages."""
    metrics = results.values[OURS, row] if (OURS, row) in results.values else {}
    return sum(sum(metrics.get(f"{side}-{name}", [])) for side in sides)


def packets_of(results, row):
    """That its messages need."""
    return sum(results.values[OURS, row]["count"]) * SIZE / MTU


def sent_again(results, operation, wire):
    """Data packets beyond these, in per cent."""
    row = bandwidth(operation, wire).name
    sides = ["srv" if operation == "read" else "cli"]
    part = ratio(counted(results, row, "tx_packets", sides), packets_of(results, row))
    return part and 100 * (part - 1)


def duplicates(results, operation, wire):
    """Requests that arrived twice, in per cent of data packets."""
    row = bandwidth(operation, wire).name
    packets = packets_of(results, row)
    return 100 * counted(results, row, "duplicate_request") / packets if packets else None


def goals(results):
    """Each goal: (what, value, limit, whether more is better)."""
    for wire, other, least in OWN_SPEED:
        for operation in OPERATIONS:
            parts = [speed(results, OURS, operation, w) for w in (wire, other)]
            yield f"{operation}, {wire}: of {other}", ratio(*parts), least, True
    for wire in TCP_WIRES:
        for operation in OPERATIONS:
            ours = speed(results, OURS, operation, wire)
            yield f"{operation}, {wire}: of TCP", ratio(ours, tcp(results, wire)), 1, True
    for operation in OPERATIONS:
        yield (f"{operation}, reorder: sent again, %",
               sent_again(results, operation, "reorder"), SPURIOUS_PERCENT_MOST, False)
    yield from goals_with_rxe(results)
    fast = results.median(OURS, ping("none").name, "typical_us")
    slow = results.median(OURS, ping("loss-1").name, "p999_us")
    yield ("send 4 KiB, loss-1: 99.9 % of typical without loss", ratio(slow, fast),
           LATENCY_TIMES_MOST, False)
    yield from incast.goals(results)


def goals_with_rxe(results):
    """With rxe at the other end, against rxe at both."""
    for wire in RXE_WIRES:
        for peer in (TO_RXE, FROM_RXE):
            for operation in OPERATIONS:
                least = 1
                if wire == "reorder" and peer == FROM_RXE and operation != "read":
                    least = FROM_RXE_TIMES
                if wire == "loss-1" and peer == TO_RXE and operation == "read":
                    least = READ_TIMES
                parts = [speed(results, p, operation, wire) for p in (peer, RXE)]
                yield f"{operation}, {wire}, {peer}: of rxe", ratio(*parts), least, True


def cell(results, peer, row, metric):
    failures = len(results.failed.get((peer, row), []))
    return number(results.median(peer, row, metric)) + (f" !{failures}" if failures else "")


def show_bandwidth(results, operation, say):
    say(f"\n{operation}, 64 KiB, MB/s\n")
    say(f"{'':14}" + "".join(f"{name:>12}" for name in (*PEERS, "tcp")) +
        f"{'of own':>8}{'x tcp':>8}{'x rxe':>8}{'again %':>9}{'dups %':>9}"
        f"{'retries':>9}{'resends':>9}{'timeouts':>9}")
    for wire in WIRES:
        row = bandwidth(operation, wire).name
        ours = speed(results, OURS, operation, wire)
        own = speed(results, OURS, operation,
                    "delay" if "delay" in WIRES[wire] else "none")
        cells = [cell(results, peer, row, "mb_per_s") for peer in PEERS]
        cells.append(cell(results, "ref", f"tcp-bw/{wire}", "value"))
        ratios = [ratio(ours, other) for other in
                  (own, tcp(results, wire), speed(results, RXE, operation, wire))]
        say(f"{wire:14}" + "".join(f"{text:>12}" for text in cells) +
            "".join(f"{number(value):>8}" for value in ratios) +
            f"{number(sent_again(results, operation, wire)):>9}"
            f"{number(duplicates(results, operation, wire)):>9}" +
            "".join(f"{counted(results, row, name):>9.0f}" for name in
                    ("retries", "roce_adp_retrans", "local_ack_timeout_err")))


def show_latency(results, say):
    say("\nsend, 4 KiB, us: typical / 99.9 %\n")
    say(f"{'':14}" + "".join(f"{peer:>18}" for peer in PEERS))
    for wire in LATENCY_WIRES:
        row = ping(wire).name
        say(f"{wire:14}" + "".join(
            f"{number(results.median(p, row, 'typical_us'))} / "
            f"{cell(results, p, row, 'p999_us')}".rjust(18) for p in PEERS))


def show_checks(results, say):
    say(f"\ndata checked: {', '.join(CHECKS)}\n")
    say(f"{'':14}" + "".join(f"{peer:>18}" for peer in PEERS if peer != RXE))
    for wire in WIRES:
        say(f"{wire:14}" + "".join(
            f"{check(results, peer, wire):>18}" for peer in PEERS if peer != RXE))


def check(results, peer, wire):
    row = peer, f"verify/{wire}"
    if row in results.failed:
        return " ".join(results.failed[row])
    return "right" if row in results.values else "-"


def show_goals(results, say):
    say("\nGoals\n")
    words = []
    for what, value, limit, more in goals(results):
        is_met = value is not None and (value >= limit if more else value <= limit)
        words.append("-" if value is None else "met" if is_met else "MISSED")
        say(f"{what:52} {number(value):>8} ({'>=' if more else '<='} "
            f"{limit}) {words[-1]}")
    say(f"\n{words.count('met')} goals met, {words.count('MISSED')} missed, "
        f"{words.count('-')} not measured")


def show(results, mode, say=print):
    accel = mode.accel or ("TCG" if "TCG" in results.about.get("cpu", "") else "KVM")
    say(f"\nmake bench-lossy: {accel}, {results.about.get('cpus', '?')} vCPUs, kernel "
        f"{results.about.get('kernel', '?')}, MTU 4500; medians of "
        f"{results.repeats['lossy']} of {mode.repeats} repeats")
    say("!N: N runs failed or were given up; of own: against the same without loss")
    say("again: packets sent beyond those that the data needs; dups: duplicate requests; "
        "counters of\nboth ends and all repeats of ornic-veth")
    for operation in OPERATIONS:
        show_bandwidth(results, operation, say)
    show_latency(results, say)
    show_checks(results, say)
    incast.show(results, say)
    show_goals(results, say)
    for note in results.notes:
        say(f"note: {note}")
