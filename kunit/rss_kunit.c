// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* Receive side scaling: the hash, and which queue gets a frame. */
#include <kunit/test.h>

#include "raw_frames.h"
#include "suite_fixture.h"
#include "engine/dev.h"
#include "engine/rss.h"

#define RAW ORNIC_QPT_RAW
#define LEN 100u
#define QUEUES 4u

/* The key, the frames and the hashes are those of the NDIS specification. */
static const u8 ndis_key[ORNIC_RSS_KEY_LEN] = {
	0x6d, 0x5a, 0x56, 0xda, 0x25, 0x5b, 0x0e, 0xc2, 0x41, 0x67,
	0x25, 0x3d, 0x43, 0xa3, 0x8f, 0xb0, 0xd0, 0xca, 0x2b, 0xcb,
	0xae, 0x7b, 0x30, 0xb4, 0x77, 0xcb, 0x2d, 0xa3, 0x80, 0x30,
	0xf2, 0x0c, 0x6a, 0x42, 0xb7, 0x3b, 0xbe, 0xac, 0x01, 0xfa,
};

/**
 * struct rss_test - an RSS QP, and the queues that it passes frames to
 * @fix: the fixture, with the device
 * @rss: the QP
 * @queue: raw packet QPs with receive queues
 * @cq: their CQs
 * @memory: what SET_RSS reads
 * @frame: what is received
 * @table: for the functions that need no device
 */
struct rss_test {
	struct ornic_fixture fix;
	struct ornic_th_qp rss;
	struct ornic_th_qp queue[QUEUES];
	struct ornic_th_cq cq[QUEUES];
	struct ornic_rss *memory;
	u8 frame[LEN];
	struct ornic_rss_table table;
};

static_assert(offsetof(struct rss_test, fix) == 0);

static int rss_init(struct kunit *test)
{
	return ornic_suite_alloc(test, sizeof(struct rss_test));
}

/* ---- the hash --------------------------------------------------------------------- */

#define V4 (ORNIC_RSS_SRC_IPV4 | ORNIC_RSS_DST_IPV4)
#define V6 (ORNIC_RSS_SRC_IPV6 | ORNIC_RSS_DST_IPV6)
#define TCP (ORNIC_RSS_SRC_PORT_TCP | ORNIC_RSS_DST_PORT_TCP)
#define UDP (ORNIC_RSS_SRC_PORT_UDP | ORNIC_RSS_DST_PORT_UDP)

/* As published; the hash of the addresses, and that of addresses and ports. */
static const struct vector {
	const char *name;
	u8 layer;
	u8 src[16], dst[16];
	u16 src_port, dst_port;
	u32 ip, tcp;
} vectors[] = {
	{ "IPv4, 1",
	  ORNIC_FLOW_IPV4,
	  { 66, 9, 149, 187 },
	  { 161, 142, 100, 80 },
	  2794,
	  1766,
	  0x323e8fc2,
	  0x51ccc178 },
	{ "IPv4, 2",
	  ORNIC_FLOW_IPV4,
	  { 199, 92, 111, 2 },
	  { 65, 69, 140, 83 },
	  14230,
	  4739,
	  0xd718262a,
	  0xc626b0ea },
	{ "IPv4, 3",
	  ORNIC_FLOW_IPV4,
	  { 24, 19, 198, 95 },
	  { 12, 22, 207, 184 },
	  12898,
	  38024,
	  0xd2d0a5de,
	  0x5c2b394a },
	{ "IPv4, 4",
	  ORNIC_FLOW_IPV4,
	  { 38, 27, 205, 30 },
	  { 209, 142, 163, 6 },
	  48228,
	  2217,
	  0x82989176,
	  0xafc7327f },
	{ "IPv4, 5",
	  ORNIC_FLOW_IPV4,
	  { 153, 39, 163, 191 },
	  { 202, 188, 127, 2 },
	  44251,
	  1303,
	  0x5d1809c5,
	  0x10e828a2 },
	{ "IPv6, 1",
	  ORNIC_FLOW_IPV6,
	  { 0x3f, 0xfe, 0x25, 1, 2, 0, 0x1f, 0xff, 0, 0, 0, 0, 0, 0, 0, 7 },
	  { 0x3f, 0xfe, 0x25, 1, 2, 0, 0, 3, 0, 0, 0, 0, 0, 0, 0, 1 },
	  2794,
	  1766,
	  0x2cc18cd5,
	  0x40207d3d },
	{ "IPv6, 2",
	  ORNIC_FLOW_IPV6,
	  { 0x3f, 0xfe, 5, 1, 0, 8, 0, 0, 2, 0x60, 0x97, 0xff, 0xfe, 0x40, 0xef,
	    0xab },
	  { 0xff, 2, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1 },
	  14230,
	  4739,
	  0x0f0c461c,
	  0xdde51bbf },
	{ "IPv6, 3",
	  ORNIC_FLOW_IPV6,
	  { 0x3f, 0xfe, 0x19, 0, 0x45, 0x45, 0, 3, 2, 0, 0xf8, 0xff, 0xfe, 0x21,
	    0x67, 0xcf },
	  { 0xfe, 0x80, 0, 0, 0, 0, 0, 0, 2, 0, 0xf8, 0xff, 0xfe, 0x21, 0x67,
	    0xcf },
	  44251,
	  38024,
	  0x4b61e985,
	  0x02d1feef },
};

