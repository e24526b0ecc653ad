// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* RSS: work queues, tables of them, and QPs that spread frames by a hash. */

#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <thread>

#include "odp.h"
#include "raw.h"
#include "uverbs_method.h"

namespace
{

constexpr uint32_t log_size = 3;
constexpr uint32_t entries = 1 << log_size;
constexpr uint32_t num_queues = 4;
constexpr size_t frame_size = 100;
/* The bytes of a frame of put_frame() that are hashed: addresses, then ports. */
constexpr size_t hashed_at = 26;
constexpr size_t hashed_size = 12;
constexpr uint64_t ipv4_and_udp = IBV_RX_HASH_SRC_IPV4 | IBV_RX_HASH_DST_IPV4 |
				  IBV_RX_HASH_SRC_PORT_UDP |
				  IBV_RX_HASH_DST_PORT_UDP;

using hash_key = std::array<uint8_t, 40>;

constexpr hash_key key = { 0x6d, 0x5a, 0x56, 0xda, 0x25, 0x5b, 0x0e, 0xc2,
			   0x41, 0x67, 0x25, 0x3d, 0x43, 0xa3, 0x8f, 0xb0,
			   0xd0, 0xca, 0x2b, 0xcb, 0xae, 0x7b, 0x30, 0xb4,
			   0x77, 0xcb, 0x2d, 0xa3, 0x80, 0x30, 0xf2, 0x0c,
			   0x6a, 0x42, 0xb7, 0x3b, 0xbe, 0xac, 0x01, 0xfa };

/* As its definition has it: for each bit that is set, 32 bits of the key. */
uint32_t toeplitz(std::span<const std::byte> data)
{
	const auto bit = [](size_t i) {
		return key[i / 8] >> (7 - i % 8) & 1U;
	};
	uint32_t hash = 0;

	for (size_t i = 0; i < data.size() * 8; i++) {
		if (!(static_cast<unsigned>(data[i / 8]) >> (7 - i % 8) & 1))
			continue;
		for (size_t j = 0; j < 32; j++)
			hash ^= bit(i + j) << (31 - j);
	}
	return hash;
}

/* These are destroyed by static functions. */
struct wq_destroyer {
	void operator()(ibv_wq *wq) const
	{
		ibv_destroy_wq(wq);
	}
};
struct table_destroyer {
	void operator()(ibv_rwq_ind_table *table) const
	{
		ibv_destroy_rwq_ind_table(table);
	}
};

using wq_ptr = std::unique_ptr<ibv_wq, wq_destroyer>;
using table_ptr = std::unique_ptr<ibv_rwq_ind_table, table_destroyer>;

ibv_wq_init_attr queue_attr(ibv_pd *pd, ibv_cq *cq)
{
	ibv_wq_init_attr attr{};

	attr.wq_type = IBV_WQT_RQ;
	attr.max_wr = depth;
	attr.max_sge = 1;
	attr.pd = pd;
	attr.cq = cq;
	return attr;
}

int modify(ibv_wq *wq, ibv_wq_state to)
{
	ibv_wq_attr attr{};

	attr.attr_mask = IBV_WQ_ATTR_STATE;
	attr.wq_state = to;
	return ibv_modify_wq(wq, &attr);
}

int try_post(ibv_wq *wq, uint64_t id, ibv_sge sge)
{
	ibv_recv_wr wr{}, *bad = nullptr;

	wr.wr_id = id;
	wr.sg_list = &sge;
	wr.num_sge = 1;
	return ibv_post_wq_recv(wq, &wr, &bad);
}

/* A work queue that is ready, with a CQ and memory. */
struct queue {
	queue(port &p, ibv_pd *pd)
		: buffer(depth * slot)
		, mr(ibv_reg_mr(pd, buffer.bytes().data(),
				buffer.bytes().size(), IBV_ACCESS_LOCAL_WRITE))
		, cq(ibv_create_cq(p.context.get(), depth, nullptr, nullptr, 0))
	{
		check(mr && cq, "MR and CQ");
		ibv_wq_init_attr attr = queue_attr(pd, cq.get());

		wq.reset(ibv_create_wq(p.context.get(), &attr));
		check(wq != nullptr, "ibv_create_wq");
		check(attr.max_wr >= depth, "max_wr");
		check_equal(modify(wq.get(), IBV_WQS_RDY), 0, "to RDY");
	}
	[[nodiscard]] ibv_sge sge(uint32_t n) const
	{
		return { reinterpret_cast<uint64_t>(at(n).data()), slot,
			 mr->lkey };
	}
	[[nodiscard]] std::span<std::byte> at(uint32_t n) const
	{
		return buffer.bytes().subspan(n % depth * slot, slot);
	}
	/* Its id says where. */
	void post(uint32_t n) const
	{
		check_equal(try_post(wq.get(), n, sge(n)), 0, "post");
	}

