// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Commands in flight, and responses that match none:
 * driver/pci/pci_slots.c.
 */
#include <kunit/test.h>

#include <rdma/ornic-hw-pci.h>

#include "pci/pci_slots.h"

#define SLOTS ORNIC_PCI_NUM_SLOTS

/* The device's end: how many responses it has written. */
struct fix {
	struct ornic_pci_slots slots;
	union ornic_req requests[SLOTS];
	union ornic_rsp responses[SLOTS];
	u32 written;
};

static int set_up(struct kunit *test)
{
	struct fix *fix = kunit_kzalloc(test, sizeof(*fix), GFP_KERNEL);

	if (!fix)
		return -ENOMEM;
	test->priv = fix;
	memset(fix->responses, 0xff, sizeof(fix->responses));
	ornic_pci_slots_init(&fix->slots, fix->requests, fix->responses);
	return 0;
}

static int send(struct fix *fix, u8 opcode)
{
	union ornic_req req = { .hdr.opcode = opcode,
				.hdr.id = cpu_to_le16(0x7777) };

	return ornic_pci_slots_send(&fix->slots, &req);
}

static const union ornic_req *request(const struct fix *fix, u32 index)
{
	return &fix->requests[index % SLOTS];
}

static void respond(struct fix *fix, u8 opcode, u16 id, u8 status, u32 obj)
{
	bool odd = fix->written / SLOTS & 1;
	union ornic_rsp *rsp = &fix->responses[fix->written++ % SLOTS];

	rsp->hdr.opcode = opcode;
	rsp->hdr.id = cpu_to_le16(id);
	rsp->hdr.obj = cpu_to_le32(obj);
	rsp->hdr.status = status | (odd ? 0 : ORNIC_PCI_RSP_PHASE);
}

static void respond_to(struct fix *fix, u32 index, u8 status, u32 obj)
{
	const union ornic_req *req = request(fix, index);

	respond(fix, req->hdr.opcode, le16_to_cpu(req->hdr.id), status, obj);
}

static void command_gets_its_response(struct kunit *test)
{
	struct fix *fix = test->priv;
	union ornic_rsp rsp;
	int slot = send(fix, ORNIC_CMD_CREATE_CQ);

	KUNIT_ASSERT_GE(test, slot, 0);
	KUNIT_EXPECT_EQ(test, fix->slots.producer, 1u);
	KUNIT_EXPECT_EQ(test, request(fix, 0)->hdr.opcode, ORNIC_CMD_CREATE_CQ);
	KUNIT_EXPECT_EQ(test, ornic_pci_slots_take(&fix->slots), -EAGAIN);

	respond_to(fix, 0, ORNIC_LIMIT, 42);
	KUNIT_ASSERT_EQ(test, ornic_pci_slots_take(&fix->slots), slot);
	KUNIT_EXPECT_EQ(test, ornic_pci_slots_take(&fix->slots), -EAGAIN);
	KUNIT_ASSERT_TRUE(test,
			  ornic_pci_slots_finish(&fix->slots, slot, &rsp));
	KUNIT_EXPECT_EQ(test, rsp.hdr.opcode, ORNIC_CMD_CREATE_CQ);
	KUNIT_EXPECT_EQ(test, rsp.hdr.status, ORNIC_LIMIT);
	KUNIT_EXPECT_EQ(test, le32_to_cpu(rsp.hdr.obj), 42u);
}

static void responses_come_in_any_order(struct kunit *test)
{
	struct fix *fix = test->priv;
	union ornic_rsp rsp;
	int slot[SLOTS];
	u32 i;

	for (i = 0; i < SLOTS; i++)
		slot[i] = send(fix, ORNIC_CMD_QUERY_QP);
	KUNIT_EXPECT_EQ(test, send(fix, ORNIC_CMD_QUERY_QP), -EBUSY);
	for (i = SLOTS; i--;)
		respond_to(fix, i, ORNIC_OK, i);
	for (i = SLOTS; i--;)
		KUNIT_EXPECT_EQ(test, ornic_pci_slots_take(&fix->slots),
				slot[i]);
	for (i = 0; i < SLOTS; i++) {
		KUNIT_ASSERT_TRUE(test, ornic_pci_slots_finish(&fix->slots,
							       slot[i], &rsp));
		KUNIT_EXPECT_EQ(test, le32_to_cpu(rsp.hdr.obj), i);
	}
}

static void rings_go_round(struct kunit *test)
{
	struct fix *fix = test->priv;
	union ornic_rsp rsp;
	int slot;
	u32 i;

	/* As many as it takes for the ids to wrap, too. */
	for (i = 0; i < 70000; i++) {
		slot = send(fix, ORNIC_CMD_SET_GID);
		KUNIT_ASSERT_EQ(test, ornic_pci_slots_take(&fix->slots),
				-EAGAIN);
		respond_to(fix, i, ORNIC_OK, i);
		KUNIT_ASSERT_EQ(test, ornic_pci_slots_take(&fix->slots), slot);
		KUNIT_ASSERT_TRUE(test, ornic_pci_slots_finish(&fix->slots,
							       slot, &rsp));
		KUNIT_ASSERT_EQ(test, le32_to_cpu(rsp.hdr.obj), i);
	}
}