KUNIT_ARRAY_PARAM_DESC(vector, vectors, name);

static struct ornic_flow_key key_of(const struct vector *v)
{
	struct ornic_flow_key key = {
		.src_port = cpu_to_be16(v->src_port),
		.dst_port = cpu_to_be16(v->dst_port),
	};

	memcpy(key.src_ip, v->src, sizeof(key.src_ip));
	memcpy(key.dst_ip, v->dst, sizeof(key.dst_ip));
	return key;
}

static u32 hash(struct rss_test *rt, const struct vector *v, u8 layers,
		u32 fields)
{
	struct ornic_flow_key key = key_of(v);

	key.layers = layers;
	rt->table.fields = fields;
	return ornic_rss_hash(&rt->table, &key);
}

static void rss_hashes(struct kunit *test)
{
	const struct vector *v = test->param_value;
	u8 l3 = v->layer, tcp = l3 | ORNIC_FLOW_TCP, udp = l3 | ORNIC_FLOW_UDP;
	u32 addresses = l3 == ORNIC_FLOW_IPV4 ? V4 : V6;
	struct ornic_flow_key key = key_of(v);
	struct rss_test *rt = test->priv;

	memcpy(rt->table.key, ndis_key, sizeof(ndis_key));
	KUNIT_EXPECT_EQ(test, hash(rt, v, l3, addresses), v->ip);
	KUNIT_EXPECT_EQ(test, hash(rt, v, tcp, addresses), v->ip);
	KUNIT_EXPECT_EQ(test, hash(rt, v, tcp, addresses | TCP), v->tcp);
	KUNIT_EXPECT_EQ(test, hash(rt, v, udp, addresses | UDP), v->tcp);
	/* What a frame does not have counts for nothing. */
	KUNIT_EXPECT_EQ(test, hash(rt, v, udp, addresses | TCP), v->ip);
	KUNIT_EXPECT_EQ(test, hash(rt, v, tcp, addresses | UDP), v->ip);
	KUNIT_EXPECT_EQ(test, hash(rt, v, l3, addresses | TCP | UDP), v->ip);
	KUNIT_EXPECT_EQ(test, hash(rt, v, l3, ORNIC_RSS_FIELDS & ~addresses),
			0);
	KUNIT_EXPECT_EQ(test, hash(rt, v, 0, ORNIC_RSS_FIELDS), 0);
	/* All fragments of a datagram go one way. */
	key.layers = tcp;
	key.ipv4_flags = ORNIC_FLOW_MORE_FRAGMENTS;
	rt->table.fields = addresses | TCP;
	KUNIT_EXPECT_EQ(test, ornic_rss_hash(&rt->table, &key), v->ip);
}

