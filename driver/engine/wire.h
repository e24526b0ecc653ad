/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * RoCE on the wire: opcodes as data, packets to struct ornic_pkt and back.
 * Pure: no state, no locks. Layouts: IBTA chapter 9 and annexes A16 and A17.
 */
#ifndef ORNIC_ENGINE_WIRE_H
#define ORNIC_ENGINE_WIRE_H

#include "crc32.h"
#include "engine.h"
#include "pkey.h"

/* A big-endian number of three bytes. */
static inline u32 ornic_be24(const u8 *p)
{
	return (u32)p[0] << 16 | (u32)p[1] << 8 | p[2];
}

/* clang-format off */
#define ORNIC_BTH_LEN		12
#define ORNIC_ICRC_LEN		4
#define ORNIC_GRH_LEN		40
/* Bytes of the bitmap in a NAK of a peer that keeps requests, at most. */
#define ORNIC_SACK_MAX		4096

/* Reserved bits of the BTH, see struct ornic_txinfo; the others with the first. */
#define ORNIC_BTH_SELECTIVE	0x01
#define ORNIC_BTH_AGAIN		0x02
#define ORNIC_BTH_MORE		0x04

/* BTH opcodes, IBTA table 38; the top three bits are the transport. */
enum ornic_bth_opcode {
	ORNIC_RC			= 0x00,
	ORNIC_UC			= 0x20,
	ORNIC_UD			= 0x60,
	ORNIC_XRC			= 0xa0,	/* IBTA A14.3.1 */
	ORNIC_CNP			= 0x81,	/* IBTA A17.9.3 */
	ORNIC_TRANSPORT_MASK		= 0xe0,

	ORNIC_OP_SEND_FIRST		= 0x00,
	ORNIC_OP_SEND_MIDDLE		= 0x01,
	ORNIC_OP_SEND_LAST		= 0x02,
	ORNIC_OP_SEND_LAST_IMM		= 0x03,
	ORNIC_OP_SEND_ONLY		= 0x04,
	ORNIC_OP_SEND_ONLY_IMM		= 0x05,
	ORNIC_OP_WRITE_FIRST		= 0x06,
	ORNIC_OP_WRITE_MIDDLE		= 0x07,
	ORNIC_OP_WRITE_LAST		= 0x08,
	ORNIC_OP_WRITE_LAST_IMM		= 0x09,
	ORNIC_OP_WRITE_ONLY		= 0x0a,
	ORNIC_OP_WRITE_ONLY_IMM		= 0x0b,
	ORNIC_OP_READ_REQUEST		= 0x0c,
	ORNIC_OP_READ_RESP_FIRST	= 0x0d,
	ORNIC_OP_READ_RESP_MIDDLE	= 0x0e,
	ORNIC_OP_READ_RESP_LAST		= 0x0f,
	ORNIC_OP_READ_RESP_ONLY		= 0x10,
	ORNIC_OP_ACK			= 0x11,
	ORNIC_OP_ATOMIC_ACK		= 0x12,
	ORNIC_OP_CAS			= 0x13,
	ORNIC_OP_FAA			= 0x14,
	ORNIC_OP_SEND_LAST_INV		= 0x16,
	ORNIC_OP_SEND_ONLY_INV		= 0x17,
	ORNIC_OP_FLUSH			= 0x1c,
	ORNIC_OP_ATOMIC_WRITE		= 0x1d,
};

/*
 * What an opcode is and which headers follow the BTH. The flags of a received
 * packet (struct ornic_opinfo) and the kind of a send WQE (struct ornic_swqe).
 */
