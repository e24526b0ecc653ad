// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* The wire of the harness: frames in and out, ideal links, made-up peers. */
#include "harness.h"

#define FIRST_PIECE 64
#define MAX_STEPS 200000

/**
 * ornic_th_parse - what the host's network stack does before the engine
 * @data: an Ethernet frame
 * @len: its length
 * @rx: out: the packet in one piece
 *
 * Return: 0, or -EINVAL for a frame that no stack would hand on.
 */
int ornic_th_parse(const void *data, u32 len, struct ornic_rx *rx)
{
	memset(rx, 0, sizeof(*rx));
	/* The tests damage headers, and leave the checksum as it is. */
	if (ornic_rx_from_frame(rx, data, len) == ORNIC_FRAME_OTHER || !rx->len)
		return -EINVAL;
	return 0;
}

static void split(struct ornic_rx *rx, u32 bytes)
{
	u8 *p = rx->seg[0].ptr;
	u32 left = rx->len;
	u32 n = 0;

	while (left) {
		u32 piece = n ? bytes : max_t(u32, bytes, FIRST_PIECE);

		if (piece > left || n == ORNIC_RX_SEGS - 1)
			piece = left;
		rx->seg[n].ptr = p;
		rx->seg[n++].len = piece;
		p += piece;
		left -= piece;
	}
	rx->nsegs = n;
}

/* Raw packet QPs come first. True if they keep the frame from the host. RCU section. */
static noinline bool rx_raw(struct ornic_th *th, const void *data, u32 len)
{
	u32 piece = th->seg_bytes ? max_t(u32, th->seg_bytes, len / 10) : len;
	struct ornic_frag seg[ORNIC_RX_SEGS];
	struct ornic_flow_hits hits;
	u32 at, n = 0;

	ornic_engine_find_frame(th->eng, data, min_t(u32, len, ORNIC_FLOW_HEAD),
				th->for_host, &hits);
	for (at = 0; at < len; at += piece, n++) {
		seg[n].ptr = (u8 *)data + at;
		seg[n].len = min_t(u32, piece, len - at);
	}
	ornic_engine_rx_frame(th->eng, &hits, seg, n);
	return hits.taken;
}

void *ornic_th_rx_keep(void *host, const struct ornic_rx *rx, u32 *bytes)
{
	struct ornic_th_loan *loan = rx->host_rx;
	struct ornic_th *th = host;

	loan->refs++;
	th->lent++;
	th->nlent++;
	*bytes = loan->bytes + th->lend_more;
	return loan;
}

static void loan_put(struct ornic_th_loan *loan)
{
	if (!--loan->refs)
		ornic_free(loan);
}

void ornic_th_rx_free(void *host, void *kept)
{
	struct ornic_th *th = host;

	th->lent--;
	loan_put(kept);
}

/* A copy of a frame; NULL: it stays where it is, and is not lent. */
static struct ornic_th_loan *loan_of(const struct ornic_th *th,
				     const void *data, u32 len)
{
	struct ornic_th_loan *loan = NULL;

	if (th->lends)
		loan = ornic_alloc_atomic(sizeof(*loan) + len);
	if (!loan)
		return NULL;
	loan->refs = 1;
	loan->bytes = len;
	memcpy(loan->data, data, len);
	return loan;
}

/* What @loan has, if there is one, is of exact size: sanitizers see who reads on. */
static void rx_host(struct ornic_th *th, const void *data, u32 len,
		    struct ornic_th_loan *loan)
{
	struct ornic_rx rx;

	if (ornic_th_parse(loan ? loan->data : data, len, &rx))
		return;
	if (th->seg_bytes && rx.len)
		split(&rx, th->seg_bytes);
	rx.busy_here = th->busy_here;
	rx.host_rx = loan;
	ornic_engine_rx(th->eng, &rx);
}

/**
 * ornic_th_rx - a frame arrives
 * @th: the receiver
 * @data: the frame
 * @len: its length
 */
void ornic_th_rx(struct ornic_th *th, const void *data, u32 len)
{
	struct ornic_th_loan *loan;
	bool taken;

	ornic_rcu_read_lock();
	taken = th->raw_wanted && rx_raw(th, data, len);
	ornic_rcu_read_unlock();
	if (taken)
		return;
	th->host_frames++;
	loan = loan_of(th, data, len);
	rx_host(th, data, len, loan);
	if (loan)
		loan_put(loan);
}

/**
 * ornic_th_decode - look into a frame
 * @frame: the frame
 * @rx: out, @pkt points into it
 * @pkt: out: its headers
 *
 * Return: whether it is a RoCE packet with a good ICRC.
 */
bool ornic_th_decode(const struct ornic_th_frame *frame, struct ornic_rx *rx,
		     struct ornic_pkt *pkt)
{
	return !ornic_th_parse(frame->data, frame->len, rx) &&
	       !ornic_pkt_parse(pkt, rx);
}

