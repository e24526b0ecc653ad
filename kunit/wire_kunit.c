// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* RoCEv2 packets: opcode table, decoder, encoder, header templates. */
#include <kunit/test.h>

#include "harness.h"
#include "data/rxe_packets.h"

#define MAX_PAYLOAD 4096

/* ---- The opcode table, IBTA table 38, A14.3.1 ---------------------------------------- */

/* @hdrs: what follows the BTH, as letters: Deth Reth aTomic Aeth aCk Imm Xrceth cNp */
static const struct op_row {
	const char *name;
	u8 opcode;
	u8 hdr_len;
	const char *hdrs;
	const char *place;
} op_rows[] = {
	{ "RC SEND_FIRST", 0x00, 12, "", "F" },
	{ "RC SEND_MIDDLE", 0x01, 12, "", "" },
	{ "RC SEND_LAST", 0x02, 12, "", "L" },
	{ "RC SEND_LAST_IMM", 0x03, 16, "I", "L" },
	{ "RC SEND_ONLY", 0x04, 12, "", "FL" },
	{ "RC SEND_ONLY_IMM", 0x05, 16, "I", "FL" },
	{ "RC WRITE_FIRST", 0x06, 28, "R", "F" },
	{ "RC WRITE_MIDDLE", 0x07, 12, "", "" },
	{ "RC WRITE_LAST", 0x08, 12, "", "L" },
	{ "RC WRITE_LAST_IMM", 0x09, 16, "I", "L" },
	{ "RC WRITE_ONLY", 0x0a, 28, "R", "FL" },
	{ "RC WRITE_ONLY_IMM", 0x0b, 32, "RI", "FL" },
	{ "RC READ_REQUEST", 0x0c, 28, "R", "FL" },
	{ "RC READ_RESP_FIRST", 0x0d, 16, "A", "F" },
	{ "RC READ_RESP_MIDDLE", 0x0e, 12, "", "" },
	{ "RC READ_RESP_LAST", 0x0f, 16, "A", "L" },
	{ "RC READ_RESP_ONLY", 0x10, 16, "A", "FL" },
	{ "RC ACK", 0x11, 16, "A", "FL" },
	{ "RC ATOMIC_ACK", 0x12, 24, "AC", "FL" },
	{ "RC CAS", 0x13, 40, "T", "FL" },
	{ "RC FAA", 0x14, 40, "T", "FL" },
	{ "RC SEND_LAST_INV", 0x16, 16, "V", "L" },
	{ "RC SEND_ONLY_INV", 0x17, 16, "V", "FL" },
	{ "RC FLUSH", 0x1c, 32, "ER", "FL" },
	{ "RC ATOMIC_WRITE", 0x1d, 28, "R", "FL" },
	{ "UC SEND_FIRST", 0x20, 12, "", "F" },
	{ "UC SEND_MIDDLE", 0x21, 12, "", "" },
	{ "UC SEND_LAST", 0x22, 12, "", "L" },
	{ "UC SEND_LAST_IMM", 0x23, 16, "I", "L" },
	{ "UC SEND_ONLY", 0x24, 12, "", "FL" },
	{ "UC SEND_ONLY_IMM", 0x25, 16, "I", "FL" },
	{ "UC WRITE_FIRST", 0x26, 28, "R", "F" },
	{ "UC WRITE_MIDDLE", 0x27, 12, "", "" },
	{ "UC WRITE_LAST", 0x28, 12, "", "L" },
	{ "UC WRITE_LAST_IMM", 0x29, 16, "I", "L" },
	{ "UC WRITE_ONLY", 0x2a, 28, "R", "FL" },
	{ "UC WRITE_ONLY_IMM", 0x2b, 32, "RI", "FL" },
	{ "UD SEND_ONLY", 0x64, 20, "D", "FL" },
	{ "UD SEND_ONLY_IMM", 0x65, 24, "DI", "FL" },
	{ "CNP", 0x81, 28, "N", "FL" },
	{ "XRC SEND_FIRST", 0xa0, 16, "X", "F" },
	{ "XRC SEND_MIDDLE", 0xa1, 16, "X", "" },
	{ "XRC SEND_LAST", 0xa2, 16, "X", "L" },
	{ "XRC SEND_LAST_IMM", 0xa3, 20, "XI", "L" },
	{ "XRC SEND_ONLY", 0xa4, 16, "X", "FL" },
	{ "XRC SEND_ONLY_IMM", 0xa5, 20, "XI", "FL" },
	{ "XRC WRITE_FIRST", 0xa6, 32, "XR", "F" },
	{ "XRC WRITE_MIDDLE", 0xa7, 16, "X", "" },
	{ "XRC WRITE_LAST", 0xa8, 16, "X", "L" },
	{ "XRC WRITE_LAST_IMM", 0xa9, 20, "XI", "L" },
	{ "XRC WRITE_ONLY", 0xaa, 32, "XR", "FL" },
	{ "XRC WRITE_ONLY_IMM", 0xab, 36, "XRI", "FL" },
	{ "XRC READ_REQUEST", 0xac, 32, "XR", "FL" },
	{ "XRC READ_RESP_FIRST", 0xad, 16, "A", "F" },
	{ "XRC READ_RESP_MIDDLE", 0xae, 12, "", "" },
	{ "XRC READ_RESP_LAST", 0xaf, 16, "A", "L" },
	{ "XRC READ_RESP_ONLY", 0xb0, 16, "A", "FL" },
	{ "XRC ACK", 0xb1, 16, "A", "FL" },
	{ "XRC ATOMIC_ACK", 0xb2, 24, "AC", "FL" },
	{ "XRC CAS", 0xb3, 44, "XT", "FL" },
	{ "XRC FAA", 0xb4, 44, "XT", "FL" },
	{ "XRC SEND_LAST_INV", 0xb6, 20, "XV", "L" },
	{ "XRC SEND_ONLY_INV", 0xb7, 20, "XV", "FL" },
};

