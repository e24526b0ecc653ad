/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* A packet of another encoder, and what tshark reads in it. */
#ifndef ORNIC_RXE_PACKET_H
#define ORNIC_RXE_PACKET_H

/* Fields that the packet does not have are 0. */
struct ornic_rxe_packet {
	const char *name;
	const u8 *frame;
	u16 len;
	bool ipv6;
	u8 opcode;
	bool solicited;
	bool ack_req;
	u8 pad;
	u8 syndrome;
	u16 pkey;
	u32 qpn;
	u32 psn;
	u32 qkey;
	u32 src_qpn;
	u32 rkey;
	u32 dma_len;
	u32 msn;
	u32 imm;
	u64 va;
	u64 swap_add;
	u64 compare;
	u64 orig;
};

#endif /* ORNIC_RXE_PACKET_H */
