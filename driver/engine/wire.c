// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * RoCE packets: which headers an opcode has, decoding, encoding, header
 * templates. Pure: no state, no locks, any context.
 *
 * A received packet is hostile: nothing is read but what the pieces of struct
 * ornic_rx hold, and every length is checked before the first byte is used.
 */
#include "wire.h"

#define VLAN_LEN 4
#define IPV4_LEN 20
#define IPV6_LEN 40
#define UDP_LEN 8

#define IPPROTO_UDP_NR 17
#define IPV4_DF 0x4000
#define DEFAULT_TTL 64
#define VLAN_ID_MAX 4094

#define DETH_LEN 8
#define FETH_LEN 4
#define RETH_LEN 16
#define ATOMIC_ETH_LEN 28
#define AETH_LEN 4
#define ATOMIC_ACK_LEN 8
#define IMM_LEN 4
#define XRCETH_LEN 4
#define CNP_LEN 16

/* BTH, byte 1 */
#define BTH_SE 0x80
#define BTH_MIGREQ 0x40
#define BTH_PAD_SHIFT 4
#define BTH_TVER_MASK 0x0f
/* BTH, byte 4: FECN, BECN, six reserved bits */
#define BTH_BECN 0x40
#define BTH_SELECTIVE (ORNIC_BTH_SELECTIVE | ORNIC_BTH_AGAIN | ORNIC_BTH_MORE)
/* BTH, byte 8 */
#define BTH_ACKREQ 0x80

#define QPN_MASK 0xffffffu
#define FLOW_LABEL_MASK 0xfffffu
#define SL_MASK 0x7u
#define ECN_MASK 0x3u

/* ---- The opcode table ---------------------------------------------------- */

/* clang-format off */
#define HDR_LEN(f) \
	(ORNIC_BTH_LEN + \
	 ((f) & ORNIC_OPF_XRCETH ? XRCETH_LEN : 0) + \
	 ((f) & ORNIC_OPF_DETH ? DETH_LEN : 0) + \
	 ((f) & ORNIC_OPF_FLUSH ? FETH_LEN : 0) + \
	 ((f) & ORNIC_OPF_RETH ? RETH_LEN : 0) + \
	 ((f) & ORNIC_OPF_ATOMIC_ETH ? ATOMIC_ETH_LEN : 0) + \
	 ((f) & ORNIC_OPF_AETH ? AETH_LEN : 0) + \
	 ((f) & ORNIC_OPF_ATOMIC_ACK ? ATOMIC_ACK_LEN : 0) + \
	 ((f) & (ORNIC_OPF_IMM | ORNIC_OPF_INV) ? IMM_LEN : 0) + \
	 ((f) & ORNIC_OPF_CNP ? CNP_LEN : 0))

#define ROW(transport, op, f) \
	[ORNIC_##transport | ORNIC_OP_##op] = { \
		.flags = (f), \
		.hdr_len = HDR_LEN(f), \
		.name = #transport " " #op, \
	}

#define F_SEND	(ORNIC_OPF_REQUEST | ORNIC_OPF_SEND | ORNIC_OPF_PAYLOAD)
#define F_WRITE	(ORNIC_OPF_REQUEST | ORNIC_OPF_WRITE | ORNIC_OPF_PAYLOAD)
#define F_RESP	(ORNIC_OPF_RESPONSE | ORNIC_OPF_READ | ORNIC_OPF_PAYLOAD)
#define F_ATOM	(ORNIC_OPF_ATOMIC | ORNIC_OPF_START | ORNIC_OPF_END)
#define F_ONLY	(ORNIC_OPF_START | ORNIC_OPF_END)
#define F_FIRST	ORNIC_OPF_START
#define F_LAST	ORNIC_OPF_END
#define F_IMM	ORNIC_OPF_IMM
#define F_RETH	ORNIC_OPF_RETH
#define F_AETH	ORNIC_OPF_AETH
#define F_XREQ	(ORNIC_OPF_REQUEST | ORNIC_OPF_XRCETH)
#define X_SEND	(F_SEND | ORNIC_OPF_XRCETH)
#define X_WRITE	(F_WRITE | ORNIC_OPF_XRCETH)

