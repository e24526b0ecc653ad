// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Loopback means what the wire means, see loop_kunit.c: XRC, memory windows, and
 * what IBTA A19 adds.
 */
#include <kunit/test.h>

#include "loop_story.h"
#include "engine/srq.h"

#define RC ORNIC_QPT_RC
#define INI ORNIC_QPT_XRC_INI
#define TGT ORNIC_QPT_XRC_TGT
#define DOMAIN 7
#define WINDOW_AT 1000u
#define WINDOW_BYTES 4000u

/**
 * struct verbs_test - what a scene has
 * @loop: its QPs
 * @srq: of b's domain, with b's receive CQ
 * @window: of type 2, bound by b to a part of bm
 */
struct verbs_test {
	struct ornic_loop_test loop;
	struct ornic_th_srq srq;
	u32 window;
};

static_assert(offsetof(struct verbs_test, loop) == 0);

static int verbs_init(struct kunit *test)
{
	return ornic_suite_alloc(test, sizeof(struct verbs_test));
}

static struct verbs_test *of(struct ornic_fixture *fix)
{
	return container_of(fix, struct verbs_test, loop.fix);
}

static void post(struct ornic_fixture *fix, u8 opcode, u32 off, u32 len)
{
	ornic_fix_post(&fix->a, &fix->am, &fix->bm, opcode, 0, off, len);
}

/* ---- XRC ------------------------------------------------------------------------ */

/* b becomes the target of a. */
static int prepare_xrc(struct ornic_fixture *fix)
{
	struct ornic_th_qpinit init = { .type = TGT, .xrcdn = DOMAIN };
	struct verbs_test *vt = of(fix);
	int status;

	status = ornic_th_qp_fini(&fix->b);
	if (!status)
		status = ornic_th_xsrq_init(fix->pair.b, &vt->srq, 3, DOMAIN,
					    &fix->brcq);
	if (!status)
		status = ornic_th_qp_init(fix->pair.b, &fix->b, &init, NULL,
					  NULL);
	fix->a.srqn = vt->srq.srqn;
	return status;
}

static void recv_xrc(struct ornic_fixture *fix, u32 off, u32 len)
{
	struct ornic_lsge sge = ornic_fix_sge(&fix->bm, off, len);

	ornic_th_post_srq(&of(fix)->srq, off, &sge, 1);
}

static void do_xrc(struct ornic_fixture *fix)
{
	recv_xrc(fix, 0, 8000);
	recv_xrc(fix, 8192, 8000);
	recv_xrc(fix, 16384, 0);
	post(fix, ORNIC_WQE_SEND, 0, 3000);
	post(fix, ORNIC_WQE_SEND_IMM, 4096, 0);
	post(fix, ORNIC_WQE_WRITE, 30000, 5000);
	post(fix, ORNIC_WQE_WRITE_IMM, 36000, 100);
	post(fix, ORNIC_WQE_READ, 40000, 5000);
	post(fix, ORNIC_WQE_FAA, 50000, 8);
	post(fix, ORNIC_WQE_CAS, 50008, 8);
}

static void do_xrc_unready(struct ornic_fixture *fix)
{
	post(fix, ORNIC_WQE_SEND, 0, 3000);
	ornic_th_advance(&fix->pair, 3 * ORNIC_TH_MS);
	recv_xrc(fix, 0, 8000);
}

/* A number that no SRQ of the domain has. */
static void do_xrc_stranger(struct ornic_fixture *fix)
{
	recv_xrc(fix, 0, 8000);
	post(fix, ORNIC_WQE_SEND, 0, 100);
	fix->a.srqn ^= 1;
	post(fix, ORNIC_WQE_SEND, 0, 100);
	post(fix, ORNIC_WQE_WRITE, 0, 100);
}

static void do_xrc_long(struct ornic_fixture *fix)
{
	recv_xrc(fix, 0, 1000);
	recv_xrc(fix, 8192, 100);
	post(fix, ORNIC_WQE_SEND, 0, 3000);
	post(fix, ORNIC_WQE_SEND, 0, 10);
}

static void do_xrc_bad_recv_key(struct ornic_fixture *fix)
{
	struct ornic_lsge sge = ornic_fix_sge(&fix->bm, 0, 100);

	sge.lkey ^= 1;
	ornic_th_post_srq(&of(fix)->srq, 7, &sge, 1);
	recv_xrc(fix, 0, 100);
	post(fix, ORNIC_WQE_SEND, 0, 50);
	post(fix, ORNIC_WQE_SEND, 0, 50);
}

static void do_xrc_bad_rkey(struct ornic_fixture *fix)
{
	post(fix, ORNIC_WQE_WRITE, 0, 100);
	fix->bm.key ^= 1;
	post(fix, ORNIC_WQE_WRITE, 0, 100);
	fix->bm.key ^= 1;
	post(fix, ORNIC_WQE_READ, 0, 100);
}

/* ---- windows ---------------------------------------------------------------------- */

