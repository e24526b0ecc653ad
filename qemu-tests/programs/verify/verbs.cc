// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause

#include "verbs.h"

#include <poll.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <thread>

namespace
{

using clock_type = std::chrono::steady_clock;

clock_type::time_point deadline()
{
	return clock_type::now() + std::chrono::milliseconds(timeout_ms());
}

context_ptr open_device(const std::string &name)
{
	int count = 0;
	ibv_device **list = ibv_get_device_list(&count);
	ibv_context *context = nullptr;

	for (int i = 0; list && i < count; i++)
		if (name == ibv_get_device_name(list[i]))
			context = ibv_open_device(list[i]);
	if (list)
		ibv_free_device_list(list);
	check(context, "cannot open device " + name);
	return context_ptr(context);
}

/* Starting PSNs differ, and wrap around 2^24 in many a test. */
uint32_t next_psn()
{
	static uint32_t psn = 0xfffff0;

	psn = (psn + 0x3fff1) & 0xffffff;
	return psn & 1 ? 0xfffffe - (psn & 7) : psn;
}

} /* namespace */

void fail(const std::string &what)
{
	throw failure(what);
}

int timeout_ms()
{
	const char *scale = std::getenv("SCALE");

	return 10000 * std::max(1, scale ? std::atoi(scale) : 1);
}

port::port(const std::string &device, int index, const std::string &type)
	: name(device)
	, is_rxe(type == "rxe")
	, context(open_device(device))
	, pd(ibv_alloc_pd(context.get()))
	, gid_index(index)
{
	check(pd != nullptr, "ibv_alloc_pd on " + name);
	ibv_gid_entry entry{};

	check(!ibv_query_gid_ex(context.get(), 1,
				static_cast<uint32_t>(gid_index), &entry, 0),
	      "ibv_query_gid_ex on " + name);
	gid = entry.gid;
	is_roce_v1 = entry.gid_type == IBV_GID_TYPE_ROCE_V1;
	check(!ibv_query_port(context.get(), 1, &attr),
	      "ibv_query_port on " + name);
	check(!ibv_query_device(context.get(), &limits),
	      "ibv_query_device on " + name);
}

bool port::is_ipv4() const
{
	static const uint8_t mapped[12] = { 0, 0, 0, 0, 0,    0,
					    0, 0, 0, 0, 0xff, 0xff };

	return !is_roce_v1 && !std::memcmp(gid.raw, mapped, sizeof(mapped));
}

size_t max_dm_size(const port &p)
{
	ibv_device_attr_ex attr{};

	check_equal(ibv_query_device_ex(p.context.get(), nullptr, &attr), 0,
		    "ibv_query_device_ex");
	return attr.max_dm_size;
}

dm_ptr try_alloc_dm(const port &p, size_t size, uint32_t log_align)
{
	ibv_alloc_dm_attr attr{};

	errno = 0;
	attr.length = size;
	attr.log_align_req = log_align;
	return dm_ptr(ibv_alloc_dm(p.context.get(), &attr));
}

void wait_for_dm(const port &p)
{
	for (int ms = 0; ms < timeout_ms(); ms++) {
		if (try_alloc_dm(p, max_dm_size(p)))
			return;
		check_equal(errno, ENOMEM, "errno");
		usleep(1000);
	}
	fail("device memory is not given back");
}

memory::memory(size_t size)
	: base_(static_cast<std::byte *>(
		  mmap(nullptr, size, PROT_READ | PROT_WRITE,
		       MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)))
	, size_(size)
{
	check(base_ != MAP_FAILED, "mmap");
}

memory::~memory()
{
	munmap(base_, size_);
}

endpoint::endpoint(port &p, const options &o)
	: on(p)
	, opt(o)
	, buffer(o.buffer)
	, mr(ibv_reg_mr(p.pd.get(), buffer.bytes().data(), o.buffer, o.access))
	, channel(o.channel ? ibv_create_comp_channel(p.context.get()) :
			      nullptr)
	, send_cq(ibv_create_cq(p.context.get(), static_cast<int>(2 * o.depth),
				nullptr, nullptr, o.vector))
	, recv_cq(ibv_create_cq(p.context.get(), static_cast<int>(2 * o.depth),
				nullptr, channel.get(), o.vector))
	, cap{}
	, psn(next_psn())
{
	ibv_qp_init_attr attr{};

	check(mr && send_cq && recv_cq, "MR or CQs on " + p.name);
	attr.send_cq = send_cq.get();
	attr.recv_cq = recv_cq.get();
	attr.srq = o.srq;
	attr.qp_type = o.type;
	attr.sq_sig_all = o.sq_sig_all;
	attr.cap = { o.no_sends ? 0 : o.depth, o.depth, o.no_sends ? 0 : o.sges,
		     o.sges, o.inline_size };
	qp.reset(ibv_create_qp(p.pd.get(), &attr));
	check(qp != nullptr,
	      "ibv_create_qp: " + std::string(std::strerror(errno)));
	cap = attr.cap;
}

ibv_sge endpoint::sge(size_t offset, size_t size) const
{
	return { address(offset), static_cast<uint32_t>(size), mr->lkey };
}

