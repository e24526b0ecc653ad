// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * On-demand paging: who asks for pages. A page fault of a QP is a job of the pager of the
 * process whose memory is missing, so that those of different queues are served at the
 * same time, and what takes long holds up nobody else. Advice of programs is followed at
 * once or by such a job.
 */
#include <linux/bitops.h>
#include <linux/delay.h>
#include <linux/refcount.h>
#include <linux/rwsem.h>
#include <linux/slab.h>
#include <linux/workqueue.h>
#include <rdma/ib_umem_odp.h>
#include <rdma/uverbs_ioctl.h>

#include "compat/compat_rdma.h"
#include "ornic_cmd.h"
#include "ornic_dev.h"
#include "ornic_odp.h"
#include "ornic_odp_mr.h"
#include "ornic_pd.h"

/* Before a queue tries again what failed for want of memory. */
#define RETRY_MS 10

/* ---- Faults ---------------------------------------------------------------------- */

/* Bit of struct fault_queue: it has a fault, which @job serves. */
#define FAULT_BUSY 0

/**
 * struct fault_queue - the page faults of a queue
 * @faults: of the QP
 * @queue: enum ornic_fault_queue
 * @state: FAULT_BUSY
 * @take: takes a fault from the device
 * @job: serves it; of the pager of @odp
 * @odp: the MR, which it holds
 * @fault: what is missing
 */
struct fault_queue {
	struct ornic_qp_faults *faults;
	u8 queue;
	unsigned long state;
	struct work_struct take;
	struct ornic_pager_job job;
	struct ornic_ib_odp *odp;
	struct ornic_fault_params fault;
};

/**
 * struct ornic_qp_faults - the page faults of a QP, which may outlive it
 * @ref: one of the QP, one of each work item that is queued or runs
 * @dev: the device, which it holds
 * @qpn: of the QP
 * @closed: it is gone, whatever the device says
 * @queue: its queues
 */
struct ornic_qp_faults {
	refcount_t ref;
	struct ornic_ib_dev *dev;
	u32 qpn;
	bool closed;
	struct fault_queue queue[ORNIC_FAULT_RQ + 1];
};

static void faults_put(struct ornic_qp_faults *faults)
{
	if (!refcount_dec_and_test(&faults->ref))
		return;
	put_device(&faults->dev->ibdev.dev);
	kfree(faults);
}

/* -EINPROGRESS: @q waits, or is served by somebody else already. */
static int serve_fault(struct fault_queue *q)
{
	struct ornic_ib_dev *dev = q->faults->dev;
	const struct ornic_fault_params *fault = &q->fault;
	struct ornic_ib_odp *odp = q->odp;
	struct ornic_bring bring = {
		.write = fault->write,
		.fault = true,
		.job = &q->job,
	};
	u64 first;
	int ret;

	ret = ornic_bring_init(dev, &bring);
	if (ret)
		return ret;
	first = min_t(u64, fault->length,
		      PAGE_SIZE - offset_in_page(fault->addr));
	bring.once = first != fault->length;
	ret = ornic_bring_in(odp, fault->addr, fault->length, &bring);
	/* What follows may not exist, or not have to, or go all the time. */
	if (ret && ret != -EINPROGRESS && bring.once) {
		bring.once = false;
		ret = ornic_bring_in(odp, fault->addr, first, &bring);
	}
	ornic_bring_fini(dev, &bring);
	return ret;
}

/* The queue tries again, or fails. */
static void end_fault(const struct fault_queue *q, int ret)
{
	const struct ornic_qp_faults *faults = q->faults;
	const struct ornic_fault_params *fault = &q->fault;
	/* Its memory changes all the time, or there is little memory now. */
	bool again = ret == -EBUSY || ret == -ENOMEM;

	if (again)
		msleep(RETRY_MS);
	down_read(&faults->dev->odp_life);
	if (faults->dev->odp_stopped)
		goto out;
	/* By the name of its parent, which goes with the device. */
	if (ret)
		ibdev_dbg(&faults->dev->ibdev,
			  "QP %#x: key %#x: no page at %#llx for %s: %d\n",
			  faults->qpn, fault->key, fault->addr,
			  fault->write ? "writing" : "reading", ret);
	ornic_cmd_end_fault(faults->dev, faults->qpn, q->queue, fault->seq,
			    again ? 0 : ret);
out:
	up_read(&faults->dev->odp_life);
}

/* False: the queue has no fault, or the device is gone. */
static bool ask_device(struct fault_queue *q)
{
	struct ornic_ib_dev *dev = q->faults->dev;
	bool found;

	down_read(&dev->odp_life);
	found = !dev->odp_stopped && !READ_ONCE(q->faults->closed) &&
		!ornic_cmd_take_fault(dev, q->faults->qpn, q->queue, &q->fault);
	up_read(&dev->odp_life);
	return found;
}

/* The reference of the caller goes on to @take. */
static void take_later(struct fault_queue *q)
{
	if (!ornic_odp_queue(&q->take))
		faults_put(q->faults);
}

