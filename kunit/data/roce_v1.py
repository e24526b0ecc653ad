#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""Makes roce_v1_packets.h of rxe_packets.h:

    kunit/data/roce_v1.py >kunit/data/roce_v1_packets.h

rxe has no RoCE v1. What follows the UDP header of its packets is put behind a
GRH, field by field as IBTA 8.3 has it, and sealed with the CRC-32 of zlib over
what IBTA 7.8.1 and annex A16 name: an encoder that owes nothing to the engine.
"""

import pathlib
import re
import zlib

HERE = pathlib.Path(__file__).resolve().parent
# SEND with each pad, parts of messages, WRITE, READ and response, atomics, ACK and
# NAK, UC, UD with and without immediate data
WANTED = """ip4_04_1 ip4_04_4 ip4_04_5 ip4_05_6 ip4_00_7 ip4_02_9 ip4_0a_11
ip4_0b_13 ip4_0c_18 ip4_10_19 ip4_13_23 ip4_12_24 ip4_11_2 ip4_11_3 ip4_24_27
ip4_64_42 ip4_65_45 ip6_04_46 ip6_64_77""".split()
HEAD = """/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Packets of rxe_packets.h as RoCE v1 has them, and what tshark reads in them.
 * Made by roce_v1.py, not by hand.
 */
#ifndef ORNIC_ROCE_V1_PACKETS_H
#define ORNIC_ROCE_V1_PACKETS_H

#include "rxe_packet.h"

/* clang-format off */"""


def grh(length, source, destination, variant):
    """40 bytes; what a router may change is all ones in the ICRC: @variant."""
    tclass, label, hops = (0xff, 0xfffff, 0xff) if variant else (0x29, 0x12345, 63)
    word = 6 << 28 | tclass << 20 | label
    return (word.to_bytes(4, "big") + length.to_bytes(2, "big") +
            bytes([0x1b, hops]) + source + destination)


def mapped(address):
    """An IPv4 address as a GID."""
    return bytes(10) + b"\xff\xff" + address


def convert(frame):
    """The frame as RoCE v1."""
    if frame[12:14] == b"\x86\xdd":
        source, destination, bth = frame[22:38], frame[38:54], 62
    else:
        source, destination, bth = mapped(frame[26:30]), mapped(frame[30:34]), 42
    body = frame[bth:-4]
    length = len(body) + 4
    masked = body[:4] + b"\xff" + body[5:]
    covered = bytes([0xff] * 8) + grh(length, source, destination, True) + masked
    return (frame[:12] + b"\x89\x15" + grh(length, source, destination, False) +
            body + zlib.crc32(covered).to_bytes(4, "little"))


def main():
    """Print the header."""
    text = (HERE / "rxe_packets.h").read_text(encoding="utf-8")
    arrays, entries = [], []
    for name in WANTED:
        body = re.search(rf"rxe_{name}\[\] = {{\n(.*?)}};", text, re.S)[1]
        frame = convert(bytes.fromhex(re.sub(r"0x|,|\s", "", body)))
        rows = [frame[i:i + 12] for i in range(0, len(frame), 12)]
        lines = "\n".join("\t" + " ".join(f"0x{b:02x}," for b in r) for r in rows)
        arrays.append(f"static const u8 v1_{name}[] = {{\n{lines}\n}};\n")
        entry = re.search(rf"\t{{\n\t\t\.name = \"{name}\".*?\n\t}},", text, re.S)[0]
        entry = entry.replace(f"rxe_{name}", f"v1_{name}")
        if ".ipv6" not in entry:
            entry = entry.replace(f"sizeof(v1_{name}),",
                                  f"sizeof(v1_{name}), .ipv6 = true,")
        entries.append(entry)
    print(HEAD)
    print("\n".join(arrays))
    print("/* In all of them @ipv6 is set, as in struct ornic_rx. */")
    print("static const struct ornic_rxe_packet roce_v1_packets[] = {")
    print("\n".join(entries))
    print("};\n\n/* clang-format on */\n\n#endif /* ORNIC_ROCE_V1_PACKETS_H */")


main()
