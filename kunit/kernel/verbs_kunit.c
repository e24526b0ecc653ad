// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Verbs of kernel users, on the link srv0 looped back to itself. In the kernel
 * only: ULPs use a few of them, and never wrongly.
 */
#include <kunit/test.h>
#include <linux/delay.h>
#include <linux/if_ether.h>
#include <linux/irq_work.h>
#include <linux/scatterlist.h>
#include <linux/vmalloc.h>
#include <rdma/ib_cache.h>
#include <rdma/ib_verbs.h>

#define DEVICE "srv0"
#define PORT 1
#define INLINE_BYTES 64
#define WAIT_MS 5000
#define LOCAL 0x1122334455667788ull
#define REMOTE 0x99aabbccddeeff00ull
#define ACCESS                                             \
	(IB_ACCESS_LOCAL_WRITE | IB_ACCESS_REMOTE_WRITE |  \
	 IB_ACCESS_REMOTE_READ | IB_ACCESS_REMOTE_ATOMIC | \
	 IB_ACCESS_FLUSH_GLOBAL)

/* Two connected QPs; the second one has registered the page remote. */
struct loop {
	struct ib_device *dev;
	struct ib_pd *pd;
	struct ib_cq *cq;
	struct ib_qp *qp[2];
	struct ib_qp_cap cap;
	struct ib_mr *mr;
	struct scatterlist sg;
	u64 *local;
	u64 *remote;
	struct ib_sge sge; /* the first word of local */
};

/* ---- Fixture ------------------------------------------------------------- */

static const struct ib_gid_attr *roce_gid(struct ib_device *dev)
{
	const struct ib_gid_attr *gid;
	int i;

	for (i = 0; i < 16; i++) {
		gid = rdma_get_gid_attr(dev, PORT, i);
		if (IS_ERR(gid))
			continue;
		if (gid->gid_type == IB_GID_TYPE_ROCE_UDP_ENCAP)
			return gid;
		rdma_put_gid_attr(gid);
	}
	return NULL;
}

static void set_path(struct kunit *test, struct ib_device *dev,
		     struct rdma_ah_attr *ah)
{
	const struct ib_gid_attr *gid = roce_gid(dev);
	u8 mac[ETH_ALEN];
	int ret;

	KUNIT_ASSERT_NOT_NULL(test, gid);
	ret = rdma_read_gid_l2_fields(gid, NULL, mac);
	ah->type = RDMA_AH_ATTR_TYPE_ROCE;
	rdma_ah_set_port_num(ah, PORT);
	rdma_ah_set_grh(ah, (union ib_gid *)&gid->gid, 0, gid->index, 64, 0);
	memcpy(ah->roce.dmac, mac, ETH_ALEN);
	rdma_put_gid_attr(gid);
	KUNIT_ASSERT_EQ(test, ret, 0);
}

static void connect(struct kunit *test, struct ib_qp *qp, u32 dest)
{
	struct ib_qp_attr init = {
		.qp_state = IB_QPS_INIT,
		.port_num = PORT,
		.qp_access_flags = ACCESS,
	};
	struct ib_qp_attr rtr = {
		.qp_state = IB_QPS_RTR,
		.path_mtu = IB_MTU_1024,
		.dest_qp_num = dest,
		.max_dest_rd_atomic = 1,
	};
	struct ib_qp_attr rts = {
		.qp_state = IB_QPS_RTS,
		.timeout = 18,
		.retry_cnt = 7,
		.max_rd_atomic = 1,
	};

	set_path(test, qp->device, &rtr.ah_attr);
	KUNIT_ASSERT_EQ(test, 0,
			ib_modify_qp(qp, &init,
				     IB_QP_STATE | IB_QP_PKEY_INDEX |
					     IB_QP_PORT | IB_QP_ACCESS_FLAGS));
	KUNIT_ASSERT_EQ(test, 0,
			ib_modify_qp(qp, &rtr,
				     IB_QP_STATE | IB_QP_AV | IB_QP_PATH_MTU |
					     IB_QP_DEST_QPN | IB_QP_RQ_PSN |
					     IB_QP_MAX_DEST_RD_ATOMIC |
					     IB_QP_MIN_RNR_TIMER));
	KUNIT_ASSERT_EQ(test, 0,
			ib_modify_qp(qp, &rts,
				     IB_QP_STATE | IB_QP_TIMEOUT |
					     IB_QP_RETRY_CNT | IB_QP_RNR_RETRY |
					     IB_QP_SQ_PSN |
					     IB_QP_MAX_QP_RD_ATOMIC));
}

