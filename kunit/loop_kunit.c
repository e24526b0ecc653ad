// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Loopback means what the wire means: every scenario runs between two devices
 * and on one, and between two peer engines, and completions, PSNs, states, events
 * and memory must be the same.
 */
#include <kunit/test.h>

#include "engine/proto.h"
#include "loop_story.h"

#define RC ORNIC_QPT_RC
#define UC ORNIC_QPT_UC
#define UD ORNIC_QPT_UD
static int loop_init(struct kunit *test)
{
	return ornic_suite_alloc(test, sizeof(struct ornic_loop_test));
}

/* ---- scenarios ------------------------------------------------------------- */

static void post(struct ornic_fixture *fix, u8 opcode, u8 flags, u32 off,
		 u32 len)
{
	ornic_fix_post(&fix->a, &fix->am, &fix->bm, opcode, flags, off, len);
}

static void recv(struct ornic_fixture *fix, u32 off, u32 len)
{
	/* So that a completion tells where its GRH is. */
	ornic_fix_recv(&fix->b, &fix->bm, off, off, len);
}

static void do_sends(struct ornic_fixture *fix)
{
	static const u32 len[] = { 0, 1, 1023, 1024, 1025, 5000 };
	u32 i;

	for (i = 0; i < ARRAY_SIZE(len); i++)
		recv(fix, i * 8192, 8000);
	for (i = 0; i < ARRAY_SIZE(len); i++)
		post(fix, i & 1 ? ORNIC_WQE_SEND_IMM : ORNIC_WQE_SEND,
		     i == 2 ? ORNIC_WQE_SOLICITED : 0, i * 8192, len[i]);
}

static void do_writes(struct ornic_fixture *fix)
{
	recv(fix, 60000, 0);
	post(fix, ORNIC_WQE_WRITE, 0, 0, 40000);
	post(fix, ORNIC_WQE_WRITE, 0, 50000, 0);
	post(fix, ORNIC_WQE_WRITE_IMM, 0, 45000, 3000);
	post(fix, ORNIC_WQE_WRITE, 0, 10, 20);
}

static void do_fetches(struct ornic_fixture *fix)
{
	post(fix, ORNIC_WQE_READ, 0, 0, 50000);
	post(fix, ORNIC_WQE_FAA, 0, 30000, 8);
	post(fix, ORNIC_WQE_CAS, 0, 30008, 8);
	post(fix, ORNIC_WQE_FAA, ORNIC_WQE_FENCE, 30000, 8);
	post(fix, ORNIC_WQE_READ, 0, 40000, 0);
	post(fix, ORNIC_WQE_READ, 0, 40000, 1);
}

/* Two SGEs, and bytes in the WQE itself. */
static void post_pieces(struct ornic_fixture *fix, u8 opcode)
{
	struct ornic_lsge sge[] = {
		ornic_fix_sge(&fix->am, 30000, 7),
		ornic_fix_sge(&fix->am, 20000, 9),
	};
	struct ornic_th_wr wr = {
		.wr_id = 1,
		.opcode = opcode,
		.nsge = ARRAY_SIZE(sge),
		.sge = sge,
		.raddr = fix->bm.iova + 33333,
		.rkey = fix->bm.key,
	};

	ornic_th_post_send(&fix->a, &wr);
	if (opcode != ORNIC_WQE_WRITE)
		return;
	wr.flags = ORNIC_WQE_INLINE;
	wr.inline_data = "inline";
	wr.inline_len = 6;
	wr.raddr += 100;
	ornic_th_post_send(&fix->a, &wr);
}

/* Messages of one packet: in one page, over its end, behind long ones. */
static void do_shorts(struct ornic_fixture *fix, u8 opcode)
{
	static const u32 len[] = { 1, 8, 1023, 1024, 2000, 64 };
	u32 i;

	for (i = 0; i < ARRAY_SIZE(len); i++) {
		post(fix, opcode, ORNIC_WQE_SIGNALED, i * 8192, len[i]);
		post(fix, opcode, 0, i * 8192 + 4096 - len[i], len[i]);
		post(fix, opcode, 0, i * 8192 + 8191 - len[i] / 2, len[i]);
	}
	post_pieces(fix, opcode);
	post(fix, opcode, ORNIC_WQE_SIGNALED, 50, 60);
}

