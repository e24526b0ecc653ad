// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* ODP MRs of the harness, and what its host does about page faults. */
#include "harness.h"

#define PAGE 4096u

/**
 * ornic_th_odp_init - make an ODP MR, without pages
 * @th: the harness
 * @mr: out; up to four of its pages touch
 * @length: bytes
 * @off0: offset of its first byte in its first page
 * @access: enum ornic_access
 *
 * Return: enum ornic_status.
 */
int ornic_th_odp_init(struct ornic_th *th, struct ornic_th_mr *mr, u32 length,
		      u32 off0, u8 access)
{
	union ornic_req req;
	union ornic_rsp rsp;
	int status;

	memset(mr, 0, sizeof(*mr));
	mr->th = th;
	mr->length = length;
	mr->access = access;
	mr->off0 = off0 & (PAGE - 1);
	mr->npages = DIV_ROUND_UP(mr->off0 + length, PAGE);
	mr->levels = 1;
	mr->touch = 4;
	mr->iova = 0x7f3400000000ull + mr->off0;
	mr->buf = ornic_th_alloc(th, (u64)PAGE * mr->npages);
	if (!mr->buf)
		return ORNIC_NO_RESOURCE;
	memset(&req, 0, sizeof(req));
	req.hdr.opcode = ORNIC_CMD_CREATE_MKEY;
	req.create_mkey.mem.page_shift = ORNIC_PAGE_SHIFT;
	req.create_mkey.iova = cpu_to_le64(mr->iova);
	req.create_mkey.length = cpu_to_le64(length);
	req.create_mkey.pdn = cpu_to_le32(th->pdn);
	req.create_mkey.access = access;
	req.create_mkey.flags = ORNIC_MKEY_ODP;
	status = ornic_th_cmd(th, &req, &rsp);
	mr->key = le32_to_cpu(rsp.hdr.obj);
	if (status) {
		ornic_th_free(th, mr->buf);
		return status;
	}
	mr->next = th->odps;
	th->odps = mr;
	return ORNIC_OK;
}

/**
 * ornic_th_odp_find - the ODP MR of a key
 * @th: the harness
 * @key: the key
 *
 * Return: the MR, NULL if there is none.
 */
const struct ornic_th_mr *ornic_th_odp_find(const struct ornic_th *th, u32 key)
{
	const struct ornic_th_mr *mr;

	for (mr = th->odps; mr; mr = mr->next) {
		if (mr->key == key)
			return mr;
	}
	return NULL;
}

/**
 * ornic_th_odp_unlink - an MR is destroyed
 * @mr: the MR, of any kind
 */
void ornic_th_odp_unlink(const struct ornic_th_mr *mr)
{
	struct ornic_th_mr **p;

	for (p = &mr->th->odps; *p; p = &(*p)->next) {
		if (*p == mr) {
			*p = mr->next;
			return;
		}
	}
}

/**
 * ornic_th_odp_set - give an ODP MR pages
 * @mr: the MR
 * @page: the first, counted from its start
 * @n: how many, at most ORNIC_LIST_ENTRIES
 * @write: they may be written to
 *
 * Return: enum ornic_status.
 */
int ornic_th_odp_set(const struct ornic_th_mr *mr, u32 page, u32 n, bool write)
{
	__le64 *list = (__le64 *)ornic_th_alloc(mr->th, PAGE);
	union ornic_req req;
	union ornic_rsp rsp;
	int status;
	u64 addr;
	u32 i;

	if (!list)
		return ORNIC_NO_RESOURCE;
	for (i = 0; i < n; i++) {
		addr = (uintptr_t)mr->buf +
		       (u64)PAGE * ornic_th_mr_page(mr, page + i);
		list[i] = cpu_to_le64(addr | (write ? ORNIC_PAGE_WRITE : 0));
	}
	memset(&req, 0, sizeof(req));
	req.hdr.opcode = ORNIC_CMD_SET_PAGES;
	req.hdr.obj = cpu_to_le32(mr->key);
	req.set_pages.addr =
		cpu_to_le64(mr->iova - mr->off0 + (u64)PAGE * page);
	req.set_pages.list = cpu_to_le64((uintptr_t)list);
	req.set_pages.npages = cpu_to_le32(n);
	status = ornic_th_cmd(mr->th, &req, &rsp);
	ornic_th_free(mr->th, (u8 *)list);
	return status;
}

