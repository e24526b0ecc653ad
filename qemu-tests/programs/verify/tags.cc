// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* Tag matching: an SRQ of the server chooses the receive of a message by its tag. */

#include <infiniband/tm_types.h>

#include <endian.h>

#include <cerrno>
#include <chrono>
#include <cstring>
#include <deque>

#include "tests.h"

namespace
{

using cq_ex_ptr = owned<ibv_cq, ibv_destroy_cq>;

constexpr uint64_t all_bits = ~0ull;
constexpr uint32_t max_tags = 64;
constexpr uint32_t max_ops = 128;
constexpr size_t place_size = 1 << 20; /* of a receive */
constexpr size_t headers = sizeof(ibv_tmh) + sizeof(ibv_rvh);

ibv_tm_caps caps_of(const port &p)
{
	ibv_device_attr_ex attr{};

	check_equal(ibv_query_device_ex(p.context.get(), nullptr, &attr), 0,
		    "ibv_query_device_ex");
	return attr.tm_caps;
}

class tags : public verify {
protected:
	void SetUp() override
	{
		if (on.server.is_rxe)
			skip("rxe matches no tags");
	}
};

struct completion {
	ibv_wc_status status;
	ibv_wc_opcode opcode;
	unsigned int flags;
	uint64_t id;
	uint64_t tag;
	uint32_t context;
	uint32_t length;
};

/* An SRQ of the server that matches tags, its CQ, and the memory of 4 receives. */
class tag_list {
public:
	explicit tag_list(port &p)
		: buffer(4 * place_size)
		, mr(ibv_reg_mr(p.pd.get(), buffer.bytes().data(),
				buffer.bytes().size(), all_access))
	{
		ibv_cq_init_attr_ex cq_init{};
		ibv_srq_init_attr_ex init{};

		cq_init.cqe = 256;
		cq_init.wc_flags = uint64_t{ IBV_WC_STANDARD_FLAGS } |
				   IBV_WC_EX_WITH_TM_INFO;
		cq_ = ibv_create_cq_ex(p.context.get(), &cq_init);
		check(cq_ && mr, "CQ or MR on " + p.name);
		cq.reset(ibv_cq_ex_to_cq(cq_));
		init.comp_mask = IBV_SRQ_INIT_ATTR_TYPE | IBV_SRQ_INIT_ATTR_PD |
				 IBV_SRQ_INIT_ATTR_CQ | IBV_SRQ_INIT_ATTR_TM;
		init.srq_type = IBV_SRQT_TM;
		init.pd = p.pd.get();
		init.cq = cq.get();
		init.attr.max_wr = 16;
		init.attr.max_sge = 1;
		init.tm_cap.max_num_tags = max_tags;
		init.tm_cap.max_ops = max_ops;
		srq.reset(ibv_create_srq_ex(p.context.get(), &init));
		check(srq != nullptr, "ibv_create_srq_ex on " + p.name);
	}

	memory buffer;
	mr_ptr mr;
	cq_ex_ptr cq;
	srq_ptr srq;

	[[nodiscard]] std::span<std::byte> place(unsigned int i,
						 size_t size) const
	{
		return buffer.bytes().subspan(i * place_size, size);
	}
	[[nodiscard]] ibv_sge sge(unsigned int i, size_t size) const
	{
		return { reinterpret_cast<uint64_t>(place(i, size).data()),
			 static_cast<uint32_t>(size), mr->lkey };
	}

	void post_ring(uint64_t id, unsigned int i)
	{
		ibv_sge list = sge(i, place_size);
		ibv_recv_wr wr{}, *bad = nullptr;

		wr.wr_id = id;
		wr.sg_list = &list;
		wr.num_sge = 1;
		check_equal(ibv_post_srq_recv(srq.get(), &wr, &bad), 0,
			    "ibv_post_srq_recv");
	}

	int change(ibv_ops_wr &wr)
	{
		ibv_ops_wr *bad = nullptr;
		const int status = ibv_post_srq_ops(srq.get(), &wr, &bad);

		check(!status || bad == &wr, "bad_wr is not the bad one");
		return status;
	}

	int try_add(uint64_t id, uint64_t tag, ibv_sge list, uint64_t mask,
		    uint32_t *handle, int flags = 0)
	{
		ibv_ops_wr wr{};

		wr.opcode = IBV_WR_TAG_ADD;
		wr.flags = flags;
		wr.tm.add.recv_wr_id = id;
		wr.tm.add.sg_list = &list;
		wr.tm.add.num_sge = 1;
		wr.tm.add.tag = tag;
		wr.tm.add.mask = mask;
		const int status = change(wr);
		if (handle)
			*handle = wr.tm.handle;
		return status;
	}

