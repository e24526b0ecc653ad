// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Commands: any 64 bytes. The input may ask for the number of an object that
 * exists and for addresses of memory that does, or nothing would be made.
 */
#include <sys/mman.h>

#include "engine/dev.h"
#include "fuzz.h"
#include "mutate.h"
#include "snapshot.h"

#define MAX_COMMANDS 48
#define ARENA_BYTES (16 * 4096u)
#define MAX_OBJS 16
#define SLOT 72

/* @kind: the high digit of the command that made it */
struct obj {
	u32 number;
	u8 kind;
};

struct state {
	struct ornic_th *th;
	u8 *arena;
	struct obj objs[MAX_OBJS];
	u32 nobjs;
};

/* Memory for all that commands name, between pages that nobody may access. */
static void map_arena(struct state *s, struct ornic_th_mem *m)
{
	static u8 *arena;

	if (!arena) {
		u8 *p = mmap(NULL, ARENA_BYTES + 2 * 4096, PROT_NONE,
			     MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

		if (p == MAP_FAILED ||
		    mprotect(p + 4096, ARENA_BYTES, PROT_READ | PROT_WRITE))
			abort();
		arena = p + 4096;
	}
	memset(arena, 0, ARENA_BYTES);
	s->arena = arena;
	m->ptr = arena;
	m->bytes = ARENA_BYTES;
	m->next = s->th->mems;
	s->th->mems = m;
	s->th->dm = arena;
	s->th->dm_bytes = ARENA_BYTES;
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
	u32 n = min_t(u32, s->nobjs, MAX_OBJS);

	return n ? s->objs[which % n].number : 0;
}

/* One of the kind that command @opcode is about, if there is one; 0x80: any. */
static u32 some_of(struct state *s, u8 opcode, u8 which)
{
	u32 i, n = min_t(u32, s->nobjs, MAX_OBJS);

	for (i = 0; i < n && !(which & 0x80); i++) {
		const struct obj *o = &s->objs[(which + i) % n];

		if (o->kind == (opcode & 0xf0))
			return o->number;
	}
	return some_obj(s, which);
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
		req->hdr.obj = cpu_to_le32(
			some_of(s, req->hdr.opcode, ornic_fuzz_u8(in)));
	if (how & 2) {
		req->create_cq.mem.addr = cpu_to_le64(addr);
		req->create_cq.mem.npages = cpu_to_le32(16 - (how >> 4));
		req->create_cq.mem.page_shift = 12;
		req->create_cq.mem.levels &= 3;
	}
	if (how & 2 && req->hdr.opcode == ORNIC_CMD_CREATE_MKEY &&
	    req->create_mkey.flags & ORNIC_MKEY_DM)
		req->create_mkey.mem.addr = cpu_to_le64((how >> 4) * 4096ull);
	if (how & 4 && req->hdr.opcode == ORNIC_CMD_CREATE_QP) {
		req->create_qp.send_cqn = cpu_to_le32(
			some_of(s, ORNIC_CMD_CREATE_CQ, ornic_fuzz_u8(in)));
		req->create_qp.recv_cqn = cpu_to_le32(
			some_of(s, ORNIC_CMD_CREATE_CQ, ornic_fuzz_u8(in)));
		if (req->create_qp.flags & ORNIC_QP_SRQ)
			req->create_qp.srqn = cpu_to_le32(some_of(
				s, ORNIC_CMD_CREATE_SRQ, ornic_fuzz_u8(in)));
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
	    rsp->hdr.status > ORNIC_EXISTS)
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

static bool is_create(u8 opcode)
{
	return (opcode & 0xf0 && !(opcode & 15)) ||
	       opcode == ORNIC_CMD_CREATE_MW;
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
	/* Whoever runs the device may change what the command reads. */
	if (req.hdr.opcode == ORNIC_CMD_QUERY_PKEY)
		ornic_engine_pkey_set(s->th->eng, le32_to_cpu(req.hdr.obj),
				      le16_to_cpu(req.hdr.id));
	if (!rsp.hdr.status && is_create(req.hdr.opcode))
		s->objs[s->nobjs++ % MAX_OBJS] =
			(struct obj){ le32_to_cpu(rsp.hdr.obj),
				      req.hdr.opcode & 0xf0 };
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
		req.hdr.obj = cpu_to_le32(s->objs[i].number);
		req.modify_qp.mask = cpu_to_le32(ORNIC_QPM_STATE);
		req.modify_qp.state = ORNIC_QPS_ERR;
		ornic_th_cmd(s->th, &req, &rsp);
	}
}

static u8 make_log(u64 *rng, u32 from, u32 to)
{
	return from + ornic_fuzz_random(rng, to - from + 1);
}

static void make_qp(struct ornic_req_create_qp *c, u64 *rng)
{
	static const u8 types[] = { ORNIC_QPT_RC, ORNIC_QPT_UC, ORNIC_QPT_UD };

	c->pdn = cpu_to_le32(1);
	c->qp_type = types[ornic_fuzz_random(rng, ARRAY_SIZE(types))];
	c->has_sq = ornic_fuzz_random(rng, 2);
	c->has_rq = ornic_fuzz_random(rng, 4) > 0;
	c->sq_log_depth = make_log(rng, 0, 6);
	c->sq_log_stride = make_log(rng, 6, 10);
	c->rq_log_depth = make_log(rng, 0, 8);
	c->rq_log_stride = make_log(rng, 5, 10);
	c->sq_max_sge = ornic_fuzz_random(rng, 4);
	c->rq_max_sge = ornic_fuzz_random(rng, ORNIC_MAX_SGE + 1);
	if (!c->has_rq && ornic_fuzz_random(rng, 2))
		c->flags = ORNIC_QP_SRQ;
}

/* The fields of @req that matter for success. */
static void make_request(union ornic_req *req, u64 *rng)
{
	switch (req->hdr.opcode) {
	case ORNIC_CMD_CREATE_CQ:
	case ORNIC_CMD_RESIZE_CQ:
		req->create_cq.log_depth = make_log(rng, 0, 10);
		break;
	case ORNIC_CMD_CREATE_QP:
		make_qp(&req->create_qp, rng);
		break;
	case ORNIC_CMD_MODIFY_QP:
		req->modify_qp.mask = cpu_to_le32(
			ORNIC_QPM_STATE |
			(ornic_fuzz_random(rng, 2) ?
				 ornic_fuzz_random(rng, ORNIC_QPM_ALL + 2) :
				 0));
		req->modify_qp.state = ornic_fuzz_random(rng, 7);
		if (ornic_fuzz_random(rng, 4))
			req->modify_qp.qkey_ece = cpu_to_le32(
				ornic_fuzz_random(rng, 2) * ORNIC_ECE_OFFER);
		else
			req->modify_qp.qkey_ece = cpu_to_le32(ornic_fuzz_random(
				rng, 2 * ORNIC_RATE_LIMIT_MAX));
		break;
	case ORNIC_CMD_CREATE_MKEY:
		req->create_mkey.length = cpu_to_le64(
			ornic_fuzz_random(rng, 1 << make_log(rng, 4, 16)));
		req->create_mkey.pdn = cpu_to_le32(1);
		req->create_mkey.access =
			ornic_fuzz_random(rng, ORNIC_ACCESS_MASK + 1);
		if (ornic_fuzz_random(rng, 2)) {
			req->create_mkey.flags = ORNIC_MKEY_DM;
			req->create_mkey.mem.levels = 0;
			req->create_mkey.mem.addr = cpu_to_le64(
				ornic_fuzz_random(rng, 2 * ARENA_BYTES));
		}
		if (ornic_fuzz_random(rng, 4))
			break;
		req->create_mkey.flags |= ORNIC_MKEY_OFFSET;
		req->create_mkey.offset =
			cpu_to_le64(ornic_fuzz_random(rng, 2 * ARENA_BYTES));
		break;
	case ORNIC_CMD_CREATE_MW:
		req->create_mw.pdn = cpu_to_le32(1);
		req->create_mw.type = 1 + ornic_fuzz_random(rng, 2);
		break;
	case ORNIC_CMD_CREATE_SRQ:
		req->create_srq.pdn = cpu_to_le32(1);
		req->create_srq.log_depth = make_log(rng, 0, 8);
		req->create_srq.log_stride = make_log(rng, 5, 10);
		req->create_srq.max_sge =
			ornic_fuzz_random(rng, ORNIC_MAX_SGE + 1);
		break;
	}
}

/* What one_command() reads: numbers and memory that patch() makes right. */
static void make_step(u8 *p, const u8 *head, u64 *rng)
{
	u8 op = ornic_fuzz_random(rng, ARRAY_SIZE(opcodes));
	u8 page = ornic_fuzz_random(rng, 16) << 4, kind = opcodes[op] & 15;
	union ornic_req req;
	u32 i;

	memset(&req, 0, sizeof(req));
	req.hdr.opcode = opcodes[op];
	make_request(&req, rng);
	if (!(page & 0x10))
		req.create_cq.mem.levels = ornic_fuzz_random(rng, 4);
	*p++ = op | 0x40;
	memcpy(p, &req, sizeof(req));
	p += sizeof(req);
	*p++ = page | 6 | (kind ? 1 : 0);
	for (i = 0; i < 4; i++)
		*p++ = ornic_fuzz_random(rng, 128);
}

size_t LLVMFuzzerCustomMutator(u8 *data, size_t size, size_t max,
			       unsigned int seed)
{
	static const struct ornic_fuzz_format format = { 0, SLOT, make_step };

	return ornic_fuzz_mutate(&format, data, size, max, seed);
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
	struct ornic_th_mem mem = { .raw = NULL };
	u32 i;

	map_arena(&s, &mem);
	fill_arena(s.arena);
	for (i = 0; i < MAX_COMMANDS && in.left; i++) {
		struct ornic_fuzz_in one = ornic_fuzz_step(&in, SLOT);

		one_command(&s, &one);
		if (s.nobjs)
			ornic_engine_kick(s.th->eng, some_obj(&s, i), 100000);
	}
	end_qps(&s);
	for (i = 0; i < 10000 && ornic_th_run(s.th); i++)
		while ((f = ornic_th_pull(s.th)) != NULL)
			ornic_th_put(s.th, f);
	s.th->mems = mem.next;
	if (ornic_th_destroy(s.th))
		abort();
	ornic_snap_put();
	return 0;
}
