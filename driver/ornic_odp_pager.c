// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * On-demand paging: pagers. A page may take as long as user space likes to come (a file of
 * FUSE), and as many as a process likes may be asked for. So each process has but a few of
 * the workers, the fewer the less of these there are: what hangs, and what is too much,
 * holds up that process only. What waits for pages that another one brings in takes none.
 *
 * A pager holds its device, which may be removed meanwhile, and the module.
 *
 * What the kernel allocates for a fault (page cache, page tables) is charged to the memory
 * cgroup of the process, as if it had touched the page itself. What on-demand paging itself
 * takes, in ib_core and the device, is charged to none. It is bounded by what the
 * process may lock, RLIMIT_MEMLOCK.
 */
#include <linux/atomic.h>
#include <linux/capability.h>
#include <linux/jiffies.h>
#include <linux/memcontrol.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/nodemask.h>
#include <linux/rwsem.h>
#include <linux/sched/mm.h>
#include <linux/sched/signal.h>
#include <linux/slab.h>
#include <linux/wait.h>
#include <linux/workqueue.h>

#include "ornic_dev.h"
#include "ornic_odp.h"
#include "ornic_odp_mr.h"

/* Workers of all processes, at least and at most. */
#define LEAST_POOL 32
#define MOST_POOL 512
/* A process has at most this part of those that are free, but one in any case. */
#define POOL_SHARE 16
/* Workers of a process that follow advice, and how much of it may wait. */
#define MOST_ADVISING 4
#define MOST_ADVICE 64

/* Who needs several parts at once may take so long to get them, on a slow machine. */
#define MOST_FAVOUR_MS 1000

static_assert(ORNIC_PAGER_WORKERS > MOST_ADVISING);
static_assert(MOST_FAVOUR_MS > ORNIC_CHILD_SAFE_MS);

/* Of the pagers. What is short: not on @pool. */
static struct workqueue_struct *pool, *odp_wq;
/* How many workers run at a time, wherever they are queued. */
static int pool_size;
/* Busy workers. */
static atomic_t pool_used = ATOMIC_INIT(0);

/* ---- Workers --------------------------------------------------------------------- */

static u32 most_workers(void)
{
	int left = pool_size - atomic_read(&pool_used);

	return clamp(left / POOL_SHARE, 1, ORNIC_PAGER_WORKERS);
}

/* With the lock: the next job of @worker; NULL: it is idle from now on. */
static struct ornic_pager_job *take_job(struct ornic_pager *pager,
					struct ornic_pager_worker *worker)
{
	struct list_head *jobs = &pager->faults;

	if (list_empty(jobs) && pager->nadvising < MOST_ADVISING)
		jobs = &pager->advice;
	if (list_empty(jobs)) {
		worker->busy = false;
		pager->nworkers--;
		atomic_dec(&pool_used);
		return NULL;
	}
	worker->advises = jobs == &pager->advice;
	if (worker->advises) {
		pager->nadvising++;
		pager->nadvice--;
	}
	jobs = jobs->next;
	list_del_init(jobs);
	return list_entry(jobs, struct ornic_pager_job, list);
}

static struct ornic_pager_job *next_job(struct ornic_pager_worker *worker)
{
	struct ornic_pager *pager = worker->pager;
	struct ornic_pager_job *job;

	spin_lock(&pager->lock);
	if (worker->advises)
		pager->nadvising--;
	worker->advises = false;
	job = take_job(pager, worker);
	spin_unlock(&pager->lock);
	return job;
}

static void run_job(struct ornic_pager *pager, struct ornic_pager_job *job)
{
	struct mem_cgroup *memcg = get_mem_cgroup_from_mm(pager->mm);
	struct mem_cgroup *old = set_active_memcg(memcg);

	job->run(job);
	set_active_memcg(old);
	mem_cgroup_put(memcg);
}

