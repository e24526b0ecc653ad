// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#include "loop_story.h"

static bool gids_fit(const struct ornic_fixture *fix, const u8 *src,
		     const u8 *dst, u32 len, u8 sgid_index)
{
	u8 a[16], b[16];

	ornic_th_gid_bytes(fix->a.th->index, sgid_index, a);
	ornic_th_gid_bytes(fix->b.th->index, sgid_index, b);
	return !memcmp(src, a + 16 - len, len) &&
	       !memcmp(dst, b + 16 - len, len);
}

/* The GRH of a datagram names its ends, which are others on another device. */
static void note_grh(const struct ornic_fixture *fix, struct ornic_note *n,
		     u32 off)
{
	bool ipv4 = n->flags & ORNIC_CQE_IPV4;
	u8 grh[ORNIC_GRH_LEN];
	u32 sum;

	ornic_th_mr_read(&fix->bm, off, grh, sizeof(grh));
	if (ipv4) {
		sum = grh[30] << 8 | grh[31];
		memset(grh + 30, 0, 2);
		n->ips_fit =
			sum == ornic_ipv4_checksum(grh + 20) &&
			gids_fit(fix, grh + 32, grh + 36, 4, n->sgid_index);
		memset(grh + 32, 0, 8);
	} else {
		n->ips_fit =
			gids_fit(fix, grh + 8, grh + 24, 16, n->sgid_index);
		memset(grh + 8, 0, 32);
	}
	n->grh = ornic_crc32(0, grh, sizeof(grh));
}

static void take_notes(const struct ornic_fixture *fix, struct ornic_story *s,
		       struct ornic_th_cq *cq, u8 where)
{
	struct ornic_cqe cqe;
	struct ornic_note *n;

	while (ornic_th_poll(cq, &cqe) && s->notes < ORNIC_STORY_NOTES) {
		n = &s->note[s->notes++];
		n->where = where;
		n->opcode = cqe.opcode;
		n->status = cqe.status;
		n->flags = cqe.flags & ~ORNIC_CQE_PHASE;
		n->index = le32_to_cpu(cqe.wqe_index);
		/* The key that a SEND invalidated has a random number. */
		if (!(cqe.flags & ORNIC_CQE_WITH_INV))
			n->imm = be32_to_cpu(cqe.imm);
		n->vlan = le16_to_cpu(cqe.vlan);
		n->sl = cqe.sl;
		n->sgid_index = cqe.sgid_index;
		n->from_a = le32_to_cpu(cqe.src_qpn) == fix->a.qpn;
		n->smac_of_a = !memcmp(cqe.smac, fix->a.th->mac, 6);
		if (!cqe.status)
			n->bytes = le32_to_cpu(cqe.byte_len);
		if (!cqe.status && cqe.flags & ORNIC_CQE_GRH)
			note_grh(fix, n, le64_to_cpu(cqe.wr_id));
	}
}

static u32 sum_memory(const struct ornic_th_mr *mr)
{
	u32 crc = 0, off = 0;

	while (off < mr->length) {
		u32 run;
		u8 *p = ornic_th_mr_at(mr, off, &run);

		run = min_t(u32, run, mr->length - off);
		crc = ornic_crc32(crc, p, run);
		off += run;
	}
	return crc;
}

static void tell(struct ornic_fixture *fix, struct ornic_story *s)
{
	u32 i;

	memset(s, 0, sizeof(*s));
	take_notes(fix, s, &fix->ascq, 0);
	take_notes(fix, s, &fix->arcq, 1);
	take_notes(fix, s, &fix->bscq, 2);
	take_notes(fix, s, &fix->brcq, 3);
	s->psn[0] = ornic_th_sq_psn(&fix->a);
	s->psn[1] = ornic_th_rq_psn(&fix->a);
	s->state[0] = ornic_th_state(&fix->a);
	s->state[1] = ornic_th_state(&fix->b);
	if (s->state[1] != 0xff) {
		s->psn[2] = ornic_th_sq_psn(&fix->b);
		s->psn[3] = ornic_th_rq_psn(&fix->b);
	}
	/* The GRH of a datagram names its sender, which is another one. */
	if (fix->a.type != ORNIC_QPT_UD) {
		s->memory[0] = sum_memory(&fix->am);
		s->memory[1] = sum_memory(&fix->bm);
	}
	for (i = 0; i < ORNIC_TH_EVENT_TYPES; i++) {
		s->events[i] = fix->pair.a->event_count[i];
		if (fix->pair.b != fix->pair.a)
			s->events[i] += fix->pair.b->event_count[i];
	}
}