static void do_short_writes(struct ornic_fixture *fix)
{
	do_shorts(fix, ORNIC_WQE_WRITE);
}

static void do_short_reads(struct ornic_fixture *fix)
{
	do_shorts(fix, ORNIC_WQE_READ);
}

static void do_rnr(struct ornic_fixture *fix)
{
	post(fix, ORNIC_WQE_SEND, 0, 0, 2000);
	post(fix, ORNIC_WQE_WRITE, 0, 3000, 2000);
	ornic_th_advance(&fix->pair, 3 * ORNIC_TH_MS);
	recv(fix, 8192, 4096);
}

static void do_rnr_write_imm(struct ornic_fixture *fix)
{
	post(fix, ORNIC_WQE_WRITE_IMM, 0, 0, 5000);
	ornic_th_advance(&fix->pair, 3 * ORNIC_TH_MS);
	recv(fix, 8192, 0);
}

static void do_rnr_exhaustion(struct ornic_fixture *fix)
{
	post(fix, ORNIC_WQE_SEND, 0, 0, 10);
	post(fix, ORNIC_WQE_SEND, 0, 0, 10);
}

static void do_long_send(struct ornic_fixture *fix)
{
	recv(fix, 0, 1000);
	recv(fix, 8192, 100);
	post(fix, ORNIC_WQE_SEND, 0, 0, 3000);
	post(fix, ORNIC_WQE_SEND, 0, 0, 10);
}

static void do_bad_recv_key(struct ornic_fixture *fix)
{
	struct ornic_lsge sge = ornic_fix_sge(&fix->bm, 0, 100);

	sge.lkey ^= 1;
	ornic_th_post_recv(&fix->b, 7, &sge, 1);
	recv(fix, 0, 100);
	post(fix, ORNIC_WQE_SEND, 0, 0, 50);
}

/* 8 bytes with keys that may be wrong, then a good one. */
static void post_keys(struct ornic_fixture *fix, u8 opcode, u32 lkey, u64 raddr,
		      u32 rkey)
{
	struct ornic_lsge sge = ornic_fix_sge(&fix->am, 0, 8);
	struct ornic_th_wr wr = {
		.wr_id = 1,
		.opcode = opcode,
		.flags = ORNIC_WQE_SIGNALED,
		.nsge = 1,
		.sge = &sge,
		.raddr = raddr,
		.rkey = rkey,
	};

	sge.lkey = lkey;
	ornic_th_post_send(&fix->a, &wr);
	post(fix, ORNIC_WQE_WRITE, 0, 0, 10);
}

static void bad_remote(struct ornic_fixture *fix, u8 opcode, u64 raddr, u32 xor)
{
	post_keys(fix, opcode, fix->am.key, raddr, fix->bm.key ^ xor);
}

static void bad_local(struct ornic_fixture *fix, u8 opcode)
{
	post(fix, opcode, ORNIC_WQE_SIGNALED, 0, 8);
	post_keys(fix, opcode, fix->am.key ^ 1, fix->bm.iova, fix->bm.key);
}

static void do_bad_rkey(struct ornic_fixture *fix)
{
	bad_remote(fix, ORNIC_WQE_WRITE, fix->bm.iova, 1);
}

static void do_bad_range(struct ornic_fixture *fix)
{
	bad_remote(fix, ORNIC_WQE_READ, fix->bm.iova + ORNIC_FIX_MR_BYTES - 4,
		   0);
}

static void do_misaligned(struct ornic_fixture *fix)
{
	bad_remote(fix, ORNIC_WQE_FAA, fix->bm.iova + 1, 0);
}

static void do_forbidden(struct ornic_fixture *fix)
{
	fix->b.conn.access = ORNIC_ACCESS_LOCAL_WRITE;
	ornic_th_modify(&fix->b, ORNIC_QPS_RTS,
			ORNIC_QPM_STATE | ORNIC_QPM_ACCESS);
	post(fix, ORNIC_WQE_READ, 0, 0, 10);
}

