// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* Without it: move_notify */
#include <linux/dma-buf.h>

static const struct dma_buf_attach_ops ops = { .move_notify = NULL };