/* IBTA table 38, A14.3.1. */
static const struct ornic_opinfo opcodes[] = {
	ROW(RC, SEND_FIRST, F_SEND | F_FIRST),
	ROW(RC, SEND_MIDDLE, F_SEND),
	ROW(RC, SEND_LAST, F_SEND | F_LAST),
	ROW(RC, SEND_LAST_IMM, F_SEND | F_LAST | F_IMM),
	ROW(RC, SEND_ONLY, F_SEND | F_ONLY),
	ROW(RC, SEND_ONLY_IMM, F_SEND | F_ONLY | F_IMM),
	ROW(RC, WRITE_FIRST, F_WRITE | F_FIRST | F_RETH),
	ROW(RC, WRITE_MIDDLE, F_WRITE),
	ROW(RC, WRITE_LAST, F_WRITE | F_LAST),
	ROW(RC, WRITE_LAST_IMM, F_WRITE | F_LAST | F_IMM),
	ROW(RC, WRITE_ONLY, F_WRITE | F_ONLY | F_RETH),
	ROW(RC, WRITE_ONLY_IMM, F_WRITE | F_ONLY | F_RETH | F_IMM),
	ROW(RC, READ_REQUEST,
	    ORNIC_OPF_REQUEST | ORNIC_OPF_READ | F_ONLY | F_RETH),
	ROW(RC, READ_RESP_FIRST, F_RESP | F_FIRST | F_AETH),
	ROW(RC, READ_RESP_MIDDLE, F_RESP),
	ROW(RC, READ_RESP_LAST, F_RESP | F_LAST | F_AETH),
	ROW(RC, READ_RESP_ONLY, F_RESP | F_ONLY | F_AETH),
	ROW(RC, ACK, ORNIC_OPF_RESPONSE | F_ONLY | F_AETH),
	ROW(RC, ATOMIC_ACK,
	    ORNIC_OPF_RESPONSE | F_ATOM | F_AETH | ORNIC_OPF_ATOMIC_ACK),
	ROW(RC, CAS, ORNIC_OPF_REQUEST | F_ATOM | ORNIC_OPF_ATOMIC_ETH),
	ROW(RC, FAA, ORNIC_OPF_REQUEST | F_ATOM | ORNIC_OPF_ATOMIC_ETH),
	ROW(RC, SEND_LAST_INV, F_SEND | F_LAST | ORNIC_OPF_INV),
	ROW(RC, SEND_ONLY_INV, F_SEND | F_ONLY | ORNIC_OPF_INV),
	ROW(RC, FLUSH, ORNIC_OPF_REQUEST | ORNIC_OPF_FLUSH | F_ONLY | F_RETH),
	ROW(RC, ATOMIC_WRITE,
	    ORNIC_OPF_REQUEST | ORNIC_OPF_ATOMIC_WRITE | ORNIC_OPF_PAYLOAD |
	    F_ONLY | F_RETH),
	ROW(UC, SEND_FIRST, F_SEND | F_FIRST),
	ROW(UC, SEND_MIDDLE, F_SEND),
	ROW(UC, SEND_LAST, F_SEND | F_LAST),
	ROW(UC, SEND_LAST_IMM, F_SEND | F_LAST | F_IMM),
	ROW(UC, SEND_ONLY, F_SEND | F_ONLY),
	ROW(UC, SEND_ONLY_IMM, F_SEND | F_ONLY | F_IMM),
	ROW(UC, WRITE_FIRST, F_WRITE | F_FIRST | F_RETH),
	ROW(UC, WRITE_MIDDLE, F_WRITE),
	ROW(UC, WRITE_LAST, F_WRITE | F_LAST),
	ROW(UC, WRITE_LAST_IMM, F_WRITE | F_LAST | F_IMM),
	ROW(UC, WRITE_ONLY, F_WRITE | F_ONLY | F_RETH),
	ROW(UC, WRITE_ONLY_IMM, F_WRITE | F_ONLY | F_RETH | F_IMM),
	ROW(UD, SEND_ONLY, F_SEND | F_ONLY | ORNIC_OPF_DETH),
	ROW(UD, SEND_ONLY_IMM, F_SEND | F_ONLY | ORNIC_OPF_DETH | F_IMM),
	[ORNIC_CNP] = {
		.flags = ORNIC_OPF_RESPONSE | ORNIC_OPF_CNP | F_ONLY,
		.hdr_len = HDR_LEN(ORNIC_OPF_CNP),
		.name = "CNP",
	},
	ROW(XRC, SEND_FIRST, X_SEND | F_FIRST),
	ROW(XRC, SEND_MIDDLE, X_SEND),
	ROW(XRC, SEND_LAST, X_SEND | F_LAST),
	ROW(XRC, SEND_LAST_IMM, X_SEND | F_LAST | F_IMM),
	ROW(XRC, SEND_ONLY, X_SEND | F_ONLY),
	ROW(XRC, SEND_ONLY_IMM, X_SEND | F_ONLY | F_IMM),
	ROW(XRC, WRITE_FIRST, X_WRITE | F_FIRST | F_RETH),
	ROW(XRC, WRITE_MIDDLE, X_WRITE),
	ROW(XRC, WRITE_LAST, X_WRITE | F_LAST),
	ROW(XRC, WRITE_LAST_IMM, X_WRITE | F_LAST | F_IMM),
	ROW(XRC, WRITE_ONLY, X_WRITE | F_ONLY | F_RETH),
	ROW(XRC, WRITE_ONLY_IMM, X_WRITE | F_ONLY | F_RETH | F_IMM),
	ROW(XRC, READ_REQUEST, F_XREQ | ORNIC_OPF_READ | F_ONLY | F_RETH),
	ROW(XRC, READ_RESP_FIRST, F_RESP | F_FIRST | F_AETH),
	ROW(XRC, READ_RESP_MIDDLE, F_RESP),
	ROW(XRC, READ_RESP_LAST, F_RESP | F_LAST | F_AETH),
	ROW(XRC, READ_RESP_ONLY, F_RESP | F_ONLY | F_AETH),
	ROW(XRC, ACK, ORNIC_OPF_RESPONSE | F_ONLY | F_AETH),
	ROW(XRC, ATOMIC_ACK,
	    ORNIC_OPF_RESPONSE | F_ATOM | F_AETH | ORNIC_OPF_ATOMIC_ACK),
	ROW(XRC, CAS, F_XREQ | F_ATOM | ORNIC_OPF_ATOMIC_ETH),
	ROW(XRC, FAA, F_XREQ | F_ATOM | ORNIC_OPF_ATOMIC_ETH),
	ROW(XRC, SEND_LAST_INV, X_SEND | F_LAST | ORNIC_OPF_INV),
	ROW(XRC, SEND_ONLY_INV, X_SEND | F_ONLY | ORNIC_OPF_INV),
};

