// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Multicast: who may be a member, who gets what from the wire and from the
 * same device, and what becomes of groups when their members go.
 */
#include <kunit/test.h>

#include "suite_fixture.h"
#include "engine/dev.h"

#define MEMBERS (1u << ORNIC_LOG_MAX_MCAST_QPS)
#define SLICE 512u /* bytes of bm for each member */
#define UD ORNIC_QPT_UD

/**
 * struct mcast_test - a fixture, and QPs that are or are not members
 * @fix: whose QP a sends
 * @pkey_index: of the QPs that are added
 * @n: entries of @qp
 * @qp: of the device of b
 * @rcq: each has one of its own
 */
struct mcast_test {
	struct ornic_fixture fix;
	u8 pkey_index;
	u32 n;
	struct ornic_th_qp qp[MEMBERS + 1];
	struct ornic_th_cq rcq[MEMBERS + 1];
};

static_assert(offsetof(struct mcast_test, fix) == 0);

static int mcast_init(struct kunit *test)
{
	return ornic_suite_alloc(test, sizeof(struct mcast_test));
}

static int group_cmd(struct ornic_th *th, u8 opcode, u32 qpn, const u8 *mgid)
{
	union ornic_req req;
	union ornic_rsp rsp;

	memset(&req, 0, sizeof(req));
	req.hdr.opcode = opcode;
	req.hdr.obj = cpu_to_le32(qpn);
	memcpy(req.mcast.mgid, mgid, sizeof(req.mcast.mgid));
	return ornic_th_cmd(th, &req, &rsp);
}

static int attach(const struct ornic_th_qp *qp, const u8 *mgid)
{
	return group_cmd(qp->th, ORNIC_CMD_ATTACH_MCAST, qp->qpn, mgid);
}

static int detach(const struct ornic_th_qp *qp, const u8 *mgid)
{
	return group_cmd(qp->th, ORNIC_CMD_DETACH_MCAST, qp->qpn, mgid);
}

/* An address of a group in the family of @which: 239.1.2.@n, or ff0e::@n. */
static void group_gid(u8 *mgid, enum ornic_th_gid which, u8 n)
{
	static const u8 v4[12] = { [10] = 0xff, [11] = 0xff };

	memset(mgid, 0, 16);
	mgid[15] = n;
	if (which == ORNIC_TH_IPV6 || which == ORNIC_TH_V1) {
		mgid[0] = 0xff;
		mgid[1] = 0x0e;
		return;
	}
	memcpy(mgid, v4, sizeof(v4));
	mgid[12] = 239;
	mgid[13] = 1;
	mgid[14] = 2;
}

/* The address vector to a group; the MAC is that of the host's choice. */
static void group_av(struct ornic_av *av, enum ornic_th_gid which, u8 n)
{
	static const u8 mac[6] = { 0x01, 0x00, 0x5e, 0x01, 0x02, 0x03 };

	ornic_th_av(av, 1, which);
	group_gid(av->dgid, which, n);
	memcpy(av->dmac, mac, sizeof(mac));
}

/* Two devices, or one: a and b are UD in RTS, without being members. */
static struct ornic_fixture *open_fix(struct kunit *test,
				      enum ornic_fix_kind kind, u8 flags)
{
	struct ornic_th_qpinit init = { .type = UD, .flags = flags };
	struct mcast_test *mt = test->priv;
	struct ornic_fixture *fix = &mt->fix;

	KUNIT_ASSERT_EQ(test, ornic_fix_open(fix, kind, &init), 0);
	KUNIT_ASSERT_EQ(test, ornic_fix_connect(fix), 0);
	ornic_fix_fill(&fix->am, 0, SLICE, 1);
	return fix;
}

/* One more QP of b's device, with a receive for one datagram. */
static struct ornic_th_qp *add_qp(struct kunit *test, u32 qkey)
{
	struct ornic_th_qpinit init = { .type = UD };
	struct mcast_test *mt = test->priv;
	struct ornic_th_qp *qp = &mt->qp[mt->n];
	struct ornic_th_cq *rcq = &mt->rcq[mt->n];

