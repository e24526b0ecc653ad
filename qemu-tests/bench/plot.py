# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""The plot of `make bench`: latency by operation, bandwidth by size."""

import matplotlib

from rows import short

matplotlib.use("svg")
import matplotlib.pyplot as plt  # noqa: E402

COLOURS = {"ornic": "#0b6e4f", "pci": "#2ca25f", "rxe": "#c44536", "siw": "#e9a13b"}
SIZES = (64, 4096, 65536, 1 << 20)
PLACES = (("one device", ("ornic-loop", "rxe-loop", "siw-loop")),
          ("two devices, veth", ("ornic-veth", "rxe-veth", "siw-veth")),
          ("PCI NIC", ("pci-loop", "pci-two", "rxe-loop-nic", "rxe-two")))


def style(peer):
    return {"color": COLOURS[peer.split("-")[0]],
            "linestyle": "--" if peer.endswith("two") else "-"}


def latencies(axes, results, title, peers):
    operations = ("write", "send", "read")
    width = 0.8 / len(peers)
    measured = {peer: [results.median(peer, f"{op}-lat-8", "typical_us") or 0
                       for op in operations] for peer in peers}
    axes.set_visible(any(map(any, measured.values())))
    if not axes.get_visible():
        return
    for i, (peer, values) in enumerate(measured.items()):
        bars = axes.bar([n + i * width for n in range(len(operations))], values,
                        width * 0.9, label=peer, color=style(peer)["color"],
                        alpha=0.6 if peer.endswith("two") else 1)
        axes.bar_label(bars, [f"{v:.3g}" for v in values], fontsize=6)
    axes.set_xticks([n + 0.4 - width / 2 for n in range(len(operations))], operations)
    axes.set_yscale("log")
    # From one microsecond on, and with room for the legend.
    axes.set_ylim(1, 20 * max(map(max, measured.values())))
    axes.minorticks_off()
    axes.set_title(f"{title}: latency 8 B, us", fontsize=9)
    axes.legend(fontsize=7)


def bandwidths(axes, results, title, peers):
    lines = {}
    for peer in peers:
        points = [(size, results.median(peer, f"write-bw-{short(size)}", "mb_per_s"))
                  for size in SIZES]
        lines[peer] = [p for p in points if p[1]]
    axes.set_visible(any(lines.values()))
    if not axes.get_visible():
        return
    for peer, points in lines.items():
        axes.plot([p[0] for p in points], [p[1] for p in points], marker="o",
                  markersize=3, label=peer, **style(peer))
    axes.set_xscale("log", base=2)
    axes.set_yscale("log")
    axes.set_xticks(SIZES, ("64 B", "4 KiB", "64 KiB", "1 MiB"))
    axes.minorticks_off()
    axes.set_title(f"{title}: write, MB/s", fontsize=9)
    axes.grid(True, axis="y", linewidth=0.3)


def draw(results, path):
    plt.rcParams.update({"svg.fonttype": "none", "svg.hashsalt": "ornic",
                         "font.size": 8})
    figure, axes = plt.subplots(2, len(PLACES), figsize=(11, 6), layout="constrained")
    for column, (title, peers) in enumerate(PLACES):
        latencies(axes[0][column], results, title, peers)
        bandwidths(axes[1][column], results, title, peers)
    figure.savefig(path, metadata={"Date": None})
