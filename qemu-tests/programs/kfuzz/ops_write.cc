// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause

#include "ops.h"

#include <infiniband/verbs.h>
#include <rdma/ib_user_verbs.h>
#include <rdma/ornic-abi.h>
#include <rdma/ornic-hw-queue.h>
#include <fcntl.h>
#include <unistd.h>

#include <cstring>
#include <vector>

#include "world.h"

namespace
{

constexpr std::size_t extended =
	sizeof(ib_uverbs_cmd_hdr) + sizeof(ib_uverbs_ex_cmd_hdr);

/* What a driver appends to a response that is at most as long as this. */
template <typename Core, typename Driver> struct answer {
	alignas(8) std::byte bytes[sizeof(Core) + sizeof(Driver)] = {};

	[[nodiscard]] Core core() const
	{
		Core copy;

		std::memcpy(&copy, bytes, sizeof(copy));
		return copy;
	}
	[[nodiscard]] Driver driver() const
	{
		Driver copy;

		std::memcpy(&copy, bytes + sizeof(Core), sizeof(copy));
		return copy;
	}
};

struct empty {};

/* The driver's part of a request: eight bytes, zero. */
bool command(world &w, const call &c, uint32_t number, const void *core,
	     std::size_t size, std::size_t driver, std::size_t answer_size)
{
	alignas(8) std::byte bytes[512] = {};
	const std::size_t whole = sizeof(ib_uverbs_cmd_hdr) + size + driver;
	ib_uverbs_cmd_hdr head = {};

	head.command = number;
	head.in_words = static_cast<uint16_t>(whole / 4);
	head.out_words = static_cast<uint16_t>(answer_size / 4);
	std::memcpy(bytes, &head, sizeof(head));
	std::memcpy(bytes + sizeof(head), core, size);
	/* The response stays where it is: it must not overwrite ours. */
	if (size > sizeof(uint64_t))
		damage({ bytes + sizeof(head) + sizeof(uint64_t),
			 size + driver - sizeof(uint64_t) },
		       c.noise);
	const bool ok = write(w.files(c).verbs, bytes, whole) ==
			static_cast<ssize_t>(whole);

	w.count(c, ok);
	return ok;
}

template <typename Core, typename Core_answer, typename Driver>
bool request(world &w, const call &c, uint32_t number, Core &core,
	     answer<Core_answer, Driver> &to, std::size_t driver = 8)
{
	core.response = reinterpret_cast<uint64_t>(to.bytes);
	return command(w, c, number, &core, sizeof(core), driver,
		       sizeof(to.bytes));
}

template <typename Driver> void keep_queue(object &o, const Driver &driver)
{
	o.offset = driver.mmap_offset;
	o.size = driver.mmap_size;
}

uint32_t access_of(uint64_t arg)
{
	/* All rights; a few; or whatever it says. */
	return arg < 8 ? (arg & 1 ? 1 : 0xf | IBV_ACCESS_MW_BIND) :
			 static_cast<uint32_t>(arg);
}

uint64_t length_of(uint64_t arg)
{
	return arg < 8 ? memory_size >> arg : arg;
}

} /* namespace */

void op_open(world &w, const call &c)
{
	w.open_context(c.arg[0] % num_contexts);
}

void op_close(world &w, const call &c)
{
	w.close_context(c.arg[0] % num_contexts);
}

void op_alloc_pd(world &w, const call &c)
{
	answer<ib_uverbs_alloc_pd_resp, ornic_alloc_pd_resp> to;
	ib_uverbs_alloc_pd core = {};

	if (request(w, c, IB_USER_VERBS_CMD_ALLOC_PD, core, to, 0))
		w.place(c, pd).handle = to.core().pd_handle;
}

/* reg_mr(place, length, access, pd) */
void op_reg_mr(world &w, const call &c)
{
	answer<ib_uverbs_reg_mr_resp, empty> to;
	ib_uverbs_reg_mr core = {};

	core.start = reinterpret_cast<uint64_t>(w.memory);
	core.hca_va = c.arg[2] & 16 ? 0 : core.start;
	core.length = length_of(c.arg[1]);
	core.access_flags = access_of(c.arg[2]);
	core.pd_handle = w.place(c, pd, c.arg[3]).handle;
	if (!request(w, c, IB_USER_VERBS_CMD_REG_MR, core, to, 0))
		return;
	w.place(c, mr).handle = to.core().mr_handle;
	w.place(c, mr).number = to.core().rkey;
}

