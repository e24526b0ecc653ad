// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* WQEs and CQEs of kernel users: driver/ornic_wqe.c. */
#include <kunit/test.h>

#include <rdma/ib_user_verbs.h>

#include "ornic_wqe.h"

#define RC ORNIC_QPT_RC
#define UC ORNIC_QPT_UC
#define UD ORNIC_QPT_UD
#define INLINE ORNIC_WQE_INLINE

/* Values of enum ib_wc_opcode, which the host does not have. */
#define WC_RECV 0x80
#define WC_RECV_RDMA_WITH_IMM 0x81

static const struct send_case {
	const char *name;
	u32 opcode;
	u8 qp_type;
	u8 flags;
	int used; /* or -errno */
	u8 wqe;
} send_cases[] = {
	{ "IBTA table 1: SEND on RC", IB_UVERBS_WR_SEND, RC, 0, 16,
	  ORNIC_WQE_SEND },
	{ "SEND on UC", IB_UVERBS_WR_SEND, UC, 0, 16, ORNIC_WQE_SEND },
	{ "SEND on UD carries the address", IB_UVERBS_WR_SEND, UD, 0, 64,
	  ORNIC_WQE_SEND },
	{ "SEND with immediate on UD", IB_UVERBS_WR_SEND_WITH_IMM, UD, 0, 64,
	  ORNIC_WQE_SEND_IMM },
	{ "WRITE", IB_UVERBS_WR_RDMA_WRITE, RC, 0, 32, ORNIC_WQE_WRITE },
	{ "WRITE with immediate on UC", IB_UVERBS_WR_RDMA_WRITE_WITH_IMM, UC, 0,
	  32, ORNIC_WQE_WRITE_IMM },
	{ "READ", IB_UVERBS_WR_RDMA_READ, RC, 0, 32, ORNIC_WQE_READ },
	{ "compare and swap", IB_UVERBS_WR_ATOMIC_CMP_AND_SWP, RC, 0, 48,
	  ORNIC_WQE_CAS },
	{ "fetch and add", IB_UVERBS_WR_ATOMIC_FETCH_AND_ADD, RC, 0, 48,
	  ORNIC_WQE_FAA },
	{ "IBTA A19.4.1: FLUSH", ORNIC_VERBS_WR_FLUSH, RC, 0, 48,
	  ORNIC_WQE_FLUSH },
	{ "IBTA A19.4.2: ATOMIC WRITE", ORNIC_VERBS_WR_ATOMIC_WRITE, RC, 0, 32,
	  ORNIC_WQE_ATOMIC_WRITE },
	{ "inline ATOMIC WRITE", ORNIC_VERBS_WR_ATOMIC_WRITE, RC, INLINE, 32,
	  ORNIC_WQE_ATOMIC_WRITE },
	{ "inline FLUSH", ORNIC_VERBS_WR_FLUSH, RC, INLINE, -EINVAL, 0 },
	{ "no ATOMIC WRITE on UC", ORNIC_VERBS_WR_ATOMIC_WRITE, UC, 0, -EINVAL,
	  0 },
	{ "no FLUSH on UD", ORNIC_VERBS_WR_FLUSH, UD, 0, -EINVAL, 0 },
	{ "inline WRITE", IB_UVERBS_WR_RDMA_WRITE, RC, INLINE, 32,
	  ORNIC_WQE_WRITE },
	{ "inline READ", IB_UVERBS_WR_RDMA_READ, RC, INLINE, -EINVAL, 0 },
	{ "IBTA table 1: no WRITE on UD", IB_UVERBS_WR_RDMA_WRITE, UD, 0,
	  -EINVAL, 0 },
	{ "IBTA table 1: no READ on UC", IB_UVERBS_WR_RDMA_READ, UC, 0, -EINVAL,
	  0 },
	{ "IBTA table 1: no atomics on UC", IB_UVERBS_WR_ATOMIC_FETCH_AND_ADD,
	  UC, 0, -EINVAL, 0 },
	{ "fast registration", ORNIC_WR_REG_MR, RC, 0, 64, ORNIC_WQE_REG_MR },
	{ "fast registration on UC", ORNIC_WR_REG_MR, UC, 0, -EINVAL, 0 },
	{ "inline fast registration", ORNIC_WR_REG_MR, RC, INLINE, -EINVAL, 0 },
	{ "with integrity", ORNIC_WR_REG_MR + 1, RC, 0, -EINVAL, 0 },
	{ "local invalidate", IB_UVERBS_WR_LOCAL_INV, RC, 0, 16,
	  ORNIC_WQE_LOCAL_INV },
	{ "local invalidate on UD", IB_UVERBS_WR_LOCAL_INV, UD, 0, -EINVAL, 0 },
	{ "SEND with invalidate", IB_UVERBS_WR_SEND_WITH_INV, RC, 0, 16,
	  ORNIC_WQE_SEND_INV },
	{ "SEND with invalidate on UC", IB_UVERBS_WR_SEND_WITH_INV, UC, 0,
	  -EINVAL, 0 },
	{ "READ with invalidate", IB_UVERBS_WR_RDMA_READ_WITH_INV, RC, 0, 32,
	  ORNIC_WQE_READ_INV },
	{ "masked atomic", IB_UVERBS_WR_MASKED_ATOMIC_CMP_AND_SWP, RC, 0,
	  -EINVAL, 0 },
	{ "unknown", 0xffffffff, RC, 0, -EINVAL, 0 },
};