static void do_no_dest_rd(struct ornic_fixture *fix)
{
	post(fix, ORNIC_WQE_READ, 0, 0, 10);
}

/* The last of @nsge SGEs has a bad key; messages before and behind it are good. */
static void bad_last_sge(struct ornic_fixture *fix, u8 opcode, u32 nsge,
			 u32 len)
{
	struct ornic_lsge sge[] = {
		ornic_fix_sge(&fix->am, 0, len),
		ornic_fix_sge(&fix->am, len, len),
	};
	struct ornic_th_wr wr = {
		.wr_id = 1,
		.opcode = opcode,
		.nsge = nsge,
		.sge = sge,
		.raddr = fix->bm.iova,
		.rkey = fix->bm.key,
	};

	recv(fix, 0, 4096);
	recv(fix, 4096, 4096);
	post(fix, ORNIC_WQE_SEND, 0, 0, 10);
	sge[nsge - 1].lkey ^= 1;
	ornic_th_post_send(&fix->a, &wr);
	post(fix, ORNIC_WQE_SEND, 0, 0, 10);
}

static void do_bad_lkey(struct ornic_fixture *fix)
{
	bad_last_sge(fix, ORNIC_WQE_SEND, 1, 3000);
}

static void do_bad_lkey_long_read(struct ornic_fixture *fix)
{
	bad_last_sge(fix, ORNIC_WQE_READ, 1, 3000);
}

static void do_bad_second_lkey(struct ornic_fixture *fix)
{
	bad_last_sge(fix, ORNIC_WQE_READ, 2, 4);
}

static void do_bad_lkey_atomic(struct ornic_fixture *fix)
{
	bad_local(fix, ORNIC_WQE_FAA);
}

static void do_bad_lkey_write(struct ornic_fixture *fix)
{
	bad_local(fix, ORNIC_WQE_WRITE);
}

static void do_bad_lkey_read(struct ornic_fixture *fix)
{
	bad_local(fix, ORNIC_WQE_READ);
}

static void do_write_forbidden(struct ornic_fixture *fix)
{
	fix->b.conn.access = ORNIC_ACCESS_LOCAL_WRITE;
	ornic_th_modify(&fix->b, ORNIC_QPS_RTS,
			ORNIC_QPM_STATE | ORNIC_QPM_ACCESS);
	post(fix, ORNIC_WQE_WRITE, 0, 0, 10);
}

static void do_peer_in_error(struct ornic_fixture *fix)
{
	recv(fix, 0, 4096);
	ornic_th_to(&fix->b, ORNIC_QPS_ERR);
	post(fix, ORNIC_WQE_SEND, 0, 0, 10);
}

static void do_peer_gone(struct ornic_fixture *fix)
{
	ornic_th_qp_fini(&fix->b);
	post(fix, ORNIC_WQE_WRITE, 0, 0, 3000);
}

/* A peer that expects its packets from, and sends them to, another address. */
static void do_other_address(struct ornic_fixture *fix)
{
	u8 state;

	ornic_th_av(&fix->b.conn.av, fix->pair.a->index, ORNIC_TH_IPV6);
	for (state = ORNIC_QPS_RESET; state <= ORNIC_QPS_RTS; state++)
		ornic_th_to(&fix->b, state);
	post(fix, ORNIC_WQE_WRITE, 0, 0, 3000);
}

static void do_no_recv(struct ornic_fixture *fix)
{
	recv(fix, 0, 4096);
	post(fix, ORNIC_WQE_SEND, 0, 0, 2000);
	post(fix, ORNIC_WQE_SEND, 0, 4096, 2000);
	post(fix, ORNIC_WQE_WRITE, 0, 8192, 2000);
}