/* clang-format on */

const struct ornic_opinfo *ornic_opcode_lookup(u8 opcode)
{
	if (opcode >= ARRAY_SIZE(opcodes) || !opcodes[opcode].flags)
		return NULL;
	return &opcodes[ornic_index_nospec(opcode, ARRAY_SIZE(opcodes))];
}

/* ---- Unaligned big-endian fields ----------------------------------------- */

static u32 get_be16(const u8 *p)
{
	return (u32)p[0] << 8 | p[1];
}

static u32 get_be32(const u8 *p)
{
	__be32 v;

	memcpy(&v, p, sizeof(v));
	return be32_to_cpu(v);
}

static u64 get_be64(const u8 *p)
{
	__be64 v;

	memcpy(&v, p, sizeof(v));
	return be64_to_cpu(v);
}

static void put_be16(u8 *p, u32 v)
{
	p[0] = (u8)(v >> 8);
	p[1] = (u8)v;
}

static void put_be24(u8 *p, u32 v)
{
	p[0] = (u8)(v >> 16);
	p[1] = (u8)(v >> 8);
	p[2] = (u8)v;
}

static void put_be32(u8 *p, u32 v)
{
	__be32 be = cpu_to_be32(v);

	memcpy(p, &be, sizeof(be));
}

static void put_be64(u8 *p, u64 v)
{
	__be64 be = cpu_to_be64(v);

	memcpy(p, &be, sizeof(be));
}

/* ---- Decoding ------------------------------------------------------------- */

static void parse_bth(struct ornic_pkt *pkt, const u8 *bth)
{
	pkt->solicited = bth[1] & BTH_SE;
	pkt->pad = bth[1] >> BTH_PAD_SHIFT & 3;
	pkt->pkey = (u16)get_be16(bth + 2);
	pkt->qpn = ornic_be24(bth + 5);
	pkt->ack_req = bth[8] & BTH_ACKREQ;
	/* The other bits mean nothing without the first. */
	pkt->selective = bth[4] & ORNIC_BTH_SELECTIVE ? bth[4] & BTH_SELECTIVE :
							0;
	pkt->becn = bth[4] & BTH_BECN;
	pkt->psn = ornic_be24(bth + 9);
}