KUNIT_ARRAY_PARAM_DESC(send, send_cases, name);

static void send_is_packed_or_refused(struct kunit *test)
{
	const struct send_case *c = test->param_value;
	const struct ornic_av av = { .sgid_index = 3, .sl = 5 };
	const struct ornic_send_work work = {
		.opcode = c->opcode,
		.qp_type = c->qp_type,
		.flags = c->flags | ORNIC_WQE_SIGNALED,
		.wr_id = 0x1122334455667788ull,
		.imm = cpu_to_be32(0x99),
		.raddr = 0xabcdef0011ull,
		.rkey = 0x777,
		.swap_add = 11,
		.compare = 12,
		.dest_qpn = 1,
		.dest_qkey = 0x80010000,
		.av = &av,
	};
	struct ornic_sq_hdr *hdr;
	u8 slot[64] = {};

	KUNIT_ASSERT_EQ(test, ornic_pack_send(slot, &work), c->used);
	if (c->used < 0)
		return;
	hdr = (struct ornic_sq_hdr *)slot;
	KUNIT_EXPECT_EQ(test, hdr->opcode, c->wqe);
	KUNIT_EXPECT_EQ(test, hdr->flags,
			work.flags | (c->qp_type == UD ? ORNIC_WQE_AV : 0));
	KUNIT_EXPECT_EQ(test, le64_to_cpu(hdr->wr_id), work.wr_id);
	KUNIT_EXPECT_EQ(test, be32_to_cpu(hdr->imm), 0x99);
	KUNIT_EXPECT_EQ(test, le16_to_cpu(hdr->payload), 0);
	ornic_pack_payload(slot, 0x123);
	KUNIT_EXPECT_EQ(test, le16_to_cpu(hdr->payload), 0x123);
}

