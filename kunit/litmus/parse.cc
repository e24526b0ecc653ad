// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
// The part of herd7's litmus language for C that the tests use.
#include <algorithm>
#include <cctype>
#include <fstream>
#include <sstream>
#include <stdexcept>

#include "program.h"

namespace litmus
{

namespace
{

struct token {
	std::string text;
	int line;
};

// Comments are (* *) before the code, where "Result:" names what is expected, and
// those of C++ in it.
class lexer {
public:
	explicit lexer(std::string text)
		: text_(std::move(text))
	{
	}

	std::vector<token> all()
	{
		std::vector<token> out;

		while (skip())
			out.push_back({ next(), line_ });
		out.push_back({ "", line_ });
		return out;
	}

	std::string result;

private:
	bool at(const char *what) const
	{
		return text_.compare(pos_, std::char_traits<char>::length(what),
				     what) == 0;
	}

	void step()
	{
		if (text_[pos_++] == '\n')
			line_++;
	}

	bool skip()
	{
		while (pos_ < text_.size()) {
			if (at("//"))
				pos_ = std::min(text_.find('\n', pos_),
						text_.size());
			else if (!in_code_ && at("(*"))
				skip_comment();
			else if (std::isspace(text_[pos_]))
				step();
			else
				return true;
		}
		return false;
	}

	void skip_comment()
	{
		std::size_t begin = pos_;

		while (pos_ < text_.size() && !at("*)"))
			step();
		pos_ = std::min(pos_ + 2, text_.size());

		std::istringstream words(text_.substr(begin, pos_ - begin));
		std::string word;

		while (words >> word)
			if (word == "Result:")
				words >> result;
	}

	static bool in_name(char c)
	{
		return std::isalnum(c) || c == '_' || c == '-' || c == '+';
	}

	std::string next()
	{
		std::size_t begin = pos_;

		// From here on "(*" is a pointer in parentheses.
		in_code_ |= at("{");

		for (const char *two : { "/\\", "\\/", "==", "!=" }) {
			if (at(two)) {
				pos_ += 2;
				return two;
			}
		}
		while (pos_ < text_.size() && in_name(text_[pos_]))
			pos_++;
		if (pos_ == begin)
			pos_++;
		return text_.substr(begin, pos_ - begin);
	}

	std::string text_;
	std::size_t pos_ = 0;
	int line_ = 1;
	bool in_code_ = false;
};

class parser {
public:
	parser(std::vector<token> tokens, program &out)
		: tokens_(std::move(tokens))
		, out_(out)
	{
	}

	void test()
	{
		expect("C");
		out_.name = take();
		expect("{");
		while (!accept("}"))
			initial();
		while (peek() == "P" + std::to_string(out_.threads.size()))
			whole_thread();
		expect("exists");
		out_.exists = any();
		if (!peek().empty())
			fail("end of the file expected");
	}

private:
	[[noreturn]] void fail(const std::string &why) const
	{
		throw std::runtime_error(std::to_string(line()) + ": " + why +
					 ", not '" + peek() + "'");
	}

	const std::string &peek() const
	{
		return tokens_[at_].text;
	}
	int line() const
	{
		return tokens_[at_].line;
	}
	std::string take()
	{
		return tokens_[at_ + 1 < tokens_.size() ? at_++ : at_].text;
	}
	bool accept(const std::string &what)
	{
		if (peek() != what)
			return false;
		take();
		return true;
	}
	void expect(const std::string &what)
	{
		if (!accept(what))
			fail("'" + what + "' expected");
	}

	int number()
	{
		if (!is_number())
			fail("number expected");
		return std::stoi(take());
	}
	bool is_number() const
	{
		return !peek().empty() && std::isdigit(peek()[0]);
	}

	static int index_of(std::vector<std::string> &names,
			    const std::string &name)
	{
		auto found = std::find(names.begin(), names.end(), name);

		if (found == names.end())
			found = names.insert(names.end(), name);
		return static_cast<int>(found - names.begin());
	}

	int loc_named(const std::string &name)
	{
		return index_of(out_.locs, name);
	}

	int known_reg(const thread &t, const std::string &name)
	{
		auto found = std::find(t.regs.begin(), t.regs.end(), name);

		if (found == t.regs.end())
			fail("no register '" + name + "' before this");
		return static_cast<int>(found - t.regs.begin());
	}

	void initial()
	{
		int loc = loc_named(take());

		expect("=");
		out_.init[loc] = number();
		expect(";");
	}

	void whole_thread()
	{
		out_.threads.emplace_back();
		take();
		expect("(");
		do {
			expect("int");
			expect("*");
			loc_named(take());
		} while (accept(","));
		expect(")");
		out_.threads.back().code = block();
	}

