// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* Without it: dma_buf_vmap_unlocked */
#include <linux/dma-buf.h>

static int map(struct dma_buf *dmabuf, struct iosys_map *where)
{
	return dma_buf_vmap_unlocked(dmabuf, where);
}
