#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""Receive frames by a raw packet QP until it is told to end, and say what came.

  raw_sink.py DEVICE udp|tcp PORT take|copy
  raw_sink.py DEVICE mac ADDRESS take|copy
  raw_sink.py DEVICE sniffer|all

Prints "ready", and after SIGTERM "frames N longest L payload P wrong W sctp S tagged T",
where W is the number of frames whose checksums of IP, TCP, UDP or SCTP are wrong, S that
of SCTP, and T that of frames with a VLAN tag. Prints "ended" when its receives are flushed, and keeps QP and rule; it then starts
the QP again, with CAP_NET_RAW and without, and prints "restart" and errno of both.
"""

import ctypes
import signal
import struct
import sys
import time

from pyverbs import enums
from pyverbs.cq import CQ
from pyverbs.device import Context
from pyverbs.flow import Flow, FlowAttr
from pyverbs.mr import MR
from pyverbs.pd import PD
from pyverbs.pyverbs_error import PyverbsRDMAError
from pyverbs.qp import QP, QPAttr, QPCap, QPInitAttr
from pyverbs.spec import EthSpec, TcpUdpSpec
from pyverbs.wr import SGE, RecvWR

SLOT = 10240
DEPTH = 512
DONT_TRAP = 1 << 1
CAP_NET_RAW = 13
CAPABILITY_VERSION_3 = 0x20080522
TCP, UDP, SCTP = 6, 17, 132


def checksum(data):
    """0xffff if the one's complement sum, which is part of @data, is right."""
    if len(data) % 2:
        data += b"\0"
    total = sum(struct.unpack(f"!{len(data) // 2}H", data))
    while total >> 16:
        total = (total & 0xffff) + (total >> 16)
    return total


def crc32c(data):
    crc = 0xffffffff
    for byte in data:
        crc ^= byte
        for _ in range(8):
            crc = crc >> 1 ^ (0x82f63b78 if crc & 1 else 0)
    return crc ^ 0xffffffff


def sctp_is_right(packet):
    return struct.unpack("<I", packet[8:12])[0] == \
        crc32c(packet[:8] + bytes(4) + packet[12:])


def transport_is_right(ip, protocol, packet):
    if protocol == SCTP:
        return sctp_is_right(packet)
    if protocol == UDP and packet[6:8] == b"\0\0":
        return True
    pseudo = ip[12:20] + struct.pack("!BBH", 0, protocol, len(packet))
    return checksum(pseudo + packet) == 0xffff


def look_at(frame):
    """(protocol, bytes of payload, are the checksums right?) of a frame of IPv4."""
    ip = frame[14:]
    head = (ip[0] & 15) * 4
    protocol = ip[9]
    packet = ip[head:struct.unpack("!H", ip[2:4])[0]]
    right = checksum(ip[:head]) == 0xffff
    if protocol not in (TCP, UDP, SCTP):
        return protocol, 0, right
    offset = {TCP: (packet[12] >> 4) * 4, UDP: 8, SCTP: 12}[protocol]
    return (protocol, len(packet) - offset,
            right and transport_is_right(ip, protocol, packet))


def drop_net_raw():
    """From the effective set of this thread."""
    libc = ctypes.CDLL(None)
    header = struct.pack("Ii", CAPABILITY_VERSION_3, 0)
    data = ctypes.create_string_buffer(24)
    libc.capget(header, data)
    sets = list(struct.unpack("6I", data.raw))
    sets[0] &= ~(1 << CAP_NET_RAW)
    libc.capset(header, struct.pack("6I", *sets))


def rule(kind, *words):
    """FlowAttr of the arguments."""
    defaults = {"sniffer": enums.IBV_FLOW_ATTR_SNIFFER,
                "all": enums.IBV_FLOW_ATTR_ALL_DEFAULT}
    if kind in defaults:
        return FlowAttr(flow_type=defaults[kind], port=1)
    if kind == "mac":
        spec = EthSpec(dst_mac=words[0], dst_mac_mask="ff:ff:ff:ff:ff:ff")
    else:
        specs = {"udp": enums.IBV_FLOW_SPEC_UDP,
                 "tcp": enums.IBV_FLOW_SPEC_TCP}
        spec = TcpUdpSpec(specs[kind], dst_port=int(words[0]))
    attr = FlowAttr(num_of_specs=1, port=1,
                    flags=DONT_TRAP if words[1] == "copy" else 0)
    attr.specs.append(spec)
    return attr


class Sink:
    """What has come so far."""

    def __init__(self, device, flow_attr):
        self.frames = self.longest = self.payload = self.wrong = 0
        self.sctp = self.tagged = 0
        self.context = Context(name=device)
        self.pd = PD(self.context)
        self.cq = CQ(self.context, DEPTH)
        self.mr = MR(self.pd, DEPTH * SLOT, enums.IBV_ACCESS_LOCAL_WRITE)
        self.qp = QP(self.pd, QPInitAttr(
            qp_type=enums.IBV_QPT_RAW_PACKET, scq=self.cq, rcq=self.cq,
            cap=QPCap(4, DEPTH, 1, 1)), QPAttr(port_num=1))
        for slot in range(DEPTH):
            self.receive(slot)
        self.flow = Flow(self.qp, flow_attr)

    def receive(self, slot):
        sge = SGE(self.mr.buf + slot * SLOT, SLOT, self.mr.lkey)
        self.qp.post_recv(RecvWR(wr_id=slot, num_sge=1, sg=[sge]))

    def count(self, frame):
        self.frames += 1
        self.longest = max(self.longest, len(frame))
        if frame[12:14] == b"\x81\0":
            self.tagged += 1
            frame = frame[:12] + frame[16:]
        if frame[12:14] != b"\x08\0":
            return
        protocol, payload, right = look_at(frame)
        self.payload += payload
        self.wrong += not right
        self.sctp += protocol == SCTP

    def poll(self):
        """Number of frames, or None once receives are flushed."""
        n, completions = self.cq.poll(16)
        for wc in completions:
            if wc.status != enums.IBV_WC_SUCCESS:
                return None
            self.count(self.mr.read(wc.byte_len, wc.wr_id * SLOT))
            self.receive(wc.wr_id)
        return n

    def run(self):
        """True when it is told to end, and has what had come by then, also if more comes
        all the time; False once receives are flushed."""
        left = DEPTH
        while True:
            n = self.poll()
            if n is None:
                return False
            if stopped:
                left -= n
                if not n or left <= 0:
                    return True
            if not n:
                time.sleep(0.002)

    def restart(self):
        """errno of the way from ERR to INIT."""
        try:
            self.qp.modify(QPAttr(qp_state=enums.IBV_QPS_RESET),
                           enums.IBV_QP_STATE)
            self.qp.modify(QPAttr(qp_state=enums.IBV_QPS_INIT, port_num=1),
                           enums.IBV_QP_STATE | enums.IBV_QP_PORT)
        except PyverbsRDMAError as error:
            return error.error_code
        return 0


stopped = []
signal.signal(signal.SIGTERM, lambda *_: stopped.append(True))
sink = Sink(sys.argv[1], rule(*sys.argv[2:]))
print("ready", flush=True)
if not sink.run():
    print("ended", flush=True)
    while not stopped:
        time.sleep(0.01)
    allowed = sink.restart()
    drop_net_raw()
    print("restart", allowed, sink.restart(), flush=True)
print(f"frames {sink.frames} longest {sink.longest} payload {sink.payload} "
      f"wrong {sink.wrong} sctp {sink.sctp} tagged {sink.tagged}", flush=True)