static void play(struct kunit *test, const struct ornic_scene *scene,
		 enum ornic_fix_kind kind, struct ornic_story *s)
{
	struct ornic_th_qpinit init = { .type = scene->type };
	struct ornic_loop_test *lt = test->priv;
	struct ornic_fixture *fix = &lt->fix;

	KUNIT_ASSERT_EQ(test, ornic_fix_open(fix, kind, &init), 0);
	if (scene->prepare)
		KUNIT_ASSERT_EQ(test, scene->prepare(fix), 0);
	fix->a.conn.rnr_retry = scene->rnr_retry;
	fix->a.conn.retry_cnt = 1;
	fix->b.conn.max_dest_rd_atomic = scene->max_dest;
	KUNIT_ASSERT_EQ(test, ornic_fix_connect(fix), 0);
	ornic_fix_fill(&fix->am, 0, ORNIC_FIX_MR_BYTES, 1);
	ornic_fix_fill(&fix->bm, 0, ORNIC_FIX_MR_BYTES, 2);
	scene->act(fix);
	KUNIT_EXPECT_TRUE(test,
			  ornic_th_advance(&fix->pair, 2000 * ORNIC_TH_MS));
	tell(fix, s);
	KUNIT_EXPECT_GT(test, s->notes, 0);
	if (kind == ORNIC_FIX_LOOP || kind == ORNIC_FIX_PEER)
		KUNIT_EXPECT_EQ(test,
				ornic_engine_stat(fix->pair.a->eng,
						  ORNIC_STAT_TX_PACKETS),
				0);
	KUNIT_EXPECT_EQ(test, ornic_fix_close(fix), 0);
}

static void tell_note(struct kunit *test, const char *where,
		      const struct ornic_note *n)
{
	kunit_info(test, "%s: cq %u op %02x status %u flags %x index %u", where,
		   n->where, n->opcode, n->status, n->flags, n->index);
	kunit_info(test, "%s: bytes %u imm %x vlan %x sl %u gid %u grh %x",
		   where, n->bytes, n->imm, n->vlan, n->sl, n->sgid_index,
		   n->grh);
	kunit_info(test, "%s: QPN %d MAC %d IP %d of the sender", where,
		   n->from_a, n->smac_of_a, n->ips_fit);
}

static void compare_notes(struct kunit *test, const struct ornic_story *w,
			  const struct ornic_story *l)
{
	u32 i;

	KUNIT_EXPECT_EQ(test, w->notes, l->notes);
	for (i = 0; i < w->notes && i < l->notes; i++) {
		const struct ornic_note *a = &w->note[i], *b = &l->note[i];

		if (!memcmp(a, b, sizeof(*a)))
			continue;
		KUNIT_FAIL(test, "completion %u differs", i);
		tell_note(test, "wire", a);
		tell_note(test, "loop", b);
	}
}

static void compare(struct kunit *test, const struct ornic_story *w,
		    const struct ornic_story *l)
{
	u32 i;

	compare_notes(test, w, l);
	/* PSNs of an SQ in error mean nothing: IBTA 10.3.1.6. */
	for (i = 0; i < 4; i++)
		if (w->state[i / 2] != ORNIC_QPS_ERR)
			KUNIT_EXPECT_EQ_MSG(test, w->psn[i], l->psn[i],
					    "psn %u", i);
	for (i = 0; i < 2; i++) {
		KUNIT_EXPECT_EQ_MSG(test, w->state[i], l->state[i], "state %u",
				    i);
		KUNIT_EXPECT_EQ_MSG(test, w->memory[i], l->memory[i],
				    "memory %u", i);
	}
	for (i = 0; i < ORNIC_TH_EVENT_TYPES; i++)
		KUNIT_EXPECT_EQ_MSG(test, w->events[i], l->events[i],
				    "events of type %u", i);
}

static u32 successes(const struct ornic_story *s)
{
	u32 i, n = 0;

	for (i = 0; i < s->notes; i++)
		n += !s->note[i].where && !s->note[i].status;
	return n;
}

void ornic_scene_compare(struct kunit *test, const struct ornic_scene *scene)
{
	static const enum ornic_fix_kind others[] = {
		ORNIC_FIX_LOOP,
		ORNIC_FIX_PEER,
		ORNIC_FIX_DIRECT,
		ORNIC_FIX_TURNS,
	};
	struct ornic_loop_test *lt = test->priv;
	u32 i;

	play(test, scene, ORNIC_FIX_WIRE, &lt->told[0]);
	KUNIT_EXPECT_EQ(test, successes(&lt->told[0]), scene->good);
	for (i = 0; i < ARRAY_SIZE(others); i++) {
		play(test, scene, others[i], &lt->told[1]);
		compare(test, &lt->told[0], &lt->told[1]);
	}
}
