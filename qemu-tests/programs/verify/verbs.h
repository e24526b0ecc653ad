/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Verbs objects with owners. An endpoint is one QP with its CQs and one
 * registered buffer; a pair is two endpoints that are connected to each other
 * without any out-of-band exchange, since both live in this process.
 */
#pragma once

#include <infiniband/verbs.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "report.h"

template <auto destroy> struct destroyer {
	void operator()(auto *object) const
	{
		destroy(object);
	}
};

template <typename T, auto destroy>
using owned = std::unique_ptr<T, destroyer<destroy>>;

using context_ptr = owned<ibv_context, ibv_close_device>;
using pd_ptr = owned<ibv_pd, ibv_dealloc_pd>;
using mr_ptr = owned<ibv_mr, ibv_dereg_mr>;
using mw_ptr = owned<ibv_mw, ibv_dealloc_mw>;

/* ibv_free_dm() is a static function: no argument of what several files share. */
struct dm_destroyer {
	void operator()(ibv_dm *dm) const
	{
		ibv_free_dm(dm);
	}
};

using dm_ptr = std::unique_ptr<ibv_dm, dm_destroyer>;
using channel_ptr = owned<ibv_comp_channel, ibv_destroy_comp_channel>;
using cq_ptr = owned<ibv_cq, ibv_destroy_cq>;
using srq_ptr = owned<ibv_srq, ibv_destroy_srq>;
using qp_ptr = owned<ibv_qp, ibv_destroy_qp>;
using ah_ptr = owned<ibv_ah, ibv_destroy_ah>;

constexpr int all_access = IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE |
			   IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_ATOMIC;

/* How long anything may take, in ms; stretched by $SCALE on slow kernels. */
int timeout_ms();

/* One port of one device, with one of its GIDs. */
struct port {
	port(const std::string &device, int gid_index, const std::string &type);

	std::string name;
	bool is_rxe; /* tests allow for what it is known to do its own way */
	context_ptr context;
	pd_ptr pd;
	int gid_index;
	ibv_gid gid;
	bool is_roce_v1; /* of the GID */
	ibv_port_attr attr;
	ibv_device_attr limits;

	/* Its packets have an IPv4 header. */
	[[nodiscard]] bool is_ipv4() const;
};

/* A page-aligned buffer of its own mapping. */
class memory {
public:
	explicit memory(size_t size);
	~memory();
	memory(const memory &) = delete;
	memory &operator=(const memory &) = delete;

	[[nodiscard]] std::span<std::byte> bytes() const
	{
		return { base_, size_ };
	}

private:
	std::byte *base_;
	size_t size_;
};

/* Bytes of device memory, 0 if it has none; some of it, or null with errno. */
size_t max_dm_size(const port &p);
dm_ptr try_alloc_dm(const port &p, size_t size, uint32_t log_align = 0);
/* Wait until nobody has any of it. */
void wait_for_dm(const port &p);

struct options {
	ibv_qp_type type = IBV_QPT_RC;
	ibv_mtu mtu = IBV_MTU_1024;
	uint32_t depth = 64;
	uint32_t sges = 4;
	uint32_t inline_size = 0;
	bool sq_sig_all = false;
	int access = all_access; /* of QP and MR */
	int qp_access = -1; /* of the QP, where it differs */
	uint8_t timeout = 17; /* half a second, for a busy host */
	uint8_t retry = 7;
	uint8_t rnr_retry = 7;
	uint8_t min_rnr_timer = 1;
	uint8_t rd_atomic = 4;
	size_t buffer = 2 << 20;
	bool channel = false;
	int vector = 0; /* of both CQs */
	ibv_srq *srq = nullptr; /* of the server */
	bool no_sends =
		false; /* of the server: its send queue is the device's */
	uint16_t pkey_index = 0;
};

constexpr uint32_t ud_qkey = 0x11111111;

/* What the other side needs of an endpoint: to connect, and for its buffer. */
struct remote_end {
	ibv_gid gid;
	uint32_t qpn;
	uint32_t psn;
	uint32_t rkey;
	uint64_t address;
};

class endpoint {
public:
	endpoint(port &p, const options &o);

	port &on;
	options opt;
	memory buffer;
	mr_ptr mr;
	channel_ptr channel;
	cq_ptr send_cq, recv_cq;
	ibv_qp_cap cap;
	qp_ptr qp;
	uint32_t psn;

	[[nodiscard]] std::span<std::byte> at(size_t offset, size_t size) const
	{
		return buffer.bytes().subspan(offset, size);
	}
	[[nodiscard]] uint64_t address(size_t offset) const
	{
		return reinterpret_cast<uint64_t>(buffer.bytes().data()) +
		       offset;
	}
	[[nodiscard]] ibv_sge sge(size_t offset, size_t size) const;
	/* So that a peer of this process is given as one of another host. */
	operator remote_end() const;

	void to_init();
	void to_rtr(const remote_end &peer);
	void to_rts();
	void to_error();
	[[nodiscard]] ibv_qp_state state() const;
	void wait_state(ibv_qp_state want) const;

	void post_recv(uint64_t id, std::vector<ibv_sge> list);
	void post_recv(uint64_t id, size_t offset, size_t size);
	void post(ibv_send_wr wr, std::vector<ibv_sge> list);
	int try_post(ibv_send_wr wr, std::vector<ibv_sge> list);

	[[nodiscard]] ibv_wc wait_send()
	{
		return wait(send_cq.get());
	}
	[[nodiscard]] ibv_wc wait_recv()
	{
		return wait(recv_cq.get());
	}
	[[nodiscard]] ibv_wc sent(uint64_t id);
	[[nodiscard]] ibv_wc received(uint64_t id);
	void nothing_more();

	static ibv_wc wait(ibv_cq *cq);
	static bool wait_for(ibv_cq *cq, int ms, ibv_wc &wc);
};

/* The client is the one that requests. */
struct pair {
	pair(port &client_port, port &server_port, const options &o = {});

	endpoint client;
	endpoint server;
};

/* An address vector from the GID @sgid_index of port 1. */
ibv_ah_attr path_to(const ibv_gid &gid, int sgid_index);

/* A work request with defaults: signalled, its id the caller's. */
ibv_send_wr request(ibv_wr_opcode opcode, uint64_t id,
		    unsigned int flags = IBV_SEND_SIGNALED);
ibv_send_wr rdma(ibv_wr_opcode opcode, uint64_t id, const remote_end &peer,
		 size_t offset, unsigned int flags = IBV_SEND_SIGNALED);
ibv_send_wr atomic(ibv_wr_opcode opcode, uint64_t id, const remote_end &peer,
		   size_t offset, uint64_t compare_add, uint64_t swap = 0);

/* Bytes that depend on the seed and on the place, and their check. */
void fill(std::span<std::byte> bytes, uint32_t seed);
void check_fill(std::span<const std::byte> bytes, uint32_t seed,
		const std::string &what);
void clear(std::span<std::byte> bytes);
void check_clear(std::span<const std::byte> bytes, const std::string &what);

/* The next asynchronous event of the device is this one, of that object. */
void expect_event(port &on, ibv_event_type type, const void *element);
void expect_no_event(port &on);

void check_wc(const ibv_wc &wc, ibv_wc_status status, const std::string &what);
size_t mtu_bytes(ibv_mtu mtu);