	memory buffer;
	mr_ptr mr;
	cq_ptr cq;
	wq_ptr wq;
};

/* What ibv_create_qp_ex() needs to spread over @table. */
ibv_qp_init_attr_ex spread_attr(ibv_pd *pd, ibv_rwq_ind_table *table)
{
	/* It is not written to. */
	static hash_key own = key;
	ibv_qp_init_attr_ex attr{};

	attr.comp_mask = IBV_QP_INIT_ATTR_PD | IBV_QP_INIT_ATTR_IND_TABLE |
			 IBV_QP_INIT_ATTR_RX_HASH;
	attr.qp_type = IBV_QPT_RAW_PACKET;
	attr.pd = pd;
	attr.rwq_ind_tbl = table;
	attr.rx_hash_conf.rx_hash_function = IBV_RX_HASH_FUNC_TOEPLITZ;
	attr.rx_hash_conf.rx_hash_key_len = sizeof(own);
	attr.rx_hash_conf.rx_hash_key = own.data();
	attr.rx_hash_conf.rx_hash_fields_mask = ipv4_and_udp;
	return attr;
}

table_ptr try_table(const port &p, std::span<ibv_wq *const> wqs)
{
	std::vector<ibv_wq *> own(wqs.begin(), wqs.end());
	ibv_rwq_ind_table_init_attr attr{};

	while (1U << attr.log_ind_tbl_size < own.size())
		attr.log_ind_tbl_size++;
	attr.ind_tbl = own.data();
	errno = 0;
	return table_ptr(ibv_create_rwq_ind_table(p.context.get(), &attr));
}

/* A QP that spreads frames to server_mac over some queues. */
struct spread {
	explicit spread(port &p, uint32_t n = num_queues)
		: on(p)
	{
		std::vector<ibv_wq *> wqs;

		for (uint32_t i = 0; i < n; i++)
			queues.push_back(
				std::make_unique<queue>(p, p.pd.get()));
		for (uint32_t i = 0; i < entries; i++)
			wqs.push_back(queues[i % n]->wq.get());
		table = try_table(p, wqs);
		check(table != nullptr, "ibv_create_rwq_ind_table");
		ibv_qp_init_attr_ex attr = spread_attr(p.pd.get(), table.get());
		qp.reset(ibv_create_qp_ex(p.context.get(), &attr));
		check(qp != nullptr, "ibv_create_qp_ex");
		flow_request rule = make({ .destination = &server_mac });
		flow.reset(ibv_create_flow(qp.get(), &rule.attr));
		check(flow != nullptr, "ibv_create_flow");
	}
	/* The queue of the frame that @from has last sent. */
	[[nodiscard]] queue &expected(const raw_end &from) const
	{
		const uint32_t hash =
			toeplitz(from.at(source + hashed_at, hashed_size));

		return *queues[hash % entries % queues.size()];
	}

	port &on;
	std::vector<std::unique_ptr<queue>> queues;
	table_ptr table;
	qp_ptr qp;
	flow_ptr flow;
};

class rss : public verify {
protected:
	rss()
	{
		for (const port *p : { &on.client, &on.server })
			if (!supported_qpts(*p))
				skip(p->name + " has no RSS");
		client_ = std::make_unique<raw_end>(on.client);
	}

