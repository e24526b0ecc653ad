// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* Keys for the fuzzers, and memory that must not change. */
#include <stdio.h>

#include "objects.h"

#define PAGE 4096u
#define IOVA 0x7f3400000000ull
#define OFF0 0x123u
#define FRMR_PAGES 8u
#define FRMR_USED 5u
#define SEGMENTS 5u
#define FRMR_BYTES (FRMR_USED * PAGE - OFF0 - 7)
#define WINDOW_AT 1000u
#define WINDOW_BYTES 5000u
#define WINDOW2_AT 7000u
#define WINDOW2_BYTES 3000u
#define TREE_PAGES 6u
#define DM_PAGES 4u
#define DM_RUN_PAGES 2u
#define REMOTE                                                  \
	(ORNIC_ACCESS_REMOTE_WRITE | ORNIC_ACCESS_REMOTE_READ | \
	 ORNIC_ACCESS_REMOTE_ATOMIC | ORNIC_ACCESS_FLUSH_GLOBAL)

/*
 * libFuzzer learns what is compared. It must not learn these, or it writes
 * them where a peer may write and finds them in a response.
 */
#define UNSEEN noinline __attribute__((no_sanitize("coverage")))

static const u8 secret[8] = { 0x9d, 0x3f, 0x5c, 0x1b, 0xe7, 0xa8, 0x62, 0x41 };

static void check(bool ok, const char *what)
{
	if (ok)
		return;
	fprintf(stderr, "fuzz: %s\n", what);
	abort();
}

/* The word again and again; the other row is what a peer may read. */
static const u8 *pattern(const struct ornic_fuzz_canary *c, u32 off)
{
	static u8 rows[2][PAGE + sizeof(secret)];
	u32 i;

	if (!rows[0][0])
		for (i = 0; i < sizeof(rows[0]); i++) {
			rows[0][i] = secret[i & 7];
			rows[1][i] = secret[i & 7] ^ 0x55;
		}
	return rows[c->readable] + (((uintptr_t)c->ptr + off) & 7);
}

static void canary_fill(const struct ornic_fuzz_canary *c)
{
	u32 off, n;

	for (off = 0; off < c->len; off += n) {
		n = min_t(u32, c->len - off, PAGE);
		memcpy(c->ptr + off, pattern(c, off), n);
	}
}

static bool canary_intact(const struct ornic_fuzz_canary *c)
{
	u32 off, n;

	for (off = 0; off < c->len; off += n) {
		n = min_t(u32, c->len - off, PAGE);
		if (memcmp(c->ptr + off, pattern(c, off), n) != 0)
			return false;
	}
	return true;
}

static void guard(struct ornic_fuzz_objs *o, u8 *ptr, u32 len, bool readable)
{
	struct ornic_fuzz_canary *c = &o->canary[o->ncanaries];

	if (!len)
		return;
	check(o->ncanaries < ORNIC_FUZZ_CANARIES, "canaries");
	*c = (struct ornic_fuzz_canary){ ptr, len, readable };
	o->ncanaries++;
	canary_fill(c);
}

/* A part of an MR, page by page. */
static void guard_part(struct ornic_fuzz_objs *o, const struct ornic_th_mr *mr,
		       u32 off, u32 len, bool readable)
{
	while (len) {
		u32 run;
		u8 *p = ornic_th_mr_at(mr, off, &run);

		run = min_t(u32, run, len);
		guard(o, p, run, readable);
		off += run;
		len -= run;
	}
}

/* What its pages have before and after an MR. */
static void guard_edges(struct ornic_fuzz_objs *o, const struct ornic_th_mr *mr)
{
	u32 end = (mr->off0 + mr->length) & (PAGE - 1), run;
	u8 *first = ornic_th_mr_at(mr, 0, &run);

	guard(o, first - mr->off0, mr->off0, false);
	if (end)
		guard(o, ornic_th_mr_at(mr, mr->length - 1, &run) + 1,
		      PAGE - end, false);
}

static void know(struct ornic_fuzz_objs *o, enum ornic_fuzz_key_kind kind,
		 u32 key, u64 iova, u32 length)
{
	o->key[kind] = (struct ornic_fuzz_key){ key, iova, length };
}