/* Each of the fields alone makes a difference, and none of the others does. */
static void rss_each_field(struct kunit *test)
{
	static const struct {
		u32 fields;
		u8 l3, l4;
	} rows[] = {
		{ ORNIC_RSS_SRC_IPV4, ORNIC_FLOW_IPV4, 0 },
		{ ORNIC_RSS_DST_IPV4, ORNIC_FLOW_IPV4, 0 },
		{ ORNIC_RSS_SRC_IPV6, ORNIC_FLOW_IPV6, 0 },
		{ ORNIC_RSS_DST_IPV6, ORNIC_FLOW_IPV6, 0 },
		{ ORNIC_RSS_SRC_PORT_TCP, ORNIC_FLOW_IPV4, ORNIC_FLOW_TCP },
		{ ORNIC_RSS_DST_PORT_TCP, ORNIC_FLOW_IPV4, ORNIC_FLOW_TCP },
		{ ORNIC_RSS_SRC_PORT_UDP, ORNIC_FLOW_IPV6, ORNIC_FLOW_UDP },
		{ ORNIC_RSS_DST_PORT_UDP, ORNIC_FLOW_IPV6, ORNIC_FLOW_UDP },
	};
	struct rss_test *rt = test->priv;
	struct vector base = vectors[0], other;
	u32 i, j, want;

	memcpy(rt->table.key, ndis_key, sizeof(ndis_key));
	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		u8 layers = rows[i].l3 | rows[i].l4;

		want = hash(rt, &base, layers, rows[i].fields);
		KUNIT_EXPECT_NE(test, want, 0);
		/* Source and destination alternate, of addresses and of ports. */
		for (j = 0; j < 4; j++) {
			bool is_it = j == (i & 1) + (i < 4 ? 0 : 2);

			other = base;
			other.src[3] ^= (u8)(j == 0);
			other.dst[3] ^= (u8)(j == 1);
			other.src_port ^= (u16)(j == 2);
			other.dst_port ^= (u16)(j == 3);
			KUNIT_EXPECT_EQ_MSG(test,
					    hash(rt, &other, layers,
						 rows[i].fields) != want,
					    is_it, "row %u, change %u", i, j);
		}
	}
}

/* ---- frames ----------------------------------------------------------------------- */

static struct ornic_th *th_of(struct rss_test *rt)
{
	return rt->fix.pair.b;
}

static int set_rss(struct rss_test *rt, u32 qpn)
{
	return ornic_rf_set_rss(th_of(rt), qpn, rt->memory);
}

static void make_queue(struct kunit *test, u32 i)
{
	struct ornic_th_qpinit init = { .type = RAW, .no_sq = true };
	struct rss_test *rt = test->priv;

	KUNIT_ASSERT_EQ(test, ornic_th_cq_init(th_of(rt), &rt->cq[i], 6), 0);
	KUNIT_ASSERT_EQ(test,
			ornic_th_qp_init(th_of(rt), &rt->queue[i], &init,
					 &rt->fix.bscq, &rt->cq[i]),
			0);
	KUNIT_ASSERT_EQ(test, ornic_th_to(&rt->queue[i], ORNIC_QPS_INIT), 0);
	KUNIT_ASSERT_EQ(test, ornic_th_to(&rt->queue[i], ORNIC_QPS_RTR), 0);
}

/* An RSS QP with @n entries of two queues each, which gets all to one address. */
static struct rss_test *open_rss(struct kunit *test, u8 log_size)
{
	struct ornic_th_qpinit init = { .type = RAW };
	struct rss_test *rt = test->priv;
	u32 i;

	KUNIT_ASSERT_EQ(test, ornic_fix_open(&rt->fix, ORNIC_FIX_WIRE, &init),
			0);
	KUNIT_ASSERT_EQ(test, ornic_rf_make_spread(th_of(rt), &rt->rss), 0);
	for (i = 0; i < QUEUES; i++)
		make_queue(test, i);
	rt->memory = (struct ornic_rss *)ornic_th_alloc(th_of(rt),
							sizeof(*rt->memory));
	KUNIT_ASSERT_NOT_NULL(test, rt->memory);
	memcpy(rt->memory->key, ndis_key, sizeof(ndis_key));
	rt->memory->fields = cpu_to_le32(V4 | UDP);
	rt->memory->log_size = log_size;
	for (i = 0; i < 1u << log_size; i++)
		rt->memory->qpn[i] = cpu_to_le32(rt->queue[i % QUEUES].qpn);
	return rt;
}

static void add_rule(struct kunit *test)
{
	struct rss_test *rt = test->priv;
	struct ornic_rf_rule rule = ornic_rf_to(&rt->rss, 9);
	u32 number;

	KUNIT_ASSERT_EQ(test, ornic_rf_create(th_of(rt), &rule, &number), 0);
}

/* Which queue gets a frame to @port; QUEUES: none. */
static u32 queue_of(struct rss_test *rt, u16 port)
{
	struct ornic_cqe cqe;
	u32 i;

	for (i = 0; i < QUEUES; i++)
		ornic_fix_recv(&rt->queue[i], &rt->fix.bm, 7, i * 2048, 2048);
	ornic_rf_udp(rt->frame, 9, port, LEN);
	ornic_th_rx(th_of(rt), rt->frame, LEN);
	for (i = 0; i < QUEUES; i++) {
		if (ornic_th_poll(&rt->cq[i], &cqe))
			return cqe.status ? QUEUES : i;
	}
	return QUEUES;
}