static struct ib_qp *create_qp(struct loop *loop)
{
	struct ib_qp_init_attr init = {
		.send_cq = loop->cq,
		.recv_cq = loop->cq,
		.cap = {
			.max_send_wr = 8,
			.max_recv_wr = 8,
			.max_send_sge = 2,
			.max_recv_sge = 1,
			.max_inline_data = INLINE_BYTES,
		},
		.sq_sig_type = IB_SIGNAL_ALL_WR,
		.qp_type = IB_QPT_RC,
	};
	struct ib_qp *qp = ib_create_qp(loop->pd, &init);

	loop->cap = init.cap;
	return qp;
}

static bool poll_one(struct loop *loop, struct ib_wc *wc)
{
	int ms;

	for (ms = 0; ms < WAIT_MS; ms++) {
		if (ib_poll_cq(loop->cq, 1, wc) == 1)
			return true;
		usleep_range(1000, 2000);
	}
	return false;
}

/* Is there a completion to poll? Arms the CQ. */
static bool has_completion(struct loop *loop)
{
	int ms;

	for (ms = 0; ms < WAIT_MS; ms++) {
		if (ib_req_notify_cq(loop->cq,
				     IB_CQ_NEXT_COMP |
					     IB_CQ_REPORT_MISSED_EVENTS))
			return true;
		usleep_range(1000, 2000);
	}
	return false;
}

/* Post it, and wait for its completion. */
static void run_wr(struct kunit *test, struct ib_qp *qp,
		   const struct ib_send_wr *wr, struct ib_wc *wc)
{
	KUNIT_ASSERT_EQ(test, ib_post_send(qp, wr, NULL), 0);
	KUNIT_ASSERT_TRUE(test, poll_one(test->priv, wc));
	KUNIT_EXPECT_PTR_EQ(test, wc->qp, qp);
	KUNIT_EXPECT_EQ(test, wc->wr_id, wr->wr_id);
}

static void register_remote(struct kunit *test, struct loop *loop)
{
	struct ib_reg_wr reg = {
		.wr = { .wr_id = 1, .opcode = IB_WR_REG_MR },
		.access = ACCESS,
	};
	struct ib_wc wc;

	loop->mr = ib_alloc_mr(loop->pd, IB_MR_TYPE_MEM_REG, 1);
	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, loop->mr);
	reg.mr = loop->mr;
	reg.key = loop->mr->rkey;
	/* Nothing is mapped yet. */
	KUNIT_EXPECT_EQ(test, ib_post_send(loop->qp[1], &reg.wr, NULL),
			-EINVAL);
	sg_init_one(&loop->sg, loop->remote, PAGE_SIZE);
	KUNIT_ASSERT_EQ(test, 1,
			ib_dma_map_sg(loop->dev, &loop->sg, 1,
				      DMA_BIDIRECTIONAL));
	KUNIT_ASSERT_EQ(test, 1,
			ib_map_mr_sg(loop->mr, &loop->sg, 1, NULL, PAGE_SIZE));
	run_wr(test, loop->qp[1], &reg.wr, &wc);
	KUNIT_ASSERT_EQ(test, wc.status, IB_WC_SUCCESS);
	KUNIT_EXPECT_EQ(test, wc.opcode, IB_WC_REG_MR);
}

static int verbs_init(struct kunit *test)
{
	const struct ib_cq_init_attr cq_attr = { .cqe = 64 };
	struct loop *loop = kunit_kzalloc(test, sizeof(*loop), GFP_KERNEL);
	int i;

	KUNIT_ASSERT_NOT_NULL(test, loop);
	test->priv = loop;
	loop->dev = ib_device_get_by_name(DEVICE, RDMA_DRIVER_UNKNOWN);
	if (!loop->dev)
		kunit_skip(test, "no device " DEVICE);
	loop->local = (u64 *)get_zeroed_page(GFP_KERNEL);
	loop->remote = (u64 *)get_zeroed_page(GFP_KERNEL);
	KUNIT_ASSERT_TRUE(test, loop->local && loop->remote);
	loop->pd = ib_alloc_pd(loop->dev, 0);
	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, loop->pd);
	loop->sge.addr = ib_dma_map_single(loop->dev, loop->local, PAGE_SIZE,
					   DMA_BIDIRECTIONAL);
	loop->sge.length = sizeof(u64);
	loop->sge.lkey = loop->pd->local_dma_lkey;
	loop->cq = ib_create_cq(loop->dev, NULL, NULL, NULL, &cq_attr);
	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, loop->cq);
	for (i = 0; i < 2; i++) {
		loop->qp[i] = create_qp(loop);
		KUNIT_ASSERT_NOT_ERR_OR_NULL(test, loop->qp[i]);
	}
	for (i = 0; i < 2; i++)
		connect(test, loop->qp[i], loop->qp[!i]->qp_num);
	register_remote(test, loop);
	*loop->local = LOCAL;
	*loop->remote = REMOTE;
	return 0;
}

