// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * RoCE v1, IBTA annex A16: packets of a foreign encoder, headers, and that the two
 * versions do not reach each other's QPs.
 */
#include "engine/proto.h"
#include "suite_fixture.h"

#include "data/roce_v1_packets.h"

#define ETH 14
#define GRH ORNIC_GRH_LEN
#define HEAD (ETH + GRH) /* bytes before the BTH */
#define RC ORNIC_QPT_RC
#define UD ORNIC_QPT_UD

KUNIT_ARRAY_PARAM_DESC(v1, roce_v1_packets, name);

/* ---- Packets ---------------------------------------------------------------- */

static u8 *copy_of(struct kunit *test, const u8 *frame, u32 len, u32 room)
{
	u8 *copy = kunit_kzalloc(test, room ? room : 1, GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, copy);
	memcpy(copy, frame, len);
	return copy;
}

static void expect_fields(struct kunit *test, const struct ornic_pkt *pkt,
			  const struct ornic_rxe_packet *p)
{
	KUNIT_EXPECT_EQ(test, pkt->opcode, p->opcode);
	KUNIT_EXPECT_EQ(test, pkt->pad, p->pad);
	KUNIT_EXPECT_EQ(test, pkt->qpn, p->qpn);
	KUNIT_EXPECT_EQ(test, pkt->psn, p->psn);
	KUNIT_EXPECT_EQ(test, pkt->qkey, p->qkey);
	KUNIT_EXPECT_EQ(test, pkt->src_qpn, p->src_qpn);
	KUNIT_EXPECT_EQ(test, pkt->va, p->va);
	KUNIT_EXPECT_EQ(test, pkt->rkey, p->rkey);
	KUNIT_EXPECT_EQ(test, pkt->dma_len, p->dma_len);
	KUNIT_EXPECT_EQ(test, pkt->compare, p->compare);
	KUNIT_EXPECT_EQ(test, pkt->syndrome, p->syndrome);
	KUNIT_EXPECT_EQ(test, pkt->orig, p->orig);
	KUNIT_EXPECT_EQ(test, be32_to_cpu(pkt->imm), p->imm);
}

/* IBTA 7.8.1: the ICRC, in a frame with and without padding of Ethernet. */
static void v1_is_parsed(struct kunit *test)
{
	const struct ornic_rxe_packet *p = test->param_value;
	u8 *frame = copy_of(test, p->frame, p->len, p->len + 9);
	u32 more;

	for (more = 0; more <= 9; more += 9) {
		struct ornic_pkt pkt;
		struct ornic_rx rx;

		KUNIT_ASSERT_EQ(test,
				ornic_rx_from_frame(&rx, frame, p->len + more),
				ORNIC_FRAME_ROCE);
		KUNIT_EXPECT_PTR_EQ(test, (const u8 *)rx.ip, frame + ETH);
		KUNIT_EXPECT_EQ(test, rx.ipv6, p->ipv6);
		KUNIT_EXPECT_EQ(test, rx.vlan, ORNIC_VLAN_NONE);
		KUNIT_EXPECT_EQ(test, rx.len, p->len - HEAD);
		KUNIT_ASSERT_EQ(test, ornic_pkt_parse(&pkt, &rx), 0);
		expect_fields(test, &pkt, p);
		KUNIT_EXPECT_EQ(test, pkt.payload_len,
				rx.len - pkt.hdr_len - p->pad - ORNIC_ICRC_LEN);
	}
}

static void v1_with_a_tag(struct kunit *test)
{
	const struct ornic_rxe_packet *p = test->param_value;
	u8 *frame = copy_of(test, p->frame, 12, p->len + 4);
	struct ornic_pkt pkt;
	struct ornic_rx rx;

	frame[12] = 0x81;
	frame[14] = 5 << 5 | 1;
	frame[15] = 2;
	memcpy(frame + 16, p->frame + 12, p->len - 12);
	KUNIT_ASSERT_EQ(test, ornic_rx_from_frame(&rx, frame, p->len + 4),
			ORNIC_FRAME_ROCE);
	KUNIT_EXPECT_EQ(test, rx.vlan, 0x102);
	KUNIT_EXPECT_EQ(test, rx.sl, 5);
	KUNIT_EXPECT_EQ(test, ornic_pkt_parse(&pkt, &rx), 0);
}

/* What is cut off has no content, or is not recognized; nothing else is read. */
static void v1_of_any_length(struct kunit *test)
{
	const struct ornic_rxe_packet *p = test->param_value;
	u32 len;

	for (len = 0; len < p->len; len++) {
		u8 *copy = copy_of(test, p->frame, len, len);
		enum ornic_frame kind;
		struct ornic_rx rx;

		kind = ornic_rx_from_frame(&rx, copy, len);
		KUNIT_EXPECT_EQ(test, kind,
				len < HEAD ? ORNIC_FRAME_OTHER :
					     ORNIC_FRAME_ROCE);
		if (kind == ORNIC_FRAME_ROCE)
			KUNIT_EXPECT_EQ(test, rx.nsegs, 0);
	}
}