/* By the low bits of the hash: all queues have their share, each flow has one. */
static void rss_spreads(struct kunit *test)
{
	struct rss_test *rt = open_rss(test, 3);
	struct ornic_flow_key key;
	u32 got[QUEUES + 1] = { 0 }, i, queue, want;

	KUNIT_ASSERT_EQ(test, set_rss(rt, rt->rss.qpn), 0);
	/* It was read. */
	memset(rt->memory, 0, sizeof(*rt->memory));
	add_rule(test);
	memcpy(rt->table.key, ndis_key, sizeof(ndis_key));
	rt->table.fields = V4 | UDP;
	for (i = 0; i < 12; i++) {
		queue = queue_of(rt, (u16)(i * 3));
		ornic_flow_parse(&key, rt->frame, ORNIC_FLOW_HEAD);
		want = (ornic_rss_hash(&rt->table, &key) & 7) % QUEUES;
		KUNIT_EXPECT_EQ(test, queue, want);
		got[queue]++;
	}
	for (i = 0; i < QUEUES; i++)
		KUNIT_EXPECT_GT(test, got[i], 0);
	KUNIT_EXPECT_EQ(test, got[QUEUES], 0);
}

/* Frames without a field that counts go to the first queue. */
static void rss_first_queue(struct kunit *test)
{
	struct rss_test *rt = open_rss(test, 2);
	u32 i;

	rt->memory->fields = cpu_to_le32(V6 | TCP);
	KUNIT_ASSERT_EQ(test, set_rss(rt, rt->rss.qpn), 0);
	add_rule(test);
	for (i = 0; i < 4; i++)
		KUNIT_EXPECT_EQ(test, queue_of(rt, (u16)(i * 3)), 0);
}

/* Without a table, and to a queue that is gone, frames are lost. */
static void rss_loses(struct kunit *test)
{
	struct rss_test *rt = open_rss(test, 0);
	u32 qpn = rt->queue[0].qpn;

	add_rule(test);
	KUNIT_EXPECT_EQ(test, queue_of(rt, 53), QUEUES);
	/* One queue needs no fields. */
	rt->memory->fields = 0;
	KUNIT_ASSERT_EQ(test, set_rss(rt, rt->rss.qpn), 0);
	KUNIT_EXPECT_EQ(test, queue_of(rt, 53), 0);
	KUNIT_ASSERT_EQ(test, ornic_th_qp_fini(&rt->queue[0]), 0);
	ornic_rf_udp(rt->frame, 9, 53, LEN);
	ornic_th_rx(th_of(rt), rt->frame, LEN);
	KUNIT_EXPECT_EQ(test,
			ornic_engine_stat(th_of(rt)->eng, ORNIC_STAT_RX_NO_QP),
			2);
	/* Nor does a later QP of that number get them. */
	KUNIT_ASSERT_EQ(test, ornic_th_cq_fini(&rt->cq[0]), 0);
	ornic_th_next_qpn(th_of(rt), qpn);
	make_queue(test, 0);
	KUNIT_ASSERT_EQ(test, rt->queue[0].qpn, qpn);
	KUNIT_EXPECT_EQ(test, queue_of(rt, 53), QUEUES);
	KUNIT_EXPECT_EQ(test,
			ornic_engine_stat(th_of(rt)->eng, ORNIC_STAT_RX_NO_QP),
			3);
}

/*
 * A frame for an absent page of a receive is lost, and the queue that it was for has the
 * page fault: one at a time, and none of a state that is over.
 */
