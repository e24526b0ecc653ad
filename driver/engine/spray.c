// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Spraying: each packet of a connection takes the next of several UDP source ports, so
 * that switches that choose among equal paths by a hash of them use all. The first port
 * is that of the QP itself. Only packets to a peer that keeps and places what overtakes
 * are sprayed.
 *
 * What is sent again was lost on the path of its last packet, and the last ACK on its
 * own if the requester repeats what it was for. A path on which half of the packets are
 * lost, and more than on others, is left; from time to time a few packets try it again.
 * One path always stays, as there is none to compare it with.
 */
#include "proto.h"

#define NONE 0xff
/* Ports that RoCEv2 takes its source ports from. */
#define FIRST_PORT 0xc000u
#define PORT_MASK 0x3fffu
/* A multiple of it is added to a port, modulo their number. */
#define PORT_STEP 0x391u
/* Fewer lost packets than these are no sign. */
#define FEW_LOST 4
/*
 * After so many packets, or ns in which each path had FEW_LOST, the counts of all paths
 * are halved. A slow connection would forget each loss before the next one otherwise.
 */
#define HALVE_AFTER 1024
#define HALVE_NS 8000000ull
/* A trial is of so many packets, and takes so long, ns. */
#define TRIAL_PACKETS 4
#define TRIAL_NS 20000000ull
/* The first one comes after this time; each one that fails doubles it, so often. */
#define AGAIN_NS 50000000ull
#define MOST_FAILS 7

int ornic_engine_spray_set(struct ornic_engine *eng, u32 paths)
{
	if (paths > ORNIC_SPRAY_MOST)
		return -EINVAL;
	WRITE_ONCE(eng->dev.spray, paths);
	return 0;
}

u32 ornic_engine_spray_get(const struct ornic_engine *eng)
{
	return READ_ONCE(eng->dev.spray);
}

static void forget_dir(struct ornic_spray_dir *dir)
{
	memset(dir, 0, sizeof(*dir));
	memset(dir->of, NONE, sizeof(dir->of));
	dir->ack = NONE;
}

void ornic_spray_start(struct ornic_qp *qp)
{
	struct ornic_spray *spray = qp->spray;
	u32 port = le16_to_cpu(qp->path.av.udp_sport), i;

	/* RoCE v1 has no port that a switch could see. */
	spray->n = qp->path.v1 ? 1 : READ_ONCE(qp->dev->spray);
	spray->port[0] = (u16)port;
	for (i = 1; i < spray->n; i++)
		spray->port[i] = (u16)(FIRST_PORT |
				       ((port + i * PORT_STEP) & PORT_MASK));
	forget_dir(&spray->requests);
	forget_dir(&spray->responses);
}

/* ---- What becomes of packets ------------------------------------------------------ */

/*
 * Is so much lost on @path that it is left? Half of what it was given, and twice as much
 * as on the best of the others: who asks for a whole READ again blames all paths alike.
 */
static bool is_bad(const struct ornic_spray *spray,
		   const struct ornic_spray_dir *dir,
		   const struct ornic_spray_path *path)
{
	const struct ornic_spray_path *other;
	u32 i;

	if (path->down || path->lost < FEW_LOST || 2 * path->lost < path->sent)
		return false;
	for (i = 0; i < spray->n; i++) {
		other = &dir->path[i];
		if (other != path && !other->down && other->sent &&
		    (u64)path->lost * other->sent >
			    2ull * other->lost * path->sent)
			return true;
	}
	return false;
}

static void leave_path(struct ornic_spray_path *path, u64 now)
{
	path->down = true;
	path->trial = 0;
	path->sent = 0;
	path->lost = 0;
	path->again = now + (AGAIN_NS << path->fails);
	if (path->fails < MOST_FAILS)
		path->fails++;
}

/* A packet was lost on the path @of, if that is one. */
static void note_lost(const struct ornic_spray *spray,
		      struct ornic_spray_dir *dir, u8 of, u64 now)
{
	struct ornic_spray_path *path;

	if (of >= spray->n)
		return;
	path = &dir->path[of];
	path->lost++;
	if (is_bad(spray, dir, path))
		leave_path(path, now);
}

static void halve_counts(struct ornic_spray_dir *dir, u64 now)
{
	struct ornic_spray_path *path;
	u32 i;

	dir->total = 0;
	dir->halved_at = now;
	for (i = 0; i < ORNIC_SPRAY_MOST; i++) {
		path = &dir->path[i];
		/* Of a trial each packet counts. */
		if (path->down)
			continue;
		path->sent /= 2;
		path->lost /= 2;
	}
}

/* ---- Which path ------------------------------------------------------------------- */

static void begin_trial(struct ornic_spray_path *path, u64 now)
{
	path->trial = TRIAL_PACKETS;
	path->again = now + TRIAL_NS;
	path->sent = 0;
	path->lost = 0;
}

/* A path that is down, and whose time has come: a trial begins, or is over. */
static void judge_path(struct ornic_spray_path *path, u64 now)
{
	/* No trial was under way, or few packets were sent since it began. */
	if (path->trial || !path->sent) {
		begin_trial(path, now);
		return;
	}
	if (2 * path->lost >= path->sent) {
		leave_path(path, now);
		return;
	}
	path->down = false;
	path->fails = 0;
}

