// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Allocation faults: each allocation of a life of every object fails once. On
 * the host only; in the kernel failslab does the same for engine and driver.
 */
#include <kunit/test.h>

#include "pair_fixture.h"
#include "raw_frames.h"
#include "engine/dev.h"

#define RC ORNIC_QPT_RC
#define UC ORNIC_QPT_UC
#define UD ORNIC_QPT_UD
#define INI ORNIC_QPT_XRC_INI
#define TGT ORNIC_QPT_XRC_TGT
#define DOMAIN 7
#define BYTES 10000u
#define QPS 8

/**
 * struct life - a device and its objects
 * @account: what all of it has allocated
 * @pair: one device, which is both ends
 * @list, @tree: MRs by a list of pages, and by a list of lists
 * @qp: pairs of peers: RC, UC to the SRQ, XRC, UD to a group
 * @raw, @spread: raw packet QP, and one without queues that it gets frames from
 * @mkey: FRMR, memory windows, FRMR with gaps
 * @set: counter set
 */
struct life {
	struct ornic_account account;
	struct ornic_th_pair pair;
	struct ornic_th_cq scq;
	struct ornic_th_cq rcq;
	struct ornic_th_srq srq;
	struct ornic_th_srq xsrq;
	struct ornic_th_mr run;
	struct ornic_th_mr list;
	struct ornic_th_mr tree;
	struct ornic_th_qp qp[QPS];
	struct ornic_th_qp gsi;
	struct ornic_th_qp raw;
	struct ornic_th_qp spread;
	u32 mkey[4];
	u32 ah;
	u32 set;
	u32 cntr;
	u32 flow;
};

static int alloc_init(struct kunit *test)
{
	struct life *life = kunit_kzalloc(test, sizeof(*life), GFP_KERNEL);

	test->priv = life;
	if (!life)
		return -ENOMEM;
	life->account.limit = U64_MAX;
	ornic_account = &life->account;
	return 0;
}

static void alloc_exit(struct kunit *test)
{
	struct life *life = test->priv;

	ornic_th_pair_fini(&life->pair);
	ornic_account = NULL;
}

/* ---- What may run out of memory, one object each ------------------------------- */

static int make_device(struct life *l)
{
	return ornic_th_pair_init(&l->pair, 1, true) ? ORNIC_NO_RESOURCE :
						       ORNIC_OK;
}

/* Those of the wire, which is not the device's. */
static int make_frames(struct life *l)
{
	return ornic_th_make_frames(l->pair.a, 16) ? ORNIC_NO_RESOURCE :
						     ORNIC_OK;
}

static int make_scq(struct life *l)
{
	return ornic_th_cq_init(l->pair.a, &l->scq, 7);
}

static int make_rcq(struct life *l)
{
	return ornic_th_cq_init(l->pair.a, &l->rcq, 7);
}

static int resize_rcq(struct life *l)
{
	return ornic_th_cq_resize(&l->rcq, 8);
}

static int make_srq(struct life *l)
{
	return ornic_th_srq_init(l->pair.a, &l->srq, 4, 4);
}

static int resize_srq(struct life *l)
{
	return ornic_th_srq_resize(&l->srq, 5);
}

static int make_xsrq(struct life *l)
{
	return ornic_th_xsrq_init(l->pair.a, &l->xsrq, 4, DOMAIN, &l->rcq);
}

static int make_run(struct life *l)
{
	return ornic_th_mr_init(l->pair.a, &l->run, BYTES, 0, 0,
				ORNIC_ACCESS_MASK);
}

static int make_list(struct life *l)
{
	return ornic_th_mr_init(l->pair.a, &l->list, BYTES, 100, 1,
				ORNIC_ACCESS_MASK);
}

static int make_for_tree(struct life *l)
{
	return ornic_th_mr_init(l->pair.a, &l->tree, BYTES, 100, 1,
				ORNIC_ACCESS_MASK);
}

