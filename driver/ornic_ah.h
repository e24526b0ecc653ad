/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#ifndef ORNIC_AH_H
#define ORNIC_AH_H

#include <rdma/ib_verbs.h>
#include <rdma/ornic-hw.h>

struct ornic_av_params;

struct ornic_ib_ah {
	struct ib_ah ibah;
	/* 0 for a kernel user, whose AHs the device does not know */
	u32 ah;
	struct ornic_av av; /* in WQEs of a kernel user, instead of ah */
	/* For query_ah; without a reference to the GID */
	struct rdma_ah_attr attr;
};

static inline struct ornic_ib_ah *to_oah(struct ib_ah *ibah)
{
	return container_of(ibah, struct ornic_ib_ah, ibah);
}

int ornic_av_params_from_ah_attr(struct ib_device *ibdev,
				 const struct rdma_ah_attr *attr, u16 udp_sport,
				 struct ornic_av_params *path);
void ornic_av_params_to_ah_attr(struct ib_device *ibdev,
				const struct ornic_av_params *path,
				struct rdma_ah_attr *attr);

#endif /* ORNIC_AH_H */