	KUNIT_ASSERT_EQ(test, ornic_th_cq_init(mt->fix.pair.b, rcq, 1), 0);
	KUNIT_ASSERT_EQ(test,
			ornic_th_qp_init(mt->fix.pair.b, qp, &init,
					 &mt->fix.bscq, rcq),
			0);
	qp->conn.qkey = qkey;
	qp->conn.pkey_index = mt->pkey_index;
	KUNIT_ASSERT_EQ(test, ornic_th_connect(qp, NULL, ORNIC_TH_IPV4), 0);
	ornic_fix_recv(qp, &mt->fix.bm, mt->n, mt->n * SLICE, SLICE);
	mt->n++;
	return qp;
}

static void send(struct kunit *test, const struct ornic_av *av, u32 qpn,
		 u32 len)
{
	struct mcast_test *mt = test->priv;
	struct ornic_lsge sge = ornic_fix_sge(&mt->fix.am, 0, len);
	struct ornic_th_wr wr = {
		.wr_id = 1,
		.opcode = ORNIC_WQE_SEND_IMM,
		.nsge = 1,
		.sge = &sge,
		.flags = ORNIC_WQE_SIGNALED,
		.dest_qpn = qpn,
		.dest_qkey = 0x1234,
		.imm = cpu_to_be32(0x5678),
	};

	KUNIT_ASSERT_EQ(test, ornic_th_ah(mt->fix.pair.a, av, &wr.ah), 0);
	KUNIT_ASSERT_EQ(test, ornic_th_post_send(&mt->fix.a, &wr), 0);
}

static void send_to_group(struct kunit *test, enum ornic_th_gid which, u8 n)
{
	struct ornic_av av;

	group_av(&av, which, n);
	send(test, &av, ORNIC_MCAST_QPN, 100);
}

/* Did member @i get the datagram that was sent? */
static bool got_it(struct mcast_test *mt, u32 i)
{
	struct ornic_cqe cqe;

	return ornic_fix_status(&mt->rcq[i], &cqe) == ORNIC_CQE_SUCCESS &&
	       le32_to_cpu(cqe.byte_len) == 140 &&
	       le32_to_cpu(cqe.src_qpn) == mt->fix.a.qpn &&
	       ornic_fix_compare(&mt->fix.bm, i * SLICE + 40, 100, 1) == -1;
}

static u64 stat_of(const struct ornic_th *th, enum ornic_stat stat)
{
	return ornic_engine_stat(th->eng, stat);
}

/* ---- commands ---------------------------------------------------------------- */

static const struct address_row {
	const char *desc;
	u8 mgid[16];
	int status;
} address_rows[] = {
	{ "IBTA 11.3.1: 239.1.2.3",
	  { [10] = 0xff, [11] = 0xff, [12] = 239, [13] = 1, [15] = 3 },
	  ORNIC_OK },
	{ "224.0.0.0, the first",
	  { [10] = 0xff, [11] = 0xff, [12] = 224 },
	  ORNIC_OK },
	{ "223.255.255.255, before it",
	  { [10] = 0xff, [11] = 0xff, [12] = 223, 255, 255, 255 },
	  ORNIC_BAD_PARAM },
	{ "240.0.0.0, behind the last",
	  { [10] = 0xff, [11] = 0xff, [12] = 240 },
	  ORNIC_BAD_PARAM },
	{ "IBTA 11.3.1: ff0e::3", { 0xff, 0x0e, [15] = 3 }, ORNIC_OK },
	{ "fe80::3", { 0xfe, 0x80, [15] = 3 }, ORNIC_BAD_PARAM },
	{ "::", { 0 }, ORNIC_BAD_PARAM },
};

KUNIT_ARRAY_PARAM_DESC(address, address_rows, desc);

static void mcast_takes_groups(struct kunit *test)
{
	const struct address_row *row = test->param_value;
	struct ornic_fixture *fix = open_fix(test, ORNIC_FIX_LONE, 0);
	int again = row->status == ORNIC_OK ? ORNIC_BUSY : row->status;
	int left = row->status == ORNIC_OK ? ORNIC_NOT_FOUND : row->status;

	KUNIT_EXPECT_EQ(test, attach(&fix->a, row->mgid), row->status);
	KUNIT_EXPECT_EQ(test, attach(&fix->a, row->mgid), again);
	KUNIT_EXPECT_EQ(test, detach(&fix->a, row->mgid), row->status);
	KUNIT_EXPECT_EQ(test, detach(&fix->a, row->mgid), left);
	KUNIT_EXPECT_EQ(test, fix->pair.a->eng->dev.mcast.count, 0);
}

