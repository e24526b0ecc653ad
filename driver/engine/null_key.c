// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * The null key. It has no MR, so its SGEs fail the look-up of keys at first, and
 * others have no branch for it.
 */
#include "mem.h"
#include "dev.h"

enum ornic_vendor_err ornic_null_check(const struct ornic_lsge *sge)
{
	return sge->addr > U64_MAX - (sge->length - 1) ? ORNIC_VERR_LKEY_RANGE :
							 ORNIC_VERR_NONE;
}

enum ornic_vendor_err ornic_iov_add_null(struct ornic_iov *iov,
					 struct ornic_dev *dev,
					 const struct ornic_lsge *sge, u64 len,
					 u8 access)
{
	static const u8 zeroes[ORNIC_NULL_PIECE];
	u8 *piece = access ? dev->sink : (u8 *)zeroes;
	u32 take;

	if (access & ~ORNIC_ACCESS_LOCAL_WRITE)
		return ORNIC_VERR_LKEY_ACCESS;
	if (ornic_null_check(sge) != ORNIC_VERR_NONE)
		return ORNIC_VERR_LKEY_RANGE;
	for (; len; len -= take) {
		take = (u32)min_t(u64, len, ORNIC_NULL_PIECE);
		if (ornic_iov_add(iov, piece, take))
			break;
	}
	return ORNIC_VERR_NONE;
}