/* Describe the memory of @tree anew, by a list of one list. */
static int rereg_tree(struct life *l)
{
	struct ornic_th *th = l->pair.a;
	u8 *lists = ornic_th_alloc(th, 2 * 4096);
	__le64 *entry = (__le64 *)lists;
	union ornic_req req;
	union ornic_rsp rsp;
	int status;
	u32 i;

	if (!lists)
		return ORNIC_NO_RESOURCE;
	memset(&req, 0, sizeof(req));
	req.hdr.opcode = ORNIC_CMD_MODIFY_MKEY;
	req.hdr.obj = cpu_to_le32(l->tree.key);
	req.modify_mkey.mem.addr = cpu_to_le64((u64)(uintptr_t)lists);
	req.modify_mkey.mem.npages = cpu_to_le32(l->tree.npages);
	req.modify_mkey.mem.page_shift = ORNIC_PAGE_SHIFT;
	req.modify_mkey.mem.levels = 2;
	req.modify_mkey.iova = cpu_to_le64(l->tree.iova);
	req.modify_mkey.length = cpu_to_le64(l->tree.length);
	req.modify_mkey.mask = ORNIC_MKEYM_MEM;
	entry[0] = cpu_to_le64((u64)(uintptr_t)(lists + 4096));
	for (i = 0; i < l->tree.npages; i++)
		entry[512 + i] = cpu_to_le64(
			(u64)(uintptr_t)(l->tree.buf +
					 4096 * (l->tree.npages - 1 - i)));
	status = ornic_th_cmd(th, &req, &rsp);
	ornic_th_free(th, lists);
	return status;
}

static int make_frmr(struct life *l)
{
	return ornic_th_mkey(l->pair.a, ORNIC_MKEY_FAST, 8, 0, &l->mkey[0]);
}

static int make_gaps(struct life *l)
{
	return ornic_th_mkey(l->pair.a, ORNIC_MKEY_FAST | ORNIC_MKEY_SG_GAPS, 8,
			     0, &l->mkey[3]);
}

static int make_mw1(struct life *l)
{
	return ornic_th_mw(l->pair.a, ORNIC_MW_TYPE_1, &l->mkey[1]);
}

static int make_mw2(struct life *l)
{
	return ornic_th_mw(l->pair.a, ORNIC_MW_TYPE_2, &l->mkey[2]);
}

static int make_qp(struct life *l, u32 i, u8 type,
		   const struct ornic_th_srq *srq)
{
	struct ornic_th_qpinit init = {
		.type = type,
		.flags = i ? 0 : ORNIC_QP_FAST_REG,
		.xrcdn = type == TGT ? DOMAIN : 0,
		.srq = srq,
	};

	return ornic_th_qp_init(l->pair.a, &l->qp[i], &init,
				type == TGT ? NULL : &l->scq,
				type >= INI ? NULL : &l->rcq);
}

static int make_gsi(struct life *l)
{
	struct ornic_th_qpinit init = { .type = UD, .flags = ORNIC_QP_GSI };

	return ornic_th_qp_init(l->pair.a, &l->gsi, &init, &l->scq, &l->rcq);
}

static int make_rc(struct life *l)
{
	return make_qp(l, 0, RC, NULL);
}

static int make_rc_peer(struct life *l)
{
	return make_qp(l, 1, RC, NULL);
}

static int make_uc(struct life *l)
{
	return make_qp(l, 2, UC, NULL);
}

static int make_uc_peer(struct life *l)
{
	return make_qp(l, 3, UC, &l->srq);
}

static int make_ini(struct life *l)
{
	return make_qp(l, 4, INI, NULL);
}

static int make_tgt(struct life *l)
{
	return make_qp(l, 5, TGT, NULL);
}

static int make_ud(struct life *l)
{
	return make_qp(l, 6, UD, NULL);
}

static int make_ud_peer(struct life *l)
{
	return make_qp(l, 7, UD, NULL);
}

/* 239.0.0.1 */
static void group_av(struct ornic_av *av)
{
	static const u8 mgid[16] = { [10] = 0xff, 0xff, 239, 0, 0, 1 };
	static const u8 mac[6] = { 0x01, 0x00, 0x5e, 0x00, 0x00, 0x01 };

	ornic_th_av(av, 1, ORNIC_TH_IPV4);
	memcpy(av->dgid, mgid, sizeof(mgid));
	memcpy(av->dmac, mac, sizeof(mac));
}