/**
 * ornic_th_build - make a frame
 * @tx: out: how it is laid out
 * @data: out: ORNIC_TH_FRAME_BYTES at most
 * @path: template of its headers
 * @info: what its RoCE headers say
 * @frag: its payload
 * @nfrags: pieces of it
 *
 * Return: its length.
 */
u32 ornic_th_build(struct ornic_tx *tx, u8 *data, const struct ornic_path *path,
		   const struct ornic_txinfo *info,
		   const struct ornic_frag *frag, u32 nfrags)
{
	u32 i, len = 0;

	for (i = 0; i < nfrags; i++)
		len += frag[i].len;
	memset(tx, 0, sizeof(*tx));
	ornic_tx_plan(tx, path, info->opcode, len);
	tx->hdr = data;
	tx->body = data + tx->hdr_len;
	ornic_tx_fill(tx, path, info, frag, nfrags);
	return tx->hdr_len + tx->body_len;
}

/**
 * ornic_th_inject - a packet from the peer of @qp, well formed
 * @qp: the receiver, which may have no peer at all
 * @info: its headers; @dest_qpn is filled in
 * @payload: its payload
 * @len: bytes of it
 *
 * Return: 0, -EINVAL or -ENOMEM.
 */
int ornic_th_inject(struct ornic_th_qp *qp, struct ornic_txinfo *info,
		    const void *payload, u32 len)
{
	const struct ornic_av *av = &qp->conn.av;
	struct ornic_th *th = qp->th;
	struct ornic_frag frag = { (void *)payload, len };
	struct ornic_path path;
	struct ornic_gid src;
	struct ornic_av back;
	struct ornic_tx tx;
	u8 *data;

	memset(&path, 0, sizeof(path));
	ornic_th_av(&back, th->index, av->sgid_index);
	memcpy(src.gid, av->dgid, 16);
	memcpy(src.smac, av->dmac, 6);
	src.vlan = av->sgid_index == ORNIC_TH_VLAN ? ORNIC_TH_VLAN_ID :
						     ORNIC_VLAN_NONE;
	src.valid = true;
	src.v1 = av->sgid_index == ORNIC_TH_V1;
	if (ornic_path_init(&path, &src, &back))
		return -EINVAL;
	if (th->marked)
		ornic_path_set_tclass(&path, ORNIC_ECN_CE);
	data = ornic_zalloc(ORNIC_TH_FRAME_BYTES);
	if (!data)
		return -ENOMEM;
	info->dest_qpn = qp->qpn;
	if (!info->pkey)
		info->pkey = ORNIC_DEFAULT_PKEY;
	ornic_th_rx(th, data,
		    ornic_th_build(&tx, data, &path, info, &frag, !!len));
	ornic_free(data);
	return 0;
}

/**
 * ornic_th_pair_init - two harnesses with a wire, or one for both ends
 * @pair: out
 * @seed: of their randomness
 * @loop: one harness
 *
 * Return: 0 or -ENOMEM.
 */
int ornic_th_pair_init(struct ornic_th_pair *pair, u64 seed, bool loop)
{
	memset(pair, 0, sizeof(*pair));
	pair->a = ornic_th_create(seed, 1);
	if (!pair->a)
		return -ENOMEM;
	pair->b = loop ? pair->a : ornic_th_create(seed + 1, 2);
	if (!pair->b) {
		ornic_th_destroy(pair->a);
		pair->a = NULL;
		return -ENOMEM;
	}
	return 0;
}

/**
 * ornic_th_pair_fini - destroy both
 * @pair: the pair, or zeroes
 *
 * Return: pieces of memory that were written beside or are still lent; 0 is right.
 */
u32 ornic_th_pair_fini(struct ornic_th_pair *pair)
{
	u32 broken = 0;

	if (pair->a) {
		pair->a->peer = NULL;
		pair->a->direct = NULL;
	}
	if (pair->b != pair->a)
		broken = ornic_th_destroy(pair->b);
	broken += ornic_th_destroy(pair->a);
	pair->a = NULL;
	pair->b = NULL;
	return broken;
}

/**
 * ornic_th_go_direct - let messages of RC go from memory to memory
 * @pair: two harnesses
 * @odds: packets go nevertheless one time in so many; 0 = never
 */
void ornic_th_go_direct(struct ornic_th_pair *pair, u32 odds)
{
	pair->a->direct = pair->b;
	pair->b->direct = pair->a;
	pair->a->direct_odds = odds;
	pair->b->direct_odds = odds;
	ornic_engine_set_direct(pair->a->eng, true);
	ornic_engine_set_direct(pair->b->eng, true);
}

/* ... and not any more. */
void ornic_th_go_by_packets(struct ornic_th_pair *pair)
{
	pair->a->direct = NULL;
	pair->b->direct = NULL;
}

