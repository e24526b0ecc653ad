// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Partitions: the P_Key table, what QPs with its entries may send to each other, and
 * what they notice of changes. The soft device has an attribute by which to change it.
 */

#include <endian.h>
#include <poll.h>

#include <cerrno>
#include <fstream>

#include "tests.h"

namespace
{

class partition : public verify {};

constexpr uint16_t full = 0x8001, limited = 0x0001, other = 0x8002;
constexpr uint16_t client_index = 1, server_index = 2;
constexpr size_t place = 4096;
constexpr size_t grh_size = 40;
constexpr uint32_t verr_pkey = 20; /* ORNIC_VERR_PKEY */

std::string attribute(const port &p)
{
	return "/sys/class/infiniband/" + p.name + "/pkeys";
}

uint16_t read_entry(const port &p, uint16_t index)
{
	__be16 pkey = 0;

	check_equal(ibv_query_pkey(p.context.get(), 1, index, &pkey), 0,
		    "ibv_query_pkey");
	return be16toh(pkey);
}

bool try_write(const port &p, const std::string &line)
{
	std::ofstream file(attribute(p));

	file << line << std::flush;
	return file.good();
}

/* Waits until programs have been told: the tables of ib_core are new then. */
void await_change(port &p)
{
	pollfd fd = { p.context->async_fd, POLLIN, 0 };
	ibv_async_event event;

	check(poll(&fd, 1, timeout_ms()) == 1, "no event of the table");
	check(!ibv_get_async_event(p.context.get(), &event), "event");
	const ibv_event_type type = event.event_type;

	ibv_ack_async_event(&event);
	check_equal(type, IBV_EVENT_PKEY_CHANGE, "event");
	check_equal(event.element.port_num, 1, "port of the event");
}

void set_entry(const ports &on, const port &p, uint16_t index, uint16_t pkey)
{
	if (read_entry(p, index) == pkey)
		return;
	check(try_write(p, std::to_string(index) + " " + std::to_string(pkey)),
	      "cannot write to " + attribute(p));
	for (port *each : { &on.client, &on.server })
		if (each->name == p.name)
			await_change(*each);
	check_equal(read_entry(p, index), pkey, "P_Key that was set");
}

/* The entries that tests use are theirs for one test. */
class tables {
public:
	explicit tables(const ports &on)
		: on_(on)
	{
		for (const port *p : { &on.client, &on.server })
			if (!std::ifstream(attribute(*p)))
				skip(p->name + " has no attribute pkeys");
	}
	~tables()
	{
		try {
			set(0, 0);
		} catch (const failure &) {
			/* What failed before is what counts. */
		}
	}
	tables(const tables &) = delete;
	tables &operator=(const tables &) = delete;

	void set(uint16_t client, uint16_t server) const
	{
		set_entry(on_, on_.client, client_index, client);
		set_entry(on_, on_.server, server_index, server);
	}

private:
	const ports &on_;
};

options with_index(ibv_qp_type type, uint16_t index)
{
	options o;

	o.type = type;
	o.timeout = 16; /* a quarter of a second */
	o.retry = 2;
	o.pkey_index = index;
	return o;
}

struct members {
	members(const ports &on, ibv_qp_type type)
		: client(on.client, with_index(type, client_index))
		, server(on.server, with_index(type, server_index))
	{
		client.to_init();
		server.to_init();
		server.to_rtr(client);
		client.to_rtr(server);
		server.to_rts();
		client.to_rts();
	}