static const struct qp_row {
	const char *desc;
	u8 type;
	u8 flags;
	int status;
} qp_rows[] = {
	{ "IBTA 11.3.1: UD", UD, 0, ORNIC_OK },
	{ "IBTA 11.3.1: RC", ORNIC_QPT_RC, 0, ORNIC_BAD_PARAM },
	{ "IBTA 11.3.1: UC", ORNIC_QPT_UC, 0, ORNIC_BAD_PARAM },
	{ "QP 1", UD, ORNIC_QP_GSI, ORNIC_BAD_PARAM },
};

KUNIT_ARRAY_PARAM_DESC(qp, qp_rows, desc);

/* The state does not matter: these are in RESET. */
static void mcast_takes_ud(struct kunit *test)
{
	const struct qp_row *row = test->param_value;
	struct ornic_th_qpinit init = { .type = row->type,
					.flags = row->flags };
	struct mcast_test *mt = test->priv;
	struct ornic_fixture *fix = &mt->fix;
	u8 mgid[16];

	group_gid(mgid, ORNIC_TH_IPV4, 1);
	KUNIT_ASSERT_EQ(test, ornic_fix_open(fix, ORNIC_FIX_LONE, &init), 0);
	KUNIT_EXPECT_EQ(test, attach(&fix->a, mgid), row->status);
	fix->a.qpn ^= 0x800;
	KUNIT_EXPECT_EQ(test, attach(&fix->a, mgid), ORNIC_NOT_FOUND);
	KUNIT_EXPECT_EQ(test, detach(&fix->a, mgid), ORNIC_NOT_FOUND);
	fix->a.qpn ^= 0x800;
	KUNIT_EXPECT_EQ(test, detach(&fix->a, mgid), row->status);
}

/* ORNIC_QP_NO_SELF_MCAST means nothing to a QP that has no groups. */
static void mcast_flag_is_for_ud(struct kunit *test)
{
	struct ornic_th_qpinit init = { .type = ORNIC_QPT_RC,
					.flags = ORNIC_QP_NO_SELF_MCAST };
	struct mcast_test *mt = test->priv;

	KUNIT_EXPECT_EQ(test, ornic_fix_open(&mt->fix, ORNIC_FIX_LONE, &init),
			ORNIC_BAD_PARAM);
}

/* As many groups as QUERY_DEVICE tells, in one QP; none is left of them. */
static void mcast_group_limit(struct kunit *test)
{
	struct ornic_fixture *fix = open_fix(test, ORNIC_FIX_LONE, 0);
	struct ornic_mcast *mc = &fix->pair.a->eng->dev.mcast;
	u32 i, refused = 0;
	u8 mgid[16];

	group_gid(mgid, ORNIC_TH_IPV6, 0);
	for (i = 0; i < 1u << ORNIC_LOG_MAX_MCAST; i++) {
		mgid[14] = (u8)(i >> 8);
		mgid[15] = (u8)i;
		refused += attach(&fix->a, mgid) != ORNIC_OK;
	}
	KUNIT_EXPECT_EQ(test, refused, 0);
	mgid[13] = 1;
	KUNIT_EXPECT_EQ(test, attach(&fix->a, mgid), ORNIC_LIMIT);
	KUNIT_EXPECT_EQ(test, mc->count, 1u << ORNIC_LOG_MAX_MCAST);
	KUNIT_EXPECT_EQ(test, ornic_th_qp_fini(&fix->a), 0);
	KUNIT_EXPECT_EQ(test, mc->count, 0);
}