enum ornic_op_flags {
	/* headers, in the order in which they follow the BTH */
	ORNIC_OPF_XRCETH	= 1 << 0,
	ORNIC_OPF_DETH		= 1 << 1,
	ORNIC_OPF_RETH		= 1 << 2,
	ORNIC_OPF_ATOMIC_ETH	= 1 << 3,
	ORNIC_OPF_AETH		= 1 << 4,
	ORNIC_OPF_ATOMIC_ACK	= 1 << 5,
	ORNIC_OPF_IMM		= 1 << 6,
	ORNIC_OPF_INV		= 1 << 7,	/* IETH, in the place of ImmDt */
	ORNIC_OPF_PAYLOAD	= 1 << 8,	/* may carry payload */
	/* place in the message; ONLY = both */
	ORNIC_OPF_START		= 1 << 9,
	ORNIC_OPF_END		= 1 << 10,
	/* direction */
	ORNIC_OPF_REQUEST	= 1 << 11,
	ORNIC_OPF_RESPONSE	= 1 << 12,
	/* kind */
	ORNIC_OPF_SEND		= 1 << 13,
	ORNIC_OPF_WRITE		= 1 << 14,
	ORNIC_OPF_READ		= 1 << 15,	/* request or response */
	ORNIC_OPF_ATOMIC	= 1 << 16,	/* request or response */
	/* IBTA A19: the response is a READ response without data */
	ORNIC_OPF_ATOMIC_WRITE	= 1 << 17,
	ORNIC_OPF_FLUSH		= 1 << 18,	/* has FETH, before RETH */
	ORNIC_OPF_LOCAL		= 1 << 19,	/* WQEs only: nothing is sent */
	ORNIC_OPF_CNP		= 1 << 20,	/* 16 reserved bytes, IBTA A17.9.3 */
};

/* Requests that take a responder resource and have a response of their own. */
#define ORNIC_OPF_HAS_RESPONSE \
	(ORNIC_OPF_READ | ORNIC_OPF_ATOMIC | ORNIC_OPF_ATOMIC_WRITE | \
	 ORNIC_OPF_FLUSH)
/* Those of them whose response has no data. */
#define ORNIC_OPF_EMPTY_RESPONSE	(ORNIC_OPF_ATOMIC_WRITE | ORNIC_OPF_FLUSH)

/* clang-format on */

/**
 * struct ornic_opinfo - one row of the opcode table
 * @flags: enum ornic_op_flags, 0 for an opcode that does not exist
 * @hdr_len: BTH and extension headers, bytes
 * @name: as IBTA table 38 names it
 */
struct ornic_opinfo {
	u32 flags;
	u8 hdr_len;
	const char *name;
};

/**
 * ornic_opcode_lookup - look up an opcode
 * @opcode: BTH opcode, all 8 bits
 *
 * Return: its row, NULL if it is not supported.
 */
const struct ornic_opinfo *ornic_opcode_lookup(u8 opcode);

/* clang-format off */
/* FETH, IBTA A19.4.1: enum ornic_flush_type, enum ornic_flush_level. */
#define ORNIC_FETH_TYPE_MASK	0x0f
#define ORNIC_FETH_LEVEL_SHIFT	4
#define ORNIC_FETH_LEVEL_MASK	0x30

/* AETH syndrome, IBTA 9.7.5.1.1 */
#define ORNIC_AETH_TYPE_MASK	0xe0
#define ORNIC_AETH_ACK		0x00
#define ORNIC_AETH_RNR		0x20	/* 4:0 = timer code */
#define ORNIC_AETH_NAK		0x60	/* 4:0 = code */
#define ORNIC_AETH_VALUE_MASK	0x1f
#define ORNIC_AETH_CREDITS_NONE	0x1f	/* "credit invalid" in an ACK */

enum ornic_nak_code {
	ORNIC_NAK_PSN_SEQ	= 0,
	ORNIC_NAK_INVALID_REQ	= 1,
	ORNIC_NAK_REMOTE_ACCESS	= 2,
	ORNIC_NAK_REMOTE_OP	= 3,
};

/* clang-format on */

