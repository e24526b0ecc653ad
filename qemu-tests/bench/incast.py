# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""`make bench-lossy`, second guest: many flows through one port, and one flow over four
paths: what the guest runs, its goals and tables."""

import re

PEER = "ornic"
PORT_ROWS = ["many-16", "many-64", "many-64-rtt", "late", "victim", "victim-port"]
PING_ROWS = ["victim", "victim-port"]
PATH_ROWS = ["path-1", "path-4"]
# Heading and metric of flow_figures.py
PORT_COLUMNS = {"share": "share", "used": "used", "Jain": "jain", "drops": "drops",
                "marks": "marks", "queue us": "queue_p50_us", "99 %": "queue_p99_us",
                "most": "queue_most_us", "cpu": "cpu", "retries": "retries",
                "resends": "roce_adp_retrans", "timeouts": "local_ack_timeout_err"}
PING_COLUMNS = {"alone": "alone_p50_us", "its 99 %": "alone_p99_us",
                "beside": "beside_p50_us", "99 %": "beside_p99_us"}
PATH_COLUMNS = {"MB/s": "mb_per_s", "cpu": "cpu", "ms to 0.7": "broken_ms",
                "part then": "broken_part", "retries": "retries",
                "resends": "roce_adp_retrans", "timeouts": "local_ack_timeout_err"}


def lines(mode):
    """The plan of the guest; see plan.lines()."""
    for repeat in range(1, mode.repeats + 1):
        for row in PORT_ROWS + PATH_ROWS:
            if not mode.rows or re.fullmatch(mode.rows, row):
                yield f"{repeat} {PEER} {row} {mode.limit * 2} incast"


def value(results, row, metric):
    return results.median(PEER, row, metric)


def ratio(results, one, other):
    """Of two (row, metric)."""
    above, below = value(results, *one), value(results, *other)
    return above / below if above is not None and below else None


def goals(results):
    """Each goal: (what, value, limit, whether more is better)."""
    yield "16 senders, marks: share of the port", value(results, "many-16", "share"), 0.95, True
    yield "16 senders, marks: Jain, any second", value(results, "many-16", "jain"), 0.98, True
    yield "16 senders, marks: drops", value(results, "many-16", "drops"), 0, False
    yield ("16 senders, marks: queue, 99 %, of threshold",
           ratio(results, ("many-16", "queue_p99_us"), ("many-16", "mark_us")), 2, False)
    for row, control in ("many-64", ""), ("many-64-rtt", ", rp_rtt_enable"):
        yield f"64 senders, no marks{control}: share", value(results, row, "share"), 0.9, True
    yield "late joiner: part of its share, 100-200 ms", value(results, "late", "late_share"), \
        0.8, True
    for row, where in ("victim", "other"), ("victim-port", "same"):
        yield (f"victim, {where} port: 99 % of alone",
               ratio(results, (row, "beside_p99_us"), (row, "alone_p99_us")), 3, False)
    yield ("4 paths: of one", ratio(results, ("path-4", "mb_per_s"), ("path-1", "mb_per_s")),
           3.5, True)
    yield "4 paths, one dies: ms until 0.7", value(results, "path-4", "broken_ms"), 50, False


def table(results, rows, columns, say):
    say(f"{'':12}" + "".join(f"{heading:>10}" for heading in columns))
    for row in rows:
        failures = len(results.failed.get((PEER, row), []))
        cells = (value(results, row, metric) for metric in columns.values())
        say(f"{row:12}" + "".join(f"{'-' if cell is None else f'{cell:.4g}':>10}"
                                  for cell in cells) + (f" !{failures}" if failures else ""))


def show(results, say):
    """Tables of the guest."""
    say("\nMany flows through a port; share: of the port, data that arrived, with headers; "
        "used: what left\nthe port; queue at its rate: median, 99 %, most; cpu: of all CPUs\n")
    table(results, PORT_ROWS, PORT_COLUMNS, say)
    say("\nSENDs of 64 bytes, us until the completion: alone, and beside the flows\n")
    table(results, PING_ROWS, PING_COLUMNS, say)
    late = [value(results, "late", metric) for metric in
            ("late_share", "late_least", "late_ms")]
    if None not in late:
        say(f"\nlate joiners: {late[0]:.2f} of their share from 100 to 200 ms (worst "
            f"{late[1]:.2f}); 0.8 of it after {late[2]:.0f} ms")
    say("\nOne connection over one path, and over four of which one dies\n")
    table(results, PATH_ROWS, PATH_COLUMNS, say)