/* IBTA 9.3, A19.4.1: the extension headers in their order. */
static void parse_extensions(struct ornic_pkt *pkt, const u8 *p)
{
	u32 flags = pkt->op->flags;

	/* Requests have the others. */
	if (flags & ORNIC_OPF_AETH) {
		pkt->syndrome = p[0];
		pkt->msn = ornic_be24(p + 1);
		if (flags & ORNIC_OPF_ATOMIC_ACK)
			pkt->orig = get_be64(p + AETH_LEN);
		return;
	}
	if (flags & ORNIC_OPF_XRCETH) {
		pkt->srqn = ornic_be24(p + 1);
		p += XRCETH_LEN;
	}
	if (flags & ORNIC_OPF_DETH) {
		pkt->qkey = get_be32(p);
		pkt->src_qpn = ornic_be24(p + 5);
		p += DETH_LEN;
	}
	if (flags & ORNIC_OPF_FLUSH) {
		pkt->feth = get_be32(p);
		p += FETH_LEN;
	}
	if (flags & ORNIC_OPF_RETH) {
		pkt->va = get_be64(p);
		pkt->rkey = get_be32(p + 8);
		pkt->dma_len = get_be32(p + 12);
		p += RETH_LEN;
	}
	if (flags & ORNIC_OPF_ATOMIC_ETH) {
		pkt->va = get_be64(p);
		pkt->rkey = get_be32(p + 8);
		pkt->swap_add = get_be64(p + 12);
		pkt->compare = get_be64(p + 20);
		p += ATOMIC_ETH_LEN;
	}
	if (flags & (ORNIC_OPF_IMM | ORNIC_OPF_INV))
		memcpy(&pkt->imm, p, IMM_LEN);
}

/* The pieces must hold what @len promises; nothing else was looked at yet. */
static bool pieces_hold_len(const struct ornic_rx *rx)
{
	u64 sum = 0;
	u32 i;

	if (rx->nsegs > ORNIC_RX_SEGS)
		return false;
	for (i = 0; i < rx->nsegs; i++)
		sum += rx->seg[i].len;
	return sum >= rx->len;
}

/* Pieces of bytes [@off, @off + @len); the caller knows that they exist. */
static u32 cut_pieces(const struct ornic_rx *rx, u32 off, u32 len,
		      struct ornic_frag *frag)
{
	u32 i, take, n = 0;

	if (likely((u64)off + len <= rx->seg[0].len)) {
		frag->ptr = (u8 *)rx->seg[0].ptr + off;
		frag->len = len;
		return !!len;
	}
	for (i = 0; i < rx->nsegs && len; i++) {
		if (off >= rx->seg[i].len) {
			off -= rx->seg[i].len;
			continue;
		}
		take = min_t(u32, rx->seg[i].len - off, len);
		frag[n].ptr = (u8 *)rx->seg[i].ptr + off;
		frag[n].len = take;
		n++;
		len -= take;
		off = 0;
	}
	return n;
}

static u32 crc_pieces(u32 crc, const struct ornic_frag *frag, u32 n)
{
	u32 i;

	for (i = 0; i < n; i++)
		crc = ornic_crc32(crc, frag[i].ptr, frag[i].len);
	return crc;
}

/* The last four bytes; they may lie in several pieces. */
static __le32 read_icrc(const struct ornic_rx *rx)
{
	struct ornic_frag frag[ORNIC_RX_SEGS] __uninitialized;
	u32 i, n, at = 0;
	u8 bytes[ORNIC_ICRC_LEN] = { 0 };
	__le32 icrc;

	if (likely(rx->seg[0].len >= rx->len)) {
		memcpy(&icrc, (u8 *)rx->seg[0].ptr + rx->len - ORNIC_ICRC_LEN,
		       sizeof(icrc));
		return icrc;
	}
	n = cut_pieces(rx, rx->len - ORNIC_ICRC_LEN, ORNIC_ICRC_LEN, frag);
	for (i = 0; i < n; i++) {
		memcpy(bytes + at, frag[i].ptr, frag[i].len);
		at += frag[i].len;
	}
	memcpy(&icrc, bytes, sizeof(icrc));
	return icrc;
}