/**
 * struct ornic_pkt - a received packet, headers decoded to host order
 * @rx: where it came from
 * @op: row of its opcode
 * @opcode: BTH opcode, all 8 bits
 * @pad: pad bytes after the payload
 * @solicited: BTH SE
 * @ack_req: BTH A
 * @selective: reserved in the BTH: see struct ornic_txinfo
 * @becn: BTH
 * @ce: a switch has marked it: congestion experienced, RFC 3168
 * @pkey: BTH
 * @qpn: BTH, destination
 * @psn: BTH
 * @srqn: XRCETH
 * @src_qpn: DETH
 * @qkey: DETH
 * @va: RETH or AtomicETH
 * @rkey: RETH or AtomicETH
 * @dma_len: RETH, bytes
 * @swap_add: AtomicETH
 * @compare: AtomicETH
 * @feth: FETH, placement type and selectivity level
 * @orig: AtomicAckETH
 * @syndrome: AETH
 * @msn: AETH
 * @imm: ImmDt or IETH, wire order
 * @hdr_len: BTH and extension headers, bytes from the start of seg[0]
 * @payload_len: bytes, without pad and ICRC
 */
struct ornic_pkt {
	const struct ornic_rx *rx;
	const struct ornic_opinfo *op;
	u8 opcode;
	u8 pad;
	bool solicited;
	bool ack_req;
	u8 selective;
	bool becn;
	bool ce;
	u16 pkey;
	u32 qpn;
	u32 psn;
	u32 srqn;
	u32 src_qpn;
	u32 qkey;
	u64 va;
	u32 rkey;
	u32 dma_len;
	u64 swap_add;
	u64 compare;
	u32 feth;
	u64 orig;
	u8 syndrome;
	u32 msn;
	__be32 imm;
	u32 hdr_len;
	u32 payload_len;
};

/**
 * ornic_pkt_parse - decode the RoCE headers of @rx into @pkt
 * @pkt: out: the packet; it refers to @rx
 * @rx: what came from the wire, untrusted
 *
 * Checks everything that can be checked without a QP: version (TVer 0),
 * opcode, lengths, pad (IBTA C9-9 ff.), and the ICRC last, because it costs most.
 *
 * Return: 0, or the ornic_stat to count (RX_MALFORMED, RX_ICRC_ERRORS) when
 * the packet is to be dropped.
 */
__flatten noinline int ornic_pkt_parse(struct ornic_pkt *pkt,
				       const struct ornic_rx *rx);

/**
 * ornic_pkt_payload - the payload of @pkt as pieces
 * @pkt: a packet that ornic_pkt_parse() accepted
 * @frag: room for ORNIC_RX_SEGS pieces
 *
 * Return: number of pieces; their lengths sum to pkt->payload_len.
 */
u32 ornic_pkt_payload(const struct ornic_pkt *pkt, struct ornic_frag *frag);

/* Copy @len bytes from @off on of the payload of @pkt, which has them, to @to. */
void ornic_pkt_copy_payload(const struct ornic_pkt *pkt, u32 off, void *to,
			    u32 len);

/*
 * Congestion experienced, RFC 3168: the low two bits of the traffic class. They have
 * no such meaning in a GRH.
 */
static inline bool ornic_ip_is_ce(const void *ip, bool ipv6)
{
	u8 byte = ((const u8 *)ip)[1];

	return (ipv6 ? byte >> 4 : byte) % 4 == 3 && !ornic_ip_is_grh(ip, ipv6);
}

/**
 * ornic_grh_from_ip - the 40 bytes that a UD receive finds before its data
 * @grh: 40 bytes. IPv6 or GRH: the header. IPv4: 20 zero bytes, then the header,
 *	IBTA A17.4.5.2
 * @ip: IP header or GRH
 * @ipv6: @ip is not IPv4
 */
void ornic_grh_from_ip(u8 *grh, const void *ip, bool ipv6);

/* Are both the same 16 bytes? Compilers call memcmp() for that. */
static inline bool ornic_gid_equal(const u8 *a, const u8 *b)
{
	u64 x[2], y[2];

	memcpy(x, a, sizeof(x));
	memcpy(y, b, sizeof(y));
	return !((x[0] ^ y[0]) | (x[1] ^ y[1]));
}

