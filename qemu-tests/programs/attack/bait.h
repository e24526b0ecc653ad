/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * QPs of each type of a host that trusts its peer wrongly: they are connected to
 * the attacker, so that its packets pass the checks of addresses. What it may
 * write to lies between memory that it may not.
 */
#pragma once

#include "../verify/verbs.h"

constexpr uint32_t bait_qkey = 0x33333333;

/* Memory in areas of the same size, one after the other. */
class field {
public:
	static constexpr size_t area = 64 << 10;
	enum which {
		before, /* of no key */
		open, /* the peer may do anything */
		inner, /* the same PD, no remote access */
		foreign, /* another PD, any access */
		received, /* receive slots, with guards between them */
		areas,
	};

	explicit field(port &p);

	[[nodiscard]] uint64_t address(which w) const;
	/* Nothing but the open area and the receive slots was written to. */
	void check_guards() const;

	memory bytes;
	pd_ptr other_pd;
	mr_ptr open_mr, inner_mr, foreign_mr, received_mr;
};

class bait {
public:
	bait(port &p, const field &f, ibv_qp_type type, const ibv_gid &peer);

	/* Ready for packets, whatever the last one did. */
	void revive();
	/* UD: become a member of the group. */
	void join(const ibv_gid &group);

	[[nodiscard]] uint32_t qpn() const
	{
		return qp_->qp_num;
	}
	[[nodiscard]] uint32_t srqn() const
	{
		return srqn_;
	}
	[[nodiscard]] ibv_qp_type type() const
	{
		return type_;
	}
	/* Does it wait for responses? */
	[[nodiscard]] bool has_requests() const
	{
		return type_ == IBV_QPT_RC || type_ == IBV_QPT_XRC_SEND;
	}
	/* What the next request must have, and the oldest response. */
	[[nodiscard]] uint32_t expected() const
	{
		return expected_;
	}
	[[nodiscard]] uint32_t oldest() const
	{
		return oldest_;
	}
	[[nodiscard]] uint64_t deaths() const
	{
		return deaths_;
	}
	[[nodiscard]] uint64_t receives() const
	{
		return receives_;
	}

private:
	struct xrcd_closer {
		void operator()(ibv_xrcd *xrcd) const
		{
			ibv_close_xrcd(xrcd);
		}
	};

	static constexpr uint32_t depth = 8;
	static constexpr size_t slot = 4096;

	[[nodiscard]] bool has_sq() const
	{
		return type_ != IBV_QPT_XRC_RECV;
	}
	void make_srq();
	void modify(ibv_qp_attr &attr, int mask, const char *what);
	void connect();
	void post_recv(uint64_t id);
	void post_requests();
	void drain();

	port &on_;
	const field &field_;
	ibv_qp_type type_;
	ibv_gid peer_;
	cq_ptr cq_;
	std::unique_ptr<ibv_xrcd, xrcd_closer> xrcd_;
	srq_ptr srq_;
	qp_ptr qp_;
	uint32_t srqn_ = 0;
	uint32_t expected_ = 0, oldest_ = 0;
	size_t pending_ = 0; /* requests without a response */
	uint64_t deaths_ = 0, receives_ = 0;
};
