/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#ifndef ORNIC_COMPAT_DMABUF_H
#define ORNIC_COMPAT_DMABUF_H

#include <linux/dma-buf.h>
#include <linux/module.h>

#include "compat_features.h"

/* The name of a namespace became a string. */
#if ORNIC_HAVE_IMPORT_NS_TOKEN
#define ORNIC_IMPORT_NS_DMA_BUF MODULE_IMPORT_NS(DMA_BUF)
#else
#define ORNIC_IMPORT_NS_DMA_BUF MODULE_IMPORT_NS("DMA_BUF")
#endif

/* dma_buf_vmap() did not expect the lock of the reservation object to be held. */
#if !ORNIC_HAVE_VMAP_UNLOCKED
#define dma_buf_vmap_unlocked dma_buf_vmap
#define dma_buf_vunmap_unlocked dma_buf_vunmap
#endif

/* Another name, since it also stands for revocation. */
#if !ORNIC_HAVE_MOVE_NOTIFY
#define move_notify invalidate_mappings
#define dma_buf_move_notify dma_buf_invalidate_mappings
#endif

#endif /* ORNIC_COMPAT_DMABUF_H */
