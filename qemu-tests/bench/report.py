# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""What guests have said in `make bench`, as medians, ratios and verdicts."""

import csv
import statistics
from collections import defaultdict

from lossy import LOSSY_ROWS
from rows import LATENCY, RATE, ROWS, SETUP
from scale import ODP_VALUES, PROGRAMS, SCALE_ROWS, VALUES
from services import SERVICE_LIMITS, SERVICE_PROGRAMS, SERVICE_VALUES
from storage import NVME_VALUES, STORAGE_LIMITS, STORAGE_PROGRAMS

TICK_US = 10000
MIB = 1 << 20
ROW = {row.name: row for row in [*ROWS, *SCALE_ROWS, *LOSSY_ROWS, *NVME_VALUES,
                               *SERVICE_VALUES]}
PROGRAM_NAMES = {program.name for program in [*PROGRAMS, *STORAGE_PROGRAMS, *SERVICE_PROGRAMS]}
# No peer, but a limit of the machine
NO_PEERS = {"local"}


class Results:
    """All runs: (peer, row) -> metric -> the value of each repeat."""

    def __init__(self):
        self.values = defaultdict(lambda: defaultdict(list))
        self.failed = defaultdict(list)
        self.about = {}
        self.notes = []
        self.raw = []
        self.repeats = defaultdict(int)

    def take(self, guest, line):
        """A line that the guest has printed."""
        words = line.split()
        if words[:1] == ["about"]:
            self.about[words[1]] = " ".join(words[2:])
        elif words[:1] == ["run"] and len(words) >= 7:
            self._take_run(guest, words[1:])
        elif words:
            self.notes.append(f"{guest}: {line.removeprefix('note ')}")

    def _take_run(self, guest, words):
        repeat, peer, row, status = words[:4]
        self.raw.append([guest, *words])
        if repeat == "0":
            return
        self.repeats[guest] = max(self.repeats[guest], int(repeat))
        values = self.values[peer, row]
        if status != "ok":
            self.failed[peer, row].append(status)
            return
        values["wall_us"].append(float(words[4]))
        values["ticks"].append(float(words[5]))
        numbers = words[6:]
        if peer == "ref":
            _take_reference(self.values, row, numbers)
        elif guest == "incast":
            _take_counters(values, numbers)
        elif row in PROGRAM_NAMES:
            _take_values(self.values, peer, numbers)
        elif row in ROW:
            _take_counters(values, [n for n in numbers if "=" in n])
            plain = [float(n) for n in numbers if "=" not in n]
            if plain:
                _take_perftest(values, ROW[row], plain)

    def median(self, peer, row, metric):
        values = self.values[peer, row][metric] if (peer, row) in self.values else []
        return statistics.median(values) if values else None

    def spread(self, peer, row, metric):
        """Half of the range between the quartiles, in per cent."""
        values = sorted(self.values[peer, row][metric])
        middle = statistics.median(values)
        if len(values) < 3 or not middle:
            return 0
        low, _, high = statistics.quantiles(values, n=4, method="inclusive")
        return (high - low) / 2 / middle * 100

    def add_cpu_time(self):
        """CPU time of a message, over all repeats: what both programs took,
        less what they take for next to none. Ticks are coarse: there is none
        where the rest is small."""
        for (peer, row), values in list(self.values.items()):
            base = self.median(peer, SETUP, "ticks")
            if base is None or not values["count"] or row == SETUP or \
                    ROW[row].qps > 1:
                continue
            ticks = sum(values["ticks"]) - base * len(values["ticks"])
            if ticks < 20:
                continue
            each = ticks * TICK_US / sum(values["count"])
            values["cpu_us_per_message"].append(each)
            values["cpu_s_per_gb"].append(each * 1e3 / ROW[row].size)


def _take_reference(values, row, numbers):
    if row == "kernel":
        for number in numbers:
            name, _, value = number.partition("=")
            values["ref", name]["value"].append(float(value))
        return
    names = {"tcp-lat": ["typical_us", "p99_us", "p999_us"]}
    for name, number in zip(names.get(row, ["value"]), numbers):
        values["ref", row][name].append(float(number))


def _take_values(values, peer, numbers):
    """NAME=VALUE of each row that a program has measured."""
    for number in numbers:
        name, _, value = number.partition("=")
        values[peer, name]["value"].append(float(value))


