// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Address handles: a path with a number and a PD. Immutable once published, so
 * a send uses one inside its RCU section without a lock.
 */
#include "dev.h"

int ornic_ah_create(struct ornic_dev *dev,
		    const struct ornic_req_create_ah *req, u32 *ah)
{
	struct ornic_ah *obj = ornic_zalloc(sizeof(*obj));
	int index, err;

	if (!obj)
		return ORNIC_NO_RESOURCE;
	obj->pdn = le32_to_cpu(req->pdn);
	err = ornic_path_resolve(dev, &obj->path, &req->av);
	if (err)
		goto err_free;
	index = ornic_table_reserve(&dev->ahs, 0);
	if (index < 0) {
		err = index;
		goto err_free;
	}
	*ah = (u32)index;
	ornic_table_publish(&dev->ahs, *ah, obj);
	return ORNIC_OK;

err_free:
	ornic_free(obj);
	return ornic_errno_status(err);
}

int ornic_ah_destroy(struct ornic_dev *dev, u32 ah)
{
	struct ornic_ah *obj = ornic_table_unlink(&dev->ahs, ah);

	if (!obj)
		return ORNIC_NOT_FOUND;
	ornic_table_release(&dev->ahs, ah);
	ornic_free_rcu(obj, rcu);
	return ORNIC_OK;
}