/* rereg_mr(place, flags, length, pd) */
void op_rereg_mr(world &w, const call &c)
{
	answer<ib_uverbs_rereg_mr_resp, empty> to;
	ib_uverbs_rereg_mr core = {};

	core.mr_handle = w.place(c, mr).handle;
	core.flags = static_cast<uint32_t>(c.arg[1]);
	core.start = core.hca_va = reinterpret_cast<uint64_t>(w.memory);
	core.length = length_of(c.arg[2]);
	core.access_flags = access_of(c.arg[2]);
	core.pd_handle = w.place(c, pd, c.arg[3]).handle;
	request(w, c, IB_USER_VERBS_CMD_REREG_MR, core, to, 0);
}

void op_alloc_mw(world &w, const call &c)
{
	answer<ib_uverbs_alloc_mw_resp, empty> to;
	ib_uverbs_alloc_mw core = {};

	core.mw_type = static_cast<uint8_t>(c.arg[1] % 4);
	core.pd_handle = w.place(c, pd, c.arg[2]).handle;
	if (!request(w, c, IB_USER_VERBS_CMD_ALLOC_MW, core, to, 0))
		return;
	w.place(c, mw).handle = to.core().mw_handle;
	w.place(c, mw).number = to.core().rkey;
}

void op_create_ah(world &w, const call &c)
{
	answer<ib_uverbs_create_ah_resp, ornic_create_ah_resp> to;
	ib_uverbs_create_ah core = {};

	core.pd_handle = w.place(c, pd, c.arg[1]).handle;
	core.attr.is_global = 1;
	core.attr.port_num = 1;
	core.attr.grh.sgid_index =
		static_cast<uint8_t>(c.arg[2] < 8 ? w.gid_index : c.arg[2]);
	core.attr.grh.hop_limit = 64;
	std::memcpy(core.attr.grh.dgid, w.gid.data(), w.gid.size());
	if (!request(w, c, IB_USER_VERBS_CMD_CREATE_AH, core, to, 0))
		return;
	w.place(c, ah).handle = to.core().ah_handle;
	w.place(c, ah).number = to.driver().ah;
}

void op_channel(world &w, const call &c)
{
	answer<ib_uverbs_create_comp_channel_resp, empty> to;
	ib_uverbs_create_comp_channel core = {};

	if (!request(w, c, IB_USER_VERBS_CMD_CREATE_COMP_CHANNEL, core, to, 0))
		return;
	const int old =
		w.files(c).channel.exchange(static_cast<int>(to.core().fd));

	if (old >= 0)
		close(old);
}

/* create_cq(place, entries, channel, vector) */
void op_create_cq(world &w, const call &c)
{
	answer<ib_uverbs_create_cq_resp, ornic_create_cq_resp> to;
	ib_uverbs_create_cq core = {};
	object &o = w.place(c, cq);

	core.cqe = c.arg[1] < 8 ? 16 << c.arg[1] :
				  static_cast<uint32_t>(c.arg[1]);
	core.comp_channel = c.arg[2] & 1 ? w.files(c).channel.load() : -1;
	core.comp_vector = static_cast<uint32_t>(c.arg[3] % 3);
	if (!request(w, c, IB_USER_VERBS_CMD_CREATE_CQ, core, to))
		return;
	o.handle = to.core().cq_handle;
	o.number = to.driver().cqn;
	keep_queue(o, to.driver());
}

void op_resize_cq(world &w, const call &c)
{
	answer<ib_uverbs_resize_cq_resp, ornic_resize_cq_resp> to;
	ib_uverbs_resize_cq core = {};
	object &o = w.place(c, cq);

	core.cq_handle = o.handle;
	core.cqe = c.arg[1] < 8 ? 16 << c.arg[1] :
				  static_cast<uint32_t>(c.arg[1]);
	if (request(w, c, IB_USER_VERBS_CMD_RESIZE_CQ, core, to))
		keep_queue(o, to.driver());
}

void op_open_xrcd(world &w, const call &c)
{
	answer<ib_uverbs_open_xrcd_resp, empty> to;
	ib_uverbs_open_xrcd core = {};

	core.fd = static_cast<uint32_t>(-1);
	core.oflags = c.arg[1] < 8 ? O_CREAT : static_cast<uint32_t>(c.arg[1]);
	if (request(w, c, IB_USER_VERBS_CMD_OPEN_XRCD, core, to, 0))
		w.place(c, xrcd).handle = to.core().xrcd_handle;
}

