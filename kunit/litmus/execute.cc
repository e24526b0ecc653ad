// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
// All executions of a litmus test: what each thread does for each value that its
// reads may return, then each way in which the reads can have got them.
#include <algorithm>
#include <set>
#include <stdexcept>

#include "execution.h"

namespace litmus
{

namespace
{

// One way through a thread.
struct path {
	std::vector<event> events;
	std::vector<int> regs;
};

class walker {
public:
	walker(int index, const thread &code,
	       const std::vector<std::set<int>> &values)
		: index_(index)
		, values_(values)
	{
		state s;

		s.done.regs.assign(code.regs.size(), 0);
		s.taint.assign(code.regs.size(), 0);
		enqueue(s, code.code, 0);
		walk(std::move(s));
	}

	std::vector<path> paths;

private:
	struct pending {
		const statement *what;
		event_set ctrl;
	};

	struct state {
		path done;
		std::vector<event_set> taint; // reads that a register is from
		std::vector<pending> todo; // the last is next
	};

	static void enqueue(state &s, const std::vector<statement> &code,
			    event_set ctrl)
	{
		for (auto it = code.rbegin(); it != code.rend(); ++it)
			s.todo.push_back({ &*it, ctrl });
	}

	static int value(const state &s, const operand &o)
	{
		return o.is_reg ? s.done.regs[o.value] : o.value;
	}
	static event_set taint(const state &s, const operand &o)
	{
		return o.is_reg ? s.taint[o.value] : 0;
	}

	event &add(state &s, event::kind what, const pending &p)
	{
		event e;

		e.what = what;
		e.how = p.what->how == order::FULL ? order::ONCE : p.what->how;
		e.thread = index_;
		e.loc = p.what->loc;
		e.ctrl = p.ctrl;
		s.done.events.push_back(e);
		return s.done.events.back();
	}

	void add_full(state &s, const pending &p)
	{
		event &e = add(s, event::FENCE, p);

		e.how = order::MB;
		e.loc = -1;
	}

	void write(state &s, const pending &p, const operand &what, int rmw_of)
	{
		event &e = add(s, event::WRITE, p);

		e.value = value(s, what);
		e.data = taint(s, what);
		e.rmw_of = rmw_of;
	}

	// Go on with each value that the location can have.
	void read(const state &s, const pending &p)
	{
		for (int value : values_[p.what->loc]) {
			state next = s;

			read_value(next, p, value);
			walk(std::move(next));
		}
	}

	void read_value(state &s, const pending &p, int got)
	{
		const statement &st = *p.what;
		bool writes = st.what == op::EXCHANGE ||
			      (st.what == op::COMPARE && got == value(s, st.a));
		bool full = writes && st.how == order::FULL;
		int self;

		if (full)
			add_full(s, p);
		add(s, event::READ, p).value = got;
		self = static_cast<int>(s.done.events.size()) - 1;
		if (writes)
			write(s, p, st.what == op::EXCHANGE ? st.a : st.b,
			      self);
		if (full)
			add_full(s, p);
		s.done.regs[st.reg] = got;
		s.taint[st.reg] = event_set{ 1 } << self;
	}

	void branch(state &s, const pending &p)
	{
		const statement &st = *p.what;
		bool equal = value(s, st.a) == value(s, st.b);

		enqueue(s, equal == st.equal ? st.then : st.otherwise,
			p.ctrl | taint(s, st.a) | taint(s, st.b));
	}

	void walk(state s)
	{
		while (!s.todo.empty()) {
			pending p = s.todo.back();

			s.todo.pop_back();
			switch (p.what->what) {
			case op::FENCE:
				add(s, event::FENCE, p);
				break;
			case op::WRITE:
				write(s, p, p.what->a, -1);
				break;
			case op::IF:
				branch(s, p);
				break;
			default:
				read(s, p);
				return;
			}
		}
		paths.push_back(std::move(s.done));
	}

