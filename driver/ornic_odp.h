/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* On-demand paging: MRs whose pages the device asks for. */
#ifndef ORNIC_ODP_H
#define ORNIC_ODP_H

#include <linux/types.h>
#include <rdma/ib_verbs.h>

#include "ornic_dev.h"

struct dma_buf;
struct ornic_create_mkey_params;
struct ornic_ib_mr;
struct ornic_qp_faults;

/* Verbs that there are with it only. */
extern const struct ib_device_ops ornic_odp_ops;

/* The device and the kernel have it. */
static inline bool ornic_odp_supported(const struct ornic_ib_dev *dev)
{
	return IS_ENABLED(CONFIG_INFINIBAND_ON_DEMAND_PAGING) &&
	       dev->caps.caps & ORNIC_CAP_ODP;
}

/*
 * Register a part of a dma-buf whose memory moves as an MR, from @offset on, which is in
 * its page what the iova of @params is. It takes the reference of @dmabuf in any case.
 * There is CONFIG_DMA_SHARED_BUFFER, and ornic_odp_supported().
 */
int ornic_odp_reg_dmabuf(struct ornic_ib_dev *dev, struct ornic_ib_mr *mr,
			 u64 offset, struct dma_buf *dmabuf,
			 struct ornic_create_mkey_params *params, int flags);

#ifdef CONFIG_INFINIBAND_ON_DEMAND_PAGING

/* What the devices share, of the module. */
int ornic_pagers_init(void);
void ornic_pagers_exit(void);

/*
 * Before the device is registered, and after all its objects are destroyed. Faults that
 * are under way go on, but the device gets nothing any more.
 */
void ornic_odp_start(struct ornic_ib_dev *dev);
void ornic_odp_stop(struct ornic_ib_dev *dev);

/* What ib_device_attr tells of it. */
void ornic_odp_caps(const struct ornic_ib_dev *dev, struct ib_odp_caps *caps);

/*
 * Register [@start, @start + @params->length) of the process, or all its memory, as an
 * MR: its umem, its key, and what faults look up.
 */
int ornic_odp_reg(struct ornic_ib_dev *dev, struct ornic_ib_mr *mr, u64 start,
		  struct ornic_create_mkey_params *params, int flags);

/*
 * Destroy the key of an MR. Returns -EBUSY if windows are bound to it. Else the pages
 * are unused, and the rest goes when the last fault of it has ended.
 */
int ornic_odp_dereg(struct ornic_ib_mr *mr);

/*
 * Page faults of a QP, NULL if the device has none, or ERR_PTR. A fault may go on when
 * the QP is gone.
 */
struct ornic_qp_faults *ornic_qp_faults_open(struct ornic_ib_dev *dev, u32 qpn);
void ornic_qp_faults_close(struct ornic_qp_faults *faults);

/* The device has raised a fault of a queue. Any context. */
void ornic_qp_fault(struct ornic_qp_faults *faults, u8 queue);

#else

static inline int ornic_pagers_init(void)
{
	return 0;
}

static inline void ornic_pagers_exit(void)
{
}

static inline void ornic_odp_start(struct ornic_ib_dev *dev)
{
}

static inline void ornic_odp_stop(struct ornic_ib_dev *dev)
{
}

static inline void ornic_odp_caps(const struct ornic_ib_dev *dev,
				  struct ib_odp_caps *caps)
{
}

static inline int ornic_odp_reg(struct ornic_ib_dev *dev,
				struct ornic_ib_mr *mr, u64 start,
				struct ornic_create_mkey_params *params,
				int flags)
{
	return -EOPNOTSUPP;
}

static inline int ornic_odp_dereg(struct ornic_ib_mr *mr)
{
	return 0;
}

static inline struct ornic_qp_faults *
ornic_qp_faults_open(struct ornic_ib_dev *dev, u32 qpn)
{
	return NULL;
}

static inline void ornic_qp_faults_close(struct ornic_qp_faults *faults)
{
}

static inline void ornic_qp_fault(struct ornic_qp_faults *faults, u8 queue)
{
}

#endif

#endif /* ORNIC_ODP_H */