/* May the next packet take @path? */
static bool is_open(struct ornic_spray_path *path, u64 now)
{
	if (likely(!path->down))
		return true;
	if (now >= path->again)
		judge_path(path, now);
	if (!path->down)
		return true;
	if (!path->trial)
		return false;
	path->trial--;
	return true;
}

static u32 next_path(const struct ornic_spray *spray,
		     struct ornic_spray_dir *dir, u64 now)
{
	u32 i;

	for (i = 0; i < spray->n; i++) {
		dir->at = dir->at + 1 < spray->n ? dir->at + 1 : 0;
		if (is_open(&dir->path[dir->at], now))
			break;
	}
	return dir->at;
}

/* A packet has taken the path @dir->at, one of @paths. */
static void count_packet(struct ornic_spray_dir *dir, u32 paths, u64 now)
{
	dir->path[dir->at].sent++;
	if (++dir->total >= HALVE_AFTER ||
	    (dir->total >= FEW_LOST * paths &&
	     ornic_since(now, dir->halved_at) >= HALVE_NS))
		halve_counts(dir, now);
}

/*
 * Was the packet of @psn sent before? Others have moved the PSNs on since the last one of
 * this direction, perhaps by half of all.
 */
static bool goes_again(const struct ornic_spray_dir *dir, u32 psn)
{
	return dir->used &&
	       (u32)ornic_psn_diff(dir->high, psn) - 1 < ORNIC_SPRAY_PSNS;
}

/* The packet of @psn, and of @npkts PSNs from there on, takes the path @dir->at. */
static void note_sent(struct ornic_spray_dir *dir, u32 paths, u32 psn,
		      u32 npkts, u64 now)
{
	u32 end = ornic_psn_add(psn, npkts), n;

	dir->of[psn % ORNIC_SPRAY_PSNS] = (u8)dir->at;
	/* Responses have these: the requester does not know their paths. */
	for (n = 1; n < npkts && n < ORNIC_SPRAY_PSNS; n++)
		dir->of[(psn + n) % ORNIC_SPRAY_PSNS] = NONE;
	if (!goes_again(dir, psn) || ornic_psn_diff(end, dir->high) > 0)
		dir->high = end;
	dir->used = true;
	count_packet(dir, paths, now);
}

/* PSNs that the packet stands for; 0: the requester shows if it was lost. */
static u32 psns_of(const struct ornic_qp *qp, const struct ornic_txinfo *info)
{
	switch (info->opcode & ~ORNIC_TRANSPORT_MASK) {
	case ORNIC_OP_ACK:
		return 0;
	case ORNIC_OP_READ_REQUEST:
		return ornic_read_npkts(qp, info->dma_len);
	default:
		return 1;
	}
}

/* The direction, if the peer can bear it. */
static struct ornic_spray_dir *active_dir(struct ornic_qp *qp, bool request)
{
	u8 selective = qp->sq.selective;

	if (request)
		return selective == ORNIC_SELECTIVE_YES ||
				       ornic_selective_lacks_all(selective) ?
			       &qp->spray->requests :
			       NULL;
	return qp->rq.selective ? &qp->spray->responses : NULL;
}

/*
 * A peer that may keep nothing gets all in order, along one path: the next one each time
 * the oldest PSN goes, as the last one may be dead.
 */
static bool is_in_order(const struct ornic_qp *qp, bool request)
{
	return request && ornic_selective_lacks_all(qp->sq.selective);
}

const struct ornic_path *ornic_spray_path(const struct ornic_ctx *ctx,
					  struct ornic_qp *qp, bool request,
					  u32 psn, struct ornic_path *own)
{
	struct ornic_spray_dir *dir = active_dir(qp, request);
	u32 i;

	if (!dir)
		return &qp->path;
	if (is_in_order(qp, request) && psn != qp->sq.acked)
		i = dir->at;
	else
		i = next_path(qp->spray, dir, ctx->now);
	if (!i)
		return &qp->path;
	*own = qp->path;
	ornic_path_set_port(own, qp->spray->port[i]);
	return own;
}

void ornic_spray_sent(const struct ornic_ctx *ctx, struct ornic_qp *qp,
		      bool request, const struct ornic_txinfo *info)
{
	struct ornic_spray_dir *dir = active_dir(qp, request);
	u32 npkts = psns_of(qp, info), at = info->psn % ORNIC_SPRAY_PSNS;

	/* Where all goes again it is not known what was lost. */
	if (!dir || is_in_order(qp, request))
		return;
	if (!npkts) {
		dir->ack = (u8)dir->at;
		count_packet(dir, qp->spray->n, ctx->now);
		return;
	}
	if (goes_again(dir, info->psn))
		note_lost(qp->spray, dir, dir->of[at], ctx->now);
	note_sent(dir, qp->spray->n, info->psn, npkts, ctx->now);
}

void ornic_spray_unheard(const struct ornic_ctx *ctx, struct ornic_qp *qp)
{
	struct ornic_spray_dir *dir = active_dir(qp, false);

	if (!dir)
		return;
	note_lost(qp->spray, dir, dir->ack, ctx->now);
	dir->ack = NONE;
}
