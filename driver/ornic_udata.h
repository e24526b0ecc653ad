/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Driver data of verbs, checked by the rules of ornic-abi.h. */
#ifndef ORNIC_UDATA_H
#define ORNIC_UDATA_H

#include <linux/minmax.h>
#include <rdma/ib_verbs.h>

/*
 * For a verb that takes no driver data; @udata may be NULL. Returns -EINVAL if
 * there are bytes other than zero.
 */
static inline int ornic_udata_none(struct ib_udata *udata)
{
	if (udata && udata->inlen &&
	    !ib_is_udata_cleared(udata, 0, udata->inlen))
		return -EINVAL;
	return 0;
}

/*
 * Copy in a request that begins with a 32-bit comp_mask, of which the bits of
 * @known are defined. Reserved fields are left to the caller. Returns -EINVAL
 * if the user passed less, or more that is not zero; -EOPNOTSUPP for another
 * bit of comp_mask.
 */
static inline int ornic_udata_get_masked(struct ib_udata *udata, void *req,
					 size_t size, u32 known)
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
	return *(u32 *)req & ~known ? -EOPNOTSUPP : 0;
}

/* The same for a request whose comp_mask has no bit yet. */
static inline int ornic_udata_get(struct ib_udata *udata, void *req,
				  size_t size)
{
	return ornic_udata_get_masked(udata, req, size, 0);
}

/* Copy out a response; a shorter buffer takes its first part. */
static inline int ornic_udata_put(struct ib_udata *udata, void *resp,
				  size_t size)
{
	return ib_copy_to_udata(udata, resp, min(size, udata->outlen));
}

#endif /* ORNIC_UDATA_H */