/* Bits of the GRH and the BTH that do not count, IBTA 7.8.1. */
static u8 variant_bits(u32 at)
{
	switch (at) {
	case 0:
		return 0x0f;
	case 1: /* TClass, ... */
	case 2:
	case 3: /* ... FlowLabel */
	case 7: /* HopLmt */
	case GRH + 4: /* FECN, BECN, reserved */
		return 0xff;
	}
	return 0;
}

static void v1_icrc_covers_the_rest(struct kunit *test)
{
	const struct ornic_rxe_packet *p = test->param_value;
	u8 *f = copy_of(test, p->frame, p->len, p->len);
	struct ornic_pkt pkt;
	struct ornic_rx rx;
	u32 at, bit;

	KUNIT_ASSERT_EQ(test, ornic_rx_from_frame(&rx, f, p->len),
			ORNIC_FRAME_ROCE);
	for (at = 0; at < p->len - ETH; at++) {
		/* Pads and lengths: not for the ICRC to find. */
		if (at >= GRH && at < GRH + 2)
			continue;
		for (bit = 0; bit < 8; bit++) {
			f[ETH + at] ^= 1 << bit;
			KUNIT_EXPECT_EQ_MSG(test, !ornic_pkt_parse(&pkt, &rx),
					    variant_bits(at) >> bit & 1,
					    "byte %u, bit %u", at, bit);
			f[ETH + at] ^= 1 << bit;
		}
	}
}

static const struct other_row {
	const char *name;
	u8 at; /* offset from the GRH */
	u8 value;
	enum ornic_frame kind;
	bool content;
} other_rows[] = {
	{ "IBTA 8.3: another hop limit", 7, 1, ORNIC_FRAME_ROCE, true },
	{ "PayLen of nothing", 5, 0, ORNIC_FRAME_ROCE, false },
	{ "PayLen beyond the frame", 4, 1, ORNIC_FRAME_ROCE, false },
	{ "IPVer 8", 0, 0x82, ORNIC_FRAME_OTHER, false },
	{ "IPVer 4", 0, 0x45, ORNIC_FRAME_OTHER, false },
	{ "raw packet, no BTH", 6, 0, ORNIC_FRAME_OTHER, false },
	{ "UDP", 6, 17, ORNIC_FRAME_OTHER, false },
};

KUNIT_ARRAY_PARAM_DESC(other, other_rows, name);

static void v1_of_another_kind(struct kunit *test)
{
	const struct other_row *row = test->param_value;
	const struct ornic_rxe_packet *p = &roce_v1_packets[0];
	u8 *f = copy_of(test, p->frame, p->len, p->len);
	struct ornic_rx rx;

	KUNIT_ASSERT_NE(test, f[ETH + row->at], row->value);
	f[ETH + row->at] = row->value;
	KUNIT_ASSERT_EQ(test, ornic_rx_from_frame(&rx, f, p->len), row->kind);
	if (row->kind == ORNIC_FRAME_ROCE)
		KUNIT_EXPECT_EQ(test, rx.nsegs, row->content);
}

/* IPv6 and GRH are told apart by the Ethertype, then by the next header. */
static void v1_under_another_ethertype(struct kunit *test)
{
	const struct ornic_rxe_packet *p = &roce_v1_packets[0];
	u8 *f = copy_of(test, p->frame, p->len, p->len);
	struct ornic_rx rx;

	f[12] = 0x86;
	f[13] = 0xdd;
	KUNIT_EXPECT_EQ(test, ornic_rx_from_frame(&rx, f, p->len),
			ORNIC_FRAME_OTHER);
}

/* ---- Headers ---------------------------------------------------------------- */

/* Every byte of a tagged template. ECN bits are part of the TClass. */
static void path_writes_the_grh(struct kunit *test)
{
	static const u8 want[] = {
		2,    0,    0,	  0, 0,	   9,	 2,    0,    0,	   0,	 0, 1,
		0x81, 0x00, 0xa0, 7, 0x89, 0x15, 0x6a, 0xb1, 0x23, 0x45, 0, 0,
		0x1b, 3,    0xfd, 0, 0,	   0,	 0,    0,    0,	   0,	 0, 0,
		0,    0,    0,	  0, 0,	   1,	 0xfd, 0,    0,	   0,	 0, 0,
		0,    0,    0,	  0, 0,	   0,	 0,    0,    0,	   9,
	};
	struct ornic_gid src = { .vlan = 7,
				 .valid = true,
				 .v1 = true,
				 .smac = { 2, 0, 0, 0, 0, 1 } };
	struct ornic_path path;
	struct ornic_av av;

	ornic_th_gid_bytes(1, ORNIC_TH_V1, src.gid);
	ornic_th_av(&av, 9, ORNIC_TH_V1);
	av.sl = 5;
	av.tclass = 0xab;
	av.flow_label = cpu_to_le32(0x12345);
	av.hop_limit = 3;
	av.udp_sport = 0;
	KUNIT_ASSERT_EQ(test, ornic_path_init(&path, &src, &av), 0);
	ornic_path_set_ect(&path);
	KUNIT_ASSERT_EQ(test, path.hdr_len, sizeof(want));
	KUNIT_EXPECT_MEMEQ(test, path.hdr, want, sizeof(want));
	KUNIT_EXPECT_EQ(test, path.l3_offset, 18);
	KUNIT_EXPECT_EQ(test, path.l4_offset, 58);
	KUNIT_EXPECT_EQ(test, path.av.tclass, 0xab);
}

