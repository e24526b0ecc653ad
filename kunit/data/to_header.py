#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""Turns the output of capture.sh (standard input) into rxe_packets.h.

One packet of each kind is kept. The values that a decoder must find in it are
those that tshark finds, so that both sides of the known answers are foreign.
"""

import re
import subprocess
import sys
import tempfile
import textwrap

# Member of struct ornic_rxe_packet, and tshark's name for it
FIELDS = [
    ("opcode", "infiniband.bth.opcode"), ("solicited", "infiniband.bth.se"),
    ("ack_req", "infiniband.bth.a"), ("pad", "infiniband.bth.padcnt"),
    ("pkey", "infiniband.bth.p_key"), ("qpn", "infiniband.bth.destqp"),
    ("psn", "infiniband.bth.psn"), ("qkey", "infiniband.deth.q_key"),
    ("src_qpn", "infiniband.deth.srcqp"), ("va", "infiniband.reth.va"),
    ("rkey", "infiniband.reth.r_key"), ("dma_len", "infiniband.reth.dmalen"),
    ("swap_add", "infiniband.atomiceth.swapdt"),
    ("compare", "infiniband.atomiceth.cmpdt"),
    ("syndrome", "infiniband.aeth.syndrome"), ("msn", "infiniband.aeth.msn"),
    ("orig", "infiniband.atomicacketh.origremdt"),
    ("imm", "infiniband.immdt"),
]
HEAD = """/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Packets of rxe ({kernel}), captured from a wire with their
 * Ethernet headers, and what tshark reads in them: known answers that owe
 * nothing to the engine. Made by capture.sh and to_header.py, not by hand.
 */
#ifndef ORNIC_RXE_PACKETS_H
#define ORNIC_RXE_PACKETS_H

#include "rxe_packet.h"

/* clang-format off */"""


def read_pcap(data):
    """Frames of a little-endian pcap file."""
    at = 24
    while at < len(data):
        length = int.from_bytes(data[at + 8:at + 12], "little")
        yield data[at + 16:at + 16 + length]
        at += 16 + length


def dissect(pcap):
    """What tshark finds: one dictionary for each frame."""
    args = ["tshark", "-r", pcap, "-T", "fields", "-E", "separator=|",
            "-E", "occurrence=f"]
    for _, name in FIELDS:
        args += ["-e", name]
    text = subprocess.run(args, stdout=subprocess.PIPE, check=True,
                          stderr=subprocess.DEVNULL, text=True).stdout
    for line in text.splitlines():
        values = line.replace(":", "").split("|")
        row = {}
        for (member, _), value in zip(FIELDS, values):
            hexadecimal = member == "imm" or value.startswith("0x")
            row[member] = int(value, 16 if hexadecimal else 10) if value else 0
        yield row


def is_ipv6(frame):
    return frame[12:14] == b"\x86\xdd"


def kind(frame, row):
    """Packets of the same kind teach the same."""
    last = row["opcode"] & 0x1f in (2, 3, 4, 5, 8, 9, 10, 11)
    return (is_ipv6(frame), row["opcode"], row["pad"] if last else 0,
            row["syndrome"] >> 5)


def array(name, frame):
    rows = [frame[i:i + 12] for i in range(0, len(frame), 12)]
    body = "\n".join("\t" + " ".join(f"0x{b:02x}," for b in r) for r in rows)
    return f"static const u8 {name}[] = {{\n{body}\n}};\n"


def entry(name, frame, row):
    words = [f'.name = "{name}",', f".frame = rxe_{name},",
             f".len = sizeof(rxe_{name}),"]
    if is_ipv6(frame):
        words.append(".ipv6 = true,")
    words += [f".{m} = {row[m]:#x}," for m, _ in FIELDS if row[m]]
    text = textwrap.fill(" ".join(w.replace(" ", "~") for w in words), 64)
    text = textwrap.indent(text.replace("~", " "), "\t\t")
    return "\t{\n" + text + "\n\t},"


def main():
    text = sys.stdin.read()
    kernel = re.search(r"^kernel (.*)$", text, re.M).group(1)
    data = bytes.fromhex("".join(re.findall(r"^(?: [0-9a-f]{2})+$", text, re.M)))
    seen, arrays, entries = set(), [], []
    with tempfile.NamedTemporaryFile(suffix=".pcap") as file:
        file.write(data)
        file.flush()
        rows = list(dissect(file.name))
    for frame, row in zip(read_pcap(data), rows):
        if kind(frame, row) in seen or is_ipv6(frame) and len(frame) > 250:
            continue
        seen.add(kind(frame, row))
        family = "ip6" if is_ipv6(frame) else "ip4"
        name = f"{family}_{row['opcode']:02x}_{len(seen)}"
        arrays.append(array("rxe_" + name, frame))
        entries.append(entry(name, frame, row))
    print(HEAD.format(kernel=kernel))
    print("\n".join(arrays))
    print("static const struct ornic_rxe_packet rxe_packets[] = {")
    print("\n".join(entries))
    print("};\n\n/* clang-format on */\n\n#endif /* ORNIC_RXE_PACKETS_H */")


main()
