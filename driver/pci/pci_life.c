// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Life of a PCI device, from reset to reset.
 *
 *	down --reset, rings, EQs--> up --netdev of its MAC--> registered
 *	  ^                                                        |
 *	  +-- reset <-- unregister <-- end, or ornic_pci_fail() ---+
 *
 * One work item, update, makes all steps, or probe and remove while it is
 * stopped. ornic_pci_fail() only marks the device as failed, in any context. A
 * second work item, quiesce, then stops the DMA of the device; only after that
 * are users notified and do commands return, so no memory that the device could
 * write to is freed before. It is separate because update may be waiting for
 * just those users and commands. The kernel may wait for a command to get memory back
 * (on-demand paging), so quiesce has a worker that needs no memory. A third one, watch,
 * reads the registers each second, also while update waits.
 *
 * The DMA has stopped when the device acknowledges a reset. If it does not, its
 * bus-master bit is cleared; where that bit has no effect, behind ivshmem, the
 * memory that it has is leaked.
 */
#include "pci/pci_life.h"

#include <linux/delay.h>
#include <linux/jiffies.h>
#include <linux/workqueue.h>

#include "compat/compat_wq.h"
#include "pci/pci_cmd.h"
#include "pci/pci_dev.h"
#include "pci/pci_eq.h"
#include "pci/pci_netdev.h"
#include "pci/pci_nonce.h"

#define WATCH_PERIOD HZ
#define PULSE_LIMIT_MS 8000
#define RESET_LIMIT_MS 5000
/* After a suspend of the host: until the device has registers again. */
#define RETURN_LIMIT_MS 10000
/* Between attempts; one that lasted that long was a success. */
#define MIN_DELAY_MS 250
#define MAX_DELAY_MS 32000
#define SUCCESS_MS 3000

static struct workqueue_struct *quiesce_wq;

/* All ones if the device was pulled out. */
void ornic_pci_read_regs(struct ornic_pci *pci,
			 struct ornic_pci_device_regs *regs)
{
	void __iomem *from = pci->regs;
	__le32 *to = (__le32 *)regs;
	u32 i;

	for (i = 0; i < sizeof(*regs) / sizeof(*to); i++)
		to[i] = cpu_to_le32(ioread32(from + i * sizeof(*to)));
}

static u32 status_of(struct ornic_pci *pci)
{
	return ioread32(&pci->regs->status);
}

/* ---- Reset --------------------------------------------------------------- */

/* The device has lost all state when this returns 0. */
static int reset_device(struct ornic_pci *pci)
{
	unsigned long limit = jiffies + msecs_to_jiffies(RESET_LIMIT_MS);
	u32 ask = ornic_pci_next_reset(ioread32(&pci->host->reset),
				       ioread32(&pci->regs->reset_done));

	iowrite32(0, &pci->host->cmd_producer);
	iowrite32(ask, &pci->host->reset);
	ornic_pci_ring_control(pci);
	while (ioread32(&pci->regs->reset_done) != ask) {
		if (time_after(jiffies, limit) ||
		    status_of(pci) > ORNIC_PCI_FAILED)
			return -ETIMEDOUT;
		usleep_range(500, 2000);
	}
	return 0;
}

/* On return the device accesses no memory, or bus.writes_on is set. */
static void stop_dma(struct ornic_pci *pci)
{
	bool stopped = test_bit(ORNIC_PCI_LOST, &pci->flags) ||
		       !reset_device(pci);

	pci_clear_master(pci->pdev);
	if (stopped)
		return;
	if (!pci->is_cuttable)
		WRITE_ONCE(pci->bus.writes_on, true);
	dev_warn(&pci->pdev->dev, "reset not acknowledged: %s\n",
		 pci->is_cuttable ? "bus mastering disabled" :
				    "its memory is leaked");
}

/* ---- The gates of the work items ----------------------------------------- */

static void open_gates(struct ornic_pci *pci)
{
	spin_lock_irq(&pci->lock);
	pci->may_update = true;
	pci->may_watch = true;
	spin_unlock_irq(&pci->lock);
}

static void stop_update(struct ornic_pci *pci)
{
	spin_lock_irq(&pci->lock);
	pci->may_update = false;
	spin_unlock_irq(&pci->lock);
	cancel_work_sync(&pci->update);
}