/* Windows may be bound to b's memory. */
static int prepare_window(struct ornic_fixture *fix)
{
	int status = ornic_th_mr_fini(&fix->bm);

	if (!status)
		status = ornic_th_mr_init(fix->pair.b, &fix->bm,
					  ORNIC_FIX_MR_BYTES, 2000, 1,
					  ORNIC_ACCESS_MR_MASK);
	return status;
}

/* b binds its window with @access for a. */
static void bind(struct ornic_fixture *fix, u8 access)
{
	struct verbs_test *vt = of(fix);
	struct ornic_th_wr wr = {
		.opcode = ORNIC_WQE_BIND_MW,
		.flags = ORNIC_WQE_SIGNALED,
		.raddr = fix->bm.iova + WINDOW_AT,
		.bind_length = WINDOW_BYTES,
		.bind_lkey = fix->bm.key,
		.bind_access = access,
	};

	ornic_th_mw(fix->pair.b, ORNIC_MW_TYPE_2, &vt->window);
	wr.rkey = vt->window;
	ornic_fix_run_on_b(fix, &wr);
}

/* @opcode of @len bytes by the window. */
static void use(struct ornic_fixture *fix, u8 opcode, u32 off, u32 len)
{
	u32 key = fix->bm.key;

	fix->bm.key = of(fix)->window;
	post(fix, opcode, off, len);
	fix->bm.key = key;
}

static void do_window(struct ornic_fixture *fix)
{
	bind(fix, ORNIC_ACCESS_REMOTE_WRITE | ORNIC_ACCESS_REMOTE_READ |
			  ORNIC_ACCESS_REMOTE_ATOMIC);
	use(fix, ORNIC_WQE_WRITE, WINDOW_AT, WINDOW_BYTES);
	use(fix, ORNIC_WQE_WRITE, WINDOW_AT + 100, 8);
	use(fix, ORNIC_WQE_READ, WINDOW_AT + 2000, 2000);
	use(fix, ORNIC_WQE_READ, WINDOW_AT, 8);
	use(fix, ORNIC_WQE_FAA, WINDOW_AT, 8);
}

static void do_window_end(struct ornic_fixture *fix)
{
	bind(fix, ORNIC_ACCESS_REMOTE_WRITE);
	use(fix, ORNIC_WQE_WRITE, WINDOW_AT + WINDOW_BYTES - 8, 8);
	use(fix, ORNIC_WQE_WRITE, WINDOW_AT + WINDOW_BYTES - 7, 8);
	use(fix, ORNIC_WQE_WRITE, WINDOW_AT, 8);
}

static void do_window_long_end(struct ornic_fixture *fix)
{
	bind(fix, ORNIC_ACCESS_REMOTE_WRITE);
	use(fix, ORNIC_WQE_WRITE, WINDOW_AT, WINDOW_BYTES + 1);
}

static void do_window_right(struct ornic_fixture *fix)
{
	bind(fix, ORNIC_ACCESS_REMOTE_READ);
	use(fix, ORNIC_WQE_READ, WINDOW_AT, 100);
	use(fix, ORNIC_WQE_WRITE, WINDOW_AT, 100);
}

/* A SEND with @key, and a WRITE by the window after it. */
static void send_inv(struct ornic_fixture *fix, u32 key)
{
	struct ornic_lsge sge = ornic_fix_sge(&fix->am, 0, 100);
	struct ornic_th_wr wr = {
		.opcode = ORNIC_WQE_SEND_INV,
		.flags = ORNIC_WQE_SIGNALED,
		.nsge = 1,
		.sge = &sge,
		.imm = cpu_to_be32(key),
	};

	ornic_fix_recv(&fix->b, &fix->bm, 0, 20000, 4096);
	ornic_th_post_send(&fix->a, &wr);
	use(fix, ORNIC_WQE_WRITE, WINDOW_AT, 8);
}

static void do_window_send_inv(struct ornic_fixture *fix)
{
	bind(fix, ORNIC_ACCESS_REMOTE_WRITE);
	send_inv(fix, of(fix)->window);
}

/* IBTA 10.6.5.1: the key of a plain MR is not the peer's to invalidate. */
static void do_mr_send_inv(struct ornic_fixture *fix)
{
	bind(fix, ORNIC_ACCESS_REMOTE_WRITE);
	send_inv(fix, fix->bm.key);
}

/* ---- IBTA A19 --------------------------------------------------------------------- */

static void flush(struct ornic_fixture *fix, u8 type, u8 level, u32 off,
		  u32 len)
{
	struct ornic_th_wr wr = {
		.opcode = ORNIC_WQE_FLUSH,
		.flags = ORNIC_WQE_SIGNALED,
		.raddr = fix->bm.iova + off,
		.rkey = fix->bm.key,
		.bind_length = len,
		.flush_type = type,
		.flush_level = level,
	};

	ornic_th_post_send(&fix->a, &wr);
}

