// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* Without it: vm_flags_set */
#include <linux/mm.h>

static void set(struct vm_area_struct *vma)
{
	vm_flags_set(vma, VM_DONTEXPAND);
	vm_flags_clear(vma, VM_MAYEXEC);
}
