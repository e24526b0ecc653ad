// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* Commands: dispatch, ranges, what they answer; GIDs, port, statistics. */
#include <kunit/test.h>
#include <rdma/ornic-hw-pci.h>

#include "harness.h"
#include "engine/dev.h"

static struct ornic_th *th_of(struct kunit *test)
{
	return test->priv;
}

static int cmd_init(struct kunit *test)
{
	test->priv = ornic_th_create(1, 1);
	return test->priv ? 0 : -ENOMEM;
}

static void cmd_exit(struct kunit *test)
{
	KUNIT_EXPECT_EQ(test, ornic_th_destroy(th_of(test)), 0);
}

static const u8 known[] = {
	ORNIC_CMD_QUERY_DEVICE,	     ORNIC_CMD_QUERY_CLOCK,
	ORNIC_CMD_SET_GID,	     ORNIC_CMD_SET_PORT,
	ORNIC_CMD_INSPECT,	     ORNIC_CMD_CREATE_CQ,
	ORNIC_CMD_DESTROY_CQ,	     ORNIC_CMD_MODIFY_CQ,
	ORNIC_CMD_RESIZE_CQ,	     ORNIC_CMD_CREATE_QP,
	ORNIC_CMD_DESTROY_QP,	     ORNIC_CMD_MODIFY_QP,
	ORNIC_CMD_QUERY_QP,	     ORNIC_CMD_ATTACH_MCAST,
	ORNIC_CMD_DETACH_MCAST,	     ORNIC_CMD_CREATE_MKEY,
	ORNIC_CMD_DESTROY_MKEY,	     ORNIC_CMD_MODIFY_MKEY,
	ORNIC_CMD_CREATE_MW,	     ORNIC_CMD_DESTROY_MW,
	ORNIC_CMD_CREATE_AH,	     ORNIC_CMD_DESTROY_AH,
	ORNIC_CMD_CREATE_SRQ,	     ORNIC_CMD_DESTROY_SRQ,
	ORNIC_CMD_MODIFY_SRQ,	     ORNIC_CMD_QUERY_SRQ,
	ORNIC_CMD_RESIZE_SRQ,	     ORNIC_CMD_QUERY_TAGS,
	ORNIC_CMD_CREATE_COUNTERS,   ORNIC_CMD_DESTROY_COUNTERS,
	ORNIC_CMD_BIND_COUNTERS,     ORNIC_CMD_QUERY_STATS,
	ORNIC_CMD_MODIFY_STATS,	     ORNIC_CMD_CREATE_COMP_CNTR,
	ORNIC_CMD_DESTROY_COMP_CNTR, ORNIC_CMD_MODIFY_COMP_CNTR,
	ORNIC_CMD_ATTACH_COMP_CNTR,  ORNIC_CMD_CREATE_FLOW,
	ORNIC_CMD_DESTROY_FLOW,	     ORNIC_CMD_TAKE_FAULT,
	ORNIC_CMD_END_FAULT,	     ORNIC_CMD_SET_PAGES,
	ORNIC_CMD_CLEAR_PAGES,	     ORNIC_CMD_SET_RSS,
	ORNIC_CMD_QUERY_PKEY,	     ORNIC_CMD_END_RAW,
};

/* One of these would never come to the engine of a PCI NIC. */
static bool is_of_bus(u32 opcode)
{
	return opcode == ORNIC_CMD_CREATE_EQ || opcode == ORNIC_CMD_DESTROY_EQ;
}

/* Every opcode is answered; those that exist not with BAD_OPCODE. */
static void cmd_knows_its_opcodes(struct kunit *test)
{
	union ornic_req req;
	union ornic_rsp rsp;
	bool is_known;
	u32 i, k;

	for (i = 0; i < 256; i++) {
		memset(&req, 0, sizeof(req));
		req.hdr.opcode = (u8)i;
		req.hdr.id = cpu_to_le16(0xabcd);
		req.hdr.obj = cpu_to_le32(0x7fffffff);
		ornic_th_cmd(th_of(test), &req, &rsp);
		for (k = 0, is_known = false; k < ARRAY_SIZE(known); k++)
			is_known |= known[k] == i;
		KUNIT_EXPECT_EQ_MSG(test, rsp.hdr.status != ORNIC_BAD_OPCODE,
				    is_known, "opcode %u", i);
		KUNIT_EXPECT_FALSE(test, is_known && is_of_bus(i));
		KUNIT_EXPECT_EQ(test, rsp.hdr.opcode, i);
		KUNIT_EXPECT_EQ(test, le16_to_cpu(rsp.hdr.id), 0xabcd);
	}
}

