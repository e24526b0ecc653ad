// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * The device of ornic-nic in the hands of a hostile guest: registers, command
 * ring, page lists, rings and records hold what the input says, and frames for it come
 * by the wire. A second guest has an idle NIC; its RAM never changes.
 */
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <vector>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <time.h>

#include "device.h"
#include "eth_switch.h"
#include "mutate.h"

extern "C" int LLVMFuzzerTestOneInput(const u8 *data, size_t size);

// The same input makes the same keys and QPNs.
extern "C" ssize_t getrandom(void *buf, size_t len, unsigned int)
{
	memset(buf, 0x5a, len);
	return static_cast<ssize_t>(len);
}

// Nobody waits for events.
extern "C" int eventfd_write(int, eventfd_t)
{
	return 0;
}

namespace
{

constexpr u64 page = 4096;
constexpr u64 ram_pages = 64;
constexpr u64 nonce_at = 64; // not 0, which would mean that there is none
constexpr u64 requests_at = 1 * page;
constexpr u64 responses_at = 2 * page;
constexpr u64 lists_at = 4 * page; // of 8 pages, see fill_lists()
constexpr u64 match_at = 12 * page; // of flow rules
constexpr u64 rss_at = 13 * page;
constexpr u32 slot = 72;
constexpr size_t body = sizeof(ornic_req) - sizeof(ornic_req_hdr);
constexpr u64 mem_limit = 16 << 20;
constexpr u64 dm_bytes = 4 * page;
constexpr u64 max_ns = 1'000'000'000; // of CPU; an input takes microseconds
constexpr u32 log_commands = 4;
constexpr int max_steps = 64;
constexpr u32 max_objs = 16;
constexpr u8 canary = 0xc5;
constexpr u16 frame_port = 0x1234;

void check(bool ok, const char *what)
{
	if (ok)
		return;
	std::fprintf(stderr, "fuzz: %s\n", what);
	std::abort();
}

class input {
public:
	input(const u8 *p, size_t left)
		: p_(p)
		, left_(left)
	{
	}
	// The next @len bytes alone.
	input part(size_t len)
	{
		input in(p_, std::min(len, left_));

		p_ += in.left_;
		left_ -= in.left_;
		return in;
	}
	bool empty() const
	{
		return !left_;
	}
	template <typename T> T take()
	{
		T value{};

		bytes(&value, sizeof(value));
		return value;
	}
	void bytes(void *to, size_t len)
	{
		len = std::min(len, left_);
		memcpy(to, p_, len);
		p_ += len;
		left_ -= len;
	}

private:
	const u8 *p_;
	size_t left_;
};

u64 cpu_ns()
{
	struct timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return static_cast<u64>(t.tv_sec) * 1'000'000'000 +
	       static_cast<u64>(t.tv_nsec);
}

// Memory of @fd, or, if that is -1, of a file that has no name.
u8 *map(int fd, u64 bytes)
{
	int flags = fd < 0 ? MAP_SHARED | MAP_ANONYMOUS : MAP_SHARED;
	void *p = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, flags, fd, 0);

	check(p != MAP_FAILED, "mmap");
	return static_cast<u8 *>(p);
}

// Two guests without QEMU. Guest 0 is the hostile one.
struct host {
	host();
	void start();

	nic::shared_state state;
	nic::timer_queue timers;
	std::unique_ptr<nic::eth_switch> net;
	std::vector<std::unique_ptr<nic::device>> devices;
	nic::unique_fd far_end; // of the wire
	u32 reset_done[2] = {};
	u8 *ram[2];
	u8 *bar[2];
};

host::host()
{
	int wire[2];

	check(!socketpair(AF_UNIX, SOCK_DGRAM, 0, wire), "socketpair");
	state.wire.fd = nic::unique_fd(wire[0]);
	far_end = nic::unique_fd(wire[1]);
	nic::guest_memory::catch_faults();
	state.guests.resize(2);
	state.netdevs.resize(2);
	for (u32 i = 0; i < 2; i++) {
		nic::guest_state &g = state.guests[i];

		g.index = i;
		g.config.size = ram_pages * page;
		g.config.mem_limit = mem_limit;
		g.config.dm = dm_bytes;
		g.config.machine = nic::machine::pc;
		g.config.mac[0] = 2;
		g.config.mac[5] = static_cast<u8>(i + 1);
		g.bar = bar[i] = map(-1, g.bar_bytes());
		g.reset_done = &reset_done[i];
		g.ram = nic::unique_fd(memfd_create("ram", 0));
		check(!ftruncate(g.ram.get(), ram_pages * page), "memfd");
		ram[i] = map(g.ram.get(), ram_pages * page);
		memset(ram[i], canary, ram_pages * page);
		for (u32 m = 0; m < g.config.vectors; m++)
			g.message.emplace_back(eventfd(0, EFD_NONBLOCK));
	}
}

