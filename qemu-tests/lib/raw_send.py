#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""Send UDP datagrams by a raw packet QP.

  raw_send.py DEVICE ADDRESS PORT COUNT

ADDRESS is the destination of the frames, which are of 142 bytes.
"""

import struct
import sys
import time

from pyverbs import enums
from pyverbs.cq import CQ
from pyverbs.device import Context
from pyverbs.mr import MR
from pyverbs.pd import PD
from pyverbs.qp import QP, QPAttr, QPCap, QPInitAttr
from pyverbs.wr import SGE, SendWR

PAYLOAD = 100


def header_checksum(header):
    total = sum(struct.unpack("!10H", header))
    total = (total & 0xffff) + (total >> 16)
    return ~((total & 0xffff) + (total >> 16)) & 0xffff


def make_frame(address, port):
    def ip_header(check):
        return struct.pack("!BBHHHBBH4s4s", 0x45, 0, 28 + PAYLOAD, 0, 0, 64, 17,
                           check, bytes([10, 0, 0, 1]), bytes([10, 0, 0, 2]))
    ethernet = bytes.fromhex(address.replace(":", "")) + \
        bytes.fromhex("02000000aa01") + b"\x08\0"
    udp = struct.pack("!HHHH", 1000, port, 8 + PAYLOAD, 0)
    return ethernet + ip_header(header_checksum(ip_header(0))) + udp + \
        bytes(PAYLOAD)


device, to, port, count = sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4])
frame = make_frame(to, port)
context = Context(name=device)
pd = PD(context)
cq = CQ(context, 16)
mr = MR(pd, 4096, enums.IBV_ACCESS_LOCAL_WRITE)
mr.write(frame, len(frame))
qp = QP(pd, QPInitAttr(qp_type=enums.IBV_QPT_RAW_PACKET, scq=cq, rcq=cq,
                       cap=QPCap(16, 1, 1, 1)), QPAttr(port_num=1))
for _ in range(count):
    qp.post_send(SendWR(num_sge=1, sg=[SGE(mr.buf, len(frame), mr.lkey)]))
    n, completions = cq.poll(1)
    while not n:
        time.sleep(0.001)
        n, completions = cq.poll(1)
    if completions[0].status != enums.IBV_WC_SUCCESS:
        sys.exit(f"status {completions[0].status}")