static bool icrc_is_good(const struct ornic_rx *rx)
{
	u32 covered = rx->len - ORNIC_ICRC_LEN;
	struct ornic_frag frag[ORNIC_RX_SEGS] __uninitialized;
	u32 crc, n, head;

	head = min_t(u32, min_t(u32, covered, rx->seg[0].len), ORNIC_ICRC_HEAD);
	crc = ornic_icrc_start(rx->ip, rx->ipv6, rx->seg[0].ptr, head);
	n = cut_pieces(rx, head, covered - head, frag);
	return ornic_icrc_finish(crc_pieces(crc, frag, n)) == read_icrc(rx);
}

/*
 * A sequence NAK that names the requests that the responder has kept. Any other ACKNOWLEDGE
 * ends with its AETH.
 */
static bool is_sack(const struct ornic_pkt *pkt, const u8 *bth)
{
	return pkt->selective && !pkt->pad &&
	       pkt->payload_len <= ORNIC_SACK_MAX &&
	       (pkt->opcode & ~ORNIC_TRANSPORT_MASK) == ORNIC_OP_ACK &&
	       bth[ORNIC_BTH_LEN] == (ORNIC_AETH_NAK | ORNIC_NAK_PSN_SEQ);
}

/*
 * IBTA 9.2: TVer 0; header, payload, pad and ICRC fill the packet, and what
 * precedes the ICRC is a multiple of four bytes.
 */
static bool parse_headers(struct ornic_pkt *pkt, const struct ornic_rx *rx)
{
	const u8 *bth = rx->seg[0].ptr;
	u32 fixed;

	if (rx->len < ORNIC_BTH_LEN + ORNIC_ICRC_LEN || rx->len % 4 ||
	    !rx->nsegs || rx->seg[0].len < ORNIC_BTH_LEN)
		return false;
	pkt->opcode = bth[0];
	pkt->op = ornic_opcode_lookup(bth[0]);
	if (!pkt->op || bth[1] & BTH_TVER_MASK)
		return false;
	parse_bth(pkt, bth);
	fixed = (u32)pkt->op->hdr_len + pkt->pad + ORNIC_ICRC_LEN;
	if (rx->len < fixed || rx->seg[0].len < pkt->op->hdr_len)
		return false;
	pkt->hdr_len = pkt->op->hdr_len;
	pkt->payload_len = rx->len - fixed;
	if (pkt->payload_len && !(pkt->op->flags & ORNIC_OPF_PAYLOAD) &&
	    !is_sack(pkt, bth))
		return false;
	parse_extensions(pkt, bth + ORNIC_BTH_LEN);
	return true;
}

int ornic_pkt_parse(struct ornic_pkt *pkt, const struct ornic_rx *rx)
{
	memset(pkt, 0, sizeof(*pkt));
	pkt->rx = rx;
	if (!pieces_hold_len(rx) || !parse_headers(pkt, rx))
		return ORNIC_STAT_RX_MALFORMED;
	if (!icrc_is_good(rx))
		return ORNIC_STAT_RX_ICRC_ERRORS;
	pkt->ce = ornic_ip_is_ce(rx->ip, rx->ipv6);
	return 0;
}

u32 ornic_pkt_payload(const struct ornic_pkt *pkt, struct ornic_frag *frag)
{
	return cut_pieces(pkt->rx, pkt->hdr_len, pkt->payload_len, frag);
}

void ornic_pkt_copy_payload(const struct ornic_pkt *pkt, u32 off, void *to,
			    u32 len)
{
	struct ornic_frag frag[ORNIC_RX_SEGS] __uninitialized;
	u32 i, n = cut_pieces(pkt->rx, pkt->hdr_len + off, len, frag);
	u8 *p = to;

	for (i = 0; i < n; i++) {
		memcpy(p, frag[i].ptr, frag[i].len);
		p += frag[i].len;
	}
}

void ornic_grh_from_ip(u8 *grh, const void *ip, bool ipv6)
{
	if (ipv6) {
		memcpy(grh, ip, ORNIC_GRH_LEN);
		return;
	}
	memset(grh, 0, ORNIC_GRH_LEN - IPV4_LEN);
	memcpy(grh + ORNIC_GRH_LEN - IPV4_LEN, ip, IPV4_LEN);
}

/* ---- Paths ---------------------------------------------------------------- */

static const u8 v4_prefix[12] = { 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff };

bool ornic_gid_is_ipv4(const u8 *gid)
{
	return !memcmp(gid, v4_prefix, sizeof(v4_prefix));
}

bool ornic_gid_is_multicast(const u8 *gid)
{
	return gid[0] == 0xff ||
	       (ornic_gid_is_ipv4(gid) && gid[12] >> 4 == 0xe);
}