static void pager_work(struct work_struct *work)
{
	struct ornic_pager_worker *worker =
		container_of(work, struct ornic_pager_worker, work);
	struct ornic_pager *pager = worker->pager;
	struct ornic_pager_job *job;

	while ((job = next_job(worker))) {
		run_job(pager, job);
		cond_resched();
	}
	ornic_pager_put(pager);
}

/* With the lock, and a reference of the caller: one more, if it may have that. */
static void start_worker(struct ornic_pager *pager)
{
	struct ornic_pager_worker *worker = pager->worker;

	if (pager->nworkers >= most_workers())
		return;
	while (worker->busy)
		worker++;
	worker->busy = true;
	pager->nworkers++;
	atomic_inc(&pool_used);
	refcount_inc(&pager->ref);
	queue_work(pool, &worker->work);
}

/* With the lock: all of @jobs run, in any order. */
static void run_all(struct ornic_pager *pager, struct list_head *jobs)
{
	struct ornic_pager_job *job;

	list_for_each_entry(job, jobs, list)
		start_worker(pager);
	list_splice_tail_init(jobs, &pager->faults);
}

void ornic_pager_fault(struct ornic_pager *pager, struct ornic_pager_job *job)
{
	INIT_LIST_HEAD(&job->behind);
	spin_lock(&pager->lock);
	list_add_tail(&job->list, &pager->faults);
	start_worker(pager);
	spin_unlock(&pager->lock);
}

void ornic_pager_fault_ends(struct ornic_pager *pager,
			    struct ornic_pager_job *job)
{
	spin_lock(&pager->lock);
	run_all(pager, &job->behind);
	spin_unlock(&pager->lock);
}

bool ornic_pager_advise(struct ornic_pager *pager, struct ornic_pager_job *job)
{
	bool fits;

	spin_lock(&pager->lock);
	fits = pager->nadvice < MOST_ADVICE;
	if (fits) {
		pager->nadvice++;
		list_add_tail(&job->list, &pager->advice);
		start_worker(pager);
	}
	spin_unlock(&pager->lock);
	return fits;
}

/* ---- Walks ----------------------------------------------------------------------- */

/* With the lock: the walk of the same part of the same MR, or NULL. */
static struct ornic_walk *find_walk(struct ornic_pager *pager,
				    const struct ornic_walk *like)
{
	struct ornic_walk *walk;

	hash_for_each_possible(pager->walks, walk, node, like->part) {
		if (walk->odp == like->odp && walk->part == like->part)
			return walk;
	}
	return NULL;
}

/* With the lock: @job begins @walk, or waits for @other, and so does what is behind it. */
static void bring_job(struct ornic_pager *pager, struct ornic_walk *walk,
		      struct ornic_walk *other, struct ornic_pager_job *job)
{
	/* It needs another part first, which may take long. */
	if (job->part != walk->part)
		run_all(pager, &job->behind);
	list_splice_tail_init(&job->behind, other ? &other->jobs : &walk->jobs);
	if (other)
		list_add_tail(&job->list, &other->jobs);
}

/* If another one has that part, @job, if there is one, waits for its end. */
static bool try_walk(struct ornic_pager *pager, struct ornic_walk *walk,
		     struct ornic_pager_job *job)
{
	struct ornic_walk *other;

	spin_lock(&pager->lock);
	other = find_walk(pager, walk);
	if (!other)
		hash_add(pager->walks, &walk->node, walk->part);
	if (job)
		bring_job(pager, walk, other, job);
	spin_unlock(&pager->lock);
	return !other;
}

int ornic_walk_begin(struct ornic_pager *pager, struct ornic_walk *walk,
		     struct ornic_pager_job *job)
{
	INIT_LIST_HEAD(&walk->jobs);
	if (job)
		return try_walk(pager, walk, job) ? 0 : -EINPROGRESS;
	return wait_event_killable(pager->walk_ended,
				   try_walk(pager, walk, NULL)) ?
		       -EINTR :
		       0;
}

