// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Access flags of verbs -> access rights of the device. Pure.
 *
 * The values are the same by the definition of enum ornic_access, save for
 * those that do not fit into its byte; what is left is to refuse what the
 * device does not do. Flags of the optional range (relaxed ordering) may be
 * ignored by definition.
 */
#include "ornic_access.h"

#include <rdma/ib_user_ioctl_verbs.h>
#include <rdma/ornic-hw.h>

#define SAME_VALUE 0x1fu

/*
 * What only an MR can have. rdma_cm asks for persistence of every device that
 * knows FLUSH, and programs pass the flags of their MR.
 */
#define MR_ONLY                                                            \
	((u32)ORNIC_ACCESS_MW_BIND | (u32)IB_UVERBS_ACCESS_ZERO_BASED |    \
	 (u32)IB_UVERBS_ACCESS_ON_DEMAND | (u32)IB_UVERBS_ACCESS_HUGETLB | \
	 (u32)ORNIC_VERBS_FLUSH_PERSISTENT)

static int supported(u32 flags, u32 known, u8 *access)
{
	u32 rights = flags & ~(u32)IB_UVERBS_ACCESS_OPTIONAL_RANGE;
	u32 other = rights & ~SAME_VALUE;

	if (other & ~ORNIC_VERBS_FLUSH_GLOBAL)
		return -EOPNOTSUPP;
	rights &= SAME_VALUE;
	if (other)
		rights |= ORNIC_ACCESS_FLUSH_GLOBAL;
	if (rights & ~known)
		return -EOPNOTSUPP;
	*access = rights;
	return 0;
}

/**
 * ornic_mr_access - access rights of an MR
 * @flags: enum ib_access_flags
 * @access: set to enum ornic_access
 *
 * Context: any.
 * Return: 0; -EOPNOTSUPP for a flag that the device does not have; -EINVAL
 * if remote write or atomic come without local write (IBTA 10.6.3.1).
 */
int ornic_mr_access(u32 flags, u8 *access)
{
	const u32 remote_change = ORNIC_ACCESS_REMOTE_WRITE |
				  ORNIC_ACCESS_REMOTE_ATOMIC;

	if ((flags & remote_change) && !(flags & ORNIC_ACCESS_LOCAL_WRITE))
		return -EINVAL;
	return supported(flags, ORNIC_ACCESS_MR_MASK, access);
}

ORNIC_FOR_KUNIT(ornic_mr_access);

/**
 * ornic_qp_access - remote access rights of a QP
 * @flags: enum ib_access_flags; those of MRs are ignored
 * @access: set to enum ornic_access
 *
 * Context: any.
 * Return: 0; -EOPNOTSUPP for a flag that the device does not have.
 */
int ornic_qp_access(u32 flags, u8 *access)
{
	return supported(flags & ~MR_ONLY, ORNIC_ACCESS_MASK, access);
}

ORNIC_FOR_KUNIT(ornic_qp_access);

/**
 * ornic_access_flags - access rights as verbs have them
 * @access: enum ornic_access
 *
 * Context: any.
 * Return: enum ib_access_flags.
 */
u32 ornic_access_flags(u8 access)
{
	u32 flags = access & SAME_VALUE;

	if (access & ORNIC_ACCESS_FLUSH_GLOBAL)
		flags |= ORNIC_VERBS_FLUSH_GLOBAL;
	return flags;
}

ORNIC_FOR_KUNIT(ornic_access_flags);