KUNIT_ARRAY_PARAM_DESC(op, op_rows, name);

static const struct {
	u32 flag;
	char letter;
} hdr_letters[] = {
	{ ORNIC_OPF_DETH, 'D' },       { ORNIC_OPF_RETH, 'R' },
	{ ORNIC_OPF_ATOMIC_ETH, 'T' }, { ORNIC_OPF_AETH, 'A' },
	{ ORNIC_OPF_ATOMIC_ACK, 'C' }, { ORNIC_OPF_IMM, 'I' },
	{ ORNIC_OPF_INV, 'V' },	       { ORNIC_OPF_XRCETH, 'X' },
	{ ORNIC_OPF_FLUSH, 'E' },      { ORNIC_OPF_CNP, 'N' },
};

static void opinfo_has_row(struct kunit *test)
{
	const struct op_row *row = test->param_value;
	const struct ornic_opinfo *op = ornic_opcode_lookup(row->opcode);
	u32 i;

	KUNIT_ASSERT_NOT_NULL(test, op);
	KUNIT_EXPECT_STREQ(test, op->name, row->name);
	KUNIT_EXPECT_EQ(test, op->hdr_len, row->hdr_len);
	for (i = 0; i < ARRAY_SIZE(hdr_letters); i++)
		KUNIT_EXPECT_EQ(test, !!(op->flags & hdr_letters[i].flag),
				!!strchr(row->hdrs, hdr_letters[i].letter));
	KUNIT_EXPECT_EQ(test, !!(op->flags & ORNIC_OPF_START),
			!!strchr(row->place, 'F'));
	KUNIT_EXPECT_EQ(test, !!(op->flags & ORNIC_OPF_END),
			!!strchr(row->place, 'L'));
	/* Either request or response. */
	KUNIT_EXPECT_NE(test, !!(op->flags & ORNIC_OPF_REQUEST),
			!!(op->flags & ORNIC_OPF_RESPONSE));
}

static void opinfo_has_no_other(struct kunit *test)
{
	u32 i, rows = 0;

	for (i = 0; i < 256; i++)
		rows += !!ornic_opcode_lookup((u8)i);
	KUNIT_EXPECT_EQ(test, rows, ARRAY_SIZE(op_rows));
}

/* What cases work on: too large for the stack of a kernel with KASAN. */
struct wire_fixture {
	struct ornic_path path, back;
	struct ornic_pkt pkt;
	struct ornic_rx rx, lie;
	struct ornic_frag frag[ORNIC_RX_SEGS];
};

static int wire_suite_init(struct kunit *test)
{
	test->priv =
		kunit_kzalloc(test, sizeof(struct wire_fixture), GFP_KERNEL);
	return test->priv ? 0 : -ENOMEM;
}

/* ---- Decoding rxe's packets -------------------------------------------------- */

KUNIT_ARRAY_PARAM_DESC(rxe, rxe_packets, name);

static void expect_bth(struct kunit *test, const struct ornic_pkt *pkt,
		       const struct ornic_rxe_packet *p)
{
	KUNIT_EXPECT_EQ(test, pkt->opcode, p->opcode);
	KUNIT_EXPECT_EQ(test, pkt->pad, p->pad);
	KUNIT_EXPECT_EQ(test, pkt->solicited, p->solicited);
	KUNIT_EXPECT_EQ(test, pkt->ack_req, p->ack_req);
	KUNIT_EXPECT_EQ(test, pkt->pkey, p->pkey);
	KUNIT_EXPECT_EQ(test, pkt->qpn, p->qpn);
	KUNIT_EXPECT_EQ(test, pkt->psn, p->psn);
}

static void expect_extensions(struct kunit *test, const struct ornic_pkt *pkt,
			      const struct ornic_rxe_packet *p)
{
	KUNIT_EXPECT_EQ(test, pkt->qkey, p->qkey);
	KUNIT_EXPECT_EQ(test, pkt->src_qpn, p->src_qpn);
	KUNIT_EXPECT_EQ(test, pkt->va, p->va);
	KUNIT_EXPECT_EQ(test, pkt->rkey, p->rkey);
	KUNIT_EXPECT_EQ(test, pkt->dma_len, p->dma_len);
	KUNIT_EXPECT_EQ(test, pkt->swap_add, p->swap_add);
	KUNIT_EXPECT_EQ(test, pkt->compare, p->compare);
	KUNIT_EXPECT_EQ(test, pkt->syndrome, p->syndrome);
	KUNIT_EXPECT_EQ(test, pkt->msn, p->msn);
	KUNIT_EXPECT_EQ(test, pkt->orig, p->orig);
	KUNIT_EXPECT_EQ(test, be32_to_cpu(pkt->imm), p->imm);
}