void ornic_rx_dgid(const struct ornic_rx *rx, u8 *gid)
{
	const u8 *ip = rx->ip;

	if (rx->ipv6) {
		memcpy(gid, ip + 24, 16);
		return;
	}
	memcpy(gid, v4_prefix, sizeof(v4_prefix));
	memcpy(gid + 12, ip + 16, 4);
}

bool ornic_rx_is_multicast(const struct ornic_rx *rx)
{
	const u8 *ip = rx->ip;

	if (!rx->ipv6)
		return ip[16] >> 4 == 0xe;
	if (unlikely(ornic_ip_is_grh(ip, true)))
		return ornic_gid_is_multicast(ip + 24);
	return ip[24] == 0xff;
}

/* 0.0.0.0 and :: are no addresses of a host. */
static bool gid_is_unspecified(const u8 *gid)
{
	static const u8 zero[16];

	if (ornic_gid_is_ipv4(gid))
		return !memcmp(gid + 12, zero, 4);
	return !memcmp(gid, zero, 16);
}

static bool av_in_range(const struct ornic_av *av, bool v1)
{
	return (v1 || le16_to_cpu(av->udp_sport) >= 0xc000) &&
	       !gid_is_unspecified(av->dgid);
}

static u8 *put_eth(u8 *p, const struct ornic_gid *src,
		   const struct ornic_av *av, bool ipv6)
{
	memcpy(p, av->dmac, 6);
	memcpy(p + 6, src->smac, 6);
	p += 12;
	if (src->vlan != ORNIC_VLAN_NONE) {
		put_be16(p, 0x8100);
		put_be16(p + 2, (u32)av->sl << 13 | src->vlan);
		p += VLAN_LEN;
	}
	put_be16(p, src->v1 ? ORNIC_ETH_ROCE_V1 : ipv6 ? 0x86dd : 0x0800);
	return p + 2;
}

/*
 * A hop limit of 0 would die on the first host, so it means "the default": for
 * a group that does not leave the link (RFC 1112, 6.1).
 */
static u8 hop_limit(const struct ornic_av *av)
{
	if (av->hop_limit)
		return av->hop_limit;
	return ornic_gid_is_multicast(av->dgid) ? 1 : DEFAULT_TTL;
}

/*
 * DF with id 0: RoCE packets fit the path MTU and are never fragmented, and
 * an atomic datagram needs no id (RFC 6864).
 */
static u8 *put_ipv4(u8 *p, const struct ornic_gid *src,
		    const struct ornic_av *av)
{
	p[0] = 0x45;
	p[1] = av->tclass;
	put_be16(p + 6, IPV4_DF);
	p[8] = hop_limit(av);
	p[9] = IPPROTO_UDP_NR;
	memcpy(p + 12, src->gid + 12, 4);
	memcpy(p + 16, av->dgid + 12, 4);
	return p + IPV4_LEN;
}

static u8 *put_ipv6(u8 *p, const struct ornic_gid *src,
		    const struct ornic_av *av)
{
	put_be32(p, 6u << 28 | (u32)av->tclass << 20 |
			    le32_to_cpu(av->flow_label));
	p[6] = src->v1 ? ORNIC_NXTHDR_BTH : IPPROTO_UDP_NR;
	p[7] = hop_limit(av);
	memcpy(p + 8, src->gid, 16);
	memcpy(p + 24, av->dgid, 16);
	return p + IPV6_LEN;
}

/*
 * The UDP checksum stays 0 in both families, for IPv6 by RFC 6935: the ICRC protects
 * more. Sockets of receivers need no_check6_rx for that.
 */
static u8 *put_udp(u8 *p, const struct ornic_av *av)
{
	put_be16(p, le16_to_cpu(av->udp_sport));
	put_be16(p + 2, ORNIC_UDP_PORT);
	return p + UDP_LEN;
}

