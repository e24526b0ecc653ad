// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* Without it: local_lock_nested_bh */
#include <linux/interrupt.h>
#include <linux/local_lock.h>
#include <linux/percpu.h>

static DEFINE_PER_CPU(local_lock_t, lock);

static void use(void)
{
	local_lock_nested_bh(&lock);
	local_unlock_nested_bh(&lock);
}