static void send_datagram(struct ornic_fixture *fix, u8 opcode, u32 qkey,
			  u32 len)
{
	struct ornic_lsge sge = ornic_fix_sge(&fix->am, 0, len);
	struct ornic_th_wr wr = {
		.wr_id = 1,
		.opcode = opcode,
		.nsge = 1,
		.sge = &sge,
		.flags = ORNIC_WQE_SIGNALED,
		.dest_qpn = fix->b.qpn,
		.dest_qkey = qkey,
		.imm = cpu_to_be32(0x5678),
	};

	ornic_th_ah(fix->pair.a, &fix->a.conn.av, &wr.ah);
	ornic_th_post_send(&fix->a, &wr);
}

static void datagram(struct ornic_fixture *fix, u32 qkey, u32 len)
{
	send_datagram(fix, ORNIC_WQE_SEND_IMM, qkey, len);
}

/* With and without ImmDt and pad bytes. */
static void do_datagrams_to(struct ornic_fixture *fix, enum ornic_th_gid which)
{
	struct ornic_av *av = &fix->a.conn.av;
	u32 i;

	ornic_th_av(av, fix->b.th->index, which);
	av->sl = 5;
	av->tclass = 0x48;
	for (i = 0; i < 8; i++)
		recv(fix, i * 4096, 4096);
	for (i = 0; i < 8; i++)
		send_datagram(fix, i & 4 ? ORNIC_WQE_SEND : ORNIC_WQE_SEND_IMM,
			      0x1234, 101 + i);
}

static void do_ipv6_datagrams(struct ornic_fixture *fix)
{
	do_datagrams_to(fix, ORNIC_TH_IPV6);
}

static void do_vlan_datagrams(struct ornic_fixture *fix)
{
	do_datagrams_to(fix, ORNIC_TH_VLAN);
}

static void do_v1_datagrams(struct ornic_fixture *fix)
{
	do_datagrams_to(fix, ORNIC_TH_V1);
}

static void do_datagrams(struct ornic_fixture *fix)
{
	recv(fix, 0, 1000);
	recv(fix, 1000, 5000);
	recv(fix, 6000, 40);
	datagram(fix, 0x1234, 100);
	datagram(fix, 0x4321, 100); /* wrong Q_Key: lost */
	datagram(fix, 0x80000000, 4096);
	datagram(fix, 0x1234, 0);
	datagram(fix, 0x1234, 1); /* no receive: lost */
}

static void do_long_datagram(struct ornic_fixture *fix)
{
	recv(fix, 0, 100);
	recv(fix, 1000, 100);
	datagram(fix, 0x1234, 61);
	datagram(fix, 0x1234, 10);
}

static void do_long_unreliable(struct ornic_fixture *fix)
{
	recv(fix, 0, 100);
	recv(fix, 1000, 100);
	post(fix, ORNIC_WQE_SEND, 0, 0, 101);
	post(fix, ORNIC_WQE_SEND, 0, 0, 100);
	post(fix, ORNIC_WQE_SEND, 0, 0, 10);
}