/* create_srq(place, entries, type, pd) */
void op_create_srq(world &w, const call &c)
{
	answer<ib_uverbs_create_srq_resp, ornic_create_srq_resp> to;
	ib_uverbs_create_xsrq core = {};
	object &o = w.place(c, srq);

	core.srq_type = static_cast<uint32_t>(c.arg[2] % 3);
	core.pd_handle = w.place(c, pd, c.arg[3]).handle;
	core.max_wr = c.arg[1] < 8 ? 8 << c.arg[1] :
				     static_cast<uint32_t>(c.arg[1]);
	core.max_sge = 2;
	core.xrcd_handle = w.place(c, xrcd, c.arg[3]).handle;
	core.cq_handle = w.place(c, cq, c.arg[3]).handle;
	if (!request(w, c, IB_USER_VERBS_CMD_CREATE_XSRQ, core, to))
		return;
	o.handle = to.core().srq_handle;
	o.number = to.driver().srqn;
	o.rq_offset = ORNIC_RING_OFFSET;
	o.rq_stride = 1u << (to.driver().log_stride & 15);
	keep_queue(o, to.driver());
}

void op_modify_srq(world &w, const call &c)
{
	ib_uverbs_modify_srq core = {};

	core.srq_handle = w.place(c, srq).handle;
	core.attr_mask = static_cast<uint32_t>(c.arg[1] % 4);
	core.max_wr = static_cast<uint32_t>(c.arg[2]);
	core.srq_limit = static_cast<uint32_t>(c.arg[3]);
	command(w, c, IB_USER_VERBS_CMD_MODIFY_SRQ, &core, sizeof(core), 0, 0);
}

/* create_qp(place, type, cq and srq, pd) */
void op_create_qp(world &w, const call &c)
{
	static const uint8_t types[] = {
		IBV_QPT_RC,	    IBV_QPT_RC,	      IBV_QPT_UC,
		IBV_QPT_UD,	    IBV_QPT_XRC_SEND, IBV_QPT_XRC_RECV,
		IBV_QPT_RAW_PACKET, IBV_QPT_DRIVER,
	};
	answer<ib_uverbs_create_qp_resp, ornic_create_qp_resp> to;
	ib_uverbs_create_qp core = {};
	object &o = w.place(c, qp);

	core.qp_type = types[c.arg[1] % sizeof(types)];
	core.pd_handle = core.qp_type == IBV_QPT_XRC_RECV ?
				 w.place(c, xrcd, c.arg[3]).handle :
				 w.place(c, pd, c.arg[3]).handle;
	core.send_cq_handle = w.place(c, cq, c.arg[2]).handle;
	core.recv_cq_handle = w.place(c, cq, c.arg[2] >> 4).handle;
	core.is_srq = c.arg[2] >> 2 & 1;
	core.srq_handle = w.place(c, srq, c.arg[3]).handle;
	core.max_send_wr = core.max_recv_wr = 16;
	core.max_send_sge = core.max_recv_sge = 2;
	core.max_inline_data = 64;
	core.sq_sig_all = c.arg[1] >> 3 & 1;
	if (!request(w, c, IB_USER_VERBS_CMD_CREATE_QP, core, to))
		return;
	const ornic_create_qp_resp driver = to.driver();

	o.handle = to.core().qp_handle;
	/* The core creates XRC targets without the driver's part. */
	o.number = to.core().qpn;
	o.rq_offset = driver.rq_offset;
	o.sq_stride = 1u << (driver.sq_log_stride & 15);
	o.rq_stride = 1u << (driver.rq_log_stride & 15);
	keep_queue(o, driver);
}

void op_open_qp(world &w, const call &c)
{
	answer<ib_uverbs_create_qp_resp, ornic_create_qp_resp> to;
	ib_uverbs_open_qp core = {};

	core.pd_handle = w.place(c, xrcd, c.arg[2]).handle;
	core.qpn = w.place(c, qp, c.arg[1]).number;
	core.qp_type = IBV_QPT_XRC_RECV;
	if (request(w, c, IB_USER_VERBS_CMD_OPEN_QP, core, to, 0))
		w.place(c, qp).handle = to.core().qp_handle;
}

/* The masks that RC needs, by the state that it goes to. */
static uint32_t mask_of(uint8_t state)
{
	static const uint32_t masks[] = {
		IBV_QP_STATE, /* RESET */
		IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT |
			IBV_QP_ACCESS_FLAGS, /* INIT */
		IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_RQ_PSN |
			IBV_QP_DEST_QPN | IBV_QP_MAX_DEST_RD_ATOMIC |
			IBV_QP_MIN_RNR_TIMER, /* RTR */
		IBV_QP_STATE | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT |
			IBV_QP_RNR_RETRY | IBV_QP_MAX_QP_RD_ATOMIC |
			IBV_QP_SQ_PSN, /* RTS */
		IBV_QP_STATE,
		IBV_QP_STATE,
		IBV_QP_STATE,
	};

	return masks[state % 7];
}

