// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* Without it: zap_special_vma_range */
#include <linux/mm.h>

static void zap(struct vm_area_struct *vma)
{
	zap_special_vma_range(vma, vma->vm_start, PAGE_SIZE);
}