static void verbs_exit(struct kunit *test)
{
	struct loop *loop = test->priv;
	int i;

	if (!loop || !loop->dev)
		return;
	for (i = 0; i < 2; i++)
		if (!IS_ERR_OR_NULL(loop->qp[i]))
			ib_destroy_qp(loop->qp[i]);
	if (!IS_ERR_OR_NULL(loop->mr))
		ib_dereg_mr(loop->mr);
	if (!IS_ERR_OR_NULL(loop->cq))
		ib_destroy_cq(loop->cq);
	if (!IS_ERR_OR_NULL(loop->pd))
		ib_dealloc_pd(loop->pd);
	free_page((unsigned long)loop->local);
	free_page((unsigned long)loop->remote);
	ib_device_put(loop->dev);
}

/* ---- Operations ---------------------------------------------------------- */

static const struct op {
	const char *name;
	enum ib_wr_opcode opcode;
	enum ib_wc_opcode wc_opcode;
	int flags;
	u64 compare_add;
	u64 swap;
	u64 local;
	u64 remote;
} ops[] = {
	{ "write", IB_WR_RDMA_WRITE, IB_WC_RDMA_WRITE, 0, 0, 0, LOCAL, LOCAL },
	{ "inline write", IB_WR_RDMA_WRITE, IB_WC_RDMA_WRITE, IB_SEND_INLINE, 0,
	  0, LOCAL, LOCAL },
	{ "read", IB_WR_RDMA_READ, IB_WC_RDMA_READ, IB_SEND_FENCE, 0, 0, REMOTE,
	  REMOTE },
	{ "fetch and add", IB_WR_ATOMIC_FETCH_AND_ADD, IB_WC_FETCH_ADD, 0, 5, 0,
	  REMOTE, REMOTE + 5 },
	{ "compare and swap", IB_WR_ATOMIC_CMP_AND_SWP, IB_WC_COMP_SWAP, 0,
	  REMOTE, 7, REMOTE, 7 },
	{ "compare and keep", IB_WR_ATOMIC_CMP_AND_SWP, IB_WC_COMP_SWAP, 0,
	  REMOTE + 1, 7, REMOTE, REMOTE },
	{ "atomic write", IB_WR_ATOMIC_WRITE, IB_WC_ATOMIC_WRITE, 0, 0, 0,
	  LOCAL, LOCAL },
	{ "flush", IB_WR_FLUSH, IB_WC_FLUSH, 0, 0, 0, LOCAL, REMOTE },
};

KUNIT_ARRAY_PARAM_DESC(op, ops, name);

static bool is_atomic(const struct op *op)
{
	return op->opcode == IB_WR_ATOMIC_FETCH_AND_ADD ||
	       op->opcode == IB_WR_ATOMIC_CMP_AND_SWP;
}

static struct ib_rdma_wr rdma_wr_of(struct loop *loop, u64 wr_id,
				    enum ib_wr_opcode opcode, int flags)
{
	return (struct ib_rdma_wr){
		.wr = {
			.wr_id = wr_id,
			.opcode = opcode,
			.send_flags = flags,
			.sg_list = &loop->sge,
			.num_sge = 1,
		},
		.remote_addr = loop->mr->iova,
		.rkey = loop->mr->rkey,
	};
}

static void operation_moves_a_word(struct kunit *test)
{
	const struct op *op = test->param_value;
	struct loop *loop = test->priv;
	struct ib_rdma_wr rdma = rdma_wr_of(loop, 2, op->opcode, op->flags);
	struct ib_atomic_wr atomic = {
		.wr = rdma.wr,
		.remote_addr = rdma.remote_addr,
		.rkey = rdma.rkey,
		.compare_add = op->compare_add,
		.swap = op->swap,
	};
	struct ib_wc wc;

	run_wr(test, loop->qp[0], is_atomic(op) ? &atomic.wr : &rdma.wr, &wc);
	KUNIT_EXPECT_EQ(test, wc.status, IB_WC_SUCCESS);
	KUNIT_EXPECT_EQ(test, wc.opcode, op->wc_opcode);
	KUNIT_EXPECT_EQ(test, *loop->local, op->local);
	KUNIT_EXPECT_EQ(test, *loop->remote, op->remote);
}