	std::vector<statement> block()
	{
		std::vector<statement> out;

		expect("{");
		while (!accept("}")) {
			if (accept("int"))
				declaration();
			else
				out.push_back(one());
		}
		return out;
	}

	void declaration()
	{
		index_of(out_.threads.back().regs, take());
		expect(";");
	}

	// "*x" or "x": a location is a parameter of the thread.
	int location()
	{
		accept("*");
		auto found =
			std::find(out_.locs.begin(), out_.locs.end(), peek());

		if (found == out_.locs.end())
			fail("location expected");
		take();
		return static_cast<int>(found - out_.locs.begin());
	}

	operand value()
	{
		if (is_number())
			return { false, number() };
		int reg = known_reg(out_.threads.back(), peek());

		take();
		return { true, reg };
	}

	statement one()
	{
		static const std::map<std::string, order> fences = {
			{ "smp_mb", order::MB },
			{ "smp_wmb", order::WMB },
			{ "smp_rmb", order::RMB },
		};
		statement s;

		s.line = line();
		auto fence = fences.find(peek());

		if (accept("if"))
			return branch(s);
		if (fence != fences.end()) {
			take();
			s.how = fence->second;
			expect("(");
			expect(")");
		} else if (peek() == "WRITE_ONCE" ||
			   peek() == "smp_store_release") {
			store(s);
		} else {
			s.reg = known_reg(out_.threads.back(), peek());
			take();
			expect("=");
			load(s);
		}
		expect(";");
		return s;
	}

	void store(statement &s)
	{
		s.what = op::WRITE;
		s.how = take() == "WRITE_ONCE" ? order::ONCE : order::RELEASE;
		expect("(");
		s.loc = location();
		expect(",");
		s.a = value();
		expect(")");
	}

	void load(statement &s)
	{
		struct access {
			op what;
			order how;
			int values;
		};
		static const std::map<std::string, access> known = {
			{ "READ_ONCE", { op::READ, order::ONCE, 0 } },
			{ "smp_load_acquire", { op::READ, order::ACQUIRE, 0 } },
			{ "xchg", { op::EXCHANGE, order::FULL, 1 } },
			{ "xchg_relaxed", { op::EXCHANGE, order::ONCE, 1 } },
			{ "cmpxchg", { op::COMPARE, order::FULL, 2 } },
			{ "cmpxchg_relaxed", { op::COMPARE, order::ONCE, 2 } },
		};
		auto found = known.find(peek());

		if (found == known.end())
			fail("access expected");
		take();
		s.what = found->second.what;
		s.how = found->second.how;
		expect("(");
		s.loc = location();
		for (int i = 0; i < found->second.values; i++) {
			expect(",");
			(i ? s.b : s.a) = value();
		}
		expect(")");
	}

	statement branch(statement s)
	{
		s.what = op::IF;
		expect("(");
		s.a = value();
		s.equal = peek() == "==";
		if (!s.equal && peek() != "!=")
			fail("comparison expected");
		take();
		s.b = value();
		expect(")");
		s.then = block();
		if (accept("else"))
			s.otherwise = block();
		return s;
	}

	condition any()
	{
		condition c{ condition::OR, { all() } };

		while (accept("\\/"))
			c.parts.push_back(all());
		return c;
	}

	condition all()
	{
		condition c{ condition::AND, { single() } };

		while (accept("/\\"))
			c.parts.push_back(single());
		return c;
	}

	condition single()
	{
		condition c;

		if (accept("~"))
			return { condition::NOT, { single() } };
		if (accept("(")) {
			c = any();
			expect(")");
			return c;
		}
		if (is_number()) {
			c.what = condition::REG;
			c.thread = number();
			expect(":");
			if (c.thread >= static_cast<int>(out_.threads.size()))
				fail("no such thread");
			c.index = known_reg(out_.threads[c.thread], take());
		} else {
			c.what = condition::LOC;
			c.index = location();
		}
		expect("=");
		c.value = number();
		return c;
	}

	std::vector<token> tokens_;
	std::size_t at_ = 0;
	program &out_;
};

} // namespace

program parse_file(const std::string &path)
{
	std::ifstream file(path);
	std::stringstream text;
	program out;

	if (!file)
		throw std::runtime_error(path + ": cannot be read");
	text << file.rdbuf();
	lexer words(text.str());

	try {
		parser(words.all(), out).test();
	} catch (const std::runtime_error &e) {
		throw std::runtime_error(path + ":" + e.what());
	}
	out.result = words.result;
	return out;
}

} // namespace litmus