/* A GID is one, whatever address it was made of. */
static void path_has_no_family(struct kunit *test)
{
	struct ornic_gid src = { .vlan = ORNIC_VLAN_NONE,
				 .valid = true,
				 .v1 = true };
	struct ornic_path path;
	struct ornic_av av;

	ornic_th_gid_bytes(1, ORNIC_TH_IPV4, src.gid);
	ornic_th_av(&av, 9, ORNIC_TH_V1);
	KUNIT_ASSERT_EQ(test, ornic_path_init(&path, &src, &av), 0);
	KUNIT_EXPECT_MEMEQ(test, path.hdr + ETH + 8, src.gid, 16);
	KUNIT_EXPECT_MEMEQ(test, path.hdr + ETH + 24, av.dgid, 16);
	memset(av.dgid, 0, 16);
	KUNIT_EXPECT_EQ(test, ornic_path_init(&path, &src, &av), -EINVAL);
}

/* ---- Connections ------------------------------------------------------------ */

static struct ornic_fixture *open_kind(struct kunit *test,
				       enum ornic_fix_kind kind, u8 type,
				       enum ornic_th_gid which)
{
	struct ornic_th_qpinit init = { .type = type };
	struct ornic_fixture *fix = test->priv;

	KUNIT_ASSERT_EQ(test, ornic_fix_open(fix, kind, &init), 0);
	KUNIT_ASSERT_EQ(test,
			ornic_th_connect(&fix->a, fix->b.th ? &fix->b : NULL,
					 which),
			0);
	ornic_fix_fill(&fix->am, 0, ORNIC_FIX_MR_BYTES, 1);
	return fix;
}

static u64 stat_of(const struct ornic_th *th, enum ornic_stat stat)
{
	return ornic_engine_stat(th->eng, stat);
}

static enum ornic_th_verdict expect_v1(struct ornic_th_pair *pair,
				       struct ornic_th *from,
				       struct ornic_th_frame *frame,
				       const struct ornic_pkt *pkt)
{
	u32 *others = pair->ctx;

	if (!ornic_ip_is_grh(pkt->rx->ip, pkt->rx->ipv6) ||
	    frame->data[12] != 0x89 || frame->data[13] != 0x15)
		(*others)++;
	return ORNIC_TH_PASS;
}

static const struct op_row {
	const char *desc;
	enum ornic_fix_kind kind;
	u8 type;
	u8 opcode;
	u32 len;
} op_rows[] = {
	{ "RC SEND", ORNIC_FIX_WIRE, RC, ORNIC_WQE_SEND, 20001 },
	{ "RC WRITE", ORNIC_FIX_WIRE, RC, ORNIC_WQE_WRITE, 60003 },
	{ "RC READ", ORNIC_FIX_WIRE, RC, ORNIC_WQE_READ, 60003 },
	{ "RC FAA", ORNIC_FIX_WIRE, RC, ORNIC_WQE_FAA, 8 },
	{ "UC WRITE", ORNIC_FIX_WIRE, ORNIC_QPT_UC, ORNIC_WQE_WRITE, 5002 },
	{ "RC SEND, one device", ORNIC_FIX_LOOP, RC, ORNIC_WQE_SEND, 20001 },
	{ "RC READ, one device", ORNIC_FIX_LOOP, RC, ORNIC_WQE_READ, 20001 },
	{ "RC WRITE, peer engines", ORNIC_FIX_PEER, RC, ORNIC_WQE_WRITE, 8 },
};

KUNIT_ARRAY_PARAM_DESC(op, op_rows, desc);

