// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Attributes of a soft device that can be changed at run time, in the sysfs
 * directory of its ib_device (a link message has no room for options):
 *
 *	poll_thread	a thread polls the send queues, see soft_poll.c
 *	busy_poll_us	a CPU that is otherwise idle polls busy send queues; it
 *			stops after this time without work; 0: off. See
 *			soft_busypoll.c
 *	rx_fast_path	packets of known senders bypass IP, see soft_rx_fast.c
 *	direct		messages of RC to the other end of a veth pair need no
 *			packets, if both ends have it, see soft_direct.c
 *	direct_bridge	nor do those to devices beyond a bridge
 *	rx_queues	long messages are received on another CPU, see soft_rxq.c
 *	loopback	messages between QPs of the device need no packets. With
 *			0, QPs that are connected afterwards send packets, for a
 *			switch that reflects them, such as a bridge port with
 *			"hairpin on": tests of a single device test the wire so.
 *	cc_params	parameters of congestion control, a name and a value each;
 *			one is changed at a time: "rp_ai_rate 10"
 *	spray		UDP source ports over which a connection sends, see
 *			spray.c of the engine; 0 or 1: one. For QPs that are
 *			made afterwards.
 *	pkeys		the P_Key table, an index and a key each; "2 0x8001" sets
 *			one entry, "2 0" empties it
 *	impair		rules by which single packets are lost, doubled, held,
 *			marked or damaged, see soft_impair.c
 */
#include "soft.h"
#include "soft_direct.h"

#include <linux/capability.h>
#include <linux/device.h>
#include <linux/kstrtox.h>
#include <linux/string.h>
#include <linux/sysfs.h>
#include <rdma/ib_verbs.h>

#include "engine/engine.h"
#include "soft_impair.h"

static struct ornic_soft *to_soft(struct device *dev)
{
	struct ib_device *ibdev = rdma_device_to_ibdev(dev);

	return dev_get_drvdata(ibdev->dev.parent);
}

static int parse_bool(const char *buf, bool *on)
{
	if (!capable(CAP_NET_ADMIN))
		return -EPERM;
	return kstrtobool(buf, on);
}

/* Returns @count, or an error of @set. */
static ssize_t store_bool(struct device *dev, const char *buf, size_t count,
			  int (*set)(struct ornic_soft *soft, bool on))
{
	bool on;
	int err;

	err = parse_bool(buf, &on);
	if (!err)
		err = set(to_soft(dev), on);
	return err ?: count;
}

/* An attribute that is a bool of struct ornic_soft, at the offset @at. */
struct flag_attr {
	struct device_attribute attr;
	size_t at;
	void (*changed)(struct ornic_soft *soft); /* or NULL */
};

static struct flag_attr *to_flag(struct device_attribute *attr)
{
	return container_of(attr, struct flag_attr, attr);
}

static bool *flag_of(struct device *dev, struct device_attribute *attr)
{
	return (void *)to_soft(dev) + to_flag(attr)->at;
}

static ssize_t flag_show(struct device *dev, struct device_attribute *attr,
			 char *buf)
{
	return sysfs_emit(buf, "%d\n", READ_ONCE(*flag_of(dev, attr)));
}

static ssize_t flag_store(struct device *dev, struct device_attribute *attr,
			  const char *buf, size_t count)
{
	const struct flag_attr *flag = to_flag(attr);
	bool on;
	int err;

	err = parse_bool(buf, &on);
	if (err)
		return err;
	WRITE_ONCE(*flag_of(dev, attr), on);
	if (flag->changed)
		flag->changed(to_soft(dev));
	return count;
}

#define FLAG_ATTR(_name, _field, _changed)                          \
	static struct flag_attr flag_attr_##_name = {               \
		.attr = __ATTR(_name, 0644, flag_show, flag_store), \
		.at = offsetof(struct ornic_soft, _field),          \
		.changed = (_changed),                              \
	}

