// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* The fixture of the suites of tag matching. */
#include "tm_fixture.h"

static int open_srq(struct ornic_tm_test *tt, struct ornic_th *th)
{
	struct ornic_th_qpinit init = {
		.type = ORNIC_QPT_TAGS,
		.sq_log_depth = 6,
		.tag_srq = &tt->srq,
	};
	int status = ornic_th_cq_init(th, &tt->tcq, 8);

	if (!status)
		status = ornic_th_cq_init(th, &tt->ocq, 8);
	if (!status)
		status = ornic_th_tm_srq_init(th, &tt->srq, ORNIC_TM_LOG_DEPTH,
					      ORNIC_TM_MAX_TAGS, &tt->tcq);
	if (!status)
		status = ornic_th_qp_init(th, &tt->ops, &init, &tt->ocq,
					  &tt->ocq);
	return status;
}

int ornic_tm_open_kind(struct ornic_tm_test *tt, enum ornic_fix_kind kind)
{
	struct ornic_th_qpinit init = {
		.type = ORNIC_QPT_RC,
		.sq_log_depth = 6,
		.rq_log_depth = 6,
	};
	struct ornic_fixture *fix = &tt->fix;
	int status = ornic_fix_open(fix, kind, &init);

	if (!status)
		status = ornic_th_qp_fini(&fix->b);
	if (!status)
		status = open_srq(tt, fix->pair.b);
	init.no_sq = true;
	init.srq = &tt->srq;
	if (!status)
		status = ornic_th_qp_init(fix->pair.b, &fix->b, &init,
					  &fix->bscq, &fix->brcq);
	return status;
}

struct ornic_tm_test *ornic_tm_open(struct kunit *test,
				    enum ornic_fix_kind kind)
{
	struct ornic_tm_test *tt = test->priv;

	KUNIT_ASSERT_EQ(test, ornic_tm_open_kind(tt, kind), 0);
	KUNIT_ASSERT_EQ(test, ornic_fix_connect(&tt->fix), 0);
	return tt;
}

void ornic_tm_post_ring(struct ornic_tm_test *tt, u64 wr_id)
{
	struct ornic_lsge sge = ornic_fix_sge(&tt->fix.bm, 0, 8192);

	ornic_th_post_srq(&tt->srq, wr_id, &sge, 1);
}

void ornic_tm_change_list(struct ornic_tm_test *tt, u8 opcode, u8 flags,
			  const struct ornic_seg_tag *tag,
			  const struct ornic_lsge *sge)
{
	struct ornic_th_wr wr = {
		.wr_id = 1000 + opcode,
		.opcode = opcode,
		.flags = flags,
		.tag = tag,
		.sge = sge,
		.nsge = sge ? 1 : 0,
	};

	ornic_th_post_send(&tt->ops, &wr);
	ornic_th_run(tt->fix.pair.b);
}

void ornic_tm_add_masked(struct ornic_tm_test *tt, u32 id, u64 tag, u64 mask,
			 u32 off, u32 len)
{
	struct ornic_lsge sge = ornic_fix_sge(&tt->fix.bm, off, len);
	struct ornic_seg_tag seg = {
		.recv_wr_id = cpu_to_le64(id),
		.tag = cpu_to_le64(tag),
		.mask = cpu_to_le64(mask),
		.handle = cpu_to_le32(id),
	};

	ornic_tm_change_list(tt, ORNIC_WQE_TAG_ADD, 0, &seg, &sge);
}

void ornic_tm_add_sges(struct ornic_tm_test *tt, u32 id, u64 tag,
		       const struct ornic_lsge *sge, u32 nsge)
{
	struct ornic_seg_tag seg = {
		.recv_wr_id = cpu_to_le64(id),
		.tag = cpu_to_le64(tag),
		.mask = cpu_to_le64(ANY),
		.handle = cpu_to_le32(id),
	};
	struct ornic_th_wr wr = {
		.opcode = ORNIC_WQE_TAG_ADD,
		.tag = &seg,
		.sge = sge,
		.nsge = nsge,
	};

	ornic_th_post_send(&tt->ops, &wr);
	ornic_th_run(tt->fix.pair.b);
}

void ornic_tm_add(struct ornic_tm_test *tt, u32 id, u64 tag, u32 off, u32 len)
{
	ornic_tm_add_masked(tt, id, tag, ANY, off, len);
}

void ornic_tm_del(struct ornic_tm_test *tt, u32 id, u8 flags)
{
	struct ornic_seg_tag seg = { .handle = cpu_to_le32(id) };

	ornic_tm_change_list(tt, ORNIC_WQE_TAG_DEL, flags, &seg, NULL);
}

int ornic_tm_sync(struct ornic_tm_test *tt, u32 count)
{
	struct ornic_seg_tag seg = { .unexpected = cpu_to_le32(count) };
	struct ornic_cqe cqe;

	ornic_tm_change_list(tt, ORNIC_WQE_TAG_SYNC,
			     ORNIC_WQE_SIGNALED | ORNIC_WQE_UNEXPECTED, &seg,
			     NULL);
	if (ornic_fix_status(&tt->ocq, &cqe) ||
	    cqe.opcode != ORNIC_CQE_TAG_SYNC || cqe.tag)
		return -1;
	return cqe.tm_flags;
}

