// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* Object tables of the fuzzers. */
#include "small_tables.h"

#define LOG_SIZE 11u

int __wrap_ornic_table_init(struct ornic_table *t, u32 log_size, u32 first)
{
	return __real_ornic_table_init(t, min_t(u32, log_size, LOG_SIZE),
				       first);
}

int __wrap_ornic_table_init_random(struct ornic_table *t, u32 log_size,
				   u32 first)
{
	return __real_ornic_table_init_random(t, min_t(u32, log_size, LOG_SIZE),
					      first);
}