static void v1_connection_works(struct kunit *test)
{
	const struct op_row *row = test->param_value;
	struct ornic_fixture *fix =
		open_kind(test, row->kind, row->type, ORNIC_TH_V1);
	bool read = row->opcode == ORNIC_WQE_READ;
	const struct ornic_th_mr *to = read ? &fix->am : &fix->bm;
	struct ornic_cqe cqe;
	u32 others = 0;

	fix->pair.filter = expect_v1;
	fix->pair.ctx = &others;
	if (read) {
		ornic_fix_fill(&fix->bm, 0, ORNIC_FIX_MR_BYTES, 1);
		ornic_fix_fill(&fix->am, 0, ORNIC_FIX_MR_BYTES, 2);
	}
	ornic_fix_recv(&fix->b, &fix->bm, 7, 0, row->len);
	ornic_fix_post(&fix->a, &fix->am, &fix->bm, row->opcode, 0, 0,
		       row->len);
	KUNIT_ASSERT_TRUE(test, ornic_th_settle(&fix->pair));
	KUNIT_EXPECT_EQ(test, ornic_fix_status(&fix->ascq, &cqe), 0);
	if (row->opcode != ORNIC_WQE_FAA)
		KUNIT_EXPECT_EQ(test, ornic_fix_compare(to, 0, row->len, 1),
				-1);
	KUNIT_EXPECT_EQ(test, others, 0);
	KUNIT_EXPECT_EQ(test, !stat_of(fix->pair.a, ORNIC_STAT_TX_PACKETS),
			row->kind != ORNIC_FIX_WIRE);
	KUNIT_EXPECT_EQ(test, stat_of(fix->pair.b, ORNIC_STAT_RX_MALFORMED), 0);
}

static const struct version_row {
	const char *desc;
	enum ornic_th_gid mine;
	enum ornic_th_gid theirs;
} version_rows[] = {
	{ "IBTA A17.9: a RoCE v1 packet for a v2 QP", ORNIC_TH_IPV6,
	  ORNIC_TH_V1 },
	{ "IBTA A17.9: a RoCE v2 packet for a v1 QP", ORNIC_TH_V1,
	  ORNIC_TH_IPV6 },
};

KUNIT_ARRAY_PARAM_DESC(version, version_rows, desc);

/* Right addresses, QPN and PSN: only the version differs. */
static void versions_do_not_meet(struct kunit *test)
{
	const struct version_row *row = test->param_value;
	struct ornic_fixture *fix =
		open_kind(test, ORNIC_FIX_LONE, RC, row->mine);
	struct ornic_txinfo info = {
		.opcode = ORNIC_OP_SEND_ONLY,
		.psn = ORNIC_FIX_PSN,
		.ack_req = true,
	};
	struct ornic_txinfo ack = {
		.opcode = ORNIC_OP_ACK,
		.psn = ORNIC_FIX_PSN,
		.syndrome = 0x1f,
	};
	struct ornic_cqe cqe;

	ornic_fix_recv(&fix->a, &fix->am, 7, 0, 64);
	ornic_fix_post(&fix->a, &fix->am, NULL, ORNIC_WQE_SEND, 0, 0, 8);
	ornic_fix_drain(fix);
	fix->a.conn.av.sgid_index = row->theirs;
	KUNIT_ASSERT_EQ(test, ornic_th_inject(&fix->a, &info, fix->buf, 8), 0);
	KUNIT_ASSERT_EQ(test, ornic_th_inject(&fix->a, &ack, NULL, 0), 0);
	KUNIT_EXPECT_EQ(test, ornic_fix_status(&fix->arcq, &cqe), 0xff);
	KUNIT_EXPECT_EQ(test, ornic_fix_status(&fix->ascq, &cqe), 0xff);
	KUNIT_EXPECT_EQ(test, ornic_fix_drain(fix), 0);
	KUNIT_EXPECT_EQ(test, stat_of(fix->pair.a, ORNIC_STAT_RX_BAD_ADDR), 2);
	/* And of the same version they do. */
	fix->a.conn.av.sgid_index = row->mine;
	ornic_th_inject(&fix->a, &info, fix->buf, 8);
	ornic_th_inject(&fix->a, &ack, NULL, 0);
	KUNIT_EXPECT_EQ(test, ornic_fix_status(&fix->arcq, &cqe), 0);
	KUNIT_EXPECT_EQ(test, ornic_fix_status(&fix->ascq, &cqe), 0);
}

/* IBTA 10.9.3: the BTH and what is checked of it are those of RoCEv2. */
static void v1_keeps_partitions_apart(struct kunit *test)
{
	struct ornic_fixture *fix =
		open_kind(test, ORNIC_FIX_LONE, RC, ORNIC_TH_V1);
	struct ornic_txinfo info = {
		.opcode = ORNIC_OP_SEND_ONLY,
		.psn = ORNIC_FIX_PSN,
		.ack_req = true,
		.pkey = 0x8002,
	};
	struct ornic_cqe cqe;

	KUNIT_ASSERT_EQ(test,
			ornic_engine_pkey_set(fix->pair.a->eng, 0, 0x8001), 0);
	ornic_fix_recv(&fix->a, &fix->am, 7, 0, 64);
	KUNIT_ASSERT_EQ(test, ornic_th_inject(&fix->a, &info, fix->buf, 8), 0);
	KUNIT_EXPECT_EQ(test, stat_of(fix->pair.a, ORNIC_STAT_RX_BAD_PKEY), 1);
	KUNIT_EXPECT_EQ(test, ornic_fix_status(&fix->arcq, &cqe), 0xff);
	KUNIT_EXPECT_FALSE(test, ornic_fix_sent(fix));
	info.pkey = 0x0001;
	KUNIT_ASSERT_EQ(test, ornic_th_inject(&fix->a, &info, fix->buf, 8), 0);
	KUNIT_EXPECT_EQ(test, ornic_fix_status(&fix->arcq, &cqe), 0);
	KUNIT_ASSERT_TRUE(test, ornic_fix_sent(fix));
	KUNIT_EXPECT_EQ(test, fix->pkt.pkey, 0x8001);
}