static bool deliver_one(struct ornic_th_pair *pair, struct ornic_th *from)
{
	struct ornic_th *to = from == pair->a ? pair->b : pair->a;
	struct ornic_th_frame *f = ornic_th_pull(from);
	enum ornic_th_verdict verdict = ORNIC_TH_PASS;
	struct ornic_pkt pkt;
	struct ornic_rx rx;

	if (!f)
		return false;
	if (pair->filter && ornic_th_decode(f, &rx, &pkt))
		verdict = pair->filter(pair, from, f, &pkt);
	if (verdict == ORNIC_TH_PASS)
		ornic_th_rx(to, f->data, f->len);
	ornic_th_put(from, f);
	return true;
}

static bool step(struct ornic_th_pair *pair)
{
	bool any = ornic_th_run(pair->a);

	any |= deliver_one(pair, pair->a);
	if (pair->b == pair->a)
		return any;
	any |= ornic_th_run(pair->b);
	any |= deliver_one(pair, pair->b);
	return any;
}

/**
 * ornic_th_settle - let both work until neither has anything to do
 * @pair: the pair; time stands still
 *
 * Return: false when they do not come to rest.
 */
bool ornic_th_settle(struct ornic_th_pair *pair)
{
	u32 i;

	for (i = 0; i < MAX_STEPS; i++)
		if (!step(pair))
			return true;
	return false;
}

static u64 next_deadline(const struct ornic_th_pair *pair)
{
	u64 a = ornic_th_deadline(pair->a);
	u64 b = ornic_th_deadline(pair->b);

	return a && (!b || a < b) ? a : b;
}

static void set_time(struct ornic_th_pair *pair, u64 now)
{
	if (now <= pair->a->now)
		return;
	pair->a->now = now;
	pair->b->now = now;
}

/**
 * ornic_th_advance - let time pass, timers fire and work be done
 * @pair: the pair
 * @ns: how long
 *
 * Return: false when they do not come to rest.
 */
bool ornic_th_advance(struct ornic_th_pair *pair, u64 ns)
{
	u64 end = pair->a->now + ns;
	u32 i;

	for (i = 0; i < MAX_STEPS; i++) {
		u64 when;

		if (!ornic_th_settle(pair))
			return false;
		when = next_deadline(pair);
		if (!when || when > end) {
			set_time(pair, end);
			return true;
		}
		set_time(pair, when);
		ornic_th_expire(pair->a);
		if (pair->b != pair->a)
			ornic_th_expire(pair->b);
	}
	return false;
}

/**
 * ornic_th_conn_default - attributes that do for most cases
 * @conn: out
 * @type: enum ornic_qp_type
 *
 * PSNs near the wrap, path MTU 1024, all access, no lack of retries.
 */
void ornic_th_conn_default(struct ornic_th_conn *conn, u8 type)
{
	memset(conn, 0, sizeof(*conn));
	conn->sq_psn = 0xfffffe;
	conn->rq_psn = 0xfffffe;
	conn->qkey = 0x1234;
	conn->mtu = 3;
	conn->access = ORNIC_ACCESS_MASK;
	if (type == ORNIC_QPT_UC)
		conn->access = ORNIC_ACCESS_LOCAL_WRITE |
			       ORNIC_ACCESS_REMOTE_WRITE;
	conn->timeout = 10;
	conn->retry_cnt = 7;
	conn->rnr_retry = 7;
	conn->min_rnr_timer = 1;
	conn->max_rd_atomic = 4;
	conn->max_dest_rd_atomic = 4;
}

static int to_rts(struct ornic_th_qp *qp)
{
	int status = ornic_th_to(qp, ORNIC_QPS_INIT);

	if (!status)
		status = ornic_th_to(qp, ORNIC_QPS_RTR);
	if (!status)
		status = ornic_th_to(qp, ORNIC_QPS_RTS);
	return status;
}

/**
 * ornic_th_connect - bring two QPs from RESET to RTS, as peers
 * @a: one; its conn is used, with path and peer filled in
 * @b: the other; NULL connects @a to QP 0x123 of harness 9, which nobody is
 * @which: GIDs
 *
 * Return: enum ornic_status.
 */
int ornic_th_connect(struct ornic_th_qp *a, struct ornic_th_qp *b,
		     enum ornic_th_gid which)
{
	int status;

	ornic_th_av(&a->conn.av, b ? b->th->index : 9, which);
	a->conn.dest_qpn = b ? b->qpn : 0x123;
	if (b) {
		ornic_th_av(&b->conn.av, a->th->index, which);
		b->conn.dest_qpn = a->qpn;
		a->conn.rq_psn = b->conn.sq_psn;
		b->conn.rq_psn = a->conn.sq_psn;
	}
	status = to_rts(a);
	if (!status && b && b != a)
		status = to_rts(b);
	return status;
}