	static uint32_t supported_qpts(const port &p)
	{
		ibv_device_attr_ex attr{};

		check_equal(ibv_query_device_ex(p.context.get(), nullptr,
						&attr),
			    0, "ibv_query_device_ex");
		return attr.rss_caps.supported_qpts;
	}
	void send(uint16_t udp_port)
	{
		put_frame(*client_, server_mac, frame_size, udp_port);
		client_->send(frame_size);
	}
	/* The frame that was sent last is in receive @n of @to. */
	void expect(const queue &to, uint32_t n)
	{
		const ibv_wc wc = endpoint::wait(to.cq.get());

		check_wc(wc, IBV_WC_SUCCESS, "receive");
		check_equal(wc.wr_id, uint64_t{ n }, "wr_id");
		check_equal(wc.qp_num, to.wq->wq_num, "qp_num");
		check_equal(wc.byte_len, frame_size, "bytes");
		check(!std::memcmp(to.at(n).data(),
				   client_->at(source, frame_size).data(),
				   frame_size),
		      "content");
	}
	/* Frames are lost until one is received. */
	ibv_wc send_until_received(ibv_cq *cq, uint16_t udp_port)
	{
		ibv_wc wc{};

		for (int i = 0; i < 10000; i++) {
			send(udp_port);
			if (ibv_poll_cq(cq, 1, &wc))
				return wc;
			usleep(1000);
		}
		fail("no frame was received");
	}
	static void nothing_in(const queue &q)
	{
		ibv_wc wc;

		check_equal(ibv_poll_cq(q.cq.get(), 1, &wc), 0, "completions");
	}
	raw_end &client()
	{
		return *client_;
	}

private:
	std::unique_ptr<raw_end> client_;
};

/* Each frame to one queue, by the hash that everybody can compute. */
TEST_F(rss, rss_spreads)
{
	std::array<uint32_t, num_queues> got{};
	spread to(on.server);

	for (uint16_t i = 0; i < 40; i++) {
		for (const auto &q : to.queues)
			q->post(i);
		send(static_cast<uint16_t>(1000 + i));
		expect(to.expected(client()), i);
		for (uint32_t n = 0; n < num_queues; n++) {
			queue &q = *to.queues[n];

			nothing_in(q);
			if (&q == &to.expected(client())) {
				got[n]++;
				continue;
			}
			/* Of the others, what was posted goes again. */
			check_equal(modify(q.wq.get(), IBV_WQS_RESET), 0,
				    "to RESET");
			check_equal(modify(q.wq.get(), IBV_WQS_RDY), 0,
				    "to RDY");
		}
	}
	for (uint32_t n = 0; n < num_queues; n++)
		check(got[n] > 0, "queue " + std::to_string(n) + " got none");
}

/* Those of one flow stay in order, and more than a ring has are lost. */
TEST_F(rss, rss_keeps_order)
{
	spread to(on.server);

	for (uint32_t i = 0; i < depth; i++)
		for (const auto &q : to.queues)
			q->post(i);
	for (uint32_t i = 0; i < 3 * depth; i++) {
		send(2000);
		expect(to.expected(client()), i % depth);
		to.expected(client()).post(i % depth);
	}
	for (uint32_t i = 0; i < depth + 5; i++)
		send(2000);
	for (uint32_t i = 0; i < depth; i++)
		(void)endpoint::wait(to.expected(client()).cq.get());
	nothing_in(to.expected(client()));
}

TEST_F(rss, rss_states)
{
	spread to(on.server, 1);
	queue &q = *to.queues[0];
	ibv_wq *const wq = q.wq.get();
	ibv_wq_attr attr{};

	q.post(0);
	send(1000);
	expect(q, 0);
	/* What is posted completes, and what is posted afterwards. */
	q.post(1);
	check_equal(modify(wq, IBV_WQS_ERR), 0, "to ERR");
	q.post(2);
	for (uint64_t id : { 1, 2 }) {
		const ibv_wc wc = endpoint::wait(q.cq.get());

		check_wc(wc, IBV_WC_WR_FLUSH_ERR, "flush");
		check_equal(wc.wr_id, id, "wr_id");
		check_equal(wc.qp_num, wq->wq_num, "qp_num");
	}
	check_equal(modify(wq, IBV_WQS_RDY), EINVAL, "from ERR to RDY");
	check_equal(modify(wq, IBV_WQS_RESET), 0, "to RESET");
	check_equal(try_post(wq, 3, q.sge(3)), EINVAL, "post in RESET");
	attr.attr_mask = IBV_WQ_ATTR_STATE | IBV_WQ_ATTR_CURR_STATE;
	attr.wq_state = IBV_WQS_RDY;
	attr.curr_wq_state = IBV_WQS_RDY;
	check_equal(ibv_modify_wq(wq, &attr), EINVAL, "from another state");
	attr.curr_wq_state = IBV_WQS_RESET;
	check_equal(ibv_modify_wq(wq, &attr), 0, "to RDY");
	attr.attr_mask = IBV_WQ_ATTR_FLAGS;
	attr.flags = attr.flags_mask = IBV_WQ_FLAGS_CVLAN_STRIPPING;
	check_equal(ibv_modify_wq(wq, &attr), EOPNOTSUPP, "flags");
	q.post(4);
	send(1001);
	expect(q, 4);
	nothing_in(q);
}

/* It does not outlive its CQ, as a QP does not. */
TEST_F(rss, rss_overflow)
{
	spread to(on.server, 1);
	queue &q = *to.queues[0];

	check_equal(ibv_resize_cq(q.cq.get(), 4), 0, "ibv_resize_cq");
	for (uint32_t i = 0; i < depth; i++)
		q.post(i);
	for (int i = 0; i < 8; i++)
		send(1000);
	expect_event(on.server, IBV_EVENT_CQ_ERR, q.cq.get());
	expect_event(on.server, IBV_EVENT_WQ_FATAL, q.wq.get());
	for (uint32_t i = 0; i < 4; i++)
		expect(q, i);
	nothing_in(q);
}

/* A WQ has page faults of its own. Those of a WQ that was in RESET meanwhile are over. */
TEST_F(rss, rss_memory_on_demand)
{
	if (!has_odp(on.server, IBV_ODP_SUPPORT))
		skip(on.server.name + " has no on-demand paging");
	constexpr uint64_t rounds = 10;
	spread to(on.server, 1);
	ibv_wq *const wq = to.queues[0]->wq.get();
	memory buffer(page);
	mr_ptr mr(ibv_reg_mr(on.server.pd.get(), buffer.bytes().data(), page,
			     IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_ON_DEMAND));
	check(mr != nullptr, "ibv_reg_mr");
	const ibv_sge sge{ address_of(buffer.bytes()), page, mr->lkey };
	const uint64_t before = page_faults(on.server);

	for (uint64_t i = 0; i < rounds; i++) {
		forget(buffer.bytes());
		check_equal(try_post(wq, i, sge), 0, "post");
		send(1000);
		if (i & 1) {
			check_equal(modify(wq, IBV_WQS_RESET), 0, "to RESET");
			check_equal(modify(wq, IBV_WQS_RDY), 0, "to RDY");
			check_equal(try_post(wq, i, sge), 0, "post again");
		}
		const ibv_wc wc =
			send_until_received(to.queues[0]->cq.get(), 1000);

		check_wc(wc, IBV_WC_SUCCESS, "receive");
		check_equal(wc.wr_id, i, "wr_id");
		check_equal(wc.byte_len, frame_size, "bytes");
		check(!std::memcmp(buffer.bytes().data(),
				   client().at(source, frame_size).data(),
				   frame_size),
		      "content");
	}
	check(page_faults(on.server) - before >= rounds, "page_faults");
}

/* Nothing goes before what it is part of, and keys are those of the queue's PD. */
TEST_F(rss, rss_lifetimes)
{
	pd_ptr pd(ibv_alloc_pd(on.server.context.get()));
	check(pd != nullptr, "ibv_alloc_pd");
	spread to(on.server, 1);
	queue far(on.server, pd.get());
	ibv_wq *const wqs[] = { far.wq.get() };
	table_ptr table = try_table(on.server, wqs);

	check(table != nullptr, "table of a WQ of another PD");
	ibv_qp_init_attr_ex attr = spread_attr(on.server.pd.get(), table.get());
	attr.rx_hash_conf.rx_hash_fields_mask = 0;
	qp_ptr qp(ibv_create_qp_ex(on.server.context.get(), &attr));
	check(qp != nullptr, "one WQ, without fields");
	flow_request rule = make({ .destination = &server_mac,
				   .udp_port = 4000,
				   .priority = 1 });
	flow_ptr flow(ibv_create_flow(qp.get(), &rule.attr));
	check(flow != nullptr, "flow");
	far.post(0);
	to.queues[0]->post(0);
	send(4000);
	/* The rule of the other one comes first. */
	expect(*to.queues[0], 0);
	to.flow.reset();
	send(4000);
	expect(far, 0);

	check_equal(ibv_destroy_wq(far.wq.get()), EBUSY, "WQ of a table");
	check_equal(ibv_destroy_rwq_ind_table(table.get()), EBUSY,
		    "table of a QP");
	check_equal(ibv_destroy_cq(far.cq.get()), EBUSY, "CQ of a WQ");
	check_equal(ibv_dealloc_pd(pd.get()), EBUSY, "PD of a WQ");
	check_equal(ibv_destroy_qp(qp.get()), EBUSY, "QP with a rule");
	flow.reset();
	qp.reset();
	table.reset();

	/* A queue that is gone, and one of another context. */
	ibv_wq gone = *far.wq;
	ibv_wq *const stale[] = { &gone };
	far.wq.reset();
	check(!try_table(on.server, stale), "table of a WQ that is gone");
	check(errno == EINVAL || errno == ENOENT, "errno");
	if (on.client.context.get() != on.server.context.get()) {
		ibv_wq *const foreign[] = { to.queues[0]->wq.get() };

		check(!try_table(on.client, foreign), "WQ of another context");
	}
}

void refuse(port &p, const ibv_wq_init_attr &wrong, int error,
	    const std::string &what)
{
	ibv_wq_init_attr attr = wrong;

	errno = 0;
	check(!wq_ptr(ibv_create_wq(p.context.get(), &attr)), what);
	check_equal(errno, error, what);
}

TEST_F(rss, rss_refuses_queues)
{
	port &p = on.server;
	cq_ptr cq(ibv_create_cq(p.context.get(), 1, nullptr, nullptr, 0));
	check(cq != nullptr, "ibv_create_cq");
	const ibv_wq_init_attr good = queue_attr(p.pd.get(), cq.get());
	ibv_wq_init_attr attr = good;

	attr.max_wr = 0;
	refuse(p, attr, EINVAL, "no WRs");
	for (uint32_t wrs : { 1U << 16, 1U << 31, UINT32_MAX }) {
		attr.max_wr = wrs;
		refuse(p, attr, EINVAL, std::to_string(wrs) + " WRs");
	}
	attr = good;
	attr.max_sge = static_cast<uint32_t>(p.limits.max_sge) + 1;
	refuse(p, attr, EINVAL, "SGEs");
	attr = good;
	attr.comp_mask = IBV_WQ_INIT_ATTR_FLAGS;
	attr.create_flags = IBV_WQ_FLAGS_SCATTER_FCS;
	refuse(p, attr, EOPNOTSUPP, "FCS");
	attr = good;
	attr.wq_type = static_cast<ibv_wq_type>(1);
	refuse(p, attr, EINVAL, "type");
	attr = good;
	ibv_cq unknown = *cq;
	unknown.handle = 0x123456;
	attr.cq = &unknown;
	errno = 0;
	check(!wq_ptr(ibv_create_wq(p.context.get(), &attr)), "unknown CQ");
}

void refuse(port &p, ibv_qp_init_attr_ex attr, int error,
	    const std::string &what)
{
	errno = 0;
	check(!qp_ptr(ibv_create_qp_ex(p.context.get(), &attr)), what);
	check_equal(errno, error, what);
}

TEST_F(rss, rss_refuses_hashes)
{
	spread to(on.server, 2);
	port &p = on.server;
	const ibv_qp_init_attr_ex good =
		spread_attr(p.pd.get(), to.table.get());
	const struct {
		uint64_t fields;
		int error;
	} rows[] = {
		{ 0, EINVAL },
		{ IBV_RX_HASH_SRC_IPV4 | IBV_RX_HASH_DST_IPV6, EINVAL },
		{ IBV_RX_HASH_SRC_PORT_TCP | IBV_RX_HASH_SRC_PORT_UDP, EINVAL },
		{ IBV_RX_HASH_SRC_IPV4 | 1 << 8, EOPNOTSUPP },
		{ IBV_RX_HASH_SRC_IPV4 | IBV_RX_HASH_INNER, EOPNOTSUPP },
		{ UINT64_MAX, EOPNOTSUPP },
	};
	ibv_qp_init_attr_ex attr = good;
	ibv_qp_attr state{};

	for (const auto &row : rows) {
		attr.rx_hash_conf.rx_hash_fields_mask = row.fields;
		refuse(p, attr, row.error,
		       "fields " + std::to_string(row.fields));
	}
	for (uint8_t length :
	     std::initializer_list<uint8_t>{ 0, 39, 41, 255 }) {
		attr = good;
		attr.rx_hash_conf.rx_hash_key_len = length;
		refuse(p, attr, EINVAL, std::to_string(length) + " bytes");
	}
	for (uint8_t function :
	     std::initializer_list<uint8_t>{ 0, 2, 3, 255 }) {
		attr = good;
		attr.rx_hash_conf.rx_hash_function = function;
		refuse(p, attr, EOPNOTSUPP,
		       "function " + std::to_string(function));
	}
	attr = good;
	attr.qp_type = IBV_QPT_UD;
	refuse(p, attr, EINVAL, "a UD QP");
	attr = good;
	attr.send_cq = to.queues[0]->cq.get();
	refuse(p, attr, EINVAL, "a CQ");
	attr = good;
	attr.cap.max_recv_wr = 1;
	refuse(p, attr, EINVAL, "receives");
	state.qp_state = IBV_QPS_INIT;
	state.port_num = 1;
	check_equal(ibv_modify_qp(to.qp.get(), &state,
				  IBV_QP_STATE | IBV_QP_PORT),
		    EOPNOTSUPP, "ibv_modify_qp");
	/* After all that. */
	to.queues[0]->post(0);
	to.queues[1]->post(0);
	send(1000);
	expect(to.expected(client()), 0);
}

TEST_F(rss, rss_tells_limits)
{
	ibv_device_attr_ex attr{};

	check_equal(ibv_query_device_ex(on.server.context.get(), nullptr,
					&attr),
		    0, "ibv_query_device_ex");
	const ibv_rss_caps &caps = attr.rss_caps;
	check_equal(caps.supported_qpts, 1U << IBV_QPT_RAW_PACKET, "QP types");
	check_equal(caps.max_rwq_indirection_table_size, 128U, "table size");
	check(caps.max_rwq_indirection_tables > 0, "tables");
	check_equal(caps.rx_hash_fields_mask, uint64_t{ 0xff }, "fields");
	check_equal(unsigned{ caps.rx_hash_function },
		    unsigned{ IBV_RX_HASH_FUNC_TOEPLITZ }, "function");
	check(attr.max_wq_type_rq > 0, "WQs");
	/* The largest table; one that is larger does not come to the kernel. */
	queue q(on.server, on.server.pd.get());
	const std::vector<ibv_wq *> all(256, q.wq.get());
	check(try_table(on.server, std::span(all).first(128)) != nullptr,
	      "128 WQs");
	check(!try_table(on.server, all), "256 WQs");
	check_equal(errno, EINVAL, "errno");
}

/* A command of WQs by ioctl(), as the kernel has it. */
class wq_command {
public:
	explicit wq_command(int method)
		: method_(static_cast<uint16_t>(method))
	{
	}
	void add(int id, size_t len, uint64_t data)
	{
		ib_uverbs_attr attr{};

		attr.attr_id = static_cast<uint16_t>(id);
		attr.len = static_cast<uint16_t>(len);
		attr.flags = UVERBS_ATTR_F_MANDATORY;
		attr.data = data;
		attrs_.push_back(attr);
	}
	void add_out(int id, uint32_t &to)
	{
		add(id, sizeof(to), reinterpret_cast<uint64_t>(&to));
	}
	/* 0 or an errno; and the number of an object that is made. */
	int run(const port &p, uint32_t &handle)
	{
		if (int ret = run_method(p, UVERBS_OBJECT_WQ, method_, attrs_))
			return ret;
		handle = static_cast<uint32_t>(attrs_[0].data);
		return 0;
	}

private:
	uint16_t method_;
	std::vector<ib_uverbs_attr> attrs_;
};

/* Bytes of struct ornic_create_wq_req, which are zero */
constexpr size_t driver_part = 8;

/* The CQ is optional in this form of the command; there is no WQ without one. */
TEST_F(rss, rss_needs_a_cq)
{
	cq_ptr cq(
		ibv_create_cq(on.server.context.get(), 1, nullptr, nullptr, 0));
	check(cq != nullptr, "ibv_create_cq");
	for (const bool with_cq : { true, false }) {
		wq_command make(UVERBS_METHOD_WQ_CREATE);
		wq_command destroy(UVERBS_METHOD_WQ_DESTROY);
		uint32_t max_wr = 0, max_sge = 0, wq_num = 0;
		uint32_t events = 0, handle = 0;

		make.add(UVERBS_ATTR_CREATE_WQ_HANDLE, 0, 0);
		make.add(UVERBS_ATTR_CREATE_WQ_PD_HANDLE, 0,
			 on.server.pd->handle);
		make.add(UVERBS_ATTR_CREATE_WQ_TYPE, 8, IBV_WQT_RQ);
		make.add(UVERBS_ATTR_CREATE_WQ_USER_HANDLE, 8, 0);
		make.add(UVERBS_ATTR_CREATE_WQ_MAX_WR, 4, depth);
		make.add(UVERBS_ATTR_CREATE_WQ_MAX_SGE, 4, 1);
		make.add(UVERBS_ATTR_CREATE_WQ_FLAGS, 4, 0);
		make.add_out(UVERBS_ATTR_CREATE_WQ_RESP_MAX_WR, max_wr);
		make.add_out(UVERBS_ATTR_CREATE_WQ_RESP_MAX_SGE, max_sge);
		/* Optional, but the kernel fails with ENOENT without it. */
		make.add_out(UVERBS_ATTR_CREATE_WQ_RESP_WQ_NUM, wq_num);
		make.add(UVERBS_ATTR_UHW_IN, driver_part, 0);
		if (with_cq)
			make.add(UVERBS_ATTR_CREATE_WQ_CQ_HANDLE, 0,
				 cq->handle);
		check_equal(make.run(on.server, handle), with_cq ? 0 : EINVAL,
			    with_cq ? "with a CQ" : "without a CQ");
		if (!with_cq)
			continue;
		check(max_wr >= depth, "max_wr");
		destroy.add(UVERBS_ATTR_DESTROY_WQ_HANDLE, 0, handle);
		destroy.add_out(UVERBS_ATTR_DESTROY_WQ_RESP, events);
		check_equal(destroy.run(on.server, handle), 0, "destroy");
	}
}

/* All that a frame may meet comes and goes while frames arrive. */
TEST_F(rss, rss_comes_and_goes)
{
	std::atomic<bool> stop{ false };
	std::string trouble;

	put_frame(client(), server_mac, frame_size);
	std::thread sender([&] {
		try {
			while (!stop)
				client().send(frame_size);
		} catch (const failure &e) {
			trouble = e.what();
		}
	});
	try {
		for (int round = 0; round < 30; round++) {
			spread to(on.server, 2);

			for (const auto &q : to.queues)
				for (uint32_t i = 0; i < depth; i++)
					q->post(i);
			(void)endpoint::wait(to.expected(client()).cq.get());
			/* Half of the time with the rule, and the state, alive. */
			if (round & 1)
				to.flow.reset();
			if (round & 2)
				modify(to.queues[0]->wq.get(), IBV_WQS_ERR);
			else
				modify(to.queues[1]->wq.get(), IBV_WQS_RESET);
		}
	} catch (...) {
		stop = true;
		sender.join();
		throw;
	}
	stop = true;
	sender.join();
	check(trouble.empty(), trouble);
}

} /* namespace */
