// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* Without it: ib_umem_get_va */
#include <rdma/ib_umem.h>

static struct ib_umem *get(struct ib_device *ibdev)
{
	return ib_umem_get_va(ibdev, 0, 1, 0);
}