static void make_mr(struct ornic_fuzz_objs *o, enum ornic_fuzz_key_kind kind,
		    struct ornic_th_mr *mr, u8 levels, u32 length, u8 access)
{
	check(!ornic_th_mr_init(o->th, mr, length, OFF0 + kind, levels, access),
	      "MR");
	guard_edges(o, mr);
	know(o, kind, mr->key, mr->iova, length);
}

/* MRs that a peer may use in part or not at all. */
static void make_forbidden(struct ornic_fuzz_objs *o)
{
	u32 pdn = o->th->pdn;
	struct ornic_th_mr mr;

	make_mr(o, ORNIC_FUZZ_KEY_READ_ONLY, &mr, 1, 5000,
		ORNIC_ACCESS_REMOTE_READ);
	guard_part(o, &mr, 0, mr.length, true);
	make_mr(o, ORNIC_FUZZ_KEY_LOCAL, &mr, 1, 3000,
		ORNIC_ACCESS_LOCAL_WRITE);
	if (!o->hostile)
		guard_part(o, &mr, 0, mr.length, false);
	make_mr(o, ORNIC_FUZZ_KEY_GONE, &mr, 0, 5000, ORNIC_ACCESS_MASK);
	guard_part(o, &mr, 0, mr.length, false);
	check(!ornic_th_destroy_obj(o->th, ORNIC_CMD_DESTROY_MKEY, mr.key),
	      "destroy");
	o->th->pdn = pdn + 1;
	make_mr(o, ORNIC_FUZZ_KEY_OTHER_PD, &mr, 0, 5000, ORNIC_ACCESS_MASK);
	o->th->pdn = pdn;
	guard_part(o, &mr, 0, mr.length, false);
}

static u64 dma(const void *p)
{
	return (uintptr_t)p;
}

static u32 create_mkey(struct ornic_fuzz_objs *o,
		       struct ornic_req_create_mkey *c)
{
	union ornic_req req = { .create_mkey = *c };
	union ornic_rsp rsp;

	req.hdr.opcode = ORNIC_CMD_CREATE_MKEY;
	req.create_mkey.pdn = cpu_to_le32(o->th->pdn);
	check(!ornic_th_cmd(o->th, &req, &rsp), "CREATE_MKEY");
	return le32_to_cpu(rsp.hdr.obj);
}

/*
 * Pages in reverse, named by a list that is named by a list; from an offset on that
 * the addresses do not tell.
 */
static void make_tree(struct ornic_fuzz_objs *o)
{
	u8 *mem = ornic_th_alloc(o->th, TREE_PAGES * PAGE);
	__le64 *list = (__le64 *)ornic_th_alloc(o->th, PAGE);
	__le64 *root = (__le64 *)ornic_th_alloc(o->th, PAGE);
	struct ornic_req_create_mkey c = {
		.mem.addr = cpu_to_le64(dma(root)),
		.mem.npages = cpu_to_le32(TREE_PAGES),
		.mem.page_shift = ORNIC_PAGE_SHIFT,
		.mem.levels = 2,
		.iova = cpu_to_le64(IOVA),
		.length = cpu_to_le64(TREE_PAGES * PAGE - OFF0 - 9),
		.access = ORNIC_ACCESS_MASK,
		.flags = ORNIC_MKEY_OFFSET,
		.offset = cpu_to_le64(OFF0),
	};
	u32 i;

	check(mem && list && root, "memory");
	root[0] = cpu_to_le64(dma(list));
	for (i = 0; i < TREE_PAGES; i++)
		list[i] = cpu_to_le64(dma(mem + (TREE_PAGES - 1 - i) * PAGE));
	know(o, ORNIC_FUZZ_KEY_TREE, create_mkey(o, &c), IOVA,
	     TREE_PAGES * PAGE - OFF0 - 9);
	guard(o, mem + (TREE_PAGES - 1) * PAGE, OFF0, false);
	guard(o, mem + PAGE - 9, 9, false);
}

