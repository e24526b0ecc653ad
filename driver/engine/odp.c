// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * ODP MRs as keys, and the commands that give them pages and take these away. Nodes of
 * the tree are added and entries change under the lock of the key; a node that becomes
 * empty is unlinked, and freed when no QP can be in it. So the tree costs in proportion
 * to the pages that are there.
 */
#include "odp.h"
#include "dev.h"
#include "mkey.h"

#define MAX_ODP_SHIFT 30
#define MAX_LEVELS DIV_ROUND_UP(64 - ORNIC_PAGE_SHIFT, ORNIC_ODP_BITS)
/* Nodes that are freed together. */
#define NODES 24
#define FLAGS_4K ((1ull << ORNIC_PAGE_SHIFT) - 1)

static_assert(NODES > MAX_LEVELS);

/* ---- The key -------------------------------------------------------------------- */

struct ornic_mkey *ornic_odp_alloc(void)
{
	struct ornic_odp *odp = ornic_zalloc(sizeof(*odp));

	if (!odp)
		return NULL;
	ornic_lock_init(&odp->lock);
	odp->base.odp = odp;
	odp->base.guarded = true;
	return &odp->base;
}

int ornic_odp_init(struct ornic_dev *dev, struct ornic_odp *odp,
		   const struct ornic_req_create_mkey *req)
{
	const struct ornic_mkey *m = &odp->base;

	if (!dev->ops->paging || req->flags != ORNIC_MKEY_ODP ||
	    req->mem.addr || req->mem.npages || req->mem.levels ||
	    req->mem.page_shift < ORNIC_PAGE_SHIFT ||
	    req->mem.page_shift > MAX_ODP_SHIFT || !m->length ||
	    m->iova > U64_MAX - m->length || !ornic_access_is_legal(m->access))
		return -EINVAL;
	odp->page_shift = req->mem.page_shift;
	odp->first = m->iova >> odp->page_shift;
	odp->last = (m->iova + (m->length - 1)) >> odp->page_shift;
	odp->levels = 1;
	while ((odp->last - odp->first) >> odp->levels * ORNIC_ODP_BITS)
		odp->levels++;
	return 0;
}

static void free_tree(const struct ornic_dev *dev, struct ornic_odp_node *node,
		      u32 level)
{
	u32 i;

	if (!node)
		return;
	for (i = 0; level && i < ORNIC_ODP_SLOTS; i++)
		free_tree(dev, node->slot[i], level - 1);
	ornic_free(node);
	ornic_relax(dev);
}

void ornic_odp_fini(const struct ornic_dev *dev, struct ornic_odp *odp)
{
	free_tree(dev, odp->root, odp->levels - 1u);
	odp->root = NULL;
}

/*
 * The ODP MR of @key, which is not destroyed until release_key(); NULL: there is none.
 * It is busy as if it had a window.
 */
static struct ornic_odp *hold_key(struct ornic_dev *dev, u32 key)
{
	struct ornic_odp *odp = NULL;
	struct ornic_mkey *m;

	ornic_rcu_read_lock();
	m = ornic_mkey_lookup(dev, key);
	if (m && m->odp && m->key == key &&
	    ornic_atomic_inc_unless_negative(&m->windows))
		odp = m->odp;
	ornic_rcu_read_unlock();
	return odp;
}

static void release_key(struct ornic_odp *odp)
{
	ornic_atomic_dec(&odp->base.windows);
}

/* ---- SET_PAGES ------------------------------------------------------------------- */

/*
 * The host may hold locks that it takes when it runs out of memory: those of memory
 * whose pages it is about to set.
 */
static void *zalloc_atomic(size_t bytes)
{
	void *p = ornic_alloc_atomic(bytes);

	if (p)
		memset(p, 0, bytes);
	return p;
}

/**
 * struct set - pages that are being set
 * @entry: slots of a leaf, 0: leave it
 * @n: number of the first page, in the key
 * @count: pages
 * @done: of them
 * @spare: a node, NULL: none
 */
struct set {
	uintptr_t *entry;
	u64 n;
	u32 count;
	u32 done;
	struct ornic_odp_node *spare;
};

