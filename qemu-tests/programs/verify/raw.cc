// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* Raw packet QPs: frames over the wire or on one device, and which rule takes them. */

#include "raw.h"

#include <cerrno>
#include <cstring>

#include "tests.h"

namespace
{

class raw : public verify {
protected:
	raw()
		: client_(made(on.client))
		, server_(made(on.server))
	{
	}

	/* A receive for the next frame, and what it got. */
	void expect(raw_end &to, size_t size, const std::string &what)
	{
		ibv_wc wc = to.received(7);

		check_equal(wc.byte_len, size, what + ", bytes");
		check_equal(wc.wc_flags & IBV_WC_GRH, 0U, what + ", GRH");
		check(!std::memcmp(to.at(0, size).data(),
				   client().at(source, size).data(), size),
		      what + ", content");
	}
	/* Sends a frame that @to gets. */
	void deliver(raw_end &to, size_t size, uint16_t udp_port = 1000,
		     uint16_t vlan = 0)
	{
		const std::string what = std::to_string(size) + " bytes";

		clear(to.at(0, slot));
		to.post_recv(7, 0, slot);
		put_frame(client(), server_mac, size, udp_port, vlan);
		client().send(size);
		expect(to, size, what);
	}
	raw_end &client()
	{
		return *client_;
	}
	raw_end &server()
	{
		return *server_;
	}

private:
	static std::unique_ptr<raw_end> made(port &p)
	{
		if (!(p.limits.device_cap_flags &
		      IBV_DEVICE_MANAGED_FLOW_STEERING))
			skip(p.name + " has no raw packet QPs");
		return std::make_unique<raw_end>(p);
	}