// As after the start of ornic-nic.
void host::start()
{
	devices.clear();
	net = std::make_unique<nic::eth_switch>(state);
	net->attach(&devices);
	for (u8 *b : bar) {
		memset(b, 0, ORNIC_PCI_REGS_SIZE);
		memset(b + nic::dm_offset, 0, dm_bytes);
	}
	memset(ram[0], 0, ram_pages * page);
	for (u32 i = 0; i < 2; i++) {
		reset_done[i] = 0;
		devices.push_back(std::make_unique<nic::device>(
			state.guests[i], *net, timers, false,
			[](nic::device &) {}));
	}
}

// What the hostile guest does.
class guest {
public:
	explicit guest(host &h)
		: host_(h)
		, in_(nullptr, 0)
		, ram_(h.ram[0])
	{
		fill_lists();
		reset();
	}

	void step(const input &in);

private:
	ornic_pci_host_regs *regs()
	{
		return reinterpret_cast<ornic_pci_host_regs *>(
			host_.bar[0] + ORNIC_PCI_HOST_REGS);
	}
	nic::device &dev()
	{
		return *host_.devices[0];
	}
	void fill_lists();
	void reset();
	void lie();
	void lose_ram();
	void run(int turns);
	void scribble();
	void set_register();
	void command();
	void issue(union ornic_req &req);
	void set_port();
	void receive_frame();
	void patch(union ornic_req &req);
	void read_response(const union ornic_req &req);
	u32 some_obj();
	u64 some_page()
	{
		return in_.take<u8>() % (ram_pages + 1) * page;
	}

	host &host_;
	input in_;
	u8 *ram_;
	u32 commands_ = 0;
	u32 objs_[max_objs] = {};
	u32 nobjs_ = 0;
};

// List n & 3 is n levels above its pages, all entries name one list; list 3 names
// itself. So a tree of any depth and number of pages costs a guest three pages.
void guest::fill_lists()
{
	for (u32 list = 0; list < 8; list++)
		for (u32 i = 0; i < ORNIC_LIST_ENTRIES; i++) {
			u32 level = list & 3;
			u64 to = level == 3 ? lists_at + list * page :
				 level	    ? lists_at + (list - 1) * page :
					      (16 + i % 48) * page;

			memcpy(ram_ + lists_at + list * page + 8ull * i, &to,
			       8);
		}

	// What receive_frame() makes, if the input does not change it.
	auto *match = reinterpret_cast<ornic_flow_match *>(ram_ + match_at);

	match->value.dst_port = cpu_to_be16(frame_port);
	match->mask.dst_port = 0xffff;
}

void guest::run(int turns)
{
	u64 now = nic::now_ns();

	for (int i = 0; i < turns; i++) {
		bool any = false;

		for (auto &d : host_.devices)
			any |= d->poll(now);
		any |= host_.net->work(now);
		if (!any)
			return;
	}
}

void guest::reset()
{
	ornic_pci_host_regs *r = regs();

	for (u32 i = 0; i < 4; i++) {
		r->nonce[i] = cpu_to_le32(0x1234567 + i);
		memcpy(ram_ + 4ull * i, &r->nonce[i], 4);
	}
	memcpy(ram_ + nonce_at, ram_, 16);
	r->nonce_addr = cpu_to_le64(nonce_at);
	r->cmd_ring = cpu_to_le64(requests_at);
	r->rsp_ring = cpu_to_le64(responses_at);
	r->cmd_log_depth = cpu_to_le32(log_commands);
	r->cmd_producer = 0;
	r->reset = cpu_to_le32(host_.reset_done[0] + 1);
	commands_ = 0;
	nobjs_ = 0;
	dev().control();
	run(16);
	set_port();
}