def _take_counters(values, numbers):
    for number in numbers:
        name, _, value = number.partition("=")
        values[name].append(float(value))


def _take_perftest(values, row, numbers):
    if row.kind == LATENCY:
        for name, index in (("typical_us", 4), ("p99_us", 7), ("p999_us", 8)):
            values[name].append(numbers[index])
        return
    size, count, _, mib, mega = numbers[:5]
    # The one has two digits behind the point, the other six.
    rate = mega * 1e6 if size <= 4096 else mib * MIB / size
    values["count"].append(count)
    values["messages_per_s"].append(rate)
    values["mb_per_s"].append(rate * size / 1e6)


def better_by(results, row, ours, theirs):
    """How many times better ours is."""
    a, b = (results.median(peer, row.name, row.metric) for peer in (ours, theirs))
    if not a or not b:
        return None
    return b / a if row.less_is_better else a / b


# Where ornic is, who is with it, and what was run: (title, ours, others, rows)
PLACES = [
    ("One device", "ornic-loop", ["rxe-loop", "siw-loop"], ROWS),
    ("Two devices over veth", "ornic-veth", ["rxe-veth", "siw-veth"], ROWS),
    ("Two devices over veth, from memory to memory", "ornic-direct",
     ["rxe-veth", "siw-veth"], ROWS),
    ("PCI NIC in one guest", "pci-loop", ["rxe-loop-nic"], ROWS),
    ("PCI NIC between two guests", "pci-two", ["rxe-two"], ROWS),
    ("Scaling, on one device", "ornic-loop", ["rxe-loop", "siw-loop"],
     [*SCALE_ROWS, *VALUES]),
    ("NVMe, target and host on one device", "ornic-loop", ["rxe-loop", "tcp", "local"],
     NVME_VALUES),
    ("NFS and SMC-R, from memory to memory (rxe: on one device)", "ornic-direct",
     ["rxe-loop", "tcp"], SERVICE_VALUES),
    ("NFS and SMC-R, by packets", "ornic-veth", ["rxe-loop", "tcp"], SERVICE_VALUES),
    ("On-demand paging, one device", "ornic-loop", [], ODP_VALUES),
    ("On-demand paging, two devices over veth", "ornic-veth", [], ODP_VALUES),
]
# The limits: (what, rows, ours, theirs, times better at least). Theirs may be
# a reference, whose MB/s a row is then compared with, or another row.
WAY = ("write", "send", "read")
LIMITS = [
    ("one device: write, read latency 8 B", ["write-lat-8", "read-lat-8"],
     "ornic-loop", {"rxe-loop": 8, "siw-loop": 4}),
    ("one device: send latency 8 B", ["send-lat-8"],
     "ornic-loop", {"rxe-loop": 6, "siw-loop": 4}),
    ("one device: write 64 KiB", ["write-bw-64k"], "ornic-loop",
     {"rxe-loop": 20, "siw-loop": 6, "ref:memcpy-64k": 0.6}),
    ("one device: write 1 MiB", ["write-bw-1m"], "ornic-loop",
     {"rxe-loop": 20, "siw-loop": 6, "ref:memcpy-1m": 0.6}),
    ("one device: write 64 B", ["write-bw-64"], "ornic-loop",
     {"rxe-loop": 8, "siw-loop": 15}),
    ("one device: write 64 B, -l 32", ["write-bw-64-l32"], "ornic-loop",
     {"rxe-loop": 15, "siw-loop": 15}),
    ("veth: latency 8 B", [f"{op}-lat-8" for op in WAY],
     "ornic-veth", {"rxe-veth": 3, "siw-veth": 1}),
    ("veth: 64 KiB and 1 MiB",
     [f"{op}-bw-{size}" for op in WAY for size in ("64k", "1m")],
     "ornic-veth", {"rxe-veth": 3, "siw-veth": 2, "ref:crc32-4k": 0.5}),
    ("veth, in memory: write 64 KiB", ["write-bw-64k"], "ornic-direct",
     {"rxe-veth": 15, "ref:memcpy-64k": 0.6}),
    ("veth, in memory: write latency 8 B", ["write-lat-8"], "ornic-direct",
     {"ornic-loop": 1 / 1.5}),
    ("PCI, one guest: write latency 8 B", ["write-lat-8"], "pci-loop",
     {"rxe-loop-nic": 15}),
    ("PCI, one guest: write 64 KiB", ["write-bw-64k"], "pci-loop",
     {"rxe-loop-nic": 30}),
    ("PCI, two guests: write latency 8 B", ["write-lat-8"], "pci-two",
     {"rxe-two": 20}),
    ("PCI, two guests: write 64 KiB", ["write-bw-64k"], "pci-two",
     {"rxe-two": 30}),
    ("one device: 512 QPs, rate of one", ["write-bw-64-q512"], "ornic-loop",
     {"row:write-bw-64": 0.7}),
    *[(f"{where}: on demand, pages present", [f"{row}-odp"], ours,
       {f"row:{row}": 1 / 1.05})
      for where, ours in (("one device", "ornic-loop"), ("veth", "ornic-veth"))
      for row in ("write-lat-8", "read-lat-8", "write-bw-64k", "read-bw-64k")],
    *STORAGE_LIMITS,
    *SERVICE_LIMITS,
]
# Limits of what programs print: (what, name, against, times better at least). Against
# another value, or a number of the unit.
VALUE_LIMITS = [
    ("implicit MR", "odp-reg-implicit", "odp-reg-pinned-4k", 1 / 3),
    ("READ of an absent page", "odp-absent-p99", 1000, 1),
    ("ACK timeouts", "odp-timeouts", 0, 1),
]
VALUE_PEERS = {"one device": "ornic-loop", "veth": "ornic-veth"}