/* What is not part of the answer is zero: nothing of the device leaks. */
static void cmd_clears_the_answer(struct kunit *test)
{
	static const u8 zero[56];
	union ornic_req req;
	union ornic_rsp rsp;

	memset(&req, 0, sizeof(req));
	req.hdr.opcode = ORNIC_CMD_DESTROY_AH;
	req.hdr.obj = cpu_to_le32(77);
	KUNIT_EXPECT_EQ(test, ornic_th_cmd(th_of(test), &req, &rsp),
			ORNIC_NOT_FOUND);
	KUNIT_EXPECT_EQ(test, le32_to_cpu(rsp.hdr.obj), 77);
	KUNIT_EXPECT_MEMEQ(test, rsp.bytes + 8, zero, sizeof(zero));
}

/* Reserved fields are ignored when read. */
static void cmd_ignores_reserved(struct kunit *test)
{
	union ornic_req req;
	union ornic_rsp rsp;

	memset(&req, 0xff, sizeof(req));
	req.hdr.opcode = ORNIC_CMD_SET_PORT;
	req.set_port.mtu = cpu_to_le32(1024);
	req.set_port.up = 1;
	KUNIT_EXPECT_EQ(test, ornic_th_cmd(th_of(test), &req, &rsp), ORNIC_OK);
	memset(&req, 0xff, sizeof(req));
	req.hdr.opcode = ORNIC_CMD_QUERY_DEVICE;
	KUNIT_EXPECT_EQ(test, ornic_th_cmd(th_of(test), &req, &rsp), ORNIC_OK);
}

static void query_device_tells_limits(struct kunit *test)
{
	const struct ornic_rsp_query_device *r;
	union ornic_req req;
	union ornic_rsp rsp;

	memset(&req, 0, sizeof(req));
	req.hdr.opcode = ORNIC_CMD_QUERY_DEVICE;
	KUNIT_ASSERT_EQ(test, ornic_th_cmd(th_of(test), &req, &rsp), 0);
	r = &rsp.query_device;
	KUNIT_EXPECT_EQ(test, r->hw_version, ORNIC_HW_VERSION);
	KUNIT_EXPECT_EQ(test, le64_to_cpu(r->caps), 0x7fffffff);
	KUNIT_EXPECT_EQ(test, le64_to_cpu(r->page_sizes), 0x1fffffff000);
	KUNIT_EXPECT_EQ(test, le64_to_cpu(r->max_mr_size), 1ull << 40);
	KUNIT_EXPECT_LE(test, r->max_sge, ORNIC_MAX_SGE);
	KUNIT_EXPECT_LE(test, le16_to_cpu(r->max_inline), ORNIC_MAX_INLINE);
	KUNIT_EXPECT_EQ(test, le16_to_cpu(r->gid_table_len),
			ORNIC_GID_TABLE_LEN);
	KUNIT_EXPECT_EQ(test, r->num_vectors, 2);
	KUNIT_EXPECT_MEMEQ(test, r->mac, th_of(test)->mac, 6);
}

static void query_tags_tells_limits(struct kunit *test)
{
	union ornic_req req = { .hdr.opcode = ORNIC_CMD_QUERY_TAGS };
	union ornic_rsp rsp;

	KUNIT_ASSERT_EQ(test, ornic_th_cmd(th_of(test), &req, &rsp), 0);
	KUNIT_EXPECT_EQ(test, rsp.query_tags.log_max_tags, 10);
	KUNIT_EXPECT_EQ(test, rsp.query_tags.max_sge, 4);
}

/* ---- Port and GIDs ------------------------------------------------------------ */

