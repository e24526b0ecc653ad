// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Methods of uverbs' ioctl, with attributes of the right type by a table.
 */
#include "ops.h"

#include <rdma/ib_user_ioctl_cmds.h>
#include <rdma/ornic-abi.h>
#include <rdma/rdma_user_ioctl_cmds.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <vector>

#include "world.h"

namespace
{

/*
 * A choice is 0 to 3; made is the handle of a new object; iova is where work
 * requests go, at the place in a page that the offset has, two attributes later.
 */
enum type { end, handle, made, file, dmabuf, iova, value, choice, in, out };

struct attribute {
	uint16_t id;
	type what;
	uint16_t detail; /* of handles the kind, of others the size, or 0 */
};

struct method {
	uint16_t object, id;
	attribute attributes[17];
};

/* Kernel headers may not have completion counters yet, which Linux 7.3 has. */
enum : uint16_t {
	object_comp_cntr = 19,
	create_comp_cntr = 0,
	destroy_comp_cntr = 1,
	modify_comp_cntr = 2,
	read_comp_cntr = 3,
	query_comp_cntr_caps = 8,
	attach_comp_cntr = 2,
};

/* clang-format off */
const method methods[] = {
	{ UVERBS_OBJECT_DEVICE, UVERBS_METHOD_INVOKE_WRITE,
	  { { UVERBS_ATTR_CORE_IN, in, 32 }, { UVERBS_ATTR_CORE_OUT, out, 64 },
	    { UVERBS_ATTR_WRITE_CMD, value, 0 }, { UVERBS_ATTR_UHW_IN, in, 8 },
	    { UVERBS_ATTR_UHW_OUT, out, 40 } } },
	{ UVERBS_OBJECT_DEVICE, UVERBS_METHOD_INFO_HANDLES,
	  { { UVERBS_ATTR_INFO_OBJECT_ID, value, 0 },
	    { UVERBS_ATTR_INFO_TOTAL_HANDLES, out, 4 },
	    { UVERBS_ATTR_INFO_HANDLES_LIST, out, 64 } } },
	{ UVERBS_OBJECT_DEVICE, UVERBS_METHOD_QUERY_PORT,
	  { { UVERBS_ATTR_QUERY_PORT_PORT_NUM, value, 1 },
	    { UVERBS_ATTR_QUERY_PORT_RESP, out, 48 } } },
	{ UVERBS_OBJECT_DEVICE, UVERBS_METHOD_GET_CONTEXT,
	  { { UVERBS_ATTR_GET_CONTEXT_NUM_COMP_VECTORS, out, 4 },
	    { UVERBS_ATTR_GET_CONTEXT_CORE_SUPPORT, out, 8 },
	    { UVERBS_ATTR_UHW_OUT, out, 40 } } },
	{ UVERBS_OBJECT_DEVICE, UVERBS_METHOD_QUERY_CONTEXT,
	  { { UVERBS_ATTR_QUERY_CONTEXT_NUM_COMP_VECTORS, out, 4 },
	    { UVERBS_ATTR_QUERY_CONTEXT_CORE_SUPPORT, out, 8 },
	    { ORNIC_ATTR_QUERY_CONTEXT_RESP, out, 40 } } },
	{ UVERBS_OBJECT_DEVICE, UVERBS_METHOD_QUERY_GID_TABLE,
	  { { UVERBS_ATTR_QUERY_GID_TABLE_ENTRY_SIZE, value, 0 },
	    { UVERBS_ATTR_QUERY_GID_TABLE_FLAGS, value, 0 },
	    { UVERBS_ATTR_QUERY_GID_TABLE_RESP_ENTRIES, out, 256 },
	    { UVERBS_ATTR_QUERY_GID_TABLE_RESP_NUM_ENTRIES, out, 8 } } },
	{ UVERBS_OBJECT_DEVICE, UVERBS_METHOD_QUERY_GID_ENTRY,
	  { { UVERBS_ATTR_QUERY_GID_ENTRY_PORT, value, 0 },
	    { UVERBS_ATTR_QUERY_GID_ENTRY_GID_INDEX, value, 0 },
	    { UVERBS_ATTR_QUERY_GID_ENTRY_FLAGS, value, 0 },
	    { UVERBS_ATTR_QUERY_GID_ENTRY_RESP_ENTRY, out, 32 } } },
	{ UVERBS_OBJECT_DEVICE, ORNIC_METHOD_QUERY_CLOCK,
	  { { ORNIC_ATTR_QUERY_CLOCK_VALUES, out, 24 } } },
	{ UVERBS_OBJECT_PD, UVERBS_METHOD_PD_DESTROY,
	  { { UVERBS_ATTR_DESTROY_PD_HANDLE, handle, pd } } },
	{ UVERBS_OBJECT_PD, ORNIC_METHOD_PD_QUERY,
	  { { ORNIC_ATTR_PD_QUERY_HANDLE, handle, pd },
	    { ORNIC_ATTR_PD_QUERY_RESP, out, 8 } } },
	{ UVERBS_OBJECT_CQ, UVERBS_METHOD_CQ_CREATE,
	  { { UVERBS_ATTR_CREATE_CQ_HANDLE, handle, cq },
	    { UVERBS_ATTR_CREATE_CQ_CQE, value, 0 },
	    { UVERBS_ATTR_CREATE_CQ_USER_HANDLE, in, 8 },
	    { UVERBS_ATTR_CREATE_CQ_COMP_CHANNEL, file, 0 },
	    { UVERBS_ATTR_CREATE_CQ_COMP_VECTOR, value, 0 },
	    { UVERBS_ATTR_CREATE_CQ_FLAGS, value, 0 },
	    { UVERBS_ATTR_CREATE_CQ_RESP_CQE, out, 4 },
	    { UVERBS_ATTR_UHW_IN, in, 8 },
	    { UVERBS_ATTR_UHW_OUT, out, 32 } } },
	{ UVERBS_OBJECT_CQ, UVERBS_METHOD_CQ_DESTROY,
	  { { UVERBS_ATTR_DESTROY_CQ_HANDLE, handle, cq },
	    { UVERBS_ATTR_DESTROY_CQ_RESP, out, 8 } } },
	{ UVERBS_OBJECT_QP, UVERBS_METHOD_QP_CREATE,
	  { { UVERBS_ATTR_CREATE_QP_HANDLE, handle, qp },
	    { UVERBS_ATTR_CREATE_QP_PD_HANDLE, handle, pd },
	    { UVERBS_ATTR_CREATE_QP_SEND_CQ_HANDLE, handle, cq },
	    { UVERBS_ATTR_CREATE_QP_RECV_CQ_HANDLE, handle, cq },
	    { UVERBS_ATTR_CREATE_QP_USER_HANDLE, in, 8 },
	    { UVERBS_ATTR_CREATE_QP_CAP, in, 20 },
	    { UVERBS_ATTR_CREATE_QP_TYPE, value, 0 },
	    { UVERBS_ATTR_CREATE_QP_FLAGS, value, 0 },
	    { UVERBS_ATTR_CREATE_QP_SRQ_HANDLE, handle, srq },
	    { UVERBS_ATTR_CREATE_QP_RESP_CAP, out, 20 },
	    { UVERBS_ATTR_CREATE_QP_RESP_QP_NUM, out, 4 },
	    { UVERBS_ATTR_UHW_IN, in, 8 },
	    { UVERBS_ATTR_UHW_OUT, out, 48 } } },
	{ UVERBS_OBJECT_QP, UVERBS_METHOD_QP_DESTROY,
	  { { UVERBS_ATTR_DESTROY_QP_HANDLE, handle, qp },
	    { UVERBS_ATTR_DESTROY_QP_RESP, out, 4 } } },
	{ UVERBS_OBJECT_SRQ, UVERBS_METHOD_SRQ_CREATE,
	  { { UVERBS_ATTR_CREATE_SRQ_HANDLE, handle, srq },
	    { UVERBS_ATTR_CREATE_SRQ_PD_HANDLE, handle, pd },
	    { UVERBS_ATTR_CREATE_SRQ_TYPE, value, 0 },
	    { UVERBS_ATTR_CREATE_SRQ_USER_HANDLE, in, 8 },
	    { UVERBS_ATTR_CREATE_SRQ_MAX_WR, value, 0 },
	    { UVERBS_ATTR_CREATE_SRQ_MAX_SGE, value, 0 },
	    { UVERBS_ATTR_CREATE_SRQ_LIMIT, value, 0 },
	    { UVERBS_ATTR_CREATE_SRQ_XRCD_HANDLE, handle, xrcd },
	    { UVERBS_ATTR_CREATE_SRQ_CQ_HANDLE, handle, cq },
	    { UVERBS_ATTR_CREATE_SRQ_RESP_MAX_WR, out, 4 },
	    { UVERBS_ATTR_CREATE_SRQ_RESP_MAX_SGE, out, 4 },
	    { UVERBS_ATTR_CREATE_SRQ_RESP_SRQ_NUM, out, 4 },
	    { UVERBS_ATTR_UHW_IN, in, 8 },
	    { UVERBS_ATTR_UHW_OUT, out, 32 } } },
	{ UVERBS_OBJECT_SRQ, UVERBS_METHOD_SRQ_DESTROY,
	  { { UVERBS_ATTR_DESTROY_SRQ_HANDLE, handle, srq },
	    { UVERBS_ATTR_DESTROY_SRQ_RESP, out, 4 } } },
	{ UVERBS_OBJECT_SRQ, ORNIC_METHOD_SRQ_RESIZE,
	  { { ORNIC_ATTR_SRQ_RESIZE_HANDLE, handle, srq },
	    { ORNIC_ATTR_SRQ_RESIZE_MAX_WR, value, 0 },
	    { ORNIC_ATTR_SRQ_RESIZE_RESP, out, 24 } } },
	{ UVERBS_OBJECT_MR, UVERBS_METHOD_DM_MR_REG,
	  { { UVERBS_ATTR_REG_DM_MR_ACCESS_FLAGS, value, 4 },
	    { UVERBS_ATTR_REG_DM_MR_RESP_LKEY, out, 4 },
	    { UVERBS_ATTR_REG_DM_MR_RESP_RKEY, out, 4 },
	    { UVERBS_ATTR_REG_DM_MR_HANDLE, made, mr },
	    { UVERBS_ATTR_REG_DM_MR_PD_HANDLE, handle, pd },
	    { UVERBS_ATTR_REG_DM_MR_DM_HANDLE, handle, dm },
	    { UVERBS_ATTR_REG_DM_MR_LENGTH, value, 8 },
	    { UVERBS_ATTR_REG_DM_MR_OFFSET, value, 8 } } },
	{ UVERBS_OBJECT_MR, UVERBS_METHOD_MR_DESTROY,
	  { { UVERBS_ATTR_DESTROY_MR_HANDLE, handle, mr } } },
	{ UVERBS_OBJECT_MR, UVERBS_METHOD_ADVISE_MR,
	  { { UVERBS_ATTR_ADVISE_MR_PD_HANDLE, handle, pd },
	    { UVERBS_ATTR_ADVISE_MR_ADVICE, value, 0 },
	    { UVERBS_ATTR_ADVISE_MR_FLAGS, value, 0 },
	    { UVERBS_ATTR_ADVISE_MR_SGE_LIST, in, 16 } } },
	{ UVERBS_OBJECT_MR, UVERBS_METHOD_QUERY_MR,
	  { { UVERBS_ATTR_QUERY_MR_HANDLE, handle, mr },
	    { UVERBS_ATTR_QUERY_MR_RESP_LKEY, out, 4 },
	    { UVERBS_ATTR_QUERY_MR_RESP_RKEY, out, 4 },
	    { UVERBS_ATTR_QUERY_MR_RESP_LENGTH, out, 8 },
	    { UVERBS_ATTR_QUERY_MR_RESP_IOVA, out, 8 } } },
	{ UVERBS_OBJECT_MR, UVERBS_METHOD_REG_DMABUF_MR,
	  { { UVERBS_ATTR_REG_DMABUF_MR_ACCESS_FLAGS, value, 4 },
	    { UVERBS_ATTR_REG_DMABUF_MR_RESP_LKEY, out, 4 },
	    { UVERBS_ATTR_REG_DMABUF_MR_RESP_RKEY, out, 4 },
	    { UVERBS_ATTR_REG_DMABUF_MR_HANDLE, made, mr },
	    { UVERBS_ATTR_REG_DMABUF_MR_PD_HANDLE, handle, pd },
	    { UVERBS_ATTR_REG_DMABUF_MR_FD, dmabuf, 4 },
	    { UVERBS_ATTR_REG_DMABUF_MR_IOVA, iova, 8 },
	    { UVERBS_ATTR_REG_DMABUF_MR_LENGTH, value, 8 },
	    { UVERBS_ATTR_REG_DMABUF_MR_OFFSET, value, 8 } } },
	{ UVERBS_OBJECT_MW, UVERBS_METHOD_MW_DESTROY,
	  { { UVERBS_ATTR_DESTROY_MW_HANDLE, handle, mw } } },
	{ UVERBS_OBJECT_XRCD, UVERBS_METHOD_XRCD_DESTROY,
	  { { UVERBS_ATTR_DESTROY_XRCD_HANDLE, handle, xrcd } } },
	{ UVERBS_OBJECT_AH, UVERBS_METHOD_AH_DESTROY,
	  { { UVERBS_ATTR_DESTROY_AH_HANDLE, handle, ah } } },
	{ UVERBS_OBJECT_DM, UVERBS_METHOD_DM_ALLOC,
	  { { UVERBS_ATTR_ALLOC_DM_HANDLE, made, dm },
	    { UVERBS_ATTR_ALLOC_DM_LENGTH, value, 8 },
	    { UVERBS_ATTR_ALLOC_DM_ALIGNMENT, choice, 4 } } },
	{ UVERBS_OBJECT_WQ, UVERBS_METHOD_WQ_CREATE,
	  { { UVERBS_ATTR_CREATE_WQ_HANDLE, handle, qp },
	    { UVERBS_ATTR_CREATE_WQ_PD_HANDLE, handle, pd },
	    { UVERBS_ATTR_CREATE_WQ_CQ_HANDLE, handle, cq },
	    { UVERBS_ATTR_CREATE_WQ_USER_HANDLE, in, 8 },
	    { UVERBS_ATTR_CREATE_WQ_TYPE, value, 0 } } },
	{ UVERBS_OBJECT_FLOW_ACTION, UVERBS_METHOD_FLOW_ACTION_ESP_CREATE,
	  { { UVERBS_ATTR_CREATE_FLOW_ACTION_ESP_HANDLE, handle, mr },
	    { UVERBS_ATTR_FLOW_ACTION_ESP_ATTRS, in, 16 } } },
	{ UVERBS_OBJECT_COUNTERS, UVERBS_METHOD_COUNTERS_CREATE,
	  { { UVERBS_ATTR_CREATE_COUNTERS_HANDLE, handle, mr } } },
	{ UVERBS_OBJECT_COUNTERS, UVERBS_METHOD_COUNTERS_READ,
	  { { UVERBS_ATTR_READ_COUNTERS_HANDLE, handle, mr },
	    { UVERBS_ATTR_READ_COUNTERS_BUFF, out, 64 },
	    { UVERBS_ATTR_READ_COUNTERS_FLAGS, value, 0 } } },
	{ UVERBS_OBJECT_ASYNC_EVENT, UVERBS_METHOD_ASYNC_EVENT_ALLOC,
	  { { UVERBS_ATTR_ASYNC_EVENT_ALLOC_FD_HANDLE, file, 0 } } },
	{ object_comp_cntr, create_comp_cntr,
	  { { 0, made, cntr },
	    { ORNIC_ATTR_CREATE_COMP_CNTR_RESP, out,
	      sizeof(ornic_create_comp_cntr_resp) } } },
	{ object_comp_cntr, destroy_comp_cntr, { { 0, handle, cntr } } },
	{ object_comp_cntr, modify_comp_cntr,
	  { { 0, handle, cntr }, { 1, choice, 8 }, { 2, choice, 8 },
	    { 3, value, 8 } } },
	{ object_comp_cntr, read_comp_cntr,
	  { { 0, handle, cntr }, { 1, choice, 8 }, { 2, out, 8 } } },
	{ UVERBS_OBJECT_QP, attach_comp_cntr,
	  { { 0, handle, qp }, { 1, handle, cntr }, { 2, value, 0 } } },
	{ UVERBS_OBJECT_DEVICE, query_comp_cntr_caps,
	  { { 0, out, 4 }, { 1, out, 8 }, { 2, out, 4 } } },
	{ UVERBS_OBJECT_DM, UVERBS_METHOD_DM_FREE,
	  { { UVERBS_ATTR_FREE_DM_HANDLE, handle, dm } } },
	{ UVERBS_OBJECT_DM, ORNIC_METHOD_DM_QUERY,
	  { { ORNIC_ATTR_DM_QUERY_HANDLE, handle, dm },
	    { ORNIC_ATTR_DM_QUERY_RESP, out, sizeof(ornic_query_dm_resp) } } },
	{ UVERBS_OBJECT_DM, ORNIC_METHOD_DM_EXPORT,
	  { { ORNIC_ATTR_DM_EXPORT_HANDLE, handle, dm },
	    { ORNIC_ATTR_DM_EXPORT_FD, out, 4 } } },
};
/* clang-format on */

/* As large as an attribute may say that it is. */
constexpr std::size_t buffer_size = 65536;

/* A message, and the buffers that it points to. */
struct message {
	alignas(8) std::byte head[sizeof(ib_uverbs_ioctl_hdr)];
	ib_uverbs_attr attrs[17];
};

void fill(world &w, const call &c, const attribute &a, ib_uverbs_attr &to,
	  uint64_t *buffer, uint64_t number)
{
	to.attr_id = a.id;
	to.flags = UVERBS_ATTR_F_MANDATORY;
	switch (a.what) {
	case handle:
		to.data =
			w.place(c, static_cast<kind>(a.detail), c.arg[3]).handle;
		break;
	case made:
		break;
	case file:
		to.data_s64 = w.files(c).channel;
		break;
	case dmabuf:
		to.len = a.detail;
		to.data_s64 = number >> 8 & 1 ? w.exported.load() :
						w.dmabuf.fd();
		break;
	case iova:
		to.len = a.detail;
		to.data = reinterpret_cast<uint64_t>(w.memory) +
			  (number >> 8) % 4096;
		break;
	case choice:
		to.len = a.detail;
		to.data = number % 4;
		break;
	case value:
		/* Small ones are in the attribute, whatever their size. */
		to.len = a.detail ? a.detail : c.noise & 8 ? 8 : 4;
		to.data = number;
		break;
	default:
		to.len = a.detail;
		to.data = reinterpret_cast<uint64_t>(buffer);
		std::fill_n(buffer, 8, a.what == in ? number : 0);
	}
}

/* The kernel must not write to other memory of ours. */
void keep_pointers(const message &before, message &after, uint16_t count)
{
	for (uint16_t i = 0; i < count; i++) {
		const uint64_t data = before.attrs[i].data;

		if (data > UINT32_MAX && after.attrs[i].data != data)
			after.attrs[i].data = 8;
	}
}

/* The response is the second attribute of all. */
void keep_response(world &w, const call &c, const method &m,
		   const uint64_t *response)
{
	if (m.object == object_comp_cntr && m.id == create_comp_cntr) {
		object &o = w.place(c, cntr, c.arg[3]);
		ornic_create_comp_cntr_resp r;

		std::memcpy(&r, response, sizeof(r));
		o.number = r.number;
		o.offset = r.mmap_offset;
		o.size = r.mmap_size;
	} else if (m.object == UVERBS_OBJECT_DM &&
		   m.id == ORNIC_METHOD_DM_QUERY) {
		object &o = w.place(c, dm, c.arg[3]);
		ornic_query_dm_resp r;

		std::memcpy(&r, response, sizeof(r));
		o.offset = r.mmap_offset;
		o.size = r.mmap_size;
	} else if (m.object == UVERBS_OBJECT_DM &&
		   m.id == ORNIC_METHOD_DM_EXPORT) {
		const int old =
			w.exported.exchange(static_cast<int>(*response));

		/* Another thread may use it, or what has its number next. */
		if (old >= 0)
			close(old);
	} else if (m.object == UVERBS_OBJECT_MR &&
		   (m.id == UVERBS_METHOD_DM_MR_REG ||
		    m.id == UVERBS_METHOD_REG_DMABUF_MR)) {
		w.place(c, mr, c.arg[3]).number =
			static_cast<uint32_t>(*response);
	}
}

/* New objects have the handles of @to. */
void keep_objects(world &w, const call &c, const method &m, const message &to)
{
	for (std::size_t i = 0; i < std::size(to.attrs); i++) {
		const attribute &a = m.attributes[i];

		if (a.what == end)
			break;
		if (a.what == made)
			w.place(c, static_cast<kind>(a.detail), c.arg[3])
				.handle =
				static_cast<uint32_t>(to.attrs[i].data);
	}
}

} /* namespace */

