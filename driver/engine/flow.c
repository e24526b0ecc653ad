// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Flow rules: look-up and commands, see flow.h.
 *
 * Invariant: a rule is in its bucket, or among the others, from CREATE_FLOW until it
 * ends or DESTROY_FLOW, and a mask is there while such rules have it. Its QP counts it
 * until DESTROY_FLOW.
 */
#include "flow.h"

#include "proto.h"

#define NO_PRIORITY U32_MAX

/* ---- Look-up ----------------------------------------------------------------- */

/*
 * The bucket of @bits under @mask, which go to @masked. NH of UMAC (RFC 4418, 5.2.2)
 * and multiply-shift are universal: whatever two values are, they share a bucket under
 * one of 2^12 keys.
 */
static u32 bucket_of(const struct ornic_flow_mask *mask,
		     const union ornic_flow_bits *bits,
		     union ornic_flow_bits *masked)
{
	u32 i, low, high;
	u64 word, key, sum = 0;

	for (i = 0; i < ORNIC_FLOW_WORDS; i++) {
		key = mask->key[i];
		word = bits->word[i] & mask->bits.word[i];
		masked->word[i] = word;
		low = (u32)word + (u32)key;
		high = (u32)(word >> 32) + (u32)(key >> 32);
		sum += (u64)low * high;
	}
	return (u32)(sum * mask->factor >> (64 - ORNIC_LOG_FLOW_BUCKETS));
}

static bool bits_equal(const union ornic_flow_bits *a,
		       const union ornic_flow_bits *b)
{
	return !memcmp(a, b, sizeof(*a));
}

/* The first rule from @flow on that has this mask and value. */
static struct ornic_flow *next_match(struct ornic_flow *flow,
				     const struct ornic_flow_mask *mask,
				     const union ornic_flow_bits *masked)
{
	while (flow &&
	       (flow->mask != mask || !bits_equal(&flow->value, masked)))
		flow = ornic_rcu_dereference(flow->next);
	return flow;
}

/* The first rule of @mask for @key, in the order of priorities. */
static struct ornic_flow *first_match(const struct ornic_flows *flows,
				      const struct ornic_flow_mask *mask,
				      const union ornic_flow_bits *key)
{
	struct ornic_flow_bucket *bucket = ornic_rcu_dereference(flows->bucket);
	union ornic_flow_bits masked;
	u32 at;

	/* A mask may be seen before the table: nothing orders the two loads. */
	if (unlikely(!bucket))
		return NULL;
	at = bucket_of(mask, key, &masked);
	return next_match(ornic_rcu_dereference(bucket[at].first), mask,
			  &masked);
}

static struct ornic_flow *match_after(const struct ornic_flow *flow)
{
	return next_match(ornic_rcu_dereference(flow->next), flow->mask,
			  &flow->value);
}

/* Of the rules of @mask the first that takes @key. */
static struct ornic_flow *first_taker(const struct ornic_flows *flows,
				      const struct ornic_flow_mask *mask,
				      const union ornic_flow_bits *key)
{
	struct ornic_flow *flow = first_match(flows, mask, key);

	while (flow && flow->flags & ORNIC_FLOW_COPY)
		flow = match_after(flow);
	return flow;
}

/* Of all rules the one that takes @key. */
static struct ornic_flow *find_taker(const struct ornic_flows *flows,
				     const union ornic_flow_bits *key)
{
	struct ornic_flow *best = NULL, *flow;
	struct ornic_flow_mask *mask;

	for (mask = ornic_rcu_dereference(flows->masks); mask;
	     mask = ornic_rcu_dereference(mask->next)) {
		/* Also if it has no rules that take frames, but for copies. */
		if (READ_ONCE(mask->first) >=
		    (best ? best->priority : NO_PRIORITY))
			continue;
		flow = first_taker(flows, mask, key);
		if (flow && (!best || flow->priority < best->priority))
			best = flow;
	}
	return best;
}

static void add_hit(struct ornic_flow_hits *hits, const struct ornic_flow *flow)
{
	u32 i;

	if (flow->flags & ORNIC_FLOW_DROP)
		return;
	for (i = 0; i < hits->n; i++) {
		if (hits->qpn[i] == flow->qpn)
			return;
	}
	if (hits->n < ORNIC_FLOW_HITS)
		hits->qpn[hits->n++] = flow->qpn;
}

/* @taker, and the rules that are equal to it. */
static void add_takers(struct ornic_flow_hits *hits, struct ornic_flow *taker)
{
	struct ornic_flow *flow;

	for (flow = taker; flow && flow->priority == taker->priority;
	     flow = match_after(flow)) {
		if (!(flow->flags & ORNIC_FLOW_COPY))
			add_hit(hits, flow);
	}
}