/* With the lock: the first of those that waited for @walk runs, the others behind it. */
static void run_first(struct ornic_pager *pager, struct ornic_walk *walk)
{
	struct ornic_pager_job *first;

	first = list_first_entry_or_null(&walk->jobs, struct ornic_pager_job,
					 list);
	if (!first)
		return;
	list_move_tail(&first->list, &pager->faults);
	list_splice(&walk->jobs, &first->behind);
	first->part = walk->part;
	start_worker(pager);
}

void ornic_walk_end(struct ornic_pager *pager, struct ornic_walk *walk)
{
	spin_lock(&pager->lock);
	hash_del(&walk->node);
	run_first(pager, walk);
	spin_unlock(&pager->lock);
	wake_up_all(&pager->walk_ended);
}

/* ---- Lifetime -------------------------------------------------------------------- */

static void free_pager(struct work_struct *work)
{
	struct ornic_pager *pager =
		container_of(work, struct ornic_pager, free);
	struct ornic_ib_dev *dev = pager->dev;

	mutex_lock(&dev->pagers_lock);
	list_del(&pager->list);
	mutex_unlock(&dev->pagers_lock);
	WARN_ON_ONCE(pager->nchildren || pager->fixed || pager->nworkers);
	mmdrop(pager->mm);
	kfree(pager);
	put_device(dev->ibdev.dma_device);
	put_device(&dev->ibdev.dev);
	/* The module waits for the rest of this when it destroys odp_wq. */
	module_put(THIS_MODULE);
}

static struct ornic_pager *alloc_pager(struct ornic_ib_dev *dev)
{
	struct ornic_pager *pager = kzalloc(sizeof(*pager), GFP_KERNEL_ACCOUNT);
	u32 i;

	if (!pager)
		return ERR_PTR(-ENOMEM);
	if (!try_module_get(THIS_MODULE)) {
		kfree(pager);
		return ERR_PTR(-ENODEV);
	}
	refcount_set(&pager->ref, 1);
	get_device(&dev->ibdev.dev);
	/* For what is mapped, which may go after the ib_device has. */
	get_device(dev->ibdev.dma_device);
	pager->dev = dev;
	pager->mm = current->mm;
	mmgrab(pager->mm);
	INIT_WORK(&pager->free, free_pager);
	for (i = 0; i < ORNIC_PAGER_WORKERS; i++) {
		INIT_WORK(&pager->worker[i].work, pager_work);
		pager->worker[i].pager = pager;
	}
	spin_lock_init(&pager->lock);
	INIT_LIST_HEAD(&pager->faults);
	INIT_LIST_HEAD(&pager->advice);
	hash_init(pager->walks);
	init_waitqueue_head(&pager->walk_ended);
	INIT_LIST_HEAD(&pager->children);
	pager->favour_ends = jiffies;
	return pager;
}

/* With the lock. Those that are about to go are left alone. */
static struct ornic_pager *find_pager(struct ornic_ib_dev *dev)
{
	struct ornic_pager *pager;

	list_for_each_entry(pager, &dev->pagers, list) {
		if (pager->mm == current->mm &&
		    refcount_inc_not_zero(&pager->ref))
			return pager;
	}
	return NULL;
}

/* With the lock. */
static struct ornic_pager *make_pager(struct ornic_ib_dev *dev)
{
	struct ornic_pager *pager = alloc_pager(dev);

	if (!IS_ERR(pager))
		list_add(&pager->list, &dev->pagers);
	return pager;
}

struct ornic_pager *ornic_pager_get(struct ornic_ib_dev *dev)
{
	u64 limit = rlimit(RLIMIT_MEMLOCK) >> PAGE_SHIFT;
	struct ornic_pager *pager;

	mutex_lock(&dev->pagers_lock);
	pager = find_pager(dev) ?: make_pager(dev);
	mutex_unlock(&dev->pagers_lock);
	/* It may have changed since. */
	if (!IS_ERR(pager))
		WRITE_ONCE(pager->limit,
			   capable(CAP_IPC_LOCK) ? U64_MAX : limit);
	return pager;
}