/* With options of the connection and a burst, good ones or bad ones: the driver's part */
static void modify_with_options(world &w, const call &c,
				const ib_uverbs_modify_qp &core)
{
	const ornic_modify_qp_req options = {
		.comp_mask = static_cast<uint32_t>(
			c.arg[3] >> 39 & 1 ? ORNIC_MODIFY_QP_BURST :
					     ORNIC_MODIFY_QP_ECE),
		.ece_options = static_cast<uint32_t>(c.arg[3] >> 7),
		.max_burst = static_cast<uint32_t>(c.arg[3] >> 40),
		.reserved_60 = 0,
	};
	ib_uverbs_ex_modify_qp request = {};
	ib_uverbs_ex_modify_qp_resp response = {};
	ib_uverbs_ex_cmd_hdr more = {};
	ib_uverbs_cmd_hdr head = {};
	alignas(8)
		std::byte bytes[extended + sizeof(request) + sizeof(options)];

	request.base = core;
	head.command = static_cast<uint32_t>(IB_USER_VERBS_EX_CMD_MODIFY_QP) |
		       IB_USER_VERBS_CMD_FLAG_EXTENDED;
	head.in_words = sizeof(request) / 8;
	head.out_words = sizeof(response) / 8;
	more.response = reinterpret_cast<uint64_t>(&response);
	more.provider_in_words = sizeof(options) / 8;
	std::memcpy(bytes, &head, sizeof(head));
	std::memcpy(bytes + sizeof(head), &more, sizeof(more));
	std::memcpy(bytes + extended, &request, sizeof(request));
	std::memcpy(bytes + extended + sizeof(request), &options,
		    sizeof(options));
	damage({ bytes + extended, sizeof(bytes) - extended }, c.noise);
	w.count(c, write(w.files(c).verbs, bytes, sizeof(bytes)) ==
			   static_cast<ssize_t>(sizeof(bytes)));
}

/* modify_qp(place, state, mask or 0, peer): to a QP of this device */
void op_modify_qp(world &w, const call &c)
{
	ib_uverbs_modify_qp core = {};

	core.qp_handle = w.place(c, qp).handle;
	core.qp_state = static_cast<uint8_t>(c.arg[1] % 8);
	core.cur_qp_state = core.qp_state;
	core.attr_mask = c.arg[2] < 8 ? mask_of(core.qp_state) :
					static_cast<uint32_t>(c.arg[2]);
	/* UC knows no answers. */
	if (c.arg[2] == 3)
		core.attr_mask &=
			~(IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER |
			  IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY |
			  IBV_QP_MAX_QP_RD_ATOMIC);
	/* Raw packet QPs have neither peer nor number. */
	if (c.arg[2] == 1)
		core.attr_mask &= IBV_QP_STATE | IBV_QP_PORT;
	/* Datagrams have a Q_Key and no access. */
	if (c.arg[2] == 2)
		core.attr_mask =
			(core.attr_mask & (IBV_QP_STATE | IBV_QP_PKEY_INDEX |
					   IBV_QP_PORT | IBV_QP_SQ_PSN)) |
			(core.qp_state == IBV_QPS_INIT ? IBV_QP_QKEY : 0);
	core.qkey = 0x11111111;
	core.dest_qp_num = w.place(c, qp, c.arg[3]).number;
	core.qp_access_flags = 0xf;
	core.path_mtu = static_cast<uint8_t>(1 + c.arg[3] / 8 % 5);
	core.max_rd_atomic = core.max_dest_rd_atomic = 4;
	core.min_rnr_timer = 1;
	core.port_num = 1;
	/* Now and then an entry that is empty, or beyond the table */
	core.pkey_index = c.arg[3] % 16 == 15 ? c.arg[3] / 16 % 24 : 0;
	core.timeout = 10;
	core.retry_cnt = core.rnr_retry = 2;
	core.dest.is_global = 1;
	core.dest.port_num = 1;
	core.dest.hop_limit = 64;
	core.dest.sgid_index = static_cast<uint8_t>(w.gid_index);
	std::memcpy(core.dest.dgid, w.gid.data(), w.gid.size());
	/* Of 10.0.0.1 to 10.0.0.2, which is over the wire. */
	if (c.arg[3] & 4)
		core.dest.dgid[15] ^= 3;
	if (c.arg[3] & 64)
		return modify_with_options(w, c, core);
	command(w, c, IB_USER_VERBS_CMD_MODIFY_QP, &core, sizeof(core), 0, 0);
}