static void segments_have_every_field(struct kunit *test)
{
	const struct ornic_av av = { .sgid_index = 3, .sl = 5 };
	struct ornic_send_work work = {
		.opcode = IB_UVERBS_WR_ATOMIC_CMP_AND_SWP,
		.qp_type = RC,
		.raddr = 0xabcdef0011ull,
		.rkey = 0x777,
		.swap_add = 11,
		.compare = 12,
		.dest_qpn = 1,
		.dest_qkey = 0x80010000,
		.pkey_index = 0x1234,
		.av = &av,
		.length = 0x123456789ull,
		.list = 0xffff888000001000ull,
		.npages = 512,
		.page_shift = 21,
		.access = 7,
	};
	struct ornic_seg_remote *remote;
	struct ornic_seg_atomic *atomic;
	struct ornic_seg_flush *flush;
	struct ornic_seg_ud *ud;
	struct ornic_seg_reg *reg;
	u8 slot[64] = {};

	KUNIT_ASSERT_EQ(test, ornic_pack_send(slot, &work), 48);
	remote = (struct ornic_seg_remote *)(slot + 16);
	atomic = (struct ornic_seg_atomic *)(slot + 32);
	KUNIT_EXPECT_EQ(test, le64_to_cpu(remote->raddr), work.raddr);
	KUNIT_EXPECT_EQ(test, le32_to_cpu(remote->rkey), work.rkey);
	KUNIT_EXPECT_EQ(test, le64_to_cpu(atomic->swap_add), 11);
	KUNIT_EXPECT_EQ(test, le64_to_cpu(atomic->compare), 12);

	work.opcode = ORNIC_WR_REG_MR;
	KUNIT_ASSERT_EQ(test, ornic_pack_send(slot, &work), 64);
	reg = (struct ornic_seg_reg *)(slot + 32);
	KUNIT_EXPECT_EQ(test, le64_to_cpu(remote->raddr), work.raddr);
	KUNIT_EXPECT_EQ(test, le32_to_cpu(remote->rkey), work.rkey);
	KUNIT_EXPECT_EQ(test, le64_to_cpu(reg->length), work.length);
	KUNIT_EXPECT_EQ(test, le64_to_cpu(reg->list), work.list);
	KUNIT_EXPECT_EQ(test, le32_to_cpu(reg->npages), 512);
	KUNIT_EXPECT_EQ(test, reg->page_shift, 21);
	KUNIT_EXPECT_EQ(test, reg->access, 7);
	work.opcode = ORNIC_VERBS_WR_FLUSH;
	work.flush_length = 4096;
	work.flush_level = ORNIC_FLUSH_MR;
	KUNIT_ASSERT_EQ(test, ornic_pack_send(slot, &work), 48);
	flush = (struct ornic_seg_flush *)(slot + 32);
	KUNIT_EXPECT_EQ(test, le64_to_cpu(remote->raddr), work.raddr);
	KUNIT_EXPECT_EQ(test, le32_to_cpu(flush->length), 4096);
	KUNIT_EXPECT_EQ(test, flush->type, ORNIC_FLUSH_GLOBAL);
	KUNIT_EXPECT_EQ(test, flush->level, ORNIC_FLUSH_MR);

	work.opcode = IB_UVERBS_WR_SEND;
	work.qp_type = UD;
	KUNIT_ASSERT_EQ(test, ornic_pack_send(slot, &work), 64);
	ud = (struct ornic_seg_ud *)(slot + 16);
	KUNIT_EXPECT_EQ(test, le32_to_cpu(ud->ah), 0);
	KUNIT_EXPECT_EQ(test, le32_to_cpu(ud->dest_qpn), 1);
	KUNIT_EXPECT_EQ(test, le32_to_cpu(ud->dest_qkey), 0x80010000);
	KUNIT_EXPECT_EQ(test, le16_to_cpu(ud->pkey_index), 0x1234);
	KUNIT_EXPECT_MEMEQ(test, slot + 32, &av, sizeof(av));
	work.av = NULL;
	KUNIT_EXPECT_EQ(test, ornic_pack_send(slot, &work), -EINVAL);
}

static void receives_are_packed(struct kunit *test)
{
	struct ornic_rq_hdr hdr;
	struct ornic_sge sge;

	memset(&hdr, 0xff, sizeof(hdr));
	ornic_pack_recv(&hdr, 0x1234567890ull, 3);
	KUNIT_EXPECT_EQ(test, le64_to_cpu(hdr.wr_id), 0x1234567890ull);
	KUNIT_EXPECT_EQ(test, le16_to_cpu(hdr.num_sge), 3);
	KUNIT_EXPECT_EQ(test, hdr.reserved[0], 0);
	ornic_pack_sge(&sge, 0xffff888000001000ull, 0x2000, 0x42);
	KUNIT_EXPECT_EQ(test, le64_to_cpu(sge.addr), 0xffff888000001000ull);
	KUNIT_EXPECT_EQ(test, le32_to_cpu(sge.length), 0x2000);
	KUNIT_EXPECT_EQ(test, le32_to_cpu(sge.lkey), 0x42);
}