/* The host asks before it queues packets. */
static void peer_is_of_one_version(struct kunit *test)
{
	struct ornic_fixture *fix =
		open_kind(test, ORNIC_FIX_LONE, RC, ORNIC_TH_V1);
	struct ornic_engine *eng = fix->pair.a->eng;
	const struct ornic_av *av = &fix->a.conn.av;
	u8 ip[GRH] = { 0x60, [6] = ORNIC_NXTHDR_BTH };

	memcpy(ip + 8, av->dgid, 16);
	ornic_th_gid_bytes(fix->pair.a->index, ORNIC_TH_V1, ip + 24);
	KUNIT_EXPECT_TRUE(test,
			  ornic_engine_is_peer(eng, fix->a.qpn, ip, true));
	ip[6] = 17;
	KUNIT_EXPECT_FALSE(test,
			   ornic_engine_is_peer(eng, fix->a.qpn, ip, true));
}

/* RFC 3168 has no say over a TClass: 3 is no mark. */
static void tclass_is_no_mark(struct kunit *test)
{
	struct ornic_fixture *fix =
		open_kind(test, ORNIC_FIX_LONE, ORNIC_QPT_UC, ORNIC_TH_V1);
	struct ornic_txinfo info = {
		.opcode = ORNIC_UC | ORNIC_OP_SEND_ONLY,
		.psn = ORNIC_FIX_PSN,
	};
	struct ornic_cqe cqe;

	fix->pair.a->marked = true;
	ornic_fix_recv(&fix->a, &fix->am, 7, 0, 64);
	ornic_th_inject(&fix->a, &info, fix->buf, 8);
	KUNIT_EXPECT_EQ(test, ornic_fix_status(&fix->arcq, &cqe), 0);
	KUNIT_EXPECT_EQ(test, ornic_fix_drain(fix), 0);
	KUNIT_EXPECT_EQ(
		test,
		stat_of(fix->pair.a, ORNIC_STAT_NP_ECN_MARKED_ROCE_PACKETS), 0);
}

static const struct loop_row {
	const char *desc;
	enum ornic_fix_kind kind;
	u8 opcode;
	u32 len;
} loop_rows[] = {
	{ "SEND, one device", ORNIC_FIX_LOOP, ORNIC_WQE_SEND, 8 },
	{ "short WRITE, one device", ORNIC_FIX_LOOP, ORNIC_WQE_WRITE, 8 },
	{ "READ, one device", ORNIC_FIX_LOOP, ORNIC_WQE_READ, 9000 },
	{ "SEND, peer engines", ORNIC_FIX_PEER, ORNIC_WQE_SEND, 9000 },
	{ "short WRITE, peer engines", ORNIC_FIX_PEER, ORNIC_WQE_WRITE, 8 },
};

KUNIT_ARRAY_PARAM_DESC(loop, loop_rows, desc);

/* Connected with right addresses and QPNs, one of them by another version. */
static struct ornic_fixture *open_versions(struct kunit *test,
					   const struct loop_row *row,
					   enum ornic_th_gid mine,
					   enum ornic_th_gid theirs)
{
	struct ornic_fixture *fix = open_kind(test, row->kind, RC, mine);

	KUNIT_EXPECT_EQ(test, ornic_th_to(&fix->b, ORNIC_QPS_RESET), 0);
	fix->b.conn.av.sgid_index = theirs;
	KUNIT_ASSERT_EQ(test, ornic_th_to(&fix->b, ORNIC_QPS_INIT), 0);
	KUNIT_ASSERT_EQ(test, ornic_th_to(&fix->b, ORNIC_QPS_RTR), 0);
	KUNIT_ASSERT_EQ(test, ornic_th_to(&fix->b, ORNIC_QPS_RTS), 0);
	ornic_fix_fill(&fix->bm, 0, ORNIC_FIX_MR_BYTES, 2);
	return fix;
}

/* The status of one message, which may take as long as all retries. */
static int status_of(struct ornic_fixture *fix, const struct loop_row *row)
{
	struct ornic_cqe cqe;
	int status = 0xff;
	u32 i;

	ornic_fix_recv(&fix->b, &fix->bm, 7, 0, row->len);
	ornic_fix_post(&fix->a, &fix->am, &fix->bm, row->opcode, 0, 0,
		       row->len);
	for (i = 0; i < 2000 && status == 0xff; i++) {
		ornic_th_settle(&fix->pair);
		status = ornic_fix_status(&fix->ascq, &cqe);
		ornic_th_advance(&fix->pair, 10 * ORNIC_TH_MS);
	}
	return status;
}