/* Rules that get copies, up to the priority of what takes the frame. */
static void add_copies(const struct ornic_flows *flows,
		       const union ornic_flow_bits *key, u32 priority,
		       struct ornic_flow_hits *hits)
{
	struct ornic_flow_mask *mask;
	struct ornic_flow *flow;

	for (mask = ornic_rcu_dereference(flows->masks); mask;
	     mask = ornic_rcu_dereference(mask->next)) {
		for (flow = first_match(flows, mask, key);
		     flow && flow->priority <= priority;
		     flow = match_after(flow)) {
			if (flow->flags & ORNIC_FLOW_COPY)
				add_hit(hits, flow);
		}
	}
}

/*
 * Sniffers; and, of frames that are @left, defaults. All get copies: unicast that is
 * not for the host's own address may be for a VLAN device, a bridge or a macvlan of
 * the host.
 */
static void add_others(const struct ornic_flows *flows, bool left,
		       bool multicast, bool for_host,
		       struct ornic_flow_hits *hits)
{
	struct ornic_flow *flow;

	for (flow = ornic_rcu_dereference(flows->others); flow;
	     flow = ornic_rcu_dereference(flow->next)) {
		if (flow->type == ORNIC_FLOW_SNIFFER || (left && multicast) ||
		    (left && !for_host && flow->type == ORNIC_FLOW_ALL_DEFAULT))
			add_hit(hits, flow);
	}
}

static bool names_destination(const struct ornic_flow_mask *mask)
{
	static const u8 all[6] = { 0xff, 0xff, 0xff, 0xff, 0xff, 0xff };

	return !memcmp(mask->bits.key.dmac, all, sizeof(all));
}

void ornic_flow_find(struct ornic_dev *dev, bool for_host,
		     struct ornic_flow_hits *hits)
{
	const struct ornic_flows *flows = &dev->flows;
	const union ornic_flow_bits *key = &hits->key;
	bool multicast = key->key.dmac[0] & 1;
	struct ornic_flow *taker;

	hits->n = 0;
	hits->taken = false;
	hits->named = false;
	taker = find_taker(flows, key);
	if (taker) {
		add_takers(hits, taker);
		hits->taken = !multicast;
		hits->named = hits->taken && names_destination(taker->mask);
	}
	if (unlikely(READ_ONCE(flows->ncopies)))
		add_copies(flows, key, taker ? taker->priority : NO_PRIORITY,
			   hits);
	if (ornic_rcu_dereference(flows->others))
		add_others(flows, !taker, multicast, for_host, hits);
}

/* ---- Masks ------------------------------------------------------------------- */

static u32 count_bits(const union ornic_flow_bits *bits)
{
	u32 i, n = 0;
	u64 word;

	for (i = 0; i < ORNIC_FLOW_WORDS; i++) {
		for (word = bits->word[i]; word; word &= word - 1)
			n++;
	}
	return n;
}

/* The mask of a rule; takes over *@spare, and clears it, if it is a new one. */
static struct ornic_flow_mask *get_mask(struct ornic_flows *flows,
					struct ornic_flow_mask **spare)
{
	struct ornic_flow_mask __rcu **link = &flows->masks;
	struct ornic_flow_mask *mask;

	for (; (mask = ornic_rcu_locked(*link)); link = &mask->next) {
		if (bits_equal(&mask->bits, &(*spare)->bits))
			return mask;
	}
	if (flows->nmasks == ORNIC_FLOW_MAX_MASKS)
		return NULL;
	link = &flows->masks;
	while ((mask = ornic_rcu_locked(*link)) &&
	       mask->nbits >= (*spare)->nbits)
		link = &mask->next;
	ornic_rcu_assign((*spare)->next, mask);
	mask = *spare;
	*spare = NULL;
	ornic_rcu_assign(*link, mask);
	flows->nmasks++;
	return mask;
}

static void put_mask(struct ornic_flows *flows, struct ornic_flow_mask *mask)
{
	struct ornic_flow_mask __rcu **link = &flows->masks;

	if (--mask->users)
		return;
	while (ornic_rcu_locked(*link) != mask)
		link = &ornic_rcu_locked(*link)->next;
	ornic_rcu_assign(*link, ornic_rcu_locked(mask->next));
	flows->nmasks--;
	ornic_free_rcu(mask, rcu);
}

/* ---- Commands ---------------------------------------------------------------- */

