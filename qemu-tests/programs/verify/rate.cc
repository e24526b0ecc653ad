/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Rate limits of raw packet QPs. */

#include <cerrno>
#include <chrono>

#include "raw.h"
#include "tests.h"

namespace
{

using clock_type = std::chrono::steady_clock;

constexpr size_t frame_size = 1000;

class rate : public verify {
protected:
	rate()
	{
		if (!(on.client.limits.device_cap_flags &
		      IBV_DEVICE_MANAGED_FLOW_STEERING))
			skip(on.client.name + " has no raw packet QPs");
		client_ = std::make_unique<raw_end>(on.client);
		put_frame(client(), server_mac, frame_size);
	}

	raw_end &client()
	{
		return *client_;
	}
	/* From one moment to the completion of the last of @count frames. */
	std::chrono::nanoseconds send_many(uint32_t count)
	{
		const auto begin = clock_type::now();

		for (uint32_t posted = 0, done = 0; done < count; done++) {
			while (posted < count && posted - done < depth)
				client().post(
					request(IBV_WR_SEND, posted++),
					{ client().sge(source, frame_size) });
			check_equal(client().wait_send().status, IBV_WC_SUCCESS,
				    "send");
		}
		return clock_type::now() - begin;
	}
	static int set(const endpoint &end, uint32_t kbit, uint32_t burst = 0,
		       uint16_t packet = 0, uint32_t comp_mask = 0)
	{
		ibv_qp_rate_limit_attr attr{};

		attr.rate_limit = kbit;
		attr.max_burst_sz = burst;
		attr.typical_pkt_sz = packet;
		attr.comp_mask = comp_mask;
		return ibv_modify_qp_rate_limit(end.qp.get(), &attr);
	}
	static int modify(const endpoint &end, uint32_t kbit, int mask,
			  ibv_qp_state state = IBV_QPS_RTS)
	{
		ibv_qp_attr attr{};

		attr.qp_state = state;
		attr.rate_limit = kbit;
		return ibv_modify_qp(end.qp.get(), &attr,
				     mask | IBV_QP_RATE_LIMIT);
	}

private:
	std::unique_ptr<raw_end> client_;
};

ibv_packet_pacing_caps caps_of(const port &p)
{
	ibv_device_attr_ex attr{};

	check_equal(ibv_query_device_ex(p.context.get(), nullptr, &attr), 0,
		    "query_device_ex");
	return attr.packet_pacing_caps;
}

TEST_F(rate, rate_caps)
{
	const ibv_packet_pacing_caps caps = caps_of(on.client);

	check_equal(caps.supported_qpts, 1U << IBV_QPT_RAW_PACKET, "types");
	check_equal(caps.qp_rate_limit_min, 1U, "least");
	check_equal(caps.qp_rate_limit_max, 400000000U, "most");
}

/* Never faster than the limit, however late the machine is. */
TEST_F(rate, rate_is_kept)
{
	constexpr uint32_t burst = 3000, count = 60;
	constexpr uint64_t kbit = 4000;
	const uint64_t least = (count * frame_size - burst) * 8000000 / kbit;

	check_equal(set(client(), kbit, burst, frame_size), 0, "limit");
	const auto took = static_cast<uint64_t>(send_many(count).count());
	check(took >= least,
	      std::to_string(took) + " ns, at least " + std::to_string(least));
	check_equal(set(client(), 0), 0, "no limit");
	(void)send_many(count);
}

/* Frames that would wait for hours leave when the limit goes. */
TEST_F(rate, rate_changes)
{
	check_equal(set(client(), 1, frame_size), 0, "limit");
	for (uint32_t i = 0; i < depth; i++)
		client().post(request(IBV_WR_SEND, i),
			      { client().sge(source, frame_size) });
	(void)client().sent(0);
	client().nothing_more();
	check_equal(modify(client(), 0, 0), 0, "no limit");
	for (uint32_t i = 1; i < depth; i++)
		(void)client().sent(i);
	/* In ERR what waits is flushed; from RESET on there is no limit. */
	check_equal(set(client(), 1, frame_size), 0, "limit");
	for (uint32_t i = 0; i < depth; i++)
		client().post(request(IBV_WR_SEND, i),
			      { client().sge(source, frame_size) });
	(void)client().sent(0);
	client().to(IBV_QPS_ERR);
	for (uint32_t i = 1; i < depth; i++)
		check_wc(client().wait_send(), IBV_WC_WR_FLUSH_ERR, "flushed");
	for (ibv_qp_state state :
	     { IBV_QPS_RESET, IBV_QPS_INIT, IBV_QPS_RTR, IBV_QPS_RTS })
		client().to(state);
	(void)send_many(depth);
}

/* What rdma-core's test_raw_qp_rate_limit_modify does, and states that take none. */
TEST_F(rate, rate_states)
{
	check_equal(modify(client(), 5000, IBV_QP_STATE, IBV_QPS_RESET), EINVAL,
		    "with RESET");
	client().to(IBV_QPS_RESET);
	check_equal(set(client(), 5000), EINVAL, "in RESET");
	client().to(IBV_QPS_INIT);
	check_equal(modify(client(), 5000, IBV_QP_STATE, IBV_QPS_RTR), EINVAL,
		    "with RTR");
	client().to(IBV_QPS_RTR);
	check_equal(set(client(), 5000), EINVAL, "in RTR");
	check_equal(modify(client(), 5000, IBV_QP_STATE), 0, "with RTS");
	check_equal(set(client(), 0), 0, "in RTS");
	check_equal(client().state(), IBV_QPS_RTS, "state");
	(void)send_many(depth);
}

TEST_F(rate, rate_refusals)
{
	const ibv_packet_pacing_caps caps = caps_of(on.client);

	for (uint32_t kbit : { caps.qp_rate_limit_min, caps.qp_rate_limit_max })
		check_equal(set(client(), kbit, UINT32_MAX, UINT16_MAX), 0,
			    std::to_string(kbit));
	for (uint32_t kbit : { caps.qp_rate_limit_max + 1, UINT32_MAX })
		check_equal(set(client(), kbit), EINVAL, std::to_string(kbit));
	check_equal(set(client(), 5000, 0, 0, 1), EINVAL, "comp_mask");
	for (ibv_qp_type type : { IBV_QPT_RC, IBV_QPT_UC, IBV_QPT_UD }) {
		pair p(on.client, on.server, { .type = type });

		check_equal(set(p.client, 5000), EINVAL, "other type");
		check_equal(modify(p.client, 0, 0), EINVAL, "other type, 0");
		check_equal(p.client.state(), IBV_QPS_RTS, "state");
	}
}

} /* namespace */
