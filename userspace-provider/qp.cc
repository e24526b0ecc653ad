// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
// Queue pairs: creation, state changes, destruction, posting.

#include "qp.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <functional>
#include <rdma/ornic-abi.h>
#include <rdma/ornic-hw.h>

#include "command.h"
#include "context.h"
#include "cq.h"
#include "domain.h"
#include "srq.h"
#include "verbs.h"

namespace ornic
{
namespace
{

constexpr std::uint8_t max_log_depth = 24;
constexpr std::uint8_t min_log_stride = 5;
constexpr std::uint8_t min_sq_log_stride = 6; // header and three segments
constexpr std::uint8_t max_log_stride = 10;

/* An XRC target: processes share it, it completes to no CQ, takes no posts. */
[[nodiscard]] bool is_target(const ibv_qp &qp) noexcept
{
	return qp.qp_type == IBV_QPT_XRC_RECV;
}

/* Where the QP's own work completes; what an initiator's user names is not. */
[[nodiscard]] completion_queue &send_cq_of(const ibv_qp &qp) noexcept
{
	return to_cq(qp.send_cq);
}

[[nodiscard]] completion_queue &recv_cq_of(const ibv_qp &qp) noexcept
{
	return to_cq(qp.qp_type == IBV_QPT_XRC_SEND ? qp.send_cq : qp.recv_cq);
}

/* Locks the two CQs of a QP, which may be one, in an order of addresses. */
class cq_pair_guard {
public:
	cq_pair_guard(completion_queue &a, completion_queue &b) noexcept
		: first_(std::less<>()(&a, &b) ? &a : &b)
		, second_(std::less<>()(&a, &b) ? &b : &a)
	{
		first_->lock.lock();
		if (first_ != second_)
			second_->lock.lock();
	}
	~cq_pair_guard()
	{
		if (first_ != second_)
			second_->lock.unlock();
		first_->lock.unlock();
	}
	cq_pair_guard(const cq_pair_guard &) = delete;
	cq_pair_guard &operator=(const cq_pair_guard &) = delete;

private:
	completion_queue *first_;
	completion_queue *second_;
};

/*
 * Drop the QP's completions. No more come: it is destroyed or in RESET. Where the SRQ
 * matches tags, they are the SRQ's: the device counts its messages, and the program
 * has to count the same ones.
 */
void clean_cqs(const queue_pair &qp, completion_queue &send_cq,
	       completion_queue &recv_cq) noexcept
{
	std::uint32_t qpn = qp.base.qp.qp_num;

	if (qp.tagged)
		return;
	send_cq.ring.remove(qpn);
	if (&recv_cq != &send_cq)
		recv_cq.ring.remove(qpn);
}

/* Take it out of the table and its CQs, with owners() held. */
void leave(qp_table &qps, queue_pair &qp) noexcept
{
	ibv_qp &base = qp.base.qp;
	completion_queue &send_cq = send_cq_of(base);
	completion_queue &recv_cq = recv_cq_of(base);
	// No poller is using it, then.
	cq_pair_guard guard(send_cq, recv_cq);

	clean_cqs(qp, send_cq, recv_cq);
	qps.remove(base.qp_num);
}

/*
 * The kernel may give out the number of a QP while destroy_qp() of that QP is
 * on its way back from there. That one is gone from the device, so whoever of
 * the two comes first takes it out. False if there is no memory.
 */
[[nodiscard]] bool enter(qp_table &qps, queue_pair &qp,
			 std::uint32_t qpn) noexcept
{
	lock_guard guard(qps.owners());

	if (queue_pair *last = qps.find(qpn))
		leave(qps, *last);
	return qps.insert(qpn, &qp);
}

[[nodiscard]] bool ring_fits(std::uint64_t size, std::uint64_t offset,
			     std::uint8_t log_depth,
			     std::uint8_t log_stride) noexcept
{
	return log_depth <= max_log_depth && log_stride >= min_log_stride &&
	       log_stride <= max_log_stride && offset >= ORNIC_RING_OFFSET &&
	       offset % sizeof(ornic_sge) == 0 && offset <= size &&
	       std::uint64_t{ 1 } << (log_depth + log_stride) <= size - offset;
}

[[nodiscard]] bool plausible(const ornic_create_qp_resp &answer) noexcept
{
	std::uint64_t size = answer.mmap_size;

	if (size < ORNIC_RING_OFFSET)
		return false;
	if (answer.has_sq &&
	    (answer.sq_log_stride < min_sq_log_stride ||
	     !ring_fits(size, answer.sq_offset, answer.sq_log_depth,
			answer.sq_log_stride)))
		return false;
	return !answer.has_rq ||
	       ring_fits(size, answer.rq_offset, answer.rq_log_depth,
			 answer.rq_log_stride);
}

[[nodiscard]] ring_layout sq_layout(const mapping &memory,
				    const ornic_create_qp_resp &answer) noexcept
{
	return {
		.ring = memory.data() + answer.sq_offset,
		.record = reinterpret_cast<ornic_wq_record *>(memory.data() +
							      ORNIC_SQ_RECORD),
		.log_depth = answer.sq_log_depth,
		.log_stride = answer.sq_log_stride,
		.max_sge = answer.sq_max_sge,
		.present = answer.has_sq != 0,
	};
}

[[nodiscard]] ring_layout rq_layout(const mapping &memory,
				    const ornic_create_qp_resp &answer) noexcept
{
	return {
		.ring = memory.data() + answer.rq_offset,
		.record = reinterpret_cast<ornic_wq_record *>(memory.data() +
							      ORNIC_RQ_RECORD),
		.log_depth = answer.rq_log_depth,
		.log_stride = answer.rq_log_stride,
		.max_sge = answer.rq_max_sge,
		.present = answer.has_rq != 0,
	};
}

constexpr std::uint32_t rss_mask = IBV_QP_INIT_ATTR_IND_TABLE |
				   IBV_QP_INIT_ATTR_RX_HASH;

/* Does it spread what it receives over work queues? It has no queue then. */
[[nodiscard]] bool is_rss(const ibv_qp_init_attr_ex &attr) noexcept
{
	return attr.comp_mask & rss_mask;
}

int check_rss(const ibv_qp_init_attr_ex &attr) noexcept
{
	const ibv_rx_hash_conf &hash = attr.rx_hash_conf;
	const ibv_qp_cap &cap = attr.cap;

	if ((attr.comp_mask & rss_mask) != rss_mask || !attr.rwq_ind_tbl ||
	    attr.qp_type != IBV_QPT_RAW_PACKET)
		return EINVAL;
	if (!(attr.comp_mask & IBV_QP_INIT_ATTR_PD) || !attr.pd ||
	    attr.comp_mask & IBV_QP_INIT_ATTR_SEND_OPS_FLAGS || attr.send_cq ||
	    attr.recv_cq || attr.srq || cap.max_send_wr || cap.max_recv_wr)
		return EINVAL;
	return hash.rx_hash_key_len == sizeof(ornic_create_rss_qp_req::key) &&
			       hash.rx_hash_key ?
		       0 :
		       EINVAL;
}

/* Each type has domains and CQs of its own. */
int check_type(const ibv_qp_init_attr_ex &attr) noexcept
{
	bool in_pd = (attr.comp_mask & IBV_QP_INIT_ATTR_PD) && attr.pd;
	bool in_xrcd = (attr.comp_mask & IBV_QP_INIT_ATTR_XRCD) && attr.xrcd;

	switch (raw(attr.qp_type)) {
	case IBV_QPT_RC:
	case IBV_QPT_UC:
	case IBV_QPT_UD:
	case IBV_QPT_RAW_PACKET:
		return in_pd && attr.send_cq && attr.recv_cq ? 0 : EINVAL;
	case IBV_QPT_XRC_SEND:
		return in_pd && attr.send_cq && !attr.srq ? 0 : EINVAL;
	case IBV_QPT_XRC_RECV:
		return in_xrcd ? 0 : EINVAL;
	default:
		return EOPNOTSUPP;
	}
}

/* 0 if this provider can make the QP that is asked for. */
int check(const ibv_qp_init_attr_ex &attr, std::uint64_t placement) noexcept
{
	constexpr std::uint32_t known =
		IBV_QP_INIT_ATTR_PD | IBV_QP_INIT_ATTR_CREATE_FLAGS |
		IBV_QP_INIT_ATTR_XRCD | IBV_QP_INIT_ATTR_SEND_OPS_FLAGS |
		rss_mask;
	constexpr std::uint32_t flags = IBV_QP_CREATE_BLOCK_SELF_MCAST_LB;

	if (attr.comp_mask & ~known)
		return EOPNOTSUPP;
	if (int ret = is_rss(attr) ? check_rss(attr) : check_type(attr))
		return ret;
	if ((attr.comp_mask & IBV_QP_INIT_ATTR_SEND_OPS_FLAGS) &&
	    (attr.send_ops_flags & ~send_ops_of(attr.qp_type, placement)))
		return EOPNOTSUPP;
	if ((attr.comp_mask & IBV_QP_INIT_ATTR_CREATE_FLAGS) &&
	    (attr.create_flags & ~flags))
		return EOPNOTSUPP;
	return 0;
}

/* The kernel's part, without flags. 0, or an errno. */
int create_plain(context &ctx, queue_pair &qp, ibv_qp_init_attr_ex &attr,
		 ornic_create_qp_resp &answer) noexcept
{
	request<ib_uverbs_create_qp, ornic_create_qp_req> cmd;
	response<ib_uverbs_create_qp_resp, ornic_create_qp_resp> resp;
	// No flags at all are what this command is for.
	std::uint32_t comp_mask = attr.comp_mask;
	attr.comp_mask &=
		~static_cast<std::uint32_t>(IBV_QP_INIT_ATTR_CREATE_FLAGS);
	int ret = ibv_cmd_create_qp_ex(&ctx.base, &qp.base, &attr, cmd.data(),
				       cmd.size(), resp.data(), resp.size());
	attr.comp_mask = comp_mask;

	answer = resp.driver();
	return ret;
}

/* The same with flags, which only the extended command has. */
int create_with_flags(context &ctx, queue_pair &qp, ibv_qp_init_attr_ex &attr,
		      ornic_create_qp_resp &answer) noexcept
{
	ex_request<ib_uverbs_ex_create_qp, ornic_create_qp_req> cmd;
	response<ib_uverbs_ex_create_qp_resp, ornic_create_qp_resp> resp;
	int ret = cmd_create_qp_ex2(&ctx.base, &qp.base, &attr, cmd.data(),
				    cmd.size(), resp.data(), resp.size());

	answer = resp.driver();
	return ret;
}

/* With the hash of a QP that spreads. */
int create_spread(context &ctx, queue_pair &qp,
		  ibv_qp_init_attr_ex &attr) noexcept
{
	ex_request<ib_uverbs_ex_create_qp, ornic_create_rss_qp_req> cmd;
	response<ib_uverbs_ex_create_qp_resp, ornic_create_qp_resp> resp;
	const ibv_rx_hash_conf &hash = attr.rx_hash_conf;
	ornic_create_rss_qp_req req{};

	req.hash_function = hash.rx_hash_function;
	req.key_len = hash.rx_hash_key_len;
	req.fields = hash.rx_hash_fields_mask;
	std::memcpy(req.key, hash.rx_hash_key, sizeof(req.key));
	cmd.set_driver(req);
	return cmd_create_qp_ex2(&ctx.base, &qp.base, &attr, cmd.data(),
				 cmd.size(), resp.data(), resp.size());
}

/* Only such connections have options. */
[[nodiscard]] bool is_reliable(const ibv_qp &qp) noexcept
{
	return qp.qp_type == IBV_QPT_RC || qp.qp_type == IBV_QPT_XRC_SEND ||
	       is_target(qp);
}

/* What a QP has that has agreed on nothing. */
void offer_ece(queue_pair &qp) noexcept
{
	const ibv_qp &base = qp.base.qp;
	const context_state &ctx = to_context(base.context)->state;

	qp.ece.options = is_reliable(base) ? ctx.ece_offer : 0;
	qp.ece.pending = false;
}

/* Does the device take options with this change, before the first request? */
[[nodiscard]] bool takes_ece(const ibv_qp &qp, const ibv_qp_attr &attr,
			     int mask) noexcept
{
	if (!(mask & IBV_QP_STATE))
		return qp.state == IBV_QPS_INIT;
	return attr.qp_state >= IBV_QPS_INIT && attr.qp_state <= IBV_QPS_RTS &&
	       qp.state < IBV_QPS_RTS;
}

int modify_plain(ibv_qp &qp, ibv_qp_attr &attr, int mask) noexcept
{
	request<ib_uverbs_modify_qp> cmd;

	return ibv_cmd_modify_qp(&qp, &attr, mask, cmd.data(), cmd.size());
}

/* Only the extended command has driver data, and attributes from RATE_LIMIT on. */
int modify_extended(ibv_qp &qp, ibv_qp_attr &attr, int mask,
		    const ornic_modify_qp_req &req) noexcept
{
	ex_request<ib_uverbs_ex_modify_qp, ornic_modify_qp_req> cmd;
	response<ib_uverbs_ex_modify_qp_resp> resp;

	cmd.set_driver(req);
	return ibv_cmd_modify_qp_ex(&qp, &attr, mask, cmd.data(), cmd.size(),
				    resp.data(), resp.size());
}

queue_pair *make_spread(context &ctx, ibv_qp_init_attr_ex &attr) noexcept
{
	auto qp = make_object<queue_pair>();

	if (!qp)
		return nullptr;
	if (int ret = create_spread(ctx, *qp, attr))
		return fail(ret);
	offer_ece(*qp);
	qp->pd = attr.pd;
	use(attr.pd);
	return qp.release();
}

/* An SRQ that matches tags is not destroyed before the QP. */
void hold_tags(queue_pair &qp, ibv_srq *srq) noexcept
{
	if (!srq || !to_srq(srq).tags)
		return;
	qp.tagged = &to_srq(srq);
	qp.tagged->takers.fetch_add(1, std::memory_order_relaxed);
}

/* What was checked. */
queue_pair *build_qp(context &ctx, ibv_qp_init_attr_ex &attr) noexcept
{
	bool flags = (attr.comp_mask & IBV_QP_INIT_ATTR_CREATE_FLAGS) &&
		     attr.create_flags;
	ornic_create_qp_resp answer{};
	auto qp = make_object<queue_pair>();
	if (!qp)
		return nullptr;
	if (int ret = flags ? create_with_flags(ctx, *qp, attr, answer) :
			      create_plain(ctx, *qp, attr, answer))
		return fail(ret);
	offer_ece(*qp);
	if (is_target(qp->base.qp))
		return qp.release();
	if (int ret = set_up(ctx, *qp, attr, answer)) {
		log_error(&ctx.base, "ornic: %s: cannot map QP %u: %d\n",
			  answer.qpn, ret);
		ibv_cmd_destroy_qp(&qp->base.qp);
		return fail(ret);
	}
	if (attr.comp_mask & IBV_QP_INIT_ATTR_SEND_OPS_FLAGS) {
		set_send_ops(qp->base, attr.send_ops_flags);
		set_comp_mask(qp->base, PABI_QP_EX);
	}
	qp->pd = attr.pd;
	use(attr.pd);
	hold_tags(*qp, attr.srq);
	return qp.release();
}

queue_pair *make_qp(context &ctx, ibv_qp_init_attr_ex &attr) noexcept
{
	if (int ret = check(attr, ctx.state.placement))
		return fail(ret);
	return is_rss(attr) ? make_spread(ctx, attr) : build_qp(ctx, attr);
}

} // namespace

int set_up(context &ctx, queue_pair &qp, const ibv_qp_init_attr_ex &attr,
	   const ornic_create_qp_resp &answer) noexcept
{
	if (!plausible(answer))
		return EPROTO;
	qp.memory =
		mapping(ctx.base.cmd_fd, answer.mmap_offset, answer.mmap_size);
	if (!qp.memory)
		return errno;
	qp.sq.init({
		.layout = sq_layout(qp.memory, answer),
		.qpn = answer.qpn,
		.bell = &ctx.state.bell,
		.type = attr.qp_type,
		.signal_all = attr.sq_sig_all != 0,
		.max_inline = answer.max_inline,
		.single_threaded = single_threaded(attr.pd),
	});
	qp.rq.init({
		.layout = rq_layout(qp.memory, answer),
		.qpn = answer.qpn,
		.bell = &ctx.state.bell,
		.single_threaded = single_threaded(attr.pd),
	});
	return enter(ctx.state.qps, qp, answer.qpn) ? 0 : ENOMEM;
}

void take_down(context &ctx, queue_pair &qp) noexcept
{
	qp_table &qps = ctx.state.qps;
	lock_guard guard(qps.owners());

	if (qps.find(qp.base.qp.qp_num) == &qp)
		leave(qps, qp);
}

void reset(queue_pair &qp) noexcept
{
	ibv_qp &base = qp.base.qp;
	completion_queue &send_cq = send_cq_of(base);
	completion_queue &recv_cq = recv_cq_of(base);
	cq_pair_guard guard(send_cq, recv_cq);

	clean_cqs(qp, send_cq, recv_cq);
	qp.sq.reset();
	qp.rq.reset();
}

std::uint32_t agree_on_ece(std::uint32_t a, std::uint32_t b) noexcept
{
	constexpr std::uint32_t bits = (1U << ORNIC_ECE_VERSION_SHIFT) - 1;
	std::uint32_t version = std::min(a & ~bits, b & ~bits);

	return version && (a & b & bits) ? version | (a & b & bits) : 0;
}

queue_pair *make_tags_qp(context &ctx, ibv_qp_init_attr_ex &attr) noexcept
{
	return build_qp(ctx, attr);
}

ibv_qp *create_qp(ibv_pd *pd, ibv_qp_init_attr *attr) noexcept
{
	ibv_qp_init_attr_ex ex{};

	ex.qp_context = attr->qp_context;
	ex.send_cq = attr->send_cq;
	ex.recv_cq = attr->recv_cq;
	ex.srq = attr->srq;
	ex.cap = attr->cap;
	ex.qp_type = attr->qp_type;
	ex.sq_sig_all = attr->sq_sig_all;
	ex.comp_mask = IBV_QP_INIT_ATTR_PD;
	ex.pd = pd;
	queue_pair *qp = make_qp(*to_context(pd->context), ex);
	if (!qp)
		return nullptr;
	attr->cap = ex.cap;
	return &qp->base.qp;
}

ibv_qp *create_qp_ex(ibv_context *ctx, ibv_qp_init_attr_ex *attr) noexcept
{
	queue_pair *qp = make_qp(*to_context(ctx), *attr);

	return qp ? &qp->base.qp : nullptr;
}

/** Another handle of an XRC target, which lives until the last one goes. */
ibv_qp *open_qp(ibv_context *ctx, ibv_qp_open_attr *attr) noexcept
{
	request<ib_uverbs_open_qp> cmd;
	response<ib_uverbs_create_qp_resp> resp;
	auto qp = make_object<queue_pair>();

	if (!qp)
		return nullptr;
	if (int ret = ibv_cmd_open_qp(ctx, &qp->base, sizeof(qp->base), attr,
				      cmd.data(), cmd.size(), resp.data(),
				      resp.size()))
		return fail(ret);
	offer_ece(*qp);
	return &qp.release()->base.qp;
}

int modify_qp(ibv_qp *ibqp, ibv_qp_attr *attr, int mask) noexcept
{
	queue_pair &qp = to_qp(ibqp);
	bool with_ece = qp.ece.pending && takes_ece(*ibqp, *attr, mask);
	ornic_modify_qp_req req{};

	if (with_ece) {
		req.comp_mask = ORNIC_MODIFY_QP_ECE;
		req.ece_options = qp.ece.options;
	}
	if (int ret = with_ece || mask >= IBV_QP_RATE_LIMIT ?
			      modify_extended(*ibqp, *attr, mask, req) :
			      modify_plain(*ibqp, *attr, mask))
		return ret;
	if (with_ece)
		qp.ece.pending = false;
	if (!(mask & IBV_QP_STATE) || attr->qp_state != IBV_QPS_RESET)
		return 0;
	offer_ece(qp);
	if (!is_target(*ibqp))
		reset(qp);
	return 0;
}

/** @attr->typical_pkt_sz is a hint, of which this device has no use. */
int modify_qp_rate_limit(ibv_qp *qp, ibv_qp_rate_limit_attr *attr) noexcept
{
	ornic_modify_qp_req req{};
	ibv_qp_attr limit{};

	if (attr->comp_mask)
		return EINVAL;
	if (attr->max_burst_sz) {
		req.comp_mask = ORNIC_MODIFY_QP_BURST;
		req.max_burst = attr->max_burst_sz;
	}
	limit.rate_limit = attr->rate_limit;
	return modify_extended(*qp, limit, IBV_QP_RATE_LIMIT, req);
}

/** What the QP offers, or, after set_ece(), what both ends have. */
int query_ece(ibv_qp *ibqp, ibv_ece *ece) noexcept
{
	if (!to_context(ibqp->context)->state.ece_offer)
		return errno = EOPNOTSUPP;
	ece->vendor_id = ORNIC_ECE_VENDOR_ID;
	ece->options = to_qp(ibqp).ece.options;
	ece->comp_mask = 0;
	return 0;
}

/**
 * Returns in @ece what is left of the options of the peer. EINVAL for another vendor,
 * and in states from RTS on, in which the QP has begun without them.
 */
int set_ece(ibv_qp *ibqp, ibv_ece *ece) noexcept
{
	queue_pair &qp = to_qp(ibqp);
	std::uint32_t offer = to_context(ibqp->context)->state.ece_offer;

	if (ece->comp_mask || ece->vendor_id != ORNIC_ECE_VENDOR_ID)
		return errno = EINVAL;
	if (!offer)
		return errno = EOPNOTSUPP;
	if (ibqp->state >= IBV_QPS_RTS)
		return errno = EINVAL;
	bool reliable = is_reliable(*ibqp);
	ece->options = reliable ? agree_on_ece(offer, ece->options) : 0;
	qp.ece.options = ece->options;
	qp.ece.pending = reliable;
	return 0;
}

int query_qp(ibv_qp *qp, ibv_qp_attr *attr, int mask,
	     ibv_qp_init_attr *init) noexcept
{
	request<ib_uverbs_query_qp> cmd;

	return ibv_cmd_query_qp(qp, attr, mask, init, cmd.data(), cmd.size());
}

/*
 * The kernel goes first: afterwards the device completes nothing more here. No
 * lock is held meanwhile: libibverbs waits there for the acknowledgement of the
 * QP's events, by a thread that may be creating or destroying another QP.
 */
int destroy_qp(ibv_qp *ibqp) noexcept
{
	queue_pair &qp = to_qp(ibqp);

	if (int ret = ibv_cmd_destroy_qp(ibqp))
		return ret;
	if (!is_target(*ibqp))
		take_down(*to_context(ibqp->context), qp);
	if (qp.tagged)
		qp.tagged->takers.fetch_sub(1, std::memory_order_release);
	unuse(qp.pd);
	object_deleter()(&qp);
	return 0;
}

/** Also EINVAL in states that take no send work requests, IBTA 10.3.1. */
[[gnu::flatten]] int post_send(ibv_qp *ibqp, ibv_send_wr *wr,
			       ibv_send_wr **bad_wr) noexcept
{
	if (ibqp->state < IBV_QPS_RTS || is_target(*ibqp)) [[unlikely]] {
		*bad_wr = wr;
		return EINVAL;
	}
	return to_qp(ibqp).sq.post(wr, bad_wr);
}

/**
 * Binds a window of type 1, which libibverbs has checked. The window has its
 * new key at once; who finds the bind failed in its completion has a window
 * that is not bound.
 */
int bind_mw(ibv_qp *ibqp, ibv_mw *mw, ibv_mw_bind *bind) noexcept
{
	const ibv_mw_bind_info &info = bind->bind_info;
	std::uint32_t rkey = ibv_inc_rkey(mw->rkey);
	send_work work{};

	if (ibqp->state < IBV_QPS_RTS)
		return EINVAL;
	if (int ret = fill_bind(work, info, rkey))
		return ret;
	work.flags = bind->send_flags;
	work.wr_id = bind->wr_id;
	int ret = to_qp(ibqp).sq.post_local(work);
	if (!ret)
		mw->rkey = rkey;
	return ret;
}

/** Also EINVAL in RESET, IBTA 10.3.1, and without a queue of its own. */
int post_recv(ibv_qp *ibqp, ibv_recv_wr *wr, ibv_recv_wr **bad_wr) noexcept
{
	if (ibqp->state == IBV_QPS_RESET || is_target(*ibqp)) [[unlikely]] {
		*bad_wr = wr;
		return EINVAL;
	}
	return to_qp(ibqp).rq.post(wr, bad_wr);
}

} // namespace ornic