/* Each group leaves its bucket, wherever in it. */
static void mcast_groups_share_buckets(struct kunit *test)
{
	struct ornic_fixture *fix = open_fix(test, ORNIC_FIX_LONE, 0);
	u32 i, refused = 0, groups = 2 * ORNIC_MCAST_BUCKETS;
	struct ornic_mcast *mc = &fix->pair.a->eng->dev.mcast;
	u8 mgid[16];

	group_gid(mgid, ORNIC_TH_IPV6, 0);
	for (i = 0; i < groups; i++) {
		mgid[14] = (u8)(i >> 8);
		mgid[15] = (u8)i;
		refused += attach(&fix->a, mgid) != ORNIC_OK;
	}
	for (i = 0; i < groups; i++) {
		mgid[14] = (u8)(i >> 8);
		mgid[15] = (u8)i;
		refused += detach(&fix->a, mgid) != ORNIC_OK;
		refused += detach(&fix->a, mgid) != ORNIC_NOT_FOUND;
	}
	KUNIT_EXPECT_EQ(test, refused, 0);
	KUNIT_EXPECT_EQ(test, mc->count, 0);
}

/* ---- from the wire -------------------------------------------------------------- */

static const struct family_row {
	const char *desc;
	enum ornic_th_gid which;
	u8 hop_limit;
	u8 ttl;
} family_rows[] = {
	{ "IBTA 10.5.2: IPv4", ORNIC_TH_IPV4, 64, 64 },
	{ "IBTA 10.5.2: IPv6", ORNIC_TH_IPV6, 3, 3 },
	{ "IBTA 10.5.2: IPv4 on a VLAN", ORNIC_TH_VLAN, 64, 64 },
	{ "IBTA A16: RoCE v1", ORNIC_TH_V1, 3, 3 },
	{ "RFC 1112: the default is one hop, IPv4", ORNIC_TH_IPV4, 0, 1 },
	{ "RFC 1112: the default is one hop, IPv6", ORNIC_TH_IPV6, 0, 1 },
};

KUNIT_ARRAY_PARAM_DESC(family, family_rows, desc);

/* One frame for all, as the address vector says. */
static void mcast_sends(struct kunit *test)
{
	const struct family_row *row = test->param_value;
	struct ornic_fixture *fix = open_fix(test, ORNIC_FIX_LONE, 0);
	bool v6 = row->which == ORNIC_TH_IPV6 || row->which == ORNIC_TH_V1;
	struct ornic_cqe cqe;
	struct ornic_av av;
	const u8 *ip;

	group_av(&av, row->which, 3);
	av.hop_limit = row->hop_limit;
	send(test, &av, ORNIC_MCAST_QPN, 100);
	KUNIT_EXPECT_EQ(test, ornic_fix_status(&fix->ascq, &cqe), 0);
	KUNIT_ASSERT_TRUE(test, ornic_fix_sent(fix));
	KUNIT_EXPECT_EQ(test, fix->pkt.qpn, ORNIC_MCAST_QPN);
	KUNIT_EXPECT_EQ(test, fix->pkt.qkey, 0x1234);
	KUNIT_EXPECT_MEMEQ(test, fix->frame->data, av.dmac, 6);
	ip = fix->rx.ip;
	KUNIT_EXPECT_EQ(test, ip[v6 ? 7 : 8], row->ttl);
	KUNIT_EXPECT_TRUE(test, ornic_rx_is_multicast(&fix->rx));
	KUNIT_EXPECT_EQ(test, fix->rx.vlan,
			row->which == ORNIC_TH_VLAN ? ORNIC_TH_VLAN_ID :
						      ORNIC_VLAN_NONE);
	KUNIT_EXPECT_EQ(test, ornic_fix_drain(fix), 0);
}

