/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#ifndef ORNIC_DM_H
#define ORNIC_DM_H

#include <rdma/ib_verbs.h>
#include <rdma/uverbs_ioctl.h>

#include "ornic_dm_budget.h"

struct file;
struct ornic_create_mkey_params;
struct ornic_dm_pool;
struct ornic_ib_dev;
struct ornic_mmap_entry;
struct ornic_queue_mem;

/* Device memory that a program has allocated. */
struct ornic_ib_dm {
	struct ib_dm ibdm;
	/* Of the file that mmap holds; NULL: memory of the device itself */
	struct ornic_queue_mem *mem;
	struct ornic_dm_part part; /* of all device memory */
	struct ornic_mmap_entry *mmap; /* lets the user map it */
};

static inline struct ornic_ib_dm *to_odm(struct ib_dm *ibdm)
{
	return container_of(ibdm, struct ornic_ib_dm, ibdm);
}

int ornic_dm_pool_init(struct ornic_ib_dev *dev);
/*
 * The device goes. If other devices do not unmap its memory, see ornic_dm_revoke_exports(),
 * its bus has none from then on.
 */
void ornic_dm_pool_close(struct ornic_ib_dev *dev);

/* Bytes of device memory, 0 if it has none. */
u64 ornic_dm_size(const struct ornic_ib_dev *dev);

/* Names the memory of @dm in @params. */
void ornic_dm_describe(const struct ornic_ib_dm *dm,
		       struct ornic_create_mkey_params *params);

/*
 * If the dma-buf of @fd is memory of @dev itself: names it in @params, whose length is
 * that of a part from @offset on, and returns the file that owns it, with a reference
 * for the caller. -EINVAL if that part is empty, or not inside. NULL for all other @fd.
 */
struct file *ornic_dm_of_dmabuf(const struct ornic_ib_dev *dev, int fd,
				u64 offset,
				struct ornic_create_mkey_params *params);

extern const struct uapi_definition ornic_dm_defs[];

#endif /* ORNIC_DM_H */