/* Read the list of @req once. */
static int resolve(struct ornic_dev *dev, const struct ornic_odp *odp,
		   const struct ornic_req_set_pages *req, struct set *set)
{
	const __le64 *list = dev->ops->dma(dev->host, le64_to_cpu(req->list),
					   set->count * sizeof(*list));
	u64 entry;
	u8 *page;
	u32 i;

	if (!list)
		return -EFAULT;
	for (i = 0; i < set->count; i++) {
		entry = le64_to_cpu(READ_ONCE(list[i]));
		if (!entry)
			continue;
		if (entry & FLAGS_4K & ~(u64)ORNIC_PAGE_WRITE)
			return -EINVAL;
		page = dev->ops->run(dev->host, entry & ~FLAGS_4K,
				     1ull << odp->page_shift);
		if (!page || (uintptr_t)page & ORNIC_PAGE_WRITE)
			return -EFAULT;
		set->entry[i] = (uintptr_t)page | (entry & ORNIC_PAGE_WRITE);
	}
	return 0;
}

/* The spare node becomes the one at @slot. */
static struct ornic_odp_node *add_node(struct set *set, void **slot)
{
	struct ornic_odp_node *node = set->spare;

	set->spare = NULL;
	if (!node)
		return NULL;
	/* Its slots before itself: pairs with the acquires of find_leaf(). */
	smp_store_release(slot, node);
	return node;
}

/* With the lock: the leaf of the next page; NULL: a spare node is needed. */
static struct ornic_odp_node *make_leaf(struct ornic_odp *odp, struct set *set)
{
	void **slot = &odp->root;
	struct ornic_odp_node *node = NULL;
	u64 n = set->n + set->done;
	u32 level;

	for (level = odp->levels; level--;) {
		node = *slot;
		if (!node)
			node = add_node(set, slot);
		if (!node)
			return NULL;
		slot = &node->slot[ornic_odp_slot(n, level)];
	}
	return node;
}

/* With the lock: as far as there are nodes. */
static void set_some(struct ornic_odp *odp, struct set *set)
{
	struct ornic_odp_node *leaf;
	u32 i;

	while (set->done < set->count) {
		if (!set->entry[set->done]) {
			set->done++;
			continue;
		}
		leaf = make_leaf(odp, set);
		if (!leaf)
			return;
		do {
			i = ornic_odp_slot(set->n + set->done, 0);
			if (set->entry[set->done])
				WRITE_ONCE(leaf->slot[i],
					   (void *)set->entry[set->done]);
			set->done++;
		} while (set->done < set->count && i + 1 < ORNIC_ODP_SLOTS);
	}
}

static int set_all(struct ornic_odp *odp, struct set *set)
{
	int err = 0;

	while (set->done < set->count && !err) {
		ornic_lock(&odp->lock);
		set_some(odp, set);
		ornic_unlock(&odp->lock);
		if (set->done < set->count && !set->spare)
			set->spare = zalloc_atomic(sizeof(*set->spare));
		if (set->done < set->count && !set->spare)
			err = -ENOMEM;
	}
	ornic_free(set->spare);
	return err;
}

static int set_key_pages(struct ornic_dev *dev, struct ornic_odp *odp,
			 const struct ornic_req_set_pages *req)
{
	struct set set = { .count = le32_to_cpu(req->npages) };
	u64 addr = le64_to_cpu(req->addr);
	int err;

	set.n = (addr >> odp->page_shift) - odp->first;
	if (addr & ((1ull << odp->page_shift) - 1) || !set.count ||
	    set.count > ORNIC_LIST_ENTRIES ||
	    addr >> odp->page_shift < odp->first ||
	    set.n > odp->last - odp->first ||
	    set.count - 1 > odp->last - odp->first - set.n)
		return -EINVAL;
	set.entry = zalloc_atomic(set.count * sizeof(*set.entry));
	if (!set.entry)
		return -ENOMEM;
	err = resolve(dev, odp, req, &set);
	if (!err)
		err = set_all(odp, &set);
	ornic_free(set.entry);
	return err;
}

int ornic_odp_set_pages(struct ornic_dev *dev,
			const struct ornic_req_set_pages *req)
{
	struct ornic_odp *odp = hold_key(dev, le32_to_cpu(req->hdr.obj));
	int err;

	if (!odp)
		return ORNIC_NOT_FOUND;
	err = set_key_pages(dev, odp, req);
	release_key(odp);
	return ornic_errno_status(err);
}

/* ---- CLEAR_PAGES ----------------------------------------------------------------- */

/**
 * struct clear - pages that are being taken away
 * @n: number of the next page, in the key
 * @last: of the last one
 * @node: unlinked, to be freed when nobody is in them
 * @nnodes: how many
 * @used: a page was there that somebody may use still
 */
struct clear {
	u64 n;
	u64 last;
	struct ornic_odp_node *node[NODES];
	u32 nnodes;
	bool used;
};

