/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* ODP MRs, as faults and advice see them, and the pagers that serve these. */
#ifndef ORNIC_ODP_MR_H
#define ORNIC_ODP_MR_H

#include <linux/hashtable.h>
#include <linux/list.h>
#include <linux/refcount.h>
#include <linux/spinlock.h>
#include <linux/types.h>
#include <linux/wait.h>
#include <linux/workqueue.h>

struct ib_umem_odp;
struct mm_struct;
struct ornic_ib_dev;
struct ornic_ib_odp;
struct ornic_pager;

/* ---- Pagers (ornic_odp_pager.c) --------------------------------------------------- */

/* Faults and advice of a process that are served at a time. */
#define ORNIC_PAGER_WORKERS 16

/* Kernel memory of a part of an MR of all memory, pages. */
#define ORNIC_CHILD_PAGES 5
/* It goes for a new one of somebody else no sooner. */
#define ORNIC_CHILD_SAFE_MS 50

/**
 * struct ornic_pager_job - a fault, or advice
 * @list: where it waits
 * @run: serves it; the job may be gone when this returns, or wait again
 * @behind: faults that wait for the same part, and run after this has brought it in
 * @part: which that is
 */
struct ornic_pager_job {
	struct list_head list;
	void (*run)(struct ornic_pager_job *job);
	struct list_head behind;
	u64 part;
};

/**
 * struct ornic_pager_worker - serves jobs of a pager, one after the other
 * @work: the work item
 * @pager: whose jobs; it holds the pager while it is busy
 * @busy: it is queued or runs
 * @advises: its job is advice
 */
struct ornic_pager_worker {
	struct work_struct work;
	struct ornic_pager *pager;
	bool busy;
	bool advises;
};

/**
 * struct ornic_walk - pages of 2 MiB of an MR are brought in, by one at a time:
 *	ib_umem_odp has one list for all who do that
 * @node: in @walks of the pager
 * @odp: the MR
 * @part: address, divided by 2 MiB
 * @jobs: faults that need pages of the same part
 */
struct ornic_walk {
	struct hlist_node node;
	const struct ornic_ib_odp *odp;
	u64 part;
	struct list_head jobs;
};

/**
 * struct ornic_pager - brings in the pages of a process, for a device
 * @ref: one of each ODP MR of the process, one of each busy worker
 * @list: in @pagers of the device
 * @dev: the device, which it holds
 * @mm: of the process, which it holds
 * @free: frees it, as the last user may be one of @worker
 * @worker: serve @faults, and @advice
 * @walk_ended: for those of @walks who are not jobs
 * @lock: what follows, and that of @worker
 * @faults: struct ornic_pager_job that wait
 * @advice: the same
 * @nworkers: workers that are busy
 * @nadvising: of these, with advice
 * @nadvice: entries of @advice
 * @walks: struct ornic_walk
 * @children: parts of MRs of all memory, oldest first
 * @nchildren: how many there are
 * @fixed: pages of kernel memory that other MRs take
 * @limit: pages that it may take; more children than a few go for new ones
 * @favourite: for whom young ones go, a job or a call; not to be followed
 * @favour_began: since then, jiffies
 * @favour_ends: until then, later if it asks again
 * @refused: somebody else has asked
 */
struct ornic_pager {
	refcount_t ref;
	struct list_head list;
	struct ornic_ib_dev *dev;
	struct mm_struct *mm;
	struct work_struct free;
	struct ornic_pager_worker worker[ORNIC_PAGER_WORKERS];
	wait_queue_head_t walk_ended;
	spinlock_t lock; /* see above */
	struct list_head faults;
	struct list_head advice;
	u32 nworkers;
	u32 nadvising;
	u32 nadvice;
	DECLARE_HASHTABLE(walks, 6);
	struct list_head children;
	u32 nchildren;
	u64 fixed;
	u64 limit;
	const void *favourite;
	unsigned long favour_began;
	unsigned long favour_ends;
	bool refused;
};

/* The pager of the calling process. Return: it, or ERR_PTR. */
struct ornic_pager *ornic_pager_get(struct ornic_ib_dev *dev);
void ornic_pager_put(struct ornic_pager *pager);

/*
 * An MR takes @pages of kernel memory. False if that is more than the process may lock.
 */
bool ornic_pager_charge(struct ornic_pager *pager, u64 pages);
void ornic_pager_uncharge(struct ornic_pager *pager, u64 pages);

/* Pages of kernel memory that all MRs take. With the lock. */
u64 ornic_pager_used(const struct ornic_pager *pager);

/*
 * With the lock: may a part that exists @since that time go for one that @who needs? A young
 * one, and one that the favourite may have got, goes for the favourite only. That is one at
 * a time, as long as it goes on to ask, for some time: as many as it likes that need several
 * parts at once get them one after the other.
 */