/* The key that the SEND names is invalid afterwards, IBTA 10.6.5. */
static void send_with_invalidate_ends_the_key(struct kunit *test)
{
	struct loop *loop = test->priv;
	struct ib_recv_wr recv = {
		.wr_id = 3,
		.sg_list = &loop->sge,
		.num_sge = 1,
	};
	struct ib_rdma_wr write = rdma_wr_of(loop, 5, IB_WR_RDMA_WRITE, 0);
	struct ib_send_wr send = write.wr;
	struct ib_wc wc[2];
	const struct ib_wc *got = wc;

	send.wr_id = 4;
	send.opcode = IB_WR_SEND_WITH_INV;
	send.ex.invalidate_rkey = loop->mr->rkey;
	KUNIT_ASSERT_EQ(test, ib_post_recv(loop->qp[1], &recv, NULL), 0);
	KUNIT_ASSERT_EQ(test, ib_post_send(loop->qp[0], &send, NULL), 0);
	KUNIT_ASSERT_TRUE(test, poll_one(loop, &wc[0]));
	KUNIT_ASSERT_TRUE(test, poll_one(loop, &wc[1]));
	if (got->wr_id != 3)
		got++;
	KUNIT_EXPECT_EQ(test, got->wr_id, 3);
	KUNIT_EXPECT_EQ(test, got->status, IB_WC_SUCCESS);
	KUNIT_EXPECT_EQ(test, got->opcode, IB_WC_RECV);
	KUNIT_EXPECT_TRUE(test, got->wc_flags & IB_WC_WITH_INVALIDATE);
	KUNIT_EXPECT_EQ(test, got->ex.invalidate_rkey, loop->mr->rkey);

	run_wr(test, loop->qp[0], &write.wr, wc);
	KUNIT_EXPECT_EQ(test, wc->status, IB_WC_REM_ACCESS_ERR);
	KUNIT_EXPECT_EQ(test, *loop->remote, REMOTE);
}

/* ---- MRs with gaps --------------------------------------------------------- */

#define GAPS 6
#define GAP_BYTE 0x5a

/* Pieces of the page remote, none of them aligned, with gaps of @GAP_BYTE. */
static u32 make_sgl(struct loop *loop, struct scatterlist *sgl)
{
	static const u32 len[GAPS] = { 1, 509, 8, 77, 1200, 3 };
	u32 at = 5, bytes = 0, i;

	memset(loop->remote, GAP_BYTE, PAGE_SIZE);
	sg_init_table(sgl, GAPS);
	for (i = 0; i < GAPS; i++) {
		sg_set_buf(&sgl[i], (u8 *)loop->remote + at, len[i]);
		at += len[i] + 11;
		bytes += len[i];
	}
	return bytes;
}

static void check_pieces(struct kunit *test, struct loop *loop,
			 struct scatterlist *sgl)
{
	const u8 *local = (const u8 *)loop->local;
	const u8 *end = (const u8 *)loop->remote;
	struct scatterlist *sg;
	int i;

	for_each_sg(sgl, sg, GAPS, i) {
		const u8 *at = sg_virt(sg);

		KUNIT_EXPECT_NULL(test, memchr_inv(end, GAP_BYTE, at - end));
		KUNIT_EXPECT_EQ(test, memcmp(at, local, sg->length), 0);
		local += sg->length;
		end = at + sg->length;
	}
	KUNIT_EXPECT_NULL(test,
			  memchr_inv(end, GAP_BYTE,
				     (u8 *)loop->remote + PAGE_SIZE - end));
}

/* Registers @sgl with a new MR with gaps in the place of that of the fixture. */
static void register_gaps(struct kunit *test, struct loop *loop,
			  struct scatterlist *sgl, u32 bytes)
{
	struct ib_reg_wr reg = {
		.wr = { .wr_id = 20, .opcode = IB_WR_REG_MR },
		.access = ACCESS,
	};
	struct ib_wc wc;
	u32 offset = 0;

	KUNIT_ASSERT_EQ(test, ib_dereg_mr(loop->mr), 0);
	loop->mr = ib_alloc_mr(loop->pd, IB_MR_TYPE_SG_GAPS, GAPS);
	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, loop->mr);
	KUNIT_ASSERT_EQ(test, GAPS,
			ib_dma_map_sg(loop->dev, sgl, GAPS, DMA_BIDIRECTIONAL));
	KUNIT_ASSERT_EQ(test, GAPS,
			ib_map_mr_sg(loop->mr, sgl, GAPS, &offset, SZ_4K));
	KUNIT_EXPECT_EQ(test, loop->mr->length, bytes);
	KUNIT_EXPECT_EQ(test, loop->mr->iova, sg_dma_address(sgl));
	reg.mr = loop->mr;
	ib_update_fast_reg_key(loop->mr, 7);
	reg.key = loop->mr->rkey;
	run_wr(test, loop->qp[1], &reg.wr, &wc);
	KUNIT_ASSERT_EQ(test, wc.status, IB_WC_SUCCESS);
}

