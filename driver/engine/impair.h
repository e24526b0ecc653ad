/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Impairments: a table of rules of the administrator, each of which selects
 * packets of the device by number and has something happen to them, so that a
 * test can lose the third packet of a QP. Documentation/impairment.rst has the
 * grammar of rules.
 *
 * For hosts of the engine, which ask about each packet that they send or
 * receive while there are rules. Pure: no locks, no allocation. The host calls
 * for one table from one thread at a time.
 *
 * A QP is its number and the IP address of its device, since the packets that
 * are sent have the numbers of QPs of several peers.
 */
#ifndef ORNIC_ENGINE_IMPAIR_H
#define ORNIC_ENGINE_IMPAIR_H

#include "env.h"

#define ORNIC_IMPAIR_RULES 12
#define ORNIC_IMPAIR_TEXT 240 /* bytes of a rule as text, with the final 0 */
#define ORNIC_IMPAIR_HELD 256 /* packets that are held at a time */
#define ORNIC_IMPAIR_HELD_BYTES (1u << 20)
#define ORNIC_IMPAIR_MAX_DELAY_NS 10000000000ull
/* A packet that is to be overtaken waits no longer than this. */
#define ORNIC_IMPAIR_SWAP_NS 100000000ull
#define ORNIC_IMPAIR_MIN_LEN 16 /* bytes of the shortest packet: BTH and ICRC */

enum ornic_impair_dir {
	ORNIC_IMPAIR_TX, /* the device sends it */
	ORNIC_IMPAIR_RX,
};

enum ornic_impair_action {
	ORNIC_IMPAIR_NONE,
	ORNIC_IMPAIR_DROP,
	ORNIC_IMPAIR_DUPLICATE, /* once more, right after it */
	ORNIC_IMPAIR_DELAY,
	ORNIC_IMPAIR_SWAP, /* after the next ones of its QP */
	ORNIC_IMPAIR_CE, /* mark "congestion experienced", RFC 3168 */
	ORNIC_IMPAIR_CORRUPT, /* make its ICRC wrong */
};

/**
 * struct ornic_impair_rule - one rule
 * @dir: enum ornic_impair_dir
 * @action: enum ornic_impair_action
 * @words: bits of the words that it has, enum in impair_text.c
 * @bind: of the QP of the first packet that meets all conditions but @psn;
 *	that packet determines @qpn, and @dst unless the text has it
 * @relative: @psn counts from that packet
 * @transport: bits 7:5 of the opcode, or -1
 * @opcode: BTH opcode, or -1
 * @aeth: type of the AETH of an ACK packet, or -1
 * @op_flags: enum ornic_op_flags that the opcode has
 * @qpn: destination, or -1
 * @psn: or -1
 * @src: source address
 * @dst: destination address
 * @src_len: bytes of @src: 4, 16, or 0: any address
 * @dst_len: likewise
 * @nth: the first packet that it acts on, counting from 1
 * @every: and each so many-th after it
 * @count: so often at most; 0: always
 * @delay_ns: of DELAY
 * @overtakers: of SWAP: packets that pass it
 * @bound: @bind is done
 * @base: PSN of the packet that it was bound by
 * @seen: packets that met all conditions
 * @next: value of @seen at which it acts
 * @hits: how often it did
 * @missed: packets that it selected, but another rule acted, or it was
 *	impossible
 * @text: as the administrator wrote it
 */
struct ornic_impair_rule {
	u8 dir;
	u8 action;
	u16 words;
	bool bind;
	bool relative;
	s32 transport;
	s32 opcode;
	s32 aeth;
	u32 op_flags;
	s32 qpn;
	s32 psn;
	u8 src[16];
	u8 dst[16];
	u8 src_len;
	u8 dst_len;
	u32 nth;
	u32 every;
	u32 count;
	u32 overtakers;
	u64 delay_ns;

	bool bound;
	u32 base;
	u64 seen;
	u64 next;
	u64 hits;
	u64 missed;
	char text[ORNIC_IMPAIR_TEXT];
};

/**
 * struct ornic_impair_held - a packet that waits
 * @frame: the host's; NULL: the slot is free
 * @when: when it continues, ns
 * @order: of two for the same time, the lower first
 * @qpn: destination
 * @dst: its address
 * @bytes: of memory
 * @overtakers: packets that have yet to pass it, 0: none has to
 * @dir: enum ornic_impair_dir
 */
struct ornic_impair_held {
	void *frame;
	u64 when;
	u64 order;
	u32 qpn;
	u8 dst[16];
	u32 bytes;
	u32 overtakers;
	u8 dir;
};

