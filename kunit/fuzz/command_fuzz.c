// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Commands: any 64 bytes. The input may ask for the number of an object that
 * exists and for addresses of memory that does, or nothing would be made.
 */
#include <sanitizer/asan_interface.h>
#include <sys/mman.h>

#include "fuzz.h"
#include "snapshot.h"

#define MAX_COMMANDS 48
#define ARENA_BYTES (16 * 4096u)
#define MAX_OBJS 16
#define BEHIND 1024u /* of the arena, which nobody may read */

struct state {
	struct ornic_th *th;
	u8 *arena;
	u32 objs[MAX_OBJS];
	u32 nobjs;
};

/* Nobody reads behind the arena while commands run. */
static void forbid_behind(u8 *arena)
{
	u8 *end = arena + ARENA_BYTES;

#ifdef ORNIC_FUZZ_FAST
	if (mprotect(end, 4096, PROT_NONE))
		abort();
#else
	ASAN_POISON_MEMORY_REGION(end, BEHIND);
#endif
}

static void allow_behind(u8 *arena)
{
	u8 *end = arena + ARENA_BYTES;

#ifdef ORNIC_FUZZ_FAST
	if (mprotect(end, 4096, PROT_READ | PROT_WRITE))
		abort();
#else
	ASAN_UNPOISON_MEMORY_REGION(end, BEHIND);
#endif
}

/* List pages that name the pages of the arena, one of them itself. */
static void fill_arena(u8 *arena)
{
	__le64 *list = (__le64 *)arena;
	u32 i;

	for (i = 0; i < ORNIC_LIST_ENTRIES; i++)
		list[i] =
			cpu_to_le64((u64)(uintptr_t)arena + 4096ull * (i % 16));
}

static u32 some_obj(struct state *s, u8 which)
{
	return s->nobjs ? s->objs[which % min_t(u32, s->nobjs, MAX_OBJS)] : 0;
}

/* The rings of a QP, behind the page of its records. */
static u64 ring_bytes(const struct ornic_req_create_qp *req, bool rq)
{
	u32 log = rq ? req->rq_log_depth + req->rq_log_stride :
		       req->sq_log_depth + req->sq_log_stride;

	if (!(rq ? req->has_rq : req->has_sq) || log > 20)
		return 0;
	return ALIGN(1ull << log, 4096u);
}

/* In the last pages that there are, with an RQ of whole pages. */
static void put_last(struct state *s, struct ornic_req_create_qp *req)
{
	u8 whole = req->rq_log_stride < 12 ? 12 - req->rq_log_stride : 0;
	u64 bytes;

	req->rq_log_depth = max_t(u8, req->rq_log_depth, whole);
	bytes = ORNIC_RING_OFFSET + ring_bytes(req, false) +
		ring_bytes(req, true);
	if (bytes > ARENA_BYTES)
		return;
	req->mem.addr =
		cpu_to_le64((u64)(uintptr_t)s->arena + ARENA_BYTES - bytes);
	req->mem.npages = cpu_to_le32(bytes / 4096);
	req->mem.levels = 0;
}

static void patch(struct state *s, union ornic_req *req,
		  struct ornic_fuzz_in *in)
{
	u8 how = ornic_fuzz_u8(in);
	u64 addr = (u64)(uintptr_t)s->arena + (how >> 4) * 4096;

	if (how & 1)
		req->hdr.obj = cpu_to_le32(some_obj(s, ornic_fuzz_u8(in)));
	if (how & 2) {
		req->create_cq.mem.addr = cpu_to_le64(addr);
		req->create_cq.mem.npages = cpu_to_le32(16 - (how >> 4));
		req->create_cq.mem.page_shift = 12;
		req->create_cq.mem.levels &= 3;
	}
	if (how & 4 && req->hdr.opcode == ORNIC_CMD_CREATE_QP) {
		req->create_qp.send_cqn =
			cpu_to_le32(some_obj(s, ornic_fuzz_u8(in)));
		req->create_qp.recv_cqn =
			cpu_to_le32(some_obj(s, ornic_fuzz_u8(in)));
		if (req->create_qp.flags & ORNIC_QP_SRQ)
			req->create_qp.srqn =
				cpu_to_le32(some_obj(s, ornic_fuzz_u8(in)));
		if (how & 2 && how & 0x10)
			put_last(s, &req->create_qp);
	}
	if (how & 8 && (req->hdr.opcode == ORNIC_CMD_CREATE_AH ||
			req->hdr.opcode == ORNIC_CMD_MODIFY_QP)) {
		struct ornic_av av;

		ornic_th_av(&av, how & 1 ? s->th->index : 9,
			    ornic_fuzz_u8(in) % ORNIC_TH_GIDS);
		if (req->hdr.opcode == ORNIC_CMD_CREATE_AH)
			req->create_ah.av = av;
		else
			req->modify_qp.av = av;
	}
}

/* A command that tells a different number than it was asked for is a bug. */
static void check_rsp(const union ornic_req *req, const union ornic_rsp *rsp)
{
	if (rsp->hdr.opcode != req->hdr.opcode || rsp->hdr.id != req->hdr.id ||
	    rsp->hdr.status > ORNIC_FAILED)
		abort();
}