/* IBTA A17.9 in memory: as if no packet had arrived. */
static void versions_do_not_meet_in_memory(struct kunit *test)
{
	const struct loop_row *row = test->param_value;
	struct ornic_fixture *fix;
	struct ornic_cqe cqe;
	u32 i;

	for (i = 0; i < ARRAY_SIZE(version_rows); i++) {
		fix = open_versions(test, row, version_rows[i].mine,
				    version_rows[i].theirs);
		KUNIT_EXPECT_EQ(test, status_of(fix, row),
				ORNIC_CQE_RETRY_EXC_ERR);
		KUNIT_EXPECT_EQ(test, ornic_fix_status(&fix->brcq, &cqe), 0xff);
		KUNIT_EXPECT_EQ(
			test, ornic_fix_compare(&fix->am, 0, row->len, 1), -1);
		KUNIT_EXPECT_EQ(
			test, ornic_fix_compare(&fix->bm, 0, row->len, 2), -1);
		KUNIT_EXPECT_EQ(test, ornic_fix_close(fix), 0);
	}
	fix = open_versions(test, row, ORNIC_TH_V1, ORNIC_TH_V1);
	KUNIT_EXPECT_EQ(test, status_of(fix, row), ORNIC_CQE_SUCCESS);
}

/* Without UDP there are no ports to spray over. */
static void v1_has_one_path(struct kunit *test)
{
	struct ornic_th_qpinit init = { .type = RC };
	struct ornic_fixture *fix = test->priv;

	KUNIT_ASSERT_EQ(test, ornic_fix_open(fix, ORNIC_FIX_LONE, &init), 0);
	KUNIT_ASSERT_EQ(test, ornic_engine_spray_set(fix->pair.a->eng, 4), 0);
	KUNIT_ASSERT_EQ(test, ornic_th_qp_fini(&fix->a), 0);
	KUNIT_ASSERT_EQ(test,
			ornic_th_qp_init(fix->pair.a, &fix->a, &init,
					 &fix->ascq, &fix->arcq),
			0);
	KUNIT_ASSERT_EQ(test, ornic_th_connect(&fix->a, NULL, ORNIC_TH_V1), 0);
	KUNIT_EXPECT_EQ(test, ornic_fix_qp(&fix->a)->spray->n, 1);
}

/* ---- Datagrams -------------------------------------------------------------- */

static const struct astray_row {
	const char *desc;
	u8 index; /* harness that the DGID is of */
	enum ornic_th_gid which; /* which of its GIDs */
	bool comes;
} astray_rows[] = {
	{ "IBTA 9.6.1.2: to a GID of the port", 1, ORNIC_TH_V1, true },
	{ "IBTA 9.6.1.2: to that of another", 2, ORNIC_TH_V1, false },
	{ "to a GID of the port, but of RoCEv2", 1, ORNIC_TH_IPV4, false },
};

KUNIT_ARRAY_PARAM_DESC(astray, astray_rows, desc);

/* A datagram of @fix to where @row says; returns its length. */
static noinline u32 build_astray(struct kunit *test,
				 const struct ornic_fixture *fix,
				 const struct astray_row *row, u8 *data)
{
	struct ornic_gid src = { .vlan = ORNIC_VLAN_NONE,
				 .valid = true,
				 .v1 = true };
	struct ornic_txinfo info = {
		.opcode = ORNIC_UD | ORNIC_OP_SEND_ONLY,
		.pkey = ORNIC_DEFAULT_PKEY,
		.dest_qpn = fix->a.qpn,
		.src_qpn = 0x456,
		.qkey = fix->a.conn.qkey,
	};
	struct ornic_path path;
	struct ornic_tx tx;
	struct ornic_av av;

	ornic_th_gid_bytes(9, ORNIC_TH_V1, src.gid);
	ornic_th_av(&av, 1, ORNIC_TH_V1);
	ornic_th_gid_bytes(row->index, row->which, av.dgid);
	KUNIT_EXPECT_EQ(test, ornic_path_init(&path, &src, &av), 0);
	return ornic_th_build(&tx, data, &path, &info, NULL, 0);
}

