/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* JSON output for the control socket. */
#ifndef ORNIC_NIC_JSON_H
#define ORNIC_NIC_JSON_H

#include <string>

#include "base.h"

namespace nic
{

class json_object {
public:
	void add(const char *key, u64 value);
	void add(const char *key, u32 value)
	{
		add(key, static_cast<u64>(value));
	}
	void add(const char *key, int value)
	{
		add(key, static_cast<u64>(value));
	}
	void add(const char *key, bool value);
	void add(const char *key, double value);
	void add(const char *key, const std::string &value);
	void add(const char *key, const char *value)
	{
		add(key, std::string(value));
	}
	/** @value is JSON text. */
	void add_raw(const char *key, const std::string &value);
	std::string text() const
	{
		return "{" + text_ + "}";
	}

private:
	std::string text_;
};

/** @text quoted and escaped. */
std::string json_string(const std::string &text);

/** Name of a statistic of the engine, as `rdma statistic` has it. */
const char *stat_name(u32 stat);

} // namespace nic

#endif // ORNIC_NIC_JSON_H
