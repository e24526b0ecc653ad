# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""Files and sockets of the kernel over RDMA and over TCP: rows of fio on a tmpfs that NFS
exports, and of sockperf and iperf3."""

from scale import Program, Value

SERVICE_PROGRAMS = [
    Program("nfs", "nfs", full="services"),
    # rxe has no RoCE v1.
    Program("smc", "smc", lacks=("rxe",), full="services"),
]
SERVICE_VALUES = [
    Value("nfs", "read-1m", "MB/s"),
    Value("nfs", "write-1m", "MB/s"),
    Value("nfs", "read-4k-d1", "/s"),
    Value("nfs", "read-4k-d16", "/s"),
    Value("smc", "ask-14", "/s"),
    Value("smc", "ask-4k", "/s"),
    Value("smc", "stream", "MB/s"),
]
# As in report.py
SERVICE_LIMITS = [
    ("NFS", [value.name for value in SERVICE_VALUES if value.program == "nfs"],
     "ornic-direct", {"tcp": 2}),
    ("SMC-R: request and response", ["smc-ask-14", "smc-ask-4k"], "ornic-direct",
     {"tcp": 1.5}),
]
