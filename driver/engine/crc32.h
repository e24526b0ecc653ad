/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* CRC-32 of data as long as a packet's. */
#ifndef ORNIC_ENGINE_CRC32_H
#define ORNIC_ENGINE_CRC32_H

#include "env.h"

/**
 * ornic_crc32 - go on with a CRC-32
 * @crc: register so far, not inverted
 * @data: what comes next, of any alignment
 * @len: bytes
 *
 * The polynomial is 0x04c11db7, and bits count from the lowest of a byte, as
 * for Ethernet (IEEE 802.3 3.2.9), which IBTA 7.8.1 takes over.
 *
 * Context: any.
 * Return: the register afterwards, not inverted.
 */
u32 ornic_crc32(u32 crc, const void *data, size_t len);

#endif /* ORNIC_ENGINE_CRC32_H */