/* method(context, which, value, place of the handles) */
void op_method(world &w, const call &c)
{
	const method &m = methods[c.arg[1] % std::size(methods)];
	static thread_local std::vector<uint64_t> buffers(17 * buffer_size / 8);
	ib_uverbs_ioctl_hdr head = {};
	message to = {};
	uint16_t count = 0;

	for (const attribute &a : m.attributes) {
		if (a.what == end)
			break;
		fill(w, c, a, to.attrs[count],
		     &buffers[count * buffer_size / 8],
		     c.arg[2] >> count * 4 % 64);
		count++;
	}
	head.object_id = m.object;
	head.method_id = m.id;
	head.num_attrs = count;
	head.length = static_cast<uint16_t>(sizeof(head) +
					    count * sizeof(to.attrs[0]));
	std::memcpy(to.head, &head, sizeof(head));
	const message before = to;
	damage({ reinterpret_cast<std::byte *>(to.attrs),
		 count * sizeof(to.attrs[0]) },
	       c.noise);
	keep_pointers(before, to, count);
	const bool ok = !ioctl(w.files(c).verbs, RDMA_VERBS_IOCTL, &to);

	w.count(c, ok);
	if (!ok)
		return;
	keep_objects(w, c, m, to);
	keep_response(w, c, m, &buffers[buffer_size / 8]);
}