/* The next one, after what others have: a device may invent them without end. */
static void take_next(struct fault_queue *q)
{
	clear_bit_unlock(FAULT_BUSY, &q->state);
	take_later(q);
}

static void take_work(struct work_struct *work)
{
	struct fault_queue *q = container_of(work, struct fault_queue, take);
	struct ornic_qp_faults *faults = q->faults;

	/* When that is served, this runs again. */
	if (test_and_set_bit_lock(FAULT_BUSY, &q->state))
		goto out;
	if (!ask_device(q))
		goto out_clear;
	q->odp = ornic_ib_odp_get(faults->dev, q->fault.key);
	/* With the reference */
	if (q->odp) {
		ornic_pager_fault(ornic_ib_odp_pager(q->odp), &q->job);
		return;
	}
	end_fault(q, -ENOENT);
	take_next(q);
	return;

out_clear:
	clear_bit_unlock(FAULT_BUSY, &q->state);
out:
	faults_put(faults);
}

static void serve_job(struct ornic_pager_job *job)
{
	struct fault_queue *q = container_of(job, struct fault_queue, job);
	int ret = serve_fault(q);

	if (ret == -EINPROGRESS)
		return;
	ornic_pager_fault_ends(ornic_ib_odp_pager(q->odp), job);
	end_fault(q, ret);
	ornic_ib_odp_put(q->odp);
	take_next(q);
}

struct ornic_qp_faults *ornic_qp_faults_open(struct ornic_ib_dev *dev, u32 qpn)
{
	struct ornic_qp_faults *faults;
	struct fault_queue *q;
	u8 i;

	if (!ornic_odp_supported(dev))
		return NULL;
	faults = kzalloc(sizeof(*faults), GFP_KERNEL_ACCOUNT);
	if (!faults)
		return ERR_PTR(-ENOMEM);
	refcount_set(&faults->ref, 1);
	get_device(&dev->ibdev.dev);
	faults->dev = dev;
	faults->qpn = qpn;
	for (i = 0; i <= ORNIC_FAULT_RQ; i++) {
		q = &faults->queue[i];
		q->faults = faults;
		q->queue = i;
		INIT_WORK(&q->take, take_work);
		q->job.run = serve_job;
	}
	return faults;
}

void ornic_qp_faults_close(struct ornic_qp_faults *faults)
{
	if (!faults)
		return;
	WRITE_ONCE(faults->closed, true);
	faults_put(faults);
}

void ornic_qp_fault(struct ornic_qp_faults *faults, u8 queue)
{
	if (!faults || queue > ORNIC_FAULT_RQ)
		return;
	refcount_inc(&faults->ref);
	take_later(&faults->queue[queue]);
}

/* ---- Advice ---------------------------------------------------------------------- */

/**
 * struct ornic_prefetch - advice about memory
 * @job: of the pager of its first part
 * @write: pages are going to be written to
 * @fault: also those that are not in memory
 * @n: parts
 * @part: MRs, which it holds, and ranges of their keys
 */
struct ornic_prefetch {
	struct ornic_pager_job job;
	bool write;
	bool fault;
	u32 n;
	struct {
		struct ornic_ib_odp *odp;
		u64 addr;
		u64 length;
	} part[];
};

static int prefetch_run(struct ornic_ib_dev *dev,
			struct ornic_prefetch *prefetch)
{
	struct ornic_bring bring = {
		.write = prefetch->write,
		.fault = prefetch->fault,
	};
	int ret;
	u32 i;

	ret = ornic_bring_init(dev, &bring);
	if (ret)
		return ret;
	for (i = 0; i < prefetch->n && !ret; i++)
		ret = ornic_bring_in(prefetch->part[i].odp,
				     prefetch->part[i].addr,
				     prefetch->part[i].length, &bring);
	ornic_bring_fini(dev, &bring);
	return ret;
}

static void prefetch_free(struct ornic_prefetch *prefetch, u32 n)
{
	while (n)
		ornic_ib_odp_put(prefetch->part[--n].odp);
	kvfree(prefetch);
}

static void follow_job(struct ornic_pager_job *job)
{
	struct ornic_prefetch *prefetch =
		container_of(job, struct ornic_prefetch, job);
	struct ornic_ib_odp *odp = prefetch->part[0].odp;

	prefetch_run(ornic_ib_odp_pager(odp)->dev, prefetch);
	prefetch_free(prefetch, prefetch->n);
}

/* Or never: it is advice. */
static void follow_later(struct ornic_prefetch *prefetch)
{
	struct ornic_ib_odp *odp = prefetch->part[0].odp;

	prefetch->job.run = follow_job;
	if (!ornic_pager_advise(ornic_ib_odp_pager(odp), &prefetch->job))
		prefetch_free(prefetch, prefetch->n);
}

