#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""Send RoCEv2 packets from a plain UDP socket: SEND Only to UD QPs, with a valid
ICRC, longer than the posted receives.

  oversized.py --source ADDRESS --to ADDRESS --qps FILE

FILE has lines "QPN Q_KEY" and is read again every few packets. Runs until it is
killed.
"""

import argparse
import ipaddress
import socket
import struct
import time
import zlib

PORT = 4791
UD_SEND_ONLY = 0x64
# Longer than a MAD, and than messages of the programs of rdmacm-utils.
SIZES = (257, 2000, 4096)
ROUND = 256
PAUSE = 0.05  # seconds, since guests are slow


def ip_header(source, to, udp_len):
    """IP header for the ICRC: mutable fields are ones (IBTA A17.3.3)."""
    if source.version == 4:
        # DF, and no id since the socket is not connected
        return struct.pack("!BBHHHBBH", 0x45, 0xff, 20 + udp_len, 0, 0x4000,
                           0xff, 17, 0xffff) + source.packed + to.packed
    return struct.pack("!IHBB", 0x6fffffff, udp_len, 17, 0xff) + \
        source.packed + to.packed


def packet(source, source_port, to, qpn, qkey, size):
    bth = struct.pack("!BBHIII", UD_SEND_ONLY, -size % 4 << 4, 0xffff, qpn, 0,
                      qkey)
    body = bth + struct.pack("!I", 2) + bytes(size + -size % 4)
    udp_len = 8 + len(body) + 4
    masked = bytearray(body)
    masked[4] = 0xff
    crc = zlib.crc32(b"\xff" * 8 + ip_header(source, to, udp_len) +
                     struct.pack("!HHHH", source_port, PORT, udp_len, 0xffff) +
                     masked)
    return body + struct.pack("<I", crc)


def targets(path):
    with open(path, encoding="ascii") as file:
        return [[int(word, 0) for word in line.split()] for line in file]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--source", type=ipaddress.ip_address, required=True)
    parser.add_argument("--to", type=ipaddress.ip_address, required=True)
    parser.add_argument("--qps", required=True)
    options = parser.parse_args()
    v4 = options.source.version == 4
    sock = socket.socket(socket.AF_INET if v4 else socket.AF_INET6,
                         socket.SOCK_DGRAM)
    if v4:
        # IP_MTU_DISCOVER, IP_PMTUDISC_DO
        sock.setsockopt(socket.IPPROTO_IP, 10, 2)
    sock.bind((str(options.source), 0))
    port = sock.getsockname()[1]
    while True:
        packets = [packet(options.source, port, options.to, qpn, qkey, size)
                   for qpn, qkey in targets(options.qps) for size in SIZES]
        for i in range(ROUND):
            sock.sendto(packets[i % len(packets)], (str(options.to), PORT))
        time.sleep(PAUSE)


main()