static void gaps_are_left_alone(struct kunit *test)
{
	struct loop *loop = test->priv;
	struct scatterlist *sgl =
		kunit_kzalloc(test, GAPS * sizeof(*sgl), GFP_KERNEL);
	struct ib_rdma_wr rdma;
	struct ib_wc wc;
	u32 bytes, i;

	KUNIT_ASSERT_NOT_NULL(test, sgl);
	if (!(loop->dev->attrs.kernel_cap_flags & IBK_SG_GAPS_REG))
		kunit_skip(test, "no MRs with gaps");
	bytes = make_sgl(loop, sgl);
	register_gaps(test, loop, sgl, bytes);
	for (i = 0; i < bytes; i++)
		((u8 *)loop->local)[i] = i * 7;
	rdma = rdma_wr_of(loop, 21, IB_WR_RDMA_WRITE, 0);
	loop->sge.length = bytes;
	run_wr(test, loop->qp[0], &rdma.wr, &wc);
	KUNIT_EXPECT_EQ(test, wc.status, IB_WC_SUCCESS);
	check_pieces(test, loop, sgl);

	memset(loop->local, 0, PAGE_SIZE);
	rdma = rdma_wr_of(loop, 22, IB_WR_RDMA_READ, 0);
	run_wr(test, loop->qp[0], &rdma.wr, &wc);
	KUNIT_EXPECT_EQ(test, wc.status, IB_WC_SUCCESS);
	KUNIT_EXPECT_EQ(test, ((u8 *)loop->local)[bytes - 1],
			(u8)((bytes - 1) * 7));
	check_pieces(test, loop, sgl);

	loop->sge.length = bytes + 1;
	rdma = rdma_wr_of(loop, 23, IB_WR_RDMA_WRITE, 0);
	run_wr(test, loop->qp[0], &rdma.wr, &wc);
	KUNIT_EXPECT_EQ(test, wc.status, IB_WC_REM_ACCESS_ERR);
	check_pieces(test, loop, sgl);
}

/* What does not fit is left for another MR, as with pages; bad lists are refused. */
static void gaps_map_what_fits(struct kunit *test)
{
	struct loop *loop = test->priv;
	struct scatterlist *sgl =
		kunit_kzalloc(test, GAPS * sizeof(*sgl), GFP_KERNEL);
	u32 offset = 2;
	struct ib_mr *mr;

	KUNIT_ASSERT_NOT_NULL(test, sgl);
	make_sgl(loop, sgl);
	KUNIT_EXPECT_EQ(test,
			PTR_ERR(ib_alloc_mr(loop->pd, IB_MR_TYPE_SG_GAPS, 513)),
			-EINVAL);
	mr = ib_alloc_mr(loop->pd, IB_MR_TYPE_SG_GAPS, GAPS - 2);
	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, mr);
	KUNIT_ASSERT_EQ(test, GAPS,
			ib_dma_map_sg(loop->dev, sgl, GAPS, DMA_BIDIRECTIONAL));
	KUNIT_EXPECT_EQ(test, GAPS - 2,
			ib_map_mr_sg(mr, sgl, GAPS, NULL, SZ_4K));
	KUNIT_EXPECT_EQ(test, mr->length, 1 + 509 + 8 + 77);
	/* From within the second entry on. */
	KUNIT_EXPECT_EQ(test, 3, ib_map_mr_sg(mr, sgl + 1, 3, &offset, SZ_4K));
	KUNIT_EXPECT_EQ(test, mr->length, 507 + 8 + 77);
	KUNIT_EXPECT_EQ(test, mr->iova, sg_dma_address(sgl + 1) + 2);
	KUNIT_EXPECT_EQ(test, offset, 0);
	offset = 510;
	KUNIT_EXPECT_EQ(test, -EINVAL,
			ib_map_mr_sg(mr, sgl + 1, 3, &offset, SZ_4K));
	KUNIT_EXPECT_EQ(test, -EINVAL, ib_map_mr_sg(mr, sgl, 0, NULL, SZ_4K));
	KUNIT_EXPECT_EQ(test, ib_dereg_mr(mr), 0);
}

/* ---- Refusals ------------------------------------------------------------ */

