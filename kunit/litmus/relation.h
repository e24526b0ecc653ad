/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
// Relations between the events of an execution, and their algebra as in cat, the
// language of herd7's models.
#pragma once

#include <array>
#include <cstdint>

namespace litmus
{

constexpr int max_events = 32;

/** A set of events. */
using event_set = std::uint32_t;

class relation {
public:
	void add(int from, int to)
	{
		row_[from] |= event_set{ 1 } << to;
	}
	bool has(int from, int to) const
	{
		return row_[from] >> to & 1;
	}

	relation operator|(const relation &other) const
	{
		relation out;

		for (int i = 0; i < max_events; i++)
			out.row_[i] = row_[i] | other.row_[i];
		return out;
	}
	relation operator&(const relation &other) const
	{
		relation out;

		for (int i = 0; i < max_events; i++)
			out.row_[i] = row_[i] & other.row_[i];
		return out;
	}
	/** First this, then @other. */
	relation then(const relation &other) const
	{
		relation out;

		for (int i = 0; i < max_events; i++)
			for (int j = 0; j < max_events; j++)
				if (has(i, j))
					out.row_[i] |= other.row_[j];
		return out;
	}
	/** [@from] ; this ; [@to] */
	relation between(event_set from, event_set to) const
	{
		relation out;

		for (int i = 0; i < max_events; i++)
			if (from >> i & 1)
				out.row_[i] = row_[i] & to;
		return out;
	}
	relation inverse() const
	{
		relation out;

		for (int i = 0; i < max_events; i++)
			for (int j = 0; j < max_events; j++)
				if (has(i, j))
					out.add(j, i);
		return out;
	}
	/** this? */
	relation or_same() const
	{
		relation out = *this;

		for (int i = 0; i < max_events; i++)
			out.add(i, i);
		return out;
	}
	relation not_same() const
	{
		relation out = *this;

		for (int i = 0; i < max_events; i++)
			out.row_[i] &= ~(event_set{ 1 } << i);
		return out;
	}
	/** this+ */
	relation closure() const
	{
		relation out = *this;

		for (int k = 0; k < max_events; k++)
			for (int i = 0; i < max_events; i++)
				if (out.has(i, k))
					out.row_[i] |= out.row_[k];
		return out;
	}
	bool empty() const
	{
		for (event_set row : row_)
			if (row)
				return false;
		return true;
	}
	bool acyclic() const
	{
		relation all = closure();

		for (int i = 0; i < max_events; i++)
			if (all.has(i, i))
				return false;
		return true;
	}

private:
	std::array<event_set, max_events> row_{};
};

} // namespace litmus