	/*
	 * A tagged receive at place @i; its handle. It is in the list: what comes later
	 * to another queue could be executed before it.
	 */
	uint32_t add(uint64_t id, uint64_t tag, unsigned int i,
		     size_t size = place_size, uint64_t mask = all_bits)
	{
		uint32_t handle = 0;

		check_equal(try_add(id, tag, sge(i, size), mask, &handle,
				    IBV_OPS_SIGNALED),
			    0, "TAG_ADD");
		for (;;) {
			const completion got = poll();

			if (got.opcode == IBV_WC_TM_ADD)
				break;
			early_.push_back(got);
		}
		return handle;
	}

	completion del(uint32_t handle)
	{
		ibv_ops_wr wr{};

		wr.opcode = IBV_WR_TAG_DEL;
		wr.flags = IBV_OPS_SIGNALED;
		wr.tm.handle = handle;
		check_equal(change(wr), 0, "TAG_DEL");
		return wait();
	}

	completion sync(uint32_t count)
	{
		ibv_ops_wr wr{};

		wr.wr_id = 27;
		wr.opcode = IBV_WR_TAG_SYNC;
		wr.flags = IBV_OPS_SIGNALED | IBV_OPS_TM_SYNC;
		wr.tm.unexpected_cnt = count;
		check_equal(change(wr), 0, "TAG_SYNC");
		return wait();
	}

	completion wait()
	{
		if (early_.empty())
			return poll();
		const completion got = early_.front();
		early_.pop_front();
		return got;
	}

	void nothing_more()
	{
		ibv_wc wc;

		check(early_.empty() && !ibv_poll_cq(cq.get(), 1, &wc),
		      "completions are left");
	}

private:
	completion poll()
	{
		using clock = std::chrono::steady_clock;
		const auto end =
			clock::now() + std::chrono::milliseconds(timeout_ms());
		ibv_poll_cq_attr attr{};

		for (;;) {
			const int status = ibv_start_poll(cq_, &attr);

			if (!status)
				break;
			check_equal(status, ENOENT, "ibv_start_poll");
			check(clock::now() < end, "no completion");
		}
		ibv_wc_tm_info info{};
		completion got{ cq_->status,
				ibv_wc_read_opcode(cq_),
				ibv_wc_read_wc_flags(cq_),
				cq_->wr_id,
				0,
				0,
				ibv_wc_read_byte_len(cq_) };
		ibv_wc_read_tm_info(cq_, &info);
		got.tag = info.tag;
		got.context = info.priv;
		ibv_end_poll(cq_);
		return got;
	}

