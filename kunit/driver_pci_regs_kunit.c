// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* Registers of a PCI device, with any values: driver/pci/pci_regs.c. */
#include <kunit/test.h>

#include <rdma/ornic-hw-pci.h>

#include "pci/pci_regs.h"

static struct ornic_pci_device_regs good_regs(void)
{
	return (struct ornic_pci_device_regs){
		.magic = cpu_to_le64(ORNIC_PCI_MAGIC),
		.version = cpu_to_le32(ORNIC_HW_VERSION),
		.status = cpu_to_le32(ORNIC_PCI_READY),
		.num_msgs = cpu_to_le32(5),
		.doorbell_bar = 0,
		.doorbell_offset = cpu_to_le32(12),
		.doorbell_control = cpu_to_le32(0x10000),
		.doorbell_kick = cpu_to_le32(0x10001),
		.dm_bar = 2,
		.dm_page = cpu_to_le32(16),
		.dm_pages = cpu_to_le32(4096),
		.mac = { 2, 0, 0, 0, 0, 7 },
	};
}

static void regs_are_read(struct kunit *test)
{
	struct ornic_pci_device_regs regs = good_regs();
	struct ornic_pci_info info;
	struct ornic_pci_flaw flaw;

	KUNIT_ASSERT_EQ(test, ornic_pci_read_info(&regs, &info, &flaw), 0);
	KUNIT_EXPECT_EQ(test, info.num_msgs, 5u);
	KUNIT_EXPECT_EQ(test, info.doorbell_bar, 0u);
	KUNIT_EXPECT_EQ(test, info.doorbell_offset, 12u);
	KUNIT_EXPECT_EQ(test, info.doorbell_control, 0x10000u);
	KUNIT_EXPECT_EQ(test, info.doorbell_kick, 0x10001u);
	KUNIT_EXPECT_EQ(test, info.dm_bar, 2u);
	KUNIT_EXPECT_EQ(test, info.dm_page, 16u);
	KUNIT_EXPECT_EQ(test, info.dm_pages, 4096u);
	KUNIT_EXPECT_MEMEQ(test, info.mac, regs.mac, 6);
}

/* One register, as it is in little-endian words, is something else. */
struct flaw_case {
	const char *name;
	u32 offset, value;
	int ret;
	const char *what;
};

#define AT(reg) offsetof(struct ornic_pci_device_regs, reg)

/* clang-format off */
static const struct flaw_case flaw_cases[] = {
	{ "no magic",		AT(magic), 0, -ENODEV, "magic" },
	{ "half a magic",	AT(magic) + 4, 0, -ENODEV, "magic" },
	{ "pulled out",		AT(magic), ~0u, -ENODEV, "magic" },
	{ "older",		AT(version), ORNIC_HW_VERSION - 1, -EPROTO, "version" },
	{ "newer",		AT(version), ORNIC_HW_VERSION + 1, -EPROTO, "version" },
	{ "no messages",	AT(num_msgs), 0, -EINVAL, "num_msgs" },
	{ "control alone",	AT(num_msgs), 1, -EINVAL, "num_msgs" },
	{ "too many messages",	AT(num_msgs), ORNIC_PCI_MAX_MSGS + 1, -EINVAL, "num_msgs" },
	{ "messages without end", AT(num_msgs), ~0u, -EINVAL, "num_msgs" },
	{ "a seventh BAR",	AT(doorbell_bar), 6, -EINVAL, "doorbell_bar" },
	{ "doorbell askew",	AT(doorbell_offset), 13, -EINVAL, "doorbell_offset" },
	{ "memory in a seventh BAR", AT(doorbell_bar), 6 << 8, -EINVAL, "dm_bar" },
	{ "group address",	AT(mac), 1, -EINVAL, "mac" },
};

/* clang-format on */

KUNIT_ARRAY_PARAM_DESC(flaw, flaw_cases, name);

static void flaw_is_found(struct kunit *test)
{
	const struct flaw_case *c = test->param_value;
	struct ornic_pci_device_regs regs = good_regs();
	__le32 value = cpu_to_le32(c->value);
	struct ornic_pci_flaw flaw = {};
	struct ornic_pci_info info;

	memcpy((u8 *)&regs + c->offset, &value, sizeof(value));
	KUNIT_EXPECT_EQ(test, ornic_pci_read_info(&regs, &info, &flaw), c->ret);
	KUNIT_EXPECT_STREQ(test, flaw.what, c->what);
}

static void mac_of_zeros_is_none(struct kunit *test)
{
	struct ornic_pci_device_regs regs = good_regs();
	struct ornic_pci_flaw flaw = {};
	struct ornic_pci_info info;

	memset(regs.mac, 0, sizeof(regs.mac));
	KUNIT_EXPECT_EQ(test, ornic_pci_read_info(&regs, &info, &flaw),
			-EINVAL);
	KUNIT_EXPECT_STREQ(test, flaw.what, "mac");
}