#define LAYERS                                                 \
	(ORNIC_FLOW_VLAN | ORNIC_FLOW_IPV4 | ORNIC_FLOW_IPV6 | \
	 ORNIC_FLOW_TCP | ORNIC_FLOW_UDP)

static bool has_both(u8 layers, u8 a, u8 b)
{
	return layers & a && layers & b;
}

/* A type that contradicts a layer, where the rule has all bits of it. */
static bool contradicts(const struct ornic_flow_key *value,
			const struct ornic_flow_key *mask)
{
	u16 type = be16_to_cpu(value->ether_type);

	if (be16_to_cpu(mask->ether_type) != 0xffff)
		return false;
	return (value->layers & ORNIC_FLOW_IPV4 && type != 0x0800) ||
	       (value->layers & ORNIC_FLOW_IPV6 && type != 0x86dd);
}

/*
 * A rule that no frame matches, or, as it names nothing, that would take all from
 * the host.
 */
static bool is_senseless(const struct ornic_flow_key *value,
			 const struct ornic_flow_key *mask)
{
	union ornic_flow_bits bits = { .key = *mask };

	return mask->layers & ~LAYERS || mask->reserved[0] ||
	       mask->reserved[1] || mask->reserved[2] || !count_bits(&bits) ||
	       has_both(value->layers, ORNIC_FLOW_IPV4, ORNIC_FLOW_IPV6) ||
	       has_both(value->layers, ORNIC_FLOW_TCP, ORNIC_FLOW_UDP) ||
	       contradicts(value, mask);
}

/* Read the match of a NORMAL rule into @flow and its @mask. */
static int read_match(struct ornic_dev *dev, u64 addr, struct ornic_flow *flow,
		      struct ornic_flow_mask *mask)
{
	struct ornic_flow_match match;
	const void *from;
	u32 i;

	from = dev->ops->dma(dev->host, addr, sizeof(match));
	if (!from)
		return ORNIC_BAD_ADDR;
	ornic_copy_once(match, from);
	mask->bits.key = match.mask;
	flow->value.key = match.value;
	for (i = 0; i < ORNIC_FLOW_WORDS; i++)
		flow->value.word[i] &= mask->bits.word[i];
	if (is_senseless(&flow->value.key, &mask->bits.key))
		return ORNIC_BAD_PARAM;
	mask->nbits = count_bits(&mask->bits);
	for (i = 0; i < ORNIC_FLOW_WORDS; i++)
		mask->key[i] = ornic_random64(dev);
	mask->factor = ornic_random64(dev) | 1;
	mask->first = NO_PRIORITY;
	return ORNIC_OK;
}

static bool rule_ok(const struct ornic_flow_rule *rule)
{
	if (rule->type > ORNIC_FLOW_SNIFFER ||
	    rule->flags & ~(ORNIC_FLOW_COPY | ORNIC_FLOW_DROP) ||
	    (rule->flags & ORNIC_FLOW_COPY && rule->flags & ORNIC_FLOW_DROP))
		return false;
	if (rule->type != ORNIC_FLOW_NORMAL)
		return !rule->flags && !rule->match;
	return rule->match != 0;
}

/**
 * struct rule_place - where a rule goes in its chain, and what is there
 * @link: after the rules of its priority
 * @length: rules in the chain
 * @same: rules of its match
 * @equal: of those the ones of its priority
 * @own: one of them is of its QP
 */
struct rule_place {
	struct ornic_flow __rcu **link;
	u32 length;
	u32 same;
	u32 equal;
	bool own;
};

static struct rule_place find_place(const struct ornic_flow *flow,
				    struct ornic_flow __rcu **link)
{
	struct rule_place place = { .link = link };
	struct ornic_flow *other;

	for (; (other = ornic_rcu_locked(*link)); link = &other->next) {
		place.length++;
		if (other->priority <= flow->priority)
			place.link = &other->next;
		if (other->mask != flow->mask ||
		    !bits_equal(&other->value, &flow->value))
			continue;
		place.same++;
		if (other->priority == flow->priority) {
			place.equal++;
			place.own |= other->qpn == flow->qpn;
		}
	}
	return place;
}

static bool is_full(const struct rule_place *place)
{
	return place->equal == ORNIC_FLOW_MAX_EQUAL ||
	       place->same == ORNIC_FLOW_MAX_SAME ||
	       place->length == ORNIC_FLOW_MAX_CHAIN;
}

static void link_flow(struct ornic_flow *flow, struct ornic_flow __rcu **link)
{
	ornic_rcu_assign(flow->next, ornic_rcu_locked(*link));
	ornic_rcu_assign(*link, flow);
}