/* Members get it, each by its own Q_Key; the GRH names the group. */
static void mcast_delivers(struct kunit *test)
{
	const struct family_row *row = test->param_value;
	struct ornic_fixture *fix = open_fix(test, ORNIC_FIX_WIRE, 0);
	struct mcast_test *mt = test->priv;
	u8 mgid[16], other[16], grh[40];
	bool v6 = row->which == ORNIC_TH_IPV6 || row->which == ORNIC_TH_V1;
	u32 at = v6 ? 24 : 36, bytes = v6 ? 16 : 4;

	group_gid(mgid, row->which, 3);
	group_gid(other, row->which, 4);
	KUNIT_ASSERT_EQ(test, attach(add_qp(test, 0x1234), mgid), 0);
	KUNIT_ASSERT_EQ(test, attach(add_qp(test, 0x9999), mgid), 0);
	KUNIT_ASSERT_EQ(test, attach(add_qp(test, 0x1234), other), 0);
	add_qp(test, 0x1234);
	KUNIT_ASSERT_EQ(test, attach(add_qp(test, 0x1234), mgid), 0);
	send_to_group(test, row->which, 3);
	KUNIT_EXPECT_TRUE(test, ornic_th_settle(&fix->pair));
	KUNIT_EXPECT_TRUE(test, got_it(mt, 0));
	KUNIT_EXPECT_FALSE(test, got_it(mt, 1));
	KUNIT_EXPECT_FALSE(test, got_it(mt, 2));
	KUNIT_EXPECT_FALSE(test, got_it(mt, 3));
	KUNIT_EXPECT_TRUE(test, got_it(mt, 4));
	KUNIT_EXPECT_EQ(test, stat_of(fix->pair.b, ORNIC_STAT_RX_BAD_QKEY), 1);
	KUNIT_EXPECT_EQ(test, stat_of(fix->pair.b, ORNIC_STAT_RX_PACKETS), 1);
	ornic_th_mr_read(&fix->bm, 0, grh, sizeof(grh));
	KUNIT_EXPECT_MEMEQ(test, grh + at, mgid + 16 - bytes, bytes);
}

static const struct kind_row {
	const char *desc;
	enum ornic_fix_kind kind;
} kind_rows[] = {
	{ "over the wire", ORNIC_FIX_WIRE },
	{ "on one device", ORNIC_FIX_LOOP },
};

KUNIT_ARRAY_PARAM_DESC(kind, kind_rows, desc);

/* IBTA 10.9.3: members of a group, each by the P_Key of its own. */
static void mcast_keeps_partitions_apart(struct kunit *test)
{
	const struct kind_row *row = test->param_value;
	struct ornic_fixture *fix = open_fix(test, row->kind, 0);
	struct mcast_test *mt = test->priv;
	u8 mgid[16];

	group_gid(mgid, ORNIC_TH_IPV4, 3);
	KUNIT_ASSERT_EQ(test, attach(add_qp(test, 0x1234), mgid), 0);
	mt->pkey_index = 1;
	KUNIT_ASSERT_EQ(test,
			ornic_engine_pkey_set(fix->pair.b->eng, 1, 0x8001), 0);
	KUNIT_ASSERT_EQ(test, attach(add_qp(test, 0x1234), mgid), 0);
	send_to_group(test, ORNIC_TH_IPV4, 3);
	KUNIT_EXPECT_TRUE(test, ornic_th_settle(&fix->pair));
	KUNIT_EXPECT_TRUE(test, got_it(mt, 0));
	KUNIT_EXPECT_FALSE(test, got_it(mt, 1));
	/* On one device the frame comes back by the wire, too. */
	KUNIT_EXPECT_EQ(test, stat_of(fix->pair.b, ORNIC_STAT_RX_BAD_PKEY),
			row->kind == ORNIC_FIX_LOOP ? 2 : 1);
}

/* A member without a receive WQE does not keep it from the others. */
static void mcast_no_wqe(struct kunit *test)
{
	struct ornic_fixture *fix = open_fix(test, ORNIC_FIX_WIRE, 0);
	struct mcast_test *mt = test->priv;
	u8 mgid[16];
	u32 i;

	group_gid(mgid, ORNIC_TH_IPV4, 3);
	for (i = 0; i < 3; i++)
		KUNIT_ASSERT_EQ(test, attach(add_qp(test, 0x1234), mgid), 0);
	send_to_group(test, ORNIC_TH_IPV4, 3);
	KUNIT_EXPECT_TRUE(test, ornic_th_settle(&fix->pair));
	for (i = 0; i < 3; i++)
		KUNIT_EXPECT_TRUE(test, got_it(mt, i));
	ornic_fix_recv(&mt->qp[2], &fix->bm, 2, 2 * SLICE, SLICE);
	send_to_group(test, ORNIC_TH_IPV4, 3);
	KUNIT_EXPECT_TRUE(test, ornic_th_settle(&fix->pair));
	KUNIT_EXPECT_FALSE(test, got_it(mt, 0));
	KUNIT_EXPECT_FALSE(test, got_it(mt, 1));
	KUNIT_EXPECT_TRUE(test, got_it(mt, 2));
	KUNIT_EXPECT_EQ(test, stat_of(fix->pair.b, ORNIC_STAT_RX_NO_WQE), 2);
}