static const struct port_row {
	const char *name;
	u32 mtu;
	u8 up;
	int status;
} port_rows[] = {
	{ "256, IBTA table 42", 256, 1, ORNIC_OK },
	{ "4096", 4096, 0, ORNIC_OK },
	{ "128", 128, 1, ORNIC_BAD_PARAM },
	{ "8192", 8192, 1, ORNIC_BAD_PARAM },
	{ "1500", 1500, 1, ORNIC_BAD_PARAM },
	{ "0", 0, 1, ORNIC_BAD_PARAM },
	{ "more than up", 1024, 2, ORNIC_BAD_PARAM },
};

KUNIT_ARRAY_PARAM_DESC(port, port_rows, name);

static void set_port_checks(struct kunit *test)
{
	const struct port_row *row = test->param_value;
	struct ornic_dev *dev = &th_of(test)->eng->dev;
	bool good = row->status == ORNIC_OK;
	union ornic_req req;
	union ornic_rsp rsp;

	memset(&req, 0, sizeof(req));
	req.hdr.opcode = ORNIC_CMD_SET_PORT;
	req.set_port.mtu = cpu_to_le32(row->mtu);
	req.set_port.up = row->up;
	KUNIT_EXPECT_EQ(test, ornic_th_cmd(th_of(test), &req, &rsp),
			row->status);
	/* Refused commands change nothing. */
	KUNIT_EXPECT_EQ(test, dev->mtu, good ? row->mtu : 4096);
	KUNIT_EXPECT_EQ(test, dev->up, good ? row->up : 1);
}

static const struct gid_row {
	const char *name;
	u32 index;
	u8 first_byte;
	u8 smac0;
	u16 vlan;
	u8 valid;
	u8 type;
	int status;
} gid_rows[] = {
	{ "IPv6", 5, 0xfd, 2, ORNIC_VLAN_NONE, 1, 0, ORNIC_OK },
	{ "RoCE v1", 5, 0xfd, 2, ORNIC_VLAN_NONE, 1, 1, ORNIC_OK },
	{ "last entry, on a VLAN", 127, 0xfd, 2, 4094, 1, 0, ORNIC_OK },
	{ "entry that does not exist", 128, 0xfd, 2, 0, 1, 0, ORNIC_BAD_PARAM },
	{ "far entry", 0xffffffff, 0xfd, 2, 0, 1, 0, ORNIC_BAD_PARAM },
	{ "unspecified address", 5, 0, 2, 0, 1, 0, ORNIC_BAD_PARAM },
	{ "VLAN 4095", 5, 0xfd, 2, 4095, 1, 0, ORNIC_BAD_PARAM },
	{ "multicast MAC", 5, 0xfd, 3, 0, 1, 0, ORNIC_BAD_PARAM },
	{ "multicast address", 5, 0xff, 2, 0, 1, 0, ORNIC_BAD_PARAM },
	{ "more than valid", 5, 0xfd, 2, 0, 2, 0, ORNIC_BAD_PARAM },
	{ "unknown type", 5, 0xfd, 2, 0, 1, 2, ORNIC_BAD_PARAM },
	{ "empties a slot", 5, 0, 0, 0, 0, 0, ORNIC_OK },
	{ "empties a slot that does not exist", 128, 0, 0, 0, 0, 0,
	  ORNIC_BAD_PARAM },
};

KUNIT_ARRAY_PARAM_DESC(gid, gid_rows, name);

static void set_gid_checks(struct kunit *test)
{
	const struct gid_row *row = test->param_value;
	struct ornic_dev *dev = &th_of(test)->eng->dev;
	bool set = row->status == ORNIC_OK && row->valid;
	bool local;
	struct ornic_gid gid;
	union ornic_req req;
	union ornic_rsp rsp;

	memset(&req, 0, sizeof(req));
	req.hdr.opcode = ORNIC_CMD_SET_GID;
	req.hdr.obj = cpu_to_le32(row->index);
	req.set_gid.gid[0] = row->first_byte;
	req.set_gid.smac[0] = row->smac0;
	req.set_gid.vlan = cpu_to_le16(row->vlan);
	req.set_gid.valid = row->valid;
	req.set_gid.type = row->type;
	KUNIT_EXPECT_EQ(test, ornic_th_cmd(th_of(test), &req, &rsp),
			row->status);
	ornic_gid_read(dev, row->index, &gid);
	KUNIT_EXPECT_EQ(test, gid.valid, set);
	local = ornic_gid_is_local(dev, req.set_gid.gid, row->vlan, row->type);
	KUNIT_EXPECT_EQ(test, local, set);
	if (!set)
		return;
	KUNIT_EXPECT_EQ(test, gid.v1, row->type);
	KUNIT_EXPECT_EQ(test,
			ornic_gid_index(dev, gid.gid, row->vlan, row->type),
			row->index);
}

