// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * An importer of dma-bufs that asks for DMA between PCI functions, when a test wants it, by
 * ioctls of /dev/ornic_dmabuf_importer. There is no DMA.
 */
#include <linux/dma-buf.h>
#include <linux/dma-resv.h>
#include <linux/fs.h>
#include <linux/io.h>
#include <linux/miscdevice.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/pci.h>
#include <linux/scatterlist.h>
#include <linux/slab.h>
#include <linux/uaccess.h>
#include <linux/workqueue.h>

#include "compat/compat_dmabuf.h"
#include "dmabuf_importer.h"

ORNIC_IMPORT_NS_DMA_BUF;

struct imported {
	struct mutex lock; /* of attach */
	struct dma_buf_attachment *attach; /* NULL: nothing */
	struct pci_dev *function;
	/* Lock of the reservation object */
	struct sg_table *table; /* NULL: it is not mapped */
	u32 moves;
	u32 late_ms; /* from a move to unmap() */
	struct delayed_work unmap_work;
};

static void unmap(struct imported *im)
{
	if (im->table)
		dma_buf_unmap_attachment(im->attach, im->table,
					 DMA_BIDIRECTIONAL);
	im->table = NULL;
}

static void memory_moves(struct dma_buf_attachment *attach)
{
	struct imported *im = attach->importer_priv;

	im->moves++;
	if (im->late_ms && im->table)
		schedule_delayed_work(&im->unmap_work,
				      msecs_to_jiffies(im->late_ms));
	else
		unmap(im);
}

static void unmap_late(struct work_struct *work)
{
	struct imported *im =
		container_of(work, struct imported, unmap_work.work);

	dma_resv_lock(im->attach->dmabuf->resv, NULL);
	unmap(im);
	dma_resv_unlock(im->attach->dmabuf->resv);
}

static const struct dma_buf_attach_ops attach_ops = {
	.allow_peer2peer = true,
	.move_notify = memory_moves,
};

static int attach_to(struct imported *im, struct pci_dev *function, int fd)
{
	struct dma_buf *dmabuf = dma_buf_get(fd);
	struct dma_buf_attachment *attach;

	if (IS_ERR(dmabuf))
		return PTR_ERR(dmabuf);
	attach =
		dma_buf_dynamic_attach(dmabuf, &function->dev, &attach_ops, im);
	if (IS_ERR(attach)) {
		dma_buf_put(dmabuf);
		return PTR_ERR(attach);
	}
	im->function = pci_dev_get(function);
	im->attach = attach;
	return 0;
}

static int attach_ioctl(struct imported *im,
			const struct ornic_importer_attach __user *arg)
{
	struct ornic_importer_attach req;
	struct pci_dev *function;
	int ret;

	if (copy_from_user(&req, arg, sizeof(req)))
		return -EFAULT;
	if (im->attach)
		return -EBUSY;
	function = pci_get_domain_bus_and_slot(req.domain, req.bus, req.devfn);
	if (!function)
		return -ENODEV;
	ret = attach_to(im, function, req.fd);
	pci_dev_put(function);
	return ret;
}

static void describe(const struct sg_table *table,
		     struct ornic_importer_map *rsp)
{
	struct scatterlist *sg;
	int i;

	rsp->address = sg_dma_address(table->sgl);
	rsp->length = 0;
	for_each_sgtable_dma_sg(table, sg, i)
		rsp->length += sg_dma_len(sg);
}

static int map_locked(struct imported *im, struct ornic_importer_map *rsp)
{
	struct sg_table *table;

	if (im->table)
		return -EBUSY;
	table = dma_buf_map_attachment(im->attach, DMA_BIDIRECTIONAL);
	if (IS_ERR(table))
		return PTR_ERR(table);
	im->table = table;
	describe(table, rsp);
	return 0;
}

static int map_ioctl(struct imported *im, struct ornic_importer_map __user *arg)
{
	struct ornic_importer_map rsp;
	int ret;

	if (!im->attach)
		return -EINVAL;
	dma_resv_lock(im->attach->dmabuf->resv, NULL);
	ret = map_locked(im, &rsp);
	dma_resv_unlock(im->attach->dmabuf->resv);
	if (!ret && copy_to_user(arg, &rsp, sizeof(rsp)))
		ret = -EFAULT;
	return ret;
}

static int read_word(const struct imported *im, u32 *word)
{
	void __iomem *at;

	if (!im->table)
		return -EINVAL;
	at = ioremap(sg_dma_address(im->table->sgl), sizeof(*word));
	if (!at)
		return -ENOMEM;
	*word = readl(at);
	iounmap(at);
	return 0;
}

static int word_ioctl(struct imported *im, u32 __user *arg)
{
	u32 word;
	int ret;

	if (!im->attach)
		return -EINVAL;
	dma_resv_lock(im->attach->dmabuf->resv, NULL);
	ret = read_word(im, &word);
	dma_resv_unlock(im->attach->dmabuf->resv);
	if (!ret && put_user(word, arg))
		ret = -EFAULT;
	return ret;
}

static int do_ioctl(struct imported *im, unsigned int cmd, void __user *arg)
{
	switch (cmd) {
	case ORNIC_IMPORTER_ATTACH:
		return attach_ioctl(im, arg);
	case ORNIC_IMPORTER_MAP:
		return map_ioctl(im, arg);
	case ORNIC_IMPORTER_MOVES:
		return put_user(READ_ONCE(im->moves), (u32 __user *)arg);
	case ORNIC_IMPORTER_LATE:
		return get_user(im->late_ms, (u32 __user *)arg);
	case ORNIC_IMPORTER_WORD:
		return word_ioctl(im, arg);
	default:
		return -ENOTTY;
	}
}

static long importer_ioctl(struct file *file, unsigned int cmd,
			   unsigned long arg)
{
	struct imported *im = file->private_data;
	long ret;

	mutex_lock(&im->lock);
	ret = do_ioctl(im, cmd, (void __user *)arg);
	mutex_unlock(&im->lock);
	return ret;
}

static int importer_open(struct inode *inode, struct file *file)
{
	struct imported *im = kzalloc(sizeof(*im), GFP_KERNEL);

	if (!im)
		return -ENOMEM;
	mutex_init(&im->lock);
	INIT_DELAYED_WORK(&im->unmap_work, unmap_late);
	file->private_data = im;
	return 0;
}

static void detach(struct imported *im)
{
	struct dma_buf *dmabuf = im->attach->dmabuf;

	dma_resv_lock(dmabuf->resv, NULL);
	unmap(im);
	dma_resv_unlock(dmabuf->resv);
	/* Of what is not mapped none is scheduled. */
	cancel_delayed_work_sync(&im->unmap_work);
	dma_buf_detach(dmabuf, im->attach);
	dma_buf_put(dmabuf);
	pci_dev_put(im->function);
}

static int importer_release(struct inode *inode, struct file *file)
{
	struct imported *im = file->private_data;

	if (im->attach)
		detach(im);
	kfree(im);
	return 0;
}

static const struct file_operations importer_fops = {
	.owner = THIS_MODULE,
	.open = importer_open,
	.release = importer_release,
	.unlocked_ioctl = importer_ioctl,
};

static struct miscdevice importer_device = {
	.minor = MISC_DYNAMIC_MINOR,
	.name = "ornic_dmabuf_importer",
	.fops = &importer_fops,
};

module_misc_device(importer_device);

MODULE_LICENSE("Dual BSD/GPL");
MODULE_DESCRIPTION("Attachments of PCI functions to dma-bufs, for tests");
