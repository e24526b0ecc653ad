/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Memory keys: MRs, FRMRs (frmr.h), ODP MRs (odp.h) and windows (mw.h). */
#ifndef ORNIC_ENGINE_MKEY_H
#define ORNIC_ENGINE_MKEY_H

#include "dev.h"
#include "mem.h"

struct ornic_qp;

/*
 * CREATE_, MODIFY_ and DESTROY_MKEY. Return: enum ornic_status; nothing has
 * changed unless ORNIC_OK.
 *
 * The new key is never 0 and hard to guess: 28 random bits. When
 * ornic_mkey_modify() returns, no access uses the key as it was before; when
 * ornic_mkey_destroy() returns, its memory is no longer read or written. Both
 * sleep, and return ORNIC_BUSY while a window is bound to the key.
 */
int ornic_mkey_create(struct ornic_dev *dev,
		      const struct ornic_req_create_mkey *req, u32 *key);
int ornic_mkey_modify(struct ornic_dev *dev,
		      const struct ornic_req_modify_mkey *req);
int ornic_mkey_destroy(struct ornic_dev *dev, u32 key);

/*
 * Wait until memory that was unlinked from a key is unused: until each QP of @dev has
 * left what it was doing. Sleeps.
 */
void ornic_mkey_wait_for_users(struct ornic_dev *dev);

/*
 * Invalidate the key of an FRMR or a type 2 window, IBTA 10.6.5; @remote: for the
 * peer's SEND_INV. rq.lock held, and sq.lock unless @remote; RCU section.
 */
enum ornic_vendor_err ornic_key_invalidate(const struct ornic_qp *qp, u32 key,
					   bool remote);

#endif /* ORNIC_ENGINE_MKEY_H */
