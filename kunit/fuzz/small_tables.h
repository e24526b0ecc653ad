/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Object tables of the fuzzers are small: faster to make, and a number at random
 * is that of an object more often. The linker (--wrap) calls the first two for the
 * engine's ornic_table_init() and _random(), and these for the other two.
 */
#ifndef ORNIC_FUZZ_SMALL_TABLES_H
#define ORNIC_FUZZ_SMALL_TABLES_H

#include "engine/table.h"

int __wrap_ornic_table_init(struct ornic_table *t, u32 log_size, u32 first);
int __wrap_ornic_table_init_random(struct ornic_table *t, u32 log_size,
				   u32 first);
int __real_ornic_table_init(struct ornic_table *t, u32 log_size, u32 first);
int __real_ornic_table_init_random(struct ornic_table *t, u32 log_size,
				   u32 first);

#endif /* ORNIC_FUZZ_SMALL_TABLES_H */