/* In the middle of device memory. */
static void make_dm(struct ornic_fuzz_objs *o)
{
	u8 *mem = ornic_th_alloc(o->th, DM_PAGES * PAGE);
	u32 length = DM_RUN_PAGES * PAGE - OFF0 - 9;
	struct ornic_req_create_mkey c = {
		.mem.addr = cpu_to_le64(PAGE),
		.mem.npages = cpu_to_le32(DM_RUN_PAGES),
		.mem.page_shift = ORNIC_PAGE_SHIFT,
		.iova = cpu_to_le64(IOVA),
		.length = cpu_to_le64(length),
		.access = ORNIC_ACCESS_MASK,
		.flags = ORNIC_MKEY_DM | ORNIC_MKEY_OFFSET,
		.offset = cpu_to_le64(OFF0),
	};

	check(mem, "memory");
	o->th->dm = mem;
	o->th->dm_bytes = DM_PAGES * PAGE;
	know(o, ORNIC_FUZZ_KEY_DM, create_mkey(o, &c), IOVA, length);
	guard(o, mem, PAGE + OFF0, false);
	guard(o, mem + PAGE + OFF0 + length,
	      (DM_PAGES - 1) * PAGE - OFF0 - length, false);
}

/* Users change the low byte with each use. */
static u32 next_key(u32 key)
{
	return (key & ~0xffu) | ((key + 1) & 0xff);
}

static void run_local(struct ornic_th_qp *qp, struct ornic_th_wr *wr)
{
	struct ornic_cqe cqe;

	wr->flags = ORNIC_WQE_SIGNALED;
	check(!ornic_th_post_send(qp, wr), "post");
	ornic_th_run(qp->th);
	check(ornic_th_poll(qp->scq, &cqe) && !cqe.status, "local operation");
}

static void make_frmr(struct ornic_fuzz_objs *o)
{
	u8 *mem = ornic_th_alloc(o->th, FRMR_PAGES * PAGE);
	__le64 *list = (__le64 *)ornic_th_alloc(o->th, PAGE);
	struct ornic_req_create_mkey c = {
		.mem.npages = cpu_to_le32(FRMR_PAGES),
		.flags = ORNIC_MKEY_FAST,
	};
	struct ornic_th_wr wr = {
		.opcode = ORNIC_WQE_REG_MR,
		.raddr = IOVA + OFF0,
		.bind_length = FRMR_BYTES,
		.bind_access = ORNIC_ACCESS_MASK,
		.reg_list = dma(list),
		.reg_npages = FRMR_USED,
		.reg_shift = ORNIC_PAGE_SHIFT,
	};
	u32 i;

	check(mem && list, "memory");
	for (i = 0; i < FRMR_PAGES; i++)
		list[i] = cpu_to_le64(dma(mem + (FRMR_PAGES - 1 - i) * PAGE));
	wr.rkey = next_key(create_mkey(o, &c));
	run_local(&o->helper, &wr);
	know(o, ORNIC_FUZZ_KEY_FRMR, wr.rkey, IOVA + OFF0, FRMR_BYTES);
	o->frmr_list = list;
	if (o->hostile)
		return;
	guard(o, mem, (FRMR_PAGES - FRMR_USED) * PAGE, false);
	guard(o, mem + (FRMR_PAGES - FRMR_USED + 1) * PAGE - 7, 7, false);
	guard(o, mem + (FRMR_PAGES - 1) * PAGE, OFF0, false);
}

/* Segments from the end of @mem to its start, with bytes of nobody's beside each. */
static u32 make_segments(struct ornic_fuzz_objs *o, u8 *mem)
{
	static const u32 len[SEGMENTS] = { 3000, 1, 700, 8, 1291 };
	u8 *end = mem + 2 * PAGE;
	u32 i, bytes = 0, gap;

	for (i = 0; i < SEGMENTS; i++) {
		gap = 7 + i;
		if (!o->hostile)
			guard(o, end - gap, gap, false);
		end -= gap + len[i];
		o->segments[i].addr = cpu_to_le64(dma(end));
		o->segments[i].length = cpu_to_le64(len[i]);
		bytes += len[i];
	}
	if (!o->hostile)
		guard(o, mem, (u32)(end - mem), false);
	return bytes;
}