static const struct ornic_scene scenes[] = {
	{ "IBTA 9.7: RC, SENDs of many sizes", RC, do_sends, 7, 4, 6 },
	{ "IBTA 9.7: RC, WRITEs", RC, do_writes, 7, 4, 4 },
	{ "IBTA 9.7: RC, READs and atomics", RC, do_fetches, 7, 4, 6 },
	{ "IBTA 9.7: RC, short WRITEs", RC, do_short_writes, 7, 4, 16 },
	{ "IBTA 9.7: RC, short READs", RC, do_short_reads, 7, 4, 16 },
	{ "IBTA 9.7: RC, short READs, one by one", RC, do_short_reads, 7, 1,
	  16 },
	{ "IBTA 9.7.5.2.8: RC, RNR and a late receive", RC, do_rnr, 7, 4, 2 },
	{ "IBTA 9.7.5.2.8: RC, RNR at the end of a WRITE", RC, do_rnr_write_imm,
	  7, 4, 1 },
	{ "IBTA 9.7.5.2.8: RC, RNR retries run out", RC, do_rnr_exhaustion, 2,
	  4, 0 },
	{ "IBTA 9.9.3: RC, SEND longer than the receive", RC, do_long_send, 7,
	  4, 0 },
	{ "IBTA 9.9.3: RC, receive with a bad key", RC, do_bad_recv_key, 7, 4,
	  0 },
	{ "IBTA 9.9.3: RC, WRITE with a bad key", RC, do_bad_rkey, 7, 4, 0 },
	{ "IBTA 9.9.3: RC, READ out of range", RC, do_bad_range, 7, 4, 0 },
	{ "IBTA 9.9.3: RC, misaligned atomic", RC, do_misaligned, 7, 4, 0 },
	{ "IBTA 9.9.3: RC, READ that the QP forbids", RC, do_forbidden, 7, 4,
	  0 },
	{ "IBTA 9.9.3: RC, READ without responder resources", RC, do_no_dest_rd,
	  7, 0, 0 },
	{ "IBTA 9.9.2: RC, bad local key in its turn", RC, do_bad_lkey, 7, 4,
	  1 },
	{ "IBTA 9.9.2: RC, WRITE with a bad local key", RC, do_bad_lkey_write,
	  7, 4, 1 },
	{ "IBTA 9.9.2: RC, READ with a bad local key", RC, do_bad_lkey_read, 7,
	  4, 1 },
	{ "IBTA 9.9.2: RC, long READ with a bad local key", RC,
	  do_bad_lkey_long_read, 7, 4, 1 },
	{ "IBTA 9.9.2: RC, READ with a bad second local key", RC,
	  do_bad_second_lkey, 7, 4, 1 },
	{ "IBTA 9.9.2: RC, atomic with a bad local key", RC, do_bad_lkey_atomic,
	  7, 4, 1 },
	{ "IBTA 9.9.3: RC, WRITE that the QP forbids", RC, do_write_forbidden,
	  7, 4, 0 },
	{ "IBTA 9.9.2.1.1: RC, peer in the error state", RC, do_peer_in_error,
	  7, 4, 0 },
	{ "IBTA 9.9.2.1.1: RC, peer destroyed", RC, do_peer_gone, 7, 4, 0 },
	{ "IBTA A17.9: RC, peer with other addresses", RC, do_other_address, 7,
	  4, 0 },
	{ "IBTA 9.8.2: UC, SENDs of many sizes", UC, do_sends, 0, 0, 6 },
	{ "IBTA 9.8.2: UC, WRITEs", UC, do_writes, 0, 0, 4 },
	{ "IBTA 9.8.2: UC, short WRITEs", UC, do_short_writes, 0, 0, 16 },
	{ "IBTA 9.8.2: UC, WRITE that the QP forbids", UC, do_write_forbidden,
	  0, 0, 1 },
	{ "IBTA 9.8.2: UC, no receive", UC, do_no_recv, 0, 0, 3 },
	{ "IBTA 9.8.2: UC, WRITE with a bad key", UC, do_bad_rkey, 0, 0, 2 },
	{ "IBTA 9.9.3: UC, receive with a bad key", UC, do_bad_recv_key, 0, 0,
	  1 },
	{ "IBTA 9.8.2: UC, peer destroyed", UC, do_peer_gone, 0, 0, 1 },
	{ "IBTA 9.9.3: UC, SEND longer than the receive", UC,
	  do_long_unreliable, 0, 0, 3 },
	{ "IBTA 9.8.3: UD, datagrams", UD, do_datagrams, 0, 0, 5 },
	{ "IBTA A17.4.5: UD, IPv6 headers", UD, do_ipv6_datagrams, 0, 0, 8 },
	{ "IBTA A17.4.5: UD, IPv4 headers, VLAN", UD, do_vlan_datagrams, 0, 0,
	  8 },
	{ "IBTA A16: UD, RoCE v1", UD, do_v1_datagrams, 0, 0, 8 },
	{ "IBTA 9.9.3: UD, longer than the receive", UD, do_long_datagram, 0, 0,
	  2 },
};

KUNIT_ARRAY_PARAM_DESC(scene, scenes, desc);

static void loop_equals_wire(struct kunit *test)
{
	ornic_scene_compare(test, test->param_value);
}

/* ---- what only loopback can do --------------------------------------------- */

