// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#include "json.h"

namespace nic
{

void json_object::add_raw(const char *key, const std::string &value)
{
	if (!text_.empty())
		text_ += ", ";
	text_ += json_string(key) + ": " + value;
}

void json_object::add(const char *key, u64 value)
{
	add_raw(key, std::to_string(value));
}

void json_object::add(const char *key, bool value)
{
	add_raw(key, value ? "true" : "false");
}

void json_object::add(const char *key, double value)
{
	add_raw(key, std::to_string(value));
}

void json_object::add(const char *key, const std::string &value)
{
	add_raw(key, json_string(value));
}

std::string json_string(const std::string &text)
{
	std::string out = "\"";
	char code[8];

	for (char c : text) {
		if (c == '"' || c == '\\') {
			out += '\\';
			out += c;
		} else if (static_cast<unsigned char>(c) < 0x20) {
			snprintf(code, sizeof(code), "\\u%04x", c);
			out += code;
		} else {
			out += c;
		}
	}
	return out + '"';
}

const char *stat_name(u32 stat)
{
#define NAME(id, name) #name,
	static const char *const names[] = { ORNIC_STATS(NAME, NAME) };
#undef NAME

	static_assert(std::size(names) == ORNIC_STAT_COUNT);
	return names[stat];
}

} // namespace nic
