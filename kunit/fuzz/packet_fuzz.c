// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Packets at a QP with work outstanding on both of its queues. The input is a
 * row of packets: bytes of a whole frame; or the RoCE part of one, put behind
 * headers of the right peer, sealed with a good ICRC, with QPN and PSN made
 * right unless the input asks for others.
 */
#include "fuzz.h"

#define MAX_PACKETS 24

static void outstanding_work(struct ornic_fixture *fix)
{
	u32 i;

	for (i = 0; i < 4; i++)
		ornic_fix_recv(&fix->a, &fix->am, i, i * 4096, 4096 - i * 1000);
	ornic_fix_post(&fix->a, &fix->am, &fix->bm, ORNIC_WQE_WRITE, 0, 0,
		       3000);
	ornic_fix_post(&fix->a, &fix->am, &fix->bm, ORNIC_WQE_READ, 0, 0, 5000);
	ornic_fix_post(&fix->a, &fix->am, &fix->bm, ORNIC_WQE_FAA, 0, 0, 8);
	ornic_fix_post(&fix->a, &fix->am, NULL, ORNIC_WQE_SEND, 0, 0, 10);
	ornic_fix_drain(fix);
}

static void aim(struct ornic_fixture *fix, u8 *bth, u8 how, s32 delta)
{
	u32 psn = how & 2 ? ornic_th_sq_psn(&fix->a) - 10 :
			    ornic_th_rq_psn(&fix->a);

	psn += delta;
	bth[5] = fix->a.qpn >> 16;
	bth[6] = fix->a.qpn >> 8;
	bth[7] = fix->a.qpn;
	bth[9] = psn >> 16;
	bth[10] = psn >> 8;
	bth[11] = psn;
}

/* Headers of a frame from the peer, taken from one that the engine makes. */
static u32 peer_headers(struct ornic_fixture *fix, u8 *frame, u32 roce)
{
	struct ornic_path path = { .hdr_len = 0 };
	struct ornic_gid src = { .vlan = ORNIC_VLAN_NONE, .valid = true };
	struct ornic_av back;
	u32 len;

	ornic_th_av(&back, fix->pair.a->index, ORNIC_TH_IPV4);
	memcpy(src.gid, fix->a.conn.av.dgid, 16);
	memcpy(src.smac, fix->a.conn.av.dmac, 6);
	if (ornic_path_init(&path, &src, &back))
		return 0;
	memcpy(frame, path.hdr, path.hdr_len);
	len = path.hdr_len - path.l3_offset + roce;
	frame[path.l3_offset + 2] = len >> 8;
	frame[path.l3_offset + 3] = len;
	len = path.hdr_len - path.l4_offset + roce;
	frame[path.l4_offset + 4] = len >> 8;
	frame[path.l4_offset + 5] = len;
	return path.hdr_len;
}

static void one_packet(struct ornic_fixture *fix, struct ornic_fuzz_in *in)
{
	u8 how = ornic_fuzz_u8(in);
	u32 want = how & 0x10 ? ornic_fuzz_u16(in) % 4200 : ornic_fuzz_u8(in);
	s32 delta = (s32)(u32)ornic_fuzz_u8(in) - 64;
	u32 hdr, len;
	u8 *exact;

	memset(fix->buf, 0, sizeof(fix->buf));
	if (how & 1) {
		len = ornic_fuzz_bytes(in, fix->buf, want % 4000);
	} else {
		want = max_t(u32, want % 3900, 16);
		hdr = peer_headers(fix, fix->buf, want);
		ornic_fuzz_bytes(in, fix->buf + hdr, min_t(u32, want, 80));
		if (!(how & 4))
			aim(fix, fix->buf + hdr, how, delta);
		len = hdr + want;
		if (!(how & 8))
			ornic_fuzz_seal(fix->buf, len);
	}
	exact = malloc(len ? len : 1);
	memcpy(exact, fix->buf, len);
	fix->pair.a->seg_bytes = how & 0x20 ? 1 + (how >> 6) * 40 : 0;
	ornic_th_rx(fix->pair.a, exact, len);
	free(exact);
}

int LLVMFuzzerTestOneInput(const u8 *data, size_t size)
{
	struct ornic_fuzz_in in = { data, size };
	u8 type = ORNIC_QPT_RC + ornic_fuzz_u8(&in) % 3;
	struct ornic_fixture *fix = ornic_fuzz_open(ORNIC_FIX_LONE, type);
	u32 i;

	outstanding_work(fix);
	for (i = 0; i < MAX_PACKETS && in.left; i++) {
		one_packet(fix, &in);
		if (!(i % 4))
			ornic_fix_drain(fix);
		ornic_fuzz_poll(fix);
	}
	ornic_fix_drain(fix);
	ornic_fuzz_rest(fix);
	ornic_fuzz_poll(fix);
	ornic_fuzz_close(fix);
	return 0;
}
