// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* Without it: no member named 'map' */
#include <linux/hmm.h>
#include <rdma/ib_umem_odp.h>

static bool is_there(struct ib_umem_odp *umem)
{
	return umem->map.pfn_list[0] & HMM_PFN_VALID;
}