/* All zero: no rules. */
struct ornic_impair {
	struct ornic_impair_rule rule[ORNIC_IMPAIR_RULES];
	u32 nrules;
	struct ornic_impair_held held[ORNIC_IMPAIR_HELD];
	u32 nheld;
	u32 held_bytes;
	u64 order;
};

/**
 * struct ornic_impair_packet - what a rule is compared with
 * @dir: enum ornic_impair_dir
 * @ipv6: @ip is not IPv4
 * @ip: its IP header, or its GRH
 * @bth: the BTH and, of an ACK packet, the AETH that follows it
 * @len: bytes from the BTH to the ICRC; less than ORNIC_IMPAIR_MIN_LEN
 *	matches no rule
 */
struct ornic_impair_packet {
	u8 dir;
	bool ipv6;
	const u8 *ip;
	const u8 *bth;
	u32 len;
};

/**
 * struct ornic_impair_verdict - what happens to a packet
 * @action: enum ornic_impair_action
 * @dir: that of the packet
 * @qpn: its destination
 * @dst: the address of that; 4 bytes and zeros if it is IPv4
 * @rule: that decided, if @action is not NONE
 */
struct ornic_impair_verdict {
	u8 action;
	u8 dir;
	u32 qpn;
	u8 dst[16];
	struct ornic_impair_rule *rule;
};

/**
 * struct ornic_impair_error - why a text is no rule
 * @why: a sentence without its period
 * @at: offset of the word that is wrong
 * @len: its bytes
 */
struct ornic_impair_error {
	const char *why;
	u32 at;
	u32 len;
};

/**
 * ornic_impair_parse - read a rule
 * @rule: out, if it is one
 * @text: @len bytes, not terminated, of any content; a final newline is ignored
 * @len: of @text
 * @error: out, if it is none
 *
 * Context: any.
 * Return: 0 or -EINVAL.
 */
int ornic_impair_parse(struct ornic_impair_rule *rule, const char *text,
		       u32 len, struct ornic_impair_error *error);

/**
 * ornic_impair_add - append a rule
 * @im: the table
 * @rule: from ornic_impair_parse(); copied
 *
 * Context: any.
 * Return: 0 or -ENOSPC.
 */
int ornic_impair_add(struct ornic_impair *im,
		     const struct ornic_impair_rule *rule);

/**
 * ornic_impair_decide - what happens to a packet?
 * @im: the table
 * @packet: the packet, not trusted
 *
 * Each rule counts the packet if it meets the rule's conditions. The first one
 * that selects it decides. After any action but DROP, DELAY and SWAP the host
 * calls ornic_impair_passed() when it has passed the packet on.
 *
 * Context: any.
 * Return: the verdict, to be used before the next change of the table.
 */
struct ornic_impair_verdict
ornic_impair_decide(struct ornic_impair *im,
		    const struct ornic_impair_packet *packet);

/* The host could not execute @verdict: the packet goes on unchanged. */
void ornic_impair_failed(const struct ornic_impair_verdict *verdict);

/**
 * ornic_impair_hold - execute a verdict of DELAY or SWAP
 * @im: the table
 * @verdict: of the last ornic_impair_decide()
 * @frame: what ornic_impair_take() returns later
 * @bytes: of memory that it takes
 * @now: ns
 *
 * Context: any.
 * Return: false: there is no room, the packet goes on unchanged.
 */
bool ornic_impair_hold(struct ornic_impair *im,
		       const struct ornic_impair_verdict *verdict, void *frame,
		       u32 bytes, u64 now);

/* A packet was passed on: those that it has overtaken may continue. */
void ornic_impair_passed(struct ornic_impair *im,
			 const struct ornic_impair_verdict *verdict);

/**
 * ornic_impair_take - take a packet that may continue
 * @im: the table
 * @dir: of this direction
 * @now: ns; U64_MAX: all may
 *
 * Context: any.
 * Return: the frame that has waited longest for its turn, or NULL.
 */
void *ornic_impair_take(struct ornic_impair *im, enum ornic_impair_dir dir,
			u64 now);

/* When ornic_impair_take() is to be called, ns; U64_MAX: nothing is held. */
u64 ornic_impair_next(const struct ornic_impair *im);

/* Mark the packet of an IP header, no GRH, and correct the checksum of IPv4. */
void ornic_impair_mark_ce(u8 *ip, bool ipv6);

#endif /* ORNIC_ENGINE_IMPAIR_H */