void guest::set_port()
{
	union ornic_req req {
	};

	req.hdr.opcode = ORNIC_CMD_SET_PORT;
	req.set_port.mtu = cpu_to_le32(1024);
	req.set_port.up = 1;
	issue(req);
}

// A datagram of UDP to the guest, of which the input changes some bytes.
void guest::receive_frame()
{
	u8 f[128] = { 2, 0, 0, 0, 0, 1, 2, 0, 0, 0, 0, 9, 8, 0, 0x45 };
	size_t at = in_.take<u8>() % sizeof(f);
	size_t len = in_.take<u8>() % sizeof(f);

	f[23] = 17;
	f[36] = frame_port >> 8;
	f[37] = frame_port & 0xff;
	in_.bytes(f + at,
		  std::min<size_t>(in_.take<u8>() & 31, sizeof(f) - at));
	send(host_.far_end.get(), f, len, MSG_DONTWAIT);
	host_.net->input(host_.net->wire());
}

// A reset with a nonce that is not in RAM: who knows whose RAM it would be. The NIC
// does not write to it.
void guest::lie()
{
	ornic_pci_host_regs *r = regs();
	std::vector<u8> before;
	union ornic_req req {
	};

	// Whatever the input made of both, they differ.
	r->nonce_addr = cpu_to_le64(nonce_at);
	memcpy(&r->nonce[0], ram_ + nonce_at, 4);
	r->nonce[0] ^= cpu_to_le32(1);
	r->reset = cpu_to_le32(host_.reset_done[0] + 1);
	r->cmd_producer = 0;
	dev().control();
	run(16);
	req.hdr.opcode = ORNIC_CMD_QUERY_DEVICE;
	memcpy(ram_ + requests_at, &req, sizeof(req));
	before.assign(ram_, ram_ + ram_pages * page);
	r->cmd_producer = cpu_to_le32(1);
	dev().control();
	run(4);
	check(!memcmp(ram_, before.data(), before.size()),
	      "RAM was written without a nonce");
	reset();
}

// The file of the RAM is short for a while, in the middle of work.
void guest::lose_ram()
{
	int fd = host_.state.guests[0].ram.get();
	u64 left = in_.take<u8>() % ram_pages;

	regs()->cmd_producer = cpu_to_le32(commands_ + 1);
	check(!ftruncate(fd, static_cast<off_t>(left * page)), "ftruncate");
	dev().control();
	dev().kick();
	run(8);
	check(!ftruncate(fd, static_cast<off_t>(ram_pages * page)),
	      "ftruncate");
	reset();
}

void guest::scribble()
{
	u64 at = some_page() + 16ull * in_.take<u8>();
	u32 len = in_.take<u8>() & 63;

	if (at + len <= ram_pages * page)
		in_.bytes(ram_ + at, len);
}

void guest::set_register()
{
	auto *r = reinterpret_cast<u8 *>(regs());
	u32 at = in_.take<u8>() % sizeof(ornic_pci_host_regs);

	in_.bytes(r + at, std::min<size_t>(in_.take<u8>() & 7,
					   sizeof(ornic_pci_host_regs) - at));
}

u32 guest::some_obj()
{
	u8 which = in_.take<u8>();

	return nobjs_ ? objs_[which % std::min(nobjs_, max_objs)] : 0;
}

// Objects that exist, and memory that does.
void guest::patch(union ornic_req &req)
{
	u8 how = in_.take<u8>();

	if (how & 1)
		req.hdr.obj = cpu_to_le32(some_obj());
	if (how & 2) {
		req.create_cq.mem.levels &= 3;
		req.create_cq.mem.page_shift = ORNIC_PAGE_SHIFT;
		req.create_cq.mem.addr =
			cpu_to_le64(req.create_cq.mem.levels ?
					    lists_at + (how >> 5) * page :
					    some_page());
		if (how & 4)
			req.create_cq.mem.npages = in_.take<u8>();
	}
	if (how & 8 && req.hdr.opcode == ORNIC_CMD_CREATE_QP) {
		req.create_qp.send_cqn = cpu_to_le32(some_obj());
		req.create_qp.recv_cqn = cpu_to_le32(some_obj());
	}
	if (how & 8 && req.hdr.opcode == ORNIC_CMD_CREATE_FLOW) {
		req.create_flow.rule.match = cpu_to_le64(match_at);
		req.create_flow.rule.qpn = cpu_to_le32(some_obj());
	}
	if (how & 8 && req.hdr.opcode == ORNIC_CMD_SET_RSS) {
		auto *rss = reinterpret_cast<ornic_rss *>(ram_ + rss_at);

		rss->qpn[in_.take<u8>() % std::size(rss->qpn)] =
			cpu_to_le32(some_obj());
		req.set_rss.rss = cpu_to_le64(rss_at);
	}
}