/* No IP has looked at the destination of the packet. */
static void datagram_is_for_the_port(struct kunit *test)
{
	const struct astray_row *row = test->param_value;
	struct ornic_fixture *fix =
		open_kind(test, ORNIC_FIX_LONE, UD, ORNIC_TH_V1);
	u8 grh[GRH], data[ORNIC_TX_HDR_MAX + 8];
	struct ornic_cqe cqe;
	u32 len;

	len = build_astray(test, fix, row, data);
	ornic_fix_recv(&fix->a, &fix->am, 7, 0, 64);
	ornic_th_rx(fix->pair.a, data, len);
	KUNIT_ASSERT_EQ(test, ornic_fix_status(&fix->arcq, &cqe),
			row->comes ? 0 : 0xff);
	KUNIT_EXPECT_EQ(test, stat_of(fix->pair.a, ORNIC_STAT_RX_BAD_ADDR),
			!row->comes);
	if (!row->comes)
		return;
	KUNIT_EXPECT_TRUE(test, cqe.flags & ORNIC_CQE_ROCE_V1);
	KUNIT_EXPECT_TRUE(test, cqe.flags & ORNIC_CQE_GRH);
	KUNIT_EXPECT_FALSE(test, cqe.flags & ORNIC_CQE_IPV4);
	KUNIT_EXPECT_EQ(test, cqe.sgid_index, ORNIC_TH_V1);
	/* The real one, with its PayLen. */
	ornic_th_mr_read(&fix->am, 0, grh, sizeof(grh));
	KUNIT_EXPECT_MEMEQ(test, grh, data + ETH, sizeof(grh));
	KUNIT_EXPECT_EQ(test, grh[5], ORNIC_BTH_LEN + 8 + ORNIC_ICRC_LEN);
}

static const struct group_row {
	const char *desc;
	u8 mgid[16];
} group_rows[] = {
	{ "of IPv4, as rdma_cm maps it",
	  { 0xff, 0x0e, [10] = 0xff, 0xff, 239, 1, 2, 3 } },
	{ "of IPv4, as a RoCEv2 GID", { [10] = 0xff, 0xff, 239, 1, 2, 3 } },
	{ "of IPv6", { 0xff, 0x05, [15] = 7 } },
};

KUNIT_ARRAY_PARAM_DESC(group, group_rows, desc);

/* From A to a group that B is a member of. */
static void send_to_group(struct kunit *test, struct ornic_fixture *fix,
			  const u8 *mgid)
{
	struct ornic_lsge sge = ornic_fix_sge(&fix->am, 0, 100);
	struct ornic_th_wr wr = {
		.opcode = ORNIC_WQE_SEND,
		.nsge = 1,
		.sge = &sge,
		.dest_qpn = ORNIC_MCAST_QPN,
		.dest_qkey = fix->b.conn.qkey,
	};
	struct ornic_av av = fix->a.conn.av;
	union ornic_req req;
	union ornic_rsp rsp;

	memset(&req, 0, sizeof(req));
	req.hdr.opcode = ORNIC_CMD_ATTACH_MCAST;
	req.hdr.obj = cpu_to_le32(fix->b.qpn);
	memcpy(req.mcast.mgid, mgid, 16);
	KUNIT_ASSERT_EQ(test, ornic_th_cmd(fix->pair.b, &req, &rsp), 0);
	ornic_fix_recv(&fix->b, &fix->bm, 7, 0, 200);
	memcpy(av.dgid, mgid, 16);
	av.dmac[0] = 0x33;
	KUNIT_ASSERT_EQ(test, ornic_th_ah(fix->pair.a, &av, &wr.ah), 0);
	ornic_th_post_send(&fix->a, &wr);
	KUNIT_EXPECT_TRUE(test, ornic_th_settle(&fix->pair));
}

static void datagram_to_a_group(struct kunit *test)
{
	const struct group_row *row = test->param_value;
	struct ornic_fixture *fix =
		open_kind(test, ORNIC_FIX_WIRE, UD, ORNIC_TH_V1);
	struct ornic_cqe cqe;

	send_to_group(test, fix, row->mgid);
	KUNIT_ASSERT_EQ(test, ornic_fix_status(&fix->brcq, &cqe), 0);
	KUNIT_EXPECT_TRUE(test, cqe.flags & ORNIC_CQE_ROCE_V1);
	KUNIT_EXPECT_EQ(test, ornic_fix_compare(&fix->bm, GRH, 100, 1), -1);
}

/* ---- Devices without it ----------------------------------------------------- */

static void device_without_v1_has_no_gid(struct kunit *test)
{
	struct ornic_fixture *fix =
		open_kind(test, ORNIC_FIX_LONE, UD, ORNIC_TH_IPV6);
	struct ornic_th *th = fix->pair.a;
	struct ornic_gid before, after;
	union ornic_req req;
	union ornic_rsp rsp;

	ornic_engine_set_roce_v1(th->eng, false);
	memset(&req, 0, sizeof(req));
	req.hdr.opcode = ORNIC_CMD_QUERY_DEVICE;
	KUNIT_ASSERT_EQ(test, ornic_th_cmd(th, &req, &rsp), 0);
	KUNIT_EXPECT_EQ(test,
			le64_to_cpu(rsp.query_device.caps) & ORNIC_CAP_ROCE_V1,
			0);
	ornic_gid_read(&th->eng->dev, ORNIC_TH_IPV6, &before);
	memset(&req, 0, sizeof(req));
	req.hdr.opcode = ORNIC_CMD_SET_GID;
	req.hdr.obj = cpu_to_le32(ORNIC_TH_IPV6);
	memcpy(req.set_gid.gid, before.gid, sizeof(before.gid));
	memcpy(req.set_gid.smac, before.smac, sizeof(before.smac));
	req.set_gid.vlan = cpu_to_le16(before.vlan);
	req.set_gid.valid = 1;
	KUNIT_EXPECT_EQ(test, ornic_th_cmd(th, &req, &rsp), ORNIC_OK);
	req.set_gid.type = ORNIC_GID_ROCE_V1;
	KUNIT_EXPECT_EQ(test, ornic_th_cmd(th, &req, &rsp), ORNIC_BAD_PARAM);
	ornic_gid_read(&th->eng->dev, ORNIC_TH_IPV6, &after);
	KUNIT_EXPECT_FALSE(test, after.v1);
}