static const struct bad {
	const char *name;
	enum ib_wr_opcode opcode;
	int flags;
	int num_sge; /* beyond what the QP has, if above 1 */
	u32 length;
} bad_rows[] = {
	{ "unknown opcode", IB_WR_LSO, 0, 1, 8 },
	{ "unknown flag", IB_WR_RDMA_WRITE, IB_SEND_IP_CSUM, 1, 8 },
	{ "negative SGEs", IB_WR_RDMA_WRITE, 0, -1, 8 },
	{ "too many SGEs", IB_WR_RDMA_WRITE, 0, 2, 8 },
	{ "inline too long", IB_WR_RDMA_WRITE, IB_SEND_INLINE, 1, 2048 },
	{ "inline read", IB_WR_RDMA_READ, IB_SEND_INLINE, 1, 8 },
};

KUNIT_ARRAY_PARAM_DESC(bad, bad_rows, name);

/*
 * A key of all DMA memory is good for what the kernel has mapped for certain: not for
 * the addresses of vmalloc(), nearly all of which are nobody's.
 */
static void no_dma_memory_is_refused(struct kunit *test)
{
	struct loop *loop = test->priv;
	struct ib_rdma_wr rdma = rdma_wr_of(loop, 5, IB_WR_RDMA_WRITE, 0);
	void *area = vmalloc(PAGE_SIZE);
	struct ib_wc wc;

	KUNIT_ASSERT_NOT_NULL(test, area);
	loop->sge.addr = (uintptr_t)area;
	KUNIT_EXPECT_EQ(test, ib_post_send(loop->qp[0], &rdma.wr, NULL), 0);
	if (poll_one(loop, &wc))
		KUNIT_EXPECT_EQ(test, wc.status, IB_WC_LOC_PROT_ERR);
	else
		KUNIT_FAIL(test, "no completion");
	KUNIT_EXPECT_EQ(test, *loop->remote, REMOTE);
	vfree(area);
}

/* What is before it in the list is executed, IBTA 11.4.1.1. */
static void bad_request_is_refused_alone(struct kunit *test)
{
	const struct bad *bad = test->param_value;
	struct loop *loop = test->priv;
	struct ib_rdma_wr good = rdma_wr_of(loop, 6, IB_WR_RDMA_WRITE, 0);
	struct ib_rdma_wr wrong = rdma_wr_of(loop, 7, bad->opcode, bad->flags);
	struct ib_sge sge = loop->sge;
	const struct ib_send_wr *at = NULL;
	struct ib_wc wc;

	sge.length = bad->length;
	wrong.wr.sg_list = &sge;
	wrong.wr.num_sge = bad->num_sge > 1 ? loop->cap.max_send_sge + 1 :
					      bad->num_sge;
	good.wr.next = &wrong.wr;
	KUNIT_ASSERT_LT(test, loop->cap.max_inline_data, 2048);
	KUNIT_EXPECT_EQ(test, ib_post_send(loop->qp[0], &good.wr, &at),
			-EINVAL);
	KUNIT_EXPECT_PTR_EQ(test, at, (const struct ib_send_wr *)&wrong.wr);
	KUNIT_ASSERT_TRUE(test, poll_one(loop, &wc));
	KUNIT_EXPECT_EQ(test, wc.wr_id, 6);
	KUNIT_EXPECT_EQ(test, wc.status, IB_WC_SUCCESS);
	KUNIT_EXPECT_EQ(test, ib_poll_cq(loop->cq, 1, &wc), 0);
}

static void full_queues_refuse(struct kunit *test)
{
	struct loop *loop = test->priv;
	struct ib_rdma_wr write = rdma_wr_of(loop, 8, IB_WR_RDMA_WRITE, 0);
	struct ib_recv_wr recv = { .sg_list = &loop->sge, .num_sge = 1 };
	struct ib_wc wc;
	u32 i;

	for (i = 0; i < loop->cap.max_send_wr; i++)
		KUNIT_ASSERT_EQ(test,
				ib_post_send(loop->qp[0], &write.wr, NULL), 0);
	KUNIT_EXPECT_EQ(test, ib_post_send(loop->qp[0], &write.wr, NULL),
			-ENOMEM);
	KUNIT_ASSERT_TRUE(test, poll_one(loop, &wc));
	KUNIT_EXPECT_EQ(test, ib_post_send(loop->qp[0], &write.wr, NULL), 0);

	for (i = 0; i < loop->cap.max_recv_wr; i++)
		KUNIT_ASSERT_EQ(test, ib_post_recv(loop->qp[1], &recv, NULL),
				0);
	KUNIT_EXPECT_EQ(test, ib_post_recv(loop->qp[1], &recv, NULL), -ENOMEM);
	recv.num_sge = loop->cap.max_recv_sge + 1;
	KUNIT_EXPECT_EQ(test, ib_post_recv(loop->qp[0], &recv, NULL), -EINVAL);
}