static void stop_watch(struct ornic_pci *pci)
{
	spin_lock_irq(&pci->lock);
	pci->may_watch = false;
	spin_unlock_irq(&pci->lock);
	cancel_delayed_work_sync(&pci->watch);
}

/* A step may be due. Any context. */
void ornic_pci_queue_update(struct ornic_pci *pci)
{
	unsigned long flags;

	spin_lock_irqsave(&pci->lock, flags);
	if (pci->may_update)
		queue_work(system_dfl_wq, &pci->update);
	spin_unlock_irqrestore(&pci->lock, flags);
}

/* Reads the registers @delay jiffies from now. Any context. */
static void watch_after(struct ornic_pci *pci, unsigned long delay)
{
	unsigned long flags;

	spin_lock_irqsave(&pci->lock, flags);
	if (pci->may_watch)
		mod_delayed_work(system_percpu_wq, &pci->watch, delay);
	spin_unlock_irqrestore(&pci->lock, flags);
}

/* ---- Failure ------------------------------------------------------------- */

static void quiesce_work(struct work_struct *work)
{
	struct ornic_pci *pci = container_of(work, struct ornic_pci, quiesce);

	stop_dma(pci);
	/* Users of a failed device free its memory. */
	ornic_fail(&pci->bus);
	complete_all(&pci->quiesced);
	ornic_pci_queue_update(pci);
}

/* Commands fail from now on, once the DMA has stopped. Any context. */
static bool end_life(struct ornic_pci *pci)
{
	unsigned long flags;
	bool first;

	spin_lock_irqsave(&pci->lock, flags);
	first = !test_and_set_bit(ORNIC_PCI_DEAD, &pci->flags);
	if (first) {
		ornic_pci_cmds_abort(pci);
		queue_work(quiesce_wq, &pci->quiesce);
	}
	spin_unlock_irqrestore(&pci->lock, flags);
	return first;
}

/*
 * The device cannot go on. @why completes "ornic ...: the device". Any context.
 */
void ornic_pci_fail(struct ornic_pci *pci, const char *why)
{
	if (end_life(pci))
		dev_err(&pci->pdev->dev, "device failed: it %s\n", why);
}

/* ornic_bus_ops.broken. */
void ornic_pci_broken(struct ornic_bus *bus, const char *why)
{
	struct ornic_pci *pci = to_ornic_pci(bus);

	ornic_pci_fail(pci, why);
	wait_for_completion(&pci->quiesced);
}

static void lose_device(struct ornic_pci *pci, const char *why)
{
	set_bit(ORNIC_PCI_LOST, &pci->flags);
	ornic_pci_fail(pci, why);
}

/* ---- Up and down --------------------------------------------------------- */

/* A device that comes back must be the same one. */
static int check_again(struct ornic_pci *pci)
{
	struct ornic_pci_device_regs regs;
	struct ornic_pci_info info;
	struct ornic_pci_flaw flaw;
	int ret;

	ornic_pci_read_regs(pci, &regs);
	memset(&info, 0, sizeof(info));
	ret = ornic_pci_read_info(&regs, &info, &flaw);
	if (!ret && memcmp(&info, &pci->info, sizeof(info)))
		ret = -EPROTO;
	if (ret)
		lose_device(pci,
			    "is a different one now: bind the driver again");
	return ret;
}

/* A device that was just reset may fail from now on. */
static int revive_device(struct ornic_pci *pci)
{
	int ret = 0;

	spin_lock_irq(&pci->lock);
	if (test_bit(ORNIC_PCI_LOST, &pci->flags)) {
		ret = -ENODEV;
		goto out_unlock;
	}
	reinit_completion(&pci->quiesced);
	pci->bus.dead = false;
	pci->bus.writes_on = false;
	clear_bit(ORNIC_PCI_DEAD, &pci->flags);
	ornic_pci_cmds_start(pci);
out_unlock:
	spin_unlock_irq(&pci->lock);
	return ret;
}

/*
 * It is no bus master until it has dropped its old addresses. To read the nonce
 * it must be one.
 */
static int reset_twice(struct ornic_pci *pci)
{
	int ret;

	ret = reset_device(pci);
	if (ret)
		return ret;
	pci_set_master(pci->pdev);
	ret = ornic_pci_reset_with_nonce(pci, reset_device);
	if (ret)
		pci_clear_master(pci->pdev);
	return ret;
}