static void do_flushes(struct ornic_fixture *fix)
{
	post(fix, ORNIC_WQE_WRITE, 0, 5000);
	flush(fix, ORNIC_FLUSH_GLOBAL, ORNIC_FLUSH_RANGE, 0, 5000);
	post(fix, ORNIC_WQE_WRITE, 5000, 8);
	flush(fix, ORNIC_FLUSH_GLOBAL, ORNIC_FLUSH_MR, 0, 0);
	flush(fix, ORNIC_FLUSH_GLOBAL, ORNIC_FLUSH_RANGE, 0, 0);
	post(fix, ORNIC_WQE_READ, 0, 8);
}

static void do_flush_range(struct ornic_fixture *fix)
{
	post(fix, ORNIC_WQE_WRITE, 0, 8);
	flush(fix, ORNIC_FLUSH_GLOBAL, ORNIC_FLUSH_RANGE, 8,
	      ORNIC_FIX_MR_BYTES - 7);
	post(fix, ORNIC_WQE_WRITE, 0, 8);
}

static void do_flush_key(struct ornic_fixture *fix)
{
	fix->bm.key ^= 1;
	flush(fix, ORNIC_FLUSH_GLOBAL, ORNIC_FLUSH_MR, 0, 0);
	fix->bm.key ^= 1;
	post(fix, ORNIC_WQE_WRITE, 0, 8);
}

static void do_atomic_writes(struct ornic_fixture *fix)
{
	post(fix, ORNIC_WQE_ATOMIC_WRITE, 30000, 8);
	post(fix, ORNIC_WQE_WRITE, 30000, 4);
	post(fix, ORNIC_WQE_ATOMIC_WRITE, 30008, 8);
	post(fix, ORNIC_WQE_READ, 30000, 16);
}

static void do_atomic_write_misaligned(struct ornic_fixture *fix)
{
	post(fix, ORNIC_WQE_ATOMIC_WRITE, 30000, 8);
	post(fix, ORNIC_WQE_ATOMIC_WRITE, 30001, 8);
	post(fix, ORNIC_WQE_ATOMIC_WRITE, 30000, 8);
}

static const struct ornic_scene scenes[] = {
	{ "IBTA A14: messages of all kinds", INI, do_xrc, 7, 4, 7,
	  prepare_xrc },
	{ "IBTA A14: RNR and a late receive", INI, do_xrc_unready, 7, 4, 1,
	  prepare_xrc },
	{ "IBTA A14: SRQ of nobody", INI, do_xrc_stranger, 7, 4, 1,
	  prepare_xrc },
	{ "IBTA A14: SEND longer than the receive", INI, do_xrc_long, 7, 4, 0,
	  prepare_xrc },
	{ "IBTA A14: receive with a bad key", INI, do_xrc_bad_recv_key, 7, 4, 0,
	  prepare_xrc },
	{ "IBTA A14: WRITE with a bad key", INI, do_xrc_bad_rkey, 7, 4, 1,
	  prepare_xrc },
	{ "IBTA 10.6.7: window", RC, do_window, 7, 4, 5, prepare_window },
	{ "IBTA 10.6.7: beyond the window", RC, do_window_end, 7, 4, 1,
	  prepare_window },
	{ "IBTA 10.6.7: longer than the window", RC, do_window_long_end, 7, 4,
	  0, prepare_window },
	{ "IBTA 10.6.7: a right that it has not", RC, do_window_right, 7, 4, 1,
	  prepare_window },
	{ "IBTA 10.6.5: SEND with the key of a window", RC, do_window_send_inv,
	  7, 4, 1, prepare_window },
	{ "IBTA 10.6.5: SEND with the key of an MR", RC, do_mr_send_inv, 7, 4,
	  0, prepare_window },
	{ "IBTA A19.4: FLUSH", RC, do_flushes, 7, 4, 6 },
	{ "IBTA A19.4: FLUSH, one by one", RC, do_flushes, 7, 1, 6 },
	{ "IBTA A19.4: FLUSH out of range", RC, do_flush_range, 7, 4, 1 },
	{ "IBTA A19.4: FLUSH with a bad key", RC, do_flush_key, 7, 4, 0 },
	{ "IBTA A19.4: ATOMIC WRITE", RC, do_atomic_writes, 7, 4, 4 },
	{ "IBTA A19.4: ATOMIC WRITE, one by one", RC, do_atomic_writes, 7, 1,
	  4 },
	{ "IBTA A19.4: misaligned ATOMIC WRITE", RC, do_atomic_write_misaligned,
	  7, 4, 1 },
};

KUNIT_ARRAY_PARAM_DESC(scene, scenes, desc);

static void verbs_by_loop_equal_wire(struct kunit *test)
{
	ornic_scene_compare(test, test->param_value);
}

static struct kunit_case verbs_cases[] = {
	KUNIT_CASE_PARAM(verbs_by_loop_equal_wire, scene_gen_params),
	{}
};

static struct kunit_suite verbs_suite = {
	.name = "ornic_loop_verbs",
	.init = verbs_init,
	.exit = ornic_suite_exit,
	.test_cases = verbs_cases,
};

kunit_test_suite(verbs_suite);

MODULE_DESCRIPTION("ornic: loopback suite of XRC, windows and IBTA A19");
MODULE_LICENSE("Dual BSD/GPL");