struct reset_case {
	const char *name;
	u32 asked, done;
};

static const struct reset_case reset_cases[] = {
	{ "first", 0, 0 },
	{ "next", 7, 7 },
	{ "one is still requested", 8, 7 },
	{ "an earlier driver left nonsense", 0xdeadbeef, 3 },
	{ "wraps", ~0u, ~0u },
	{ "wraps past one that is requested", 0, ~0u },
};

KUNIT_ARRAY_PARAM_DESC(reset, reset_cases, name);

static void reset_is_new_to_both(struct kunit *test)
{
	const struct reset_case *c = test->param_value;
	u32 next = ornic_pci_next_reset(c->asked, c->done);

	KUNIT_EXPECT_NE(test, next, c->asked);
	KUNIT_EXPECT_NE(test, next, c->done);
}

static void pulse_ages_until_it_beats(struct kunit *test)
{
	struct ornic_pci_pulse pulse = {};

	KUNIT_EXPECT_EQ(test, ornic_pci_pulse_age(&pulse, 0, 90000), 0u);
	KUNIT_EXPECT_EQ(test, ornic_pci_pulse_age(&pulse, 0, 91000), 1000u);
	KUNIT_EXPECT_EQ(test, ornic_pci_pulse_age(&pulse, 0, 92500), 2500u);
	KUNIT_EXPECT_EQ(test, ornic_pci_pulse_age(&pulse, 0, 98500), 4500u);
	KUNIT_EXPECT_EQ(test, ornic_pci_pulse_age(&pulse, ~0u, 98600), 0u);
	KUNIT_EXPECT_EQ(test, ornic_pci_pulse_age(&pulse, ~0u, 98700), 100u);
	KUNIT_EXPECT_EQ(test, ornic_pci_pulse_age(&pulse, 0, 98800), 0u);
}

struct map_case {
	const char *name;
	u32 bar, offset;
	u64 bar_bytes, page_bytes;
	bool may;
};

/* The MSI-X table is in BAR 1 at 8192, 5 entries; its PBA in BAR 4 at 0. */
static const struct ornic_pci_span used_spans[] = {
	{ ORNIC_PCI_REG_BAR, 0, ORNIC_PCI_REGS_SIZE },
	{ 1, 8192, 5 * 16 },
	{ 4, 0, 8 },
	{ 5, 0, 0 },
};

/* clang-format off */
static const struct map_case map_cases[] = {
	{ "ivshmem",			0, 12, 256, 4096, true },
	{ "ivshmem, large pages",	0, 12, 256, 65536, true },
	{ "device registers",		2, 60, 1 << 20, 4096, false },
	{ "host registers",		2, 4096 + 60, 1 << 20, 4096, false },
	{ "after the registers",	2, 8192, 1 << 20, 4096, true },
	{ "after the registers, large pages", 2, 8192, 1 << 20, 65536, false },
	{ "large page of a large BAR",	0, 65536, 1 << 20, 65536, false },
	{ "large page, registers elsewhere", 0, 8192, 16384, 65536, false },
	{ "page of the MSI-X table",	1, 8192 + 2048, 16384, 4096, false },
	{ "page before the table",	1, 4096, 16384, 4096, true },
	{ "page after the table",	1, 12288, 16384, 4096, true },
	{ "page of the PBA",		4, 2048, 4096, 4096, false },
	{ "a table of no bytes",	5, 0, 4096, 4096, true },
};

/* clang-format on */

KUNIT_ARRAY_PARAM_DESC(map, map_cases, name);

static void doorbell_page_has_nothing_else(struct kunit *test)
{
	const struct map_case *c = test->param_value;
	const struct ornic_pci_info info = {
		.doorbell_bar = c->bar,
		.doorbell_offset = c->offset,
	};

	KUNIT_EXPECT_EQ(test,
			ornic_pci_may_map(&info, c->bar_bytes, c->page_bytes,
					  used_spans, ARRAY_SIZE(used_spans)),
			c->may);
}

/* No device memory: its BAR does not matter. */
static void no_memory_has_no_bar(struct kunit *test)
{
	struct ornic_pci_device_regs regs = good_regs();
	struct ornic_pci_flaw flaw;
	struct ornic_pci_info info;

	regs.dm_bar = 0xff;
	regs.dm_pages = 0;
	KUNIT_EXPECT_EQ(test, ornic_pci_read_info(&regs, &info, &flaw), 0);
}

