# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""The pictures of `make bench`: bench.svg (figures of the most common rows),
ratios.svg (all rows, how many times better ornic is), scaling.svg. The same
results make the same files."""

import io
import math
import os
import re

import matplotlib

from report import PLACES, better_by, number
from rows import short
from scale import SCALE_MR, SCALE_MR_BYTES, SCALE_QPS

matplotlib.use("svg")
import matplotlib.pyplot as plt  # noqa: E402

COLOURS = {"ornic": "#0b6e4f", "pci": "#2ca25f", "rxe": "#c44536", "siw": "#e9a13b",
           "tcp": "#6c757d", "local": "#343a40"}
SIZES = (64, 4096, 65536, 1 << 20)
SIZE_NAMES = ("64 B", "4 KiB", "64 KiB", "1 MiB")
OVERVIEW = (("one device", ("ornic-loop", "rxe-loop", "siw-loop")),
            ("two devices, veth", ("ornic-veth", "rxe-veth", "siw-veth")),
            ("PCI NIC", ("pci-loop", "pci-two", "rxe-loop-nic", "rxe-two")))
ONE_DEVICE = OVERVIEW[0][1]


def style(peer):
    return {"color": COLOURS[peer.split("-")[0]],
            "linestyle": "--" if peer.endswith("two") else "-"}


def shown(axes, is_wanted):
    axes.set_visible(bool(is_wanted))
    return is_wanted


def whole_decades(axes, values):
    """The range of a logarithmic axis: from a power of ten to another."""
    logs = [math.log10(value) for value in values if value]
    axes.set_ylim(10 ** math.floor(min(logs) - 0.1), 10 ** math.ceil(max(logs) + 0.1))


def bars(axes, groups, measured):
    """One group of bars for each row, one bar in it for each peer."""
    width = 0.8 / len(measured)
    for i, (peer, values) in enumerate(measured.items()):
        places = [n + i * width for n in range(len(groups))]
        drawn = axes.bar(places, values, width * 0.9, label=peer,
                         color=style(peer)["color"],
                         alpha=0.6 if peer.endswith("two") else 1)
        axes.bar_label(drawn, [number(v) if v else "" for v in values], fontsize=6)
    axes.set_xticks([n + 0.4 - width / 2 for n in range(len(groups))], groups)
    axes.set_yscale("log")
    axes.minorticks_off()
    whole_decades(axes, [v for values in measured.values() for v in values])


def latencies(axes, results, title, peers):
    operations = ("write", "send", "read")
    measured = {peer: [results.median(peer, f"{op}-lat-8", "typical_us") or 0
                       for op in operations] for peer in peers}
    if not shown(axes, any(map(any, measured.values()))):
        return
    bars(axes, operations, measured)
    # With room for the legend.
    axes.set_ylim(top=30 * max(map(max, measured.values())))
    axes.set_title(f"{title}: latency of 8 B, us", fontsize=9)
    axes.legend(fontsize=7)


def curves(axes, lines, ticks, names):
    """A line for each peer, through (x, y) where there is a y."""
    lines = {peer: [p for p in points if p[1]] for peer, points in lines.items()}
    if not shown(axes, any(lines.values())):
        return
    for peer, points in lines.items():
        if points:
            axes.plot([p[0] for p in points], [p[1] for p in points], marker="o",
                      markersize=3, label=peer, **style(peer))
    axes.set_xscale("log", base=2)
    axes.set_yscale("log")
    axes.set_xticks(ticks, names)
    axes.minorticks_off()
    whole_decades(axes, [y for points in lines.values() for _, y in points])
    axes.grid(True, axis="y", linewidth=0.3)


def bandwidths(axes, results, title, peers):
    curves(axes, {peer: [(size, results.median(peer, f"write-bw-{short(size)}", "mb_per_s"))
                         for size in SIZES] for peer in peers}, SIZES, SIZE_NAMES)
    axes.set_title(f"{title}: write, MB/s", fontsize=9)


def draw_overview(results):
    figure, axes = plt.subplots(2, len(OVERVIEW), figsize=(11, 6), layout="constrained")
    for column, (title, peers) in enumerate(OVERVIEW):
        latencies(axes[0][column], results, title, peers)
        bandwidths(axes[1][column], results, title, peers)
    return figure


def draw_ratios(results):
    """A panel for each place, in which each row has a bar for each other peer."""
    panels = []
    for title, ours, others, rows in PLACES:
        ratios = [(row.name, [better_by(results, row, ours, p) for p in others])
                  for row in rows]
        ratios = [entry for entry in ratios if any(entry[1])]
        if ratios:
            panels.append((title, others, ratios[::-1]))
    if not panels:
        return None
    most = max(len(ratios) for _, _, ratios in panels)
    figure, axes = plt.subplots(1, len(panels), squeeze=False, layout="constrained",
                                figsize=(2.6 * len(panels), 1.5 + 0.2 * most))
    for panel, (title, others, ratios) in zip(axes[0], panels):
        ratio_bars(panel, others, ratios)
        # Rows from the top down, and room for the legend below.
        panel.set_ylim(len(ratios) - most - 3, len(ratios))
        panel.set_title(f"{title}:\nornic is better by", fontsize=9)
        panel.legend(fontsize=7, loc="lower left")
    return figure


def ratio_bars(axes, others, ratios):
    """From one to the left or to the right, for each row and each of the others."""
    height = 0.8 / len(others)
    for i, peer in enumerate(others):
        axes.barh([n + (len(others) - 1 - i) * height for n in range(len(ratios))],
                  [(values[i] or 1) - 1 for _, values in ratios], height * 0.9,
                  left=1, label=peer, color=style(peer)["color"])
    axes.set_yticks([n + 0.4 - height / 2 for n in range(len(ratios))],
                    [name for name, _ in ratios], fontsize=7)
    axes.set_xscale("log")
    axes.xaxis.set_major_formatter("{x:g}")
    axes.minorticks_off()
    axes.axvline(1, color="black", linewidth=0.8)
    axes.grid(True, axis="x", linewidth=0.3)


def by_size(results, metric):
    return {peer: [(size, results.median(peer, f"mr-{metric}-{name}", "value"))
                   for size, name in zip(SCALE_MR_BYTES, SCALE_MR)] for peer in ONE_DEVICE}


def draw_scaling(results):
    figure, axes = plt.subplots(2, 3, figsize=(11, 6), layout="constrained")
    flat = axes.flat
    curves(flat[0], {peer: [(qps, results.median(peer, f"qps-{qps}", "messages_per_s"))
                            for qps in SCALE_QPS] for peer in ONE_DEVICE},
           SCALE_QPS, SCALE_QPS)
    flat[0].set_title("write of 64 B, messages/s, by QPs", fontsize=9)
    if flat[0].get_visible():
        flat[0].legend(fontsize=7)
    for panel, metric, word in ((flat[1], "reg", "registered"),
                                (flat[2], "dereg", "deregistered")):
        curves(panel, by_size(results, metric), SCALE_MR_BYTES,
               ("4 KiB", "64 KiB", "1 MiB", "16 MiB"))
        panel.set_title(f"MRs {word} a second, by size", fontsize=9)
    for panel, title, groups, rows, metric in (
            (flat[3], "latency of 8 B among idle QPs, us", ("none", "1024"),
             ("lat-idle-0", "lat-idle-1024"), "typical_us"),
            (flat[4], "memory of each, bytes", ("QP", "CQ", "MR"),
             ("memory-qp", "memory-cq", "memory-mr"), "value"),
            (flat[5], "connections/s", ("rdma_cm",), ("cm-connect",), "value")):
        measured = {peer: [results.median(peer, row, metric) or 0 for row in rows]
                    for peer in ONE_DEVICE}
        if shown(panel, any(map(any, measured.values()))):
            bars(panel, groups, measured)
            panel.set_title(title, fontsize=9)
    return figure if any(panel.get_visible() for panel in flat) else None


def save(figure, path):
    """As a file of the tree: with its licence, a line for each group."""
    text = io.StringIO()
    figure.savefig(text, format="svg", metadata={"Date": None})
    svg = text.getvalue()
    svg = re.sub(r">\s+<", "><", svg[svg.index("<svg"):]).replace("\n", " ")
    svg = re.sub(r"(<g id=|<path |<text )", r"\n\1", svg)
    with open(path, "w", encoding="utf-8") as file:
        file.write("<!-- SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause -->\n"
                   + svg.rstrip() + "\n")


def draw(results, folder):
    plt.rcParams.update({"svg.fonttype": "none", "svg.hashsalt": "ornic",
                         "font.size": 8})
    for name, make in (("bench", draw_overview), ("ratios", draw_ratios),
                       ("scaling", draw_scaling)):
        figure = make(results)
        if figure:
            save(figure, os.path.join(folder, name + ".svg"))
            plt.close(figure)