static u32 roce_offset(const struct ornic_rxe_packet *p)
{
	return 14 + (p->ipv6 ? 40 : 20) + 8;
}

static void parse_reads_rxe(struct kunit *test)
{
	const struct ornic_rxe_packet *p = test->param_value;
	const struct ornic_opinfo *op = ornic_opcode_lookup(p->opcode);
	struct wire_fixture *fix = test->priv;
	u32 fixed = roce_offset(p) + op->hdr_len + p->pad + ORNIC_ICRC_LEN;

	KUNIT_ASSERT_EQ(test, ornic_th_parse(p->frame, p->len, &fix->rx), 0);
	KUNIT_ASSERT_EQ(test, ornic_pkt_parse(&fix->pkt, &fix->rx), 0);
	KUNIT_EXPECT_PTR_EQ(test, fix->pkt.op, op);
	expect_bth(test, &fix->pkt, p);
	expect_extensions(test, &fix->pkt, p);
	KUNIT_ASSERT_EQ(test, fix->pkt.payload_len, p->len - fixed);
	KUNIT_EXPECT_EQ(test, ornic_pkt_payload(&fix->pkt, fix->frag),
			!!fix->pkt.payload_len);
	if (fix->pkt.payload_len) {
		KUNIT_EXPECT_EQ(test, fix->frag[0].len, fix->pkt.payload_len);
		KUNIT_EXPECT_PTR_EQ(test, (const u8 *)fix->frag[0].ptr,
				    p->frame + roce_offset(p) + op->hdr_len);
	}
}

/* What is looked at before the packet is parsed. */
static void peek_reads_rxe(struct kunit *test)
{
	const struct ornic_rxe_packet *p = test->param_value;
	const struct ornic_opinfo *op = ornic_opcode_lookup(p->opcode);
	struct ornic_rx_peek peek =
		ornic_engine_rx_peek(p->frame + roce_offset(p));

	KUNIT_EXPECT_EQ(test, peek.qpn, p->qpn);
	KUNIT_EXPECT_EQ(test, peek.start, !!(op->flags & ORNIC_OPF_START));
	KUNIT_EXPECT_EQ(test, peek.more, !(op->flags & ORNIC_OPF_END));
	KUNIT_EXPECT_EQ(test, peek.request, !!(op->flags & ORNIC_OPF_REQUEST));
}

/* Cut @rx after its first @first bytes, and then every @bytes. */
static void cut(struct ornic_rx *rx, u32 first, u32 bytes)
{
	u8 *p = rx->seg[0].ptr;
	u32 left = rx->len, take = min_t(u32, first, left);

	for (rx->nsegs = 0; left && rx->nsegs < ORNIC_RX_SEGS; rx->nsegs++) {
		if (rx->nsegs == ORNIC_RX_SEGS - 1)
			take = left;
		rx->seg[rx->nsegs].ptr = p;
		rx->seg[rx->nsegs].len = take;
		p += take;
		left -= take;
		take = min_t(u32, bytes, left);
	}
}

/* ICRC, payload and pad may lie across pieces. */
static void parse_reads_pieces(struct kunit *test)
{
	const struct ornic_rxe_packet *p = test->param_value;
	u32 hdr_len = ornic_opcode_lookup(p->opcode)->hdr_len;
	struct wire_fixture *fix = test->priv;
	u32 bytes, i, n, sum;

	for (bytes = 1; bytes < 40; bytes++) {
		ornic_th_parse(p->frame, p->len, &fix->rx);
		cut(&fix->rx, hdr_len, bytes);
		KUNIT_ASSERT_EQ(test, ornic_pkt_parse(&fix->pkt, &fix->rx), 0);
		n = ornic_pkt_payload(&fix->pkt, fix->frag);
		for (i = 0, sum = 0; i < n; i++) {
			KUNIT_EXPECT_MEMEQ(test, fix->frag[i].ptr,
					   p->frame + roce_offset(p) + hdr_len +
						   sum,
					   fix->frag[i].len);
			sum += fix->frag[i].len;
		}
		KUNIT_EXPECT_EQ(test, sum, fix->pkt.payload_len);
	}
}

/* Each bit that a router may not change is protected, IBTA A17.3.3. */
static void parse_drops_damage(struct kunit *test)
{
	const struct ornic_rxe_packet *p = test->param_value;
	u8 *copy = kunit_kzalloc(test, p->len, GFP_KERNEL);
	u32 at, bth = roce_offset(p);
	struct ornic_pkt pkt;
	struct ornic_rx rx;

	KUNIT_ASSERT_NOT_NULL(test, copy);
	for (at = bth; at < p->len; at++) {
		memcpy(copy, p->frame, p->len);
		copy[at] ^= 0x10;
		KUNIT_ASSERT_EQ(test, ornic_th_parse(copy, p->len, &rx), 0);
		KUNIT_EXPECT_EQ_MSG(test, !ornic_pkt_parse(&pkt, &rx),
				    at == bth + 4, "byte %u", at - bth);
	}
}

