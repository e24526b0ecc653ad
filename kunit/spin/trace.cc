// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#include "trace.h"

#include <cctype>
#include <charconv>

namespace replay
{

namespace
{

class words {
public:
	explicit words(std::string_view text)
		: text_(text)
	{
	}

	// Empty at the end.
	std::string_view next()
	{
		size_t from = text_.find_first_not_of(" \t\n");

		if (from == std::string_view::npos)
			return {};
		text_.remove_prefix(from);

		std::string_view word =
			text_.substr(0, text_.find_first_of(" \t\n"));

		text_.remove_prefix(word.size());
		return word;
	}

private:
	std::string_view text_;
};

// The number at the beginning, which is taken away; -1 if there is none.
int take_number(std::string_view &text)
{
	int n = -1;
	auto [end, error] =
		std::from_chars(text.data(), text.data() + text.size(), n);

	if (error != std::errc())
		return -1;
	text.remove_prefix(static_cast<size_t>(end - text.data()));
	return n;
}

int number(std::string_view text)
{
	int n = take_number(text);

	return text.empty() ? n : -1;
}

bool parse_message(std::string_view word, trace &t)
{
	message m{ take_number(word), 0 };

	if (word.empty() || word[0] != ':')
		return false;
	word.remove_prefix(1);
	m.npkts = number(word);
	t.messages.push_back(m);
	return m.kind >= 0 && m.kind <= kind_atomic && m.npkts > 0 &&
	       m.npkts <= 3;
}

bool parse_event(std::string_view word, trace &t)
{
	event e{ word[0], -1, -1 };

	// That a round trip has passed, which has no time here.
	if (e.what == '*')
		return true;
	word.remove_prefix(1);
	e.index = take_number(word);
	if (!word.empty() && word[0] == '.') {
		word.remove_prefix(1);
		e.type = e.index;
		e.index = take_number(word);
	}
	t.events.push_back(e);
	return word.empty() && std::isalpha(static_cast<unsigned char>(e.what));
}

} // namespace

std::optional<trace> parse(std::string_view line)
{
	words in(line);
	std::string_view word;
	trace t;

	if (in.next() != "T")
		return {};
	for (int *n : { &t.standard, &t.posted, &t.retries, &t.rnr_retries,
			&t.nak_delay })
		*n = number(in.next());
	for (word = in.next(); !word.empty() && word != "|"; word = in.next())
		if (!parse_message(word, t))
			return {};
	if (word.empty() || t.messages.empty())
		return {};
	for (word = in.next(); !word.empty() && word != "="; word = in.next())
		if (!parse_event(word, t))
			return {};
	t.ends = word == "=";
	if (t.ends) {
		t.error = number(in.next());
		t.complete = number(in.next());
		t.executed = number(in.next());
	}
	return t;
}

} // namespace replay
