// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Impairments: which rule selects a packet, and packets that wait. Pure. No
 * part of a packet is read but what struct ornic_impair_packet promises.
 */
#include "impair.h"

#include "psn.h"
#include "wire.h"

#define QPN_AT 5
#define PSN_AT 9
#define AETH_AT 12
#define IPV4_SRC 12
#define IPV4_DST 16
#define IPV6_SRC 8
#define IPV6_DST 24
#define IPV4_CE 0x03
#define IPV6_CE 0x30

/* ---- Rules --------------------------------------------------------------- */

static bool is_v1(const struct ornic_impair_packet *packet)
{
	return ornic_ip_is_grh(packet->ip, packet->ipv6);
}

static bool address_matches(const struct ornic_impair_packet *packet,
			    const u8 *addr, u8 len, u32 ipv4_at, u32 ipv6_at)
{
	const u8 *found = packet->ip + (packet->ipv6 ? ipv6_at : ipv4_at);

	if (!len)
		return true;
	/* A GRH has IPv4 addresses mapped. */
	if (len == 4 && is_v1(packet) && ornic_gid_is_ipv4(found))
		found += 12;
	else if (len != (packet->ipv6 ? 16 : 4))
		return false;
	return !memcmp(found, addr, len);
}

static bool opcode_matches(const struct ornic_impair_rule *rule, const u8 *bth)
{
	const struct ornic_opinfo *info = ornic_opcode_lookup(bth[0]);

	if (rule->transport >= 0 &&
	    rule->transport != (bth[0] & ORNIC_TRANSPORT_MASK))
		return false;
	if (rule->opcode >= 0 && rule->opcode != bth[0])
		return false;
	if (!rule->op_flags && rule->aeth < 0)
		return true;
	if (!info || (info->flags & rule->op_flags) != rule->op_flags)
		return false;
	if (rule->aeth < 0)
		return true;
	return (bth[0] & ~ORNIC_TRANSPORT_MASK) == ORNIC_OP_ACK &&
	       (bth[AETH_AT] & ORNIC_AETH_TYPE_MASK) == rule->aeth;
}

static u32 dst_len(const struct ornic_impair_packet *packet)
{
	return packet->ipv6 ? 16 : 4;
}

static const u8 *dst_of(const struct ornic_impair_packet *packet)
{
	return packet->ip + (packet->ipv6 ? IPV6_DST : IPV4_DST);
}

/* The first packet of a QP determines what the numbers of the rule refer to. */
static void rule_bind(struct ornic_impair_rule *rule,
		      const struct ornic_impair_packet *packet)
{
	rule->bound = true;
	rule->base = ornic_be24(packet->bth + PSN_AT);
	rule->qpn = (s32)ornic_be24(packet->bth + QPN_AT);
	rule->dst_len = (u8)dst_len(packet);
	memcpy(rule->dst, dst_of(packet), rule->dst_len);
}

static bool flow_matches(struct ornic_impair_rule *rule,
			 const struct ornic_impair_packet *packet)
{
	u32 wanted = rule->psn;

	if (rule->qpn >= 0 && rule->qpn != ornic_be24(packet->bth + QPN_AT))
		return false;
	if (rule->bind && !rule->bound)
		rule_bind(rule, packet);
	if (rule->psn < 0)
		return true;
	if (rule->relative)
		wanted = ornic_psn_add(rule->base, wanted);
	return wanted == ornic_be24(packet->bth + PSN_AT);
}

static bool rule_matches(struct ornic_impair_rule *rule,
			 const struct ornic_impair_packet *packet)
{
	return rule->dir == packet->dir && opcode_matches(rule, packet->bth) &&
	       address_matches(packet, rule->src, rule->src_len, IPV4_SRC,
			       IPV6_SRC) &&
	       address_matches(packet, rule->dst, rule->dst_len, IPV4_DST,
			       IPV6_DST) &&
	       flow_matches(rule, packet);
}

/* RoCE v1 has no mark. */
static bool is_impossible(const struct ornic_impair_rule *rule,
			  const struct ornic_impair_packet *packet)
{
	return rule->action == ORNIC_IMPAIR_CE && is_v1(packet);
}

/* Count a packet. True if the rule selects it. */
static bool rule_selects(struct ornic_impair_rule *rule)
{
	rule->seen++;
	if (rule->seen != rule->next)
		return false;
	if (rule->count && rule->hits + rule->missed >= rule->count)
		return false;
	rule->next += rule->every;
	return true;
}

int ornic_impair_add(struct ornic_impair *im,
		     const struct ornic_impair_rule *rule)
{
	if (im->nrules == ORNIC_IMPAIR_RULES)
		return -ENOSPC;
	im->rule[im->nrules++] = *rule;
	return 0;
}