static int make_ah(struct life *l)
{
	struct ornic_av av;

	group_av(&av);
	return ornic_th_ah(l->pair.a, &av, &l->ah);
}

static int group_cmd(struct life *l, u8 opcode)
{
	union ornic_req req;
	union ornic_rsp rsp;
	struct ornic_av av;

	memset(&req, 0, sizeof(req));
	req.hdr.opcode = opcode;
	req.hdr.obj = cpu_to_le32(l->qp[7].qpn);
	group_av(&av);
	memcpy(req.mcast.mgid, av.dgid, sizeof(req.mcast.mgid));
	return ornic_th_cmd(l->pair.a, &req, &rsp);
}

static int join_group(struct life *l)
{
	return group_cmd(l, ORNIC_CMD_ATTACH_MCAST);
}

static int make_set(struct life *l)
{
	union ornic_req req;
	union ornic_rsp rsp;

	memset(&req, 0, sizeof(req));
	req.hdr.opcode = ORNIC_CMD_CREATE_COUNTERS;
	if (!ornic_th_cmd(l->pair.a, &req, &rsp))
		l->set = le32_to_cpu(rsp.hdr.obj);
	return rsp.hdr.status;
}

static int make_cntr(struct life *l)
{
	u8 *mem = ornic_th_alloc(l->pair.a, 4096);
	union ornic_req req;
	union ornic_rsp rsp;

	if (!mem)
		return ORNIC_NO_RESOURCE;
	memset(&req, 0, sizeof(req));
	req.hdr.opcode = ORNIC_CMD_CREATE_COMP_CNTR;
	req.create_comp_cntr.mem.addr = cpu_to_le64((u64)(uintptr_t)mem);
	req.create_comp_cntr.mem.npages = cpu_to_le32(1);
	req.create_comp_cntr.mem.page_shift = ORNIC_PAGE_SHIFT;
	if (!ornic_th_cmd(l->pair.a, &req, &rsp))
		l->cntr = le32_to_cpu(rsp.hdr.obj);
	return rsp.hdr.status;
}

static int make_raw(struct life *l)
{
	struct ornic_th_qpinit init = { .type = ORNIC_QPT_RAW, .no_sq = true };

	return ornic_th_qp_init(l->pair.a, &l->raw, &init, &l->scq, &l->rcq);
}

static int make_flow(struct life *l)
{
	struct ornic_rf_rule rule = ornic_rf_to(&l->raw, 9);

	return ornic_rf_create(l->pair.a, &rule, &l->flow);
}

static int make_spread(struct life *l)
{
	return ornic_rf_make_spread(l->pair.a, &l->spread);
}

static int set_rss(struct life *l)
{
	struct ornic_rss *rss =
		(struct ornic_rss *)ornic_th_alloc(l->pair.a, 4096);

	if (!rss)
		return ORNIC_NO_RESOURCE;
	rss->fields = cpu_to_le32(ORNIC_RSS_SRC_IPV4);
	rss->qpn[0] = cpu_to_le32(l->raw.qpn);
	return ornic_rf_set_rss(l->pair.a, l->spread.qpn, rss);
}

/* From the beginning: it may have failed half way. */
static int connect(struct life *l)
{
	int status = 0;
	u32 i;

	l->qp[4].srqn = l->xsrq.srqn;
	for (i = 0; i < QPS && !status; i++)
		status = ornic_th_to(&l->qp[i], ORNIC_QPS_RESET);
	for (i = 0; i < QPS && !status; i += 2)
		status = ornic_th_connect(&l->qp[i], &l->qp[i + 1],
					  ORNIC_TH_IPV4);
	return status;
}