/* A QP may be its own peer. */
static void loop_self(struct kunit *test)
{
	struct ornic_th_qpinit init = { .type = RC };
	struct ornic_fixture *fix = test->priv;
	struct ornic_cqe cqe;

	KUNIT_ASSERT_EQ(test, ornic_fix_open(fix, ORNIC_FIX_LOOP, &init), 0);
	KUNIT_ASSERT_EQ(test, ornic_th_connect(&fix->a, &fix->a, ORNIC_TH_IPV6),
			0);
	ornic_fix_fill(&fix->am, 0, 8192, 1);
	ornic_fix_recv(&fix->a, &fix->am, 5, 16384, 8192);
	ornic_fix_post(&fix->a, &fix->am, &fix->am, ORNIC_WQE_SEND, 0, 0, 8192);
	ornic_fix_post(&fix->a, &fix->am, &fix->bm, ORNIC_WQE_READ, 0, 32768,
		       100);
	KUNIT_EXPECT_TRUE(test, ornic_th_settle(&fix->pair));
	KUNIT_EXPECT_EQ(test, ornic_fix_status(&fix->arcq, &cqe), 0);
	KUNIT_EXPECT_EQ(test, ornic_fix_status(&fix->ascq, &cqe), 0);
	KUNIT_EXPECT_EQ(test, ornic_fix_status(&fix->ascq, &cqe), 0);
	KUNIT_EXPECT_EQ(test, ornic_fix_compare(&fix->am, 16384, 8192, 1), -1);
}

/* A long message is done in turns of a budget, and ends whole. */
static void loop_budget(struct kunit *test)
{
	struct ornic_th_qpinit init = { .type = RC };
	const u32 bytes = 3 * ORNIC_LOOP_PIECE;
	struct ornic_fixture *fix = test->priv;
	struct ornic_th_mr from, to;
	struct ornic_cqe cqe;
	u32 turns = 0;

	KUNIT_ASSERT_EQ(test, ornic_fix_open(fix, ORNIC_FIX_LOOP, &init), 0);
	KUNIT_ASSERT_EQ(test, ornic_fix_connect(fix), 0);
	KUNIT_ASSERT_EQ(test,
			ornic_th_mr_init(fix->pair.a, &from, bytes, 0, 0,
					 ORNIC_ACCESS_MASK),
			0);
	KUNIT_ASSERT_EQ(test,
			ornic_th_mr_init(fix->pair.a, &to, bytes, 0, 0,
					 ORNIC_ACCESS_MASK),
			0);
	ornic_fix_fill(&from, 0, bytes, 3);
	fix->pair.a->budget = 1000;
	ornic_fix_post(&fix->a, &from, &to, ORNIC_WQE_WRITE, 0, 0, bytes);
	ornic_fix_post(&fix->a, &fix->am, &fix->bm, ORNIC_WQE_WRITE, 0, 0, 1);
	ornic_fix_post(&fix->a, &fix->am, &fix->bm, ORNIC_WQE_WRITE, 0, 0, 1);
	while (ornic_th_run(fix->pair.a))
		turns++;
	KUNIT_EXPECT_GE(test, turns, 2);
	KUNIT_EXPECT_EQ(test, ornic_fix_status(&fix->ascq, &cqe), 0);
	KUNIT_EXPECT_EQ(test, ornic_fix_status(&fix->ascq, &cqe), 0);
	KUNIT_EXPECT_EQ(test, ornic_fix_status(&fix->ascq, &cqe), 0);
	KUNIT_EXPECT_EQ(test, ornic_fix_compare(&to, 0, bytes, 3), -1);
}

/* A peer engine that goes is a peer that does not answer, IBTA C9-138. */
static void loop_peer_engine_gone(struct kunit *test)
{
	struct ornic_th_qpinit init = { .type = RC };
	struct ornic_fixture *fix = test->priv;
	struct ornic_cqe cqe;

	KUNIT_ASSERT_EQ(test, ornic_fix_open(fix, ORNIC_FIX_PEER, &init), 0);
	fix->a.conn.retry_cnt = 1;
	KUNIT_ASSERT_EQ(test, ornic_fix_connect(fix), 0);
	fix->pair.a->peer = NULL;
	ornic_fix_post(&fix->a, &fix->am, &fix->bm, ORNIC_WQE_WRITE, 0, 0, 64);
	ornic_th_advance(&fix->pair, 2000 * ORNIC_TH_MS);
	KUNIT_EXPECT_EQ(test, ornic_fix_status(&fix->ascq, &cqe),
			ORNIC_CQE_RETRY_EXC_ERR);
}