/**
 * ornic_th_odp_clear - take pages away from an ODP MR
 * @mr: the MR
 * @page: the first, counted from its start
 * @n: how many
 *
 * Return: enum ornic_status.
 */
int ornic_th_odp_clear(const struct ornic_th_mr *mr, u32 page, u32 n)
{
	union ornic_req req;
	union ornic_rsp rsp;

	memset(&req, 0, sizeof(req));
	req.hdr.opcode = ORNIC_CMD_CLEAR_PAGES;
	req.hdr.obj = cpu_to_le32(mr->key);
	req.clear_pages.addr =
		cpu_to_le64(mr->iova - mr->off0 + (u64)PAGE * page);
	req.clear_pages.length = cpu_to_le64((u64)PAGE * n);
	return ornic_th_cmd(mr->th, &req, &rsp);
}

static bool take_of(const struct ornic_th_qp *qp, struct ornic_th_fault *fault)
{
	const struct ornic_rsp_take_fault *r;
	union ornic_req req;
	union ornic_rsp rsp;

	memset(&req, 0, sizeof(req));
	req.hdr.opcode = ORNIC_CMD_TAKE_FAULT;
	req.hdr.param = fault->queue;
	req.hdr.obj = cpu_to_le32(qp->qpn);
	if (ornic_th_cmd(qp->th, &req, &rsp))
		return false;
	r = &rsp.take_fault;
	fault->key = le32_to_cpu(r->key);
	fault->seq = le32_to_cpu(r->seq);
	fault->addr = le64_to_cpu(r->addr);
	fault->length = le64_to_cpu(r->length);
	fault->write = r->write;
	return true;
}

/**
 * ornic_th_fault_take - take a page fault of either queue
 * @qp: the QP
 * @fault: out
 *
 * Return: false if there is none.
 */
bool ornic_th_fault_take(const struct ornic_th_qp *qp,
			 struct ornic_th_fault *fault)
{
	memset(fault, 0, sizeof(*fault));
	fault->queue = ORNIC_FAULT_SQ;
	if (take_of(qp, fault))
		return true;
	fault->queue = ORNIC_FAULT_RQ;
	return take_of(qp, fault);
}

/**
 * ornic_th_fault_end - answer a page fault
 * @qp: the QP
 * @fault: from ornic_th_fault_take()
 * @failed: there is no page
 *
 * Return: enum ornic_status.
 */
int ornic_th_fault_end(const struct ornic_th_qp *qp,
		       const struct ornic_th_fault *fault, bool failed)
{
	union ornic_req req;
	union ornic_rsp rsp;

	memset(&req, 0, sizeof(req));
	req.hdr.opcode = ORNIC_CMD_END_FAULT;
	req.hdr.param = fault->queue;
	req.hdr.obj = cpu_to_le32(qp->qpn);
	req.end_fault.seq = cpu_to_le32(fault->seq);
	req.end_fault.failed = failed;
	return ornic_th_cmd(qp->th, &req, &rsp);
}

/**
 * ornic_th_fault_serve - answer all page faults of a QP whose memory is one MR
 * @qp: the QP
 * @mr: the MR
 *
 * Return: how many there were.
 */
u32 ornic_th_fault_serve(const struct ornic_th_qp *qp,
			 const struct ornic_th_mr *mr)
{
	struct ornic_th_fault fault;
	u64 start, end;
	u32 n = 0;

	while (ornic_th_fault_take(qp, &fault)) {
		start = fault.addr - (mr->iova - mr->off0);
		end = DIV_ROUND_UP(start + fault.length, PAGE);
		start /= PAGE;
		ornic_th_odp_set(mr, (u32)start, (u32)(end - start),
				 fault.write);
		ornic_th_fault_end(qp, &fault, false);
		n++;
	}
	return n;
}