/* The same address on another VLAN, or for another version, is another place. */
static void gid_counts_with_vlan_and_type(struct kunit *test)
{
	struct ornic_dev *dev = &th_of(test)->eng->dev;
	u16 vlan = ORNIC_TH_VLAN_ID, none = ORNIC_VLAN_NONE;
	u8 gid[16];

	ornic_th_gid_bytes(1, ORNIC_TH_VLAN, gid);
	KUNIT_EXPECT_TRUE(test, ornic_gid_is_local(dev, gid, vlan, false));
	KUNIT_EXPECT_FALSE(test, ornic_gid_is_local(dev, gid, none, false));
	KUNIT_EXPECT_FALSE(test, ornic_gid_is_local(dev, gid, vlan, true));
	KUNIT_EXPECT_EQ(test, ornic_gid_index(dev, gid, vlan, false),
			ORNIC_TH_VLAN);
	KUNIT_EXPECT_EQ(test, ornic_gid_index(dev, gid, none, false), 0);
	ornic_th_gid_bytes(1, ORNIC_TH_V1, gid);
	KUNIT_EXPECT_EQ(test, ornic_gid_index(dev, gid, none, false),
			ORNIC_TH_IPV6);
	KUNIT_EXPECT_EQ(test, ornic_gid_index(dev, gid, none, true),
			ORNIC_TH_V1);
}

/* ---- Address handles ------------------------------------------------------------ */

static const struct ah_row {
	const char *name;
	u8 peer;
	u8 sgid_index;
	u8 sl;
	int status;
	bool loop;
} ah_rows[] = {
	{ "to another", 2, ORNIC_TH_IPV4, 0, ORNIC_OK, false },
	{ "to the device itself", 1, ORNIC_TH_IPV4, 7, ORNIC_OK, true },
	{ "from an empty entry", 2, 9, 0, ORNIC_BAD_PARAM, false },
	{ "from an entry that does not exist", 2, 200, 0, ORNIC_BAD_PARAM,
	  false },
	{ "to another family", 2, ORNIC_TH_IPV6, 0, ORNIC_BAD_PARAM, false },
	{ "SL of more than 3 bits", 2, ORNIC_TH_IPV4, 0xff, ORNIC_OK, false },
};

KUNIT_ARRAY_PARAM_DESC(ah, ah_rows, name);

static void create_ah_checks(struct kunit *test)
{
	const struct ah_row *row = test->param_value;
	struct ornic_dev *dev = &th_of(test)->eng->dev;
	struct ornic_ah *ah;
	struct ornic_av av;
	u32 number = 0;

	ornic_th_av(&av, row->peer, ORNIC_TH_IPV4);
	av.sgid_index = row->sgid_index;
	av.sl = row->sl;
	KUNIT_ASSERT_EQ(test, ornic_th_ah(th_of(test), &av, &number),
			row->status);
	if (row->status)
		return;
	ornic_rcu_read_lock();
	ah = ornic_table_lookup(&dev->ahs, number);
	KUNIT_EXPECT_NOT_NULL(test, ah);
	if (ah)
		KUNIT_EXPECT_EQ(test, ah->path.loop, row->loop);
	ornic_rcu_read_unlock();
	KUNIT_EXPECT_EQ(test,
			ornic_th_destroy_obj(th_of(test), ORNIC_CMD_DESTROY_AH,
					     number),
			ORNIC_OK);
	KUNIT_EXPECT_EQ(test,
			ornic_th_destroy_obj(th_of(test), ORNIC_CMD_DESTROY_AH,
					     number),
			ORNIC_NOT_FOUND);
}

/* ---- Statistics ------------------------------------------------------------------ */