void guest::read_response(const union ornic_req &req)
{
	u32 slot = (commands_ - 1) & ((1u << log_commands) - 1);
	union ornic_rsp rsp;

	memcpy(&rsp, ram_ + responses_at + slot * sizeof(rsp), sizeof(rsp));
	if (rsp.hdr.opcode != req.hdr.opcode || rsp.hdr.id != req.hdr.id)
		return; // overwritten, or never executed
	if ((rsp.hdr.status & ~ORNIC_PCI_RSP_PHASE) == ORNIC_OK &&
	    rsp.hdr.obj != req.hdr.obj)
		objs_[nobjs_++ % max_objs] = le32_to_cpu(rsp.hdr.obj);
}

void guest::command()
{
	union ornic_req req {
	};

	req.hdr.opcode = in_.take<u8>();
	in_.bytes(req.bytes + sizeof(req.hdr), body);
	patch(req);
	issue(req);
}

void guest::issue(union ornic_req &req)
{
	u32 slot = commands_ & ((1u << log_commands) - 1);

	req.hdr.id = cpu_to_le16(static_cast<u16>(commands_ + 1));
	memcpy(ram_ + requests_at + slot * sizeof(req), &req, sizeof(req));
	commands_++;
	regs()->cmd_producer = cpu_to_le32(commands_);
	dev().control();
	run(4);
	read_response(req);
}

void guest::step(const input &in)
{
	u8 what;

	in_ = in;
	what = in_.take<u8>();
	switch (what & 7) {
	case 0:
	case 1:
	case 2:
		command();
		break;
	case 3:
	case 4:
		scribble();
		break;
	case 5:
		set_register();
		break;
	case 6:
		if (what == 0xee)
			lie();
		else if (what == 0xe6)
			lose_ram();
		else if (what >= 0xf0)
			reset();
		else
			dev().control();
		break;
	default:
		if (what >= 0xc0)
			receive_frame();
		else
			dev().kick();
		break;
	}
	run(8);
}

// Pages for what @req makes: a run, or a tree of any depth.
u8 make_mem(struct ornic_mem &mem, u64 *rng)
{
	u32 levels = ornic_fuzz_random(rng, 4);

	mem.page_shift = ORNIC_PAGE_SHIFT;
	mem.levels = static_cast<u8>(levels);
	mem.npages = cpu_to_le32(
		ornic_fuzz_random(rng, 2u << ornic_fuzz_random(rng, 28)));
	if (!levels || ornic_fuzz_random(rng, 2))
		return 6; // few pages
	return static_cast<u8>(2 | (levels - 1) << 5);
}

