// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#include "execution.h"

namespace litmus
{

namespace
{

// The relations have the names that they have in linux-kernel.cat.
class model {
public:
	explicit model(const execution &x)
		: x_(x)
		, n_(static_cast<int>(x.events.size()))
	{
		base();
		dependencies();
		fences();
	}

	bool coherent() const
	{
		return (po_loc_ | x_.rf | x_.co | fr_).acyclic();
	}

	bool atomic() const
	{
		return (rmw_ & external(fr_).then(external(x_.co))).empty();
	}

	bool propagates() const
	{
		relation rfe = external(x_.rf);
		relation overwrite = x_.co | fr_;
		relation rwdep = (data_ | ctrl_).between(all_, writes_);
		relation ppo = data_.then(internal(x_.rf)) | rwdep |
			       internal(overwrite) | mb_ | wmb_ | po_rel_ |
			       rmb_ | acq_po_;
		relation cumul = rfe.or_same().then(mb_ | po_rel_) | wmb_;
		relation prop = external(overwrite)
					.or_same()
					.then(cumul.closure().or_same())
					.then(rfe.or_same());
		relation hb = ppo | rfe | internal(prop.not_same());
		relation pb = prop.then(mb_).then(hb.closure().or_same());

		return hb.acyclic() && pb.acyclic();
	}

private:
	const event &at(int i) const
	{
		return x_.events[i];
	}
	bool same_thread(int i, int j) const
	{
		return at(i).thread >= 0 && at(i).thread == at(j).thread;
	}

	relation select(const relation &r, bool same) const
	{
		relation out;

		for (int i = 0; i < n_; i++)
			for (int j = 0; j < n_; j++)
				if (r.has(i, j) && same_thread(i, j) == same)
					out.add(i, j);
		return out;
	}
	relation internal(const relation &r) const
	{
		return select(r, true);
	}
	relation external(const relation &r) const
	{
		return select(r, false);
	}

	void base()
	{
		for (int i = 0; i < n_; i++) {
			event_set self = event_set{ 1 } << i;

			all_ |= self;
			if (at(i).what == event::READ)
				reads_ |= self;
			if (at(i).what == event::WRITE)
				writes_ |= self;
			for (int j = i + 1; j < n_; j++)
				if (same_thread(i, j))
					in_order(i, j);
		}
		for (int i = 0; i < n_; i++)
			if (at(i).rmw_of >= 0)
				rmw_.add(at(i).rmw_of, i);
		fr_ = x_.rf.inverse().then(x_.co);
	}

	void in_order(int i, int j)
	{
		po_.add(i, j);
		if (at(i).loc >= 0 && at(i).loc == at(j).loc)
			po_loc_.add(i, j);
	}

	void dependencies()
	{
		for (int j = 0; j < n_; j++) {
			for (int i = 0; i < j; i++) {
				if (at(j).data >> i & 1)
					data_.add(i, j);
				if (at(j).ctrl >> i & 1)
					ctrl_.add(i, j);
			}
		}
	}

	// What a fence @f orders: @before in front of it with @after behind.
	relation around(int f, event_set before, event_set after) const
	{
		relation out;

		for (int i = 0; i < f; i++)
			for (int j = f + 1; j < n_; j++)
				if (po_.has(i, f) && po_.has(f, j))
					out.add(i, j);
		return out.between(before, after);
	}

	void fences()
	{
		event_set accesses = reads_ | writes_;

		for (int f = 0; f < n_; f++) {
			switch (at(f).how) {
			case order::MB:
				mb_ = mb_ | around(f, accesses, accesses);
				break;
			case order::WMB:
				wmb_ = wmb_ | around(f, writes_, writes_);
				break;
			case order::RMB:
				rmb_ = rmb_ | around(f, reads_, reads_);
				break;
			case order::ACQUIRE:
				acq_po_ = acq_po_ |
					  po_.between(event_set{ 1 } << f,
						      accesses);
				break;
			case order::RELEASE:
				po_rel_ = po_rel_ |
					  po_.between(accesses,
						      event_set{ 1 } << f);
				break;
			default:
				break;
			}
		}
	}

	const execution &x_;
	int n_;
	event_set all_ = 0, reads_ = 0, writes_ = 0;
	relation po_, po_loc_, fr_, rmw_, data_, ctrl_;
	relation mb_, wmb_, rmb_, acq_po_, po_rel_;
};

} // namespace

bool is_allowed(const execution &x)
{
	model m(x);

	return m.coherent() && m.atomic() && m.propagates();
}

} // namespace litmus