static const struct misfit_row {
	const char *desc;
	bool group;
	bool group_qpn;
	u8 opcode;
	enum ornic_stat stat;
} misfit_rows[] = {
	{ "to nobody's group", true, true, ORNIC_UD | ORNIC_OP_SEND_ONLY,
	  ORNIC_STAT_RX_NO_QP },
	{ "to a group, QPN of a QP", true, false, ORNIC_UD | ORNIC_OP_SEND_ONLY,
	  ORNIC_STAT_RX_BAD_ADDR },
	{ "to a host, QPN of groups", false, true,
	  ORNIC_UD | ORNIC_OP_SEND_ONLY, ORNIC_STAT_RX_BAD_ADDR },
	{ "to a group, RC", true, true, ORNIC_OP_SEND_ONLY,
	  ORNIC_STAT_RX_NO_QP },
	{ "to a group, a response", true, true, ORNIC_OP_ACK,
	  ORNIC_STAT_RX_NO_QP },
};

KUNIT_ARRAY_PARAM_DESC(misfit, misfit_rows, desc);

/* A packet from harness 9 to harness 1 or to 239.1.2.3. */
static void inject(struct kunit *test, const struct misfit_row *row)
{
	struct mcast_test *mt = test->priv;
	struct ornic_gid src = { .vlan = ORNIC_VLAN_NONE, .valid = true };
	struct ornic_txinfo info = {
		.opcode = row->opcode,
		.dest_qpn = row->group_qpn ? ORNIC_MCAST_QPN : mt->fix.a.qpn,
		.qkey = 0x1234,
	};
	u8 data[ORNIC_TX_HDR_MAX + 8];
	struct ornic_path path;
	struct ornic_tx tx;
	struct ornic_av av;

	ornic_th_gid_bytes(9, ORNIC_TH_IPV4, src.gid);
	if (row->group)
		group_av(&av, ORNIC_TH_IPV4, 3);
	else
		ornic_th_av(&av, 1, ORNIC_TH_IPV4);
	KUNIT_ASSERT_EQ(test, ornic_path_init(&path, &src, &av), 0);
	ornic_th_rx(mt->fix.pair.a, data,
		    ornic_th_build(&tx, data, &path, &info, NULL, 0));
}

static void mcast_misfits(struct kunit *test)
{
	const struct misfit_row *row = test->param_value;
	struct ornic_fixture *fix = open_fix(test, ORNIC_FIX_LONE, 0);
	struct ornic_cqe cqe;

	ornic_fix_recv(&fix->a, &fix->am, 1, 0, SLICE);
	inject(test, row);
	KUNIT_EXPECT_EQ(test, stat_of(fix->pair.a, row->stat), 1);
	KUNIT_EXPECT_EQ(test, ornic_fix_status(&fix->arcq, &cqe), 0xff);
	KUNIT_EXPECT_EQ(test, ornic_fix_drain(fix), 0);
}

/* IBTA 10.5.2: what is no datagram is for no member, and counts once. */
static void mcast_misfit_of_a_group(struct kunit *test)
{
	struct ornic_fixture *fix = open_fix(test, ORNIC_FIX_LOOP, 0);
	u8 mgid[16];
	u32 i;

	group_gid(mgid, ORNIC_TH_IPV4, 3);
	for (i = 0; i < 3; i++)
		KUNIT_ASSERT_EQ(test, attach(add_qp(test, 0x1234), mgid), 0);
	inject(test, &(struct misfit_row){ .group = true,
					   .group_qpn = true,
					   .opcode = ORNIC_OP_SEND_ONLY });
	KUNIT_EXPECT_EQ(test, stat_of(fix->pair.a, ORNIC_STAT_RX_NO_QP), 1);
	KUNIT_EXPECT_EQ(test, stat_of(fix->pair.a, ORNIC_STAT_RX_PACKETS), 1);
}