void op_query_qp(world &w, const call &c)
{
	answer<ib_uverbs_query_qp_resp, empty> to;
	ib_uverbs_query_qp core = {};

	core.qp_handle = w.place(c, qp).handle;
	core.attr_mask = static_cast<uint32_t>(c.arg[1]);
	request(w, c, IB_USER_VERBS_CMD_QUERY_QP, core, to, 0);
}

/* mcast(place, group, detach): 239.1.2.GROUP */
void op_mcast(world &w, const call &c)
{
	ib_uverbs_attach_mcast core = {};

	core.gid[10] = core.gid[11] = 0xff;
	core.gid[12] = 239;
	core.gid[13] = 1;
	core.gid[14] = 2;
	core.gid[15] = static_cast<uint8_t>(c.arg[1]);
	core.qp_handle = w.place(c, qp).handle;
	command(w, c,
		c.arg[2] & 1 ? IB_USER_VERBS_CMD_DETACH_MCAST :
			       IB_USER_VERBS_CMD_ATTACH_MCAST,
		&core, sizeof(core), 0, 0);
}

/* destroy(place, kind): completion counters have a method for it */
void op_destroy(world &w, const call &c)
{
	/* Those with a response begin with its address. */
	static const struct {
		uint32_t number;
		bool responds;
	} commands[] = {
		{ IB_USER_VERBS_CMD_DEALLOC_PD, false },
		{ IB_USER_VERBS_CMD_DEREG_MR, false },
		{ IB_USER_VERBS_CMD_DESTROY_CQ, true },
		{ IB_USER_VERBS_CMD_DESTROY_QP, true },
		{ IB_USER_VERBS_CMD_DESTROY_SRQ, true },
		{ IB_USER_VERBS_CMD_DESTROY_AH, false },
		{ IB_USER_VERBS_CMD_DEALLOC_MW, false },
		{ IB_USER_VERBS_CMD_CLOSE_XRCD, false },
	};
	const auto what = static_cast<kind>(c.arg[1] % std::size(commands));
	uint64_t response[8];
	struct {
		uint64_t response;
		uint32_t handle, reserved;
	} long_core = { reinterpret_cast<uint64_t>(response),
			w.place(c, what).handle, 0 };
	/* Padded: the noise begins after eight bytes. */
	const uint32_t handle[2] = { long_core.handle, 0 };

	if (commands[what].responds)
		command(w, c, commands[what].number, &long_core,
			sizeof(long_core), 0, sizeof(response));
	else
		command(w, c, commands[what].number, handle, 4, 0, 0);
}

/* command(number, words, handle, extended): bytes that noise alone has chosen */
void op_command(world &w, const call &c)
{
	std::minstd_rand random(c.noise + 1);
	/* More than any response: POLL_CQ has as many entries as it is asked. */
	static thread_local std::vector<uint64_t> response(1 << 17);
	uint32_t words[64] = {};
	ib_uverbs_cmd_hdr head = {};
	ib_uverbs_ex_cmd_hdr more = {};
	const bool is_extended = c.arg[3] & 1;
	const std::size_t used = c.arg[1] % 48 + 1;

	head.command = static_cast<uint32_t>(c.arg[0] % 52) |
		       (is_extended ? IB_USER_VERBS_CMD_FLAG_EXTENDED : 0);
	head.in_words = static_cast<uint16_t>(
		is_extended ? used / 2 : used + sizeof(head) / 4);
	head.out_words = 32;
	more.response = reinterpret_cast<uint64_t>(response.data());
	for (uint32_t &word : words)
		word = random() % 4 ? static_cast<uint32_t>(c.arg[2] % 4) :
				      static_cast<uint32_t>(random());
	if (!is_extended)
		std::memcpy(words, &more.response, sizeof(more.response));
	alignas(8) std::byte bytes[extended + sizeof(words)];
	std::size_t size = sizeof(head);

	std::memcpy(bytes, &head, sizeof(head));
	if (is_extended) {
		std::memcpy(bytes + size, &more, sizeof(more));
		size += sizeof(more);
	}
	std::memcpy(bytes + size, words, sizeof(words));
	size += is_extended ? used / 2 * 8 : used * 4;
	(void)!write(w.files(c).verbs, bytes, size);
}