static void make_gaps(struct ornic_fuzz_objs *o)
{
	u8 *mem = ornic_th_alloc(o->th, 2 * PAGE);
	struct ornic_req_create_mkey c = {
		.mem.npages = cpu_to_le32(SEGMENTS),
		.flags = ORNIC_MKEY_FAST | ORNIC_MKEY_SG_GAPS,
	};
	struct ornic_th_wr wr = {
		.opcode = ORNIC_WQE_REG_MR,
		.raddr = IOVA,
		.bind_access = ORNIC_ACCESS_MASK,
		.reg_npages = SEGMENTS,
	};

	o->segments = (struct ornic_list_segment *)ornic_th_alloc(o->th, PAGE);
	check(mem && o->segments, "memory");
	wr.bind_length = make_segments(o, mem);
	wr.reg_list = dma(o->segments);
	wr.rkey = next_key(create_mkey(o, &c));
	run_local(&o->helper, &wr);
	know(o, ORNIC_FUZZ_KEY_GAPS, wr.rkey, IOVA, wr.bind_length);
}

static void bind(struct ornic_fuzz_objs *o, struct ornic_th_qp *qp, u8 type,
		 enum ornic_fuzz_key_kind kind)
{
	bool second = kind == ORNIC_FUZZ_KEY_WINDOW2;
	struct ornic_th_wr wr = {
		.opcode = ORNIC_WQE_BIND_MW,
		.raddr = o->window_mr.iova + (second ? WINDOW2_AT : WINDOW_AT),
		.bind_length = second ? WINDOW2_BYTES : WINDOW_BYTES,
		.bind_lkey = o->window_mr.key,
		.bind_access = REMOTE,
	};

	check(!ornic_th_mw(o->th, type, &wr.rkey), "window");
	wr.rkey = next_key(wr.rkey);
	run_local(qp, &wr);
	know(o, kind, wr.rkey, wr.raddr, wr.bind_length);
}

static void make_windows(struct ornic_fuzz_objs *o)
{
	struct ornic_th_mr *mr = &o->window_mr;

	check(!ornic_th_mr_init(o->th, mr, 12000, OFF0, 1,
				ORNIC_ACCESS_LOCAL_WRITE |
					ORNIC_ACCESS_MW_BIND),
	      "MR");
	guard_edges(o, mr);
	if (!o->hostile) {
		guard_part(o, mr, 0, WINDOW_AT, false);
		guard_part(o, mr, WINDOW_AT + WINDOW_BYTES,
			   WINDOW2_AT - WINDOW_AT - WINDOW_BYTES, false);
		guard_part(o, mr, WINDOW2_AT + WINDOW2_BYTES,
			   mr->length - WINDOW2_AT - WINDOW2_BYTES, false);
	}
	bind(o, &o->helper, ORNIC_MW_TYPE_1, ORNIC_FUZZ_KEY_WINDOW);
}

static void make_queues(struct ornic_fuzz_objs *o, struct ornic_th_cq *scq,
			struct ornic_th_cq *rcq)
{
	struct ornic_th_qpinit init = {
		.type = ORNIC_QPT_RC,
		.flags = ORNIC_QP_FAST_REG,
	};

	check(!ornic_th_srq_init(o->th, &o->srq, 4, 4), "SRQ");
	check(!ornic_th_xsrq_init(o->th, &o->xsrq, 4, ORNIC_FUZZ_XRCD, rcq),
	      "XRC SRQ");
	check(!ornic_th_qp_init(o->th, &o->helper, &init, scq, rcq), "QP");
	check(!ornic_th_connect(&o->helper, &o->helper, ORNIC_TH_IPV4),
	      "connect");
}

void ornic_fuzz_objs_init(struct ornic_fuzz_objs *o, struct ornic_th *th,
			  struct ornic_th_cq *scq, struct ornic_th_cq *rcq,
			  const struct ornic_th_mr *all, bool hostile)
{
	struct ornic_th_mr mr;
	struct ornic_fuzz_canary fill;

	memset(o, 0, sizeof(*o));
	o->th = th;
	o->hostile = hostile;
	make_queues(o, scq, rcq);
	guard_edges(o, all);
	know(o, ORNIC_FUZZ_KEY_ALL, all->key, all->iova, all->length);
	make_mr(o, ORNIC_FUZZ_KEY_FLAT, &o->flat, 0, 9000, ORNIC_ACCESS_MASK);
	make_tree(o);
	make_frmr(o);
	make_gaps(o);
	make_windows(o);
	/* A peer may change it, but not see what was there. */
	make_mr(o, ORNIC_FUZZ_KEY_WRITE_ONLY, &mr, 0, 4096,
		ORNIC_ACCESS_LOCAL_WRITE | ORNIC_ACCESS_REMOTE_WRITE);
	fill = (struct ornic_fuzz_canary){ mr.buf, mr.length, hostile };
	canary_fill(&fill);
	make_forbidden(o);
	make_dm(o);
}

