/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#ifndef ORNIC_UDATA_H
#define ORNIC_UDATA_H

#include <linux/minmax.h>
#include <rdma/ib_verbs.h>

int ornic_udata_none(struct ib_udata *udata);
int ornic_udata_get(struct ib_udata *udata, void *req, size_t size);

/**
 * ornic_udata_put - copy a response out
 * @udata: of the verb
 * @resp: response; a shorter buffer of the user takes its first part
 * @size: bytes of @resp
 *
 * Context: process, may sleep.
 * Return: 0 or -EFAULT.
 */
static inline int ornic_udata_put(struct ib_udata *udata, void *resp,
				  size_t size)
{
	return ib_copy_to_udata(udata, resp, min(size, udata->outlen));
}

#endif /* ORNIC_UDATA_H */
