// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* User contexts: how the provider kicks, and the limits it has to know. */
#include "ornic_ucontext.h"

#include <rdma/ornic-abi.h>

#include "ornic_dev.h"
#include "ornic_doorbell.h"
#include "ornic_queue.h"
#include "ornic_udata.h"
#include "ornic_verbs.h"

/**
 * ornic_describe_ucontext - what the provider has to know
 * @context: context
 *
 * Context: any.
 * Return: the response of alloc_ucontext.
 */
struct ornic_alloc_ucontext_resp
ornic_describe_ucontext(const struct ornic_ib_ucontext *context)
{
	const struct ornic_ib_dev *dev = to_odev(context->ibctx.device);
	struct ornic_alloc_ucontext_resp resp = {
		.hw_version = dev->caps.hw_version,
		.kick_mode = dev->bus->kick_mode,
		.max_sge = dev->caps.max_sge,
		.max_inline = dev->caps.max_inline,
		.max_wqe = 1u << dev->caps.log_max_wqe,
		.max_cqe = 1u << dev->caps.log_max_cqe,
	};

	if (context->page) {
		resp.kick_mmap = ornic_mmap_offset(context->page);
		resp.kick_offset = dev->bus->kick_offset;
		resp.kick_value = dev->bus->kick_value;
	}
	return resp;
}

static int put_response(const struct ornic_ib_ucontext *context,
			struct ib_udata *udata)
{
	struct ornic_alloc_ucontext_resp resp;

	resp = ornic_describe_ucontext(context);
	return ornic_udata_put(udata, &resp, sizeof(resp));
}

/**
 * ornic_ib_alloc_ucontext - ib_device_ops.alloc_ucontext
 * @context: new context
 * @udata: struct ornic_alloc_ucontext_resp
 *
 * Context: process, may sleep.
 * Return: 0; -EINVAL, -EFAULT for bad driver data; -ENOMEM.
 */
int ornic_ib_alloc_ucontext(struct ib_ucontext *context, struct ib_udata *udata)
{
	struct ornic_ib_ucontext *octx = to_oucontext(context);
	struct ornic_ib_dev *dev = to_odev(context->device);
	int ret;

	ret = ornic_udata_none(udata);
	if (ret)
		return ret;
	octx->kicks = ornic_kick_set_alloc(dev->bus);
	if (!octx->kicks)
		return -ENOMEM;

	if (dev->bus->kick_mode == ORNIC_KICK_PAGE) {
		octx->page =
			ornic_mmap_add_doorbell(context, dev->bus->kick_pfn);
		if (IS_ERR(octx->page)) {
			ret = PTR_ERR(octx->page);
			goto err_free_kicks;
		}
	}
	ret = put_response(octx, udata);
	if (ret)
		goto err_remove_page;
	return 0;

err_remove_page:
	ornic_mmap_remove(octx->page);
err_free_kicks:
	ornic_kick_set_free(octx->kicks);
	return ret;
}

/**
 * ornic_ib_dealloc_ucontext - ib_device_ops.dealloc_ucontext
 * @context: without objects
 *
 * Context: process, may sleep.
 */
void ornic_ib_dealloc_ucontext(struct ib_ucontext *context)
{
	struct ornic_ib_ucontext *octx = to_oucontext(context);

	ornic_mmap_remove(octx->page);
	ornic_kick_set_free(octx->kicks);
}

/**
 * ornic_ib_disassociate_ucontext - ib_device_ops.disassociate_ucontext
 * @context: whose device goes away
 *
 * That it exists allows the device to go while users have it open. ib_core
 * has destroyed all objects by now and zapped the doorbell page; mapped queue
 * memory belongs to its mappings, and doorbell files have let go.
 *
 * Context: process.
 */
void ornic_ib_disassociate_ucontext(struct ib_ucontext *context)
{
}