void ornic_fuzz_objs_bind(struct ornic_fuzz_objs *o, struct ornic_th_qp *qp)
{
	bind(o, qp, ORNIC_MW_TYPE_2, ORNIC_FUZZ_KEY_WINDOW2);
}

static void remake(struct ornic_th_qp *qp, const struct ornic_th_qpinit *init,
		   struct ornic_th_cq *scq, struct ornic_th_cq *rcq)
{
	struct ornic_th *th = qp->th;
	bool ini = init->type == ORNIC_QPT_XRC_INI;
	bool tgt = init->type == ORNIC_QPT_XRC_TGT;

	check(!ornic_th_qp_fini(qp), "DESTROY_QP");
	check(!ornic_th_qp_init(th, qp, init, tgt ? NULL : scq,
				ini || tgt ? NULL : rcq),
	      "CREATE_QP");
	/* Few and slow retries: virtual time is free, turns are not. */
	qp->conn.timeout = 12;
	qp->conn.retry_cnt = 3;
	qp->conn.rnr_retry = 3;
	qp->conn.min_rnr_timer = 20;
}

void ornic_fuzz_shape(struct ornic_fuzz_objs *o, struct ornic_fixture *fix,
		      u8 type, bool share, u8 flags, enum ornic_th_gid gid)
{
	struct ornic_th_qpinit init = {
		.type = type,
		.flags = flags,
		.xrcdn = ORNIC_FUZZ_XRCD,
	};
	bool pair = fix->b.th, xrc = type == ORNIC_QPT_XRC_TGT;

	o->shared = xrc || (share && type != ORNIC_QPT_UC);
	if (pair && xrc)
		init.type = ORNIC_QPT_XRC_INI;
	if (!pair && o->shared && !xrc)
		init.srq = &o->srq;
	remake(&fix->a, &init, &fix->ascq, &fix->arcq);
	if (pair) {
		fix->a.srqn = o->xsrq.srqn;
		init.type = type;
		if (o->shared && !xrc)
			init.srq = &o->srq;
		remake(&fix->b, &init, &fix->bscq, &fix->brcq);
	}
	check(!ornic_th_connect(&fix->a, pair ? &fix->b : NULL, gid),
	      "connect");
	if (!pair || type != ORNIC_QPT_UD)
		return;
	check(!ornic_th_ah(fix->a.th, &fix->a.conn.av, &o->ah[0]), "AH");
	check(!ornic_th_ah(fix->b.th, &fix->b.conn.av, &o->ah[1]), "AH");
}

void ornic_fuzz_objs_recv(struct ornic_fuzz_objs *o, struct ornic_th_qp *qp,
			  u64 wr_id, const struct ornic_lsge *sge, u32 nsge)
{
	if (qp->type == ORNIC_QPT_XRC_TGT)
		ornic_th_post_srq(&o->xsrq, wr_id, sge, nsge);
	else if (o->shared)
		ornic_th_post_srq(&o->srq, wr_id, sge, nsge);
	else
		ornic_th_post_recv(qp, wr_id, sge, nsge);
}

void ornic_fuzz_objs_wr(struct ornic_fuzz_objs *o, struct ornic_fuzz_in *in,
			struct ornic_th_wr *wr)
{
	bool frmr = wr->opcode == ORNIC_WQE_REG_MR;
	u8 how = ornic_fuzz_u8(in);
	bool gaps = frmr && how & 0x40;