static const struct stats_row {
	const char *name;
	u32 count;
	bool bad_addr;
	int status;
	u32 written;
} stats_rows[] = {
	{ "one", 1, false, ORNIC_OK, 1 },
	{ "all", ORNIC_STAT_COUNT, false, ORNIC_OK, ORNIC_STAT_COUNT },
	{ "more than there are", 0xffffffff, false, ORNIC_OK,
	  ORNIC_STAT_COUNT },
	{ "none", 0, true, ORNIC_OK, 0 },
	{ "not DMA memory", 1, true, ORNIC_BAD_ADDR, 0 },
};

KUNIT_ARRAY_PARAM_DESC(stats, stats_rows, name);

static void query_stats_writes(struct kunit *test)
{
	const struct stats_row *row = test->param_value;
	struct ornic_th *th = th_of(test);
	u8 *mem = ornic_th_alloc(th, ORNIC_STAT_COUNT * 8);
	union ornic_req req;
	union ornic_rsp rsp;
	__le64 *value = (__le64 *)mem;
	u32 i;

	KUNIT_ASSERT_NOT_NULL(test, mem);
	memset(mem, 0xff, ORNIC_STAT_COUNT * 8);
	for (i = 0; i < ORNIC_STAT_COUNT; i++)
		ornic_stat_add(&th->eng->dev, i, i + 1);
	memset(&req, 0, sizeof(req));
	req.hdr.opcode = ORNIC_CMD_QUERY_STATS;
	req.query_stats.count = cpu_to_le32(row->count);
	req.query_stats.addr =
		cpu_to_le64(row->bad_addr ? 4096 : (u64)(uintptr_t)mem);
	KUNIT_EXPECT_EQ(test, ornic_th_cmd(th, &req, &rsp), row->status);
	for (i = 0; i < ORNIC_STAT_COUNT; i++)
		KUNIT_EXPECT_EQ(test, le64_to_cpu(value[i]),
				i < row->written ? i + 1 : U64_MAX);
}

static void stat_of_nothing_is_zero(struct kunit *test)
{
	struct ornic_engine *eng = th_of(test)->eng;

	KUNIT_EXPECT_EQ(test, ornic_engine_stat(eng, ORNIC_STAT_COUNT), 0);
}

/* ---- The end ----------------------------------------------------------------------- */

/* Objects that the host left behind go with the device: kmemleak and ASan. */
static void destroy_takes_all_along(struct kunit *test)
{
	struct ornic_th *th = ornic_th_create(3, 3);
	struct ornic_th_qpinit init = { .type = ORNIC_QPT_RC };
	struct ornic_th_qp *qp;
	struct ornic_th_cq cq;
	struct ornic_th_mr mr;
	struct ornic_av av;
	u32 ah;

	KUNIT_ASSERT_NOT_NULL(test, th);
	qp = kunit_kzalloc(test, sizeof(*qp), GFP_KERNEL);
	ornic_th_av(&av, 4, ORNIC_TH_IPV6);
	KUNIT_EXPECT_EQ(test, ornic_th_cq_init(th, &cq, 3), 0);
	KUNIT_EXPECT_EQ(test, ornic_th_qp_init(th, qp, &init, &cq, &cq), 0);
	KUNIT_EXPECT_EQ(test, ornic_th_mr_init(th, &mr, 9000, 5, 1, 1), 0);
	KUNIT_EXPECT_EQ(test, ornic_th_ah(th, &av, &ah), 0);
	KUNIT_EXPECT_EQ(test, ornic_th_destroy(th), 0);
}

/* The host is asked to run every QP, so that kick_wanted is set anew. */
static void polling_reruns_every_qp(struct kunit *test)
{
	struct ornic_th_qpinit init = { .type = ORNIC_QPT_RC };
	struct ornic_th *th = th_of(test);
	struct ornic_th_hqp *hqp;
	struct ornic_th_qp *qp;
	struct ornic_th_cq cq;
	u32 n = 0;

	qp = kunit_kzalloc(test, 2 * sizeof(*qp), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, qp);
	KUNIT_ASSERT_EQ(test, ornic_th_cq_init(th, &cq, 3), 0);
	KUNIT_ASSERT_EQ(test, ornic_th_qp_init(th, &qp[0], &init, &cq, &cq), 0);
	KUNIT_ASSERT_EQ(test, ornic_th_qp_init(th, &qp[1], &init, &cq, &cq), 0);
	ornic_th_run(th);
	ornic_engine_set_polling(th->eng, true);
	KUNIT_EXPECT_TRUE(test, th->eng->dev.polling);
	ornic_th_run(th);
	ornic_engine_set_polling(th->eng, false);
	for (hqp = th->hqps; hqp; hqp = hqp->next)
		n += hqp->resched;
	KUNIT_EXPECT_EQ(test, n, 2);
	KUNIT_EXPECT_FALSE(test, th->eng->dev.polling);
}

