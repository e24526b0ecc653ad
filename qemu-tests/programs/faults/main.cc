// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * ornic_faults DEVICE GID-INDEX PEER GID-INDEX NETDEV: a life of every object, in
 * which each allocation, and each copy from or to user memory, fails once. The
 * step that it is in must fail with the errno of that fault, or do without; leave
 * no object; and work afterwards.
 */
#include <sys/klog.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "injector.h"
#include "steps.h"

namespace
{

/* What a step does, and what takes it back. */
struct side {
	std::string name;
	std::function<int()> act;
	std::function<int(int)> outcome;
	std::function<int()> back;
	std::function<int(int)> back_outcome;
	std::vector<int> others;
	bool is_undo = false;
};

int run(const std::function<int()> &act, const std::function<int(int)> &outcome)
{
	const int status = act();

	return outcome ? outcome(status) : status;
}

/* Of klogctl(): the C library has no names for them. */
constexpr int klog_read_all = 3, klog_clear = 5;

constexpr unsigned int max_explained = 5;

int errno_of(fault what)
{
	return what == fault::usercopy ? EFAULT : ENOMEM;
}

class runner {
public:
	runner(life &l, bool is_full)
		: life_(l)
		, is_full_(is_full)
		, index_(l.links.find(l.device))
	{
	}
	/* Leaves the step made, for those that follow. */
	void run_step(const step &s);
	void finish() const
	{
		std::printf("%u faults, %u of them absorbed\n", faults_,
			    absorbed_);
		check_equal(failures_, 0u, "wrong results");
	}

private:
	void must(const std::string &name, const std::function<int()> &act,
		  const std::function<int(int)> &outcome) const;
	void judge(const side &s, unsigned int nth, fault what, int status);
	void explain(const side &s, unsigned int nth);
	void fail_each(const side &s, unsigned int stride);

	injector injector_;
	life &life_;
	bool is_full_;
	int index_;
	unsigned int faults_ = 0;
	unsigned int absorbed_ = 0;
	unsigned int failures_ = 0;
};

void runner::must(const std::string &name, const std::function<int()> &act,
		  const std::function<int(int)> &outcome) const
{
	const int status = run(act, outcome);

	check(!status, name + " without a fault: " + std::strerror(status));
}

/* Once more, and the kernel says where the fault was. */
void runner::explain(const side &s, unsigned int nth)
{
	std::string text(1 << 18, ' ');

	klogctl(klog_clear, nullptr, 0);
	injector_.set_verbose(true);
	injector_.arm(nth);
	const int status = s.act();

	injector_.disarm();
	injector_.set_verbose(false);
	if (!(s.outcome ? s.outcome(status) : status) && s.back)
		must(s.name + ", undo", s.back, s.back_outcome);
	const int size = klogctl(klog_read_all, text.data(),
				 static_cast<int>(text.size()));

	std::printf("%.*s\n", std::max(size, 0), text.c_str());
}

void runner::judge(const side &s, unsigned int nth, fault what, int status)
{
	if (status == errno_of(what) ||
	    std::count(s.others.begin(), s.others.end(), status))
		return;
	std::printf("%s, %u fails by %s with %s\n", s.name.c_str(), nth,
		    fault_name(what), std::strerror(status));
	failures_++;
	if (failures_ <= max_explained)
		explain(s, nth);
}

void runner::fail_each(const side &s, unsigned int stride)
{
	const unsigned int before = faults_, absorbed = absorbed_;

	for (unsigned int nth = 1;; nth += stride) {
		const std::vector<std::byte> left = life_.links.objects(index_);
		const std::string name = s.name + ", " + std::to_string(nth);

		injector_.arm(nth);
		int status = s.act();
		const fault what = injector_.disarm();

		if (s.outcome)
			status = s.outcome(status);
		if (what == fault::none) {
			check(!status, name + " without a fault: " +
					       std::strerror(status));
			break;
		}
		faults_++;
		if (status) {
			judge(s, nth, what, status);
			const bool same = life_.links.objects(index_) == left;

			/* uverbs destroys, then copies the response. */
			if (s.is_undo && !same && what == fault::usercopy)
				must(name + ", again", s.back, s.back_outcome);
			else
				check(same, name + " leaves objects");
			continue;
		}
		absorbed_++;
		if (s.back)
			must(name + ", undo", s.back, s.back_outcome);
	}
	std::printf("%s: %u faults, %u absorbed\n", s.name.c_str(),
		    faults_ - before, absorbed_ - absorbed);
}

void runner::run_step(const step &s)
{
	const unsigned int stride = is_full_ && s.stride ? 1 : s.stride;

	if (stride) {
		fail_each({ s.name, s.make, s.made, s.undo, s.undone,
			    s.others },
			  stride);
		if (!s.undo)
			return;
		fail_each({ "undo " + s.name, s.undo, s.undone, s.make, s.made,
			    s.others, true },
			  stride);
	}
	must(s.name, s.make, s.made);
}

void run_all(char **args)
{
	const char *full = std::getenv("FULL");
	life l(args[1], std::atoi(args[2]), args[3], std::atoi(args[4]));
	runner r(l, full && *full == '1');
	std::vector<step> undo;

	for (const auto &part : { object_steps(l), cq_steps(l), queue_steps(l),
				  cm_steps(), link_steps(l, args[5]) })
		for (const step &s : part) {
			r.run_step(s);
			undo.push_back(s);
		}
	for (; !undo.empty(); undo.pop_back()) {
		const step &s = undo.back();

		if (!s.undo)
			continue;
		const int status = run(s.undo, s.undone);

		/* libibverbs counts what only the kernel has destroyed. */
		check(!status || status == EBUSY,
		      "undo " + s.name +
			      " at the end: " + std::strerror(status));
	}
	r.finish();
}

} /* namespace */

int main(int argc, char **argv)
{
	if (argc != 6) {
		std::fprintf(
			stderr,
			"usage: ornic_faults DEVICE GID PEER GID NETDEV\n");
		return 2;
	}
	setvbuf(stdout, nullptr, _IOLBF, 0);
	try {
		run_all(argv);
	} catch (const failure &what) {
		std::printf("%s\n", what.what());
		return 1;
	}
	return 0;
}