void ornic_pager_put(struct ornic_pager *pager)
{
	if (refcount_dec_and_test(&pager->ref))
		queue_work(odp_wq, &pager->free);
}

u64 ornic_pager_used(const struct ornic_pager *pager)
{
	return pager->fixed + (u64)pager->nchildren * ORNIC_CHILD_PAGES;
}

bool ornic_pager_charge(struct ornic_pager *pager, u64 pages)
{
	u64 limit = READ_ONCE(pager->limit);
	bool fits;
	u64 used;

	spin_lock(&pager->lock);
	used = ornic_pager_used(pager);
	fits = used <= limit && pages <= limit - used;
	if (fits)
		pager->fixed += pages;
	spin_unlock(&pager->lock);
	return fits;
}

void ornic_pager_uncharge(struct ornic_pager *pager, u64 pages)
{
	spin_lock(&pager->lock);
	pager->fixed -= pages;
	spin_unlock(&pager->lock);
}

static bool is_young(unsigned long since)
{
	return time_before(jiffies,
			   since + msecs_to_jiffies(ORNIC_CHILD_SAFE_MS));
}

/* With the lock: it ends when the favourite asks no more. */
static void favour_goes_on(struct ornic_pager *pager)
{
	unsigned long end = jiffies + msecs_to_jiffies(ORNIC_CHILD_SAFE_MS);
	unsigned long most =
		pager->favour_began + msecs_to_jiffies(MOST_FAVOUR_MS);

	pager->favour_ends = time_before(end, most) ? end : most;
}

static bool may_take_from_favourite(struct ornic_pager *pager,
				    unsigned long since)
{
	if (!is_young(since) && time_before(since, pager->favour_began))
		return true;
	pager->refused = true;
	return false;
}

/* With the lock, and no favourite: @who becomes it, unless it is the turn of another. */
static bool begin_favour(struct ornic_pager *pager, const void *who)
{
	bool was_last = pager->refused && who == pager->favourite;

	pager->favourite = was_last ? NULL : who;
	pager->refused = false;
	pager->favour_began = jiffies;
	return !was_last;
}

bool ornic_pager_may_take(struct ornic_pager *pager, unsigned long since,
			  const void *who)
{
	if (!time_before(jiffies, pager->favour_ends)) {
		if (!begin_favour(pager, who))
			return false;
	} else if (who != pager->favourite) {
		return may_take_from_favourite(pager, since);
	}
	favour_goes_on(pager);
	return true;
}

/* ---- The device, and the module --------------------------------------------------- */

bool ornic_odp_queue(struct work_struct *work)
{
	return queue_work(odp_wq, work);
}

void ornic_odp_start(struct ornic_ib_dev *dev)
{
	INIT_LIST_HEAD(&dev->pagers);
	mutex_init(&dev->pagers_lock);
	init_rwsem(&dev->odp_life);
	dev->odp_stopped = false;
}

void ornic_odp_stop(struct ornic_ib_dev *dev)
{
	/* Commands are short. Of keys there are none any more. */
	down_write(&dev->odp_life);
	dev->odp_stopped = true;
	up_write(&dev->odp_life);
	WARN_ON_ONCE(!xa_empty(&dev->odps));
}

int ornic_pagers_init(void)
{
	/* Some kernels divide that among the nodes; all may come from one of them. */
	pool_size = clamp_t(int, WQ_UNBOUND_MAX_ACTIVE / num_node_state(N_CPU),
			    LEAST_POOL, MOST_POOL);
	pool = alloc_workqueue("ornic_pager", WQ_UNBOUND,
			       WQ_UNBOUND_MAX_ACTIVE);
	if (!pool)
		return -ENOMEM;
	odp_wq = alloc_workqueue("ornic_odp", WQ_UNBOUND, 0);
	if (odp_wq)
		return 0;
	destroy_workqueue(pool);
	return -ENOMEM;
}

void ornic_pagers_exit(void)
{
	destroy_workqueue(pool);
	destroy_workqueue(odp_wq);
}
