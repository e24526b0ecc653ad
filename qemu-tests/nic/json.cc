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
	static const char *const names[] = {
		"kicks",
		"send_wqes",
		"recv_wqes",
		"cqes",
		"comp_events",
		"tx_packets",
		"tx_bytes",
		"rx_packets",
		"rx_bytes",
		"loop_msgs",
		"loop_bytes",
		"rx_icrc_errors",
		"rx_malformed",
		"rx_no_qp",
		"rx_bad_addr",
		"rx_bad_qkey",
		"rx_bad_pkey",
		"rx_no_wqe",
		"duplicates",
		"out_of_seq",
		"rnr_nak_sent",
		"rnr_nak_rcvd",
		"seq_nak_sent",
		"seq_nak_rcvd",
		"err_nak_sent",
		"err_nak_rcvd",
		"acks_sent",
		"acks_rcvd",
		"timeouts",
		"retries",
		"tx_stalls",
		"tx_errors",
		"rx_too_long",
		"rx_bad_rkey",
		"rx_send_requests",
		"rx_write_requests",
		"rx_read_requests",
		"rx_atomic_requests",
		"rx_ce_packets",
	};

	static_assert(std::size(names) == ORNIC_STAT_COUNT);
	return names[stat];
}

} // namespace nic