endpoint::operator remote_end() const
{
	return { on.gid, qp->qp_num, psn, mr->rkey, address(0) };
}

void endpoint::to_init()
{
	ibv_qp_attr attr{};
	int mask = IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT;

	attr.qp_state = IBV_QPS_INIT;
	attr.port_num = 1;
	attr.pkey_index = opt.pkey_index;
	attr.qkey = ud_qkey;
	attr.qp_access_flags = opt.qp_access < 0 ? opt.access : opt.qp_access;
	if (opt.type == IBV_QPT_UC)
		attr.qp_access_flags &= IBV_ACCESS_LOCAL_WRITE |
					IBV_ACCESS_REMOTE_WRITE;
	mask |= opt.type == IBV_QPT_UD ? IBV_QP_QKEY : IBV_QP_ACCESS_FLAGS;
	check_equal(ibv_modify_qp(qp.get(), &attr, mask), 0, "modify to INIT");
}

ibv_ah_attr path_to(const ibv_gid &gid, int sgid_index)
{
	ibv_ah_attr attr{};

	attr.is_global = 1;
	attr.grh.dgid = gid;
	attr.grh.sgid_index = static_cast<uint8_t>(sgid_index);
	attr.grh.hop_limit = 64;
	attr.port_num = 1;
	return attr;
}

void endpoint::to_rtr(const remote_end &peer)
{
	ibv_qp_attr attr{};
	int mask = IBV_QP_STATE;

	attr.qp_state = IBV_QPS_RTR;
	attr.path_mtu = opt.mtu;
	attr.dest_qp_num = peer.qpn;
	attr.rq_psn = peer.psn;
	attr.max_dest_rd_atomic = opt.rd_atomic;
	attr.min_rnr_timer = opt.min_rnr_timer;
	attr.ah_attr = path_to(peer.gid, on.gid_index);
	if (opt.type != IBV_QPT_UD)
		mask |= IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN |
			IBV_QP_RQ_PSN;
	if (opt.type == IBV_QPT_RC)
		mask |= IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER;
	check_equal(ibv_modify_qp(qp.get(), &attr, mask), 0, "modify to RTR");
}

void endpoint::to_rts()
{
	ibv_qp_attr attr{};
	int mask = IBV_QP_STATE | IBV_QP_SQ_PSN;

	attr.qp_state = IBV_QPS_RTS;
	attr.sq_psn = psn;
	attr.timeout = opt.timeout;
	attr.retry_cnt = opt.retry;
	attr.rnr_retry = opt.rnr_retry;
	attr.max_rd_atomic = opt.rd_atomic;
	if (opt.type == IBV_QPT_RC)
		mask |= IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY |
			IBV_QP_MAX_QP_RD_ATOMIC;
	check_equal(ibv_modify_qp(qp.get(), &attr, mask), 0, "modify to RTS");
}

void endpoint::to_error()
{
	ibv_qp_attr attr{};

	attr.qp_state = IBV_QPS_ERR;
	check_equal(ibv_modify_qp(qp.get(), &attr, IBV_QP_STATE), 0,
		    "modify to ERR");
}

ibv_qp_state endpoint::state() const
{
	ibv_qp_attr attr{};
	ibv_qp_init_attr init{};

	check_equal(ibv_query_qp(qp.get(), &attr, IBV_QP_STATE, &init), 0,
		    "ibv_query_qp");
	return attr.qp_state;
}

void endpoint::wait_state(ibv_qp_state want) const
{
	const auto end = deadline();

	while (state() != want && clock_type::now() < end)
		std::this_thread::yield();
	check_equal(state(), want, "QP state on " + on.name);
}

void endpoint::post_recv(uint64_t id, std::vector<ibv_sge> list)
{
	ibv_recv_wr wr{}, *bad;

	wr.wr_id = id;
	wr.sg_list = list.data();
	wr.num_sge = static_cast<int>(list.size());
	check_equal(ibv_post_recv(qp.get(), &wr, &bad), 0, "ibv_post_recv");
}

void endpoint::post_recv(uint64_t id, size_t offset, size_t size)
{
	post_recv(id, { sge(offset, size) });
}

int endpoint::try_post(ibv_send_wr wr, std::vector<ibv_sge> list)
{
	ibv_send_wr *bad = nullptr;

	wr.sg_list = list.data();
	wr.num_sge = static_cast<int>(list.size());
	const int status = ibv_post_send(qp.get(), &wr, &bad);
	check(!status || bad == &wr, "bad_wr is not the bad one");
	return status;
}

void endpoint::post(ibv_send_wr wr, std::vector<ibv_sge> list)
{
	check_equal(try_post(wr, std::move(list)), 0, "ibv_post_send");
}

bool endpoint::wait_for(ibv_cq *cq, int ms, ibv_wc &wc)
{
	const auto end = clock_type::now() + std::chrono::milliseconds(ms);

	do {
		const int got = ibv_poll_cq(cq, 1, &wc);

		check(got >= 0, "ibv_poll_cq");
		if (got)
			return true;
		std::this_thread::yield();
	} while (clock_type::now() < end);
	return false;
}

