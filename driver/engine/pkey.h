/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Partitions: the P_Key table of the port, and which members may exchange packets
 * (IBTA 10.9).
 *
 * A P_Key is a partition, the low 15 bits, and the membership in it. 0 in the low
 * bits is no partition.
 */
#ifndef ORNIC_ENGINE_PKEY_H
#define ORNIC_ENGINE_PKEY_H

#include "engine.h"

struct ornic_dev;
struct ornic_qp;

#define ORNIC_DEFAULT_PKEY 0xffff
#define ORNIC_PKEY_FULL 0x8000u /* full member, else a limited one */
/* In place of a P_Key: there is none. No packet has it. */
#define ORNIC_PKEY_NONE 0x10000u

/*
 * IBTA 10.9.3: the partition is the same, and one of the two is a full member of it.
 * @own is ORNIC_PKEY_NONE, or a P_Key that is valid; @other is anything.
 */
static inline bool ornic_pkeys_match(u32 own, u32 other)
{
	u32 full = own | ORNIC_PKEY_FULL;

	/* From a full member, as nearly all are, it matches whatever @own is. */
	return likely(other == full) ||
	       (own == full && (other | ORNIC_PKEY_FULL) == full);
}

/* Entry 0 is the default P_Key, the others are empty (IBTA 10.9.1). */
void ornic_pkey_init(struct ornic_dev *dev);

/* Entry @index, or ORNIC_PKEY_NONE if it is empty or does not exist. */
u32 ornic_pkey_read(const struct ornic_dev *dev, u32 index);

/* The first entry that matches @pkey, ORNIC_PKEY_TABLE_LEN if none does. */
u32 ornic_pkey_find(const struct ornic_dev *dev, u32 pkey);

/* Is @qp QP 1, and does any entry match @pkey? */
bool ornic_pkey_is_for_gsi(const struct ornic_qp *qp, u32 pkey);

/* Both locks of @qp: its P_Key is that of @index, whatever that becomes. */
void ornic_pkey_use(struct ornic_qp *qp, u8 index);

#endif /* ORNIC_ENGINE_PKEY_H */
