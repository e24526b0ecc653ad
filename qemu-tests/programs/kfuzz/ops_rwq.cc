// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause

#include "ops.h"

#include <infiniband/verbs.h>
#include <rdma/ib_user_verbs.h>
#include <rdma/ornic-abi.h>

#include <algorithm>
#include <cstring>
#include <vector>

#include "extended.h"
#include "world.h"

/*
 * create_wq(place, entries, cq, pd): what is mapped, posted to and kicked by its
 * number is in the place of a QP.
 */
void op_create_wq(world &w, const call &c)
{
	const ornic_create_wq_req driver = {};
	ib_uverbs_ex_create_wq core = {};
	struct {
		ib_uverbs_ex_create_wq_resp core;
		ornic_create_wq_resp driver;
	} answer = {};
	object &o = w.place(c, qp);
	extended_command cmd(IB_USER_VERBS_EX_CMD_CREATE_WQ);

	static_assert(sizeof(answer) ==
		      sizeof(answer.core) + sizeof(answer.driver));
	core.wq_type = c.arg[1] >> 32 & 1;
	core.pd_handle = w.place(c, pd, c.arg[3]).handle;
	core.cq_handle = w.place(c, cq, c.arg[2]).handle;
	core.max_wr = c.arg[1] < 8 ? 8 << c.arg[1] :
				     static_cast<uint32_t>(c.arg[1]);
	core.max_sge = 2;
	core.create_flags = static_cast<uint32_t>(c.arg[2] >> 8 & 0xf);
	cmd.add(core);
	cmd.add_driver(driver);
	if (!cmd.run(w, c, std::as_writable_bytes(std::span(&answer, 1)),
		     sizeof(answer.driver)))
		return;
	w.place(c, wq).handle = answer.core.wq_handle;
	o.number = answer.driver.wqn;
	o.offset = answer.driver.mmap_offset;
	o.size = answer.driver.mmap_size;
	o.rq_offset = answer.driver.rq_offset;
	o.rq_stride = 1u << (answer.driver.log_stride & 15);
}

/*
 * modify_wq(place, state, mask or 0, current state). States and handle are good ones:
 * ib_core refuses a current state beyond ERR with the WQ locked, and warns of that
 * when the process ends.
 */
void op_modify_wq(world &w, const call &c)
{
	ib_uverbs_ex_modify_wq core = {};
	uint64_t answer = 0;
	extended_command cmd(IB_USER_VERBS_EX_CMD_MODIFY_WQ);

	core.wq_handle = w.place(c, wq).handle;
	core.attr_mask = static_cast<uint32_t>(
		c.arg[2] ? c.arg[2] % 16 : uint64_t{ IBV_WQ_ATTR_STATE });
	core.wq_state = static_cast<uint32_t>(c.arg[1] % 3);
	core.curr_wq_state = static_cast<uint32_t>(c.arg[3] % 3);
	core.flags = core.flags_mask = static_cast<uint32_t>(c.arg[3] >> 8);
	cmd.add(core);
	cmd.keep();
	cmd.run(w, c, answer);
}

/* create_table(place, log2 of its size, places of WQs by two bits) */
void op_create_table(world &w, const call &c)
{
	ib_uverbs_ex_create_rwq_ind_table core = {};
	ib_uverbs_ex_create_rwq_ind_table_resp answer = {};
	const std::size_t n = std::size_t{ 1 } << c.arg[1] % 7;
	std::vector<uint32_t> handles(std::max<std::size_t>(n, 2));
	extended_command cmd(IB_USER_VERBS_EX_CMD_CREATE_RWQ_IND_TBL);

	core.log_ind_tbl_size = c.arg[1] < 8 ?
					static_cast<uint32_t>(c.arg[1] % 7) :
					static_cast<uint32_t>(c.arg[1]);
	for (std::size_t i = 0; i < n; i++)
		handles[i] = w.place(c, wq, c.arg[2] >> i * 2 % 64).handle;
	cmd.add(core);
	cmd.add(std::as_bytes(std::span(handles)));
	if (cmd.run(w, c, answer))
		w.place(c, table).handle = answer.ind_tbl_handle;
}

/* create_rss(place, table, fields + 2^40 * function + 2^48 * key length, pd) */
void op_create_rss(world &w, const call &c)
{
	const bool plain = c.arg[2] < 256;
	ornic_create_rss_qp_req driver = {};
	ib_uverbs_ex_create_qp core = {};
	struct {
		ib_uverbs_ex_create_qp_resp core;
		ornic_create_qp_resp driver;
	} answer = {};
	extended_command cmd(IB_USER_VERBS_EX_CMD_CREATE_QP);

	core.qp_type = IBV_QPT_RAW_PACKET;
	core.pd_handle = w.place(c, pd, c.arg[3]).handle;
	core.comp_mask = IB_UVERBS_CREATE_QP_MASK_IND_TABLE;
	core.rwq_ind_tbl_handle = w.place(c, table, c.arg[1]).handle;
	/* Some have a send queue, which they must not. */
	core.max_send_wr = c.arg[3] >> 4 & 1;
	core.send_cq_handle = w.place(c, cq, c.arg[3]).handle;
	driver.hash_function = plain ? 1 : c.arg[2] >> 40;
	driver.key_len = plain ? 40 : c.arg[2] >> 48;
	driver.fields = plain ? c.arg[2] : c.arg[2] & ~(UINT64_MAX << 40);
	std::memset(driver.key, 0x6d, sizeof(driver.key));
	cmd.add(core);
	cmd.add_driver(driver);
	if (cmd.run(w, c, std::as_writable_bytes(std::span(&answer, 1)),
		    sizeof(answer.driver)))
		w.place(c, qp).handle = answer.core.base.qp_handle;
}

/* destroy_rwq(place, table or WQ) */
void op_destroy_rwq(world &w, const call &c)
{
	ib_uverbs_ex_destroy_wq_resp answer = {};

	if (c.arg[1] & 1) {
		ib_uverbs_ex_destroy_rwq_ind_table core = {};
		extended_command cmd(IB_USER_VERBS_EX_CMD_DESTROY_RWQ_IND_TBL);

		core.ind_tbl_handle = w.place(c, table).handle;
		cmd.add(core);
		cmd.run(w, c, answer);
	} else {
		ib_uverbs_ex_destroy_wq core = {};
		extended_command cmd(IB_USER_VERBS_EX_CMD_DESTROY_WQ);

		core.wq_handle = w.place(c, wq).handle;
		cmd.add(core);
		cmd.run(w, c, answer);
	}
}