int ornic_path_init(struct ornic_path *path, const struct ornic_gid *src,
		    const struct ornic_av *av)
{
	bool ipv6 = src->v1 || !ornic_gid_is_ipv4(av->dgid);
	u8 *p = path->hdr;

	if (!src->valid || !av_in_range(av, src->v1) ||
	    (src->vlan != ORNIC_VLAN_NONE && src->vlan > VLAN_ID_MAX))
		return -EINVAL;
	if (!src->v1 && ornic_gid_is_ipv4(src->gid) == ipv6)
		return -EINVAL;
	memset(path, 0, sizeof(*path));
	path->ipv6 = ipv6;
	path->v1 = src->v1;
	path->mcast = ornic_gid_is_multicast(av->dgid);
	path->vlan = src->vlan;
	path->av = *av;
	path->av.flow_label &= cpu_to_le32(FLOW_LABEL_MASK);
	path->av.sl &= SL_MASK;
	if (!path->v1)
		path->av.tclass &= ~ECN_MASK;
	memcpy(path->sgid, src->gid, 16);
	memcpy(path->dgid, av->dgid, 16);
	p = put_eth(p, src, &path->av, ipv6);
	path->l3_offset = (u8)(p - path->hdr);
	p = ipv6 ? put_ipv6(p, src, &path->av) : put_ipv4(p, src, &path->av);
	path->l4_offset = (u8)(p - path->hdr);
	if (!path->v1)
		p = put_udp(p, av);
	path->hdr_len = (u8)(p - path->hdr);
	return 0;
}

void ornic_path_set_tclass(struct ornic_path *path, u8 tclass)
{
	u8 *ip = path->hdr + path->l3_offset;

	if (!path->ipv6) {
		ip[1] = tclass;
		return;
	}
	ip[0] = 0x60 | tclass >> 4;
	ip[1] = (u8)(tclass << 4) | (ip[1] & 0xf);
}

void ornic_path_set_port(struct ornic_path *path, u16 port)
{
	put_be16(path->hdr + path->l4_offset, port);
}

void ornic_path_set_ect(struct ornic_path *path)
{
	if (path->v1)
		return;
	ornic_path_set_tclass(path,
			      (path->av.tclass & ~ECN_MASK) | ORNIC_ECN_ECT0);
}

bool ornic_path_matches(const struct ornic_path *path,
			const struct ornic_rx *rx)
{
	const u8 *ip = rx->ip;

	if (path->ipv6 != rx->ipv6)
		return false;
	if (rx->ipv6)
		return path->v1 == ornic_ip_is_grh(ip, true) &&
		       ornic_gid_equal(ip + 8, path->dgid) &&
		       ornic_gid_equal(ip + 24, path->sgid);
	return !memcmp(ip + 12, path->dgid + 12, 4) &&
	       !memcmp(ip + 16, path->sgid + 12, 4);
}

/* ---- Encoding -------------------------------------------------------------- */

/*
 * MigReq is set: a connected QP without an alternate path is in the state
 * "migrated", and that is what the bit says (IBTA 17.2.8).
 */
static void put_bth(u8 *bth, const struct ornic_txinfo *info, u32 pad)
{
	bth[0] = info->opcode;
	bth[1] = (u8)((info->solicited ? BTH_SE : 0) | pad << BTH_PAD_SHIFT);
	if ((info->opcode & ORNIC_TRANSPORT_MASK) != ORNIC_UD &&
	    likely(info->opcode != ORNIC_CNP))
		bth[1] |= BTH_MIGREQ;
	put_be16(bth + 2, info->pkey);
	bth[4] = (u8)((info->becn ? BTH_BECN : 0) | info->selective);
	put_be24(bth + 5, info->dest_qpn & QPN_MASK);
	bth[8] = info->ack_req ? BTH_ACKREQ : 0;
	put_be24(bth + 9, info->psn);
}

/* IBTA 9.3, A19.4.1: the extension headers in their order. */
static void put_extensions(u8 *p, u32 flags, const struct ornic_txinfo *info)
{
	if (flags & ORNIC_OPF_XRCETH) {
		put_be32(p, info->srqn & QPN_MASK);
		p += XRCETH_LEN;
	}
	if (flags & ORNIC_OPF_DETH) {
		put_be32(p, info->qkey);
		put_be32(p + 4, info->src_qpn & QPN_MASK);
		p += DETH_LEN;
	}
	if (flags & ORNIC_OPF_FLUSH) {
		put_be32(p, info->feth);
		p += FETH_LEN;
	}
	if (flags & ORNIC_OPF_RETH) {
		put_be64(p, info->va);
		put_be32(p + 8, info->rkey);
		put_be32(p + 12, info->dma_len);
		p += RETH_LEN;
	}
	if (flags & ORNIC_OPF_ATOMIC_ETH) {
		put_be64(p, info->va);
		put_be32(p + 8, info->rkey);
		put_be64(p + 12, info->swap_add);
		put_be64(p + 20, info->compare);
		p += ATOMIC_ETH_LEN;
	}
	if (flags & ORNIC_OPF_AETH) {
		p[0] = info->syndrome;
		put_be24(p + 1, info->msn);
		p += AETH_LEN;
	}
	if (flags & ORNIC_OPF_ATOMIC_ACK) {
		put_be64(p, info->orig);
		p += ATOMIC_ACK_LEN;
	}
	if (flags & (ORNIC_OPF_IMM | ORNIC_OPF_INV))
		memcpy(p, &info->imm, IMM_LEN);
	if (flags & ORNIC_OPF_CNP)
		memset(p, 0, CNP_LEN);
}