/* A shorter packet is another one: nothing beyond its length is read. */
static void parse_drops_truncated(struct kunit *test)
{
	const struct ornic_rxe_packet *p = test->param_value;
	struct ornic_pkt pkt;
	struct ornic_rx rx;
	u32 len, whole;
	u8 *copy;

	ornic_th_parse(p->frame, p->len, &rx);
	whole = rx.len;
	for (len = 0; len < whole; len++) {
		/* At the end of its own allocation, where ASan watches. */
		copy = kunit_kzalloc(test, len ? len : 1, GFP_KERNEL);
		KUNIT_ASSERT_NOT_NULL(test, copy);
		memcpy(copy, p->frame + roce_offset(p), len);
		rx.seg[0].ptr = copy;
		rx.seg[0].len = len;
		rx.len = len;
		KUNIT_EXPECT_NE(test, ornic_pkt_parse(&pkt, &rx), 0);
	}
}

/* ---- Malformed packets ------------------------------------------------------- */

/* What is wrong: one byte changed, bytes added, or pieces that lie. */
static const struct bad_row {
	const char *name;
	u8 opcode;
	u32 payload;
	u8 at;
	u8 value;
	u8 add;
	int status;
} bad_rows[] = {
	{ "nothing", 0x04, 8, 0, 0x04, 0, 0 },
	{ "TVer 1, IBTA 9.2", 0x04, 8, 1, 0x41, 0, ORNIC_STAT_RX_MALFORMED },
	{ "RD opcode", 0x04, 8, 0, 0x44, 0, ORNIC_STAT_RX_MALFORMED },
	{ "opcode past the table", 0x04, 8, 0, 0xff, 0,
	  ORNIC_STAT_RX_MALFORMED },
	{ "UC READ", 0x04, 16, 0, 0x2c, 0, ORNIC_STAT_RX_MALFORMED },
	{ "UD SEND_FIRST", 0x04, 8, 0, 0x60, 0, ORNIC_STAT_RX_MALFORMED },
	{ "pad, but nothing to pad", 0x04, 0, 1, 0x50, 0,
	  ORNIC_STAT_RX_MALFORMED },
	{ "ACK with payload", 0x04, 8, 0, 0x11, 0, ORNIC_STAT_RX_MALFORMED },
	{ "CAS too short", 0x04, 8, 0, 0x13, 0, ORNIC_STAT_RX_MALFORMED },
	{ "READ request with payload", 0x0a, 4, 0, 0x0c, 0,
	  ORNIC_STAT_RX_MALFORMED },
	{ "one byte too many", 0x04, 8, 0, 0x04, 1, ORNIC_STAT_RX_MALFORMED },
	{ "four bytes too many", 0x04, 8, 0, 0x04, 4,
	  ORNIC_STAT_RX_ICRC_ERRORS },
	{ "another opcode", 0x04, 8, 0, 0x00, 0, ORNIC_STAT_RX_ICRC_ERRORS },
};

KUNIT_ARRAY_PARAM_DESC(bad, bad_rows, name);

static void path_to(struct ornic_path *path, enum ornic_th_gid which)
{
	struct ornic_gid src = { .vlan = ORNIC_VLAN_NONE, .valid = true };
	struct ornic_av av;

	ornic_th_gid_bytes(1, which, src.gid);
	ornic_th_av(&av, 2, which);
	if (which == ORNIC_TH_VLAN)
		src.vlan = ORNIC_TH_VLAN_ID;
	ornic_path_init(path, &src, &av);
}

/* Build a packet into one piece; the caller's @frame is large enough. */
static noinline u32 build(struct kunit *test, const struct ornic_path *path,
			  const struct ornic_txinfo *info, u32 payload,
			  u8 *frame)
{
	u8 *data = kunit_kzalloc(test, payload + 1, GFP_KERNEL);
	struct ornic_frag frag[2];
	struct ornic_tx tx;
	u32 len, i;

	KUNIT_ASSERT_NOT_NULL(test, data);
	for (i = 0; i < payload; i++)
		data[i] = (u8)(i * 3 + 1);
	/* Two pieces of uneven length. */
	frag[0].ptr = data;
	frag[0].len = payload / 3;
	frag[1].ptr = data + payload / 3;
	frag[1].len = payload - payload / 3;
	len = ornic_th_build(&tx, frame, path, info, frag, payload ? 2 : 0);
	KUNIT_EXPECT_EQ(test, tx.l3_offset, path->l3_offset);
	KUNIT_EXPECT_EQ(test, tx.l4_offset, path->l4_offset);
	KUNIT_EXPECT_EQ(test, tx.ipv6, path->ipv6);
	return len;
}

static void parse_drops_malformed(struct kunit *test)
{
	const struct bad_row *row = test->param_value;
	struct wire_fixture *fix = test->priv;
	struct ornic_txinfo info = { .opcode = row->opcode };
	u8 *frame = kunit_kzalloc(test, 256, GFP_KERNEL);
	u8 *bth;

	KUNIT_ASSERT_NOT_NULL(test, frame);
	path_to(&fix->path, ORNIC_TH_IPV4);
	ornic_th_parse(frame,
		       build(test, &fix->path, &info, row->payload, frame),
		       &fix->rx);
	bth = fix->rx.seg[0].ptr;
	if (row->at || row->value != row->opcode)
		bth[row->at] = row->value;
	fix->rx.seg[0].len += row->add;
	fix->rx.len += row->add;
	KUNIT_EXPECT_EQ(test, ornic_pkt_parse(&fix->pkt, &fix->rx),
			row->status);
}