/*
 * Who found its peer engine only after it had made its path sends packets, and
 * the other one answers them by packets.
 */
static void loop_one_sided(struct kunit *test)
{
	struct ornic_th_qpinit init = { .type = RC };
	struct ornic_fixture *fix = test->priv;
	struct ornic_cqe cqe;
	u64 sent;

	KUNIT_ASSERT_EQ(test, ornic_fix_open(fix, ORNIC_FIX_PEER, &init), 0);
	fix->pair.b->peer = NULL;
	KUNIT_ASSERT_EQ(test, ornic_fix_connect(fix), 0);
	ornic_fix_fill(&fix->am, 0, 4096, 3);
	ornic_fix_post(&fix->a, &fix->am, &fix->bm, ORNIC_WQE_WRITE, 0, 0,
		       4096);
	ornic_fix_post(&fix->b, &fix->bm, &fix->am, ORNIC_WQE_READ, 0, 8192,
		       4096);
	ornic_fix_post(&fix->b, &fix->bm, &fix->am, ORNIC_WQE_WRITE, 0, 16384,
		       4096);
	KUNIT_EXPECT_TRUE(test, ornic_th_settle(&fix->pair));
	KUNIT_EXPECT_EQ(test, ornic_fix_status(&fix->ascq, &cqe), 0);
	KUNIT_EXPECT_EQ(test, ornic_fix_status(&fix->bscq, &cqe), 0);
	KUNIT_EXPECT_EQ(test, ornic_fix_status(&fix->bscq, &cqe), 0);
	KUNIT_EXPECT_EQ(test, ornic_fix_compare(&fix->bm, 0, 4096, 3), -1);
	sent = ornic_engine_stat(fix->pair.b->eng, ORNIC_STAT_TX_PACKETS);
	KUNIT_EXPECT_GT(test, sent, 0);
}

/* Switched off, it leaves a device's packets to itself to the wire. */
static void loop_switched_off(struct kunit *test)
{
	struct ornic_th_qpinit init = { .type = RC };
	struct ornic_fixture *fix = test->priv;
	struct ornic_engine *eng;
	struct ornic_cqe cqe;

	KUNIT_ASSERT_EQ(test, ornic_fix_open(fix, ORNIC_FIX_LOOP, &init), 0);
	eng = fix->pair.a->eng;
	KUNIT_EXPECT_TRUE(test, ornic_engine_loopback(eng));
	ornic_engine_set_loopback(eng, false);
	KUNIT_ASSERT_EQ(test, ornic_fix_connect(fix), 0);
	ornic_fix_post(&fix->a, &fix->am, &fix->bm, ORNIC_WQE_WRITE, 0, 0, 100);
	ornic_th_run(fix->pair.a);
	KUNIT_EXPECT_EQ(test, ornic_engine_stat(eng, ORNIC_STAT_TX_PACKETS), 1);
	KUNIT_EXPECT_FALSE(test, ornic_th_poll(&fix->ascq, &cqe));
}

static struct kunit_case loop_cases[] = { KUNIT_CASE_PARAM(loop_equals_wire,
							   scene_gen_params),
					  KUNIT_CASE(loop_self),
					  KUNIT_CASE(loop_budget),
					  KUNIT_CASE(loop_peer_engine_gone),
					  KUNIT_CASE(loop_one_sided),
					  KUNIT_CASE(loop_switched_off),
					  {} };

static struct kunit_suite loop_suite = {
	.name = "ornic_loop",
	.init = loop_init,
	.exit = ornic_suite_exit,
	.test_cases = loop_cases,
};

kunit_test_suite(loop_suite);

MODULE_DESCRIPTION("ornic: loopback suite");
MODULE_LICENSE("Dual BSD/GPL");
