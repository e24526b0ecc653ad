/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#ifndef ORNIC_RWQ_H
#define ORNIC_RWQ_H

#include <linux/mutex.h>
#include <rdma/ib_verbs.h>

#include "ornic_queue.h"
#include "ornic_ring.h"

#define ORNIC_MAX_RWQ_TABLES 0x4000

struct ornic_event_target;
struct ornic_ib_dev;
struct ornic_qp_faults;
struct ornic_rss;

/* A WQ for receives; to the device a raw packet QP with an RQ alone. */
struct ornic_ib_rwq {
	struct ib_wq ibwq; /* its number is a QPN */
	struct ornic_qp_rings rings;
	struct ornic_queue queue; /* record page and ring */
	struct ornic_event_target *target;
	struct ornic_qp_faults *faults; /* NULL: the device has no ODP */
	struct mutex lock; /* protects state */
	/* The device may have gone to ERR. ibwq.state stays: ib_core takes no lock */
	enum ib_wq_state state;
};

static inline struct ornic_ib_rwq *to_orwq(struct ib_wq *ibwq)
{
	return container_of(ibwq, struct ornic_ib_rwq, ibwq);
}

/* Complete all that is posted. */
void ornic_ib_rwq_flush(struct ornic_ib_rwq *rwq);

/*
 * How frames are spread over @table, from @udata of create_qp. @rss is freed by
 * kfree(), and NULL on failure. Returns an errno of ornic_rss_fill() or of
 * ornic_udata.h, or -ENOMEM.
 */
int ornic_ib_rss_get(const struct ib_rwq_ind_table *table,
		     struct ib_udata *udata, struct ornic_rss **rss);

/* Once for a QP. *@rss is NULL if the device may still read it. */
int ornic_ib_rss_set(struct ornic_ib_dev *dev, u32 qpn, struct ornic_rss **rss);

#endif /* ORNIC_RWQ_H */
