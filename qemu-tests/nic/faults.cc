// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#include "faults.h"

#include "json.h"

namespace nic
{

bool fault_injector::corrupt(bytes f, frame &copy)
{
	if (config_.corrupt <= 0 || !chance(config_.corrupt))
		return false;
	copy.assign(f.begin(), f.end());
	// After the Ethernet header, so that the frame still reaches its receiver.
	copy[min_frame + rng_() % (copy.size() - min_frame)] ^=
		static_cast<u8>(1u << rng_() % 8);
	counts_.corrupted++;
	return true;
}

std::string impairments::parse(const std::string &text, ornic_impair_rule &rule)
{
	ornic_impair_error error;

	if (!ornic_impair_parse(&rule, text.data(),
				static_cast<u32>(text.size()), &error))
		return "";
	return std::string(error.why) + ", at character " +
	       std::to_string(error.at + 1) + ": " +
	       text.substr(error.at, error.len);
}

impairments::impairments()
	: table_(std::make_unique<ornic_impair>())
{
}

impairments::~impairments()
{
	while (take(ORNIC_IMPAIR_TX, U64_MAX) || take(ORNIC_IMPAIR_RX, U64_MAX))
		;
}

std::string impairments::add(const std::string &text)
{
	ornic_impair_rule rule;
	std::string why = parse(text, rule);

	if (why.empty() && ornic_impair_add(table_.get(), &rule))
		why = "there are " + std::to_string(ORNIC_IMPAIR_RULES) +
		      " rules already";
	return why;
}

void impairments::clear()
{
	table_->nrules = 0;
	for (ornic_impair_held &held : table_->held)
		held.when = 0;
}

bool impairments::hold(const ornic_impair_verdict &verdict, arrival &a)
{
	auto kept = std::make_unique<arrival>(a);
	u32 bytes = static_cast<u32>(a.data.size());

	if (!ornic_impair_hold(table_.get(), &verdict, kept.get(), bytes,
			       now_ns()))
		return false;
	(void)kept.release(); // the table has it
	return true;
}

ornic_impair_verdict impairments::apply(ornic_impair_dir dir, arrival &a)
{
	u8 *ip = a.data.data() + a.place.ip;
	u8 *content = a.data.data() + a.place.content;
	const ornic_impair_packet packet = {
		static_cast<u8>(dir), a.place.ipv6, ip, content, a.place.len,
	};
	ornic_impair_verdict verdict =
		ornic_impair_decide(table_.get(), &packet);

	switch (verdict.action) {
	case ORNIC_IMPAIR_DELAY:
	case ORNIC_IMPAIR_SWAP:
		if (!hold(verdict, a))
			verdict.action = ORNIC_IMPAIR_NONE;
		break;
	case ORNIC_IMPAIR_CE:
		ornic_impair_mark_ce(ip, a.place.ipv6);
		break;
	case ORNIC_IMPAIR_CORRUPT:
		content[a.place.len - 1] ^= 1;
		break;
	default:
		break;
	}
	return verdict;
}

std::unique_ptr<arrival> impairments::take(ornic_impair_dir dir, u64 now)
{
	return std::unique_ptr<arrival>(static_cast<arrival *>(
		ornic_impair_take(table_.get(), dir, now)));
}

u64 impairments::next() const
{
	u64 when = ornic_impair_next(table_.get());

	return when == U64_MAX ? 0 : std::max<u64>(when, 1);
}

std::string impairments::json() const
{
	std::string list;

	for (u32 i = 0; i < table_->nrules; i++) {
		const ornic_impair_rule &rule = table_->rule[i];
		json_object o;

		o.add("rule", rule.text);
		o.add("seen", rule.seen);
		o.add("hits", rule.hits);
		o.add("missed", rule.missed);
		list += (list.empty() ? "" : ", ") + o.text();
	}
	return "[" + list + "]";
}

} // namespace nic