/* Of ACK packets, only a NAK between selective peers has payload: a bitmap. */
static const struct sack_row {
	const char *name;
	u8 opcode;
	u8 syndrome;
	bool selective;
	u32 payload;
	int status;
} sack_rows[] = {
	{ "NAK", 0x11, 0x60, true, 0, 0 },
	{ "NAK with a bitmap", 0x11, 0x60, true, 4, 0 },
	{ "NAK with the longest bitmap", 0x11, 0x60, true, 4096, 0 },
	{ "XRC NAK with a bitmap", 0xb1, 0x60, true, 4, 0 },
	{ "NAK with a longer bitmap", 0x11, 0x60, true, 4100,
	  ORNIC_STAT_RX_MALFORMED },
	{ "NAK of another peer with payload", 0x11, 0x60, false, 4,
	  ORNIC_STAT_RX_MALFORMED },
	{ "NAK with a bitmap of three bytes", 0x11, 0x60, true, 3,
	  ORNIC_STAT_RX_MALFORMED },
	{ "fatal NAK of a selective peer with payload", 0x11, 0x62, true, 4,
	  ORNIC_STAT_RX_MALFORMED },
	{ "unknown NAK of a selective peer with payload", 0x11, 0x7f, true, 4,
	  ORNIC_STAT_RX_MALFORMED },
	{ "ACK of a selective peer with payload", 0x11, 0x1f, true, 4,
	  ORNIC_STAT_RX_MALFORMED },
	{ "RNR NAK of a selective peer with payload", 0x11, 0x22, true, 4,
	  ORNIC_STAT_RX_MALFORMED },
	{ "ATOMIC_ACK of a selective peer with payload", 0x12, 0x60, true, 4,
	  ORNIC_STAT_RX_MALFORMED },
};

KUNIT_ARRAY_PARAM_DESC(sack, sack_rows, name);

static void parse_bounds_a_bitmap(struct kunit *test)
{
	const struct sack_row *row = test->param_value;
	struct wire_fixture *fix = test->priv;
	struct ornic_txinfo info = {
		.opcode = row->opcode,
		.syndrome = row->syndrome,
		.selective = row->selective,
	};
	u8 *frame = kunit_kzalloc(test, ORNIC_TH_FRAME_BYTES, GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, frame);
	path_to(&fix->path, ORNIC_TH_IPV4);
	ornic_th_parse(frame,
		       build(test, &fix->path, &info, row->payload, frame),
		       &fix->rx);
	KUNIT_EXPECT_EQ(test, ornic_pkt_parse(&fix->pkt, &fix->rx),
			row->status);
	if (!row->status)
		KUNIT_EXPECT_EQ(test, fix->pkt.payload_len, row->payload);
}

/* Pieces that hold less than they promise, or too many of them. */
static void parse_drops_lying_pieces(struct kunit *test)
{
	struct ornic_txinfo info = { .opcode = ORNIC_OP_WRITE_ONLY };
	struct wire_fixture *fix = test->priv;
	u8 *frame = kunit_kzalloc(test, 256, GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, frame);
	path_to(&fix->path, ORNIC_TH_IPV4);
	ornic_th_parse(frame, build(test, &fix->path, &info, 40, frame),
		       &fix->rx);
	KUNIT_ASSERT_EQ(test, ornic_pkt_parse(&fix->pkt, &fix->rx), 0);
	fix->lie = fix->rx;
	fix->lie.seg[0].len--;
	/* None that counts. */
	fix->lie.seg[1].len = 100;
	KUNIT_EXPECT_EQ(test, ornic_pkt_parse(&fix->pkt, &fix->lie),
			ORNIC_STAT_RX_MALFORMED);
	fix->lie = fix->rx;
	fix->lie.nsegs = 0;
	KUNIT_EXPECT_EQ(test, ornic_pkt_parse(&fix->pkt, &fix->lie),
			ORNIC_STAT_RX_MALFORMED);
	fix->lie = fix->rx;
	fix->lie.nsegs = ORNIC_RX_SEGS + 1;
	KUNIT_EXPECT_EQ(test, ornic_pkt_parse(&fix->pkt, &fix->lie),
			ORNIC_STAT_RX_MALFORMED);
	fix->lie = fix->rx;
	cut(&fix->lie, 27, 100);
	KUNIT_EXPECT_EQ(test, ornic_pkt_parse(&fix->pkt, &fix->lie),
			ORNIC_STAT_RX_MALFORMED);
}

/* ---- Encoding ------------------------------------------------------------------ */

static void info_of(struct ornic_txinfo *info, const struct ornic_rxe_packet *p)
{
	memset(info, 0, sizeof(*info));
	info->opcode = p->opcode;
	info->solicited = p->solicited;
	info->ack_req = p->ack_req;
	info->syndrome = p->syndrome;
	info->pkey = p->pkey;
	info->dest_qpn = p->qpn;
	info->psn = p->psn;
	info->src_qpn = p->src_qpn;
	info->qkey = p->qkey;
	info->msn = p->msn;
	info->va = p->va;
	info->rkey = p->rkey;
	info->dma_len = p->dma_len;
	info->swap_add = p->swap_add;
	info->compare = p->compare;
	info->orig = p->orig;
	info->imm = cpu_to_be32(p->imm);
}