ibv_wc endpoint::wait(ibv_cq *cq)
{
	ibv_wc wc{};

	check(wait_for(cq, timeout_ms(), wc), "no completion in time");
	return wc;
}

ibv_wc endpoint::sent(uint64_t id)
{
	const ibv_wc wc = wait_send();

	check_wc(wc, IBV_WC_SUCCESS, "send completion");
	check_equal(wc.wr_id, id, "wr_id of send completion");
	check_equal(wc.qp_num, qp->qp_num, "qp_num of send completion");
	return wc;
}

ibv_wc endpoint::received(uint64_t id)
{
	const ibv_wc wc = wait_recv();

	check_wc(wc, IBV_WC_SUCCESS, "receive completion");
	check_equal(wc.wr_id, id, "wr_id of receive completion");
	check_equal(wc.qp_num, qp->qp_num, "qp_num of receive completion");
	return wc;
}

void endpoint::nothing_more()
{
	ibv_wc wc;

	for (ibv_cq *cq : { send_cq.get(), recv_cq.get() })
		if (ibv_poll_cq(cq, 1, &wc))
			fail(std::string("spare completion, ") +
			     ibv_wc_status_str(wc.status));
}

/* An SRQ belongs to the server. */
static options without_srq(options o)
{
	o.srq = nullptr;
	o.no_sends = false;
	return o;
}

pair::pair(port &client_port, port &server_port, const options &o)
	: client(client_port, without_srq(o))
	, server(server_port, o)
{
	client.to_init();
	server.to_init();
	server.to_rtr(client);
	client.to_rtr(server);
	server.to_rts();
	client.to_rts();
}

ibv_send_wr request(ibv_wr_opcode opcode, uint64_t id, unsigned int flags)
{
	ibv_send_wr wr{};

	wr.wr_id = id;
	wr.opcode = opcode;
	wr.send_flags = flags;
	return wr;
}

ibv_send_wr rdma(ibv_wr_opcode opcode, uint64_t id, const remote_end &peer,
		 size_t offset, unsigned int flags)
{
	ibv_send_wr wr = request(opcode, id, flags);

	wr.wr.rdma.remote_addr = peer.address + offset;
	wr.wr.rdma.rkey = peer.rkey;
	return wr;
}

ibv_send_wr atomic(ibv_wr_opcode opcode, uint64_t id, const remote_end &peer,
		   size_t offset, uint64_t compare_add, uint64_t swap)
{
	ibv_send_wr wr = request(opcode, id);

	wr.wr.atomic.remote_addr = peer.address + offset;
	wr.wr.atomic.rkey = peer.rkey;
	wr.wr.atomic.compare_add = compare_add;
	wr.wr.atomic.swap = swap;
	return wr;
}

static std::byte pattern(uint32_t seed, size_t i)
{
	uint32_t x =
		seed * 0x9e3779b9u + static_cast<uint32_t>(i) * 0x85ebca6bu;

	return static_cast<std::byte>((x ^ x >> 15) >> 3);
}

void fill(std::span<std::byte> bytes, uint32_t seed)
{
	for (size_t i = 0; i < bytes.size(); i++)
		bytes[i] = pattern(seed, i);
}

void check_fill(std::span<const std::byte> bytes, uint32_t seed,
		const std::string &what)
{
	for (size_t i = 0; i < bytes.size(); i++)
		if (bytes[i] != pattern(seed, i))
			fail(what + ": wrong byte at " + std::to_string(i) +
			     " of " + std::to_string(bytes.size()));
}

void clear(std::span<std::byte> bytes)
{
	std::fill(bytes.begin(), bytes.end(), std::byte{ 0xa5 });
}

void check_clear(std::span<const std::byte> bytes, const std::string &what)
{
	for (size_t i = 0; i < bytes.size(); i++)
		if (bytes[i] != std::byte{ 0xa5 })
			fail(what + ": byte " + std::to_string(i) +
			     " written beyond the message");
}

void expect_event(port &on, ibv_event_type type, const void *element)
{
	pollfd fd = { on.context->async_fd, POLLIN, 0 };
	ibv_async_event event;

	check(poll(&fd, 1, timeout_ms()) == 1,
	      std::string("no event: ") + ibv_event_type_str(type));
	check(!ibv_get_async_event(on.context.get(), &event), "event");
	const bool same = event.event_type == type &&
			  event.element.qp == element;
	const std::string got = ibv_event_type_str(event.event_type);

	ibv_ack_async_event(&event);
	check(same, "event " + got + ", want " + ibv_event_type_str(type));
}

void expect_no_event(port &on)
{
	pollfd fd = { on.context->async_fd, POLLIN, 0 };

	check(poll(&fd, 1, 0) == 0, "an event that nobody asked for");
}

void check_wc(const ibv_wc &wc, ibv_wc_status status, const std::string &what)
{
	if (wc.status != status)
		fail(what + ": " + ibv_wc_status_str(wc.status) + ", want " +
		     ibv_wc_status_str(status));
}

size_t mtu_bytes(ibv_mtu mtu)
{
	return size_t{ 128 } << mtu;
}
