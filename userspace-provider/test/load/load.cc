// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
//
// A provider on the libibverbs that this program finds, of whatever release: a device is
// found, opened and used by the public interface. The kernel is here: a sysfs of a few
// files, and write(), by which libibverbs gives its commands where there are no ioctls;
// those for the speed of a port, for completion counters and for dma-bufs alone are
// ioctls.
// The memory of queues is that of a file.
//
// load DRIVER, as in RDMAV_DRIVERS: prints what failed; exits with 1 then

#include <cerrno>
#include <cstdarg>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <dlfcn.h>
#include <fcntl.h>
#include <filesystem>
#include <fstream>
#include <rdma/ib_user_ioctl_cmds.h>
#include <rdma/ib_user_verbs.h>
#include <rdma/ornic-abi.h>
#include <rdma/ornic-hw.h>
#include <rdma/rdma_user_ioctl_cmds.h>
#include <string>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "pabi.h"

namespace
{

constexpr std::uint64_t queue_bytes = 16384;
constexpr std::uint64_t queues = 32;
constexpr std::uint32_t ece_offer = 1U << ORNIC_ECE_VERSION_SHIFT |
				    ORNIC_ECE_SELECTIVE;

constexpr const char *device_path = "/dev/infiniband/uverbs0";
constexpr const char *any_device = "/dev/null";

int device_fd = -1;
int memory_fd = -1;
std::uint64_t allocated; // bytes of the file
std::uint32_t last_handle;
std::uint64_t last_iova; // of an MR
constexpr std::uint32_t dmabuf_key = 0x2200;
ornic_modify_qp_req last_change; // of a QP, by the extended command
bool failed;

void expect(bool holds, const char *what)
{
	if (holds)
		return;
	std::printf("failed: %s (%s)\n", what, std::strerror(errno));
	failed = true;
}

#define EXPECT(condition) expect(condition, #condition)

std::uint64_t allocate()
{
	std::uint64_t offset = allocated;

	allocated += queue_bytes;
	return offset;
}

/* What the driver says of a new object, after the core's part. */
template <typename Core, typename Driver>
void put_driver(char *response, const Driver &driver)
{
	std::memcpy(response + sizeof(Core), &driver, sizeof(driver));
}

ornic_create_qp_resp new_qp(std::uint32_t qpn)
{
	ornic_create_qp_resp qp{};

	qp.qpn = qpn;
	qp.mmap_offset = allocate();
	qp.mmap_size = queue_bytes;
	qp.sq_offset = ORNIC_RING_OFFSET;
	qp.rq_offset = ORNIC_RING_OFFSET + 2048;
	qp.sq_log_depth = qp.rq_log_depth = 4;
	qp.sq_log_stride = qp.rq_log_stride = 7;
	qp.has_sq = qp.has_rq = 1;
	qp.sq_max_sge = qp.rq_max_sge = 1;
	return qp;
}

void open_context(char *response)
{
	ib_uverbs_get_context_resp core{};
	ornic_alloc_ucontext_resp driver{};

	core.async_fd = static_cast<__u32>(eventfd(0, EFD_CLOEXEC));
	core.num_comp_vectors = 1;
	std::memcpy(response, &core, sizeof(core));
	driver.hw_version = ORNIC_HW_VERSION;
	driver.kick_mode = ORNIC_KICK_PAGE;
	driver.kick_mmap = allocate();
	driver.ece_options = ece_offer;
	driver.null_lkey = ORNIC_NULL_LKEY;
	put_driver<ib_uverbs_get_context_resp>(response, driver);
}

void new_cq(char *response)
{
	ornic_create_cq_resp cq{};

	cq.cqn = last_handle;
	cq.mmap_offset = allocate();
	cq.mmap_size = queue_bytes;
	cq.log_depth = 4;
	put_driver<ib_uverbs_create_cq_resp>(response, cq);
}

void new_srq(char *response)
{
	ornic_create_srq_resp srq{};

	srq.srqn = last_handle;
	srq.mmap_offset = allocate();
	srq.mmap_size = queue_bytes;
	srq.log_depth = 4;
	srq.log_stride = 5;
	srq.max_sge = 1;
	put_driver<ib_uverbs_create_srq_resp>(response, srq);
}

/* Carry out a command whose response has @size bytes. */
void run(std::uint32_t command, char *response, std::size_t size)
{
	std::memset(response, 0, size);
	// All responses to the creation of something begin with its handle.
	++last_handle;
	if (size >= sizeof(last_handle))
		std::memcpy(response, &last_handle, sizeof(last_handle));
	switch (command) {
	case IB_USER_VERBS_CMD_GET_CONTEXT:
		return open_context(response);
	case IB_USER_VERBS_CMD_CREATE_CQ:
		return new_cq(response);
	case IB_USER_VERBS_CMD_CREATE_SRQ:
	case IB_USER_VERBS_CMD_CREATE_XSRQ:
		return new_srq(response);
	case IB_USER_VERBS_CMD_CREATE_QP:
		std::memcpy(response + sizeof(__u32), &last_handle,
			    sizeof(last_handle));
		return put_driver<ib_uverbs_create_qp_resp>(
			response, new_qp(last_handle));
	case IB_USER_VERBS_CMD_DESTROY_CQ:
	case IB_USER_VERBS_CMD_DESTROY_QP:
	case IB_USER_VERBS_CMD_DESTROY_SRQ:
		// No events are to be acknowledged.
		std::memset(response, 0, size);
		return;
	default:
		return;
	}
}

void run_extended(std::uint32_t command, char *response, std::size_t size)
{
	ib_uverbs_ex_create_qp_resp core{};

	std::memset(response, 0, size);
	if (command != IB_USER_VERBS_EX_CMD_CREATE_QP)
		return;
	core.base.qp_handle = core.base.qpn = ++last_handle;
	core.response_length = sizeof(core);
	std::memcpy(response, &core, sizeof(core));
	put_driver<ib_uverbs_ex_create_qp_resp>(response, new_qp(last_handle));
}

template <typename T> T read_at(const void *bytes, std::size_t offset)
{
	T value;

	std::memcpy(&value, static_cast<const char *>(bytes) + offset,
		    sizeof(value));
	return value;
}

// Kernel headers may not have them yet.
constexpr std::uint16_t query_port_speed_method = 7;
constexpr std::uint16_t comp_cntr_caps_method = 8;
constexpr std::uint16_t comp_cntr_object = 19;
constexpr std::uint16_t attach_comp_cntr_method = 2;

enum comp_cntr_methods : std::uint16_t {
	COMP_CNTR_CREATE,
	COMP_CNTR_DESTROY,
	COMP_CNTR_MODIFY,
};

/* The attributes are the port and the address of the response. */
int query_port_speed(const char *attrs)
{
	auto port = read_at<ib_uverbs_attr>(attrs, 0);
	auto response = read_at<ib_uverbs_attr>(attrs, sizeof(port));
	std::uint64_t speed = port.data * 100;

	std::memcpy(reinterpret_cast<void *>(response.data), &speed,
		    sizeof(speed));
	return 0;
}

template <typename T> void write_at(std::uint64_t address, const T &value)
{
	std::memcpy(reinterpret_cast<void *>(address), &value, sizeof(value));
}

std::uint64_t comp_cntr_at; // where in the file the last record is
std::uint64_t attached_ops; // of a QP
int comp_cntrs;

/* Attributes are the handle of the new one and the address of the response. */
int create_comp_cntr(char *attrs)
{
	auto made = read_at<ib_uverbs_attr>(attrs, 0);
	auto response = read_at<ib_uverbs_attr>(attrs, sizeof(made));
	ornic_create_comp_cntr_resp cntr{};

	comp_cntr_at = allocate();
	cntr.mmap_offset = comp_cntr_at;
	cntr.mmap_size = queue_bytes;
	write_at(response.data, cntr);
	made.data = ++last_handle;
	std::memcpy(attrs, &made, sizeof(made));
	++comp_cntrs;
	return 0;
}

/* Handle, entry, operation, value; by the device, which writes the record. */
int modify_comp_cntr(const char *attrs)
{
	auto arg = [&](std::size_t i) {
		return read_at<ib_uverbs_attr>(attrs,
					       i * sizeof(ib_uverbs_attr))
			.data;
	};
	auto at = static_cast<off_t>(comp_cntr_at + 8 * arg(1));
	std::uint64_t value = 0;

	EXPECT(pread(memory_fd, &value, sizeof(value), at) == sizeof(value));
	value = arg(2) ? value + arg(3) : arg(3);
	EXPECT(pwrite(memory_fd, &value, sizeof(value), at) == sizeof(value));
	return 0;
}

/* Each attribute is for one number, told from the others by its length and id. */
int query_comp_cntr_caps(const char *attrs, std::size_t count)
{
	for (std::size_t i = 0; i < count; ++i) {
		auto attr = read_at<ib_uverbs_attr>(attrs,
						    i * sizeof(ib_uverbs_attr));

		if (attr.len == sizeof(std::uint64_t))
			write_at(attr.data, UINT64_MAX);
		else
			write_at(attr.data, std::uint32_t{ 0x3f });
	}
	return 0;
}

/* Handle, PD, offset, length, iova, fd, access; both keys come back. */
int reg_dmabuf_mr(char *attrs)
{
	auto attr = [&](std::size_t i) {
		return read_at<ib_uverbs_attr>(attrs,
					       i * sizeof(ib_uverbs_attr));
	};
	auto made = attr(0);

	last_iova = attr(4).data;
	made.data = ++last_handle;
	std::memcpy(attrs, &made, sizeof(made));
	write_at(attr(7).data, dmabuf_key);
	write_at(attr(8).data, dmabuf_key);
	return 0;
}

/* One of completion counters, or -1. */
int run_comp_cntr(const ib_uverbs_ioctl_hdr &hdr, char *attrs)
{
	if (hdr.object_id == UVERBS_OBJECT_DEVICE)
		return query_comp_cntr_caps(attrs, hdr.num_attrs);
	if (hdr.object_id == UVERBS_OBJECT_QP) {
		attached_ops = read_at<ib_uverbs_attr>(
				       attrs, 2 * sizeof(ib_uverbs_attr))
				       .data;
		return 0;
	}
	switch (hdr.method_id) {
	case COMP_CNTR_CREATE:
		return create_comp_cntr(attrs);
	case COMP_CNTR_DESTROY:
		--comp_cntrs;
		return 0;
	case COMP_CNTR_MODIFY:
		return modify_comp_cntr(attrs);
	default:
		return -1;
	}
}

[[nodiscard]] bool is_of_comp_cntr(const ib_uverbs_ioctl_hdr &hdr)
{
	return hdr.object_id == comp_cntr_object ||
	       (hdr.object_id == UVERBS_OBJECT_DEVICE &&
		hdr.method_id == comp_cntr_caps_method) ||
	       (hdr.object_id == UVERBS_OBJECT_QP &&
		hdr.method_id == attach_comp_cntr_method);
}

} // namespace

