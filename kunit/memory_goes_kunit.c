// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Keys of all DMA memory, of which a page goes: a host may take memory away
 * between the check of a key and its use, as ornic-nic does when a guest's RAM
 * gets another layout. The message ends, by an error, and nothing else is touched.
 */
#include <kunit/test.h>

#include "suite_fixture.h"
#include "engine/dev.h"

#define POINTS 500 /* more than there are */
#define PAGE 4096u

/**
 * struct goes_test - a fixture whose memory goes
 * @fix: is made anew for each point
 * @ops: of the harness, with another dma
 * @dma: that of the harness
 * @page: of @key; goes
 * @key: names all memory
 * @at: goes at the so many-th look from now; 0 = has gone, or never does
 * @gone: has
 */
struct goes_test {
	struct ornic_fixture fix;
	struct ornic_engine_ops ops;
	void *(*dma)(void *host, u64 addr, u64 len);
	u8 *page;
	u32 key;
	u32 at;
	bool gone;
};

static_assert(offsetof(struct goes_test, fix) == 0);

static struct goes_test *gt;

static int goes_init(struct kunit *test)
{
	int ret = ornic_suite_alloc(test, sizeof(*gt));

	gt = test->priv;
	return ret;
}

static void *dma_of_what_goes(void *host, u64 addr, u64 len)
{
	u64 start = (uintptr_t)gt->page;

	if (addr < start || addr >= start + PAGE)
		return gt->dma(host, addr, len);
	if (gt->at && !--gt->at)
		gt->gone = true;
	return gt->gone ? NULL : gt->dma(host, addr, len);
}

static const struct goes_row {
	const char *desc;
	enum ornic_fix_kind kind;
	u8 opcode;
	bool remote; /* the peer's memory goes */
	u32 len;
} rows[] = {
	{ "SEND", ORNIC_FIX_WIRE, ORNIC_WQE_SEND, false, 3000 },
	{ "WRITE", ORNIC_FIX_WIRE, ORNIC_WQE_WRITE, false, 3000 },
	{ "READ", ORNIC_FIX_WIRE, ORNIC_WQE_READ, false, 3000 },
	{ "FAA", ORNIC_FIX_WIRE, ORNIC_WQE_FAA, false, 8 },
	{ "ATOMIC WRITE", ORNIC_FIX_WIRE, ORNIC_WQE_ATOMIC_WRITE, false, 8 },
	{ "receive", ORNIC_FIX_WIRE, ORNIC_WQE_SEND, true, 3000 },
	{ "WRITE, remote", ORNIC_FIX_WIRE, ORNIC_WQE_WRITE, true, 3000 },
	{ "READ, remote", ORNIC_FIX_WIRE, ORNIC_WQE_READ, true, 3000 },
	{ "FAA, remote", ORNIC_FIX_WIRE, ORNIC_WQE_FAA, true, 8 },
	{ "ATOMIC WRITE, remote", ORNIC_FIX_WIRE, ORNIC_WQE_ATOMIC_WRITE, true,
	  8 },
	{ "SEND, loopback", ORNIC_FIX_LOOP, ORNIC_WQE_SEND, false, 3000 },
	{ "WRITE, loopback", ORNIC_FIX_LOOP, ORNIC_WQE_WRITE, false, 3000 },
	{ "short WRITE, loopback", ORNIC_FIX_LOOP, ORNIC_WQE_WRITE, false, 8 },
	{ "READ, loopback", ORNIC_FIX_LOOP, ORNIC_WQE_READ, false, 3000 },
	{ "FAA, loopback", ORNIC_FIX_LOOP, ORNIC_WQE_FAA, false, 8 },
	{ "ATOMIC WRITE, loopback", ORNIC_FIX_LOOP, ORNIC_WQE_ATOMIC_WRITE,
	  false, 8 },
	{ "receive, loopback", ORNIC_FIX_LOOP, ORNIC_WQE_SEND, true, 3000 },
	{ "WRITE, remote, loopback", ORNIC_FIX_LOOP, ORNIC_WQE_WRITE, true,
	  3000 },
	{ "READ, remote, loopback", ORNIC_FIX_LOOP, ORNIC_WQE_READ, true,
	  3000 },
	{ "FAA, remote, loopback", ORNIC_FIX_LOOP, ORNIC_WQE_FAA, true, 8 },
	{ "ATOMIC WRITE, remote, loopback", ORNIC_FIX_LOOP,
	  ORNIC_WQE_ATOMIC_WRITE, true, 8 },
};