	int index_;
	const std::vector<std::set<int>> &values_;
};

void add_values(const std::vector<statement> &code, std::set<int> &all,
		std::vector<std::set<int>> &of)
{
	for (const statement &s : code) {
		for (const operand &o : { s.a, s.b })
			if (!o.is_reg)
				all.insert(o.value);
		if (s.loc >= 0) {
			const operand &o = s.what == op::COMPARE ? s.b : s.a;

			if (s.what != op::READ && !o.is_reg)
				of[s.loc].insert(o.value);
			if (s.what != op::READ && o.is_reg)
				of[s.loc].insert(-1);
		}
		add_values(s.then, all, of);
		add_values(s.otherwise, all, of);
	}
}

// What each location can hold; that of a register can be any value.
std::vector<std::set<int>> values_of(const program &test)
{
	std::vector<std::set<int>> of(test.locs.size());
	std::set<int> all{ 0 };

	for (std::size_t loc = 0; loc < of.size(); loc++) {
		auto init = test.init.find(static_cast<int>(loc));

		of[loc].insert(init == test.init.end() ? 0 : init->second);
	}
	for (const thread &t : test.threads)
		add_values(t.code, all, of);
	for (std::set<int> &values : of) {
		if (values.erase(-1))
			values.insert(all.begin(), all.end());
	}
	return of;
}

// Connects one path of each thread.
class connector {
public:
	explicit connector(const program &test)
		: test_(test)
		, values_(values_of(test))
	{
		for (std::size_t i = 0; i < test.threads.size(); i++)
			paths_.push_back(walker(static_cast<int>(i),
						test.threads[i], values_)
						 .paths);
		taken_.resize(paths_.size());
	}

	bool any()
	{
		return take_path(0);
	}

private:
	bool take_path(std::size_t t)
	{
		if (t == paths_.size())
			return start();
		return std::any_of(paths_[t].begin(), paths_[t].end(),
				   [&](const path &p) {
					   taken_[t] = &p;
					   return take_path(t + 1);
				   });
	}

	// Events are numbered from the initial values on.
	bool start()
	{
		x_ = {};
		for (std::size_t loc = 0; loc < test_.locs.size(); loc++) {
			event e;

			e.what = event::WRITE;
			e.loc = static_cast<int>(loc);
			e.value = initial(e.loc);
			x_.events.push_back(e);
		}
		for (const path *p : taken_)
			append(*p);
		if (x_.events.size() > max_events)
			throw std::runtime_error("too many events");
		return read_from(0);
	}

	int initial(int loc) const
	{
		auto found = test_.init.find(loc);

		return found == test_.init.end() ? 0 : found->second;
	}

	void append(const path &p)
	{
		int base = static_cast<int>(x_.events.size());

		for (event e : p.events) {
			e.data <<= base;
			e.ctrl <<= base;
			if (e.rmw_of >= 0)
				e.rmw_of += base;
			x_.events.push_back(e);
		}
	}

	bool read_from(std::size_t i)
	{
		if (i == x_.events.size())
			return order_writes(0);
		if (x_.events[i].what != event::READ)
			return read_from(i + 1);
		for (std::size_t w = 0; w < x_.events.size(); w++) {
			relation before = x_.rf;

			if (x_.events[w].what != event::WRITE ||
			    x_.events[w].loc != x_.events[i].loc ||
			    x_.events[w].value != x_.events[i].value)
				continue;
			x_.rf.add(static_cast<int>(w), static_cast<int>(i));
			if (read_from(i + 1))
				return true;
			x_.rf = before;
		}
		return false;
	}

	bool order_writes(int loc)
	{
		std::vector<int> writes;
		int n = static_cast<int>(x_.events.size());

		if (loc == static_cast<int>(test_.locs.size()))
			return holds(test_.exists) && is_allowed(x_);
		for (int i = loc + 1; i < n; i++)
			if (x_.events[i].what == event::WRITE &&
			    x_.events[i].thread >= 0 && x_.events[i].loc == loc)
				writes.push_back(i);
		last_.resize(test_.locs.size());
		do {
			relation before = x_.co;

			chain(loc, writes);
			if (order_writes(loc + 1))
				return true;
			x_.co = before;
		} while (std::next_permutation(writes.begin(), writes.end()));
		return false;
	}

	void chain(int loc, const std::vector<int> &writes)
	{
		last_[loc] = loc;
		for (std::size_t i = 0; i < writes.size(); i++) {
			x_.co.add(loc, writes[i]);
			for (std::size_t j = i + 1; j < writes.size(); j++)
				x_.co.add(writes[i], writes[j]);
			last_[loc] = writes[i];
		}
	}

	bool holds(const condition &c) const
	{
		auto part = [this](const condition &p) { return holds(p); };

		switch (c.what) {
		case condition::AND:
			return std::all_of(c.parts.begin(), c.parts.end(),
					   part);
		case condition::OR:
			return std::any_of(c.parts.begin(), c.parts.end(),
					   part);
		case condition::NOT:
			return !holds(c.parts[0]);
		case condition::REG:
			return taken_[c.thread]->regs[c.index] == c.value;
		case condition::LOC:
			return x_.events[last_[c.index]].value == c.value;
		}
		return false;
	}

	const program &test_;
	std::vector<std::set<int>> values_;
	std::vector<std::vector<path>> paths_;
	std::vector<const path *> taken_;
	execution x_;
	std::vector<int> last_; // write of each location
};

} // namespace

bool reachable(const program &test)
{
	return connector(test).any();
}

} // namespace litmus