/* Is @gid an IPv4 address, mapped? */
bool ornic_gid_is_ipv4(const u8 *gid);

/* Is @gid, IPv6 or mapped IPv4, the address of a multicast group? */
bool ornic_gid_is_multicast(const u8 *gid);

/* Where @rx was sent to: IPv6, or IPv4 mapped. */
void ornic_rx_dgid(const struct ornic_rx *rx, u8 *gid);

/* Was @rx sent to a multicast group? */
bool ornic_rx_is_multicast(const struct ornic_rx *rx);

/**
 * struct ornic_path - header template of a connected QP or an AH
 * @hdr: Ethernet, VLAN tag, IP and UDP header or GRH, lengths still zero
 * @hdr_len: as in struct ornic_tx
 * @l3_offset: as in struct ornic_tx
 * @l4_offset: as in struct ornic_tx
 * @ipv6: as in struct ornic_tx
 * @v1: RoCE v1: the header is a GRH
 * @loop: no packets are made: the destination is this device itself, or
 * @peer_engine: a peer engine, see struct ornic_engine_ops
 * @mcast: the destination is a multicast group
 * @vlan: VLAN id or ORNIC_VLAN_NONE
 * @sgid: source of the packets that are sent
 * @dgid: their destination
 * @av: what it was made from
 */
struct ornic_path {
	u8 hdr[18 + 40 + 8];
	u8 hdr_len;
	u8 l3_offset;
	u8 l4_offset;
	bool ipv6;
	bool v1;
	bool loop;
	bool peer_engine;
	bool mcast;
	u16 vlan;
	u8 sgid[16];
	u8 dgid[16];
	struct ornic_av av;
};

/**
 * struct ornic_gid - one entry of the GID table, host order, set by SET_GID
 * @gid: IPv6 address, or IPv4 address mapped into one
 * @smac: source MAC
 * @vlan: VLAN id or ORNIC_VLAN_NONE
 * @valid: in use
 * @v1: its packets are RoCE v1
 */
struct ornic_gid {
	u8 gid[16];
	u8 smac[6];
	u16 vlan;
	bool valid;
	bool v1;
};

/**
 * ornic_path_init - make the template of packets from @src along @av
 * @path: out: the template
 * @src: the device's own end
 * @av: the way to the other end
 *
 * The ECN field of what a program passes as traffic class is masked: it is the
 * device that reacts to marks. RoCE v1 has neither ECN nor address families.
 *
 * Return: 0, or -EINVAL when @src is empty, address families differ, or a
 * field of @av is out of range.
 */
int ornic_path_init(struct ornic_path *path, const struct ornic_gid *src,
		    const struct ornic_av *av);

/* Codepoints of RFC 3168, the low two bits of the traffic class. */
enum ornic_ecn {
	ORNIC_ECN_NOT_ECT,
	ORNIC_ECN_ECT1,
	ORNIC_ECN_ECT0,
	ORNIC_ECN_CE,
};

/* Packets along @path have the traffic class @tclass from now on. */
void ornic_path_set_tclass(struct ornic_path *path, u8 tclass);

/* Packets along @path, of RoCEv2, have the UDP source port @port from now on. */
void ornic_path_set_port(struct ornic_path *path, u16 port);

/* Packets along @path, if it has ECN, say that their sender reacts to marks. */
void ornic_path_set_ect(struct ornic_path *path);

/**
 * ornic_path_matches - is a packet from the far end of @path, to its near end?
 * @path: template of what goes the other way
 * @rx: the packet
 *
 * IBTA A17.9.
 *
 * Return: whether version and both addresses fit.
 */
bool ornic_path_matches(const struct ornic_path *path,
			const struct ornic_rx *rx);