static int bring_device_up(struct ornic_pci *pci)
{
	int ret;

	ret = check_again(pci);
	if (ret)
		return ret;
	ret = reset_twice(pci);
	if (ret) {
		dev_err(&pci->pdev->dev, "reset not done in %u ms, status %u\n",
			RESET_LIMIT_MS, status_of(pci));
		return ret;
	}
	/* A device that has failed may need the reset to become ready. */
	ret = status_of(pci) == ORNIC_PCI_READY ? revive_device(pci) : -EAGAIN;
	if (ret)
		goto err_clear_master;
	ret = ornic_pci_eqs_start(pci);
	if (ret)
		goto err_stop_eqs;
	pci->up_since = jiffies;
	WRITE_ONCE(pci->up, true);
	return 0;

err_stop_eqs:
	end_life(pci);
	flush_work(&pci->quiesce);
	ornic_pci_eqs_stop(pci);
err_clear_master:
	pci_clear_master(pci->pdev);
	return ret;
}

/* In order; after a failure all of it is gone when the DMA has stopped. */
static void take_down(struct ornic_pci *pci)
{
	if (!test_bit(ORNIC_PCI_DEAD, &pci->flags))
		ornic_pci_unpair(pci);
	if (pci->up)
		end_life(pci);
	flush_work(&pci->quiesce);
	ornic_pci_unpair(pci);
	if (!pci->up)
		return;
	ornic_pci_eqs_stop(pci);
	WRITE_ONCE(pci->up, false);
}

/* ---- The work items ------------------------------------------------------ */

static void retry_later(struct ornic_pci *pci)
{
	unsigned long delay = msecs_to_jiffies(pci->delay_ms);

	pci->delay_ms = min(pci->delay_ms * 2, MAX_DELAY_MS);
	WRITE_ONCE(pci->retry_at, jiffies + delay);
	watch_after(pci, delay);
}

static void end_failed(struct ornic_pci *pci)
{
	if (time_after(jiffies, pci->up_since + msecs_to_jiffies(SUCCESS_MS)))
		pci->delay_ms = MIN_DELAY_MS;
	take_down(pci);
	retry_later(pci);
}

static bool may_begin(struct ornic_pci *pci)
{
	return !test_bit(ORNIC_PCI_STOPPING, &pci->flags) &&
	       !test_bit(ORNIC_PCI_LOST, &pci->flags) &&
	       time_is_before_eq_jiffies(READ_ONCE(pci->retry_at));
}

static int update_device(struct ornic_pci *pci)
{
	int ret = 0;

	if (pci->up && test_bit(ORNIC_PCI_DEAD, &pci->flags))
		end_failed(pci);
	if (test_and_clear_bit(ORNIC_PCI_NETDEV_GONE, &pci->flags))
		ornic_pci_unpair(pci);
	if (!may_begin(pci))
		return 0;
	if (!pci->up) {
		ret = bring_device_up(pci);
		if (ret) {
			retry_later(pci);
			return ret;
		}
	}
	return ornic_pci_pair(pci);
}

static void update_work(struct work_struct *work)
{
	update_device(container_of(work, struct ornic_pci, update));
}

static bool is_there(struct ornic_pci *pci)
{
	struct ornic_pci_device_regs regs;

	ornic_pci_read_regs(pci, &regs);
	return ornic_pci_is_ours(&regs);
}

/* A device that was suspended as well writes its magic last. */
static bool may_return(struct ornic_pci *pci)
{
	return !pci->up && time_before(jiffies, pci->return_by);
}

/* Milliseconds without a sign of life. */
static u64 pulse_age(struct ornic_pci *pci)
{
	u64 now_ms = jiffies64_to_msecs(get_jiffies_64());

	return ornic_pci_pulse_age(&pci->pulse, ioread32(&pci->regs->health),
				   now_ms);
}

static void watch_device(struct ornic_pci *pci)
{
	bool up = READ_ONCE(pci->up);
	u32 status = status_of(pci);
	u64 age_ms = pulse_age(pci);

	if (up && test_bit(ORNIC_PCI_DEAD, &pci->flags)) {
		/* In case update was not allowed to run when it failed. */
		ornic_pci_queue_update(pci);
	} else if (up) {
		if (status != ORNIC_PCI_READY)
			ornic_pci_fail(pci, "reports status FAILED");
		else if (age_ms > PULSE_LIMIT_MS)
			ornic_pci_fail(pci, "stopped its heartbeat");
	} else if (age_ms <= PULSE_LIMIT_MS && may_begin(pci) &&
		   (status == ORNIC_PCI_READY || status == ORNIC_PCI_FAILED)) {
		ornic_pci_queue_update(pci);
	}
}

