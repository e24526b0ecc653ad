#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""Send frames with a virtio header, as a guest may: it says where a checksum is missing,
and how the frame is to be segmented.

  raw_vnet.py NETDEV ADDRESS PORT checksums        UDP, checksums before the IP header
  raw_vnet.py NETDEV ADDRESS PORT SEGMENT          60000 bytes of TCP, in such segments

From 10.0.0.2 to 10.0.0.1. Prints how many frames the kernel has taken.
"""

import socket
import struct
import sys

SOL_PACKET, PACKET_VNET_HDR = 263, 15
NEEDS_CSUM, GSO_NONE, GSO_TCPV4 = 1, 0, 1
HEAD = 14 + 20
SOURCE, DESTINATION = bytes([10, 0, 0, 2]), bytes([10, 0, 0, 1])


def fold(data):
    total = sum(struct.unpack(f"!{len(data) // 2}H", data))
    while total >> 16:
        total = (total & 0xffff) + (total >> 16)
    return total


def pseudo_sum(protocol, length):
    return fold(SOURCE + DESTINATION + struct.pack("!HH", protocol, length))


def make_frame(address, protocol, packet):
    def ip_header(check):
        return struct.pack("!BBHHHBBH4s4s", 0x45, 0, 20 + len(packet), 0, 0, 64,
                           protocol, check, SOURCE, DESTINATION)
    return bytes.fromhex(address.replace(":", "")) + \
        bytes.fromhex("02000000aa02") + b"\x08\0" + \
        ip_header(~fold(ip_header(0)) & 0xffff) + packet


def checksum_frames(address, port):
    packet = struct.pack("!HHHH", 1000, port, 108, 0) + bytes(100)
    frame = make_frame(address, 17, packet)
    for start, offset in ((0, 0), (0, 16), (4, 6), (13, 0)):
        yield struct.pack("=BBHHHH", NEEDS_CSUM, GSO_NONE, 0, 0, start,
                          offset) + frame


def segment_frames(address, port, size):
    length = 60000
    packet = struct.pack("!HHIIBBHHH", 1000, port, 1, 1, 5 << 4, 0x10, 1000,
                         pseudo_sum(6, 20 + length), 0) + bytes(length)
    yield struct.pack("=BBHHHH", NEEDS_CSUM, GSO_TCPV4, HEAD + 20, size, HEAD,
                      16) + make_frame(address, 6, packet)


netdev, to, number, what = sys.argv[1], sys.argv[2], int(sys.argv[3]), sys.argv[4]
frames = checksum_frames(to, number) if what == "checksums" else \
    segment_frames(to, number, int(what))
sock = socket.socket(socket.AF_PACKET, socket.SOCK_RAW)
sock.setsockopt(SOL_PACKET, PACKET_VNET_HDR, 1)
sock.bind((netdev, 0x0800))
taken = 0
for each in frames:
    try:
        sock.send(each)
        taken += 1
    except OSError as error:
        print(error, file=sys.stderr)
print(taken)