	if (wr->opcode == ORNIC_WQE_BIND_MW || frmr) {
		wr->raddr =
			(frmr ? IOVA : o->window_mr.iova) + ornic_fuzz_u16(in);
		wr->rkey = o->key[gaps ? ORNIC_FUZZ_KEY_GAPS :
				  frmr ? ORNIC_FUZZ_KEY_FRMR :
					 ORNIC_FUZZ_KEY_WINDOW + (how >> 7)]
				   .key;
	}
	wr->bind_length = ornic_fuzz_u16(in);
	wr->bind_lkey = o->window_mr.key;
	wr->bind_access = how & 1 ? ornic_fuzz_u8(in) : REMOTE;
	wr->reg_list = gaps ? dma(o->segments) : dma(o->frmr_list);
	wr->reg_npages = ornic_fuzz_u8(in) & 15;
	wr->reg_shift = gaps ? 0 : ORNIC_PAGE_SHIFT;
	wr->flush_type = ORNIC_FLUSH_GLOBAL;
	wr->flush_level = how >> 1 & 1;
	if (how & 2)
		wr->imm = cpu_to_be32(
			o->key[(how >> 2 & 15) % ORNIC_FUZZ_KEYS].key);
}

void ornic_fuzz_objs_forbid_window2(struct ornic_fuzz_objs *o)
{
	if (o->window2_gone)
		return;
	o->window2_gone = true;
	guard_part(o, &o->window_mr, WINDOW2_AT, WINDOW2_BYTES, false);
}

static void forbid_window(struct ornic_fuzz_objs *o)
{
	static const enum ornic_fuzz_key_kind kinds[] = {
		ORNIC_FUZZ_KEY_WINDOW,
		ORNIC_FUZZ_KEY_WINDOW2,
	};
	u32 i;

	for (i = 0; i < ARRAY_SIZE(kinds); i++)
		if (o->key[kinds[i]].key)
			check(!ornic_th_destroy_obj(o->th, ORNIC_CMD_DESTROY_MW,
						    o->key[kinds[i]].key),
			      "DESTROY_MW");
	guard_part(o, &o->window_mr, WINDOW_AT, WINDOW_BYTES, false);
	ornic_fuzz_objs_forbid_window2(o);
	o->window_mr.th = NULL;
}

void ornic_fuzz_objs_revoke(struct ornic_fuzz_objs *o, bool window)
{
	if (window && o->window_mr.th)
		forbid_window(o);
	if (window || !o->flat.th)
		return;
	check(!ornic_th_destroy_obj(o->th, ORNIC_CMD_DESTROY_MKEY, o->flat.key),
	      "DESTROY_MKEY");
	guard_part(o, &o->flat, 0, o->flat.length, false);
	o->flat.th = NULL;
}

void ornic_fuzz_pick(const struct ornic_fuzz_objs *o, struct ornic_fuzz_in *in,
		     u64 *va, u32 *key)
{
	u8 how = ornic_fuzz_u8(in);
	const struct ornic_fuzz_key *k = &o->key[(how & 15) % ORNIC_FUZZ_KEYS];
	u32 off = ornic_fuzz_u16(in);

	if (how & 0x10)
		off &= 0x38; /* aligned, for atomics */
	else if (how & 0x20)
		off = k->length - (off & 0x3ff);
	*va = k->iova + (s32)off - (how & 0x40 ? 64 : 0);
	*key = k->key + (how & 0x80 ? 1 : 0);
	if (how >= 0xf0)
		*key = ORNIC_NULL_LKEY;
}

void ornic_fuzz_objs_check(const struct ornic_fuzz_objs *o)
{
	u32 i;

	for (i = 0; i < o->ncanaries; i++)
		check(canary_intact(&o->canary[i]),
		      "memory was written without a right");
}

UNSEEN static bool has_secret(const u8 *p, u32 len)
{
	const u8 *end = p + len;
	u32 k;

	while ((p = memchr(p, secret[0], end - p)) != NULL) {
		for (k = 1; k < 8 && p + k < end && p[k] == secret[k]; k++)
			;
		if (k == 8)
			return true;
		p++;
	}
	return false;
}

void ornic_fuzz_frame_check(const struct ornic_th_frame *f)
{
	check(!has_secret(f->data, f->len),
	      "memory was sent that nobody may read");
}
