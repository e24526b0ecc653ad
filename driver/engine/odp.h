/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * On-demand paging: MRs whose pages come and go (ornic-hw-odp.h). Pages are found in
 * a tree that has nodes only where there have been some, so that a key for all
 * addresses costs no more than one for a page.
 *
 * Lifetime: a page is looked up and used under a lock of a QP of the key's device,
 * as all memory is (mem.h). Taking it away clears its entry, and then waits for these
 * locks. No lock of the key is held while data moves.
 */
#ifndef ORNIC_ENGINE_ODP_H
#define ORNIC_ENGINE_ODP_H

#include "mem.h"

#define ORNIC_ODP_BITS 9
#define ORNIC_ODP_SLOTS (1u << ORNIC_ODP_BITS)

/**
 * struct ornic_odp_node - of the tree
 * @slot: a leaf: addresses of pages, and ORNIC_PAGE_WRITE; others: nodes. NULL: absent
 */
struct ornic_odp_node {
	void *slot[ORNIC_ODP_SLOTS];
};

/* Where page @n of a key is in a node that is @level levels above the leaves. */
static inline u32 ornic_odp_slot(u64 n, u32 level)
{
	return n >> level * ORNIC_ODP_BITS & (ORNIC_ODP_SLOTS - 1);
}

/**
 * struct ornic_odp - an ODP MR
 * @base: its place among the keys
 * @lock: changes of the tree, and @nclears; a leaf
 * @first: number of its first page: addresses, divided by the page size
 * @last: of its last page
 * @page_shift: log2 of the page size
 * @levels: of the tree
 * @nclears: CLEAR_PAGES that run
 * @root: of the tree, NULL: no page has come yet
 */
struct ornic_odp {
	struct ornic_mkey base;
	ornic_lock_t lock;
	u64 first;
	u64 last;
	u8 page_shift;
	u8 levels;
	u32 nclears;
	void *root;
};

/* Part of a key */
struct ornic_range {
	u64 addr;
	u64 len;
};

/* A new ODP MR as a key, as ornic_frmr_alloc(). May sleep. */
struct ornic_mkey *ornic_odp_alloc(void);

/*
 * Check CREATE_MKEY; the base of @odp has all but its pages. Return: 0, or -EINVAL if
 * the host does not answer faults, or for fields that such a key does not have.
 */
int ornic_odp_init(struct ornic_dev *dev, struct ornic_odp *odp,
		   const struct ornic_req_create_mkey *req);

/* Nobody uses the key any more: free its tree. */
void ornic_odp_fini(const struct ornic_dev *dev, struct ornic_odp *odp);

/*
 * How many bytes of [@addr, @addr + @len), a part of the key, are on pages that are
 * there, and may be written to if @write. Lock of a QP, see above.
 */
u64 ornic_odp_present(const struct ornic_odp *odp, u64 addr, u64 len,
		      bool write);

/* What the device looks at in advance: of a long range the first part. */
static inline u64 ornic_odp_ahead(u64 len)
{
	return min_t(u64, len, ORNIC_FAULT_BYTES);
}

/* Do accesses with these rights, enum ornic_access, write? */
static inline bool ornic_access_writes(u8 access)
{
	return access & (ORNIC_ACCESS_LOCAL_WRITE | ORNIC_ACCESS_REMOTE_WRITE |
			 ORNIC_ACCESS_REMOTE_ATOMIC);
}

/*
 * As ornic_iov_add_key(), for a range of the key, whose pages are one piece where they
 * touch. ORNIC_VERR_PAGE: a page is absent; what precedes it may be in @iov.
 */
enum ornic_vendor_err ornic_odp_map(struct ornic_iov *iov,
				    const struct ornic_odp *odp, u64 addr,
				    u64 len, bool write);

/*
 * Where [@addr, @addr + @len), a part of the key, is. NULL: it is not in one page, or that
 * page is absent, or may not be written to and @write. Lock of a QP, see above.
 */
u8 *ornic_odp_bytes(const struct ornic_odp *odp, u64 addr, u64 len, bool write);

/*
 * Copy @src, at most ORNIC_MAX_MSG bytes, to @addr, to a range that the key was found good
 * for. ORNIC_VERR_PAGE: a page has gone since; what precedes it may have been written. Lock
 * of a QP, see above.
 */
enum ornic_vendor_err ornic_odp_write(const struct ornic_odp *odp, u64 addr,
				      const struct ornic_iov *src);

/*
 * SET_PAGES and CLEAR_PAGES. Return: enum ornic_status. Both may be called when the
 * host is about to free memory: they wait for none. The second sleeps.
 */
int ornic_odp_set_pages(struct ornic_dev *dev,
			const struct ornic_req_set_pages *req);
int ornic_odp_clear_pages(struct ornic_dev *dev,
			  const struct ornic_req_clear_pages *req);

#endif /* ORNIC_ENGINE_ODP_H */
