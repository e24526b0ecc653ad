// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* Event queues of a device that may write anything: driver/pci/pci_eq_ring.c. */
#include <kunit/test.h>

#include <rdma/ornic-hw-pci.h>

#include "pci/pci_eq_ring.h"

#define LOG_DEPTH 4
#define DEPTH (1u << LOG_DEPTH)
#define MEM_BYTES (ORNIC_RING_OFFSET + DEPTH * sizeof(struct ornic_eqe))

/* The device's end: how many events it has written. */
struct fix {
	struct ornic_pci_eq_ring eq;
	struct ornic_eq_record *record;
	struct ornic_eqe *ring;
	u32 written;
};

static int set_up(struct kunit *test)
{
	struct fix *fix = kunit_kzalloc(test, sizeof(*fix), GFP_KERNEL);
	u8 *mem = kunit_kzalloc(test, MEM_BYTES, GFP_KERNEL);

	if (!fix || !mem)
		return -ENOMEM;
	test->priv = fix;
	memset(mem, 0xff, MEM_BYTES);
	ornic_pci_eq_ring_init(&fix->eq, mem, LOG_DEPTH);
	fix->record = (void *)mem;
	fix->ring = (void *)(mem + ORNIC_RING_OFFSET);
	return 0;
}

static void write_event(struct fix *fix, u8 type, u32 obj)
{
	struct ornic_eqe *eqe = &fix->ring[fix->written % DEPTH];
	bool odd = fix->written / DEPTH & 1;

	eqe->type = type;
	eqe->obj = cpu_to_le32(obj);
	eqe->flags = odd ? 0 : ORNIC_CQE_PHASE;
	fix->written++;
}

static void new_ring_is_empty(struct kunit *test)
{
	struct fix *fix = test->priv;
	struct ornic_eqe eqe;

	KUNIT_EXPECT_FALSE(test, ornic_pci_eq_ring_take(&fix->eq, &eqe));
	KUNIT_EXPECT_FALSE(test, ornic_pci_eq_ring_give(&fix->eq));
	KUNIT_EXPECT_EQ(test, le32_to_cpu(fix->record->consumer), 0u);
}

static void events_come_in_order(struct kunit *test)
{
	struct fix *fix = test->priv;
	struct ornic_eqe eqe;
	u32 i, n, taken = 0;

	for (n = 1; n <= DEPTH; n++) {
		for (i = 0; i < n; i++)
			write_event(fix, ORNIC_EVENT_COMP, fix->written);
		for (i = 0; i < n; i++) {
			KUNIT_ASSERT_TRUE(test, ornic_pci_eq_ring_take(&fix->eq,
								       &eqe));
			KUNIT_ASSERT_EQ(test, le32_to_cpu(eqe.obj), taken++);
		}
		KUNIT_EXPECT_FALSE(test,
				   ornic_pci_eq_ring_take(&fix->eq, &eqe));
		ornic_pci_eq_ring_give(&fix->eq);
		KUNIT_EXPECT_EQ(test, le32_to_cpu(fix->record->consumer),
				taken);
	}
}

static void waiting_device_is_kicked(struct kunit *test)
{
	struct fix *fix = test->priv;
	struct ornic_eqe eqe;

	write_event(fix, ORNIC_EVENT_COMP, 1);
	fix->record->kick_wanted = cpu_to_le32(1);
	ornic_pci_eq_ring_take(&fix->eq, &eqe);
	KUNIT_EXPECT_TRUE(test, ornic_pci_eq_ring_give(&fix->eq));
	fix->record->kick_wanted = 0;
	KUNIT_EXPECT_FALSE(test, ornic_pci_eq_ring_give(&fix->eq));
}

static void flood_ends_with_the_pass(struct kunit *test)
{
	struct fix *fix = test->priv;
	struct ornic_eqe eqe;
	u32 i;

	memset(fix->ring, 0xff, DEPTH * sizeof(*fix->ring));
	for (i = 0; i < DEPTH; i++)
		KUNIT_ASSERT_TRUE(test, ornic_pci_eq_ring_take(&fix->eq, &eqe));
	KUNIT_EXPECT_FALSE(test, ornic_pci_eq_ring_take(&fix->eq, &eqe));
}

