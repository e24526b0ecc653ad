/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Completion counters: how many operations of QPs have succeeded, and how many
 * have failed, as numbers in memory of the host.
 */
#ifndef ORNIC_ENGINE_COMP_CNTR_H
#define ORNIC_ENGINE_COMP_CNTR_H

#include "dev.h"
#include "pages.h"

struct ornic_qp;

/**
 * struct ornic_comp_cntr - a completion counter
 * @users: operations of QPs that it counts; DESTROY_COMP_CNTR is ORNIC_BUSY while
 *	> 0
 * @lock: protects @value and the writing of @record; a leaf
 * @value: by enum ornic_cntr_entry
 * @pages: memory of the record
 * @record: where the host reads
 */
struct ornic_comp_cntr {
	ornic_atomic_t users;
	ornic_lock_t lock;
	u64 value[2];
	struct ornic_pages pages;
	struct ornic_comp_cntr_record *record;
};

/*
 * CREATE_, DESTROY_, MODIFY_ and ATTACH_COMP_CNTR. May sleep. Return: enum
 * ornic_status.
 *
 * ATTACH_COMP_CNTR counts itself in @users inside an RCU section, which
 * ornic_comp_cntr_destroy() waits for.
 */
int ornic_comp_cntr_create(struct ornic_dev *dev,
			   const struct ornic_req_create_comp_cntr *req,
			   u32 *number);
int ornic_comp_cntr_destroy(struct ornic_dev *dev, u32 number);
int ornic_comp_cntr_modify(struct ornic_dev *dev,
			   const struct ornic_req_modify_comp_cntr *req);
int ornic_comp_cntr_attach(struct ornic_dev *dev,
			   const struct ornic_req_attach_comp_cntr *req);

/* Let go of the counters of @qp, which nothing uses any more. */
void ornic_comp_cntr_detach(struct ornic_qp *qp);

/* sq.lock or rq.lock: one more of @entry. See ornic_qp_count(). */
noinline void ornic_comp_cntr_count(struct ornic_comp_cntr *cntr,
				    enum ornic_cntr_entry entry);

#endif /* ORNIC_ENGINE_COMP_CNTR_H */