/* The same fields make the same bytes, but for MigReq, which rxe leaves 0. */
static void build_writes_what_rxe_does(struct kunit *test)
{
	const struct ornic_rxe_packet *p = test->param_value;
	const struct ornic_opinfo *op = ornic_opcode_lookup(p->opcode);
	struct wire_fixture *fix = test->priv;
	u8 *frame = kunit_kzalloc(test, 1024, GFP_KERNEL);
	u32 len, at = roce_offset(p);
	struct ornic_txinfo info;

	KUNIT_ASSERT_NOT_NULL(test, frame);
	info_of(&info, p);
	path_to(&fix->path, p->ipv6 ? ORNIC_TH_IPV6 : ORNIC_TH_IPV4);
	len = build(test, &fix->path, &info,
		    p->len - at - op->hdr_len - p->pad - ORNIC_ICRC_LEN, frame);
	KUNIT_ASSERT_EQ(test, len, p->len);
	KUNIT_ASSERT_EQ(test, ornic_th_parse(frame, len, &fix->rx), 0);
	KUNIT_EXPECT_EQ(test, ornic_pkt_parse(&fix->pkt, &fix->rx), 0);
	KUNIT_EXPECT_EQ(test, frame[at + 1] & ~0x40, p->frame[at + 1]);
	KUNIT_EXPECT_EQ(test, !!(frame[at + 1] & 0x40), p->opcode < 0x60);
	frame[at + 1] &= ~0x40;
	KUNIT_EXPECT_MEMEQ(test, frame + at, p->frame + at, op->hdr_len);
	/* UDP: port, length, no checksum. */
	KUNIT_EXPECT_MEMEQ(test, frame + at - 6, p->frame + at - 6, 6);
}

/* Pad and lengths for each remainder, and the largest packet. */
static const u32 length_rows[] = { 0, 1, 2, 3, 4, 5, 255, 256, 1023, 4096 };

static u32 sum16(const u8 *p, u32 len)
{
	u32 i, sum = 0;

	for (i = 0; i < len; i += 2)
		sum += (u32)p[i] << 8 | p[i + 1];
	return (sum & 0xffff) + (sum >> 16);
}

static void build_and_parse(struct kunit *test, enum ornic_th_gid which,
			    u32 payload, u8 *frame)
{
	struct ornic_txinfo info = { .opcode = ORNIC_OP_SEND_ONLY_IMM,
				     .dest_qpn = 0x123456,
				     .psn = 0xffffff };
	struct wire_fixture *fix = test->priv;
	u32 len;

	path_to(&fix->path, which);
	len = build(test, &fix->path, &info, payload, frame);
	KUNIT_ASSERT_EQ(test, ornic_th_parse(frame, len, &fix->rx), 0);
	KUNIT_ASSERT_EQ(test, ornic_pkt_parse(&fix->pkt, &fix->rx), 0);
	KUNIT_EXPECT_EQ(test, fix->pkt.payload_len, payload);
	KUNIT_EXPECT_EQ(test, fix->pkt.pad, -payload & 3);
	KUNIT_EXPECT_EQ(test, fix->pkt.qpn, 0x123456);
	KUNIT_EXPECT_EQ(test, fix->pkt.psn, 0xffffff);
	KUNIT_EXPECT_EQ(test, fix->rx.vlan,
			which == ORNIC_TH_VLAN ? ORNIC_TH_VLAN_ID :
						 ORNIC_VLAN_NONE);
	if (which == ORNIC_TH_IPV6)
		return;
	/* RFC 791: the header with its checksum sums to all ones. */
	KUNIT_EXPECT_EQ(test, sum16(frame + fix->path.l3_offset, 20), 0xffff);
}

static void build_fits_lengths(struct kunit *test)
{
	u8 *frame = kunit_kzalloc(test, MAX_PAYLOAD + 256, GFP_KERNEL);
	u32 i;

	KUNIT_ASSERT_NOT_NULL(test, frame);
	for (i = 0; i < ARRAY_SIZE(length_rows); i++) {
		build_and_parse(test, ORNIC_TH_IPV4, length_rows[i], frame);
		build_and_parse(test, ORNIC_TH_IPV6, length_rows[i], frame);
		build_and_parse(test, ORNIC_TH_VLAN, length_rows[i], frame);
	}
}

/* ---- Paths -------------------------------------------------------------------- */

/* @at, @value: byte of struct ornic_av that is changed */
static const struct path_row {
	const char *name;
	enum ornic_th_gid src;
	u32 at;
	u8 value;
	u16 vlan;
	bool empty;
	int status;
} path_rows[] = {
	{ "IPv4", ORNIC_TH_IPV4, 30, 7, ORNIC_VLAN_NONE, false, 0 },
	{ "families differ", ORNIC_TH_IPV6, 30, 7, ORNIC_VLAN_NONE, false,
	  -EINVAL },
	{ "no source", ORNIC_TH_IPV4, 30, 7, ORNIC_VLAN_NONE, true, -EINVAL },
	{ "UDP port below 0xc000", ORNIC_TH_IPV4,
	  offsetof(struct ornic_av, udp_sport) + 1, 0xbf, ORNIC_VLAN_NONE,
	  false, -EINVAL },
	{ "VLAN 4094", ORNIC_TH_IPV4, 30, 7, 4094, false, 0 },
	{ "VLAN 4095", ORNIC_TH_IPV4, 30, 7, 4095, false, -EINVAL },
};