	endpoint client, server;
};

uint32_t violations(const port &p)
{
	ibv_port_attr attr{};

	check_equal(ibv_query_port(p.context.get(), 1, &attr), 0,
		    "ibv_query_port");
	return attr.bad_pkey_cntr;
}

/* IBTA 10.9.1 */
TEST_F(partition, pkey_table)
{
	for (const port *p : { &on.client, &on.server }) {
		const uint16_t len = p->attr.pkey_tbl_len;
		__be16 pkey = 0;

		if (p->is_rxe)
			continue;
		check_equal(p->limits.max_pkeys, len, "max_pkeys");
		check_equal(read_entry(*p, 0), 0xffff, "entry 0");
		for (uint16_t i = 1; i < len; i++)
			check_equal(read_entry(*p, i), 0,
				    "entry " + std::to_string(i));
		check(ibv_query_pkey(p->context.get(), 1, len, &pkey) != 0,
		      "an entry beyond the table");
	}
}

TEST_F(partition, pkey_attribute)
{
	const tables t(on);
	const std::string len = std::to_string(on.client.attr.pkey_tbl_len);

	t.set(full, limited);
	check_equal(read_entry(on.client, client_index), full, "P_Key");
	for (const std::string &wrong :
	     { std::string("1 0x8000"), std::string("1 0x10000"),
	       std::string("1"), std::string("1 "), std::string(" 1 1"),
	       std::string("x 1"), std::string("1 x"), std::string("-1 1"),
	       len + " 1", std::string("4294967297 1") })
		check(!try_write(on.client, wrong), "accepted: " + wrong);
	check_equal(read_entry(on.client, client_index), full, "P_Key");
}

/* IBTA 11.2.5.2 */
TEST_F(partition, pkey_index)
{
	if (on.client.is_rxe)
		skip("the client is rxe");
	const uint16_t last = on.client.attr.pkey_tbl_len - 1;
	ibv_qp_init_attr init{};
	ibv_qp_attr attr{};
	options o;

	o.pkey_index = last;
	endpoint e(on.client, o);
	attr.qp_state = IBV_QPS_INIT;
	attr.port_num = 1;
	attr.pkey_index = last + 1;
	check_equal(ibv_modify_qp(e.qp.get(), &attr,
				  IBV_QP_STATE | IBV_QP_PKEY_INDEX |
					  IBV_QP_PORT | IBV_QP_ACCESS_FLAGS),
		    EINVAL, "an index beyond the table");
	e.to_init();
	check_equal(ibv_query_qp(e.qp.get(), &attr, IBV_QP_PKEY_INDEX, &init),
		    0, "ibv_query_qp");
	check_equal(attr.pkey_index, last, "pkey_index");
}

/* IBTA 10.9.3: a full member talks to limited ones, which do not to each other. */
TEST_F(partition, pkey_rc)
{
	const tables t(on);

	t.set(limited, full);
	members m(on, IBV_QPT_RC);

	m.server.post_recv(1, place, 3000);
	fill(m.client.at(0, 3000), 1);
	m.client.post(request(IBV_WR_SEND, 1), { m.client.sge(0, 3000) });
	(void)m.client.sent(1);
	(void)m.server.received(1);
	check_fill(m.server.at(place, 3000), 1, "SEND");
	m.client.post(rdma(IBV_WR_RDMA_READ, 2, m.server, place),
		      { m.client.sge(place, 3000) });
	(void)m.client.sent(2);
	check_fill(m.client.at(place, 3000), 1, "READ");

	const uint32_t before = violations(on.server);

	t.set(limited, limited);
	clear(m.server.at(place, 3000));
	m.client.post(rdma(IBV_WR_RDMA_WRITE, 3, m.server, place),
		      { m.client.sge(0, 3000) });
	check_wc(m.client.wait_send(), IBV_WC_RETRY_EXC_ERR, "limited members");
	check_clear(m.server.at(place, 3000), "limited members");
	check(violations(on.server) > before, "bad_pkey_cntr");
}

ibv_send_wr datagram_to(const endpoint &to, ibv_ah *ah, uint64_t id)
{
	ibv_send_wr wr = request(IBV_WR_SEND, id);

	wr.wr.ud.ah = ah;
	wr.wr.ud.remote_qpn = to.qp->qp_num;
	wr.wr.ud.remote_qkey = ud_qkey;
	return wr;
}

/* What is of another partition is lost, and what follows is not. */
TEST_F(partition, pkey_ud)
{
	const tables t(on);

	t.set(other, full);
	members m(on, IBV_QPT_UD);
	ibv_ah_attr attr = path_to(on.server.gid, on.client.gid_index);
	const ah_ptr ah(ibv_create_ah(on.client.pd.get(), &attr));
	const uint32_t before = violations(on.server);

	check(ah != nullptr, "ibv_create_ah");
	m.server.post_recv(1, place, 200);
	fill(m.client.at(0, 100), 1);
	m.client.post(datagram_to(m.server, ah.get(), 1),
		      { m.client.sge(0, 100) });
	(void)m.client.sent(1);
	for (int ms = 0; violations(on.server) == before; ms++) {
		check(ms < timeout_ms(), "bad_pkey_cntr");
		poll(nullptr, 0, 1);
	}
	t.set(full, full);
	fill(m.client.at(0, 100), 2);
	m.client.post(datagram_to(m.server, ah.get(), 2),
		      { m.client.sge(0, 100) });
	(void)m.client.sent(2);
	(void)m.server.received(1);
	check_fill(m.server.at(place + grh_size, 100), 2, "UD");
	m.server.nothing_more();
}

/* What has no key sends nothing, and its program gets to know. */
TEST_F(partition, pkey_lost)
{
	const tables t(on);

	t.set(full, full);
	members m(on, IBV_QPT_RC);

	t.set(0, full);
	m.client.post(rdma(IBV_WR_RDMA_WRITE, 1, m.server, place),
		      { m.client.sge(0, 100) });
	const ibv_wc wc = m.client.wait_send();

	check_wc(wc, IBV_WC_LOC_QP_OP_ERR, "a QP without a key");
	check_equal(wc.vendor_err, verr_pkey, "vendor_err");
	m.client.wait_state(IBV_QPS_ERR);
	check_equal(m.server.state(), IBV_QPS_RTS, "server's state");
}

} /* namespace */