/* ---- on the same device ----------------------------------------------------------- */

static const struct self_row {
	const char *desc;
	u8 flags;
	u8 status;
} self_rows[] = {
	{ "the sender gets its own", 0, 0 },
	{ "not with ORNIC_QP_NO_SELF_MCAST", ORNIC_QP_NO_SELF_MCAST, 0xff },
};

KUNIT_ARRAY_PARAM_DESC(self, self_rows, desc);

/* Members on the device get it as well as the wire, once each. */
static void mcast_loops(struct kunit *test)
{
	const struct self_row *row = test->param_value;
	struct ornic_fixture *fix = open_fix(test, ORNIC_FIX_LONE, row->flags);
	struct mcast_test *mt = test->priv;
	struct ornic_cqe cqe;
	u8 mgid[16];

	group_gid(mgid, ORNIC_TH_IPV6, 3);
	KUNIT_ASSERT_EQ(test, attach(&fix->a, mgid), 0);
	KUNIT_ASSERT_EQ(test, attach(add_qp(test, 0x1234), mgid), 0);
	KUNIT_ASSERT_EQ(test, attach(add_qp(test, 0x9999), mgid), 0);
	ornic_fix_recv(&fix->a, &fix->am, 9, 8192, SLICE);
	ornic_fix_recv(&fix->a, &fix->am, 10, 8192, SLICE);
	send_to_group(test, ORNIC_TH_IPV6, 3);
	KUNIT_EXPECT_EQ(test, ornic_fix_status(&fix->ascq, &cqe), 0);
	KUNIT_EXPECT_EQ(test, ornic_fix_status(&fix->arcq, &cqe), row->status);
	KUNIT_EXPECT_EQ(test, ornic_fix_status(&fix->arcq, &cqe), 0xff);
	KUNIT_EXPECT_TRUE(test, got_it(mt, 0));
	KUNIT_EXPECT_FALSE(test, got_it(mt, 1));
	KUNIT_EXPECT_EQ(test, ornic_fix_drain(fix), 1);
}

/* Only QPN 0xffffff means the group; the wire gets what the WQE says. */
static void mcast_loop_qpn(struct kunit *test)
{
	struct ornic_fixture *fix = open_fix(test, ORNIC_FIX_LONE, 0);
	struct mcast_test *mt = test->priv;
	struct ornic_av av;

	group_av(&av, ORNIC_TH_IPV4, 3);
	KUNIT_ASSERT_EQ(test, attach(add_qp(test, 0x1234), av.dgid), 0);
	send(test, &av, mt->qp[0].qpn, 100);
	KUNIT_EXPECT_FALSE(test, got_it(mt, 0));
	KUNIT_EXPECT_EQ(test, ornic_fix_drain(fix), 1);
}

/* ---- many -------------------------------------------------------------------------- */

static const struct many_row {
	const char *desc;
	enum ornic_fix_kind kind;
} many_rows[] = {
	{ "by the wire", ORNIC_FIX_WIRE },
	{ "on the same device", ORNIC_FIX_LOOP },
};

KUNIT_ARRAY_PARAM_DESC(many, many_rows, desc);

static void fill_group(struct kunit *test, const u8 *mgid)
{
	struct mcast_test *mt = test->priv;
	u32 i;

	for (i = 0; i < MEMBERS; i++)
		KUNIT_ASSERT_EQ(test, attach(add_qp(test, 0x1234), mgid), 0);
	KUNIT_EXPECT_EQ(test, attach(add_qp(test, 0x1234), mgid), ORNIC_LIMIT);
	for (i = 0; i < MEMBERS; i++)
		ornic_th_arm(&mt->rcq[i], ORNIC_ARM_NEXT);
}