	std::unique_ptr<raw_end> client_, server_;
};

TEST_F(raw, raw_frames)
{
	flow_ptr flow = server().flow({ .destination = &server_mac });

	for (size_t size :
	     { 60UL, 61UL, 64UL, 96UL, 97UL, 590UL, 1513UL, 1514UL })
		deliver(server(), size);
	/* Inline. */
	server().post_recv(7, 0, slot);
	put_frame(client(), server_mac, 100);
	client().send(100, IBV_SEND_SIGNALED | IBV_SEND_INLINE);
	expect(server(), 100, "inline");
	/* Many, in order. */
	for (uint32_t i = 0; i < depth; i++)
		server().post_recv(i, i * slot, slot);
	for (uint32_t i = 0; i < depth; i++) {
		put_frame(client(), server_mac, 60 + i);
		client().send(60 + i);
	}
	for (uint32_t i = 0; i < depth; i++)
		check_equal(server().received(i).byte_len, 60 + i, "order");
}

/* With its tag, whatever the netdev does with it. */
TEST_F(raw, raw_vlan)
{
	flow_ptr flow =
		server().flow({ .destination = &server_mac, .vlan = 0x0123 });

	deliver(server(), 100, 1000, 0x6123);
	deliver(server(), 1518, 1000, 0x0123);
	/* Those of other VLANs do not take the receive. */
	server().post_recv(7, 0, slot);
	put_frame(client(), server_mac, 100, 1000, 0x0124);
	client().send(100);
	put_frame(client(), server_mac, 101);
	client().send(101);
	put_frame(client(), server_mac, 102, 1000, 0x0123);
	client().send(102);
	expect(server(), 102, "after other VLANs");
}

TEST_F(raw, raw_rules)
{
	raw_end second(on.server);
	flow_ptr address =
		server().flow({ .destination = &server_mac, .priority = 2 });

	{
		flow_ptr port =
			second.flow({ .udp_port = 2000, .priority = 1 });

		deliver(second, 100, 2000);
		deliver(server(), 100, 2001);
		/* A copy for both. */
		flow_ptr copy = server().flow(
			{ .udp_port = 2000,
			  .priority = 0,
			  .flags = IBV_FLOW_ATTR_FLAGS_DONT_TRAP });
		server().post_recv(7, 0, slot);
		deliver(second, 100, 2000);
		expect(server(), 100, "copy");
	}
	deliver(server(), 100, 2000);
	/* All that arrives. */
	flow_ptr all = second.flow({ .type = IBV_FLOW_ATTR_SNIFFER });
	second.post_recv(7, 0, slot);
	deliver(server(), 100);
	(void)second.received(7);
}

/* What no receive is for, or too small a one, is lost, and nothing else happens. */
TEST_F(raw, raw_misfits)
{
	raw_end second(on.server);
	flow_ptr flow = server().flow({ .destination = &server_mac });
	/* Gets each frame after the server. */
	flow_ptr later = second.flow({ .destination = &server_mac });

	second.post_recv(7, 0, slot);
	put_frame(client(), server_mac, 100);
	client().send(100);
	(void)second.received(7);
	deliver(server(), 200);
	server().post_recv(7, 0, 100);
	put_frame(client(), server_mac, 101);
	client().send(101);
	put_frame(client(), server_mac, 100);
	client().send(100);
	expect(server(), 100, "the one that fits");
	server().nothing_more();
}

TEST_F(raw, raw_lengths)
{
	flow_ptr flow = server().flow({ .destination = &server_mac });

	for (size_t size : { size_t{ 13 }, size_t{ 65536 + 15 } }) {
		put_frame(client(), server_mac, size);
		client().post(request(IBV_WR_SEND, 1),
			      { client().sge(source, size) });
		check_wc(client().wait_send(), IBV_WC_LOC_LEN_ERR, "length");
		check_equal(client().state(), IBV_QPS_SQE, "state");
		client().to(IBV_QPS_RTS);
		deliver(server(), 100);
	}
}

TEST_F(raw, raw_refusals)
{
	const mac group = { 0x33, 0x33, 0, 0, 0, 1 };
	flow_ptr flow = server().flow({ .destination = &server_mac });
	raw_end second(on.server);

	server().refused({ .destination = &server_mac }, EEXIST, "twice");
	flow_ptr shared = second.flow({ .destination = &server_mac });
	server().refused({}, EINVAL, "no specification");
	server().refused({ .destination = &server_mac,
			   .type = IBV_FLOW_ATTR_SNIFFER },
			 EINVAL, "sniffer with a specification");
	server().refused({ .type = IBV_FLOW_ATTR_ALL_DEFAULT,
			   .flags = IBV_FLOW_ATTR_FLAGS_DONT_TRAP },
			 EINVAL, "default without trap");
	flow_ptr many = server().flow({ .destination = &group });
	flow_ptr sniffer = server().flow({ .type = IBV_FLOW_ATTR_SNIFFER });
	server().refused({ .type = IBV_FLOW_ATTR_SNIFFER }, EEXIST, "sniffer");

	/* Only for raw packets; its rules outlive no QP. */
	endpoint ud(on.server, { .type = IBV_QPT_UD });
	flow_request plain = make({ .destination = &server_mac });
	errno = 0;
	check(!ibv_create_flow(ud.qp.get(), &plain.attr), "flow of a UD QP");
	check_equal(errno, EOPNOTSUPP, "errno");
	check_equal(ibv_destroy_qp(server().qp.get()), EBUSY, "QP with rules");
	shared.reset();
	deliver(server(), 100);
}

/* RoCEv2 goes on beside, and each has its own. */
TEST_F(raw, raw_beside_rc)
{
	flow_ptr flow = server().flow({ .destination = &server_mac });
	pair p(on.client, on.server);

	for (int i = 0; i < 20; i++) {
		fill(p.client.at(0, 8192), static_cast<uint32_t>(i));
		p.server.post_recv(9, 0, 8192);
		p.client.post(request(IBV_WR_SEND, 9),
			      { p.client.sge(0, 8192) });
		deliver(server(), 1000);
		(void)p.client.sent(9);
		(void)p.server.received(9);
		check_fill(p.server.at(0, 8192), static_cast<uint32_t>(i),
			   "RC message");
	}
}

} /* namespace */