FLAG_ATTR(rx_fast_path, rx_fast.on, NULL);
FLAG_ATTR(direct, direct.on, ornic_soft_direct_changed);
FLAG_ATTR(direct_bridge, direct.bridge, ornic_soft_direct_changed);
FLAG_ATTR(rx_queues, rx_queues, NULL);

static ssize_t poll_thread_show(struct device *dev,
				struct device_attribute *attr, char *buf)
{
	return sysfs_emit(buf, "%d\n", !!READ_ONCE(to_soft(dev)->poll_thread));
}

static ssize_t poll_thread_store(struct device *dev,
				 struct device_attribute *attr, const char *buf,
				 size_t count)
{
	return store_bool(dev, buf, count, ornic_soft_poll_set);
}

static DEVICE_ATTR_RW(poll_thread);

static ssize_t busy_poll_us_show(struct device *dev,
				 struct device_attribute *attr, char *buf)
{
	return sysfs_emit(buf, "%u\n",
			  READ_ONCE(to_soft(dev)->busypoll.max_idle_us));
}

static ssize_t busy_poll_us_store(struct device *dev,
				  struct device_attribute *attr,
				  const char *buf, size_t count)
{
	u16 us;
	int err;

	if (!capable(CAP_NET_ADMIN))
		return -EPERM;
	err = kstrtou16(buf, 0, &us);
	if (!err)
		WRITE_ONCE(to_soft(dev)->busypoll.max_idle_us, us);
	return err ?: count;
}

static DEVICE_ATTR_RW(busy_poll_us);

static ssize_t loopback_show(struct device *dev, struct device_attribute *attr,
			     char *buf)
{
	return sysfs_emit(buf, "%d\n",
			  ornic_engine_loopback(to_soft(dev)->engine));
}

static int loopback_set(struct ornic_soft *soft, bool on)
{
	ornic_engine_set_loopback(soft->engine, on);
	return 0;
}

static ssize_t loopback_store(struct device *dev, struct device_attribute *attr,
			      const char *buf, size_t count)
{
	return store_bool(dev, buf, count, loopback_set);
}

static DEVICE_ATTR_RW(loopback);

/* Rules have numbers of peers, which are not shown to everyone. */
static ssize_t impair_show(struct device *dev, struct device_attribute *attr,
			   char *buf)
{
	if (!capable(CAP_NET_ADMIN))
		return -EPERM;
	return ornic_soft_impair_show(to_soft(dev), buf);
}

static int impair_parse(struct device *dev, const char *buf, size_t count,
			struct ornic_impair_rule *rule)
{
	struct ornic_impair_error error;

	if (!ornic_impair_parse(rule, buf, count, &error))
		return 0;
	ibdev_err_ratelimited(rdma_device_to_ibdev(dev),
			      "impair: %s, at character %u: \"%*pE\"\n",
			      error.why, error.at + 1, (int)error.len,
			      buf + error.at);
	return -EINVAL;
}

static ssize_t impair_store(struct device *dev, struct device_attribute *attr,
			    const char *buf, size_t count)
{
	struct ornic_impair_rule rule;
	int err;

	if (!capable(CAP_NET_ADMIN))
		return -EPERM;
	if (sysfs_streq(buf, "clear")) {
		ornic_soft_impair_clear(to_soft(dev));
		return count;
	}
	err = impair_parse(dev, buf, count, &rule);
	if (!err)
		err = ornic_soft_impair_add(to_soft(dev), &rule);
	return err ?: count;
}

static DEVICE_ATTR_ADMIN_RW(impair);

static ssize_t cc_params_show(struct device *dev, struct device_attribute *attr,
			      char *buf)
{
	struct ornic_soft *soft = to_soft(dev);
	ssize_t len = 0;
	u32 i;

	for (i = 0; i < ORNIC_CC_PARAM_COUNT; i++)
		len += sysfs_emit_at(buf, len, "%s %u\n",
				     ornic_cc_param_infos[i].name,
				     ornic_engine_cc_get(soft->engine, i));
	return len;
}