/* A full group: each gets it once, and no completion event is lost. */
static void mcast_full_group(struct kunit *test)
{
	const struct many_row *row = test->param_value;
	struct ornic_fixture *fix = open_fix(test, row->kind, 0);
	struct mcast_test *mt = test->priv;
	struct ornic_cqe cqe;
	u8 mgid[16];
	u32 i;

	group_gid(mgid, ORNIC_TH_IPV4, 3);
	fill_group(test, mgid);
	send_to_group(test, ORNIC_TH_IPV4, 3);
	KUNIT_EXPECT_TRUE(test, ornic_th_settle(&fix->pair));
	KUNIT_EXPECT_EQ(test, ornic_fix_status(&fix->ascq, &cqe), 0);
	for (i = 0; i < MEMBERS; i++)
		KUNIT_EXPECT_TRUE_MSG(test, got_it(mt, i), "member %u", i);
	KUNIT_EXPECT_FALSE(test, got_it(mt, MEMBERS));
	KUNIT_EXPECT_EQ(test, fix->pair.b->event_count[ORNIC_EVENT_COMP],
			MEMBERS);
	KUNIT_EXPECT_EQ(test, stat_of(fix->pair.a, ORNIC_STAT_TX_PACKETS), 1);
}

/* ---- the end --------------------------------------------------------------------------- */

/* A slot that a member leaves is for the next one; the others stay. */
static void mcast_leaves(struct kunit *test)
{
	struct ornic_fixture *fix = open_fix(test, ORNIC_FIX_WIRE, 0);
	struct mcast_test *mt = test->priv;
	u8 mgid[16];
	u32 i;

	group_gid(mgid, ORNIC_TH_IPV4, 3);
	fill_group(test, mgid);
	KUNIT_EXPECT_EQ(test, detach(&mt->qp[0], mgid), 0);
	KUNIT_EXPECT_EQ(test, ornic_th_qp_fini(&mt->qp[1]), 0);
	KUNIT_EXPECT_EQ(test, attach(&mt->qp[MEMBERS], mgid), 0);
	send_to_group(test, ORNIC_TH_IPV4, 3);
	KUNIT_EXPECT_TRUE(test, ornic_th_settle(&fix->pair));
	KUNIT_EXPECT_FALSE(test, got_it(mt, 0));
	for (i = 2; i <= MEMBERS; i++)
		KUNIT_EXPECT_TRUE_MSG(test, got_it(mt, i), "member %u", i);
	for (i = 2; i <= MEMBERS; i++)
		KUNIT_EXPECT_EQ(test, ornic_th_qp_fini(&mt->qp[i]), 0);
	KUNIT_EXPECT_EQ(test, fix->pair.b->eng->dev.mcast.count, 0);
	send_to_group(test, ORNIC_TH_IPV4, 3);
	KUNIT_EXPECT_TRUE(test, ornic_th_settle(&fix->pair));
	KUNIT_EXPECT_EQ(test, stat_of(fix->pair.b, ORNIC_STAT_RX_NO_QP), 1);
}

static struct kunit_case mcast_cases[] = {
	KUNIT_CASE_PARAM(mcast_takes_groups, address_gen_params),
	KUNIT_CASE_PARAM(mcast_takes_ud, qp_gen_params),
	KUNIT_CASE(mcast_flag_is_for_ud),
	KUNIT_CASE(mcast_group_limit),
	KUNIT_CASE(mcast_groups_share_buckets),
	KUNIT_CASE_PARAM(mcast_sends, family_gen_params),
	KUNIT_CASE_PARAM(mcast_delivers, family_gen_params),
	KUNIT_CASE_PARAM(mcast_keeps_partitions_apart, kind_gen_params),
	KUNIT_CASE(mcast_no_wqe),
	KUNIT_CASE_PARAM(mcast_misfits, misfit_gen_params),
	KUNIT_CASE(mcast_misfit_of_a_group),
	KUNIT_CASE_PARAM(mcast_loops, self_gen_params),
	KUNIT_CASE(mcast_loop_qpn),
	KUNIT_CASE_PARAM(mcast_full_group, many_gen_params),
	KUNIT_CASE(mcast_leaves),
	{}
};

static struct kunit_suite mcast_suite = {
	.name = "ornic_mcast",
	.init = mcast_init,
	.exit = ornic_suite_exit,
	.test_cases = mcast_cases,
};

kunit_test_suite(mcast_suite);

MODULE_DESCRIPTION("ornic: multicast suite");
MODULE_LICENSE("Dual BSD/GPL");