static const struct opcode_case {
	const char *name;
	u8 cqe;
	u8 wc;
	bool is_recv;
} opcode_cases[] = {
	{ "SEND", ORNIC_CQE_SEND, IB_UVERBS_WC_SEND, false },
	{ "WRITE", ORNIC_CQE_WRITE, IB_UVERBS_WC_RDMA_WRITE, false },
	{ "READ", ORNIC_CQE_READ, IB_UVERBS_WC_RDMA_READ, false },
	{ "compare and swap", ORNIC_CQE_CAS, IB_UVERBS_WC_COMP_SWAP, false },
	{ "fetch and add", ORNIC_CQE_FAA, IB_UVERBS_WC_FETCH_ADD, false },
	{ "local invalidate", ORNIC_CQE_LOCAL_INV, IB_UVERBS_WC_LOCAL_INV,
	  false },
	{ "fast registration", ORNIC_CQE_REG_MR, ORNIC_WC_REG_MR, false },
	{ "ATOMIC WRITE", ORNIC_CQE_ATOMIC_WRITE, ORNIC_VERBS_WC_ATOMIC_WRITE,
	  false },
	{ "FLUSH", ORNIC_CQE_FLUSH, ORNIC_VERBS_WC_FLUSH, false },
	{ "receive", ORNIC_CQE_RECV, WC_RECV, true },
	{ "receive of a WRITE", ORNIC_CQE_RECV_WRITE_IMM, WC_RECV_RDMA_WITH_IMM,
	  true },
	{ "nonsense", 0x7f, IB_UVERBS_WC_SEND, false },
};

KUNIT_ARRAY_PARAM_DESC(opcode, opcode_cases, name);

static void opcode_is_that_of_verbs(struct kunit *test)
{
	const struct opcode_case *c = test->param_value;
	const struct ornic_cqe cqe = { .opcode = c->cqe };
	struct ornic_completion comp;

	ornic_unpack_cqe(&cqe, &comp);
	KUNIT_EXPECT_EQ(test, comp.opcode, c->wc);
	KUNIT_EXPECT_EQ(test, comp.is_recv, c->is_recv);
}

static void completion_has_every_field(struct kunit *test)
{
	const struct ornic_cqe cqe = {
		.wr_id = cpu_to_le64(0x1122334455667788ull),
		.wqe_index = cpu_to_le32(0xfffffff0),
		.qpn = cpu_to_le32(0x123456),
		.byte_len = cpu_to_le32(296),
		.imm = cpu_to_be32(7),
		.src_qpn = cpu_to_le32(1),
		.smac = { 2, 3, 4, 5, 6, 7 },
		.vlan = cpu_to_le16(42),
		.sl = 3,
		.pkey_index = 0x12,
		.opcode = ORNIC_CQE_RECV,
		.status = ORNIC_CQE_RNR_RETRY_EXC_ERR,
		.vendor_err = ORNIC_VERR_RNR,
		.flags = ORNIC_CQE_GRH | ORNIC_CQE_IPV4 | ORNIC_CQE_WITH_IMM,
	};
	struct ornic_completion comp;

	ornic_unpack_cqe(&cqe, &comp);
	KUNIT_EXPECT_EQ(test, comp.wr_id, 0x1122334455667788ull);
	KUNIT_EXPECT_EQ(test, comp.wqe_index, 0xfffffff0);
	KUNIT_EXPECT_EQ(test, comp.qpn, 0x123456);
	KUNIT_EXPECT_EQ(test, comp.byte_len, 296);
	KUNIT_EXPECT_EQ(test, be32_to_cpu(comp.imm), 7);
	KUNIT_EXPECT_EQ(test, comp.src_qpn, 1);
	KUNIT_EXPECT_MEMEQ(test, comp.smac, cqe.smac, 6);
	KUNIT_EXPECT_EQ(test, comp.vlan, 42);
	KUNIT_EXPECT_EQ(test, comp.sl, 3);
	KUNIT_EXPECT_EQ(test, comp.pkey_index, 0x12);
	KUNIT_EXPECT_EQ(test, comp.status, ORNIC_CQE_RNR_RETRY_EXC_ERR);
	KUNIT_EXPECT_EQ(test, comp.vendor_err, ORNIC_VERR_RNR);
	KUNIT_EXPECT_TRUE(test, comp.has_grh);
	KUNIT_EXPECT_TRUE(test, comp.ipv4);
	KUNIT_EXPECT_FALSE(test, comp.roce_v1);
	KUNIT_EXPECT_TRUE(test, comp.has_imm);
	KUNIT_EXPECT_FALSE(test, comp.has_inv);
}

