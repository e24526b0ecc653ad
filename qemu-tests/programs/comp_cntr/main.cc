// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * ornic_comp_cntr DEVICE GID-INDEX: completion counters of the kernel, by its ioctls,
 * since the libibverbs here may be older. Exits with 77 if the kernel has none.
 * ornic_comp_cntr DEVICE GID-INDEX leave: ends without giving them back.
 */
#include <rdma/ib_user_ioctl_cmds.h>
#include <rdma/rdma_user_ioctl_cmds.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <initializer_list>
#include <string>
#include <thread>

#include "../verify/verbs.h"

#include <rdma/ornic-abi.h>
#include <rdma/ornic-hw.h>

namespace
{

// Kernel headers may not have them yet.
enum : uint16_t {
	OBJECT_COMP_CNTR = 19,
	METHOD_CREATE = 0,
	METHOD_DESTROY = 1,
	METHOD_MODIFY = 2,
	METHOD_READ = 3,
	METHOD_QP_ATTACH = 2,
	METHOD_QUERY_CAPS = 8,
};

constexpr int no_counters = 77;

ib_uverbs_attr object(uint16_t id, uint32_t handle)
{
	ib_uverbs_attr attr = {};

	attr.attr_id = id;
	attr.flags = UVERBS_ATTR_F_MANDATORY;
	attr.data = handle;
	return attr;
}

ib_uverbs_attr in(uint16_t id, uint16_t size, uint64_t value)
{
	ib_uverbs_attr attr = object(id, 0);

	attr.len = size;
	attr.data = value;
	return attr;
}

ib_uverbs_attr out(uint16_t id, uint16_t size, void *to)
{
	return in(id, size, reinterpret_cast<uintptr_t>(to));
}

/* 0, or an errno; the handle of a new object is in the first attribute. */
int method(const port &on, uint16_t object_id, uint16_t method_id,
	   std::initializer_list<ib_uverbs_attr> attrs,
	   uint32_t *made = nullptr)
{
	std::array<unsigned char, 256> bytes = {};
	ib_uverbs_ioctl_hdr hdr = {};
	ib_uverbs_attr first = {};

	hdr.length = static_cast<uint16_t>(sizeof(hdr) +
					   attrs.size() * sizeof(first));
	hdr.object_id = object_id;
	hdr.method_id = method_id;
	hdr.num_attrs = static_cast<uint16_t>(attrs.size());
	std::memcpy(bytes.data(), &hdr, sizeof(hdr));
	std::memcpy(bytes.data() + sizeof(hdr), attrs.begin(),
		    attrs.size() * sizeof(first));
	if (ioctl(on.context->cmd_fd, RDMA_VERBS_IOCTL, bytes.data()))
		return errno;
	std::memcpy(&first, bytes.data() + sizeof(hdr), sizeof(first));
	if (made)
		*made = static_cast<uint32_t>(first.data);
	return 0;
}

enum entry { COMPLETIONS = ORNIC_CNTR_COMPLETIONS, ERRORS = ORNIC_CNTR_ERRORS };

class counter {
public:
	explicit counter(const port &p)
		: on_(p)
	{
		ornic_create_comp_cntr_resp answer = {};

		check_equal(method(on_, OBJECT_COMP_CNTR, METHOD_CREATE,
				   { object(0, 0),
				     out(ORNIC_ATTR_CREATE_COMP_CNTR_RESP,
					 sizeof(answer), &answer) },
				   &handle),
			    0, "create");
		offset_ = static_cast<off_t>(answer.mmap_offset);
		size_ = answer.mmap_size;
		void *at = mmap(nullptr, size_, PROT_READ, MAP_SHARED,
				on_.context->cmd_fd, offset_);
		check(at != MAP_FAILED, "map the record");
		record_ = static_cast<const ornic_comp_cntr_record *>(at);
	}
	counter(const counter &) = delete;
	counter &operator=(const counter &) = delete;
	/* The memory stays readable without its counter. */
	~counter()
	{
		munmap(const_cast<ornic_comp_cntr_record *>(record_), size_);
	}

