// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
// The ibv_wr_* interface: work requests built in the send queue, in steps.

#include <cerrno>
#include <cstdint>

#include "library.h"
#include "qp.h"

namespace ornic
{
namespace
{

constexpr std::uint64_t ud_ops = IBV_QP_EX_WITH_SEND |
				 IBV_QP_EX_WITH_SEND_WITH_IMM;
constexpr std::uint64_t uc_ops = ud_ops | IBV_QP_EX_WITH_RDMA_WRITE |
				 IBV_QP_EX_WITH_RDMA_WRITE_WITH_IMM |
				 IBV_QP_EX_WITH_BIND_MW |
				 IBV_QP_EX_WITH_LOCAL_INV;
constexpr std::uint64_t xrc_ops =
	uc_ops | IBV_QP_EX_WITH_RDMA_READ | IBV_QP_EX_WITH_ATOMIC_CMP_AND_SWP |
	IBV_QP_EX_WITH_ATOMIC_FETCH_AND_ADD | IBV_QP_EX_WITH_SEND_WITH_INV;

void begin(ibv_qp_ex *qp, send_work work) noexcept
{
	work.flags = qp->wr_flags;
	work.wr_id = qp->wr_id;
	to_qp(qp).sq.batch_begin(work);
}

void wr_send(ibv_qp_ex *qp) noexcept
{
	begin(qp, { .opcode = IBV_WR_SEND });
}

void wr_send_imm(ibv_qp_ex *qp, __be32 imm) noexcept
{
	begin(qp, { .opcode = IBV_WR_SEND_WITH_IMM, .imm = imm });
}

void wr_rdma_write(ibv_qp_ex *qp, std::uint32_t rkey,
		   std::uint64_t raddr) noexcept
{
	begin(qp,
	      { .opcode = IBV_WR_RDMA_WRITE, .rkey = rkey, .raddr = raddr });
}

void wr_rdma_write_imm(ibv_qp_ex *qp, std::uint32_t rkey, std::uint64_t raddr,
		       __be32 imm) noexcept
{
	begin(qp, { .opcode = IBV_WR_RDMA_WRITE_WITH_IMM,
		    .imm = imm,
		    .rkey = rkey,
		    .raddr = raddr });
}

void wr_rdma_read(ibv_qp_ex *qp, std::uint32_t rkey,
		  std::uint64_t raddr) noexcept
{
	begin(qp, { .opcode = IBV_WR_RDMA_READ, .rkey = rkey, .raddr = raddr });
}

void wr_atomic_cmp_swp(ibv_qp_ex *qp, std::uint32_t rkey, std::uint64_t raddr,
		       std::uint64_t compare, std::uint64_t swap) noexcept
{
	begin(qp, { .opcode = IBV_WR_ATOMIC_CMP_AND_SWP,
		    .rkey = rkey,
		    .raddr = raddr,
		    .swap_add = swap,
		    .compare = compare });
}

void wr_atomic_fetch_add(ibv_qp_ex *qp, std::uint32_t rkey, std::uint64_t raddr,
			 std::uint64_t add) noexcept
{
	begin(qp, { .opcode = IBV_WR_ATOMIC_FETCH_AND_ADD,
		    .rkey = rkey,
		    .raddr = raddr,
		    .swap_add = add });
}

void wr_send_inv(ibv_qp_ex *qp, std::uint32_t rkey) noexcept
{
	begin(qp, { .opcode = IBV_WR_SEND_WITH_INV, .imm = big_endian(rkey) });
}

void wr_local_inv(ibv_qp_ex *qp, std::uint32_t rkey) noexcept
{
	begin(qp, { .opcode = IBV_WR_LOCAL_INV, .imm = big_endian(rkey) });
}

void wr_bind_mw(ibv_qp_ex *qp, ibv_mw *mw, std::uint32_t rkey,
		const ibv_mw_bind_info *info) noexcept
{
	send_work work{};

	// What is wrong fails as an opcode that does not exist.
	if (mw->type != IBV_MW_TYPE_2 || fill_bind(work, *info, rkey))
		work.opcode = ~0U;
	begin(qp, work);
}

void wr_atomic_write(ibv_qp_ex *qp, std::uint32_t rkey, std::uint64_t raddr,
		     const void *value) noexcept
{
	// The interface takes it from here and does not write to it.
	ibv_data_buf piece = { .addr = const_cast<void *>(value), .length = 8 };

	begin(qp, { .opcode = verbs_wr_atomic_write,
		    .rkey = rkey,
		    .raddr = raddr });
	to_qp(qp).sq.batch_inline({ &piece, 1 });
}

void wr_flush(ibv_qp_ex *qp, std::uint32_t rkey, std::uint64_t raddr,
	      std::size_t length, std::uint8_t type,
	      std::uint8_t level) noexcept
{
	send_work work = { .opcode = verbs_wr_flush,
			   .rkey = rkey,
			   .raddr = raddr,
			   .flush_type = type,
			   .flush_level = level,
			   .flush_length = static_cast<std::uint32_t>(length) };

	// What the wire cannot say fails as an opcode that does not exist.
	if (length > UINT32_MAX)
		work.opcode = ~0U;
	begin(qp, work);
}

void wr_set_ud_addr(ibv_qp_ex *qp, ibv_ah *ah, std::uint32_t qpn,
		    std::uint32_t qkey) noexcept
{
	to_qp(qp).sq.batch_address(to_ah(ah), qpn, qkey);
}

void wr_set_xrc_srqn(ibv_qp_ex *qp, std::uint32_t srqn) noexcept
{
	to_qp(qp).sq.batch_srqn(srqn);
}

void wr_set_sge(ibv_qp_ex *qp, std::uint32_t lkey, std::uint64_t addr,
		std::uint32_t length) noexcept
{
	ibv_sge sge = { .addr = addr, .length = length, .lkey = lkey };

	to_qp(qp).sq.batch_sges({ &sge, 1 });
}

void wr_set_sge_list(ibv_qp_ex *qp, std::size_t count,
		     const ibv_sge *sges) noexcept
{
	to_qp(qp).sq.batch_sges({ sges, count });
}

void wr_set_inline_data(ibv_qp_ex *qp, void *addr, std::size_t length) noexcept
{
	ibv_data_buf piece = { .addr = addr, .length = length };

	to_qp(qp).sq.batch_inline({ &piece, 1 });
}

void wr_set_inline_data_list(ibv_qp_ex *qp, std::size_t count,
			     const ibv_data_buf *pieces) noexcept
{
	to_qp(qp).sq.batch_inline({ pieces, count });
}

void wr_start(ibv_qp_ex *qp) noexcept
{
	to_qp(qp).sq.batch_start();
}

int wr_complete(ibv_qp_ex *qp) noexcept
{
	send_queue &sq = to_qp(qp).sq;

	if (qp->qp_base.state < IBV_QPS_RTS) [[unlikely]] {
		sq.batch_abort();
		return EINVAL;
	}
	return sq.batch_complete();
}

void wr_abort(ibv_qp_ex *qp) noexcept
{
	to_qp(qp).sq.batch_abort();
}

} // namespace

std::uint64_t placement_ops(std::uint64_t device_caps) noexcept
{
	std::uint64_t ops = 0;

	if (library->has(44) && (device_caps & device_atomic_write))
		ops |= QP_EX_WITH_ATOMIC_WRITE;
	if (library->has(45) && (device_caps & device_flush_global))
		ops |= QP_EX_WITH_FLUSH;
	return ops;
}

std::uint64_t send_ops_of(ibv_qp_type type, std::uint64_t placement) noexcept
{
	switch (type) {
	case IBV_QPT_RC:
		return xrc_ops | placement;
	case IBV_QPT_XRC_SEND:
		return xrc_ops;
	case IBV_QPT_UC:
		return uc_ops;
	case IBV_QPT_UD:
		return ud_ops;
	case IBV_QPT_RAW_PACKET:
		return IBV_QP_EX_WITH_SEND;
	default:
		return 0;
	}
}

void set_send_ops(pabi_qp &base, std::uint64_t send_ops) noexcept
{
	ibv_qp_ex &qp = base.qp_ex;

	if (send_ops & IBV_QP_EX_WITH_SEND)
		qp.wr_send = wr_send;
	if (send_ops & IBV_QP_EX_WITH_SEND_WITH_IMM)
		qp.wr_send_imm = wr_send_imm;
	if (send_ops & IBV_QP_EX_WITH_RDMA_WRITE)
		qp.wr_rdma_write = wr_rdma_write;
	if (send_ops & IBV_QP_EX_WITH_RDMA_WRITE_WITH_IMM)
		qp.wr_rdma_write_imm = wr_rdma_write_imm;
	if (send_ops & IBV_QP_EX_WITH_RDMA_READ)
		qp.wr_rdma_read = wr_rdma_read;
	if (send_ops & IBV_QP_EX_WITH_ATOMIC_CMP_AND_SWP)
		qp.wr_atomic_cmp_swp = wr_atomic_cmp_swp;
	if (send_ops & IBV_QP_EX_WITH_ATOMIC_FETCH_AND_ADD)
		qp.wr_atomic_fetch_add = wr_atomic_fetch_add;
	if (send_ops & IBV_QP_EX_WITH_SEND_WITH_INV)
		qp.wr_send_inv = wr_send_inv;
	if (send_ops & IBV_QP_EX_WITH_LOCAL_INV)
		qp.wr_local_inv = wr_local_inv;
	if (send_ops & IBV_QP_EX_WITH_BIND_MW)
		qp.wr_bind_mw = wr_bind_mw;
	if (send_ops & QP_EX_WITH_ATOMIC_WRITE)
		base.last.wr_atomic_write = wr_atomic_write;
	if (send_ops & QP_EX_WITH_FLUSH)
		base.last.wr_flush = wr_flush;
	if (qp.qp_base.qp_type == IBV_QPT_UD)
		qp.wr_set_ud_addr = wr_set_ud_addr;
	if (qp.qp_base.qp_type == IBV_QPT_XRC_SEND)
		qp.wr_set_xrc_srqn = wr_set_xrc_srqn;
	qp.wr_set_sge = wr_set_sge;
	qp.wr_set_sge_list = wr_set_sge_list;
	qp.wr_set_inline_data = wr_set_inline_data;
	qp.wr_set_inline_data_list = wr_set_inline_data_list;
	qp.wr_start = wr_start;
	qp.wr_complete = wr_complete;
	qp.wr_abort = wr_abort;
}

} // namespace ornic