static void completion_has_the_version(struct kunit *test)
{
	const struct ornic_cqe cqe = {
		.opcode = ORNIC_CQE_RECV,
		.flags = ORNIC_CQE_GRH | ORNIC_CQE_ROCE_V1,
	};
	struct ornic_completion comp;

	ornic_unpack_cqe(&cqe, &comp);
	KUNIT_EXPECT_TRUE(test, comp.has_grh);
	KUNIT_EXPECT_TRUE(test, comp.roce_v1);
	KUNIT_EXPECT_FALSE(test, comp.ipv4);
}

static void completion_has_the_key(struct kunit *test)
{
	const struct ornic_cqe cqe = {
		.imm = cpu_to_be32(0x12345678),
		.opcode = ORNIC_CQE_RECV,
		.flags = ORNIC_CQE_WITH_INV,
	};
	struct ornic_completion comp;

	ornic_unpack_cqe(&cqe, &comp);
	KUNIT_EXPECT_TRUE(test, comp.has_inv);
	KUNIT_EXPECT_FALSE(test, comp.has_imm);
	KUNIT_EXPECT_EQ(test, be32_to_cpu(comp.imm), 0x12345678);
}

static const struct phase_case {
	const char *name;
	u32 index;
	u8 flags;
	bool is_new;
} phase_cases[] = {
	{ "first pass, written", 3, ORNIC_CQE_PHASE, true },
	{ "first pass, zeroed", 3, 0, false },
	{ "second pass, of the first", 16, ORNIC_CQE_PHASE, false },
	{ "second pass, written", 16, 0, true },
	{ "other flags do not count", 16, 0xfe, true },
	{ "last index before the wrap", 0xffffffff, 0, true },
	{ "index wrapped", 0, ORNIC_CQE_PHASE, true },
};

KUNIT_ARRAY_PARAM_DESC(phase, phase_cases, name);

static void phase_tells_what_is_new(struct kunit *test)
{
	const struct phase_case *c = test->param_value;

	KUNIT_EXPECT_EQ(test, ornic_cqe_is_new(c->flags, c->index, 4),
			c->is_new);
}

static struct kunit_case cases[] = {
	KUNIT_CASE_PARAM(send_is_packed_or_refused, send_gen_params),
	KUNIT_CASE(segments_have_every_field),
	KUNIT_CASE(receives_are_packed),
	KUNIT_CASE_PARAM(opcode_is_that_of_verbs, opcode_gen_params),
	KUNIT_CASE(completion_has_every_field),
	KUNIT_CASE(completion_has_the_version),
	KUNIT_CASE(completion_has_the_key),
	KUNIT_CASE_PARAM(phase_tells_what_is_new, phase_gen_params),
	{}
};

static struct kunit_suite suite = {
	.name = "ornic_driver_wqe",
	.test_cases = cases,
};

kunit_test_suite(suite);

MODULE_IMPORT_NS(EXPORTED_FOR_KUNIT_TESTING);
MODULE_DESCRIPTION("KUnit suite of ornic's WQEs and CQEs of kernel users");
MODULE_LICENSE("Dual BSD/GPL");
