/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#ifndef ORNIC_DMABUF_H
#define ORNIC_DMABUF_H

#include <linux/err.h>
#include <linux/jiffies.h>
#include <linux/kconfig.h>
#include <rdma/ib_verbs.h>

struct dma_buf;
struct ornic_dmabuf;

/* So long an MR waits for fences of a dma-buf. */
#define ORNIC_FENCES_TIMEOUT (5 * HZ)

/*
 * What ib_core lets an MR on a dma-buf have when it is registered. Without windows:
 * they could give remote atomics that the MR itself does not have.
 */
#define ORNIC_DMABUF_ACCESS                                 \
	(IB_ACCESS_LOCAL_WRITE | IB_ACCESS_REMOTE_READ |    \
	 IB_ACCESS_REMOTE_WRITE | IB_ACCESS_REMOTE_ATOMIC | \
	 IB_ACCESS_RELAXED_ORDERING)

/*
 * May memory of a dma-buf that the CPU copies have these rights? The exporter may
 * map it uncached, where atomic instructions are defined on x86 alone.
 */
static inline bool ornic_dmabuf_may_have(int access)
{
	return IS_ENABLED(CONFIG_X86) || !(access & IB_ACCESS_REMOTE_ATOMIC);
}

#ifdef CONFIG_DMA_SHARED_BUFFER
/**
 * ornic_dmabuf_map - map a part of a dma-buf for copies by the CPU
 * @dev: in whose name it is attached; it outlives the result
 * @fd: file descriptor of the dma-buf in the current process
 * @offset: of the first byte
 * @length: bytes
 * @addr: out: where the first byte is, in memory that is contiguous for the CPU
 *
 * Context: process; may sleep, 5 s for what the fences of the dma-buf stand for. A
 * signal ends that.
 * Return: what to give to ornic_dmabuf_unmap(). -EBADF or -EINVAL for what is no
 * dma-buf; -EINVAL for what is outside of it or empty; -EOPNOTSUPP for an exporter
 * whose memory the CPU cannot reach, or moves, or that maps other memory; -EBUSY when
 * the fences were not over; -ERESTARTSYS; -errno of the exporter.
 */
struct ornic_dmabuf *ornic_dmabuf_map(struct device *dev, int fd, u64 offset,
				      u64 length, void **addr);

/* Nothing uses the memory any more. @buf may be NULL. May sleep. */
void ornic_dmabuf_unmap(struct ornic_dmabuf *buf);

/* Is that a part of @dmabuf, which is not empty? */
bool ornic_dmabuf_has(const struct dma_buf *dmabuf, u64 offset, u64 length);

/*
 * The CPU copies from and to @dmabuf until dma_buf_end_cpu_access(). Context and return as
 * for ornic_dmabuf_map().
 */
int ornic_dmabuf_begin_cpu_access(struct dma_buf *dmabuf);

/*
 * The dma-buf of a file descriptor of the current process, for dma_buf_put(), if the memory
 * may move while others have it. NULL: it may not, or there is none.
 */
struct dma_buf *ornic_dmabuf_get_moving(int fd);
#else
static inline struct ornic_dmabuf *ornic_dmabuf_map(struct device *dev, int fd,
						    u64 offset, u64 length,
						    void **addr)
{
	return ERR_PTR(-EOPNOTSUPP);
}

static inline void ornic_dmabuf_unmap(struct ornic_dmabuf *buf)
{
}

static inline struct dma_buf *ornic_dmabuf_get_moving(int fd)
{
	return NULL;
}
#endif

#endif /* ORNIC_DMABUF_H */