/* A group has no version, its packets have. */
static void device_without_v1_is_in_no_group(struct kunit *test)
{
	struct ornic_fixture *fix =
		open_kind(test, ORNIC_FIX_WIRE, UD, ORNIC_TH_V1);
	struct ornic_cqe cqe;

	ornic_engine_set_roce_v1(fix->pair.b->eng, false);
	send_to_group(test, fix, group_rows[0].mgid);
	KUNIT_EXPECT_EQ(test, ornic_fix_status(&fix->brcq, &cqe), 0xff);
	KUNIT_EXPECT_EQ(test, stat_of(fix->pair.b, ORNIC_STAT_RX_BAD_ADDR), 1);
}

/* ---- Impairments ------------------------------------------------------------ */

static const struct rule_row {
	const char *text;
	bool hits;
} rule_rows[] = {
	{ "rx src=10.0.0.1 drop", true },
	{ "rx dst=10.0.0.2 drop", true },
	{ "rx dst=10.0.0.1 drop", false },
	{ "rx src=::ffff:a00:1 drop", true },
	{ "rx op=send qpn=0x11 drop", true },
	{ "rx corrupt", true },
	{ "rx ce", false }, /* there is no mark */
};

KUNIT_ARRAY_PARAM_DESC(rule, rule_rows, text);

static void rule_for_v1(struct kunit *test)
{
	const struct rule_row *row = test->param_value;
	const struct ornic_rxe_packet *p = &roce_v1_packets[0];
	struct ornic_impair_packet packet = {
		.dir = ORNIC_IMPAIR_RX,
		.ipv6 = true,
		.ip = p->frame + ETH,
		.bth = p->frame + HEAD,
		.len = p->len - HEAD,
	};
	struct ornic_impair_rule rule;
	struct ornic_impair_error err;
	struct ornic_impair *im;

	im = kunit_kzalloc(test, sizeof(*im), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, im);
	KUNIT_ASSERT_EQ(test,
			ornic_impair_parse(&rule, row->text, strlen(row->text),
					   &err),
			0);
	KUNIT_ASSERT_EQ(test, ornic_impair_add(im, &rule), 0);
	KUNIT_EXPECT_EQ(test, !!ornic_impair_decide(im, &packet).action,
			row->hits);
	KUNIT_EXPECT_EQ(test, im->rule[0].hits, row->hits);
	KUNIT_EXPECT_EQ(test, im->rule[0].missed, !strcmp(row->text, "rx ce"));
}

static struct kunit_case roce_v1_cases[] = {
	KUNIT_CASE_PARAM(v1_is_parsed, v1_gen_params),
	KUNIT_CASE_PARAM(v1_with_a_tag, v1_gen_params),
	KUNIT_CASE_PARAM(v1_of_any_length, v1_gen_params),
	KUNIT_CASE_PARAM(v1_icrc_covers_the_rest, v1_gen_params),
	KUNIT_CASE_PARAM(v1_of_another_kind, other_gen_params),
	KUNIT_CASE(v1_under_another_ethertype),
	KUNIT_CASE(path_writes_the_grh),
	KUNIT_CASE(path_has_no_family),
	KUNIT_CASE_PARAM(v1_connection_works, op_gen_params),
	KUNIT_CASE_PARAM(versions_do_not_meet, version_gen_params),
	KUNIT_CASE(v1_keeps_partitions_apart),
	KUNIT_CASE(peer_is_of_one_version),
	KUNIT_CASE_PARAM(versions_do_not_meet_in_memory, loop_gen_params),
	KUNIT_CASE(tclass_is_no_mark),
	KUNIT_CASE(v1_has_one_path),
	KUNIT_CASE_PARAM(datagram_is_for_the_port, astray_gen_params),
	KUNIT_CASE_PARAM(datagram_to_a_group, group_gen_params),
	KUNIT_CASE(device_without_v1_has_no_gid),
	KUNIT_CASE(device_without_v1_is_in_no_group),
	KUNIT_CASE_PARAM(rule_for_v1, rule_gen_params),
	{}
};

static struct kunit_suite roce_v1_suite = {
	.name = "ornic_roce_v1",
	.init = ornic_suite_init,
	.exit = ornic_suite_exit,
	.test_cases = roce_v1_cases,
};

kunit_test_suite(roce_v1_suite);

MODULE_DESCRIPTION("ornic: RoCE v1 suite");
MODULE_LICENSE("Dual BSD/GPL");