/**
 * struct ornic_txinfo - what ornic_tx_fill puts into the headers
 * @opcode: BTH; headers that it does not have take nothing from here
 * @solicited: BTH SE
 * @ack_req: BTH A
 * @selective: the lowest three of the six reserved bits after BECN, which receivers
 *	ignore (IBTA 9.2) and which the ICRC does not cover (IBTA A17.3.3).
 *	ORNIC_BTH_SELECTIVE in a request: the requester repeats selectively; in a
 *	response to such a one: the responder keeps requests that are ahead, and
 *	names them. With it ORNIC_BTH_AGAIN: the request was sent before, or the
 *	response is for such a one; ORNIC_BTH_MORE: the request is for a READ, but not
 *	for the end of it.
 * @becn: BTH
 * @syndrome: AETH
 * @pkey: BTH
 * @dest_qpn: BTH
 * @psn: BTH
 * @srqn: XRCETH
 * @src_qpn: DETH
 * @qkey: DETH
 * @msn: AETH
 * @va: RETH or AtomicETH
 * @rkey: RETH or AtomicETH
 * @dma_len: RETH, bytes
 * @swap_add: AtomicETH
 * @compare: AtomicETH
 * @feth: FETH
 * @orig: AtomicAckETH
 * @imm: ImmDt or IETH, wire order
 */
struct ornic_txinfo {
	u8 opcode;
	bool solicited;
	bool ack_req;
	u8 selective;
	bool becn;
	u8 syndrome;
	u16 pkey;
	u32 dest_qpn;
	u32 psn;
	u32 srqn;
	u32 src_qpn;
	u32 qkey;
	u32 msn;
	u64 va;
	u32 rkey;
	u32 dma_len;
	u64 swap_add;
	u64 compare;
	u32 feth;
	u64 orig;
	__be32 imm;
};

/**
 * ornic_tx_plan - what a frame will take
 * @tx: the frame; all is set but host_qp, frame, hdr and body
 * @path: template of its headers
 * @opcode: BTH
 * @len: bytes of payload
 */
void ornic_tx_plan(struct ornic_tx *tx, const struct ornic_path *path,
		   u8 opcode, u32 len);

/**
 * ornic_tx_fill - write a frame
 * @tx: what ornic_tx_plan() and the host have set
 * @path: template of its headers
 * @info: what the RoCE headers say
 * @frag: pieces of the payload
 * @nfrags: how many; their lengths sum to @tx->payload_len
 *
 * Writes each byte: the headers from @path and @info with their lengths and the
 * IPv4 checksum, payload, pad and ICRC (IBTA A17.3.3). Each byte of @frag is
 * read once, the ICRC is that of the copy.
 */
void ornic_tx_fill(struct ornic_tx *tx, const struct ornic_path *path,
		   const struct ornic_txinfo *info,
		   const struct ornic_frag *frag, u32 nfrags);

/* Checksum of the IPv4 header @ip, whose checksum field is zero. */
u32 ornic_ipv4_checksum(const u8 *ip);

/* icrc.c: IBTA A17.3.3, 7.8.1 */

/* Bytes from the BTH on that ornic_icrc_start() takes, at most. */
#define ORNIC_ICRC_HEAD 64

/**
 * ornic_icrc_start - CRC of the masked pseudo LRH, IP and UDP or GRH, and BTH
 * @ip: IP header, UDP header follows it contiguously; or GRH
 * @ipv6: @ip is not IPv4
 * @bth: BTH and what follows it
 * @len: bytes there, 12 to ORNIC_ICRC_HEAD. One run over short pieces costs
 *	less than one for each.
 *
 * Return: CRC register, to be continued over what follows them.
 */
u32 ornic_icrc_start(const void *ip, bool ipv6, const void *bth, u32 len);

/**
 * ornic_icrc_finish - the ICRC for a finished CRC register
 * @crc: register after the last pad byte
 *
 * Return: the four bytes, in the order of the wire.
 */
__le32 ornic_icrc_finish(u32 crc);

#endif /* ORNIC_ENGINE_WIRE_H */