KUNIT_ARRAY_PARAM_DESC(path, path_rows, name);

static void path_init_checks(struct kunit *test)
{
	const struct path_row *row = test->param_value;
	struct ornic_gid src = { .vlan = row->vlan, .valid = !row->empty };
	struct ornic_path path;
	struct ornic_av av;

	ornic_th_gid_bytes(1, row->src, src.gid);
	ornic_th_av(&av, 2, ORNIC_TH_IPV4);
	((u8 *)&av)[row->at] = row->value;
	KUNIT_EXPECT_EQ(test, ornic_path_init(&path, &src, &av), row->status);
}

/* Of a flow label 20 bits count, of an SL the 3 of a PCP. */
static void path_init_masks(struct kunit *test)
{
	static const u8 want[] = {
		0x81, 0x00, 0xa0, 7, /* PCP 5, VLAN 7 */
		0x86, 0xdd, 0x61, 0x0f, 0xff, 0xff,
	};
	struct ornic_gid src = { .vlan = 7, .valid = true };
	struct ornic_path path;
	struct ornic_av av;

	ornic_th_gid_bytes(1, ORNIC_TH_IPV6, src.gid);
	ornic_th_av(&av, 2, ORNIC_TH_IPV6);
	av.flow_label = cpu_to_le32(0xffffffff);
	av.tclass = 0x12;
	av.sl = 0xfd;
	KUNIT_ASSERT_EQ(test, ornic_path_init(&path, &src, &av), 0);
	KUNIT_EXPECT_MEMEQ(test, path.hdr + 12, want, sizeof(want));
	/* What QUERY_QP tells is what is sent, without ECN. */
	KUNIT_EXPECT_EQ(test, path.av.tclass, 0x10);
	KUNIT_EXPECT_EQ(test, le32_to_cpu(path.av.flow_label), 0xfffffu);
	KUNIT_EXPECT_EQ(test, path.av.sl, 5);
}

static void path_init_needs_a_destination(struct kunit *test)
{
	struct ornic_gid src = { .vlan = ORNIC_VLAN_NONE, .valid = true };
	struct ornic_path path;
	struct ornic_av av;

	ornic_th_gid_bytes(1, ORNIC_TH_IPV4, src.gid);
	ornic_th_av(&av, 2, ORNIC_TH_IPV4);
	memset(av.dgid + 12, 0, 4);
	KUNIT_EXPECT_EQ(test, ornic_path_init(&path, &src, &av), -EINVAL);
	ornic_th_gid_bytes(1, ORNIC_TH_IPV6, src.gid);
	memset(av.dgid, 0, 16);
	KUNIT_EXPECT_EQ(test, ornic_path_init(&path, &src, &av), -EINVAL);
}

/* Every byte of a tagged IPv4 template. */
static void path_init_writes_ipv4(struct kunit *test)
{
	static const u8 want[] = {
		2,    0,    0,	  0,	0,  9, 2, 0, 0,	   0, 0, 1, /* MACs */
		0x81, 0x00, 0xa0, 7, /* PCP 5, VLAN 7 */
		0x08, 0x00, 0x45, 0x28, 0,  0, 0, 0, 0x40, 0, /* DF, id 0 */
		64,   17,   0,	  0,	10, 0, 0, 1, 10,   0, 0, 9,
		0xc1, 0x23, 0x12, 0xb7, 0,  0, 0, 0,
	};
	struct ornic_gid src = { .vlan = 7,
				 .valid = true,
				 .smac = { 2, 0, 0, 0, 0, 1 } };
	struct ornic_path path;
	struct ornic_av av;

	ornic_th_gid_bytes(1, ORNIC_TH_IPV4, src.gid);
	ornic_th_av(&av, 9, ORNIC_TH_IPV4);
	av.sl = 5;
	av.tclass = 0x2a;
	av.hop_limit = 0; /* the default, 64 */
	av.udp_sport = cpu_to_le16(0xc123);
	KUNIT_ASSERT_EQ(test, ornic_path_init(&path, &src, &av), 0);
	KUNIT_ASSERT_EQ(test, path.hdr_len, sizeof(want));
	KUNIT_EXPECT_MEMEQ(test, path.hdr, want, sizeof(want));
	KUNIT_EXPECT_EQ(test, path.l3_offset, 18);
	KUNIT_EXPECT_EQ(test, path.l4_offset, 38);
}

