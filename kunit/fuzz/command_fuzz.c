// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Commands: any 64 bytes. The input may ask for the number of an object that
 * exists and for addresses of memory that does, or nothing would be made.
 */
#include "fuzz.h"

#define MAX_COMMANDS 48
#define ARENA_BYTES (16 * 4096u)
#define MAX_OBJS 16

struct state {
	struct ornic_th *th;
	u8 *arena;
	u32 objs[MAX_OBJS];
	u32 nobjs;
};

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
}

int LLVMFuzzerTestOneInput(const u8 *data, size_t size)
{
	struct ornic_fuzz_in in = { data, size };
	struct state s = { .th = ornic_th_create(1, 1) };
	struct ornic_th_frame *f;
	u32 i;

	if (!s.th)
		abort();
	s.arena = ornic_th_alloc(s.th, ARENA_BYTES);
	fill_arena(s.arena);
	for (i = 0; i < MAX_COMMANDS && in.left; i++) {
		one_command(&s, &in);
		if (s.nobjs)
			ornic_engine_kick(s.th->eng, some_obj(&s, i), 100000);
	}
	for (i = 0; i < 10000 && ornic_th_run(s.th); i++)
		while ((f = ornic_th_pull(s.th)) != NULL)
			ornic_th_put(s.th, f);
	if (ornic_th_destroy(s.th))
		abort();
	return 0;
}