struct dm_case {
	const char *name;
	u32 page, pages;
	u64 bar_bytes, page_bytes;
	int ret;
	u64 start, bytes;
	u64 skipped; /* of the memory, before its first page */
};

/* clang-format off */
static const struct dm_case dm_cases[] = {
	{ "ornic-nic",		16, 4096, 32 << 20, 4096, 0, 65536, 16 << 20 },
	{ "large pages",	16, 4096, 32 << 20, 65536, 0, 65536, 16 << 20 },
	{ "all of the BAR",	0, 256, 1 << 20, 4096, 0, 0, 1 << 20 },
	{ "whole large pages",	1, 47, 1 << 20, 65536, 0, 65536, 131072, 61440 },
	{ "less than a large page", 1, 15, 1 << 20, 65536, 0, 65536, 0 },
	{ "between two of them", 17, 30, 1 << 20, 65536, 0, 131072, 0 },
	{ "a page too many",	0, 257, 1 << 20, 4096, -EINVAL, 0, 0 },
	{ "a page too far",	1, 256, 1 << 20, 4096, -EINVAL, 0, 0 },
	{ "after the BAR",	256, 1, 1 << 20, 4096, -EINVAL, 0, 0 },
	{ "as far as it gets",	~0u, ~0u, 1ull << 43, 4096, -EINVAL, 0, 0 },
	{ "no BAR",		0, 1, 0, 4096, -EINVAL, 0, 0 },
};

/* clang-format on */

KUNIT_ARRAY_PARAM_DESC(dm, dm_cases, name);

static void memory_is_in_its_bar(struct kunit *test)
{
	const struct dm_case *c = test->param_value;
	const struct ornic_pci_info info = {
		.dm_bar = 2,
		.dm_page = c->page,
		.dm_pages = c->pages,
	};
	struct ornic_pci_span span = {};

	KUNIT_ASSERT_EQ(test,
			ornic_pci_dm_span(&info, c->bar_bytes, c->page_bytes,
					  &span),
			c->ret);
	if (c->ret)
		return;
	KUNIT_EXPECT_EQ(test, span.bar, 2u);
	KUNIT_EXPECT_EQ(test, span.bytes, c->bytes);
	if (!c->bytes)
		return;
	KUNIT_EXPECT_EQ(test, span.start, c->start);
	KUNIT_EXPECT_EQ(test, ornic_pci_dm_start(&info, &span), c->skipped);
}

static const struct apart_case {
	const char *name;
	struct ornic_pci_span span;
	bool apart;
} apart_cases[] = {
	{ "after the registers", { 2, 8192, 1 << 24 }, true },
	{ "with the last register", { 2, 8191, 1 }, false },
	{ "around all", { 2, 0, 1 << 24 }, false },
	{ "another BAR", { 3, 0, 1 << 24 }, true },
	{ "before the MSI-X table", { 1, 4096, 4096 }, true },
	{ "up to its first byte", { 1, 4096, 4097 }, false },
	{ "with the PBA", { 4, 0, 4096 }, false },
	{ "nothing behind the table", { 1, 8192 + 5 * 16, 0 }, true },
	{ "nothing in the table", { 1, 8192 + 16, 0 }, true },
	{ "where nothing is used", { 5, 0, 4096 }, true },
};

KUNIT_ARRAY_PARAM_DESC(apart, apart_cases, name);

static void used_spans_are_seen(struct kunit *test)
{
	const struct apart_case *c = test->param_value;

	KUNIT_EXPECT_EQ(test,
			ornic_pci_is_apart(&c->span, used_spans,
					   ARRAY_SIZE(used_spans)),
			c->apart);
}

static struct kunit_case cases[] = {
	KUNIT_CASE(regs_are_read),
	KUNIT_CASE_PARAM(flaw_is_found, flaw_gen_params),
	KUNIT_CASE(mac_of_zeros_is_none),
	KUNIT_CASE_PARAM(doorbell_page_has_nothing_else, map_gen_params),
	KUNIT_CASE(no_memory_has_no_bar),
	KUNIT_CASE_PARAM(memory_is_in_its_bar, dm_gen_params),
	KUNIT_CASE_PARAM(used_spans_are_seen, apart_gen_params),
	KUNIT_CASE_PARAM(reset_is_new_to_both, reset_gen_params),
	KUNIT_CASE(pulse_ages_until_it_beats),
	{}
};

static struct kunit_suite suite = {
	.name = "ornic_driver_pci_regs",
	.test_cases = cases,
};

kunit_test_suite(suite);

MODULE_IMPORT_NS(EXPORTED_FOR_KUNIT_TESTING);
MODULE_DESCRIPTION("KUnit suite of ornic's PCI registers");
MODULE_LICENSE("Dual BSD/GPL");