/* The MR of @sge, if it is good for the advice. */
static struct ornic_ib_odp *advised_mr(struct ib_pd *ibpd,
				       const struct ib_sge *sge, bool write)
{
	struct ornic_ib_odp *odp;
	int ret;

	odp = ornic_ib_odp_get(to_odev(ibpd->device), sge->lkey);
	if (!odp)
		return ERR_PTR(-ENOENT);
	ret = ornic_ib_odp_check(odp, to_opd(ibpd)->pdn, sge->addr, sge->length,
				 write);
	if (!ret)
		return odp;
	ornic_ib_odp_put(odp);
	return ERR_PTR(ret);
}

static struct ornic_prefetch *prefetch_make(struct ib_pd *ibpd,
					    const struct ib_sge *sge,
					    u32 num_sge, bool write)
{
	struct ornic_prefetch *prefetch;
	u32 i;
	int ret;

	prefetch = kvzalloc(struct_size(prefetch, part, num_sge),
			    GFP_KERNEL_ACCOUNT);
	if (!prefetch)
		return ERR_PTR(-ENOMEM);
	prefetch->n = num_sge;
	prefetch->write = write;
	for (i = 0; i < num_sge; i++) {
		prefetch->part[i].addr = sge[i].addr;
		prefetch->part[i].length = sge[i].length;
		prefetch->part[i].odp = advised_mr(ibpd, &sge[i], write);
		if (IS_ERR(prefetch->part[i].odp)) {
			ret = PTR_ERR(prefetch->part[i].odp);
			prefetch_free(prefetch, i);
			return ERR_PTR(ret);
		}
	}
	return prefetch;
}

static int advise_mr(struct ib_pd *ibpd, enum ib_uverbs_advise_mr_advice advice,
		     u32 flags, struct ib_sge *sg_list, u32 num_sge,
		     struct uverbs_attr_bundle *attrs)
{
	struct ornic_ib_dev *dev = to_odev(ibpd->device);
	struct ornic_prefetch *prefetch;
	int ret;

	if (advice > IB_UVERBS_ADVISE_MR_ADVICE_PREFETCH_NO_FAULT)
		return -EOPNOTSUPP;
	if (!num_sge)
		return 0;
	prefetch = prefetch_make(
		ibpd, sg_list, num_sge,
		advice == IB_UVERBS_ADVISE_MR_ADVICE_PREFETCH_WRITE);
	if (IS_ERR(prefetch))
		return PTR_ERR(prefetch);
	prefetch->fault = advice !=
			  IB_UVERBS_ADVISE_MR_ADVICE_PREFETCH_NO_FAULT;
	if (!(flags & IB_UVERBS_ADVISE_MR_FLAG_FLUSH)) {
		follow_later(prefetch);
		return 0;
	}
	ret = prefetch_run(dev, prefetch);
	prefetch_free(prefetch, prefetch->n);
	return ret;
}

/* ---- The device ------------------------------------------------------------------ */

/* enum ib_uverbs_odp_transport_cap_bits of later kernels; users look at them with any. */
#define ODP_SUPPORT_FLUSH BIT(6)
#define ODP_SUPPORT_ATOMIC_WRITE BIT(7)

const struct ib_device_ops ornic_odp_ops = {
	.advise_mr = advise_mr,
};

/* As far as its ib_core has them at all. */
static u32 rc_only(const struct ornic_ib_dev *dev)
{
	u32 caps = 0;

	if (IB_DEVICE_FLUSH_GLOBAL && dev->caps.caps & ORNIC_CAP_FLUSH)
		caps |= ODP_SUPPORT_FLUSH;
	if (IB_DEVICE_ATOMIC_WRITE && dev->caps.caps & ORNIC_CAP_ATOMIC_WRITE)
		caps |= ODP_SUPPORT_ATOMIC_WRITE;
	return caps;
}

void ornic_odp_caps(const struct ornic_ib_dev *dev, struct ib_odp_caps *caps)
{
	const u32 connected = IB_ODP_SUPPORT_SEND | IB_ODP_SUPPORT_RECV |
			      IB_ODP_SUPPORT_WRITE | IB_ODP_SUPPORT_READ |
			      IB_ODP_SUPPORT_ATOMIC | IB_ODP_SUPPORT_SRQ_RECV;
	const u32 datagram = IB_ODP_SUPPORT_SEND | IB_ODP_SUPPORT_RECV |
			     IB_ODP_SUPPORT_SRQ_RECV;

	if (!ornic_odp_supported(dev))
		return;
	caps->general_caps = IB_ODP_SUPPORT | IB_ODP_SUPPORT_IMPLICIT;
	caps->per_transport_caps.rc_odp_caps = connected | rc_only(dev);
	caps->per_transport_caps.uc_odp_caps = datagram | IB_ODP_SUPPORT_WRITE;
	caps->per_transport_caps.ud_odp_caps = datagram;
	if (dev->caps.caps & ORNIC_CAP_XRC)
		caps->per_transport_caps.xrc_odp_caps = connected;
}
