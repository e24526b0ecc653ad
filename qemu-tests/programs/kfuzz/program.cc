// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause

#include "program.h"

#include <algorithm>
#include <cstdlib>
#include <sstream>

#include "../verify/verbs.h"

namespace
{

constexpr std::size_t max_calls = 32;

uint64_t below(random_source &random, uint64_t limit)
{
	return random() % limit;
}

/* Mostly a place or a small number, at times a boundary or anything. */
uint64_t any_value(random_source &random)
{
	switch (below(random, 8)) {
	case 0:
		return (uint64_t{ 1 } << below(random, 64)) - below(random, 3);
	case 1:
		return random();
	case 2:
		return below(random, 256);
	default:
		return below(random, 8);
	}
}

unsigned int any_operation(random_source &random)
{
	static const unsigned int sum = [] {
		unsigned int all = 0;

		for (const operation &o : operations())
			all += o.weight;
		return all;
	}();
	uint64_t left = below(random, sum);
	unsigned int op = 0;

	while (left >= operations()[op].weight)
		left -= operations()[op++].weight;
	return op;
}

call any_call(random_source &random)
{
	call c;

	c.op = any_operation(random);
	for (uint64_t &arg : c.arg)
		arg = any_value(random);
	if (!below(random, 4))
		c.noise = static_cast<uint32_t>(random());
	c.thread = below(random, 4) ? 0 : 1;
	return c;
}

void change(random_source &random, call &c)
{
	switch (below(random, 6)) {
	case 0:
		c.noise = static_cast<uint32_t>(random());
		break;
	case 1:
		c.noise = 0;
		break;
	case 2:
		c.thread = (c.thread + 1) % num_threads;
		break;
	default:
		c.arg[below(random, c.arg.size())] = any_value(random);
	}
}

void mutate_once(random_source &random, program &p, const program &other)
{
	const auto at = [&] {
		return p.begin() +
		       static_cast<std::ptrdiff_t>(below(random, p.size()));
	};

	if (p.empty() || !below(random, 3)) {
		p.insert(p.empty() ? p.end() : at() + 1, any_call(random));
		return;
	}
	switch (below(random, 6)) {
	case 0:
		p.erase(at());
		break;
	case 1: {
		const call copy = *at();

		p.insert(at(), copy);
		break;
	}
	case 2:
		std::iter_swap(at(), at());
		break;
	case 3:
		p.erase(at(), p.end());
		p.insert(p.end(), other.begin(), other.end());
		break;
	default:
		change(random, *at());
	}
}

unsigned int operation_named(const std::string &name)
{
	const auto &all = operations();
	const auto found =
		std::find_if(all.begin(), all.end(), [&](const operation &o) {
			return name == o.name;
		});

	check(found != all.end(), "no operation " + name);
	return static_cast<unsigned int>(found - all.begin());
}

call to_call(const std::string &word)
{
	const std::size_t open = word.find('(');
	call c;

	check(open != std::string::npos, "no call: " + word);
	c.op = operation_named(word.substr(0, open));
	const char *next = word.c_str() + open;
	for (std::size_t i = 0; *next && *next != ')'; i++) {
		char *end;
		const uint64_t value = std::strtoull(next + 1, &end, 0);

		if (i < c.arg.size())
			c.arg[i] = value;
		next = end;
		check(*next == ',' || *next == ')', "arguments of " + word);
	}
	const std::size_t noise = word.find('!'), thread = word.find('@');
	if (noise != std::string::npos)
		c.noise = static_cast<uint32_t>(
			std::strtoul(word.c_str() + noise + 1, nullptr, 0));
	if (thread != std::string::npos)
		c.thread = std::strtoul(word.c_str() + thread + 1, nullptr, 0) %
			   num_threads;
	return c;
}

} /* namespace */

std::string to_text(const program &p)
{
	std::ostringstream text;

	for (const call &c : p) {
		text << (&c == p.data() ? "" : " ") << operations()[c.op].name;
		for (std::size_t i = 0; i < c.arg.size(); i++)
			text << (i ? ',' : '(') << c.arg[i];
		text << ')';
		if (c.noise)
			text << '!' << c.noise;
		if (c.thread)
			text << '@' << c.thread;
	}
	return text.str();
}

program to_program(const std::string &text)
{
	std::istringstream words(text);
	std::string word;
	program p;

	while (words >> word)
		p.push_back(to_call(word));
	return p;
}

program mutate(random_source &random, const program &p, const program &other)
{
	program mutant = p;

	for (uint64_t n = 1 + below(random, 4); n > 0; n--)
		mutate_once(random, mutant, other);
	if (mutant.size() > max_calls)
		mutant.resize(max_calls);
	return mutant;
}