static void watch_work(struct work_struct *work)
{
	struct ornic_pci *pci =
		container_of(to_delayed_work(work), struct ornic_pci, watch);
	bool there = is_there(pci);

	if (there ? status_of(pci) == ORNIC_PCI_REMOVED : !may_return(pci))
		lose_device(pci, "is gone");
	if (test_bit(ORNIC_PCI_LOST, &pci->flags))
		return;
	if (there)
		watch_device(pci);
	queue_delayed_work(system_percpu_wq, &pci->watch, WATCH_PERIOD);
}

/*
 * The device has sent its control message: check early whether it has failed.
 * Any context.
 */
void ornic_pci_check(struct ornic_pci *pci)
{
	if (status_of(pci) != ORNIC_PCI_READY)
		watch_after(pci, 0);
}

/* ---- From probe to remove ------------------------------------------------ */

int ornic_pci_lives_init(void)
{
	quiesce_wq = alloc_workqueue("ornic-pci-quiesce",
				     WQ_UNBOUND | WQ_MEM_RECLAIM, 0);
	return quiesce_wq ? 0 : -ENOMEM;
}

void ornic_pci_lives_exit(void)
{
	destroy_workqueue(quiesce_wq);
}

void ornic_pci_life_init(struct ornic_pci *pci)
{
	spin_lock_init(&pci->lock);
	init_completion(&pci->quiesced);
	complete_all(&pci->quiesced);
	INIT_WORK(&pci->quiesce, quiesce_work);
	INIT_WORK(&pci->update, update_work);
	INIT_DELAYED_WORK(&pci->watch, watch_work);
	pci->delay_ms = MIN_DELAY_MS;
	pci->retry_at = jiffies;
	pci->return_by = jiffies;
}

/*
 * Start the device. One that is not ready yet, or has failed before, gets the
 * time that it takes. Returns -ETIMEDOUT or -EIO if it reports to be ready and
 * is not, or an error of ornic_pci_pair().
 */
int ornic_pci_life_start(struct ornic_pci *pci)
{
	u32 status = status_of(pci);
	int ret = 0;

	if (status == ORNIC_PCI_READY)
		ret = update_device(pci);
	else
		dev_info(&pci->pdev->dev, "waiting for the device, status %u\n",
			 status);
	if (ret && status_of(pci) == ORNIC_PCI_READY) {
		take_down(pci);
		return ret;
	}
	open_gates(pci);
	/* Its netdev may have come or gone meanwhile, or the device failed. */
	if (pci->up)
		ornic_pci_queue_update(pci);
	queue_delayed_work(system_percpu_wq, &pci->watch, 0);
	return 0;
}

/* The device is down on return and accesses no memory. */
void ornic_pci_life_stop(struct ornic_pci *pci)
{
	set_bit(ORNIC_PCI_STOPPING, &pci->flags);
	/* If it was pulled out, commands in flight will not complete. */
	if (!is_there(pci))
		lose_device(pci, "is gone");
	stop_update(pci);
	take_down(pci);
	stop_watch(pci);
	flush_work(&pci->quiesce);
	/* In case watch has failed it just now. */
	clear_bit(ORNIC_PCI_DEAD, &pci->flags);
}

/* Start it again after ornic_pci_life_stop(). */
void ornic_pci_life_resume(struct ornic_pci *pci)
{
	clear_bit(ORNIC_PCI_STOPPING, &pci->flags);
	pci->retry_at = jiffies;
	pci->return_by = jiffies + msecs_to_jiffies(RETURN_LIMIT_MS);
	pci->pulse.known = false;
	open_gates(pci);
	queue_delayed_work(system_percpu_wq, &pci->watch, 0);
}

/*
 * Stop its DMA for the next kernel. Users keep what they have, and find the
 * device failed.
 */
void ornic_pci_shut_down(struct ornic_pci *pci)
{
	set_bit(ORNIC_PCI_STOPPING, &pci->flags);
	stop_watch(pci);
	stop_update(pci);
	if (pci->up)
		end_life(pci);
	flush_work(&pci->quiesce);
}