/* Whoever used what was cleared until now has left it. */
static void end_use(struct ornic_dev *dev, struct clear *clear)
{
	if (clear->used)
		ornic_mkey_wait_for_users(dev);
	clear->used = false;
	while (clear->nnodes)
		ornic_free(clear->node[--clear->nnodes]);
}

static bool is_empty(const struct ornic_odp_node *node)
{
	u32 i;

	for (i = 0; i < ORNIC_ODP_SLOTS; i++) {
		if (node->slot[i])
			return false;
	}
	return true;
}

/* With the lock: unlink the node at @slot, if it is empty. */
static bool drop_empty(struct clear *clear, void **slot)
{
	struct ornic_odp_node *node = *slot;

	if (!is_empty(node))
		return false;
	WRITE_ONCE(*slot, NULL);
	clear->used = true;
	clear->node[clear->nnodes++] = node;
	return true;
}

/* With the lock: the pages of @leaf. */
static void clear_leaf(struct clear *clear, struct ornic_odp_node *leaf)
{
	u32 i;

	do {
		i = ornic_odp_slot(clear->n, 0);
		clear->used |= !!leaf->slot[i];
		WRITE_ONCE(leaf->slot[i], NULL);
	} while (clear->n++ < clear->last && i + 1 < ORNIC_ODP_SLOTS);
}

/* With the lock: up to the end of a leaf, or of all that the missing node would have. */
static void clear_some(struct ornic_odp *odp, struct clear *clear)
{
	void **slot[MAX_LEVELS];
	struct ornic_odp_node *node = odp->root;
	u32 level = odp->levels;

	/* What is absent already, another one may still be waiting for. */
	clear->used |= odp->nclears > 1;
	slot[level - 1] = &odp->root;
	while (node && --level) {
		slot[level - 1] = &node->slot[ornic_odp_slot(clear->n, level)];
		node = *slot[level - 1];
	}
	if (!node) {
		clear->n |= (1ull << level * ORNIC_ODP_BITS) - 1;
		clear->n++;
		return;
	}
	clear_leaf(clear, node);
	while (level < odp->levels && drop_empty(clear, slot[level]))
		level++;
}

static void clear_key_pages(struct ornic_dev *dev, struct ornic_odp *odp,
			    struct clear *clear)
{
	ornic_lock(&odp->lock);
	odp->nclears++;
	ornic_unlock(&odp->lock);
	while (clear->n <= clear->last) {
		ornic_lock(&odp->lock);
		clear_some(odp, clear);
		ornic_unlock(&odp->lock);
		ornic_relax(dev);
		if (clear->nnodes > NODES - MAX_LEVELS)
			end_use(dev, clear);
	}
	end_use(dev, clear);
	ornic_lock(&odp->lock);
	odp->nclears--;
	ornic_unlock(&odp->lock);
}

/* All that it has, with one wait, however much that is. */
static void clear_key(struct ornic_dev *dev, struct ornic_odp *odp)
{
	struct ornic_odp_node *root;
	bool used;

	ornic_lock(&odp->lock);
	root = odp->root;
	WRITE_ONCE(odp->root, NULL);
	used = root || odp->nclears;
	odp->nclears++;
	ornic_unlock(&odp->lock);
	if (used)
		ornic_mkey_wait_for_users(dev);
	free_tree(dev, root, odp->levels - 1u);
	ornic_lock(&odp->lock);
	odp->nclears--;
	ornic_unlock(&odp->lock);
}

int ornic_odp_clear_pages(struct ornic_dev *dev,
			  const struct ornic_req_clear_pages *req)
{
	u64 addr = le64_to_cpu(req->addr), len = le64_to_cpu(req->length);
	struct ornic_odp *odp;
	struct clear clear;
	u64 first, last;

	if (!len || len - 1 > U64_MAX - addr)
		return ORNIC_BAD_PARAM;
	odp = hold_key(dev, le32_to_cpu(req->hdr.obj));
	if (!odp)
		return ORNIC_NOT_FOUND;
	first = max_t(u64, addr >> odp->page_shift, odp->first);
	last = min_t(u64, (addr + (len - 1)) >> odp->page_shift, odp->last);
	if (first == odp->first && last == odp->last) {
		clear_key(dev, odp);
	} else if (first <= last) {
		memset(&clear, 0, sizeof(clear));
		clear.n = first - odp->first;
		clear.last = last - odp->first;
		clear_key_pages(dev, odp, &clear);
	}
	release_key(odp);
	return ORNIC_OK;
}
