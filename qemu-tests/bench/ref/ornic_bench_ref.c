// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * How fast this kernel copies and computes CRC32: what no NIC made of software
 * can beat by far. Loading the module prints lines "ornic_bench: NAME MB/s" and
 * fails, so that it need not be unloaded.
 */
#include <linux/crc32.h>
#include <linux/ktime.h>
#include <linux/math64.h>
#include <linux/module.h>
#include <linux/sched.h>
#include <linux/sizes.h>
#include <linux/vmalloc.h>

#define RUN_NS (50 * NSEC_PER_MSEC)

static u32 crc;

static void copy(u8 *to, const u8 *from, size_t bytes)
{
	memcpy(to, from, bytes);
	barrier_data(to);
}

static void sum(u8 *to, const u8 *from, size_t bytes)
{
	crc = crc32_le(crc, from, bytes);
}

static void measure(const char *name, u8 *buffer, size_t bytes,
		    void (*work)(u8 *to, const u8 *from, size_t bytes))
{
	u64 start = ktime_get_ns(), now = start, done = 0;

	while (now - start < RUN_NS) {
		work(buffer + SZ_1M, buffer, bytes);
		done += bytes;
		now = ktime_get_ns();
		cond_resched();
	}
	pr_info("ornic_bench: %s %llu\n", name,
		div64_u64(done * 1000, now - start));
}

static int __init ornic_bench_ref_init(void)
{
	u8 *buffer = vzalloc(2 * SZ_1M);

	if (!buffer)
		return -ENOMEM;
	measure("memcpy-4k", buffer, SZ_4K, copy);
	measure("memcpy-64k", buffer, SZ_64K, copy);
	measure("memcpy-1m", buffer, SZ_1M, copy);
	measure("crc32-4k", buffer, SZ_4K, sum);
	pr_debug("ornic_bench: %x\n", crc);
	vfree(buffer);
	return -ECANCELED;
}
module_init(ornic_bench_ref_init);

MODULE_DESCRIPTION("Speed of memcpy and crc32_le");
MODULE_LICENSE("Dual BSD/GPL");
