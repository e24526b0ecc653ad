// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Memory of ODP MRs: where its pages are, for QPs that use it. They walk the tree of the
 * key without a lock of its own (odp.h).
 */
#include "odp.h"

/**
 * struct odp_walk - along a range of an ODP MR
 * @odp: the key
 * @leaf: of page @n - 1, or NULL
 * @n: number of the next page, in the key
 * @off: where the rest of the range begins in that page
 * @left: bytes of the rest
 * @page: bytes of a page
 * @needs: bits that entries must have, 0: any
 */
struct odp_walk {
	const struct ornic_odp *odp;
	const struct ornic_odp_node *leaf;
	u64 n;
	u64 off;
	u64 left;
	u64 page;
	uintptr_t needs;
};

static __always_inline struct odp_walk walk_along(const struct ornic_odp *odp,
						  u64 addr, u64 len, bool write)
{
	u64 page = 1ull << odp->page_shift;

	return (struct odp_walk){
		.odp = odp,
		.n = (addr >> odp->page_shift) - odp->first,
		.off = addr & (page - 1),
		.left = len,
		.page = page,
		.needs = write ? ORNIC_PAGE_WRITE : 0,
	};
}

/* The leaf that page @n of the key would be in; NULL: there is none. */
static const struct ornic_odp_node *find_leaf(const struct ornic_odp *odp,
					      u64 n)
{
	/* Pairs with the release in add_node(). */
	const struct ornic_odp_node *node = smp_load_acquire(&odp->root);
	u32 level = odp->levels;

	while (node && --level)
		/* Likewise. */
		node = smp_load_acquire(&node->slot[ornic_odp_slot(n, level)]);
	return node;
}

/* The entry of the next page; 0: it is absent, or may not be written to. */
static __always_inline uintptr_t next_entry(struct odp_walk *walk)
{
	u32 i = ornic_odp_slot(walk->n, 0);
	uintptr_t entry;

	if (!walk->leaf || !i)
		walk->leaf = find_leaf(walk->odp, walk->n);
	if (!walk->leaf)
		return 0;
	entry = (uintptr_t)READ_ONCE(walk->leaf->slot[i]);
	if (!entry || walk->needs & ~entry)
		return 0;
	walk->n++;
	return entry;
}

/* The next bytes that are in one page, @run of them; NULL as above. */
static __always_inline u8 *next_run(struct odp_walk *walk, u32 *run)
{
	uintptr_t entry = next_entry(walk);
	u8 *at = (u8 *)(entry & ~(uintptr_t)ORNIC_PAGE_WRITE) + walk->off;

	if (!entry)
		return NULL;
	*run = (u32)min_t(u64, walk->left, walk->page - walk->off);
	walk->off = 0;
	walk->left -= *run;
	return at;
}

u64 ornic_odp_present(const struct ornic_odp *odp, u64 addr, u64 len,
		      bool write)
{
	struct odp_walk walk = walk_along(odp, addr, len, write);
	u64 first = walk.n, last;

	if (!len)
		return 0;
	last = first + ((walk.off + (len - 1)) >> odp->page_shift);
	while (walk.n <= last && next_entry(&walk))
		;
	if (walk.n == first)
		return 0;
	return min_t(u64, len, (walk.n - first) * walk.page - walk.off);
}

enum ornic_vendor_err ornic_odp_map(struct ornic_iov *iov,
				    const struct ornic_odp *odp, u64 addr,
				    u64 len, bool write)
{
	struct odp_walk walk =
		walk_along(odp, addr, min_t(u64, len, ORNIC_MAX_PIECE), write);
	struct ornic_frag *last = NULL;
	u32 run;
	u8 *at;

	while (walk.left) {
		at = next_run(&walk, &run);
		if (!at)
			return iov->n == iov->max ? ORNIC_VERR_NONE :
						    ORNIC_VERR_PAGE;
		if (last && (u8 *)last->ptr + last->len == at) {
			last->len += run;
		} else {
			if (iov->n == iov->max)
				break;
			last = &iov->frag[iov->n++];
			last->ptr = at;
			last->len = run;
		}
		iov->bytes += run;
	}
	return ORNIC_VERR_NONE;
}

u8 *ornic_odp_bytes(const struct ornic_odp *odp, u64 addr, u64 len, bool write)
{
	struct odp_walk walk = walk_along(odp, addr, len, write);
	u32 run;
	u8 *at = next_run(&walk, &run);

	return walk.left ? NULL : at;
}

enum ornic_vendor_err ornic_odp_write(const struct ornic_odp *odp, u64 addr,
				      const struct ornic_iov *src)
{
	struct odp_walk walk = walk_along(odp, addr, src->bytes, true);
	const struct ornic_frag *from = src->frag;
	u32 run, len = 0, done = 0;
	u8 *at, *to = NULL;

	while (walk.left) {
		at = next_run(&walk, &run);
		if (!at)
			return ORNIC_VERR_PAGE;
		if (len && to + len == at) {
			len += run;
			continue;
		}
		ornic_copy_on(to, len, &from, &done);
		to = at;
		len = run;
	}
	ornic_copy_on(to, len, &from, &done);
	return ORNIC_VERR_NONE;
}
