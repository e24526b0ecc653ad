/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * /dev/ornic_dmabuf_importer: a PCI function maps a dma-buf, for tests of exporters. Each
 * open file imports one.
 */
#ifndef ORNIC_DMABUF_IMPORTER_H
#define ORNIC_DMABUF_IMPORTER_H

#include <linux/ioctl.h>
#include <linux/types.h>

#define ORNIC_IMPORTER_MAGIC 0xd8

struct ornic_importer_attach {
	__s32 fd; /* of the dma-buf */
	__u32 domain; /* of the PCI function */
	__u32 bus;
	__u32 devfn;
};

struct ornic_importer_map {
	__u64 address; /* out: for DMA, of the first byte */
	__u64 length; /* out: bytes of all segments */
};

/*
 * ATTACH: in the name of that function, with notice of moves and without struct pages.
 * ENODEV: no such function. EBUSY: the file has a dma-buf already. Others are the
 * exporter's.
 */
#define ORNIC_IMPORTER_ATTACH \
	_IOW(ORNIC_IMPORTER_MAGIC, 0, struct ornic_importer_attach)
/*
 * MAP: until the file is closed, or after the exporter tells of a move. EBUSY: it is mapped.
 * EINVAL: nothing is attached. Others are the exporter's.
 */
#define ORNIC_IMPORTER_MAP \
	_IOR(ORNIC_IMPORTER_MAGIC, 1, struct ornic_importer_map)
/* MOVES: how often the exporter has told of a move. */
#define ORNIC_IMPORTER_MOVES _IOR(ORNIC_IMPORTER_MAGIC, 2, __u32)
/*
 * WORD: the first one that is mapped, read by the CPU, on a machine without an IOMMU.
 * EINVAL: nothing is mapped.
 */
#define ORNIC_IMPORTER_WORD _IOR(ORNIC_IMPORTER_MAGIC, 3, __u32)
/* LATE: when it is told of a move, it unmaps the memory so many milliseconds later. */
#define ORNIC_IMPORTER_LATE _IOW(ORNIC_IMPORTER_MAGIC, 4, __u32)

#endif /* ORNIC_DMABUF_IMPORTER_H */
