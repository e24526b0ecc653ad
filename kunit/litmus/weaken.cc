// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#include "program.h"

namespace litmus
{

namespace
{

const char *name_of(const statement &s)
{
	switch (s.how) {
	case order::MB:
		return "smp_mb()";
	case order::WMB:
		return "smp_wmb()";
	case order::RMB:
		return "smp_rmb()";
	case order::ACQUIRE:
		return "acquire";
	case order::RELEASE:
		return "release";
	case order::FULL:
		return s.what == op::EXCHANGE ? "order of xchg()" :
						"order of cmpxchg()";
	default:
		return "dependency";
	}
}

bool has_write(const std::vector<statement> &code)
{
	for (const statement &s : code)
		if (s.what == op::WRITE)
			return true;
	return false;
}

// Walks over all code of a test, and calls back for what can be weakened.
class weakener {
public:
	explicit weakener(const program &test)
		: changed_(test)
	{
	}

	std::vector<weaker> all()
	{
		for (std::size_t t = 0; t < changed_.threads.size(); t++) {
			thread_ = t;
			each(changed_.threads[t].code);
		}
		return std::move(out_);
	}

private:
	void emit(const statement &s, const char *left)
	{
		std::string what = name_of(s);

		what += " of P" + std::to_string(thread_) + ", line " +
			std::to_string(s.line);
		if (*left)
			what += std::string(", where there is only ") + left;
		out_.push_back({ changed_, what });
	}

	void each(std::vector<statement> &code)
	{
		for (std::size_t i = 0; i < code.size(); i++) {
			one(code, i);
			each(code[i].then);
			each(code[i].otherwise);
		}
	}

	void one(std::vector<statement> &code, std::size_t i)
	{
		const statement was = code[i];

		if (was.what == op::FENCE) {
			code.erase(code.begin() + static_cast<long>(i));
			emit(was, "");
			code.insert(code.begin() + static_cast<long>(i), was);
			if (was.how == order::MB) {
				with(code[i], order::WMB, "smp_wmb()");
				with(code[i], order::RMB, "smp_rmb()");
			}
		} else if (was.how != order::ONCE) {
			with(code[i], order::ONCE, "");
		} else if (was.what == op::IF && was.otherwise.empty() &&
			   has_write(was.then)) {
			unconditional(code, i);
		}
	}

	void with(statement &s, order how, const char *left)
	{
		statement was = s;

		s.how = how;
		emit(was, left);
		s = was;
	}

	void unconditional(std::vector<statement> &code, std::size_t i)
	{
		std::vector<statement> saved = code;
		const statement was = code[i];

		code.erase(code.begin() + static_cast<long>(i));
		code.insert(code.begin() + static_cast<long>(i),
			    was.then.begin(), was.then.end());
		emit(was, "");
		code = std::move(saved);
	}

	program changed_;
	std::vector<weaker> out_;
	std::size_t thread_ = 0;
};

} // namespace

std::vector<weaker> weaken(const program &test)
{
	return weakener(test).all();
}

} // namespace litmus
