// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
// A run of the model, as it prints it:
//
//	T STANDARD POSTED RETRIES RNR_RETRIES NAK_DELAY KIND:LEN... | EVENT... = E T P
//
// An event is a letter, and of a packet its index, before that the type of a
// response. At the end are the error, complete messages and executed packets.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

namespace replay
{

enum kind { kind_send, kind_write, kind_read, kind_atomic };

struct message {
	int kind;
	int npkts;
};

struct event {
	char what;
	int type; // of a response, else -1
	int index; // of a packet, else -1
};

struct trace {
	int standard = 0;
	int posted = 0;
	int retries = 0;
	int rnr_retries = 0;
	int nak_delay = 0;
	std::vector<message> messages;
	std::vector<event> events;
	// What the model ends with; not of counter-examples, which end in the
	// middle.
	bool ends = false;
	int error = 0;
	int complete = 0;
	int executed = 0;
};

// Nothing for a line that is not a trace.
std::optional<trace> parse(std::string_view line);

} // namespace replay