void make_command(u8 *p, u64 *rng)
{
	static const u8 opcodes[] = {
		ORNIC_CMD_CREATE_CQ,	ORNIC_CMD_CREATE_QP,
		ORNIC_CMD_CREATE_MKEY,	ORNIC_CMD_CREATE_SRQ,
		ORNIC_CMD_RESIZE_CQ,	ORNIC_CMD_RESIZE_SRQ,
		ORNIC_CMD_MODIFY_MKEY,	ORNIC_CMD_CREATE_EQ,
		ORNIC_CMD_MODIFY_QP,	ORNIC_CMD_DESTROY_QP,
		ORNIC_CMD_DESTROY_MKEY, ORNIC_CMD_CREATE_MW,
		ORNIC_CMD_CREATE_FLOW,	ORNIC_CMD_DESTROY_FLOW,
		ORNIC_CMD_SET_RSS,	ORNIC_CMD_END_RAW,
	};
	static const u8 types[] = { ORNIC_QPT_RC, ORNIC_QPT_UC, ORNIC_QPT_UD,
				    ORNIC_QPT_RAW };
	u32 op = opcodes[ornic_fuzz_random(rng, std::size(opcodes))];
	union ornic_req req {
	};
	u8 how = make_mem(req.create_cq.mem, rng);

	req.create_cq.log_depth = static_cast<u8>(ornic_fuzz_random(rng, 12));
	if (op == ORNIC_CMD_CREATE_QP) {
		ornic_req_create_qp &c = req.create_qp;

		c.qp_type = types[ornic_fuzz_random(rng, std::size(types))];
		c.has_rq = c.has_sq = 1;
		c.sq_log_stride = 6;
		c.rq_log_stride =
			static_cast<u8>(5 + ornic_fuzz_random(rng, 6));
		c.rq_max_sge = static_cast<u8>(ornic_fuzz_random(rng, 8));
		how |= 8;
	} else if (op == ORNIC_CMD_CREATE_FLOW) {
		ornic_flow_rule &r = req.create_flow.rule;

		r.type = static_cast<u8>(ornic_fuzz_random(rng, 4));
		r.flags = static_cast<u8>(ornic_fuzz_random(rng, 4));
		how = 8;
	} else if (op == ORNIC_CMD_SET_RSS) {
		how = 8;
	} else if (op == ORNIC_CMD_MODIFY_QP && ornic_fuzz_random(rng, 2)) {
		req.modify_qp.mask = cpu_to_le32(ORNIC_QPM_STATE);
		req.modify_qp.state =
			static_cast<u8>(ornic_fuzz_random(rng, 7));
		how = 0;
	} else if (op == ORNIC_CMD_CREATE_MKEY || op == ORNIC_CMD_MODIFY_MKEY) {
		req.create_mkey.length = cpu_to_le64(page);
		req.create_mkey.access = ORNIC_ACCESS_MASK;
		req.modify_mkey.mask = ORNIC_MKEYM_ALL;
		if (op == ORNIC_CMD_CREATE_MKEY && !ornic_fuzz_random(rng, 3)) {
			req.create_mkey.flags = ORNIC_MKEY_DM;
			req.create_mkey.mem.levels = 0;
		}
	}
	*p++ = static_cast<u8>(op);
	memcpy(p, req.bytes + sizeof(req.hdr), body);
	p += body;
	*p++ = how | (op & 15 ? 1 : 0);
	for (u32 i = 0; i < 4; i++)
		*p++ = static_cast<u8>(ornic_fuzz_random(rng, ram_pages));
}

void make_step(u8 *p, const u8 *, u64 *rng)
{
	*p = static_cast<u8>(ornic_fuzz_random(rng, 256));
	if ((*p & 7) < 3)
		make_command(p + 1, rng);
	else
		for (u32 i = 1; i < 12; i++)
			p[i] = static_cast<u8>(ornic_fuzz_random(rng, 256));
}

} // namespace

// The engines allocate by this: never more at once than all of a guest may have.
extern "C" void *__real_calloc(size_t n, size_t size);
extern "C" void *__wrap_calloc(size_t n, size_t size);

void *__wrap_calloc(size_t n, size_t size)
{
	check(n * size <= mem_limit,
	      "an allocation is beyond the guest's limit");
	return __real_calloc(n, size);
}

size_t LLVMFuzzerCustomMutator(u8 *data, size_t size, size_t max,
			       unsigned int seed)
{
	static const ornic_fuzz_format format = { 0, slot, make_step };

	return ornic_fuzz_mutate(&format, data, size, max, seed);
}

int LLVMFuzzerTestOneInput(const u8 *data, size_t size)
{
	static host h;
	input in(data, size);

	h.start();

	guest g(h);
	u64 start = cpu_ns();
	u8 left; // on the wire

	for (int i = 0; i < max_steps && !in.empty(); i++)
		g.step(in.part(slot));
	check(cpu_ns() - start < max_ns, "a guest takes the CPU for itself");
	check(!memcmp(h.ram[1], h.ram[1] + 1, ram_pages * page - 1) &&
		      *h.ram[1] == canary,
	      "RAM of another guest was written");
	h.devices.clear();
	while (recv(h.far_end.get(), &left, 1, MSG_DONTWAIT) >= 0)
		;
	return 0;
}