extern "C" {

// The provider and libibverbs find these before those of libc.

int socket(int domain, int type, int protocol) noexcept
{
	if (domain != AF_NETLINK)
		return static_cast<int>(
			syscall(SYS_socket, domain, type, protocol));
	errno = EPROTONOSUPPORT;
	return -1;
}

int stat(const char *path, struct stat *found) noexcept
{
	return fstatat(AT_FDCWD,
		       std::strcmp(path, device_path) ? path : any_device,
		       found, 0);
}

int open(const char *path, int flags, ...)
{
	if (std::strcmp(path, device_path) != 0)
		return openat(AT_FDCWD, path, flags, 0600);
	device_fd = openat(AT_FDCWD, any_device, flags);
	return device_fd;
}

void *mmap(void *at, size_t size, int protection, int flags, int fd,
	   off_t offset) noexcept
{
	return reinterpret_cast<void *>(
		syscall(SYS_mmap, at, size, protection, flags,
			fd >= 0 && fd == device_fd ? memory_fd : fd, offset));
}

int ioctl(int, unsigned long, ...) noexcept
{
	va_list args;

	va_start(args, 0);
	auto *bytes = va_arg(args, char *);
	va_end(args);
	auto hdr = read_at<ib_uverbs_ioctl_hdr>(bytes, 0);
	if (hdr.object_id == UVERBS_OBJECT_DEVICE &&
	    hdr.method_id == query_port_speed_method && hdr.num_attrs == 2)
		return query_port_speed(bytes + sizeof(hdr));
	if (is_of_comp_cntr(hdr))
		return run_comp_cntr(hdr, bytes + sizeof(hdr));
	if (hdr.object_id == UVERBS_OBJECT_MR &&
	    hdr.method_id == UVERBS_METHOD_REG_DMABUF_MR)
		return reg_dmabuf_mr(bytes + sizeof(hdr));
	errno = ENOTTY;
	return -1;
}

ssize_t write(int fd, const void *bytes, size_t size)
{
	if (fd != device_fd)
		return syscall(SYS_write, fd, bytes, size);

	auto hdr = read_at<ib_uverbs_cmd_hdr>(bytes, 0);
	std::uint32_t command = hdr.command & IB_USER_VERBS_CMD_COMMAND_MASK;
	if (hdr.command & IB_USER_VERBS_CMD_FLAG_EXTENDED) {
		auto ex = read_at<ib_uverbs_ex_cmd_hdr>(bytes, sizeof(hdr));

		if (command == IB_USER_VERBS_EX_CMD_MODIFY_QP)
			last_change = read_at<ornic_modify_qp_req>(
				bytes, size - sizeof(last_change));
		run_extended(command, reinterpret_cast<char *>(ex.response),
			     std::size_t{ 8 } *
				     (hdr.out_words + ex.provider_out_words));
	} else if (hdr.out_words) {
		auto response = read_at<std::uint64_t>(bytes, sizeof(hdr));

		if (command == IB_USER_VERBS_CMD_REG_MR)
			last_iova = read_at<std::uint64_t>(
				bytes, sizeof(hdr) + offsetof(ib_uverbs_reg_mr,
							      hca_va));
		run(command, reinterpret_cast<char *>(response),
		    std::size_t{ 4 } * hdr.out_words);
	}
	return static_cast<ssize_t>(size);
}
}