static void rss_page_fault(struct kunit *test)
{
	struct rss_test *rt = open_rss(test, 0);
	struct ornic_th_qp *queue = &rt->queue[0];
	struct ornic_engine *eng = th_of(rt)->eng;
	struct ornic_th_fault fault, old;
	struct ornic_th_mr mr;
	struct ornic_cqe cqe;
	u8 got[LEN];

	KUNIT_ASSERT_EQ(test, set_rss(rt, rt->rss.qpn), 0);
	add_rule(test);
	KUNIT_ASSERT_EQ(test,
			ornic_th_odp_init(th_of(rt), &mr, 8192, 0,
					  ORNIC_ACCESS_MR_MASK),
			0);
	ornic_rf_udp(rt->frame, 9, 53, LEN);
	ornic_fix_recv(queue, &mr, 7, 4000, 2048);
	ornic_th_rx(th_of(rt), rt->frame, LEN);
	KUNIT_EXPECT_FALSE(test, ornic_th_fault_take(&rt->rss, &old));
	KUNIT_ASSERT_TRUE(test, ornic_th_fault_take(queue, &old));
	KUNIT_EXPECT_EQ(test, old.queue, ORNIC_FAULT_RQ);
	KUNIT_EXPECT_EQ(test, old.key, mr.key);
	KUNIT_EXPECT_EQ(test, old.addr, mr.iova + 4000);
	KUNIT_EXPECT_TRUE(test, old.write);
	ornic_th_rx(th_of(rt), rt->frame, LEN);
	KUNIT_EXPECT_FALSE(test, ornic_th_fault_take(queue, &fault));
	KUNIT_EXPECT_EQ(test, ornic_engine_stat(eng, ORNIC_STAT_RX_NO_WQE), 2);

	KUNIT_ASSERT_EQ(test, ornic_th_to(queue, ORNIC_QPS_RESET), 0);
	KUNIT_ASSERT_EQ(test, ornic_th_to(queue, ORNIC_QPS_INIT), 0);
	KUNIT_ASSERT_EQ(test, ornic_th_to(queue, ORNIC_QPS_RTR), 0);
	ornic_fix_recv(queue, &mr, 8, 4000, 2048);
	ornic_th_rx(th_of(rt), rt->frame, LEN);
	KUNIT_EXPECT_EQ(test, ornic_th_fault_end(queue, &old, true),
			ORNIC_NOT_FOUND);
	KUNIT_EXPECT_EQ(test, ornic_th_fault_serve(queue, &mr), 1);
	KUNIT_EXPECT_FALSE(test, ornic_th_poll(&rt->cq[0], &cqe));
	ornic_th_rx(th_of(rt), rt->frame, LEN);
	KUNIT_ASSERT_TRUE(test, ornic_th_poll(&rt->cq[0], &cqe));
	KUNIT_EXPECT_EQ(test, cqe.status, ORNIC_CQE_SUCCESS);
	KUNIT_EXPECT_EQ(test, le64_to_cpu(cqe.wr_id), 8);
	ornic_th_mr_read(&mr, 4000, got, LEN);
	KUNIT_EXPECT_EQ(test, memcmp(got, rt->frame, LEN), 0);
	KUNIT_EXPECT_EQ(test, ornic_engine_stat(eng, ORNIC_STAT_RX_NO_WQE), 3);
}

/* A frame that is sent on the same device is spread as one that arrives. */
static void rss_spreads_own(struct kunit *test)
{
	struct rss_test *rt = open_rss(test, 2);
	struct ornic_cqe cqe;
	u32 want, i;

	KUNIT_ASSERT_EQ(test, set_rss(rt, rt->rss.qpn), 0);
	add_rule(test);
	for (i = ORNIC_QPS_INIT; i <= ORNIC_QPS_RTS; i++)
		KUNIT_ASSERT_EQ(test, ornic_th_to(&rt->fix.b, (u8)i), 0);
	for (i = 0; i < 8; i++) {
		want = queue_of(rt, (u16)(i * 5));
		KUNIT_ASSERT_NE(test, want, QUEUES);
		ornic_rf_udp(rt->frame, 9, (u16)(i * 5), LEN);
		ornic_th_mr_write(&rt->fix.bm, 0, rt->frame, LEN);
		ornic_fix_recv(&rt->queue[want], &rt->fix.bm, 8, 4096, 2048);
		ornic_fix_post(&rt->fix.b, &rt->fix.bm, NULL, ORNIC_WQE_SEND, 0,
			       0, LEN);
		KUNIT_EXPECT_TRUE(test, ornic_th_poll(&rt->cq[want], &cqe));
	}
}