def compare(results, row, ours, theirs):
    kind, _, name = theirs.partition(":")
    if not name:
        return better_by(results, row, ours, theirs)
    metric = "mb_per_s" if kind == "ref" else row.metric
    mine = results.median(ours, row.name, metric)
    other = results.median("ref", name, "value") if kind == "ref" else \
        results.median(ours, name, metric)
    if not mine or not other:
        return None
    return other / mine if kind == "row" and row.less_is_better else mine / other


def value_verdicts(results):
    """The same of values, of which there may be none: each limit and peer."""
    for where, ours in VALUE_PEERS.items():
        for what, name, against, limit in VALUE_LIMITS:
            mine = results.median(ours, name, "value")
            if isinstance(against, str):
                other = results.median(ours, against, "value")
                ratio = mine / other if mine and other else None
            else:
                # There is no ratio to 0.
                ratio = None if mine is None else (1 + against) / (1 + mine)
            yield f"{where}: {what}", name, ours, str(against), ratio, limit


def verdicts(results):
    """Each limit, row and other: (what, row, ours, theirs, ratio, limit)."""
    for what, rows, ours, others in LIMITS:
        for name in rows:
            for theirs, limit in others.items():
                ratio = compare(results, ROW[name], ours, theirs)
                yield what, name, ours, theirs, ratio, limit
    yield from value_verdicts(results)


def slower(results):
    """Rows where ornic is behind: (row, ours, theirs, ratio)."""
    for _, ours, others, rows in PLACES:
        for row in rows:
            for theirs in (name for name in others if name not in NO_PEERS):
                ratio = better_by(results, row, ours, theirs)
                if ratio is not None and ratio < 1:
                    yield row.name, ours, theirs, ratio


def number(value):
    if value is None:
        return "-"
    if value >= 100:
        return f"{value:.0f}"
    return f"{value:.1f}" if value >= 10 else f"{value:.2f}"


def cell(results, peer, row, metric, program=""):
    failures = len(results.failed.get((peer, program or row), []))
    mark = f" !{failures}" if failures else ""
    value = results.median(peer, row, metric)
    if value is None:
        return "-" + mark
    return f"{number(value)} ±{results.spread(peer, row, metric):.0f}%{mark}"


def rows_of(results, peers, rows):
    """Those that any of the peers has run."""
    return [row for row in rows if row.name != SETUP and any(
        (peer, row.program or row.name) in results.values for peer in peers)]


def show_place(results, place, say):
    """Every row of a topology, and how many times better ornic is."""
    title, ours, others, rows = place
    peers = [ours, *others]
    rows = rows_of(results, peers, rows)
    if not rows:
        return
    say(f"\n{title}\n")
    say(f"{'':18}{'':6}" + "".join(f"{p:>15}" for p in peers) +
        "".join(f"{'x ' + p.split('-')[0]:>7}" for p in others))
    for row in rows:
        cells = "".join(f"{cell(results, p, row.name, row.metric, row.program):>15}"
                        for p in peers)
        ratios = "".join(f"{number(better_by(results, row, ours, p)):>7}" for p in others)
        say(f"{row.name:18}{row.unit:6}{cells}{ratios}")