u32 ornic_ipv4_checksum(const u8 *ip)
{
	u32 i, sum = 0;

	for (i = 0; i < IPV4_LEN; i += 2)
		sum += get_be16(ip + i);
	sum = (sum & 0xffff) + (sum >> 16);
	return ~(sum + (sum >> 16)) & 0xffff;
}

static void put_lengths(struct ornic_tx *tx)
{
	u32 len = tx->hdr_len - tx->l4_offset + tx->body_len;
	u8 *ip = tx->hdr + tx->l3_offset;

	if (tx->ipv6) {
		put_be16(ip + 4, len);
		if (ornic_ip_is_grh(ip, true))
			return;
	} else {
		put_be16(ip + 2, IPV4_LEN + len);
		put_be16(ip + 10, ornic_ipv4_checksum(ip));
	}
	put_be16(tx->hdr + tx->l4_offset + 4, len);
}

/* The only time that the payload is read: what follows looks at the copy. */
static void put_payload(u8 *to, const struct ornic_frag *frag, u32 nfrags)
{
	u32 i;

	for (i = 0; i < nfrags; i++) {
		memcpy(to, frag[i].ptr, frag[i].len);
		to += frag[i].len;
	}
}

/* The rest of the frame is written: its ICRC. */
static void put_icrc(struct ornic_tx *tx, const u8 *bth, u32 roce_len)
{
	u32 covered = tx->body_len - ORNIC_ICRC_LEN, at = 0, crc;
	__le32 icrc;

	/* One run over short pieces costs less than one for each. */
	if (tx->body == bth + roce_len)
		at = min_t(u32, covered, ORNIC_ICRC_HEAD - roce_len);
	crc = ornic_icrc_start(tx->hdr + tx->l3_offset, tx->ipv6, bth,
			       roce_len + at);
	if (covered > at)
		crc = ornic_crc32(crc, tx->body + at, covered - at);
	icrc = ornic_icrc_finish(crc);
	memcpy(tx->body + covered, &icrc, sizeof(icrc));
}

void ornic_tx_plan(struct ornic_tx *tx, const struct ornic_path *path,
		   u8 opcode, u32 len)
{
	tx->hdr_len = (u8)(path->hdr_len + opcodes[opcode].hdr_len);
	tx->l3_offset = path->l3_offset;
	tx->l4_offset = path->l4_offset;
	tx->ipv6 = path->ipv6;
	tx->raw = false;
	tx->sl = path->av.sl;
	tx->payload_len = len;
	tx->body_len = ALIGN(len, 4) + ORNIC_ICRC_LEN;
}

void ornic_tx_fill(struct ornic_tx *tx, const struct ornic_path *path,
		   const struct ornic_txinfo *info,
		   const struct ornic_frag *frag, u32 nfrags)
{
	const struct ornic_opinfo *op = &opcodes[info->opcode];
	u8 *bth = tx->hdr + path->hdr_len;
	u32 pad = -tx->payload_len & 3;

	memcpy(tx->hdr, path->hdr, path->hdr_len);
	put_bth(bth, info, pad);
	put_extensions(bth + ORNIC_BTH_LEN, op->flags, info);
	put_lengths(tx);
	put_payload(tx->body, frag, nfrags);
	memset(tx->body + tx->payload_len, 0, pad);
	put_icrc(tx, bth, op->hdr_len);
}

/* build_datapath.c has other sources after this one. */
#undef IPV4_LEN
#undef IPV6_LEN
#undef UDP_LEN
#undef HDR_LEN
#undef ROW
#undef F_SEND
#undef F_WRITE
#undef F_RESP
#undef F_ATOM
#undef F_ONLY
#undef F_FIRST
#undef F_LAST
#undef F_IMM
#undef F_RETH
#undef F_AETH
#undef F_XREQ
#undef X_SEND
#undef X_WRITE