/* Frames have none that is the port's, neither when sent nor when spread. */
static void rss_needs_no_pkey(struct kunit *test)
{
	struct rss_test *rt = open_rss(test, 0);
	struct ornic_cqe cqe;
	u8 state;

	KUNIT_ASSERT_EQ(test, set_rss(rt, rt->rss.qpn), 0);
	add_rule(test);
	for (state = ORNIC_QPS_INIT; state <= ORNIC_QPS_RTS; state++)
		KUNIT_ASSERT_EQ(test, ornic_th_to(&rt->fix.b, state), 0);
	KUNIT_ASSERT_EQ(test, ornic_engine_pkey_set(th_of(rt)->eng, 0, 0), 0);
	KUNIT_EXPECT_EQ(test, queue_of(rt, 53), 0);
	ornic_th_mr_write(&rt->fix.bm, 0, rt->frame, LEN);
	ornic_fix_recv(&rt->queue[0], &rt->fix.bm, 8, 4096, 2048);
	ornic_fix_post(&rt->fix.b, &rt->fix.bm, NULL, ORNIC_WQE_SEND, 0, 0,
		       LEN);
	ornic_th_settle(&rt->fix.pair);
	KUNIT_EXPECT_EQ(test, ornic_fix_status(&rt->fix.bscq, &cqe), 0);
	KUNIT_EXPECT_TRUE(test, ornic_th_poll(&rt->cq[0], &cqe));
	KUNIT_EXPECT_EQ(test, cqe.status, ORNIC_CQE_SUCCESS);
}

/* What SET_RSS refuses leaves the QP as it was. */
static void rss_refuses(struct kunit *test)
{
	struct rss_test *rt = open_rss(test, 1);

	KUNIT_EXPECT_EQ(test, set_rss(rt, 0x30000), ORNIC_NOT_FOUND);
	KUNIT_EXPECT_EQ(test, set_rss(rt, rt->queue[0].qpn), ORNIC_BAD_PARAM);
	rt->memory->fields = 0;
	KUNIT_EXPECT_EQ(test, set_rss(rt, rt->rss.qpn), ORNIC_BAD_PARAM);
	/* It would get its own frames. */
	rt->memory->fields = cpu_to_le32(V4);
	rt->memory->qpn[1] = cpu_to_le32(rt->fix.b.qpn);
	KUNIT_EXPECT_EQ(test, set_rss(rt, rt->rss.qpn), ORNIC_BAD_PARAM);
	rt->memory->fields = cpu_to_le32(V4 | 0x100);
	KUNIT_EXPECT_EQ(test, set_rss(rt, rt->rss.qpn), ORNIC_BAD_PARAM);
	rt->memory->fields = cpu_to_le32(V4);
	rt->memory->log_size = ORNIC_RSS_MAX_LOG_SIZE + 1;
	KUNIT_EXPECT_EQ(test, set_rss(rt, rt->rss.qpn), ORNIC_BAD_PARAM);
	rt->memory->log_size = 1;
	rt->memory->qpn[1] = cpu_to_le32(rt->rss.qpn);
	KUNIT_EXPECT_EQ(test, set_rss(rt, rt->rss.qpn), ORNIC_BAD_PARAM);
	rt->memory->qpn[1] = cpu_to_le32(0x30000);
	KUNIT_EXPECT_EQ(test, set_rss(rt, rt->rss.qpn), ORNIC_BAD_PARAM);
	rt->memory->qpn[1] = rt->memory->qpn[0];
	KUNIT_EXPECT_EQ(test, set_rss(rt, rt->rss.qpn), ORNIC_OK);
	KUNIT_EXPECT_EQ(test, set_rss(rt, rt->rss.qpn), ORNIC_BUSY);
	rt->memory = (struct ornic_rss *)rt->frame;
	KUNIT_EXPECT_EQ(test, set_rss(rt, rt->rss.qpn), ORNIC_BAD_ADDR);
}

static struct kunit_case rss_cases[] = { KUNIT_CASE_PARAM(rss_hashes,
							  vector_gen_params),
					 KUNIT_CASE(rss_each_field),
					 KUNIT_CASE(rss_spreads),
					 KUNIT_CASE(rss_first_queue),
					 KUNIT_CASE(rss_loses),
					 KUNIT_CASE(rss_page_fault),
					 KUNIT_CASE(rss_spreads_own),
					 KUNIT_CASE(rss_needs_no_pkey),
					 KUNIT_CASE(rss_refuses),
					 {} };

static struct kunit_suite rss_suite = {
	.name = "ornic_rss",
	.init = rss_init,
	.exit = ornic_suite_exit,
	.test_cases = rss_cases,
};

kunit_test_suite(rss_suite);

MODULE_DESCRIPTION("ornic: receive side scaling suite");
MODULE_LICENSE("Dual BSD/GPL");
