/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Device memory: what its tests have in common. */
#pragma once

#include "tests.h"

/* Fails the test if there is none. */
dm_ptr alloc_dm(port &p, size_t size);

/* At multiples of 4. */
void put(ibv_dm &dm, size_t offset, std::span<const std::byte> bytes);
void get(ibv_dm &dm, size_t offset, std::span<std::byte> bytes);
uint32_t word_at(ibv_dm &dm, size_t offset);
void set_word(ibv_dm &dm, size_t offset, uint32_t word);