static void reset_qp_refuses(struct kunit *test)
{
	struct loop *loop = test->priv;
	struct ib_rdma_wr write = rdma_wr_of(loop, 9, IB_WR_RDMA_WRITE, 0);
	struct ib_recv_wr recv = { .sg_list = &loop->sge, .num_sge = 1 };
	struct ib_qp *qp = create_qp(loop);

	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, qp);
	KUNIT_EXPECT_EQ(test, ib_post_send(qp, &write.wr, NULL), -EINVAL);
	KUNIT_EXPECT_EQ(test, ib_post_recv(qp, &recv, NULL), -EINVAL);
	KUNIT_EXPECT_EQ(test, ib_destroy_qp(qp), 0);
}

static void full_srq_refuses(struct kunit *test)
{
	struct loop *loop = test->priv;
	struct ib_srq_init_attr init = {
		.attr = { .max_wr = 4, .max_sge = 1 },
	};
	struct ib_recv_wr recv = { .sg_list = &loop->sge, .num_sge = 1 };
	struct ib_srq_attr limit = { .srq_limit = 2 }, attr = {};
	struct ib_srq *srq = ib_create_srq(loop->pd, &init);
	u32 i;

	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, srq);
	for (i = 0; i < init.attr.max_wr; i++)
		KUNIT_EXPECT_EQ(test, ib_post_srq_recv(srq, &recv, NULL), 0);
	KUNIT_EXPECT_EQ(test, ib_post_srq_recv(srq, &recv, NULL), -ENOMEM);
	KUNIT_EXPECT_EQ(test, ib_modify_srq(srq, &limit, IB_SRQ_LIMIT), 0);
	KUNIT_EXPECT_EQ(test, ib_query_srq(srq, &attr), 0);
	KUNIT_EXPECT_EQ(test, attr.srq_limit, 2);
	KUNIT_EXPECT_EQ(test, attr.max_wr, init.attr.max_wr);
	ib_destroy_srq(srq);
}

/* ---- Completions --------------------------------------------------------- */

static void notify_reports_missed_events(struct kunit *test)
{
	struct loop *loop = test->priv;
	struct ib_rdma_wr write = rdma_wr_of(loop, 10, IB_WR_RDMA_WRITE, 0);
	struct ib_rdma_wr fence = rdma_wr_of(loop, 11, IB_WR_RDMA_READ, 0);
	struct ib_wc wc;

	KUNIT_EXPECT_EQ(test, 0,
			ib_req_notify_cq(loop->cq,
					 IB_CQ_SOLICITED |
						 IB_CQ_REPORT_MISSED_EVENTS));
	KUNIT_ASSERT_EQ(test, ib_post_send(loop->qp[0], &write.wr, NULL), 0);
	KUNIT_ASSERT_EQ(test, ib_post_send(loop->qp[0], &fence.wr, NULL), 0);
	KUNIT_ASSERT_TRUE(test, poll_one(loop, &wc));
	KUNIT_ASSERT_TRUE(test, poll_one(loop, &wc));
	KUNIT_EXPECT_EQ(test, wc.wr_id, 11);
	KUNIT_ASSERT_EQ(test, ib_post_send(loop->qp[0], &write.wr, NULL), 0);
	KUNIT_ASSERT_TRUE(test, has_completion(loop));
	KUNIT_EXPECT_EQ(test, ib_poll_cq(loop->cq, 1, &wc), 1);
}

struct interrupt {
	struct irq_work work;
	struct loop *loop;
	int ret;
};

static void post_from_interrupt(struct irq_work *work)
{
	struct interrupt *irq = container_of(work, struct interrupt, work);
	struct ib_rdma_wr write =
		rdma_wr_of(irq->loop, 14, IB_WR_RDMA_WRITE, 0);

	irq->ret = ib_post_send(irq->loop->qp[0], &write.wr, NULL);
}

/* In any context: lockdep knows what interrupts may not take. */
static void interrupt_posts(struct kunit *test)
{
	struct loop *loop = test->priv;
	struct interrupt irq = {
		.work = IRQ_WORK_INIT_HARD(post_from_interrupt),
		.loop = loop,
		.ret = -EINPROGRESS,
	};
	struct ib_wc wc;

	irq_work_queue(&irq.work);
	irq_work_sync(&irq.work);
	KUNIT_EXPECT_EQ(test, irq.ret, 0);
	KUNIT_ASSERT_TRUE(test, poll_one(loop, &wc));
	KUNIT_EXPECT_EQ(test, wc.wr_id, 14);
	KUNIT_EXPECT_EQ(test, wc.status, IB_WC_SUCCESS);
	KUNIT_EXPECT_EQ(test, *loop->remote, LOCAL);
}