KUNIT_ARRAY_PARAM_DESC(goes, rows, desc);

static void open_fix(struct kunit *test, const struct goes_row *row)
{
	struct ornic_fixture *fix = &gt->fix;
	struct ornic_th *th;

	KUNIT_EXPECT_EQ(test, ornic_fix_close(fix), 0);
	ornic_suite_open(test, row->kind, ORNIC_QPT_RC);
	th = row->remote ? fix->pair.b : fix->pair.a;
	gt->page = ornic_th_alloc(th, PAGE);
	gt->gone = false;
	gt->at = 0;
	KUNIT_ASSERT_EQ(test,
			ornic_th_mkey(th, ORNIC_MKEY_DMA, 0, ORNIC_ACCESS_MASK,
				      &gt->key),
			0);
	gt->ops = *th->eng->dev.ops;
	gt->dma = gt->ops.dma;
	gt->ops.dma = dma_of_what_goes;
	th->eng->dev.ops = &gt->ops;
}

/* The status of one message, whose page goes at look @n. */
static int transfer(const struct goes_row *row, u32 n)
{
	struct ornic_fixture *fix = &gt->fix;
	struct ornic_lsge page = {
		.addr = (uintptr_t)gt->page,
		.length = row->len,
		.lkey = gt->key,
	};
	struct ornic_lsge here = ornic_fix_sge(&fix->am, 0, row->len);
	struct ornic_lsge there = ornic_fix_sge(&fix->bm, 0, row->len);
	struct ornic_th_wr wr = {
		.opcode = row->opcode,
		.flags = ORNIC_WQE_SIGNALED,
		.nsge = 1,
		.sge = row->remote ? &here : &page,
		.raddr = row->remote ? page.addr : there.addr,
		.rkey = row->remote ? gt->key : fix->bm.key,
	};
	struct ornic_cqe cqe;

	if (row->opcode == ORNIC_WQE_SEND)
		ornic_th_post_recv(&fix->b, 1, row->remote ? &page : &there, 1);
	gt->at = n;
	ornic_th_post_send(&fix->a, &wr);
	ornic_th_settle(&fix->pair);
	return ornic_fix_status(&fix->ascq, &cqe);
}

/* IBTA 10.2.6.2: its own memory is a protection error, the peer's a remote one. */
static void memory_goes(struct kunit *test)
{
	const struct goes_row *row = test->param_value;
	int status, allowed, op_error;
	u32 n;

	allowed = row->remote ? ORNIC_CQE_REM_ACCESS_ERR :
				ORNIC_CQE_LOC_PROT_ERR;
	op_error = row->remote && row->opcode == ORNIC_WQE_SEND ?
			   ORNIC_CQE_REM_OP_ERR :
			   allowed;
	for (n = 1; n < POINTS; n++) {
		open_fix(test, row);
		status = transfer(row, n);
		if (gt->at)
			break;
		KUNIT_EXPECT_TRUE_MSG(test,
				      status == allowed || status == op_error,
				      "look %u: status %u", n, status);
	}
	KUNIT_EXPECT_EQ(test, status, 0);
	KUNIT_EXPECT_GT(test, n, 1);
	KUNIT_EXPECT_LT(test, n, POINTS);
}

static struct kunit_case goes_cases[] = { KUNIT_CASE_PARAM(memory_goes,
							   goes_gen_params),
					  {} };

static struct kunit_suite goes_suite = {
	.name = "ornic_memory_goes",
	.init = goes_init,
	.exit = ornic_suite_exit,
	.test_cases = goes_cases,
};

kunit_test_suite(goes_suite);

MODULE_DESCRIPTION("ornic: suite of memory that goes");
MODULE_LICENSE("Dual BSD/GPL");
