/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Driver data of verbs, checked by the rules of ornic-abi.h. */
#ifndef ORNIC_UDATA_H
#define ORNIC_UDATA_H

#include <linux/minmax.h>
#include <rdma/ib_verbs.h>

/**
 * ornic_udata_none - check the data of a verb that takes none
 * @udata: of the verb, may be NULL
 *
 * Context: process, may sleep.
 * Return: 0; -EINVAL if there are bytes other than zero.
 */
static inline int ornic_udata_none(struct ib_udata *udata)
{
	if (udata && udata->inlen &&
	    !ib_is_udata_cleared(udata, 0, udata->inlen))
		return -EINVAL;
	return 0;
}

/**
 * ornic_udata_get - copy a request in
 * @udata: of the verb
 * @req: request, which begins with its 32-bit comp_mask
 * @size: bytes of @req
 *
 * Reserved fields are left to the caller.
 *
 * Context: process, may sleep.
 * Return: 0; -EINVAL if the user passed less, or more that is not zero;
 * -EFAULT; -EOPNOTSUPP for any bit of comp_mask: none is defined yet.
 */
static inline int ornic_udata_get(struct ib_udata *udata, void *req,
				  size_t size)
{
	int ret;

	if (udata->inlen < size)
		return -EINVAL;
	if (udata->inlen > size &&
	    !ib_is_udata_cleared(udata, size, udata->inlen - size))
		return -EINVAL;
	ret = ib_copy_from_udata(req, udata, size);
	if (ret)
		return ret;
	return *(u32 *)req ? -EOPNOTSUPP : 0;
}

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