static const struct step {
	const char *name;
	int (*run)(struct life *l);
} steps[] = {
	{ "device", make_device },
	{ "frames", make_frames },
	{ "CQ of sends", make_scq },
	{ "CQ of receives", make_rcq },
	{ "resized CQ", resize_rcq },
	{ "SRQ", make_srq },
	{ "resized SRQ", resize_srq },
	{ "SRQ of XRC", make_xsrq },
	{ "MR of a run", make_run },
	{ "MR of a list", make_list },
	{ "MR", make_for_tree },
	{ "MR changed to a tree", rereg_tree },
	{ "FRMR", make_frmr },
	{ "FRMR with gaps", make_gaps },
	{ "window of type 1", make_mw1 },
	{ "window of type 2", make_mw2 },
	{ "GSI", make_gsi },
	{ "RC", make_rc },
	{ "RC peer", make_rc_peer },
	{ "UC", make_uc },
	{ "UC peer with SRQ", make_uc_peer },
	{ "XRC initiator", make_ini },
	{ "XRC target", make_tgt },
	{ "UD", make_ud },
	{ "UD peer", make_ud_peer },
	{ "AH", make_ah },
	{ "group", join_group },
	{ "counter set", make_set },
	{ "completion counter", make_cntr },
	{ "raw packet QP", make_raw },
	{ "flow rule", make_flow },
	{ "raw packet QP without queues", make_spread },
	{ "table of its receivers", set_rss },
	{ "connections", connect },
};

/* ---- What must not run out of memory -------------------------------------------- */

/* A SEND from each first QP of a pair to its peer, from @list to @tree. */
static void expect_messages(struct kunit *test, struct life *l)
{
	struct ornic_lsge to = ornic_fix_sge(&l->tree, 0, BYTES);
	struct ornic_lsge from = ornic_fix_sge(&l->list, 0, 500);
	struct ornic_th_wr wr = {
		.opcode = ORNIC_WQE_SEND,
		.flags = ORNIC_WQE_SIGNALED,
		.nsge = 1,
		.sge = &from,
		.srqn = l->xsrq.srqn,
		.ah = l->ah,
		.dest_qpn = ORNIC_MCAST_QPN,
		.dest_qkey = l->qp[7].conn.qkey,
	};
	struct ornic_cqe cqe;
	u32 i, grh;

	ornic_th_post_recv(&l->qp[1], 1, &to, 1);
	ornic_th_post_srq(&l->srq, 2, &to, 1);
	ornic_th_post_srq(&l->xsrq, 3, &to, 1);
	ornic_th_post_recv(&l->qp[7], 4, &to, 1);
	for (i = 0; i < QPS; i += 2) {
		ornic_fix_fill(&l->list, 0, 500, i);
		ornic_th_post_send(&l->qp[i], &wr);
		KUNIT_EXPECT_TRUE(test, ornic_th_settle(&l->pair));
		KUNIT_EXPECT_EQ(test, ornic_fix_status(&l->scq, &cqe), 0);
		KUNIT_EXPECT_EQ(test, ornic_fix_status(&l->rcq, &cqe), 0);
		KUNIT_EXPECT_EQ(test, le64_to_cpu(cqe.wr_id), i / 2 + 1);
		grh = i == 6 ? 40 : 0;
		KUNIT_EXPECT_EQ(test, ornic_fix_compare(&l->tree, grh, 500, i),
				-1);
	}
}

static int end_keys(struct life *l)
{
	int status;

	status = ornic_th_destroy_obj(l->pair.a, ORNIC_CMD_DESTROY_MKEY,
				      l->mkey[0]);
	status |= ornic_th_destroy_obj(l->pair.a, ORNIC_CMD_DESTROY_MKEY,
				       l->mkey[3]);
	status |= ornic_th_destroy_obj(l->pair.a, ORNIC_CMD_DESTROY_MW,
				       l->mkey[1]);
	status |= ornic_th_destroy_obj(l->pair.a, ORNIC_CMD_DESTROY_MW,
				       l->mkey[2]);
	status |= ornic_th_mr_fini(&l->run);
	status |= ornic_th_mr_fini(&l->list);
	return status | ornic_th_mr_fini(&l->tree);
}