	int destroy() const
	{
		return method(on_, OBJECT_COMP_CNTR, METHOD_DESTROY,
			      { object(0, handle) });
	}
	int modify(uint64_t entry, uint64_t change, uint64_t value) const
	{
		return method(on_, OBJECT_COMP_CNTR, METHOD_MODIFY,
			      { object(0, handle), in(1, 8, entry),
				in(2, 8, change), in(3, 8, value) });
	}
	int attach(const endpoint &end, uint32_t ops) const
	{
		return method(on_, UVERBS_OBJECT_QP, METHOD_QP_ATTACH,
			      { object(0, end.qp->handle), object(1, handle),
				in(2, 4, ops) });
	}
	uint64_t mapped(entry which) const
	{
		return __atomic_load_n(which == ERRORS ? &record_->errors :
							 &record_->completions,
				       __ATOMIC_ACQUIRE);
	}
	uint64_t by_kernel(entry which) const
	{
		uint64_t value = 0;

		check_equal(method(on_, OBJECT_COMP_CNTR, METHOD_READ,
				   { object(0, handle), in(1, 8, which),
				     out(2, sizeof(value), &value) }),
			    0, "read");
		return value;
	}
	void expect(uint64_t completions, uint64_t errors,
		    const std::string &what) const
	{
		check_equal(mapped(COMPLETIONS), completions, what);
		check_equal(mapped(ERRORS), errors, what + ", errors");
		check_equal(by_kernel(COMPLETIONS), completions, what);
		check_equal(by_kernel(ERRORS), errors, what + ", errors");
	}
	void read_only() const
	{
		void *at = mmap(nullptr, size_, PROT_READ | PROT_WRITE,
				MAP_SHARED, on_.context->cmd_fd, offset_);

		check(at == MAP_FAILED && errno == EPERM, "mapped for writing");
		check(mprotect(const_cast<ornic_comp_cntr_record *>(record_),
			       size_, PROT_READ | PROT_WRITE) &&
			      errno == EACCES,
		      "made writable");
		check(!ibv_reg_mr(on_.pd.get(),
				  const_cast<ornic_comp_cntr_record *>(record_),
				  sizeof(*record_), IBV_ACCESS_LOCAL_WRITE),
		      "registered for writing");
	}

