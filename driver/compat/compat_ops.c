// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Verbs as the kernel calls them, made of those of ornic_verbs.h. If a new
 * kernel calls one in another way, the build fails here: it needs a file in
 * driver/probe, and its variant here.
 */
#include "compat/compat_ops.h"

#include <linux/err.h>
#include <rdma/ib_verbs.h>
#include <rdma/rdma_counter.h>
#include <rdma/uverbs_ioctl.h>

#include "compat_features.h"
#include "ornic_verbs.h"

#if ORNIC_HAVE_CREATE_CQ_ATTRS
static int create_cq(struct ib_cq *ibcq, const struct ib_cq_init_attr *attr,
		     struct uverbs_attr_bundle *attrs)
{
	return ornic_ib_create_cq(ibcq, attr,
				  attrs ? &attrs->driver_udata : NULL);
}
#else
static int create_cq(struct ib_cq *ibcq, const struct ib_cq_init_attr *attr,
		     struct ib_udata *udata)
{
	return ornic_ib_create_cq(ibcq, attr, udata);
}
#endif

#if !ORNIC_HAVE_RESIZE_USER_CQ
static int resize_cq(struct ib_cq *ibcq, int cqe, struct ib_udata *udata)
{
	return ornic_ib_resize_cq(ibcq, cqe, udata);
}
#endif

#if ORNIC_HAVE_REG_MR_DMAH
static struct ib_mr *reg_mr(struct ib_pd *ibpd, u64 start, u64 length, u64 iova,
			    int access, struct ib_dmah *dmah,
			    struct ib_udata *udata)
{
	if (dmah)
		return ERR_PTR(-EOPNOTSUPP);
	return ornic_ib_reg_user_mr(ibpd, start, length, iova, access, udata);
}

static struct ib_mr *reg_dmabuf(struct ib_pd *ibpd, u64 offset, u64 length,
				u64 iova, int fd, int access,
				struct ib_dmah *dmah,
				struct uverbs_attr_bundle *attrs)
{
	if (dmah)
		return ERR_PTR(-EOPNOTSUPP);
	return ornic_ib_reg_user_mr_dmabuf(ibpd, offset, length, iova, fd,
					   access, &attrs->driver_udata);
}
#else
#define reg_mr ornic_ib_reg_user_mr

#if ORNIC_HAVE_REG_DMABUF_ATTRS
static struct ib_mr *reg_dmabuf(struct ib_pd *ibpd, u64 offset, u64 length,
				u64 iova, int fd, int access,
				struct uverbs_attr_bundle *attrs)
{
	return ornic_ib_reg_user_mr_dmabuf(ibpd, offset, length, iova, fd,
					   access, &attrs->driver_udata);
}
#else
#define reg_dmabuf ornic_ib_reg_user_mr_dmabuf
#endif
#endif

#if ORNIC_HAVE_COUNTER_PORT
static int bind_qp(struct rdma_counter *counter, struct ib_qp *ibqp, u32 port)
{
	return ornic_ib_counter_bind_qp(counter, ibqp);
}

static int unbind_qp(struct ib_qp *ibqp, u32 port)
{
	return ornic_ib_counter_unbind_qp(ibqp);
}
#else
#define bind_qp ornic_ib_counter_bind_qp
#define unbind_qp ornic_ib_counter_unbind_qp
#endif

#if ORNIC_HAVE_COUNTER_INIT
/* ib_core calls it, and has zeroed the counter. */
static void init_counter(struct rdma_counter *counter)
{
}
#endif

const struct ib_device_ops ornic_compat_ops = {
	.counter_bind_qp = bind_qp,
	.counter_unbind_qp = unbind_qp,
#if ORNIC_HAVE_COUNTER_INIT
	.counter_init = init_counter,
	.size_rdma_counter = sizeof(struct rdma_counter),
#endif
	.create_cq = create_cq,
#if ORNIC_HAVE_CREATE_USER_CQ
	.create_user_cq = create_cq,
#endif
#if ORNIC_HAVE_FILL_RES_SRQ
	.fill_res_srq_entry = ornic_ib_fill_res_srq_entry,
#endif
#if ORNIC_HAVE_QUERY_PORT_SPEED
	.query_port_speed = ornic_ib_query_port_speed,
#endif
#if ORNIC_HAVE_RESIZE_USER_CQ
	.resize_user_cq = ornic_ib_resize_cq,
#else
	.resize_cq = resize_cq,
#endif
	.reg_user_mr = reg_mr,
	.reg_user_mr_dmabuf = reg_dmabuf,
};