/* ---- What the host asks without a command ---------------------------------------- */

static void host_sees_objects(struct kunit *test)
{
	struct ornic_th_qpinit init = { .type = ORNIC_QPT_RC };
	struct ornic_engine *eng = th_of(test)->eng;
	struct ornic_engine_counts counts;
	struct ornic_th_cq cq;
	struct ornic_th_mr mr;
	struct ornic_th_qp qp;
	int status;

	KUNIT_ASSERT_EQ(test, ornic_th_cq_init(th_of(test), &cq, 4), 0);
	status = ornic_th_mr_init(th_of(test), &mr, 100, 0, 0, 0);
	KUNIT_ASSERT_EQ(test, status, 0);
	status = ornic_th_qp_init(th_of(test), &qp, &init, &cq, &cq);
	KUNIT_ASSERT_EQ(test, status, 0);
	ornic_engine_count_objects(eng, &counts);
	KUNIT_EXPECT_EQ(test, counts.qps, 1);
	KUNIT_EXPECT_EQ(test, counts.cqs, 1);
	KUNIT_EXPECT_EQ(test, counts.mkeys, 1);
	KUNIT_EXPECT_TRUE(test, ornic_engine_has_cq(eng, cq.cqn));
	KUNIT_EXPECT_FALSE(test, ornic_engine_has_cq(eng, cq.cqn + 1));
	KUNIT_EXPECT_EQ(test, ornic_th_qp_fini(&qp), 0);
	/* Asking uses nothing. */
	KUNIT_EXPECT_EQ(test, ornic_th_cq_fini(&cq), 0);
	KUNIT_EXPECT_FALSE(test, ornic_engine_has_cq(eng, cq.cqn));
	KUNIT_EXPECT_EQ(test, ornic_th_mr_fini(&mr), 0);
	ornic_engine_count_objects(eng, &counts);
	KUNIT_EXPECT_EQ(test, counts.qps + counts.cqs + counts.mkeys, 0);
}

static void host_sees_the_port(struct kunit *test)
{
	union ornic_req req = { .hdr.opcode = ORNIC_CMD_SET_PORT };
	union ornic_rsp rsp;

	KUNIT_EXPECT_TRUE(test, ornic_engine_port_up(th_of(test)->eng));
	KUNIT_EXPECT_EQ(test, ornic_engine_netdev_mtu(th_of(test)->eng), 0);
	req.set_port.mtu = cpu_to_le32(1024);
	req.set_port.netdev_mtu = cpu_to_le32(1500);
	KUNIT_EXPECT_EQ(test, ornic_th_cmd(th_of(test), &req, &rsp), ORNIC_OK);
	KUNIT_EXPECT_FALSE(test, ornic_engine_port_up(th_of(test)->eng));
	KUNIT_EXPECT_EQ(test, ornic_engine_netdev_mtu(th_of(test)->eng), 1500);
}

/* The number of an AH that is gone is not given to the next one. */
static void ah_numbers_come_again_late(struct kunit *test)
{
	struct ornic_av av;
	u32 first, second;
	int status;

	ornic_th_av(&av, 9, ORNIC_TH_IPV4);
	KUNIT_ASSERT_EQ(test, ornic_th_ah(th_of(test), &av, &first), 0);
	status = ornic_th_destroy_obj(th_of(test), ORNIC_CMD_DESTROY_AH, first);
	KUNIT_ASSERT_EQ(test, status, 0);
	KUNIT_ASSERT_EQ(test, ornic_th_ah(th_of(test), &av, &second), 0);
	KUNIT_EXPECT_NE(test, first, second);
}