	uint32_t handle = 0;

private:
	const port &on_;
	off_t offset_ = 0;
	size_t size_ = 0;
	const ornic_comp_cntr_record *record_ = nullptr;
};

constexpr uint32_t op(ornic_cntr_op bit)
{
	return 1U << bit;
}

constexpr uint32_t all_ops = (1U << ORNIC_CNTR_OPS) - 1;

void connect(endpoint &a, endpoint &b)
{
	a.to_init();
	b.to_init();
	b.to_rtr(a);
	a.to_rtr(b);
	b.to_rts();
	a.to_rts();
}

/* Of each kind as many, the last one alone with a CQE. */
void transfer(endpoint &from, endpoint &to, int rounds)
{
	const remote_end peer = to;

	for (int i = 0; i < rounds; i++) {
		to.post_recv(1, 0, 64);
		from.post(request(IBV_WR_SEND, 1, 0), { from.sge(0, 64) });
		from.post(rdma(IBV_WR_RDMA_WRITE, 2, peer, 4096, 0),
			  { from.sge(4096, 3000) });
		from.post(rdma(IBV_WR_RDMA_READ, 3, peer, 4096),
			  { from.sge(4096, 3000) });
		check_wc(from.sent(3), IBV_WC_SUCCESS, "READ");
		check_wc(to.received(1), IBV_WC_SUCCESS, "receive");
	}
}

void caps(const port &on)
{
	uint64_t max_value = 0;
	uint32_t max_counters = 0, ops = 0;

	check_equal(method(on, UVERBS_OBJECT_DEVICE, METHOD_QUERY_CAPS,
			   { out(0, sizeof(max_counters), &max_counters),
			     out(1, sizeof(max_value), &max_value),
			     out(2, sizeof(ops), &ops) }),
		    0, "query caps");
	check(max_counters > 1000 && max_value == UINT64_MAX && ops == all_ops,
	      "caps");
}

void values(const port &on)
{
	counter c(on);

	c.read_only();
	c.expect(0, 0, "new");
	check_equal(c.modify(COMPLETIONS, ORNIC_CNTR_SET, 40), 0, "set");
	check_equal(c.modify(COMPLETIONS, ORNIC_CNTR_ADD, 2), 0, "add");
	check_equal(c.modify(ERRORS, ORNIC_CNTR_SET, UINT64_MAX), 0, "set");
	c.expect(42, UINT64_MAX, "changed");
	check_equal(c.modify(ERRORS, ORNIC_CNTR_ADD, 3), 0, "add");
	c.expect(42, 2, "wrapped");
	check_equal(c.modify(2, ORNIC_CNTR_SET, 1), EINVAL, "no such entry");
	check_equal(c.modify(256, ORNIC_CNTR_SET, 1), EINVAL, "entry 256");
	check_equal(c.modify(ERRORS, 2, 1), EINVAL, "no such change");
	c.expect(42, 2, "refused");
	check_equal(c.destroy(), 0, "destroy");
	check_equal(c.destroy(), ENOENT, "destroy twice");
	check_equal(c.mapped(COMPLETIONS), 42, "after the end");
}

/* Each kind in a counter of its own, at both ends. */
void kinds(port &on)
{
	const ornic_cntr_op here[] = { ORNIC_CNTR_SEND, ORNIC_CNTR_WRITE,
				       ORNIC_CNTR_READ };
	const ornic_cntr_op there[] = { ORNIC_CNTR_RECV,
					ORNIC_CNTR_REMOTE_WRITE,
					ORNIC_CNTR_REMOTE_READ };
	endpoint a(on, {}), b(on, {});
	counter of_a[3] = { counter(on), counter(on), counter(on) };
	counter of_b[3] = { counter(on), counter(on), counter(on) };
	counter late(on);

	for (int i = 0; i < 3; i++) {
		check_equal(of_a[i].attach(a, op(here[i])), 0, "attach");
		check_equal(of_b[i].attach(b, op(there[i])), 0, "attach");
	}
	check_equal(late.attach(a, op(ORNIC_CNTR_READ)), EBUSY, "taken");
	check_equal(late.attach(a, 0), EINVAL, "nothing");
	check_equal(late.attach(a, all_ops + 1), EINVAL, "unknown");
	connect(a, b);
	check_equal(late.attach(a, op(ORNIC_CNTR_RECV)), EINVAL, "in RTS");
	transfer(a, b, 10);
	for (int i = 0; i < 3; i++) {
		of_a[i].expect(10, 0, "requester");
		of_b[i].expect(10, 0, "responder");
		check_equal(of_a[i].destroy(), EBUSY, "attached");
	}
	check_equal(late.destroy(), 0, "never attached");
	b.post_recv(2, 0, 64);
	b.to_error();
	check_wc(b.wait_recv(), IBV_WC_WR_FLUSH_ERR, "flush");
	of_b[0].expect(10, 1, "flushed receive");
	a.qp.reset();
	b.qp.reset();
	for (int i = 0; i < 3; i++) {
		check_equal(of_a[i].destroy(), 0, "destroy");
		check_equal(of_b[i].destroy(), 0, "destroy");
	}
}

/* One counter of four QPs that two threads use; a third one only sees it grow. */
void shared(port &on)
{
	constexpr int rounds = 500;
	constexpr uint64_t operations = uint64_t{ 12 } * rounds;
	endpoint ends[4] = { endpoint(on, {}), endpoint(on, {}),
			     endpoint(on, {}), endpoint(on, {}) };
	std::atomic<bool> done = false, grows = true;
	counter c(on);

	for (const endpoint &end : ends)
		check_equal(c.attach(end, all_ops), 0, "attach");
	connect(ends[0], ends[1]);
	connect(ends[2], ends[3]);
	std::thread other([&] { transfer(ends[2], ends[3], rounds); });
	std::thread reader([&] {
		uint64_t last = 0;

		while (!done) {
			uint64_t now = c.mapped(COMPLETIONS);

			if (now < last)
				grows = false;
			last = now;
		}
	});
	transfer(ends[0], ends[1], rounds);
	other.join();
	done = true;
	reader.join();
	check(grows, "the value went back");
	c.expect(operations, 0, "shared");
	for (endpoint &end : ends)
		end.qp.reset();
	check_equal(c.destroy(), 0, "destroy");
}

bool has_counters(const port &on)
{
	return method(on, UVERBS_OBJECT_DEVICE, METHOD_QUERY_CAPS, {}) !=
	       EPROTONOSUPPORT;
}

int run(char **args, bool leaves)
{
	port on(args[1], std::stoi(args[2]), "ornic");

	if (!has_counters(on))
		return no_counters;
	if (leaves) {
		endpoint a(on, {}), b(on, {});
		counter c(on);

		check_equal(c.attach(a, all_ops), 0, "attach");
		connect(a, b);
		transfer(a, b, 1);
		_exit(0);
	}
	caps(on);
	values(on);
	kinds(on);
	shared(on);
	return 0;
}

} // namespace

int main(int argc, char **argv)
{
	if (argc < 3)
		return 2;
	try {
		return run(argv, argc > 3);
	} catch (const std::exception &e) {
		std::fprintf(stderr, "ornic_comp_cntr: %s\n", e.what());
		return 1;
	}
}
