// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Options of a connection (ECE), set by both sides as rdma_cm sets them. What is then on
 * the wire, the case looks at.
 */
#include <cerrno>

#include "tests.h"

namespace
{

class ece : public verify {
protected:
	void SetUp() override
	{
		if (on.client.is_rxe || on.server.is_rxe)
			skip("rxe has no ECE");
	}
};

ibv_ece query(const endpoint &e)
{
	ibv_ece got{};

	check_equal(ibv_query_ece(e.qp.get(), &got), 0, "ibv_query_ece");
	check_equal(got.comp_mask, 0u, "comp_mask");
	return got;
}

int set(const endpoint &e, ibv_ece value)
{
	return ibv_set_ece(e.qp.get(), &value);
}

/* Requests of all kinds of several packets, in both directions. */
void traffic(endpoint &from, endpoint &to, uint32_t seed)
{
	constexpr size_t size = 20000;

	to.post_recv(seed, 0, size);
	fill(from.at(0, size), seed);
	from.post(request(IBV_WR_SEND, 1), { from.sge(0, size) });
	(void)from.sent(1);
	(void)to.received(seed);
	check_fill(to.at(0, size), seed, "SEND");
	fill(from.at(0, size), seed + 1);
	from.post(rdma(IBV_WR_RDMA_WRITE, 2, to, size), { from.sge(0, size) });
	(void)from.sent(2);
	check_fill(to.at(size, size), seed + 1, "WRITE");
	from.post(rdma(IBV_WR_RDMA_READ, 3, to, size),
		  { from.sge(2 * size, size) });
	(void)from.sent(3);
	check_fill(from.at(2 * size, size), seed + 1, "READ");
}

/* Both set @value on their way to RTS, and then talk. */
void connect_and_talk(const ports &on, uint32_t options)
{
	endpoint client(on.client, {}), server(on.server, {});
	ibv_ece value = query(client);

	check(value.options != 0, "no offer");
	value.options &= options;
	client.to_init();
	check_equal(set(client, value), 0, "set by the client");
	check_equal(set(server, value), 0, "set by the server");
	server.to_init();
	server.to_rtr(client);
	client.to_rtr(server);
	client.to_rts();
	server.to_rts();
	check_equal(query(client).options, value.options, "client's options");
	check_equal(query(server).options, value.options, "server's options");
	traffic(client, server, 10);
	traffic(server, client, 20);
}

TEST_F(ece, agreed)
{
	connect_and_talk(on, ~0u);
}

TEST_F(ece, refused)
{
	connect_and_talk(on, 0);
}

/* Options of a later version count as far as they are known. */
TEST_F(ece, later_peer)
{
	endpoint e(on.client, {});
	const ibv_ece offer = query(e);
	ibv_ece value = offer;

	value.options = ~0u;
	check_equal(ibv_set_ece(e.qp.get(), &value), 0, "ibv_set_ece");
	check_equal(value.options, offer.options, "options that are left");
	e.to_init();
	check_equal(query(e).options, offer.options, "options");
}

/* ibv_set_ece(3) */
TEST_F(ece, refusals)
{
	pair p(on.client, on.server);
	endpoint e(on.client, {});
	const ibv_ece offer = query(e);
	ibv_ece value = offer;

	value.vendor_id = 0;
	check_equal(set(e, value), EOPNOTSUPP, "no vendor");
	value.vendor_id = offer.vendor_id ^ 1;
	check_equal(set(e, value), EINVAL, "another vendor");
	value = offer;
	value.comp_mask = 1;
	check_equal(set(e, value), EINVAL, "comp_mask");
	check_equal(set(p.client, offer), EINVAL, "in RTS");
	p.client.to_error();
	check_equal(set(p.client, offer), EINVAL, "in ERR");
	e.to_init();
	check_equal(set(e, offer), 0, "in INIT");
	/* It does not go along with this. */
	e.to_error();
}

/* rdma_cm asks all QPs. */
TEST_F(ece, datagrams_have_none)
{
	endpoint e(on.client, { .type = IBV_QPT_UD });
	ibv_ece value = query(e);

	check_equal(value.options, 0u, "options");
	value.options = 1;
	check_equal(set(e, value), 0, "ibv_set_ece");
	e.to_init();
	check_equal(query(e).options, 0u, "options");
}

} // namespace