static void record_is_not_read_back(struct kunit *test)
{
	struct fix *fix = test->priv;
	struct ornic_eqe eqe;

	write_event(fix, ORNIC_EVENT_COMP, 1);
	fix->record->consumer = cpu_to_le32(0xdeadbeef);
	KUNIT_ASSERT_TRUE(test, ornic_pci_eq_ring_take(&fix->eq, &eqe));
	KUNIT_EXPECT_EQ(test, le32_to_cpu(eqe.obj), 1u);
	ornic_pci_eq_ring_give(&fix->eq);
	KUNIT_EXPECT_EQ(test, le32_to_cpu(fix->record->consumer), 1u);
}

struct fit {
	const char *name;
	u8 type;
	u32 msg;
	bool fits;
};

static const struct fit fit_cases[] = {
	{ "completion of vector 0", ORNIC_EVENT_COMP, 1, true },
	{ "completion of vector 255", ORNIC_EVENT_COMP, 256, true },
	{ "completion by control", ORNIC_EVENT_COMP, 0, false },
	{ "QP error by control", ORNIC_EVENT_QP_FATAL, 0, true },
	{ "QP error by a vector", ORNIC_EVENT_QP_FATAL, 1, false },
	{ "device failure by a vector", ORNIC_EVENT_DEVICE_FATAL, 1, false },
	{ "last that there is", ORNIC_EVENT_PKEY_CHANGE, 0, true },
	{ "page fault by control", ORNIC_EVENT_PAGE_FAULT, 0, true },
	{ "page fault by a vector", ORNIC_EVENT_PAGE_FAULT, 1, false },
	{ "first that there is not", ORNIC_EVENT_PKEY_CHANGE + 1, 0, false },
	{ "nonsense", 255, 0, false },
};

KUNIT_ARRAY_PARAM_DESC(fit, fit_cases, name);

static void event_fits_its_message(struct kunit *test)
{
	const struct fit *c = test->param_value;
	struct ornic_eqe eqe = { .type = c->type };

	KUNIT_EXPECT_EQ(test, ornic_pci_eqe_fits(&eqe, c->msg), c->fits);
}

static void ring_has_one_reader(struct kunit *test)
{
	u32 turn = 0;

	KUNIT_EXPECT_TRUE(test, ornic_pci_eq_turn_begin(&turn));
	KUNIT_EXPECT_FALSE(test, ornic_pci_eq_turn_begin(&turn));
	KUNIT_EXPECT_FALSE(test, ornic_pci_eq_turn_begin(&turn));
	/* It looks once more, however many messages came. */
	KUNIT_EXPECT_FALSE(test, ornic_pci_eq_turn_end(&turn));
	KUNIT_EXPECT_FALSE(test, ornic_pci_eq_turn_begin(&turn));
	KUNIT_EXPECT_FALSE(test, ornic_pci_eq_turn_end(&turn));
	KUNIT_EXPECT_TRUE(test, ornic_pci_eq_turn_end(&turn));
	KUNIT_EXPECT_TRUE(test, ornic_pci_eq_turn_begin(&turn));
	KUNIT_EXPECT_TRUE(test, ornic_pci_eq_turn_end(&turn));
}

static struct kunit_case cases[] = { KUNIT_CASE(new_ring_is_empty),
				     KUNIT_CASE(events_come_in_order),
				     KUNIT_CASE(waiting_device_is_kicked),
				     KUNIT_CASE(flood_ends_with_the_pass),
				     KUNIT_CASE(record_is_not_read_back),
				     KUNIT_CASE(ring_has_one_reader),
				     KUNIT_CASE_PARAM(event_fits_its_message,
						      fit_gen_params),
				     {} };

static struct kunit_suite suite = {
	.name = "ornic_driver_pci_eq",
	.init = set_up,
	.test_cases = cases,
};

kunit_test_suite(suite);

MODULE_IMPORT_NS(EXPORTED_FOR_KUNIT_TESTING);
MODULE_DESCRIPTION("KUnit suite of ornic's event queues over PCI");
MODULE_LICENSE("Dual BSD/GPL");