static int end_objects(struct life *l)
{
	int status = group_cmd(l, ORNIC_CMD_DETACH_MCAST);
	u32 i;

	for (i = 0; i < QPS; i++)
		status |= ornic_th_qp_fini(&l->qp[i]);
	status |= ornic_th_qp_fini(&l->gsi);
	status |= ornic_rf_destroy(l->pair.a, l->flow);
	status |= ornic_th_qp_fini(&l->spread);
	status |= ornic_th_qp_fini(&l->raw);
	status |= ornic_th_destroy_obj(l->pair.a, ORNIC_CMD_DESTROY_AH, l->ah);
	status |= ornic_th_destroy_obj(l->pair.a, ORNIC_CMD_DESTROY_COUNTERS,
				       l->set);
	status |= ornic_th_destroy_obj(l->pair.a, ORNIC_CMD_DESTROY_COMP_CNTR,
				       l->cntr);
	status |= end_keys(l);
	status |= ornic_th_srq_fini(&l->srq);
	status |= ornic_th_srq_fini(&l->xsrq);
	status |= ornic_th_cq_fini(&l->scq);
	return status | ornic_th_cq_fini(&l->rcq);
}

/* Numbers that are taken. */
static u32 objects(const struct life *l)
{
	const struct ornic_dev *dev = &l->pair.a->eng->dev;

	return dev->qps.count + dev->cqs.count + dev->mkeys.count +
	       dev->ahs.count + dev->srqs.count + dev->csets.count +
	       dev->comp_cntrs.count + dev->flows.numbers.count;
}

/*
 * One life, in which allocation @n fails: the object is refused for want of
 * memory, takes no number, and is made when tried again. False if the life has
 * fewer allocations.
 */
static bool live(struct kunit *test, struct life *l, u32 n)
{
	bool failed = false;
	u32 i, before = 0;
	int status;

	l->account.fail_at = n;
	for (i = 0; i < ARRAY_SIZE(steps); i++) {
		if (i)
			before = objects(l);
		status = steps[i].run(l);
		if (!status)
			continue;
		KUNIT_EXPECT_EQ_MSG(test, status, ORNIC_NO_RESOURCE,
				    "allocation %u, %s", n, steps[i].name);
		KUNIT_ASSERT_FALSE(test, failed);
		failed = true;
		if (i)
			KUNIT_EXPECT_EQ_MSG(test, objects(l), before,
					    "allocation %u, %s", n,
					    steps[i].name);
		KUNIT_ASSERT_EQ(test, steps[i].run(l), ORNIC_OK);
	}
	/* A fault is told; what needs no memory has no way to tell one. */
	KUNIT_EXPECT_EQ(test, failed, !l->account.fail_at);
	l->account.fail_at = 1;
	/* Again, with what they have. */
	KUNIT_ASSERT_EQ(test, connect(l), 0);
	expect_messages(test, l);
	KUNIT_EXPECT_EQ(test, end_objects(l), 0);
	KUNIT_EXPECT_EQ(test, l->account.fail_at, 1);
	l->account.fail_at = 0;
	KUNIT_EXPECT_EQ(test, objects(l), 0);
	KUNIT_EXPECT_EQ(test,
			ornic_atomic_read(&l->pair.a->eng->dev.qps_leaving), 0);
	KUNIT_EXPECT_EQ(test, ornic_th_pair_fini(&l->pair), 0);
	KUNIT_EXPECT_EQ_MSG(test, l->account.used, 0, "allocation %u", n);
	return failed;
}

static void alloc_each_fails_once(struct kunit *test)
{
	struct life *life = test->priv;
	u32 n = 1;

	while (live(test, life, n))
		n++;
	kunit_info(test, "%u allocations\n", n - 1);
	KUNIT_EXPECT_GT(test, n, ARRAY_SIZE(steps));
}

/* ---- What is refused for its size ------------------------------------------------ */

static const struct small_row {
	const char *name;
	u8 opcode;
} small_rows[] = {
	{ "CQ", ORNIC_CMD_CREATE_CQ },
	{ "resized CQ", ORNIC_CMD_RESIZE_CQ },
	{ "SRQ", ORNIC_CMD_CREATE_SRQ },
	{ "resized SRQ", ORNIC_CMD_RESIZE_SRQ },
	{ "QP", ORNIC_CMD_CREATE_QP },
	{ "MR", ORNIC_CMD_CREATE_MKEY },
	{ "changed MR", ORNIC_CMD_MODIFY_MKEY },
};