	ibv_cq_ex *cq_;
	std::deque<completion> early_; /* that came while add() waited */
};

options of(const tag_list &list)
{
	options o;

	o.srq = list.srq.get();
	o.no_sends = true;
	return o;
}

void check_completion(const completion &got, ibv_wc_opcode opcode,
		      unsigned int flags, uint64_t id, uint64_t tag)
{
	check_equal(got.status, IBV_WC_SUCCESS, "status");
	check_equal(got.opcode, opcode, "opcode");
	check_equal(got.flags, flags, "flags");
	check_equal(got.id, id, "wr_id");
	check_equal(got.tag, tag, "tag");
}

/* A header at @offset of the client's buffer. */
void put_tmh(endpoint &from, size_t offset, ibv_tmh_op opcode, uint64_t tag)
{
	ibv_tmh tmh{};

	tmh.opcode = static_cast<uint8_t>(opcode);
	tmh.app_ctx = htobe32(static_cast<uint32_t>(tag) + 1);
	tmh.tag = htobe64(tag);
	std::memcpy(from.at(offset, sizeof(tmh)).data(), &tmh, sizeof(tmh));
}

void send(endpoint &from, size_t size)
{
	from.post(request(IBV_WR_SEND, 1), { from.sge(0, size) });
	(void)from.sent(1);
}

/* @size bytes that the tag makes known, after a header. */
void send_message(endpoint &from, ibv_tmh_op opcode, uint64_t tag, size_t size)
{
	put_tmh(from, 0, opcode, tag);
	fill(from.at(sizeof(ibv_tmh), size), static_cast<uint32_t>(tag));
	send(from, sizeof(ibv_tmh) + size);
}

/* A rendezvous request for @size bytes at @offset. */
void send_request(endpoint &from, uint64_t tag, size_t offset, size_t size,
		  uint32_t rkey)
{
	ibv_rvh rvh{};

	put_tmh(from, 0, IBV_TMH_RNDV, tag);
	rvh.va = htobe64(from.address(offset));
	rvh.rkey = htobe32(rkey);
	rvh.len = htobe32(static_cast<uint32_t>(size));
	std::memcpy(from.at(sizeof(ibv_tmh), sizeof(rvh)).data(), &rvh,
		    sizeof(rvh));
	send(from, headers);
}

TEST_F(tags, capabilities)
{
	const ibv_tm_caps caps = caps_of(on.server);

	check(caps.flags & IBV_TM_CAP_RC, "RC");
	check(caps.max_num_tags >= max_tags, "max_num_tags");
	check(caps.max_ops >= max_ops, "max_ops");
	check(caps.max_sge >= 1, "max_sge");
	check(caps.max_rndv_hdr_size >= headers, "max_rndv_hdr_size");
}

/* In another order than that in which the receives were added. */
TEST_F(tags, eager)
{
	tag_list list(on.server);
	pair p(on.client, on.server, of(list));
	const size_t sizes[] = { 0, 1, 500, 1008, 1009, 100000 };
	const unsigned int both = IBV_WC_TM_MATCH | IBV_WC_TM_DATA_VALID;
	uint64_t tag = 0;

	for (const size_t size : sizes) {
		clear(list.place(1, size + 64));
		list.add(tag + 1, tag + 1, 0);
		list.add(tag + 2, tag + 2, 1);
		send_message(p.client, IBV_TMH_EAGER, tag + 2, size);
		completion got = list.wait();
		unsigned int flags = got.flags;
		if (got.flags == IBV_WC_TM_MATCH) {
			check_completion(got, IBV_WC_TM_RECV, IBV_WC_TM_MATCH,
					 tag + 2, tag + 2);
			got = list.wait();
			flags |= got.flags;
			check_equal(got.tag, 0u, "tag of the data");
		} else {
			check_equal(got.context, tag + 3, "context");
		}
		check_equal(flags, both, "flags");
		check_equal(got.id, tag + 2, "wr_id");
		check_equal(got.length, size, "length");
		check_fill(list.place(1, size), static_cast<uint32_t>(tag + 2),
			   "message");
		check_clear(list.place(1, size + 64).subspan(size),
			    "after the message");
		tag += 2;
	}
	list.nothing_more();
}

TEST_F(tags, mask)
{
	tag_list list(on.server);
	pair p(on.client, on.server, of(list));

	list.add(1, 0x100, 0, 64, 0xff00);
	list.add(2, 0, 1, 64, 0);
	send_message(p.client, IBV_TMH_EAGER, 0x1ff, 8);
	check_equal(list.wait().id, 1u, "bits of the mask");
	send_message(p.client, IBV_TMH_EAGER, 0x1ff, 8);
	check_equal(list.wait().id, 2u, "any tag");
}

/* It goes to the ring, and new tags wait until the counts are equal. */
TEST_F(tags, unexpected)
{
	tag_list list(on.server);
	pair p(on.client, on.server, of(list));
	const size_t size = 3000;

	list.post_ring(100, 0);
	list.post_ring(101, 0);
	send_message(p.client, IBV_TMH_EAGER, 5, size);
	completion got = list.wait();
	check_completion(got, IBV_WC_TM_RECV, 0, 100, 0);
	check_equal(got.length, size + sizeof(ibv_tmh), "length");
	check_fill(
		list.place(0, size + sizeof(ibv_tmh)).subspan(sizeof(ibv_tmh)),
		5, "message");
	list.add(1, 6, 1, 64);
	send_message(p.client, IBV_TMH_EAGER, 6, 8);
	check_completion(list.wait(), IBV_WC_TM_RECV, 0, 101, 0);
	check_completion(list.sync(1), IBV_WC_TM_SYNC, IBV_WC_TM_SYNC_REQ, 27,
			 0);
	check_completion(list.sync(2), IBV_WC_TM_SYNC, 0, 27, 0);
	send_message(p.client, IBV_TMH_EAGER, 6, 8);
	check_completion(list.wait(), IBV_WC_TM_RECV,
			 IBV_WC_TM_MATCH | IBV_WC_TM_DATA_VALID, 1, 6);
}

/* The program cannot count it, so the device does not: new tags match at once. */
TEST_F(tags, unexpected_too_long)
{
	tag_list list(on.server);
	pair p(on.client, on.server, of(list));

	list.post_ring(100, 0);
	put_tmh(p.client, 0, IBV_TMH_EAGER, 5);
	p.client.post(request(IBV_WR_SEND, 1),
		      { p.client.sge(0, place_size + 1) });
	const completion got = list.wait();
	check_equal(got.status, IBV_WC_LOC_LEN_ERR, "status");
	check_equal(got.id, 100u, "wr_id");
	p.server.wait_state(IBV_QPS_ERR);
	pair q(on.client, on.server, of(list));
	list.add(8, 6, 1, 100);
	list.post_ring(101, 0);
	send_message(q.client, IBV_TMH_EAGER, 6, 8);
	check_completion(list.wait(), IBV_WC_TM_RECV,
			 IBV_WC_TM_MATCH | IBV_WC_TM_DATA_VALID, 8, 6);
}

TEST_F(tags, no_tag)
{
	tag_list list(on.server);
	pair p(on.client, on.server, of(list));

	list.add(1, 5, 1);
	list.post_ring(100, 0);
	send_message(p.client, IBV_TMH_NO_TAG, 5, 100);
	check_completion(list.wait(), IBV_WC_TM_NO_TAG, 0, 100, 0);
	/* It is not counted. */
	check_completion(list.sync(0), IBV_WC_TM_SYNC, 0, 27, 0);
}

TEST_F(tags, rendezvous)
{
	tag_list list(on.server);
	pair p(on.client, on.server, of(list));
	const size_t sizes[] = { 1, 1024, 5000, place_size };
	uint64_t tag = 0;

	for (int round = 0; round < 20; round++) {
		const size_t size = sizes[round % 4];
		const size_t fin = (2 << 20) - 64;
		ibv_tmh tmh;

		tag++;
		p.client.post_recv(tag, fin, headers);
		fill(p.client.at(4096, size), static_cast<uint32_t>(tag));
		list.add(tag, tag, 2);
		send_request(p.client, tag, 4096, size, p.client.mr->rkey);
		completion got = list.wait();
		check_completion(got, IBV_WC_TM_RECV, IBV_WC_TM_MATCH, tag,
				 tag);
		got = list.wait();
		check_completion(got, IBV_WC_TM_RECV, IBV_WC_TM_DATA_VALID, tag,
				 0);
		check_equal(got.length, size, "length");
		check_fill(list.place(2, size), static_cast<uint32_t>(tag),
			   "data");
		check_equal(p.client.received(tag).byte_len, headers, "FIN");
		std::memcpy(&tmh, p.client.at(fin, sizeof(tmh)).data(),
			    sizeof(tmh));
		check_equal(tmh.opcode, IBV_TMH_FIN, "opcode of the FIN");
		check_equal(be64toh(tmh.tag), tag, "tag of the FIN");
	}
	list.nothing_more();
}

/* More at once than the device has under way; all are served, in order. */
TEST_F(tags, rendezvous_crowd)
{
	constexpr uint64_t count = 40;
	tag_list list(on.server);
	pair p(on.client, on.server, of(list));
	uint64_t done = 0, matched = 0;

	fill(p.client.at(4096, 2000), 3);
	for (uint64_t tag = 1; tag <= count; tag++) {
		p.client.post_recv(tag, (2 << 20) - 64, headers);
		list.add(tag, tag, tag % 4, 2000);
	}
	for (uint64_t tag = 1; tag <= count; tag++)
		send_request(p.client, tag, 4096, 2000, p.client.mr->rkey);
	while (done < count) {
		const completion got = list.wait();

		check_equal(got.status, IBV_WC_SUCCESS, "status");
		if (got.flags == IBV_WC_TM_MATCH)
			check_equal(got.id, ++matched, "order of matches");
		else
			check_equal(got.id, ++done, "order of data");
	}
	for (uint64_t tag = 1; tag <= count; tag++)
		(void)p.client.received(tag);
	for (unsigned int i = 0; i < 4; i++)
		check_fill(list.place(i, 2000), 3, "data");
}

/* Data that does not fit is for the program: it has the headers. */
TEST_F(tags, rendezvous_incomplete)
{
	tag_list list(on.server);
	pair p(on.client, on.server, of(list));

	list.add(7, 5, 0, 100);
	send_request(p.client, 5, 4096, 101, p.client.mr->rkey);
	const completion got = list.wait();
	check_equal(got.status, IBV_WC_TM_RNDV_INCOMPLETE, "status");
	check_equal(got.id, 7u, "wr_id");
	check(!std::memcmp(list.place(0, headers).data(),
			   p.client.at(0, headers).data(), headers),
	      "headers");
	check_equal(p.server.state(), IBV_QPS_RTS, "state");
}

/* A key that the sender does not have is the end of its QP, and of that receive. */
TEST_F(tags, rendezvous_bad_key)
{
	tag_list list(on.server);
	pair p(on.client, on.server, of(list));

	list.add(7, 5, 0, 100);
	send_request(p.client, 5, 4096, 100, p.client.mr->rkey ^ 0x55);
	check_completion(list.wait(), IBV_WC_TM_RECV, IBV_WC_TM_MATCH, 7, 5);
	const completion got = list.wait();
	check_equal(got.status, IBV_WC_REM_ACCESS_ERR, "status");
	check_equal(got.id, 7u, "wr_id");
	p.server.wait_state(IBV_QPS_ERR);
	/* Others go on. */
	pair q(on.client, on.server, of(list));
	list.add(8, 6, 1, 100);
	send_message(q.client, IBV_TMH_EAGER, 6, 8);
	check_equal(list.wait().id, 8u, "the next one");
}

TEST_F(tags, del)
{
	tag_list list(on.server);
	pair p(on.client, on.server, of(list));
	const uint32_t first = list.add(1, 5, 0), second = list.add(2, 5, 1);

	check_completion(list.del(first), IBV_WC_TM_DEL, 0, 0, 0);
	send_message(p.client, IBV_TMH_EAGER, 5, 8);
	check_equal(list.wait().id, 2u, "the one that is left");
	check_equal(list.del(second).status, IBV_WC_TM_ERR, "one that is gone");
}

/* Without a completion for each, the list and its queue have room again. */
TEST_F(tags, many_changes)
{
	tag_list list(on.server);

	for (int round = 0; round < 10; round++) {
		uint32_t handle[max_tags], extra = 0;

		for (uint32_t &h : handle)
			check_equal(list.try_add(1, 5, list.sge(0, 8), all_bits,
						 &h),
				    0, "TAG_ADD");
		check_equal(list.try_add(1, 5, list.sge(0, 8), all_bits,
					 &extra),
			    ENOMEM, "one too many");
		for (const uint32_t h : handle)
			check_equal(list.del(h).status, IBV_WC_SUCCESS, "del");
	}
	list.nothing_more();
}

/* Why the server cannot have such a QP. */
std::string refusal(port &p, const options &o)
{
	try {
		endpoint e(p, o);
	} catch (const failure &why) {
		return why.what();
	}
	return "no refusal";
}

TEST_F(tags, refusals)
{
	const std::string invalid =
		"ibv_create_qp: " + std::string(std::strerror(EINVAL));
	tag_list list(on.server);
	options o = of(list);
	ibv_srq_init_attr_ex init{};
	ibv_ops_wr wr{};

	o.no_sends = false;
	check(refusal(on.server, o) == invalid, "an RC QP with a send queue");
	o = of(list);
	o.type = IBV_QPT_UD;
	check(refusal(on.server, o) == invalid, "a UD QP");
	{
		endpoint e(on.server, of(list));

		check_equal(ibv_destroy_srq(list.srq.get()), EBUSY, "busy");
	}
	wr.opcode = static_cast<ibv_ops_wr_opcode>(9);
	check_equal(list.change(wr), EINVAL, "opcode");
	init.comp_mask = IBV_SRQ_INIT_ATTR_TYPE | IBV_SRQ_INIT_ATTR_PD |
			 IBV_SRQ_INIT_ATTR_CQ | IBV_SRQ_INIT_ATTR_TM;
	init.srq_type = IBV_SRQT_TM;
	init.pd = on.server.pd.get();
	init.cq = list.cq.get();
	init.attr.max_wr = 1;
	init.attr.max_sge = 1;
	init.tm_cap.max_num_tags = caps_of(on.server).max_num_tags + 1;
	init.tm_cap.max_ops = 1;
	errno = 0;
	check(!ibv_create_srq_ex(on.server.context.get(), &init),
	      "too many tags");
	check_equal(errno, EINVAL, "too many tags");
}

} // namespace
