# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""Storage of the kernel over RDMA, over TCP and within the host: rows of fio on a disk
that does nothing."""

from scale import Program, Value

NVME_DEPTHS = (1, 4, 16)
# The peers that are no RDMA device: their places
TRANSPORTS = {"tcp": "storage services", "local": "storage"}

STORAGE_PROGRAMS = [
    Program("nvme", " ".join(["nvme", *map(str, NVME_DEPTHS)]), full="storage"),
]
NVME_VALUES = [
    *[Value("nvme", f"4k-d{depth}", "/s") for depth in NVME_DEPTHS],
    *[Value("nvme", f"128k-d{depth}", "MB/s") for depth in NVME_DEPTHS],
]
# As in report.py
STORAGE_LIMITS = [
    ("NVMe: 4 KiB, depth 1", ["nvme-4k-d1"], "ornic-loop",
     {"rxe-loop": 2.5, "tcp": 3}),
    ("NVMe: 4 KiB, depth 16", ["nvme-4k-d16"], "ornic-loop",
     {"rxe-loop": 2, "tcp": 3, "local": 0.6}),
    ("NVMe: 128 KiB", [f"nvme-128k-d{depth}" for depth in NVME_DEPTHS], "ornic-loop",
     {"rxe-loop": 6, "local": 0.5}),
]