KUNIT_ARRAY_PARAM_DESC(small, small_rows, name);

/* A command with @mem for something that is larger. */
static void ask_for_more(struct life *l, union ornic_req *req, u8 opcode,
			 const struct ornic_mem *mem)
{
	memset(req, 0, sizeof(*req));
	req->hdr.opcode = opcode;
	switch (opcode) {
	case ORNIC_CMD_CREATE_CQ:
		req->create_cq.mem = *mem;
		req->create_cq.log_depth = 8;
		break;
	case ORNIC_CMD_RESIZE_CQ:
		req->hdr.obj = cpu_to_le32(l->rcq.cqn);
		req->resize_cq.mem = *mem;
		req->resize_cq.log_depth = 8;
		break;
	case ORNIC_CMD_CREATE_SRQ:
		req->create_srq.mem = *mem;
		req->create_srq.log_depth = 8;
		req->create_srq.log_stride = 6;
		req->create_srq.max_sge = 1;
		break;
	case ORNIC_CMD_RESIZE_SRQ:
		req->hdr.obj = cpu_to_le32(l->srq.srqn);
		req->resize_srq.mem = *mem;
		req->resize_srq.log_depth = 8;
		break;
	case ORNIC_CMD_CREATE_QP:
		req->create_qp.mem = *mem;
		req->create_qp.qp_type = RC;
		req->create_qp.has_sq = 1;
		req->create_qp.sq_log_depth = 8;
		req->create_qp.sq_log_stride = 6;
		req->create_qp.send_cqn = cpu_to_le32(l->scq.cqn);
		req->create_qp.recv_cqn = cpu_to_le32(l->rcq.cqn);
		break;
	case ORNIC_CMD_CREATE_MKEY:
		req->create_mkey.mem = *mem;
		req->create_mkey.length = cpu_to_le64(5000);
		break;
	case ORNIC_CMD_MODIFY_MKEY:
		req->hdr.obj = cpu_to_le32(l->list.key);
		req->modify_mkey.mem = *mem;
		req->modify_mkey.length = cpu_to_le64(5000);
		req->modify_mkey.mask = ORNIC_MKEYM_MEM;
		break;
	}
}

/* The list of pages that was made for it goes as well. */
static void alloc_ends_with_a_refusal(struct kunit *test)
{
	static int (*const make[])(struct life *) = {
		make_device, make_scq, make_rcq, make_srq, make_list,
	};
	const struct small_row *row = test->param_value;
	struct ornic_mem mem = {
		.npages = cpu_to_le32(1),
		.page_shift = ORNIC_PAGE_SHIFT,
		.levels = 1,
	};
	struct life *l = test->priv;
	union ornic_req req;
	union ornic_rsp rsp;
	__le64 *list;
	u64 before;
	u32 i;

	for (i = 0; i < ARRAY_SIZE(make); i++)
		KUNIT_ASSERT_EQ(test, make[i](l), ORNIC_OK);
	list = (__le64 *)ornic_th_alloc(l->pair.a, 4096);
	KUNIT_ASSERT_NOT_NULL(test, list);
	mem.addr = cpu_to_le64((u64)(uintptr_t)list);
	list[0] = mem.addr;
	ask_for_more(l, &req, row->opcode, &mem);
	before = l->account.used;
	KUNIT_EXPECT_EQ(test, ornic_th_cmd(l->pair.a, &req, &rsp),
			ORNIC_BAD_PARAM);
	KUNIT_EXPECT_EQ(test, l->account.used, before);
}

static struct kunit_case alloc_cases[] = {
	KUNIT_CASE(alloc_each_fails_once),
	KUNIT_CASE_PARAM(alloc_ends_with_a_refusal, small_gen_params),
	{}
};

static struct kunit_suite alloc_suite = {
	.name = "ornic_alloc",
	.init = alloc_init,
	.exit = alloc_exit,
	.test_cases = alloc_cases,
};

kunit_test_suite(alloc_suite);

MODULE_DESCRIPTION("ornic: allocation faults suite");
MODULE_LICENSE("Dual BSD/GPL");