/* Nobody polls them: their wr_id may point to what is freed with the QP. */
static void destroyed_qp_completes_nothing(struct kunit *test)
{
	struct loop *loop = test->priv;
	struct ib_rdma_wr write = rdma_wr_of(loop, 12, IB_WR_RDMA_WRITE, 0);
	struct ib_send_wr inv = {
		.wr_id = 13,
		.opcode = IB_WR_LOCAL_INV,
		.ex.invalidate_rkey = loop->mr->rkey,
	};
	struct ib_wc wc;

	KUNIT_ASSERT_EQ(test, ib_post_send(loop->qp[0], &write.wr, NULL), 0);
	KUNIT_ASSERT_TRUE(test, has_completion(loop));
	KUNIT_ASSERT_EQ(test, ib_destroy_qp(loop->qp[0]), 0);
	loop->qp[0] = NULL;
	run_wr(test, loop->qp[1], &inv, &wc);
	KUNIT_EXPECT_EQ(test, wc.status, IB_WC_SUCCESS);
	KUNIT_EXPECT_EQ(test, wc.opcode, IB_WC_LOCAL_INV);
	KUNIT_EXPECT_EQ(test, ib_poll_cq(loop->cq, 1, &wc), 0);
}

struct flushed {
	struct ib_cqe cqe;
	struct task_struct *poster;
	atomic_t all;
	atomic_t in_post;
};

static void count_flushed(struct ib_cq *cq, struct ib_wc *wc)
{
	struct flushed *flushed = container_of(wc->wr_cqe, struct flushed, cqe);

	if (current == flushed->poster)
		atomic_inc(&flushed->in_post);
	atomic_inc(&flushed->all);
}

/* Or who posts as long as it has buffers, and has them back at once, never ends. */
static void receive_is_not_flushed_in_its_post(struct kunit *test)
{
	struct loop *loop = test->priv;
	struct flushed flushed = {
		.cqe.done = count_flushed,
		.poster = current,
	};
	struct ib_recv_wr recv = {
		.wr_cqe = &flushed.cqe,
		.sg_list = &loop->sge,
		.num_sge = 1,
	};
	struct ib_qp_attr attr = { .qp_state = IB_QPS_ERR };
	struct ib_cq *cq, *polled = loop->cq;
	struct ib_qp *qp;
	u32 i, n = 0;

	cq = ib_alloc_cq(loop->dev, NULL, 64, 0, IB_POLL_SOFTIRQ);
	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, cq);
	loop->cq = cq;
	qp = create_qp(loop);
	loop->cq = polled;
	if (IS_ERR(qp)) {
		ib_free_cq(cq);
		KUNIT_FAIL(test, "no QP");
		return;
	}
	connect(test, qp, qp->qp_num);
	KUNIT_EXPECT_EQ(test, ib_modify_qp(qp, &attr, IB_QP_STATE), 0);
	for (i = 0; i < 4 * loop->cap.max_recv_wr; i++)
		n += !ib_post_recv(qp, &recv, NULL);
	for (i = 0; i < WAIT_MS && atomic_read(&flushed.all) < n; i++)
		usleep_range(1000, 2000);
	KUNIT_EXPECT_GE(test, n, loop->cap.max_recv_wr);
	KUNIT_EXPECT_EQ(test, atomic_read(&flushed.all), n);
	KUNIT_EXPECT_EQ(test, atomic_read(&flushed.in_post), 0);
	ib_destroy_qp(qp);
	ib_free_cq(cq);
}

static struct kunit_case verbs_cases[] = {
	KUNIT_CASE_PARAM(operation_moves_a_word, op_gen_params),
	KUNIT_CASE(send_with_invalidate_ends_the_key),
	KUNIT_CASE(gaps_are_left_alone),
	KUNIT_CASE(gaps_map_what_fits),
	KUNIT_CASE(no_dma_memory_is_refused),
	KUNIT_CASE_PARAM(bad_request_is_refused_alone, bad_gen_params),
	KUNIT_CASE(full_queues_refuse),
	KUNIT_CASE(reset_qp_refuses),
	KUNIT_CASE(full_srq_refuses),
	KUNIT_CASE(notify_reports_missed_events),
	KUNIT_CASE(interrupt_posts),
	KUNIT_CASE(destroyed_qp_completes_nothing),
	KUNIT_CASE(receive_is_not_flushed_in_its_post),
	{}
};

static struct kunit_suite verbs_suite = {
	.name = "ornic_verbs",
	.init = verbs_init,
	.exit = verbs_exit,
	.test_cases = verbs_cases,
};

kunit_test_suite(verbs_suite);

MODULE_DESCRIPTION("Verbs of kernel users of ornic");
MODULE_LICENSE("Dual BSD/GPL");