int ornic_tm_op_status(struct ornic_tm_test *tt)
{
	struct ornic_cqe cqe;

	return ornic_fix_status(&tt->ocq, &cqe);
}

u32 ornic_tm_list_length(struct ornic_tm_test *tt, u32 *unexpected)
{
	struct ornic_rsp_query_srq rsp;

	ornic_th_srq_query(&tt->srq, &rsp);
	if (unexpected)
		*unexpected = le32_to_cpu(rsp.unexpected);
	return le32_to_cpu(rsp.tags);
}

u32 ornic_tm_gone(struct ornic_tm_test *tt)
{
	struct ornic_wq_record *rec = (struct ornic_wq_record *)tt->srq.mem;

	return le32_to_cpu(rec->tags_gone);
}

void ornic_tm_put_be(u8 *p, u64 value, u32 bytes)
{
	while (bytes--) {
		p[bytes] = (u8)value;
		value >>= 8;
	}
}

void ornic_tm_fill(struct ornic_tm_test *tt, u8 opcode, u64 tag, u32 off,
		   u32 len)
{
	u8 tmh[TMH] = { opcode };

	ornic_tm_put_be(tmh + 4, 0x1000 + tag, 4);
	ornic_tm_put_be(tmh + 8, tag, 8);
	ornic_th_mr_write(&tt->fix.am, off, tmh, sizeof(tmh));
	ornic_fix_fill(&tt->fix.am, off + TMH, len, (u32)tag);
}

void ornic_tm_post_message(struct ornic_tm_test *tt, u32 off, u32 len)
{
	ornic_fix_post(&tt->fix.a, &tt->fix.am, NULL, ORNIC_WQE_SEND, 0, off,
		       len);
	ornic_th_settle(&tt->fix.pair);
}

void ornic_tm_send_eager(struct ornic_tm_test *tt, u64 tag, u32 len)
{
	ornic_tm_fill(tt, EAGER, tag, 0, len);
	ornic_tm_post_message(tt, 0, TMH + len);
}

void ornic_tm_fill_rndv(struct ornic_tm_test *tt, u64 tag, u32 data, u32 len,
			u32 off)
{
	u8 rvh[16];

	ornic_tm_put_be(rvh, tt->fix.am.iova + data, 8);
	ornic_tm_put_be(rvh + 8, tt->fix.am.key, 4);
	ornic_tm_put_be(rvh + 12, len, 4);
	ornic_tm_fill(tt, RNDV, tag, off, 0);
	ornic_th_mr_write(&tt->fix.am, off + TMH, rvh, sizeof(rvh));
}

void ornic_tm_send_rndv(struct ornic_tm_test *tt, u64 tag, u32 data, u32 len,
			u32 off)
{
	ornic_tm_fill_rndv(tt, tag, data, len, off);
	ornic_tm_post_message(tt, off, HDRS);
}

void ornic_tm_expect(struct kunit *test, struct ornic_tm_test *tt,
		     const struct ornic_tm_want *want)
{
	u32 ctx = want->tag ? 0x1000 + (u32)want->tag : 0;
	struct ornic_cqe cqe = { .status = 0 };

	KUNIT_ASSERT_EQ(test, ornic_fix_status(&tt->tcq, &cqe), 0);
	KUNIT_EXPECT_EQ(test, cqe.opcode, want->opcode);
	KUNIT_EXPECT_EQ(test, cqe.tm_flags, want->tm_flags);
	KUNIT_EXPECT_EQ(test, le64_to_cpu(cqe.wr_id), want->wr_id);
	KUNIT_EXPECT_EQ(test, le64_to_cpu(cqe.tag), want->tag);
	KUNIT_EXPECT_EQ(test, le32_to_cpu(cqe.app_ctx), ctx);
	KUNIT_EXPECT_EQ(test, le32_to_cpu(cqe.byte_len), want->bytes);
	KUNIT_EXPECT_EQ(test, le32_to_cpu(cqe.qpn), tt->fix.b.qpn);
}

void ornic_tm_expect_match(struct kunit *test, struct ornic_tm_test *tt,
			   u64 wr_id, u64 tag, u32 bytes)
{
	const struct ornic_tm_want want = { ORNIC_CQE_TM_RECV, MATCH | VALID,
					    wr_id, tag, bytes };

	ornic_tm_expect(test, tt, &want);
}

void ornic_tm_expect_unexpected(struct kunit *test, struct ornic_tm_test *tt,
				u64 wr_id, u32 bytes)
{
	const struct ornic_tm_want want = { ORNIC_CQE_TM_RECV, 0, wr_id, 0,
					    bytes };

	ornic_tm_expect(test, tt, &want);
}

int ornic_tm_status(struct ornic_tm_test *tt)
{
	struct ornic_cqe cqe;

	return ornic_fix_status(&tt->tcq, &cqe);
}
