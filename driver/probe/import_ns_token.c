// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* Without it: DMA_BUF */
/* MODULE_IMPORT_NS() takes a name that is no string */
#include <linux/module.h>

MODULE_IMPORT_NS(DMA_BUF);