namespace
{

/* The device has executed WQE 0 of @qpn, as first completion of the CQ at @offset. */
void complete(std::uint64_t offset, std::uint32_t qpn)
{
	ornic_cqe cqe{};

	cqe.qpn = qpn;
	cqe.flags = ORNIC_CQE_PHASE;
	EXPECT(pwrite(memory_fd, &cqe, sizeof(cqe),
		      static_cast<off_t>(offset + ORNIC_RING_OFFSET)) ==
	       sizeof(cqe));
}

void use_qp(ibv_pd *pd, ibv_cq *cq, std::uint64_t cq_offset, ibv_qp *qp)
{
	ibv_qp_attr attr{};
	ibv_send_wr wr{}, *bad_send = nullptr;
	ibv_recv_wr recv{}, *bad_recv = nullptr;
	ibv_qp_init_attr init{};
	ibv_ece ece{};
	ibv_wc wc{};

	EXPECT(qp->pd == pd && qp->send_cq == cq);
	EXPECT(!ibv_query_ece(qp, &ece) && ece.options == ece_offer);
	ece.options = ~0U;
	EXPECT(!ibv_set_ece(qp, &ece) && ece.options == ece_offer);
	attr.qp_state = IBV_QPS_INIT;
	last_change = {};
	EXPECT(!ibv_modify_qp(qp, &attr, IBV_QP_STATE));
	EXPECT(last_change.comp_mask == ORNIC_MODIFY_QP_ECE &&
	       last_change.ece_options == ece_offer);
	EXPECT(!ibv_post_recv(qp, &recv, &bad_recv));
	attr.qp_state = IBV_QPS_RTR;
	EXPECT(!ibv_modify_qp(qp, &attr, IBV_QP_STATE));
	attr.qp_state = IBV_QPS_RTS;
	EXPECT(!ibv_modify_qp(qp, &attr, IBV_QP_STATE));
	wr.opcode = IBV_WR_SEND;
	EXPECT(!ibv_post_send(qp, &wr, &bad_send));
	EXPECT(!ibv_req_notify_cq(cq, 0));
	EXPECT(ibv_poll_cq(cq, 1, &wc) == 0);
	complete(cq_offset, qp->qp_num);
	EXPECT(ibv_poll_cq(cq, 1, &wc) == 1 && wc.qp_num == qp->qp_num);
	EXPECT(!ibv_query_qp(qp, &attr, IBV_QP_STATE, &init));
}

void use_extended_qp(ibv_context *ctx, ibv_pd *pd, ibv_cq *cq)
{
	ibv_qp_init_attr_ex attr{};

	attr.comp_mask = IBV_QP_INIT_ATTR_PD | IBV_QP_INIT_ATTR_SEND_OPS_FLAGS |
			 IBV_QP_INIT_ATTR_CREATE_FLAGS;
	attr.qp_type = IBV_QPT_UD;
	attr.send_cq = attr.recv_cq = cq;
	attr.pd = pd;
	attr.send_ops_flags = IBV_QP_EX_WITH_SEND;
	attr.create_flags = IBV_QP_CREATE_BLOCK_SELF_MCAST_LB;
	ibv_qp *qp = ibv_create_qp_ex(ctx, &attr);
	EXPECT(qp);
	if (!qp)
		return;
	ibv_qp_ex *ex = ibv_qp_to_qp_ex(qp);
	EXPECT(ex && ex->wr_send && ex->wr_start && ex->wr_complete);
	EXPECT(!ibv_destroy_qp(qp));

	attr.comp_mask = IBV_QP_INIT_ATTR_PD;
	qp = ibv_create_qp_ex(ctx, &attr);
	EXPECT(qp && !ibv_qp_to_qp_ex(qp));
	EXPECT(qp && !ibv_destroy_qp(qp));

	// The last operations that releases have; those before 45 have fewer.
	attr.comp_mask |= IBV_QP_INIT_ATTR_SEND_OPS_FLAGS;
	attr.qp_type = IBV_QPT_RC;
	attr.send_ops_flags = QP_EX_WITH_ATOMIC_WRITE | QP_EX_WITH_FLUSH;
	qp = ibv_create_qp_ex(ctx, &attr);
	if (!qp) {
		std::printf("no ibv_wr_flush, ");
		return;
	}
	EXPECT(ibv_qp_to_qp_ex(qp));
	EXPECT(reinterpret_cast<pabi_qp *>(qp)->last.wr_flush);
	EXPECT(!ibv_destroy_qp(qp));
}

void use_pd(ibv_context *ctx, ibv_pd *pd)
{
	static char memory[4096];
	ibv_srq_init_attr srq_attr = { .srq_context = nullptr,
				       .attr = { 8, 1, 0 } };
	ibv_qp_init_attr qp_attr{};
	ibv_ah_attr ah_attr{};
	ibv_cq_init_attr_ex cq_attr{};
	ibv_parent_domain_init_attr parent_attr{};
	ibv_td_init_attr td_attr{};
	ibv_recv_wr recv{}, *bad = nullptr;

	std::uint64_t cq_offset = allocated;
	ibv_cq *cq = ibv_create_cq(ctx, 8, nullptr, nullptr, 0);
	EXPECT(cq);
	qp_attr.send_cq = qp_attr.recv_cq = cq;
	qp_attr.qp_type = IBV_QPT_RC;
	ibv_qp *qp = ibv_create_qp(pd, &qp_attr);
	EXPECT(qp);
	if (cq && qp) {
		use_qp(pd, cq, cq_offset, qp);
		EXPECT(!ibv_destroy_qp(qp));
		use_extended_qp(ctx, pd, cq);
		EXPECT(!ibv_destroy_cq(cq));
	}
	cq_attr.cqe = 8;
	cq_attr.wc_flags = IBV_WC_EX_WITH_BYTE_LEN;
	ibv_cq_ex *cq_ex = ibv_create_cq_ex(ctx, &cq_attr);
	EXPECT(cq_ex && cq_ex->read_byte_len);
	EXPECT(cq_ex && !ibv_destroy_cq(ibv_cq_ex_to_cq(cq_ex)));

	ibv_srq *srq = ibv_create_srq(pd, &srq_attr);
	EXPECT(srq && !ibv_post_srq_recv(srq, &recv, &bad));
	EXPECT(srq && !ibv_query_srq(srq, &srq_attr.attr));
	EXPECT(srq && !ibv_destroy_srq(srq));
	ibv_mr *mr = ibv_reg_mr(pd, memory, sizeof(memory), 0);
	EXPECT(mr && mr->addr == memory && !ibv_dereg_mr(mr));
	mr = ibv_reg_dmabuf_mr(pd, 0x2008, 64, 0x7008, memory_fd, 0);
	EXPECT(mr && mr->context == ctx && mr->pd == pd && mr->length == 64);
	EXPECT(mr && mr->lkey == dmabuf_key && mr->rkey == dmabuf_key);
	EXPECT(last_iova == 0x7008);
	EXPECT(mr && !ibv_dereg_mr(mr));
	mr = ibv_alloc_null_mr(pd);
	EXPECT(mr && mr->lkey == ORNIC_NULL_LKEY && ibv_dealloc_pd(pd));
	EXPECT(mr && !ibv_dereg_mr(mr));
	ibv_mw *mw = ibv_alloc_mw(pd, IBV_MW_TYPE_1);
	EXPECT(mw && !ibv_dealloc_mw(mw));
	ibv_ah *ah = ibv_create_ah(pd, &ah_attr);
	EXPECT(ah && !ibv_destroy_ah(ah));
	ibv_td *td = ibv_alloc_td(ctx, &td_attr);
	parent_attr.pd = pd;
	parent_attr.td = td;
	ibv_pd *parent = td ? ibv_alloc_parent_domain(ctx, &parent_attr) :
			      nullptr;
	EXPECT(parent && !ibv_dealloc_pd(parent) && !ibv_dealloc_td(td));
}

/* A verb that the public headers need not have; null if libibverbs has it not. */
template <typename Verb> Verb *find_verb(const char *name, const char *version)
{
	auto *verb =
		reinterpret_cast<Verb *>(dlvsym(RTLD_DEFAULT, name, version));

	if (!verb)
		std::printf("no %s, ", name);
	return verb;
}

/* In libibverbs of 65 or not at all; types are those of pabi.h. */
template <typename Verb> Verb *verb_65(const char *name)
{
	return reinterpret_cast<Verb *>(
		dlvsym(RTLD_DEFAULT, name, "IBVERBS_1.18"));
}

void change_comp_cntr(pabi_comp_cntr *cntr)
{
	using change = int(pabi_comp_cntr *, std::uint64_t);
	using read = int(pabi_comp_cntr *, std::uint64_t *);
	std::uint64_t value = 0, errors = 0;

	EXPECT(!verb_65<change>("ibv_set_comp_cntr")(cntr, 40));
	EXPECT(!verb_65<change>("ibv_inc_comp_cntr")(cntr, 2));
	EXPECT(!verb_65<change>("ibv_set_err_comp_cntr")(cntr, 6));
	EXPECT(!verb_65<change>("ibv_inc_err_comp_cntr")(cntr, 1));
	EXPECT(!verb_65<read>("ibv_read_comp_cntr")(cntr, &value));
	EXPECT(!verb_65<read>("ibv_read_err_comp_cntr")(cntr, &errors));
	EXPECT(value == 42 && errors == 7);
}

void use_comp_cntr(ibv_context *ctx, ibv_pd *pd)
{
	pabi_comp_cntr_init_attr attr{};
	pabi_qp_attach_comp_cntr_attr ops = { .comp_mask = 0, .op_mask = 0x15 };
	ibv_qp_init_attr qp_attr{};
	struct {
		std::uint64_t max_value;
		std::uint32_t numbers[2];
	} caps{};

	auto *create = find_verb<pabi_comp_cntr *(ibv_context *, void *)>(
		"ibv_create_comp_cntr", "IBVERBS_1.18");
	if (!create)
		return;
	EXPECT(!verb_65<int(ibv_context *, void *, std::size_t)>(
		"_ibv_query_comp_cntr_caps")(ctx, &caps, sizeof(caps)));
	EXPECT(caps.max_value == UINT64_MAX && caps.numbers[1] == 0x3f);
	pabi_comp_cntr *cntr = create(ctx, &attr);
	EXPECT(cntr && cntr->context == ctx && comp_cntrs == 1);
	if (!cntr)
		return;
	change_comp_cntr(cntr);
	ibv_cq *cq = ibv_create_cq(ctx, 8, nullptr, nullptr, 0);
	qp_attr.send_cq = qp_attr.recv_cq = cq;
	qp_attr.qp_type = IBV_QPT_RC;
	ibv_qp *qp = cq ? ibv_create_qp(pd, &qp_attr) : nullptr;
	EXPECT(qp && !verb_65<int(ibv_qp *, pabi_comp_cntr *, void *)>(
			     "ibv_qp_attach_comp_cntr")(qp, cntr, &ops));
	EXPECT(attached_ops == 0x15);
	EXPECT(qp && !ibv_destroy_qp(qp));
	EXPECT(cq && !ibv_destroy_cq(cq));
	EXPECT(!verb_65<int(pabi_comp_cntr *)>("ibv_destroy_comp_cntr")(cntr));
	EXPECT(!comp_cntrs);
	attr.type = 1;
	EXPECT(!create(ctx, &attr) && errno == EOPNOTSUPP);
}

void use_later_verbs(ibv_context *ctx, ibv_pd *pd)
{
	static char memory[4096];
	struct {
		pabi_mr_init_attr known;
		std::uint64_t rest[8];
	} attr{};
	std::uint64_t speed = 0;

	auto *query_speed =
		find_verb<int(ibv_context *, std::uint32_t, std::uint64_t *)>(
			"ibv_query_port_speed", "IBVERBS_1.16");
	if (query_speed)
		EXPECT(!query_speed(ctx, 1, &speed) && speed == 100);

	auto *reg_mr_ex = find_verb<ibv_mr *(ibv_pd *, void *)>("ibv_reg_mr_ex",
								"IBVERBS_1.15");
	if (!reg_mr_ex)
		return;
	attr.known.addr = memory;
	attr.known.length = sizeof(memory);
	attr.known.iova = 0x5000;
	attr.known.comp_mask = REG_MR_MASK_ADDR | REG_MR_MASK_IOVA;
	ibv_mr *mr = reg_mr_ex(pd, &attr);
	EXPECT(mr && mr->addr == memory && mr->length == sizeof(memory));
	EXPECT(last_iova == attr.known.iova);
	EXPECT(mr && !ibv_dereg_mr(mr));
	attr.known.comp_mask = REG_MR_MASK_FD | REG_MR_MASK_FD_OFFSET |
			       REG_MR_MASK_IOVA;
	attr.known.iova = 0x6000;
	attr.known.fd = memory_fd;
	mr = reg_mr_ex(pd, &attr);
	EXPECT(mr && mr->lkey == dmabuf_key && last_iova == 0x6000);
	EXPECT(mr && !ibv_dereg_mr(mr));
}

/* A sysfs with one device, in the folder @sysfs. */
void make_sysfs(const std::filesystem::path &sysfs)
{
	const std::pair<const char *, const char *> files[] = {
		{ "class/infiniband_verbs/abi_version", "6" },
		{ "class/infiniband_verbs/uverbs0/ibdev", "ornic0" },
		{ "class/infiniband_verbs/uverbs0/dev", "1:3" }, // any_device
		{ "class/infiniband_verbs/uverbs0/abi_version", "1" },
		{ "class/infiniband/ornic0/node_type", "1: CA" },
		{ "class/infiniband/ornic0/device/modalias", "ornic:soft" },
	};

	for (const auto &[name, value] : files) {
		create_directories((sysfs / name).parent_path());
		std::ofstream(sysfs / name) << value << '\n';
	}
}

void use_device(ibv_device *device)
{
	ibv_port_attr port{};

	memory_fd = memfd_create("queues", MFD_CLOEXEC);
	EXPECT(!ftruncate(memory_fd, queues * queue_bytes));
	ibv_context *ctx = ibv_open_device(device);
	EXPECT(ctx);
	if (!ctx)
		return;
	EXPECT(!ibv_query_port(ctx, 1, &port));
	ibv_pd *pd = ibv_alloc_pd(ctx);
	EXPECT(pd);
	if (pd) {
		use_pd(ctx, pd);
		use_later_verbs(ctx, pd);
		use_comp_cntr(ctx, pd);
		EXPECT(!ibv_dealloc_pd(pd));
	}
	EXPECT(!ibv_close_device(ctx));
}

} // namespace

int main(int argc, char **argv)
{
	char sysfs[] = "/tmp/ornic-load.XXXXXX";
	int count = 0;

	if (argc != 2 || !mkdtemp(sysfs))
		return 2;
	make_sysfs(sysfs);
	setenv("SYSFS_PATH", sysfs, 1);
	setenv("RDMAV_DRIVERS", argv[1], 1);
	setenv("IBV_SHOW_WARNINGS", "1", 1);
	ibv_device **devices = ibv_get_device_list(&count);
	EXPECT(devices && count == 1);
	if (devices && count == 1) {
		EXPECT(!std::strcmp(ibv_get_device_name(devices[0]), "ornic0"));
		use_device(devices[0]);
	}
	if (devices)
		ibv_free_device_list(devices);
	std::filesystem::remove_all(sysfs);
	std::printf("%s\n", failed ? "failed" : "ok");
	return failed;
}
