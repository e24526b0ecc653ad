/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Keys whose pages come on demand: what MRs of all kinds of memory share. */
#ifndef ORNIC_ODP_KEY_H
#define ORNIC_ODP_KEY_H

#include <linux/refcount.h>
#include <linux/rwsem.h>
#include <linux/types.h>

struct ornic_bring;
struct ornic_create_mkey_params;
struct ornic_ib_dev;
struct ornic_ib_mr;
struct ornic_ib_odp;
struct ornic_pager;

/**
 * struct ornic_odp_ops - what a kind of memory does
 * @bring: bring in the first part of [@addr, @addr + @len) of the key. Returns its bytes,
 *	or an error of ornic_bring_in()
 * @end: the key is gone, and gets no pages any more: those that it had are unused. Faults
 *	may go on to call @bring, which refuses
 * @release: nobody refers to it any more; calls ornic_odp_free()
 */
struct ornic_odp_ops {
	s64 (*bring)(struct ornic_ib_odp *odp, u64 addr, u64 len,
		     struct ornic_bring *bring);
	void (*end)(struct ornic_ib_odp *odp);
	void (*release)(struct ornic_ib_odp *odp);
};

/**
 * struct ornic_ib_odp - an MR whose pages come on demand, which may outlive its ib_mr; what
 *	is of its kind of memory follows it
 * @rcu: frees it after look-ups
 * @ref: one of the ib_mr, one of each fault and prefetch, some of its kind of memory
 * @ops: of its kind of memory
 * @dev: the device
 * @pager: of the process
 * @charged: pages of kernel memory that @pager counts
 * @key: index and variant
 * @pdn: its PD
 * @iova: address of its first byte
 * @length: bytes; U64_MAX: all there are
 * @writable: the memory may be written to
 * @key_lock: the key is not destroyed while it is held for reading
 * @key_gone: it is
 * @lives: and the device may still write to its pages; key_lock
 */
struct ornic_ib_odp {
	struct rcu_head rcu;
	refcount_t ref;
	const struct ornic_odp_ops *ops;
	struct ornic_ib_dev *dev;
	struct ornic_pager *pager;
	u64 charged;
	u32 key;
	u32 pdn;
	u64 iova;
	u64 length;
	bool writable;
	struct rw_semaphore key_lock;
	bool key_gone;
	bool lives;
};

/*
 * For an MR of the calling process, in memory that is zero. The caller has the only
 * reference. Return: 0, or -errno of ornic_pager_get().
 */
int ornic_odp_open(struct ornic_ib_odp *odp, struct ornic_ib_dev *dev,
		   const struct ornic_odp_ops *ops);

/* Undoes that, without @ops, and frees the memory that begins with @odp. */
void ornic_odp_free(struct ornic_ib_odp *odp);

/* Lists of its pages, for @length bytes: false if the process may not lock that much. */
bool ornic_odp_charge(struct ornic_ib_odp *odp, u64 length);

/*
 * Create the key of @params, and let faults find it. It has no pages. Return: 0, or
 * -errno of the command; -EAGAIN: the key is that of an MR that is about to go.
 */
int ornic_odp_publish(struct ornic_ib_odp *odp,
		      struct ornic_create_mkey_params *params);

/* What ib_core asks of the MR. */
void ornic_odp_describe(const struct ornic_ib_odp *odp, struct ornic_ib_mr *mr,
			int access);

/*
 * Destroy the key, unless windows are bound to it: -EBUSY; then @ops->end, and the
 * reference of the ib_mr goes.
 */
int ornic_odp_unpublish(struct ornic_ib_odp *odp, bool may_have_windows);

/*
 * The list of @bring has @npages from @addr on; @bring->sent is set if the device may have
 * them, also after an error. Context: a lock held that
 * ornic_odp_clear() of them is called under. Return: 0; -ENOENT: the key is gone; -EIO;
 * -errno of the command.
 */
int ornic_odp_set(struct ornic_ib_odp *odp, u64 addr, u32 npages,
		  struct ornic_bring *bring);

/*
 * Pages of [@addr, @addr + @len) are not the key's any more. Returns whether the device may
 * go on to write to them. Context: where MMU notifiers are called.
 */
bool ornic_odp_clear(struct ornic_ib_odp *odp, u64 addr, u64 len);

#endif /* ORNIC_ODP_KEY_H */