/* Corpora hold indices of this table. */
static const u8 opcodes[32] = {
	ORNIC_CMD_QUERY_DEVICE, ORNIC_CMD_QUERY_STATS, ORNIC_CMD_SET_GID,
	ORNIC_CMD_SET_PORT,	ORNIC_CMD_CREATE_CQ,   ORNIC_CMD_DESTROY_CQ,
	ORNIC_CMD_CREATE_QP,	ORNIC_CMD_DESTROY_QP,  ORNIC_CMD_MODIFY_QP,
	ORNIC_CMD_QUERY_QP,	ORNIC_CMD_CREATE_MKEY, ORNIC_CMD_DESTROY_MKEY,
	ORNIC_CMD_CREATE_AH,	ORNIC_CMD_DESTROY_AH,  ORNIC_CMD_CREATE_QP,
	ORNIC_CMD_MODIFY_QP,	ORNIC_CMD_CREATE_SRQ,  ORNIC_CMD_DESTROY_SRQ,
	ORNIC_CMD_MODIFY_SRQ,	ORNIC_CMD_QUERY_SRQ,   ORNIC_CMD_CREATE_MW,
	ORNIC_CMD_DESTROY_MW,	ORNIC_CMD_CREATE_QP,   ORNIC_CMD_DESTROY_QP,
	ORNIC_CMD_MODIFY_QP,	ORNIC_CMD_RESIZE_CQ,   ORNIC_CMD_CREATE_MKEY,
	ORNIC_CMD_MODIFY_MKEY,	ORNIC_CMD_CREATE_SRQ,  ORNIC_CMD_MODIFY_SRQ,
	ORNIC_CMD_CREATE_QP,	ORNIC_CMD_MODIFY_QP,
};

/* A host that posts as many receives, of as many SGEs, as it was allowed. */
static void post_recvs(struct state *s, const struct ornic_req_create_qp *req)
{
	u8 *mem = (u8 *)(uintptr_t)le64_to_cpu(req->mem.addr);
	u8 *slot, *end = s->arena + ARENA_BYTES;
	struct ornic_wq_record *record;
	u32 i, depth;

	if (req->mem.levels || !req->has_rq || mem < s->arena || mem >= end)
		return;
	depth = 1u << req->rq_log_depth;
	record = (struct ornic_wq_record *)(mem + ORNIC_RQ_RECORD);
	slot = mem + ORNIC_RING_OFFSET + ring_bytes(req, false);
	for (i = 0; i < depth; i++, slot += 1u << req->rq_log_stride) {
		struct ornic_rq_hdr hdr = {
			.num_sge = cpu_to_le16(req->rq_max_sge),
		};

		if (slot + sizeof(hdr) <= end)
			memcpy(slot, &hdr, sizeof(hdr));
	}
	record->producer = cpu_to_le32(depth);
}

static void one_command(struct state *s, struct ornic_fuzz_in *in)
{
	union ornic_req req;
	union ornic_rsp rsp;
	u8 op = ornic_fuzz_u8(in);

	memset(&req, 0, sizeof(req));
	ornic_fuzz_bytes(in, &req, op & 0x40 ? 64 : 48);
	if (!(op & 0x80))
		req.hdr.opcode = opcodes[op & 31];
	patch(s, &req, in);
	ornic_th_cmd(s->th, &req, &rsp);
	check_rsp(&req, &rsp);
	if (!rsp.hdr.status && req.hdr.opcode & 0x70 && !(req.hdr.opcode & 15))
		s->objs[s->nobjs++ % MAX_OBJS] = le32_to_cpu(rsp.hdr.obj);
	if (!rsp.hdr.status && req.hdr.opcode == ORNIC_CMD_CREATE_QP)
		post_recvs(s, &req.create_qp);
}

/* QPs that end read what was posted. */
static void end_qps(struct state *s)
{
	union ornic_req req;
	union ornic_rsp rsp;
	u32 i;

	for (i = 0; i < s->nobjs && i < MAX_OBJS; i++) {
		memset(&req, 0, sizeof(req));
		req.hdr.opcode = ORNIC_CMD_MODIFY_QP;
		req.hdr.obj = cpu_to_le32(s->objs[i]);
		req.modify_qp.mask = cpu_to_le32(ORNIC_QPM_STATE);
		req.modify_qp.state = ORNIC_QPS_ERR;
		ornic_th_cmd(s->th, &req, &rsp);
	}
}

static void *make_host(u32 shape)
{
	struct ornic_th *th = ornic_th_create(1, 1);

	if (!th)
		abort();
	return th;
}

int LLVMFuzzerTestOneInput(const u8 *data, size_t size)
{
	struct ornic_fuzz_in in = { data, size };
	struct state s = { .th = ornic_snap_get(0, make_host) };
	struct ornic_th_frame *f;
	void *pad; /* has nothing that is read meanwhile */
	u32 i;

	s.arena = ornic_th_alloc(s.th, ARENA_BYTES);
	fill_arena(s.arena);
	pad = ornic_zalloc(4096);
	forbid_behind(s.arena);
	for (i = 0; i < MAX_COMMANDS && in.left; i++) {
		one_command(&s, &in);
		if (s.nobjs)
			ornic_engine_kick(s.th->eng, some_obj(&s, i), 100000);
	}
	end_qps(&s);
	for (i = 0; i < 10000 && ornic_th_run(s.th); i++)
		while ((f = ornic_th_pull(s.th)) != NULL)
			ornic_th_put(s.th, f);
	allow_behind(s.arena);
	ornic_free(pad);
	if (ornic_th_destroy(s.th))
		abort();
	ornic_snap_put();
	return 0;
}