static void path_init_writes_ipv6(struct kunit *test)
{
	static const u8 want[] = {
		2,    0,    0,	  0,	0,    9,    2, 0,  0, 0,    0, 1, 0x86,
		0xdd, 0x6a, 0x81, 0x23, 0x45, 0,    0, 17, 3, 0xfd, 0, 0, 0,
		0,    0,    0,	  0,	0,    0,    0, 0,  0, 0,    0, 1, 0xfd,
		0,    0,    0,	  0,	0,    0,    0, 0,  0, 0,    0, 0, 0,
		0,    9,    0xc0, 0x09, 0x12, 0xb7, 0, 0,  0, 0,
	};
	struct ornic_gid src = { .vlan = ORNIC_VLAN_NONE,
				 .valid = true,
				 .smac = { 2, 0, 0, 0, 0, 1 } };
	struct ornic_path path;
	struct ornic_av av;

	ornic_th_gid_bytes(1, ORNIC_TH_IPV6, src.gid);
	ornic_th_av(&av, 9, ORNIC_TH_IPV6);
	av.tclass = 0xab;
	av.flow_label = cpu_to_le32(0x12345);
	av.hop_limit = 3;
	KUNIT_ASSERT_EQ(test, ornic_path_init(&path, &src, &av), 0);
	KUNIT_ASSERT_EQ(test, path.hdr_len, sizeof(want));
	KUNIT_EXPECT_MEMEQ(test, path.hdr, want, sizeof(want));
	KUNIT_EXPECT_EQ(test, path.l3_offset, 14);
	KUNIT_EXPECT_EQ(test, path.l4_offset, 54);
}

/* Both addresses count. IBTA A17.9 */
static void expect_matches(struct kunit *test, enum ornic_th_gid which,
			   const u8 *last)
{
	struct ornic_gid src = { .vlan = ORNIC_VLAN_NONE, .valid = true };
	struct wire_fixture *fix = test->priv;
	u8 *l3 = fix->back.hdr;
	struct ornic_av av;
	u32 i;

	path_to(&fix->path, which);
	ornic_th_gid_bytes(2, which, src.gid);
	ornic_th_av(&av, 1, which);
	KUNIT_ASSERT_EQ(test, ornic_path_init(&fix->back, &src, &av), 0);
	l3 += fix->back.l3_offset;
	fix->rx.ip = l3;
	fix->rx.ipv6 = which == ORNIC_TH_IPV6;
	KUNIT_EXPECT_TRUE(test, ornic_path_matches(&fix->path, &fix->rx));
	fix->rx.ipv6 = !fix->rx.ipv6;
	KUNIT_EXPECT_FALSE(test, ornic_path_matches(&fix->path, &fix->rx));
	fix->rx.ipv6 = !fix->rx.ipv6;
	for (i = 0; i < 2; i++) {
		l3[last[i]] ^= 4;
		KUNIT_EXPECT_FALSE(test,
				   ornic_path_matches(&fix->path, &fix->rx));
		l3[last[i]] ^= 4;
	}
}

static void path_matches_the_peer(struct kunit *test)
{
	static const u8 last4[] = { 15, 19 }, last6[] = { 23, 39 };

	expect_matches(test, ORNIC_TH_IPV4, last4);
	expect_matches(test, ORNIC_TH_IPV6, last6);
}

/* IBTA A17.4.5.2: IPv4 sits in the last 20 of the 40 bytes. */
static void grh_holds_the_ip_header(struct kunit *test)
{
	static const u8 zero[20];
	u8 ip[40], grh[ORNIC_GRH_LEN];
	u32 i;

	for (i = 0; i < sizeof(ip); i++)
		ip[i] = (u8)(i + 1);
	memset(grh, 0xee, sizeof(grh));
	ornic_grh_from_ip(grh, ip, false);
	KUNIT_EXPECT_MEMEQ(test, grh, zero, 20);
	KUNIT_EXPECT_MEMEQ(test, grh + 20, ip, 20);
	ornic_grh_from_ip(grh, ip, true);
	KUNIT_EXPECT_MEMEQ(test, grh, ip, 40);
}

static struct kunit_case wire_cases[] = {
	KUNIT_CASE_PARAM(opinfo_has_row, op_gen_params),
	KUNIT_CASE(opinfo_has_no_other),
	KUNIT_CASE_PARAM(parse_reads_rxe, rxe_gen_params),
	KUNIT_CASE_PARAM(peek_reads_rxe, rxe_gen_params),
	KUNIT_CASE_PARAM(parse_reads_pieces, rxe_gen_params),
	KUNIT_CASE_PARAM(parse_drops_damage, rxe_gen_params),
	KUNIT_CASE_PARAM(parse_drops_truncated, rxe_gen_params),
	KUNIT_CASE_PARAM(parse_drops_malformed, bad_gen_params),
	KUNIT_CASE_PARAM(parse_bounds_a_bitmap, sack_gen_params),
	KUNIT_CASE(parse_drops_lying_pieces),
	KUNIT_CASE_PARAM(build_writes_what_rxe_does, rxe_gen_params),
	KUNIT_CASE(build_fits_lengths),
	KUNIT_CASE_PARAM(path_init_checks, path_gen_params),
	KUNIT_CASE(path_init_masks),
	KUNIT_CASE(path_init_needs_a_destination),
	KUNIT_CASE(path_init_writes_ipv4),
	KUNIT_CASE(path_init_writes_ipv6),
	KUNIT_CASE(path_matches_the_peer),
	KUNIT_CASE(grh_holds_the_ip_header),
	{}
};

static struct kunit_suite wire_suite = {
	.name = "ornic_wire",
	.init = wire_suite_init,
	.test_cases = wire_cases,
};

kunit_test_suite(wire_suite);

MODULE_DESCRIPTION("ornic: wire suite");
MODULE_LICENSE("Dual BSD/GPL");