/* The peer of a QP, by the addresses of an IPv4 header. */
static void host_sees_who_is_a_peer(struct kunit *test)
{
	struct ornic_th_qpinit init = { .type = ORNIC_QPT_RC };
	struct ornic_engine *eng = th_of(test)->eng;
	u8 src[16], dst[16], ip[20] = { 0x45 };
	struct ornic_th_cq cq;
	struct ornic_th_qp qp;
	int status;

	ornic_th_gid_bytes(9, ORNIC_TH_IPV4, src);
	ornic_th_gid_bytes(1, ORNIC_TH_IPV4, dst);
	memcpy(ip + 12, src + 12, 4);
	memcpy(ip + 16, dst + 12, 4);
	KUNIT_ASSERT_EQ(test, ornic_th_cq_init(th_of(test), &cq, 4), 0);
	status = ornic_th_qp_init(th_of(test), &qp, &init, &cq, &cq);
	KUNIT_ASSERT_EQ(test, status, 0);
	KUNIT_EXPECT_FALSE(test, ornic_engine_is_peer(eng, qp.qpn, ip, false));
	KUNIT_ASSERT_EQ(test, ornic_th_connect(&qp, NULL, ORNIC_TH_IPV4), 0);
	KUNIT_EXPECT_TRUE(test, ornic_engine_is_peer(eng, qp.qpn, ip, false));
	KUNIT_EXPECT_FALSE(test,
			   ornic_engine_is_peer(eng, qp.qpn + 1, ip, false));
	ip[15] = 8;
	KUNIT_EXPECT_FALSE(test, ornic_engine_is_peer(eng, qp.qpn, ip, false));
}

static const struct errno_row {
	int err;
	enum ornic_status status;
} errnos[] = {
	{ 0, ORNIC_OK },
	{ -ENOMEM, ORNIC_NO_RESOURCE },
	{ -ENOSPC, ORNIC_LIMIT },
	{ -EINVAL, ORNIC_BAD_PARAM },
	{ -EFAULT, ORNIC_BAD_ADDR },
	{ -ENOENT, ORNIC_NOT_FOUND },
	{ -EBUSY, ORNIC_BUSY },
	{ -EIO, ORNIC_FAILED },
};

static void errors_have_a_status(struct kunit *test)
{
	u32 i;

	for (i = 0; i < ARRAY_SIZE(errnos); i++)
		KUNIT_EXPECT_EQ_MSG(test, ornic_errno_status(errnos[i].err),
				    errnos[i].status, "error %d",
				    errnos[i].err);
}

static struct kunit_case cmd_cases[] = {
	KUNIT_CASE(cmd_knows_its_opcodes),
	KUNIT_CASE(cmd_clears_the_answer),
	KUNIT_CASE(cmd_ignores_reserved),
	KUNIT_CASE(query_device_tells_limits),
	KUNIT_CASE(query_tags_tells_limits),
	KUNIT_CASE_PARAM(set_port_checks, port_gen_params),
	KUNIT_CASE_PARAM(set_gid_checks, gid_gen_params),
	KUNIT_CASE(gid_counts_with_vlan_and_type),
	KUNIT_CASE_PARAM(create_ah_checks, ah_gen_params),
	KUNIT_CASE_PARAM(query_stats_writes, stats_gen_params),
	KUNIT_CASE(stat_of_nothing_is_zero),
	KUNIT_CASE(destroy_takes_all_along),
	KUNIT_CASE(polling_reruns_every_qp),
	KUNIT_CASE(ah_numbers_come_again_late),
	KUNIT_CASE(host_sees_objects),
	KUNIT_CASE(host_sees_the_port),
	KUNIT_CASE(host_sees_who_is_a_peer),
	KUNIT_CASE(errors_have_a_status),
	{}
};

static struct kunit_suite cmd_suite = {
	.name = "ornic_cmd",
	.init = cmd_init,
	.exit = cmd_exit,
	.test_cases = cmd_cases,
};

kunit_test_suite(cmd_suite);

MODULE_DESCRIPTION("ornic: command suite");
MODULE_LICENSE("Dual BSD/GPL");