struct ornic_impair_verdict
ornic_impair_decide(struct ornic_impair *im,
		    const struct ornic_impair_packet *packet)
{
	struct ornic_impair_verdict verdict = { .dir = packet->dir };
	struct ornic_impair_rule *rule;
	u32 i;

	if (packet->len < ORNIC_IMPAIR_MIN_LEN)
		return verdict;
	verdict.qpn = ornic_be24(packet->bth + QPN_AT);
	memcpy(verdict.dst, dst_of(packet), dst_len(packet));
	for (i = 0; i < im->nrules; i++) {
		rule = &im->rule[i];
		if (!rule_matches(rule, packet) || !rule_selects(rule))
			continue;
		if (verdict.action || is_impossible(rule, packet)) {
			rule->missed++;
			continue;
		}
		rule->hits++;
		verdict.action = rule->action;
		verdict.rule = rule;
	}
	return verdict;
}

void ornic_impair_failed(const struct ornic_impair_verdict *verdict)
{
	verdict->rule->hits--;
	verdict->rule->missed++;
}

/* ---- Packets that wait --------------------------------------------------- */

static struct ornic_impair_held *free_slot(struct ornic_impair *im, u32 bytes)
{
	u32 i;

	if (bytes > ORNIC_IMPAIR_HELD_BYTES - im->held_bytes)
		return NULL;
	for (i = 0; i < ORNIC_IMPAIR_HELD; i++) {
		if (!im->held[i].frame)
			return &im->held[i];
	}
	return NULL;
}

bool ornic_impair_hold(struct ornic_impair *im,
		       const struct ornic_impair_verdict *verdict, void *frame,
		       u32 bytes, u64 now)
{
	struct ornic_impair_held *held = free_slot(im, bytes);
	const struct ornic_impair_rule *rule = verdict->rule;
	bool swap = verdict->action == ORNIC_IMPAIR_SWAP;

	if (!held) {
		ornic_impair_failed(verdict);
		return false;
	}
	held->frame = frame;
	held->when = now + (swap ? ORNIC_IMPAIR_SWAP_NS : rule->delay_ns);
	held->order = im->order++;
	held->qpn = verdict->qpn;
	memcpy(held->dst, verdict->dst, sizeof(held->dst));
	held->bytes = bytes;
	held->overtakers = swap ? rule->overtakers : 0;
	held->dir = verdict->dir;
	im->nheld++;
	im->held_bytes += bytes;
	return true;
}

void ornic_impair_passed(struct ornic_impair *im,
			 const struct ornic_impair_verdict *verdict)
{
	struct ornic_impair_held *held;
	u32 i;

	for (i = 0; im->nheld && i < ORNIC_IMPAIR_HELD; i++) {
		held = &im->held[i];
		if (!held->frame || !held->overtakers ||
		    held->dir != verdict->dir || held->qpn != verdict->qpn ||
		    memcmp(held->dst, verdict->dst, sizeof(held->dst)) != 0)
			continue;
		if (!--held->overtakers)
			held->when = 0;
	}
}

static bool is_before(const struct ornic_impair_held *a,
		      const struct ornic_impair_held *b)
{
	return a->when < b->when || (a->when == b->when && a->order < b->order);
}

void *ornic_impair_take(struct ornic_impair *im, enum ornic_impair_dir dir,
			u64 now)
{
	struct ornic_impair_held *held, *first = NULL;
	void *frame;
	u32 i;

	for (i = 0; im->nheld && i < ORNIC_IMPAIR_HELD; i++) {
		held = &im->held[i];
		if (held->frame && held->dir == dir && held->when <= now &&
		    (!first || is_before(held, first)))
			first = held;
	}
	if (!first)
		return NULL;
	frame = first->frame;
	first->frame = NULL;
	im->nheld--;
	im->held_bytes -= first->bytes;
	return frame;
}

u64 ornic_impair_next(const struct ornic_impair *im)
{
	u64 next = U64_MAX;
	u32 i;

	for (i = 0; im->nheld && i < ORNIC_IMPAIR_HELD; i++) {
		if (im->held[i].frame && im->held[i].when < next)
			next = im->held[i].when;
	}
	return next;
}

/* ---- Marks --------------------------------------------------------------- */

void ornic_impair_mark_ce(u8 *ip, bool ipv6)
{
	u32 sum;

	if (ipv6) {
		ip[1] |= IPV6_CE;
		return;
	}
	ip[1] |= IPV4_CE;
	ip[10] = 0;
	ip[11] = 0;
	sum = ornic_ipv4_checksum(ip);
	ip[10] = sum >> 8;
	ip[11] = sum & 0xff;
}
