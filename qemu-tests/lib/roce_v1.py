#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""roce_v1.py CAPTURE MINIMUM: check frames of RoCE v1 in a pcap file

Of each frame of Ethertype 0x8915 that was captured whole: the fixed fields of the GRH, its
length, and the ICRC (IBTA 7.8.1, annex A16), which tshark does not check. Fails if one is
wrong, or if there are less than MINIMUM.
"""

import struct
import sys
import zlib

ETHERTYPE = 0x8915
GRH = 40
LRH = b"\xff" * 8
# Fields that may change on the way: TClass, FlowLabel, HopLmt; then byte 4 of the BTH
MASK = ((0, 0x0F), (1, 0xFF), (2, 0xFF), (3, 0xFF), (7, 0xFF), (GRH + 4, 0xFF))


def packets(data):
    """(bytes, length on the wire) of each frame of a pcap file of this machine"""
    at = 24
    while at + 16 <= len(data):
        captured, length = struct.unpack_from("=II", data, at + 8)
        yield data[at + 16:at + 16 + captured], length
        at += 16 + captured


def after_ethernet(frame):
    """The packet, if it is one of RoCE v1"""
    at = 12
    while frame[at:at + 2] == b"\x81\x00":
        at += 4
    if frame[at:at + 2] != ETHERTYPE.to_bytes(2, "big"):
        return None
    return frame[at + 2:]


def fault(packet):
    """What is wrong, or None"""
    if packet[0] >> 4 != 6 or packet[6] != 0x1B:
        return "IPVer or NxtHdr"
    end = GRH + int.from_bytes(packet[4:6], "big")
    if end > len(packet) or end % 4:
        return "PayLen"
    masked = bytearray(packet[:end - 4])
    for at, bits in MASK:
        masked[at] |= bits
    if zlib.crc32(LRH + masked) != int.from_bytes(packet[end - 4:end], "little"):
        return "ICRC"
    return None


def main():
    """Print what was found; the exit status is the verdict"""
    with open(sys.argv[1], "rb") as file:
        data = file.read()
    checked = cut = wrong = 0
    for frame, length in packets(data):
        packet = after_ethernet(frame)
        if packet is None:
            continue
        if len(frame) < length:
            cut += 1
            continue
        checked += 1
        why = fault(packet)
        if why:
            wrong += 1
            print(f"{why}: {packet[:GRH + 16].hex()}")
    print(f"RoCE v1: {checked} checked, {wrong} wrong, {cut} cut off by the capture")
    sys.exit(bool(wrong) or checked < int(sys.argv[2]))


main()