static int insert_normal(struct ornic_flows *flows, struct ornic_flow *flow,
			 struct ornic_flow_mask **spare)
{
	struct ornic_flow __rcu **link;
	union ornic_flow_bits masked;
	struct ornic_flow_mask *mask;
	struct rule_place place;

	mask = get_mask(flows, spare);
	if (!mask)
		return ORNIC_LIMIT;
	mask->users++;
	flow->mask = mask;
	link = &ornic_rcu_locked(
			flows->bucket)[bucket_of(mask, &flow->value, &masked)]
			.first;
	place = find_place(flow, link);
	if (place.own || is_full(&place)) {
		put_mask(flows, mask);
		return place.own ? ORNIC_EXISTS : ORNIC_LIMIT;
	}
	if (!(flow->flags & ORNIC_FLOW_COPY) && flow->priority < mask->first)
		WRITE_ONCE(mask->first, flow->priority);
	link_flow(flow, place.link);
	if (flow->flags & ORNIC_FLOW_COPY)
		WRITE_ONCE(flows->ncopies, flows->ncopies + 1);
	return ORNIC_OK;
}

static int insert_other(struct ornic_flows *flows, struct ornic_flow *flow)
{
	struct ornic_flow __rcu **link = &flows->others;
	struct ornic_flow *other;

	for (; (other = ornic_rcu_locked(*link)); link = &other->next) {
		if (other->qpn == flow->qpn && other->type == flow->type)
			return ORNIC_EXISTS;
	}
	if (flows->nothers == ORNIC_FLOW_MAX_OTHERS)
		return ORNIC_LIMIT;
	flows->nothers++;
	link_flow(flow, link);
	return ORNIC_OK;
}

/* Under the lock, in an RCU section. */
static int insert(struct ornic_dev *dev, struct ornic_flow *flow,
		  struct ornic_flow_mask **spare)
{
	struct ornic_flows *flows = &dev->flows;
	struct ornic_qp *qp;
	int status;

	qp = ornic_qp_lookup(dev, flow->qpn);
	if (!qp || qp->closed)
		return ORNIC_NOT_FOUND;
	if (qp->type != ORNIC_QPT_RAW)
		return ORNIC_BAD_PARAM;
	if (flow->type == ORNIC_FLOW_NORMAL)
		status = insert_normal(flows, flow, spare);
	else
		status = insert_other(flows, flow);
	if (status != ORNIC_OK)
		return status;
	qp->nflows++;
	if (!flows->count++)
		dev->ops->raw_wanted(dev->host, true);
	return ORNIC_OK;
}

/* The hash table comes with the first rule that needs it. */
static int make_buckets(struct ornic_flows *flows)
{
	struct ornic_flow_bucket *bucket;

	ornic_lock(&flows->lock);
	bucket = ornic_rcu_locked(flows->bucket);
	ornic_unlock(&flows->lock);
	if (bucket)
		return 0;
	bucket = ornic_vzalloc(ORNIC_FLOW_BUCKETS * sizeof(*bucket));
	if (!bucket)
		return -ENOMEM;
	ornic_lock(&flows->lock);
	if (!ornic_rcu_locked(flows->bucket)) {
		ornic_rcu_assign(flows->bucket, bucket);
		bucket = NULL;
	}
	ornic_unlock(&flows->lock);
	ornic_vfree(bucket);
	return 0;
}

/* Under the lock as well, its number: ornic_flow_end_all() finds all rules by it. */
static int create(struct ornic_dev *dev, struct ornic_flow *flow, u64 match,
		  struct ornic_flow_mask **spare, u32 number)
{
	struct ornic_flows *flows = &dev->flows;
	int status;

	if (flow->type == ORNIC_FLOW_NORMAL) {
		status = read_match(dev, match, flow, *spare);
		if (status != ORNIC_OK)
			return status;
		if (make_buckets(flows))
			return ORNIC_NO_RESOURCE;
	}
	ornic_rcu_read_lock();
	ornic_lock(&flows->lock);
	status = insert(dev, flow, spare);
	if (status == ORNIC_OK)
		ornic_table_publish(&flows->numbers, number, flow);
	ornic_unlock(&flows->lock);
	ornic_rcu_read_unlock();
	return status;
}

