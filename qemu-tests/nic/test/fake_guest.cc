// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#include "fake_guest.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include "process.h"
#include "sockets.h"

namespace test
{

namespace
{

constexpr u32 log_cmds = 3;
constexpr u32 log_wqes = 4;
constexpr u32 send_stride = 6;
constexpr u32 recv_stride = 5;
constexpr u32 pd = 7;
constexpr u32 path_mtu = 3; // 1024
constexpr u32 first_psn = 100;
constexpr u8 all_access = ORNIC_ACCESS_LOCAL_WRITE | ORNIC_ACCESS_REMOTE_WRITE |
			  ORNIC_ACCESS_REMOTE_READ | ORNIC_ACCESS_REMOTE_ATOMIC;

u64 align(u64 n)
{
	return (n + page - 1) / page * page;
}

nic::unique_fd connect_now(const std::string &path)
{
	nic::address addr = nic::unix_address(path);
	nic::unique_fd fd(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
	timeval wait = { 30, 0 };

	setsockopt(fd.get(), SOL_SOCKET, SO_RCVTIMEO, &wait, sizeof(wait));
	if (!eventually([&] {
		    return !::connect(fd.get(), nic::sockaddr_of(addr),
				      nic::length_of(addr));
	    }))
		fd.reset();
	return fd;
}

} // namespace

void address_of(u8 number, u8 *mac, u8 *gid)
{
	const u8 m[] = { 0x52, 0x54, 0, 0, 0, number };

	memcpy(mac, m, sizeof(m));
	memset(gid, 0, 16);
	gid[10] = gid[11] = 0xff;
	gid[12] = 10;
	gid[15] = number;
}

fake_guest::fake_guest(const std::string &socket, const std::string &ram,
		       u8 number, u64 size)
	: ram_size_(size)
	, number_(number)
{
	nic::unique_fd fd(open(ram.c_str(), O_RDWR));

	ram_ = static_cast<u8 *>(mmap(nullptr, ram_size_,
				      PROT_READ | PROT_WRITE, MAP_SHARED,
				      fd.get(), 0));
	nonce_ = alloc(page);
	if (!hello(socket) && bar_) {
		munmap(bar_, bar_size_);
		bar_ = nullptr;
	}
}

fake_guest::~fake_guest()
{
	munmap(ram_, ram_size_);
	if (bar_)
		munmap(bar_, bar_size_);
}

// Like QEMU: receive a version, an id, the memory, and eventfds of both peers.
bool fake_guest::hello(const std::string &socket)
{
	nic::unique_fd fd;
	struct stat st;
	__le64 value;
	u64 want = 3 + 2 + vectors;

	socket_ = connect_now(socket);
	for (u64 i = 0; i < want; i++) {
		if (!nic::receive_with_fd(socket_.get(), &value, sizeof(value),
					  fd))
			return false;
		if (i == 0 || i == 1) {
			if (le64_to_cpu(value) != i)
				return false;
		} else if (i == 2) {
			fstat(fd.get(), &st);
			bar_size_ = static_cast<u64>(st.st_size);
			bar_ = static_cast<u8 *>(mmap(nullptr, bar_size_,
						      PROT_READ | PROT_WRITE,
						      MAP_SHARED, fd.get(), 0));
		} else if (value == 0) {
			doorbells_.push_back(std::move(fd));
		} else {
			messages_.push_back(std::move(fd));
		}
	}
	return bar_ && doorbells_.size() == 2;
}

void fake_guest::ring_control()
{
	eventfd_write(doorbells_[0].get(), 1);
}

void fake_guest::ring_kick()
{
	kicks_++;
	eventfd_write(doorbells_[1].get(), 1);
}

std::vector<int> fake_guest::eventfds() const
{
	std::vector<int> all;

	for (const auto *list : { &doorbells_, &messages_ })
		for (const nic::unique_fd &fd : *list)
			all.push_back(fd.get());
	return all;
}

u64 fake_guest::messages(u32 number, int wait_ms)
{
	pollfd p = { messages_[number].get(), POLLIN, 0 };
	eventfd_t value;

	if (::poll(&p, 1, wait_ms) != 1 ||
	    eventfd_read(messages_[number].get(), &value))
		return 0;
	return value;
}

void fake_guest::write_nonce()
{
	for (u32 i = 0; i < 4; i++)
		host_regs()->nonce[i] = ~commands_ - i;
	memcpy(nonce_.ptr, host_regs()->nonce, sizeof(host_regs()->nonce));
	host_regs()->nonce_addr = nonce_.dma;
}

// ---- The driver -------------------------------------------------------------------

bool fake_guest::reset()
{
	u32 value = READ_ONCE(device_regs()->reset_done) + 1;

	write_nonce();
	host_regs()->cmd_producer = 0;
	smp_store_release(&host_regs()->reset, value);
	ring_control();
	commands_ = 0;
	return eventually([&] {
		return smp_load_acquire(&device_regs()->reset_done) == value;
	});
}

bool fake_guest::start()
{
	if (!reset())
		return false;
	requests_ = alloc(page);
	responses_ = alloc(page);
	argument_ = alloc(page);
	host_regs()->cmd_log_depth = log_cmds;
	host_regs()->cmd_ring = requests_.dma;
	host_regs()->rsp_ring = responses_.dma;
	if (!set_port())
		return false;
	set_gid();
	return true;
}

bool fake_guest::set_port(u32 netdev_mtu)
{
	union ornic_req req {
	};

	req.hdr.opcode = ORNIC_CMD_SET_PORT;
	req.set_port.mtu = 4096;
	req.set_port.up = 1;
	req.set_port.netdev_mtu = netdev_mtu;
	return execute(req);
}

bool fake_guest::set_gid(u8 type)
{
	union ornic_req req {
	};

	req.hdr.opcode = ORNIC_CMD_SET_GID;
	address_of(number_, req.set_gid.smac, req.set_gid.gid);
	req.set_gid.vlan = ORNIC_VLAN_NONE;
	req.set_gid.valid = 1;
	req.set_gid.type = type;
	return execute(req);
}

std::optional<union ornic_rsp> fake_guest::command(union ornic_req req)
{
	u32 slot = commands_ & ((1 << log_cmds) - 1);
	bool phase = !(commands_ >> log_cmds & 1);
	auto *rsp = reinterpret_cast<union ornic_rsp *>(responses_.ptr) + slot;
	union ornic_rsp copy;

	if (!requests_.ptr)
		return {};
	req.hdr.id = static_cast<u16>(commands_ * 7);
	memcpy(requests_.ptr + slot * sizeof(req), &req, sizeof(req));
	smp_store_release(&host_regs()->cmd_producer, ++commands_);
	ring_control();
	if (!eventually([&] {
		    u32 word = smp_load_acquire(reinterpret_cast<u32 *>(rsp));

		    return (word >> 15 & 1) == phase;
	    }))
		return {};
	memcpy(&copy, rsp, sizeof(copy));
	copy.hdr.status &= static_cast<u8>(~ORNIC_PCI_RSP_PHASE);
	if (copy.hdr.id != req.hdr.id || copy.hdr.opcode != req.hdr.opcode)
		return {};
	return copy;
}

bool fake_guest::execute(const union ornic_req &req)
{
	auto rsp = command(req);

	return rsp && !rsp->hdr.status;
}

// Return: the number of the new object, 0: failed.
u32 fake_guest::create(const union ornic_req &req)
{
	auto rsp = command(req);

	return rsp && !rsp->hdr.status ? rsp->hdr.obj : 0;
}

buffer fake_guest::alloc(u64 bytes)
{
	buffer b;

	b.dma = used_;
	b.ptr = ram_ + used_;
	b.size = align(bytes);
	used_ += b.size;
	if (used_ > ram_bytes)
		nic::die("the fake guest has no memory left");
	memset(b.ptr, 0, b.size);
	return b;
}

ornic_mem fake_guest::mem_of(const buffer &b) const
{
	ornic_mem mem{};

	mem.addr = b.dma;
	mem.npages = static_cast<u32>(b.size / page);
	mem.page_shift = ORNIC_PAGE_SHIFT;
	return mem;
}

queue fake_guest::make_eq(u32 msg, u32 log_depth)
{
	ornic_req_create_eq eq{};
	union ornic_req req {
	};
	queue q;

	q.mem = alloc(page + (sizeof(ornic_eqe) << log_depth));
	q.log_depth = log_depth;
	eq.hdr.opcode = ORNIC_CMD_CREATE_EQ;
	eq.mem = mem_of(q.mem);
	eq.log_depth = static_cast<u8>(log_depth);
	eq.msg = static_cast<u16>(msg);
	memcpy(&req, &eq, sizeof(eq));
	q.number = create(req);
	return q;
}

queue fake_guest::make_cq(u32 log_depth, u8 vector)
{
	union ornic_req req {
	};
	queue q;

	q.mem = alloc(page + (sizeof(ornic_cqe) << log_depth));
	q.log_depth = log_depth;
	req.hdr.opcode = ORNIC_CMD_CREATE_CQ;
	req.create_cq.mem = mem_of(q.mem);
	req.create_cq.log_depth = static_cast<u8>(log_depth);
	req.create_cq.vector = vector;
	q.number = create(req);
	return q;
}

u32 fake_guest::make_key(const ornic_mem &mem, u64 iova, u64 bytes, u8 flags)
{
	union ornic_req req {
	};

	req.hdr.opcode = ORNIC_CMD_CREATE_MKEY;
	req.create_mkey.mem = mem;
	req.create_mkey.iova = iova;
	req.create_mkey.length = bytes;
	req.create_mkey.pdn = pd;
	req.create_mkey.access = all_access;
	req.create_mkey.flags = flags;
	return create(req);
}

buffer fake_guest::make_mr(u64 bytes)
{
	buffer b = alloc(bytes);

	b.key = make_key(mem_of(b), b.dma, b.size, 0);
	return b;
}

buffer fake_guest::make_odp_mr(u64 bytes)
{
	buffer b = alloc(bytes);
	ornic_mem mem{};

	mem.page_shift = ORNIC_PAGE_SHIFT;
	b.key = make_key(mem, b.dma, b.size, ORNIC_MKEY_ODP);
	return b;
}

buffer fake_guest::make_dm_mr(u64 at, u64 bytes)
{
	buffer b = { 0, dm() + at, bytes, 0 };
	ornic_mem mem{};

	mem.addr = at;
	mem.npages = static_cast<u32>((bytes + page - 1) / page);
	mem.page_shift = ORNIC_PAGE_SHIFT;
	b.key = make_key(mem, 0, bytes, ORNIC_MKEY_DM);
	return b;
}

queue fake_guest::make_qp(const queue &cq, u8 type, u8 flags, u8 queues)
{
	union ornic_req req {
	};
	queue q;

	q.mem = alloc(3 * page);
	q.log_depth = log_wqes;
	q.recv_ring = queues & has_sq ? 2 * page : page;
	req.hdr.opcode = ORNIC_CMD_CREATE_QP;
	req.create_qp.mem = mem_of(q.mem);
	req.create_qp.pdn = pd;
	req.create_qp.send_cqn = cq.number;
	req.create_qp.recv_cqn = cq.number;
	req.create_qp.qp_type = type;
	req.create_qp.flags = flags;
	req.create_qp.has_sq = queues & has_sq ? 1 : 0;
	req.create_qp.has_rq = queues & has_rq ? 1 : 0;
	req.create_qp.sq_log_depth = req.create_qp.rq_log_depth = log_wqes;
	req.create_qp.sq_log_stride = send_stride;
	req.create_qp.rq_log_stride = recv_stride;
	req.create_qp.sq_max_sge = req.create_qp.rq_max_sge = 1;
	q.number = create(req);
	return q;
}

u32 fake_guest::make_gaps(u32 room)
{
	union ornic_req req {
	};

	req.hdr.opcode = ORNIC_CMD_CREATE_MKEY;
	req.create_mkey.mem.npages = room;
	req.create_mkey.pdn = pd;
	req.create_mkey.flags = ORNIC_MKEY_FAST | ORNIC_MKEY_SG_GAPS;
	return create(req);
}

bool fake_guest::destroy(u8 opcode, u32 number)
{
	union ornic_req req {
	};

	req.hdr.opcode = opcode;
	req.hdr.obj = number;
	return execute(req);
}

bool fake_guest::connect(const queue &qp, u32 peer, u8 number)
{
	static const struct {
		u8 state;
		u32 mask;
	} steps[] = {
		{ ORNIC_QPS_INIT, ORNIC_QPM_ACCESS },
		{ ORNIC_QPS_RTR, ORNIC_QPM_AV | ORNIC_QPM_PATH_MTU |
					 ORNIC_QPM_DEST_QPN | ORNIC_QPM_RQ_PSN |
					 ORNIC_QPM_MAX_DEST_RD_ATOMIC |
					 ORNIC_QPM_MIN_RNR_TIMER },
		{ ORNIC_QPS_RTS, ORNIC_QPM_TIMEOUT | ORNIC_QPM_RETRY_CNT |
					 ORNIC_QPM_RNR_RETRY |
					 ORNIC_QPM_SQ_PSN |
					 ORNIC_QPM_MAX_RD_ATOMIC },
	};

	for (const auto &step : steps) {
		union ornic_req req {
		};
		ornic_req_modify_qp &m = req.modify_qp;

		m.hdr.opcode = ORNIC_CMD_MODIFY_QP;
		m.hdr.obj = qp.number;
		m.hdr.param = 7 | 7 << ORNIC_MODIFY_RNR_SHIFT;
		m.mask = ORNIC_QPM_STATE | step.mask;
		m.state = step.state;
		m.rq_psn_rnr = first_psn | 1 << 24;
		m.sq_psn_timeout = first_psn | 14 << 24;
		m.dest_qpn_mtu = peer | path_mtu << 24;
		address_of(number, m.av.dmac, m.av.dgid);
		m.av.udp_sport = 0xc123;
		m.av.hop_limit = 64;
		m.access = all_access;
		m.max_rd_atomic = m.max_dest_rd_atomic = 4;
		if (!execute(req))
			return false;
	}
	return true;
}

bool fake_guest::set_state(const queue &qp, u8 state)
{
	union ornic_req req {
	};

	req.hdr.opcode = ORNIC_CMD_MODIFY_QP;
	req.hdr.obj = qp.number;
	req.modify_qp.mask = ORNIC_QPM_STATE;
	req.modify_qp.state = state;
	return execute(req);
}

u32 fake_guest::make_flow(const queue &qp, const ornic_flow_match &match,
			  u8 flags, u16 priority)
{
	union ornic_req req {
	};
	ornic_flow_rule &rule = req.create_flow.rule;

	memcpy(argument_.ptr, &match, sizeof(match));
	req.hdr.opcode = ORNIC_CMD_CREATE_FLOW;
	rule.match = argument_.dma;
	rule.qpn = qp.number;
	rule.priority = priority;
	rule.flags = flags;
	return create(req);
}

u32 fake_guest::make_default_flow(const queue &qp, u8 type)
{
	union ornic_req req {
	};

	req.hdr.opcode = ORNIC_CMD_CREATE_FLOW;
	req.create_flow.rule.qpn = qp.number;
	req.create_flow.rule.type = type;
	return create(req);
}

bool fake_guest::set_rss(const queue &qp, const ornic_rss &rss)
{
	union ornic_req req {
	};

	memcpy(argument_.ptr, &rss, sizeof(rss));
	req.hdr.opcode = ORNIC_CMD_SET_RSS;
	req.hdr.obj = qp.number;
	req.set_rss.rss = argument_.dma;
	return execute(req);
}

// ---- The program ------------------------------------------------------------------

void fake_guest::publish(queue &qp, u64 record, u32 producer)
{
	auto *r = reinterpret_cast<ornic_wq_record *>(qp.mem.ptr + record);

	smp_store_release(&r->producer, producer);
	smp_mb();
	if (READ_ONCE(r->kick_wanted))
		ring_kick();
}

void fake_guest::post(queue &qp, u8 opcode, const buffer &local, u64 remote,
		      u32 rkey, u32 length)
{
	u32 slot = qp.index & ((1u << log_wqes) - 1);
	u8 *wqe = qp.mem.ptr + page + (slot << send_stride);
	ornic_sq_hdr hdr{};
	ornic_seg_remote to{};
	ornic_sge sge{};

	hdr.opcode = opcode;
	hdr.flags = ORNIC_WQE_SIGNALED;
	hdr.payload = 1;
	hdr.wr_id = qp.index;
	to.raddr = remote;
	to.rkey = rkey;
	sge.addr = local.dma;
	sge.length = length;
	sge.lkey = local.key;
	memcpy(wqe, &hdr, sizeof(hdr));
	wqe += sizeof(hdr);
	if (opcode != ORNIC_WQE_SEND) {
		memcpy(wqe, &to, sizeof(to));
		wqe += sizeof(to);
	}
	memcpy(wqe, &sge, sizeof(sge));
	publish(qp, ORNIC_SQ_RECORD, ++qp.index);
}

void fake_guest::post_recv(queue &qp, const buffer &local, u32 length)
{
	u32 slot = qp.recv_index & ((1u << log_wqes) - 1);
	u8 *wqe = qp.mem.ptr + qp.recv_ring + (slot << recv_stride);
	ornic_rq_hdr hdr{};
	ornic_sge sge{};

	hdr.wr_id = qp.recv_index;
	hdr.num_sge = 1;
	sge.addr = local.dma;
	sge.length = length;
	sge.lkey = local.key;
	memcpy(wqe, &hdr, sizeof(hdr));
	memcpy(wqe + sizeof(hdr), &sge, sizeof(sge));
	publish(qp, ORNIC_RQ_RECORD, ++qp.recv_index);
}

void fake_guest::post_reg(queue &qp, u32 key, const ornic_seg_reg &reg)
{
	u32 slot = qp.index & ((1u << log_wqes) - 1);
	u8 *wqe = qp.mem.ptr + page + (slot << send_stride);
	ornic_sq_hdr hdr{};
	ornic_seg_remote to{};

	hdr.opcode = ORNIC_WQE_REG_MR;
	hdr.flags = ORNIC_WQE_SIGNALED;
	to.rkey = key;
	memcpy(wqe, &hdr, sizeof(hdr));
	memcpy(wqe + sizeof(hdr), &to, sizeof(to));
	memcpy(wqe + sizeof(hdr) + sizeof(to), &reg, sizeof(reg));
	publish(qp, ORNIC_SQ_RECORD, ++qp.index);
}

void fake_guest::post_invalidate(queue &qp, u32 key)
{
	u32 slot = qp.index & ((1u << log_wqes) - 1);
	u8 *wqe = qp.mem.ptr + page + (slot << send_stride);
	ornic_sq_hdr hdr{};

	hdr.opcode = ORNIC_WQE_LOCAL_INV;
	hdr.flags = ORNIC_WQE_SIGNALED;
	hdr.imm = cpu_to_be32(key);
	memcpy(wqe, &hdr, sizeof(hdr));
	publish(qp, ORNIC_SQ_RECORD, ++qp.index);
}

std::optional<ornic_cqe> fake_guest::poll(queue &cq)
{
	std::optional<ornic_cqe> cqe;

	eventually([&] {
		cqe = poll_now(cq);
		return cqe.has_value();
	});
	return cqe;
}

std::optional<ornic_cqe> fake_guest::poll_now(queue &cq)
{
	u32 slot = cq.index & ((1u << cq.log_depth) - 1);
	bool phase = !(cq.index >> cq.log_depth & 1);
	auto *at = reinterpret_cast<ornic_cqe *>(cq.mem.ptr + page) + slot;
	auto *record = reinterpret_cast<ornic_cq_record *>(cq.mem.ptr);
	ornic_cqe cqe;

	if ((smp_load_acquire(&at->flags) & ORNIC_CQE_PHASE) != phase)
		return {};
	memcpy(&cqe, at, sizeof(cqe));
	smp_store_release(&record->consumer, ++cq.index);
	return cqe;
}

void fake_guest::arm(queue &cq)
{
	auto *record = reinterpret_cast<ornic_cq_record *>(cq.mem.ptr);

	WRITE_ONCE(record->arm,
		   ++cq.arm << ORNIC_ARM_SEQ_SHIFT | ORNIC_ARM_NEXT);
	smp_mb();
}

std::optional<ornic_eqe> fake_guest::poll_eq(queue &eq)
{
	u32 slot = eq.index & ((1u << eq.log_depth) - 1);
	bool phase = !(eq.index >> eq.log_depth & 1);
	auto *at = reinterpret_cast<ornic_eqe *>(eq.mem.ptr + page) + slot;
	auto *record = reinterpret_cast<ornic_eq_record *>(eq.mem.ptr);
	ornic_eqe eqe;

	if ((smp_load_acquire(&at->flags) & 1) != phase)
		return {};
	memcpy(&eqe, at, sizeof(eqe));
	smp_store_release(&record->consumer, ++eq.index);
	smp_mb();
	if (READ_ONCE(record->kick_wanted))
		ring_control();
	return eqe;
}

} // namespace test
