/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * /dev/ornic_dmabuf_exporter: dma-bufs that move and are revoked, for tests of
 * importers.
 */
#ifndef ORNIC_DMABUF_EXPORTER_H
#define ORNIC_DMABUF_EXPORTER_H

#include <linux/ioctl.h>
#include <linux/types.h>

#define ORNIC_EXPORTER_MAGIC 0xd7

/* Of a dma-buf that CREATE has made. */
struct ornic_exporter_stray {
	__s32 fd;
	__u32 reserved;
	__u64 bytes; /* out: written to memory that was not the buffer's any more */
};

/*
 * CREATE: a new dma-buf of that size, in whole pages, zeroed. Returns its file
 * descriptor.
 */
#define ORNIC_EXPORTER_CREATE _IOW(ORNIC_EXPORTER_MAGIC, 0, __u64)
/*
 * MOVE: gives the dma-buf of that file descriptor other pages with the same bytes.
 * EBUSY: an importer has kept its mapping; ENODEV: it is revoked.
 */
#define ORNIC_EXPORTER_MOVE _IOW(ORNIC_EXPORTER_MAGIC, 1, __s32)
/*
 * REVOKE: takes away its pages for good. Importers may not map it any more, and access
 * by a user mapping raises SIGBUS. EBUSY and ENODEV as above.
 */
#define ORNIC_EXPORTER_REVOKE _IOW(ORNIC_EXPORTER_MAGIC, 2, __s32)
#define ORNIC_EXPORTER_STRAY \
	_IOWR(ORNIC_EXPORTER_MAGIC, 3, struct ornic_exporter_stray)
/*
 * RESTLESS: from now on importers are told of a move whenever one of them maps the memory,
 * for the CPU or not, as by exporters that first bring it to another place then.
 */
#define ORNIC_EXPORTER_RESTLESS _IOW(ORNIC_EXPORTER_MAGIC, 4, __s32)

#endif /* ORNIC_DMABUF_EXPORTER_H */