static void long_command_keeps_its_slot(struct kunit *test)
{
	struct fix *fix = test->priv;
	int slow = send(fix, ORNIC_CMD_DESTROY_QP);
	u16 id = le16_to_cpu(request(fix, 0)->hdr.id);
	union ornic_rsp rsp;
	int slot;
	u32 i;

	for (i = 1; i < 3 * SLOTS; i++) {
		slot = send(fix, ORNIC_CMD_SET_GID);
		KUNIT_ASSERT_NE(test, slot, slow);
		respond_to(fix, i, ORNIC_OK, i);
		KUNIT_ASSERT_EQ(test, ornic_pci_slots_take(&fix->slots), slot);
		ornic_pci_slots_finish(&fix->slots, slot, &rsp);
	}
	respond(fix, ORNIC_CMD_DESTROY_QP, id, ORNIC_OK, 5);
	KUNIT_EXPECT_EQ(test, ornic_pci_slots_take(&fix->slots), slow);
}

static void command_without_response_is_given_up(struct kunit *test)
{
	struct fix *fix = test->priv;
	union ornic_rsp rsp = { .hdr.obj = cpu_to_le32(7) };
	int slot = send(fix, ORNIC_CMD_SET_PORT);

	KUNIT_EXPECT_FALSE(test,
			   ornic_pci_slots_finish(&fix->slots, slot, &rsp));
	KUNIT_EXPECT_EQ(test, le32_to_cpu(rsp.hdr.obj), 7u);
	/* Late. */
	respond_to(fix, 0, ORNIC_OK, 0);
	KUNIT_EXPECT_EQ(test, ornic_pci_slots_take(&fix->slots), -EBADMSG);
}

/* Responses that do not match the only command. */
struct bad_rsp {
	const char *name;
	int opcode, id;
	bool twice;
};

static const struct bad_rsp bad_rsps[] = {
	{ "another opcode", 1, 0, false },
	{ "another slot", 0, 1, false },
	{ "an earlier use of the slot", 0, -(int)SLOTS, false },
	{ "a later use of the slot", 0, SLOTS, false },
	{ "any slot", 0, 0x1234, false },
	{ "once more", 0, 0, true },
};

KUNIT_ARRAY_PARAM_DESC(bad_rsp, bad_rsps, name);

static void bad_response_is_found(struct kunit *test)
{
	const struct bad_rsp *bad = test->param_value;
	struct fix *fix = test->priv;
	int slot = send(fix, ORNIC_CMD_CREATE_QP);
	u16 id = le16_to_cpu(request(fix, 0)->hdr.id);
	union ornic_rsp rsp;

	if (bad->twice) {
		respond_to(fix, 0, ORNIC_OK, 1);
		KUNIT_EXPECT_EQ(test, ornic_pci_slots_take(&fix->slots), slot);
	}
	respond(fix, ORNIC_CMD_CREATE_QP + bad->opcode, id + bad->id, ORNIC_OK,
		9);
	KUNIT_EXPECT_EQ(test, ornic_pci_slots_take(&fix->slots), -EBADMSG);
	KUNIT_EXPECT_EQ(test, ornic_pci_slots_finish(&fix->slots, slot, &rsp),
			bad->twice);
	if (bad->twice)
		KUNIT_EXPECT_EQ(test, le32_to_cpu(rsp.hdr.obj), 1u);
}

static void idle_ring_is_not_believed(struct kunit *test)
{
	struct fix *fix = test->priv;
	u32 i;

	/* All bits set look like a first pass to its end, and no further. */
	memset(fix->responses, 0xff, sizeof(fix->responses));
	for (i = 0; i < SLOTS; i++)
		KUNIT_EXPECT_EQ(test, ornic_pci_slots_take(&fix->slots),
				-EBADMSG);
	KUNIT_EXPECT_EQ(test, ornic_pci_slots_take(&fix->slots), -EAGAIN);
}

static void response_is_a_copy(struct kunit *test)
{
	struct fix *fix = test->priv;
	union ornic_rsp rsp;
	int slot = send(fix, ORNIC_CMD_CREATE_CQ);

	respond_to(fix, 0, ORNIC_OK, 3);
	ornic_pci_slots_take(&fix->slots);
	memset(fix->responses, 0xee, sizeof(fix->responses));
	ornic_pci_slots_finish(&fix->slots, slot, &rsp);
	KUNIT_EXPECT_EQ(test, le32_to_cpu(rsp.hdr.obj), 3u);
	KUNIT_EXPECT_EQ(test, rsp.hdr.status, ORNIC_OK);
}

static struct kunit_case cases[] = {
	KUNIT_CASE(command_gets_its_response),
	KUNIT_CASE(responses_come_in_any_order),
	KUNIT_CASE(rings_go_round),
	KUNIT_CASE(long_command_keeps_its_slot),
	KUNIT_CASE(command_without_response_is_given_up),
	KUNIT_CASE_PARAM(bad_response_is_found, bad_rsp_gen_params),
	KUNIT_CASE(idle_ring_is_not_believed),
	KUNIT_CASE(response_is_a_copy),
	{}
};

static struct kunit_suite suite = {
	.name = "ornic_driver_pci_slots",
	.init = set_up,
	.test_cases = cases,
};

kunit_test_suite(suite);

MODULE_IMPORT_NS(EXPORTED_FOR_KUNIT_TESTING);
MODULE_DESCRIPTION("KUnit suite of ornic's commands over PCI");
MODULE_LICENSE("Dual BSD/GPL");