bool ornic_pager_may_take(struct ornic_pager *pager, unsigned long since,
			  const void *who);

/*
 * Serve @job, which holds an MR of the process. False if more advice waits than may: it
 * is the caller's.
 */
void ornic_pager_fault(struct ornic_pager *pager, struct ornic_pager_job *job);
bool ornic_pager_advise(struct ornic_pager *pager, struct ornic_pager_job *job);

/* @job, a fault, is over: what waits behind it runs. */
void ornic_pager_fault_ends(struct ornic_pager *pager,
			    struct ornic_pager_job *job);

/*
 * Nobody else brings in pages of that part until ornic_walk_end(). If another one does
 * it: without @job, wait; else -EINPROGRESS, and @job, a fault, is run again after its end.
 * Of many that wait for a part one runs at a time. -EINTR if the caller is killed.
 */
int ornic_walk_begin(struct ornic_pager *pager, struct ornic_walk *walk,
		     struct ornic_pager_job *job);
void ornic_walk_end(struct ornic_pager *pager, struct ornic_walk *walk);

/* Like queue_work(), for what is short. */
bool ornic_odp_queue(struct work_struct *work);

/* ---- MRs (ornic_odp_key.c, ornic_odp_page.c) -------------------------------------- */

/* How pages are brought in. */
struct ornic_bring {
	bool write; /* they are going to be written to */
	bool fault; /* also those that are not in memory */
	bool once; /* not again if they go meanwhile */
	bool found; /* the last part had one */
	bool sent; /* a device that lives was told of @list */
	bool keep; /* the device may go on to read @list */
	const bool *gone; /* the key is */
	struct ornic_pager_job *job; /* it waits, not the caller; or NULL */
	__le64 *list; /* a list page */
	dma_addr_t dma; /* of it */
};

/*
 * What a list of SET_PAGES has for page @i of @umem, 0 if it is not there; one that may be
 * written to is dirty then. Return: 0, or -EFAULT: the device may not touch it. Context:
 * umem_mutex held since the page was found.
 */
int ornic_odp_entry(struct ib_umem_odp *umem, size_t i,
		    const struct ornic_bring *bring, u64 *entry);

/*
 * The device may write to pages of @umem for ever, so nobody else gets them: those from
 * @first on, before @end, that have a bit in @given. umem_mutex held.
 */
void ornic_odp_keep(struct ib_umem_odp *umem, const unsigned long *given,
		    unsigned long first, unsigned long end);

/*
 * Find the pages of [@va, @va + @len) of @umem, of one list page at most, and with
 * @bring->fault bring in those that are missing. Sleeps as long as the memory takes. Return:
 * how many pages it has, with umem_mutex held, so that they stay; else -EFAULT and others
 * if there is no such memory; -EBUSY if it changes all the time; -ENOMEM; -EINTR if the
 * caller is killed; -ENOENT: @bring->gone.
 */
int ornic_odp_map_and_lock(struct ib_umem_odp *umem, u64 va, u64 len,
			   const struct ornic_bring *bring);

/* The end of that. The @npages from @va on do not become dirty when they go. */
void ornic_odp_unlock(struct ib_umem_odp *umem, u64 va, u32 npages);

/* @bring says how; it gets a list page. Return: 0; -ENOMEM; -ENODEV: the device is gone. */
int ornic_bring_init(struct ornic_ib_dev *dev, struct ornic_bring *bring);
void ornic_bring_fini(struct ornic_ib_dev *dev, struct ornic_bring *bring);

/*
 * Bring in the pages of [@addr, @addr + @len) of a key, which has that range; what
 * precedes an error is there. Sleeps as long as the memory takes. Return: 0; -EPERM if
 * the MR is not for writing; -EFAULT and others if there is no such memory; -EBUSY if it
 * changes all the time; -ENOMEM; -EINTR if the caller is killed; -ERESTARTSYS: it
 * has a signal; -EINPROGRESS: @bring->job is run again, or has been already.
 */
int ornic_bring_in(struct ornic_ib_odp *odp, u64 addr, u64 len,
		   struct ornic_bring *bring);

/* The MR of a key, to be given to ornic_ib_odp_put(), or NULL. May sleep. */
struct ornic_ib_odp *ornic_ib_odp_get(struct ornic_ib_dev *dev, u32 key);
void ornic_ib_odp_put(struct ornic_ib_odp *odp);

/* 0 if the MR is of that PD and has the range; else -EINVAL, or -EPERM. */
int ornic_ib_odp_check(const struct ornic_ib_odp *odp, u32 pdn, u64 addr,
		       u64 length, bool write);

/* Of the process whose memory it is; as long as the MR is held. */
struct ornic_pager *ornic_ib_odp_pager(const struct ornic_ib_odp *odp);

#endif /* ORNIC_ODP_MR_H */