int ornic_flow_create(struct ornic_dev *dev, const struct ornic_flow_rule *rule,
		      u32 *number)
{
	struct ornic_table *numbers = &dev->flows.numbers;
	struct ornic_flow_mask *spare;
	struct ornic_flow *flow;
	int index, status;

	if (!dev->ops->tx_drop)
		return ORNIC_BAD_OPCODE;
	if (!rule_ok(rule))
		return ORNIC_BAD_PARAM;
	index = ornic_table_reserve(numbers, 0);
	if (index < 0)
		return ornic_errno_status(index);
	flow = ornic_zalloc(sizeof(*flow));
	spare = ornic_zalloc(sizeof(*spare));
	status = ORNIC_NO_RESOURCE;
	if (!flow || !spare)
		goto err_free;
	flow->qpn = le32_to_cpu(rule->qpn);
	flow->priority = le16_to_cpu(rule->priority);
	flow->type = rule->type;
	flow->flags = rule->flags;
	status =
		create(dev, flow, le64_to_cpu(rule->match), &spare, (u32)index);
	if (status != ORNIC_OK)
		goto err_free;
	ornic_free(spare);
	*number = index;
	return ORNIC_OK;

err_free:
	ornic_free(spare);
	ornic_free(flow);
	ornic_table_release(numbers, index);
	return status;
}

/* Take @flow out of its chain, which has it. */
static void unlink_flow(struct ornic_flows *flows, struct ornic_flow *flow)
{
	struct ornic_flow __rcu **link = &flows->others;
	union ornic_flow_bits masked;

	if (flow->mask)
		link = &ornic_rcu_locked(
				flows->bucket)[bucket_of(flow->mask,
							 &flow->value, &masked)]
				.first;
	while (ornic_rcu_locked(*link) != flow)
		link = &ornic_rcu_locked(*link)->next;
	ornic_rcu_assign(*link, ornic_rcu_locked(flow->next));
}

/* Under the lock. */
static void end_flow(struct ornic_dev *dev, struct ornic_flow *flow)
{
	struct ornic_flows *flows = &dev->flows;

	if (flow->ended)
		return;
	flow->ended = true;
	unlink_flow(flows, flow);
	if (flow->flags & ORNIC_FLOW_COPY)
		WRITE_ONCE(flows->ncopies, flows->ncopies - 1);
	if (flow->mask)
		put_mask(flows, flow->mask);
	else
		flows->nothers--;
	if (!--flows->count)
		dev->ops->raw_wanted(dev->host, false);
}

/* End the rule and take its number. In an RCU section; NULL if there is none. */
static struct ornic_flow *remove_flow(struct ornic_dev *dev, u32 number)
{
	struct ornic_flows *flows = &dev->flows;
	struct ornic_flow *flow;

	ornic_lock(&flows->lock);
	flow = ornic_table_lookup(&flows->numbers, number);
	if (flow) {
		end_flow(dev, flow);
		/* Not before: ornic_flow_end_all() finds it by its number. */
		ornic_table_unlink(&flows->numbers, number);
		/* There until all its rules are destroyed. */
		ornic_qp_lookup(dev, flow->qpn)->nflows--;
	}
	ornic_unlock(&flows->lock);
	return flow;
}

int ornic_flow_destroy(struct ornic_dev *dev, u32 number)
{
	struct ornic_flow *flow;

	ornic_rcu_read_lock();
	flow = remove_flow(dev, number);
	ornic_rcu_read_unlock();
	if (!flow)
		return ORNIC_NOT_FOUND;
	ornic_table_release(&dev->flows.numbers, number);
	ornic_free_rcu(flow, rcu);
	return ORNIC_OK;
}

/* The rule of this or the next number; false if there is none. */
static bool end_next(struct ornic_dev *dev, u32 *number)
{
	struct ornic_flow *flow;

	ornic_rcu_read_lock();
	flow = ornic_table_next(&dev->flows.numbers, number);
	if (flow) {
		ornic_lock(&dev->flows.lock);
		end_flow(dev, flow);
		ornic_unlock(&dev->flows.lock);
	}
	ornic_rcu_read_unlock();
	return flow;
}

void ornic_flow_end_all(struct ornic_dev *dev)
{
	u32 number;

	for (number = 0; end_next(dev, &number); number++)
		ornic_relax(dev);
}

/* ---- QPs and devices --------------------------------------------------------- */

bool ornic_flow_close_qp(struct ornic_dev *dev, struct ornic_qp *qp)
{
	bool none;

	ornic_lock(&dev->flows.lock);
	none = !qp->nflows;
	if (none)
		qp->closed = true;
	ornic_unlock(&dev->flows.lock);
	return none;
}

int ornic_flows_init(struct ornic_flows *flows)
{
	ornic_lock_init(&flows->lock);
	return ornic_table_init(&flows->numbers, ORNIC_LOG_MAX_FLOW, 1);
}

void ornic_flows_fini(struct ornic_flows *flows)
{
	ornic_vfree(ornic_rcu_locked(flows->bucket));
	ornic_table_fini(&flows->numbers);
}
