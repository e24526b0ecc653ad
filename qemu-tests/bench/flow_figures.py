#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""flow_figures.py MBIT FLOWS TC COUNTERS: as NAME=VALUE, what ornic_flows has printed, and
tc; and `rdma -j statistic` before and after it. MBIT is the rate of the port. The first
second after the flows have begun is not measured."""

import bisect
import json
import math
import sys
from itertools import accumulate, compress

WARM_UP = 1.0
# Ethernet, IPv4, UDP, BTH and ICRC of 4 packets, and a RETH: see ornic_flows
WRITE, HEADERS = 4096, 4 * (14 + 20 + 8 + 12 + 4) + 16
STEP = 0.05
# Of ornic_flows in the time that is measured, where 300 to 500 would be right
LEAST_SAMPLES = 100
PART_OF_SHARE = 0.8
PART_OF_RATE = 0.7
COUNTERS = ("retries", "roce_adp_retrans", "local_ack_timeout_err", "np_cnp_sent")


class Run:
    """The lines, as lists in the order of time."""

    def __init__(self, flows, tc, counters):
        self.periods, self.times, self.bytes = [], [], []
        self.pings, self.cpu, self.commands = [], [], []
        for line in flows:
            self._take(*line.split())
        self.ports = [(time, *port_of(json.loads(line)))
                      for time, line in zip(self.times, tc) if line.startswith("[{")]
        self.counters = [[sum(link[name] for link in json.loads(line)) for name in COUNTERS]
                         for line in counters]

    def _take(self, time, kind, *words):
        time = float(time)
        if kind == "flow":
            self.periods.append((float(words[0]), float(words[1])))
        elif kind == "bytes":
            self.times.append(time)
            self.bytes.append([int(word) for word in words])
        elif kind == "ping":
            self.pings.append((time, float(words[0])))
        elif kind == "cpu":
            user, nice, system, idle, wait, *others = (int(word) for word in words[:8])
            busy = user + nice + system + sum(others)
            self.cpu.append((time, busy, busy + idle + wait))
        elif kind == "tc":
            self.commands.append(time)
        else:
            raise ValueError(f"unknown line: {kind}")

    def at(self, time):
        """Bytes of each flow at the last sample until then."""
        return self.bytes[max(0, bisect.bisect_right(self.times, time) - 1)]

    def delivered(self, begin, end):
        """Bytes of each flow between two times."""
        return [b - a for a, b in zip(self.at(begin), self.at(end))]

    def rate(self, begin, end):
        """MB/s of all."""
        return sum(self.delivered(begin, end)) / (end - begin) / 1e6


def port_of(qdiscs):
    """Backlog, bytes, drops and marks of a netdev."""
    marks = sum(qdisc.get("ce_mark", 0) for qdisc in qdiscs)
    return (*(qdiscs[0][name] for name in ("backlog", "bytes", "drops")), marks)


def percentile(values, part):
    ordered = sorted(values)
    return ordered[max(0, math.ceil(part * len(ordered)) - 1)]


def jain(values):
    squares = sum(value * value for value in values)
    return sum(values) ** 2 / len(values) / squares if squares else 0


def times(begin, end, step):
    """From one time to the other."""
    return accumulate([begin] + [step] * int((end - begin) / step + 1e-6))


def within(rows, begin, end):
    return [row for row in rows if begin <= row[0] <= end]


def shares(run, begin, end, mbit):
    """What the flows get that are there all the time."""
    steady = [first < begin and last >= end for first, last in run.periods]
    rate = run.rate(begin, end)
    yield "mb_per_s", rate
    yield "share", rate * 8 / mbit * (WRITE + HEADERS) / WRITE
    if end - begin >= 1:
        yield "jain", min(jain(list(compress(run.delivered(t, t + 1), steady)))
                          for t in times(begin, end - 1, STEP))


def port(run, begin, end, mbit):
    """What its qdiscs have counted; the queue in us at its rate."""
    rows = within(run.ports, begin, end)
    if not rows:
        return
    (first, _, bytes_before, drops, marks), last = rows[0], rows[-1]
    yield "used", (last[2] - bytes_before) * 8e-6 / mbit / (last[0] - first)
    yield "drops", last[3] - drops
    yield "marks", last[4] - marks
    for name, part in (("p50", 0.5), ("p99", 0.99), ("most", 1)):
        yield f"queue_{name}_us", percentile([row[1] for row in rows], part) * 8 / mbit


def cpu(run, begin, end):
    rows = within(run.cpu, begin, end)
    if len(rows) > 1:
        yield "cpu", (rows[-1][1] - rows[0][1]) / max(1, rows[-1][2] - rows[0][2])


def pings(run, begin, end):
    """SENDs before the flows have begun, and beside them."""
    flows_begin = begin - WARM_UP
    for name, rows in (("alone", within(run.pings, WARM_UP, flows_begin)),
                       ("beside", within(run.pings, begin, end))):
        if rows:
            yield f"{name}_p50_us", percentile([us for _, us in rows], 0.5)
            yield f"{name}_p99_us", percentile([us for _, us in rows], 0.99)


def joiners(run, begin):
    """Flows that begin later: the part of their share, which is that of all that send
    then."""
    parts, delays = [], []
    for which, (joined, until) in enumerate(run.periods):
        if joined <= begin:
            continue
        active = sum(first <= joined < last for first, last in run.periods)

        def part(after, before):
            # pylint: disable=cell-var-from-loop
            got = run.delivered(joined + after, joined + before)
            return got[which] * active / max(1, sum(got))
        parts.append(part(0.1, 0.2))
        delays.append(next((t for t in times(STEP, until - joined, 0.01)
                            if part(t - STEP, t) >= PART_OF_SHARE), until - joined))
    if parts:
        yield "late_share", percentile(parts, 0.5)
        yield "late_least", min(parts)
        yield "late_ms", percentile(delays, 0.5) * 1000


def broken(run, begin, end):
    """After a command of tc, which takes a path: until the rate over 100 ms is high
    enough again, and what it is in the end."""
    if not run.commands:
        return
    down = run.commands[0]
    before = run.rate(begin, down)
    yield "broken_ms", 1000 * next(
        (t for t in times(0, end - down - 0.1, 0.01)
         if run.rate(down + t, down + t + 0.1) >= PART_OF_RATE * before), end - down)
    yield "broken_part", run.rate(down + 1, end) / before


def figures(run, mbit):
    begin = min(first for first, _ in run.periods) + WARM_UP
    end = min(run.times[-1], max(last for _, last in run.periods))
    healthy = run.commands[0] if run.commands else end
    if len(within(list(zip(run.times)), begin, healthy)) < LEAST_SAMPLES:
        raise SystemExit(f"{len(run.times)} samples: the CPUs do not suffice")
    yield from shares(run, begin, healthy, mbit)
    yield from port(run, begin, healthy, mbit)
    yield from cpu(run, begin, healthy)
    yield from pings(run, begin, end)
    yield from joiners(run, begin)
    yield from broken(run, begin, end)
    before, after = run.counters
    for name, a, b in zip(COUNTERS, before, after):
        yield name, b - a


def main():
    files = [list(open(name, encoding="ascii")) for name in sys.argv[2:]]
    run = Run(*files)
    print(*(f"{name}={value:.6g}" for name, value in figures(run, float(sys.argv[1]))))


if __name__ == "__main__":
    main()
