// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* The hash of an RSS QP: what create_qp takes, and what the device gets. */
#include <kunit/test.h>

#include "ornic_rss.h"

#define KEY 40
#define SRC4 ORNIC_RSS_SRC_IPV4
#define DST4 ORNIC_RSS_DST_IPV4
#define SRC6 ORNIC_RSS_SRC_IPV6
#define DST6 ORNIC_RSS_DST_IPV6
#define TCP ORNIC_RSS_SRC_PORT_TCP
#define UDP ORNIC_RSS_DST_PORT_UDP

static const struct row {
	const char *name;
	u64 fields;
	u16 reserved;
	u8 function, key_len;
	u8 log_size;
	int result;
} rows[] = {
	{ "IPv4", SRC4 | DST4, 0, 1, KEY, 3, 0 },
	{ "IPv4 and TCP", SRC4 | DST4 | TCP, 0, 1, KEY, 7, 0 },
	{ "IPv6 and UDP", SRC6 | DST6 | UDP, 0, 1, KEY, 0, 0 },
	{ "ports alone", UDP, 0, 1, KEY, 1, 0 },
	{ "one queue, no field", 0, 0, 1, KEY, 0, 0 },
	{ "two queues, no field", 0, 0, 1, KEY, 1, -EINVAL },
	{ "IPv4 and IPv6", SRC4 | DST6, 0, 1, KEY, 1, -EINVAL },
	{ "TCP and UDP", SRC4 | TCP | UDP, 0, 1, KEY, 1, -EINVAL },
	{ "SPI of IPsec", SRC4 | 1u << 8, 0, 1, KEY, 1, -EOPNOTSUPP },
	{ "inner headers", SRC4 | 1ull << 31, 0, 1, KEY, 1, -EOPNOTSUPP },
	{ "a high bit", SRC4 | 1ull << 32, 0, 1, KEY, 1, -EOPNOTSUPP },
	{ "no function", SRC4, 0, 0, KEY, 1, -EOPNOTSUPP },
	{ "another function", SRC4, 0, 2, KEY, 1, -EOPNOTSUPP },
	{ "two functions", SRC4, 0, 3, KEY, 1, -EOPNOTSUPP },
	{ "no key", SRC4, 0, 1, 0, 1, -EINVAL },
	{ "a short key", SRC4, 0, 1, KEY - 1, 1, -EINVAL },
	{ "a long key", SRC4, 0, 1, KEY + 1, 1, -EINVAL },
	{ "the longest key", SRC4, 0, 1, 255, 1, -EINVAL },
	{ "reserved bits", SRC4, 1, 1, KEY, 1, -EINVAL },
	{ "a long table", SRC4, 0, 1, KEY, 8, -EINVAL },
};

KUNIT_ARRAY_PARAM_DESC(row, rows, name);

static void rss_fill(struct kunit *test)
{
	static const struct ornic_rss none;
	const struct row *row = test->param_value;
	struct ornic_create_rss_qp_req req = {
		.hash_function = row->function,
		.key_len = row->key_len,
		.reserved_30 = row->reserved,
		.fields = row->fields,
	};
	struct ornic_rss *rss = kunit_kzalloc(test, sizeof(*rss), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, rss);
	memset(req.key, 0x5a, sizeof(req.key));
	KUNIT_ASSERT_EQ(test, ornic_rss_fill(rss, &req, row->log_size),
			row->result);
	if (row->result) {
		KUNIT_EXPECT_EQ(test, memcmp(rss, &none, sizeof(none)), 0);
		return;
	}
	KUNIT_EXPECT_EQ(test, memcmp(rss->key, req.key, KEY), 0);
	KUNIT_EXPECT_EQ(test, le32_to_cpu(rss->fields), row->fields);
	KUNIT_EXPECT_EQ(test, rss->log_size, row->log_size);
}

static struct kunit_case rss_cases[] = { KUNIT_CASE_PARAM(rss_fill,
							  row_gen_params),
					 {} };

static struct kunit_suite rss_suite = {
	.name = "ornic_driver_rss",
	.test_cases = rss_cases,
};

kunit_test_suite(rss_suite);