def joined(results, peer, row, metrics):
    values = [results.median(peer, row.name, m) for m in metrics]
    return "-" if values[0] is None else " / ".join(number(v) for v in values)


def show_details(results, place, title, choose, metrics, say):
    """Some metrics of the rows that choose() takes, by peer."""
    where, ours, others, rows = place
    peers = [ours, *others]
    rows = [row for row in rows_of(results, peers, rows) if choose(row) and any(
        results.median(peer, row.name, metrics[0]) for peer in peers)]
    if not rows:
        return
    say(f"\n{where}: {title}\n")
    say(f"{'':18}" + "".join(f"{p:>22}" for p in peers))
    for row in rows:
        say(f"{row.name:18}" + "".join(
            f"{joined(results, p, row, metrics):>22}" for p in peers))


def show_references(results, say):
    say("\nReferences\n")
    names = [("memcpy-4k", "MB/s"), ("memcpy-64k", "MB/s"),
             ("memcpy-1m", "MB/s"), ("crc32-4k", "MB/s"),
             ("null-syscall", "ns"), ("tcp-bw", "MB/s, iperf3 over ornic's veth")]
    for name, unit in names:
        say(f"{name:18}{cell(results, 'ref', name, 'value'):>15} {unit}")
    say(f"{'tcp-lat':18}{cell(results, 'ref', 'tcp-lat', 'typical_us'):>15} "
        "us, sockperf, half of a round trip")


def show_verdicts(results, say):
    say("\nLimits: ornic is better by (limit)\n")
    missed = unknown = 0
    for what, name, ours, theirs, ratio, limit in verdicts(results):
        word = "-" if ratio is None else "met" if ratio >= limit else "MISSED"
        missed += word == "MISSED"
        unknown += word == "-"
        say(f"{what:36} {name:17} {theirs:20} {number(ratio):>6}x "
            f"({number(limit)}) {word}")
    behind = list(slower(results))
    for name, ours, theirs, ratio in behind:
        say(f"slower: {name} of {ours} against {theirs}: {number(ratio)}x")
    say(f"\n{missed} limits missed, {unknown} not measured, "
        f"{len(behind)} rows slower than a peer")


def show(results, mode, say=print):
    accel = "TCG" if "TCG" in results.about.get("cpu", "") else "KVM"
    say(f"\nmake bench, {mode.name}: {accel}, {results.about.get('cpus', '?')} vCPUs, "
        f"kernel {results.about.get('kernel', '?')}, MTU 4500; medians of "
        + ", ".join(f"{n} ({guest})" for guest, n in results.repeats.items())
        + f" of {mode.repeats} repeats")
    say("±: half the distance of the quartiles; !N: N runs failed or were given up")
    for place in PLACES:
        show_place(results, place, say)
    for place in PLACES:
        show_details(results, place, "typical / 99 % / 99.9 % latency, us",
                     lambda row: row.kind == LATENCY,
                     ("typical_us", "p99_us", "p999_us"), say)
    for place in PLACES:
        show_details(results, place, "CPU time of both ends, us a message / s a GB",
                     lambda row: row.kind == RATE and row.qps == 1 and row in ROWS,
                     ("cpu_us_per_message", "cpu_s_per_gb"), say)
    show_references(results, say)
    show_verdicts(results, say)
    failures = sum(len(f) for f in results.failed.values())
    say(f"{failures} runs failed or were given up")
    for note in results.notes:
        say(f"note: {note}")


def write_csv(results, summary, runs):
    with open(summary, "w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(["peer", "row", "metric", "median", "min", "max", "runs", "failed"])
        for (peer, row), metrics in results.values.items():
            failed = len(results.failed.get((peer, row), []))
            for metric, values in metrics.items():
                if values:
                    writer.writerow([peer, row, metric, f"{statistics.median(values):.6g}",
                                     min(values), max(values), len(values), failed])
            if failed and not any(metrics.values()):
                writer.writerow([peer, row, "", "", "", "", 0, failed])
    with open(runs, "w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(["guest", "repeat", "peer", "row", "status", "wall_us", "cpu_ticks"])
        writer.writerows(results.raw)