/* The parameter whose name is the first @len bytes of @name; COUNT if none is. */
static u32 cc_param_find(const char *name, size_t len)
{
	const char *have;
	u32 i;

	for (i = 0; i < ORNIC_CC_PARAM_COUNT; i++) {
		have = ornic_cc_param_infos[i].name;
		if (strlen(have) == len && !memcmp(have, name, len))
			break;
	}
	return i;
}

static ssize_t cc_params_store(struct device *dev,
			       struct device_attribute *attr, const char *buf,
			       size_t count)
{
	size_t len = strcspn(buf, " ");
	u32 value;
	int err;

	if (!capable(CAP_NET_ADMIN))
		return -EPERM;
	if (!buf[len])
		return -EINVAL;
	err = kstrtou32(buf + len + 1, 0, &value);
	if (!err)
		err = ornic_engine_cc_set(to_soft(dev)->engine,
					  cc_param_find(buf, len), value);
	return err ?: count;
}

static DEVICE_ATTR_RW(cc_params);

static ssize_t spray_show(struct device *dev, struct device_attribute *attr,
			  char *buf)
{
	return sysfs_emit(buf, "%u\n",
			  ornic_engine_spray_get(to_soft(dev)->engine));
}

static ssize_t spray_store(struct device *dev, struct device_attribute *attr,
			   const char *buf, size_t count)
{
	u32 paths;
	int err;

	if (!capable(CAP_NET_ADMIN))
		return -EPERM;
	err = kstrtou32(buf, 0, &paths);
	if (!err)
		err = ornic_engine_spray_set(to_soft(dev)->engine, paths);
	return err ?: count;
}

static DEVICE_ATTR_RW(spray);

/* Anybody may read it, as ports/1/pkeys of the ib_device. */
static ssize_t pkeys_show(struct device *dev, struct device_attribute *attr,
			  char *buf)
{
	struct ornic_soft *soft = to_soft(dev);
	ssize_t len = 0;
	int pkey;
	u32 i;

	for (i = 0; (pkey = ornic_engine_pkey_get(soft->engine, i)) >= 0; i++) {
		if (pkey)
			len += sysfs_emit_at(buf, len, "%u 0x%04x\n", i, pkey);
	}
	return len;
}

/* Returns -EINVAL unless @text is two numbers, with blanks between them. */
static int parse_pkey(const char *text, u32 *index, u16 *pkey)
{
	char number[12];
	size_t len = strcspn(text, " ");

	if (!text[len] || len >= sizeof(number))
		return -EINVAL;
	memcpy(number, text, len);
	number[len] = 0;
	if (kstrtou32(number, 0, index) ||
	    kstrtou16(skip_spaces(text + len), 0, pkey))
		return -EINVAL;
	return 0;
}

static ssize_t pkeys_store(struct device *dev, struct device_attribute *attr,
			   const char *buf, size_t count)
{
	u32 index;
	u16 pkey;
	int err;

	if (!capable(CAP_NET_ADMIN))
		return -EPERM;
	err = parse_pkey(buf, &index, &pkey);
	if (!err)
		err = ornic_engine_pkey_set(to_soft(dev)->engine, index, pkey);
	return err ?: count;
}

static DEVICE_ATTR_RW(pkeys);

/* clang-format off */
static struct attribute *attrs[] = {
	&dev_attr_poll_thread.attr,
	&dev_attr_busy_poll_us.attr,
	&flag_attr_rx_fast_path.attr.attr,
	&flag_attr_direct.attr.attr,
	&flag_attr_direct_bridge.attr.attr,
	&flag_attr_rx_queues.attr.attr,
	&dev_attr_loopback.attr,
	&dev_attr_cc_params.attr,
	&dev_attr_spray.attr,
	&dev_attr_pkeys.attr,
	&dev_attr_impair.attr,
	NULL,
};

/* clang-format on */

const struct attribute_group ornic_soft_attr_group = {
	.attrs = attrs,
};
