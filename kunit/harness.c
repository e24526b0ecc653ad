// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* The engine's host of the harness: memory, time, frames, events. */
#include "harness.h"

#define GUARD_BYTES 64
#define GUARD 0xa5

/**
 * ornic_th_random - next number of a generator (splitmix64)
 * @state: its state; any value is a seed
 *
 * Return: 64 random bits, the same for the same seed everywhere.
 */
u64 ornic_th_random(u64 *state)
{
	u64 z = *state += 0x9e3779b97f4a7c15ull;

	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ull;
	z = (z ^ (z >> 27)) * 0x94d049bb133111ebull;
	return z ^ (z >> 31);
}

static void *op_dma(void *host, u64 addr, u64 len)
{
	struct ornic_th *th = host;
	struct ornic_th_mem *m;

	for (m = th->mems; m; m = m->next) {
		u64 base = (u64)(uintptr_t)m->ptr;

		if (addr >= base && addr - base < m->bytes &&
		    len <= m->bytes - (addr - base))
			return m->ptr + (addr - base);
	}
	return NULL;
}

static void *op_dm(void *host, u64 at, u64 len)
{
	struct ornic_th *th = host;

	if (at > th->dm_bytes || len > th->dm_bytes - at)
		return NULL;
	return th->dm + at;
}

static u32 op_tx_room(void *host, void *host_qp)
{
	struct ornic_th *th = host;
	struct ornic_th_hqp *hqp = host_qp;

	if (!hqp->in_flight && th->tx_window)
		return ORNIC_TX_IDLE;
	if (hqp->in_flight < th->tx_window)
		return th->tx_window - hqp->in_flight;
	hqp->stalled = true;
	return 0;
}

/* A frame that the engine described wrongly must not be made. */
static bool tx_sane(const struct ornic_tx *tx)
{
	if (tx->raw)
		return tx->hdr_len <= ORNIC_TX_HDR_MAX &&
		       tx->l3_offset <= tx->hdr_len &&
		       tx->body_len == tx->payload_len;
	return tx->hdr_len <= ORNIC_TX_HDR_MAX && tx->payload_len <= 4096 &&
	       tx->body_len == ALIGN(tx->payload_len, 4) + ORNIC_ICRC_LEN;
}

/* What a frame has no room for is longer than the MTU. */
static bool is_too_long(const struct ornic_th *th, const struct ornic_tx *tx)
{
	u32 len = tx->hdr_len + tx->body_len;

	return len > ORNIC_TH_FRAME_BYTES || (th->largest && len > th->largest);
}

static void meanwhile(struct ornic_th *th)
{
	if (th->meanwhile)
		th->meanwhile(th);
}

static struct ornic_th_frame *make_frame(struct ornic_th *th)
{
	struct ornic_th_frame *f = NULL;

	if (th->nframes < ORNIC_TH_FRAMES)
		f = ornic_alloc_atomic(sizeof(*f));
	if (f)
		th->frames[th->nframes++] = f;
	return f;
}

/* One that is new comes last: most runs need few. */
static struct ornic_th_frame *take_frame(struct ornic_th *th)
{
	struct ornic_th_frame *f = th->free;

	if (!f)
		return make_frame(th);
	th->free = f->next;
	return f;
}

static void put_frame(struct ornic_th *th, struct ornic_th_frame *f)
{
	f->next = th->free;
	th->free = f;
}

/**
 * ornic_th_make_frames - so many frames need no memory later
 * @th: the sender
 * @n: at most ORNIC_TH_FRAMES
 *
 * Return: 0 or -ENOMEM.
 */
int ornic_th_make_frames(struct ornic_th *th, u32 n)
{
	struct ornic_th_frame *f;

	while (th->nframes < n) {
		f = make_frame(th);
		if (!f)
			return -ENOMEM;
		put_frame(th, f);
	}
	return 0;
}

static int op_tx_frame(void *host, struct ornic_tx *tx)
{
	struct ornic_th *th = host;
	struct ornic_th_frame *f;

	if (!tx_sane(tx))
		return -EINVAL;
	if (is_too_long(th, tx))
		return -EMSGSIZE;
	if (th->frame_fail) {
		th->frame_fail--;
		return -ENOMEM;
	}
	f = take_frame(th);
	if (!f) {
		th->lost++;
		return -ENOMEM;
	}
	meanwhile(th);
	tx->frame = f;
	tx->hdr = f->data;
	tx->body = f->data + tx->hdr_len;
	return 0;
}

static int op_xmit(void *host, const struct ornic_tx *tx)
{
	struct ornic_th *th = host;
	struct ornic_th_hqp *hqp = tx->host_qp;
	struct ornic_th_frame *f = tx->frame;

	meanwhile(th);
	f->next = NULL;
	if (th->on_xmit)
		th->on_xmit(th);
	if (th->xmit_fail) {
		th->xmit_fail--;
		put_frame(th, f);
		return th->xmit_err ?: -EIO;
	}
	f->len = tx->hdr_len + tx->body_len;
	f->qpn = hqp->qpn;
	f->when = 0;
	f->sl = tx->sl;
	hqp->in_flight++;
	*th->tx_tail = f;
	th->tx_tail = &f->next;
	return 0;
}

static void op_tx_drop(void *host, const struct ornic_tx *tx)
{
	put_frame(host, tx->frame);
}

static bool op_is_own(void *host, const u8 *mac)
{
	struct ornic_th *th = host;

	return !memcmp(mac, th->mac, sizeof(th->mac));
}

static void op_raw_wanted(void *host, bool wanted)
{
	struct ornic_th *th = host;

	th->raw_wanted = wanted;
	if (th->on_raw_wanted)
		th->on_raw_wanted(th);
}

static void op_relax(void *host)
{
	struct ornic_th *th = host;

	th->relaxed++;
}

static void op_deadline(void *host, void *host_qp, u64 when)
{
	struct ornic_th_hqp *hqp = host_qp;

	hqp->deadline = when;
}

static void op_resched(void *host, void *host_qp)
{
	struct ornic_th_hqp *hqp = host_qp;

	hqp->resched = true;
}

static void op_event(void *host, const struct ornic_eqe *eqe)
{
	struct ornic_th *th = host;

	/* Only CQs have a vector, and page faults a queue. */
	if (eqe->type != ORNIC_EVENT_COMP &&
	    eqe->type != ORNIC_EVENT_PAGE_FAULT && eqe->vector)
		th->misfits++;
	th->events[th->nevents++ % ORNIC_TH_EVENTS] = *eqe;
	if (eqe->type < ORNIC_TH_EVENT_TYPES)
		th->event_count[eqe->type]++;
}

static u64 op_now(void *host)
{
	struct ornic_th *th = host;

	return th->now;
}

static u32 op_random(void *host)
{
	struct ornic_th *th = host;

	return th->not_random ? 0 : (u32)ornic_th_random(&th->rng);
}

static int op_qp_init(void *host, void *host_qp, u32 qpn)
{
	struct ornic_th *th = host;
	struct ornic_th_hqp *hqp = host_qp;

	if (th->qp_init_err)
		return th->qp_init_err;
	hqp->qpn = qpn;
	hqp->next = th->hqps;
	th->hqps = hqp;
	return 0;
}

static void op_qp_fini(void *host, void *host_qp)
{
	struct ornic_th *th = host;
	struct ornic_th_hqp **p;

	for (p = &th->hqps; *p; p = &(*p)->next) {
		if (*p == host_qp) {
			*p = (*p)->next;
			return;
		}
	}
}

static void op_cq_init(void *host, void *host_cq, u32 cqn)
{
	struct ornic_th *th = host;
	struct ornic_th_hcq *hcq = host_cq;

	hcq->cqn = cqn;
	hcq->next = th->hcqs;
	th->hcqs = hcq;
}

static void op_cq_fini(void *host, void *host_cq)
{
	struct ornic_th *th = host;
	struct ornic_th_hcq **p;

	for (p = &th->hcqs; *p; p = &(*p)->next) {
		if (*p == host_cq) {
			*p = (*p)->next;
			return;
		}
	}
}

static void op_cq_deadline(void *host, void *host_cq, u64 when)
{
	struct ornic_th_hcq *hcq = host_cq;

	hcq->deadline = when;
}

static struct ornic_engine *op_peer_engine(void *host, const u8 *mac)
{
	struct ornic_th *th = host;

	if (!th->peer || memcmp(mac, th->peer->mac, sizeof(th->peer->mac)))
		return NULL;
	return th->peer->eng;
}

static struct ornic_engine *op_direct(void *host, const u8 *mac, const void *ip,
				      bool ipv6, u16 vlan, u32 mtu)
{
	struct ornic_th *th = host;

	if (!th->direct ||
	    (th->direct_odds && !(ornic_th_random(&th->rng) % th->direct_odds)))
		return NULL;
	return th->direct->eng;
}

static void op_trace(void *host, enum ornic_trace what, u32 qpn, u32 code,
		     u32 a, u32 b)
{
	struct ornic_th *th = host;

	th->trace_count[what]++;
}

static const struct ornic_engine_ops th_ops = {
	.dma = op_dma,
	.run = op_dma,
	.dm = op_dm,
	.tx_room = op_tx_room,
	.tx_frame = op_tx_frame,
	.xmit = op_xmit,
	.tx_drop = op_tx_drop,
	.is_own = op_is_own,
	.raw_wanted = op_raw_wanted,
	.rx_keep = ornic_th_rx_keep,
	.rx_free = ornic_th_rx_free,
	.relax = op_relax,
	.deadline = op_deadline,
	.resched = op_resched,
	.event = op_event,
	.now = op_now,
	.random = op_random,
	.qp_init = op_qp_init,
	.qp_fini = op_qp_fini,
	.cq_init = op_cq_init,
	.cq_fini = op_cq_fini,
	.cq_deadline = op_cq_deadline,
	.host_cq_size = sizeof(struct ornic_th_hcq),
	.peer_engine = op_peer_engine,
	.direct = op_direct,
	.trace = op_trace,
	.paging = true,
	.host_qp_size = sizeof(struct ornic_th_hqp),
	.num_vectors = 2,
};

/**
 * ornic_th_alloc - DMA memory, zeroed, page aligned, between guards
 * @th: its host
 * @bytes: size
 *
 * Return: the memory or NULL.
 */
u8 *ornic_th_alloc(struct ornic_th *th, u64 bytes)
{
	struct ornic_th_mem *m = ornic_zalloc(sizeof(*m));

	if (!m)
		return NULL;
	m->raw_bytes = bytes + 4096 + 2 * GUARD_BYTES;
	m->raw = ornic_vzalloc(m->raw_bytes);
	if (!m->raw) {
		ornic_free(m);
		return NULL;
	}
	m->ptr = (u8 *)ALIGN((uintptr_t)m->raw + GUARD_BYTES, 4096);
	m->bytes = bytes;
	memset(m->ptr - GUARD_BYTES, GUARD, GUARD_BYTES);
	memset(m->ptr + bytes, GUARD, GUARD_BYTES);
	m->next = th->mems;
	th->mems = m;
	return m->ptr;
}

static bool guards_intact(const struct ornic_th_mem *m)
{
	u32 i;

	for (i = 0; i < GUARD_BYTES; i++)
		if (m->ptr[-1 - (int)i] != GUARD ||
		    m->ptr[m->bytes + i] != GUARD)
			return false;
	return true;
}

static u32 mem_free(struct ornic_th_mem *m)
{
	u32 broken = !guards_intact(m);

	ornic_vfree(m->raw);
	ornic_free(m);
	return broken;
}

/**
 * ornic_th_free - give DMA memory back
 * @th: its host
 * @ptr: from ornic_th_alloc; its guards are checked, and a broken one stays
 *	registered so that ornic_th_destroy reports it
 */
void ornic_th_free(struct ornic_th *th, u8 *ptr)
{
	struct ornic_th_mem **p;

	for (p = &th->mems; *p; p = &(*p)->next) {
		struct ornic_th_mem *m = *p;

		if (m->ptr != ptr || !guards_intact(m))
			continue;
		*p = m->next;
		mem_free(m);
		return;
	}
}

static void set_gid(struct ornic_th *th, enum ornic_th_gid which)
{
	u16 vlan = which == ORNIC_TH_VLAN ? ORNIC_TH_VLAN_ID : ORNIC_VLAN_NONE;
	union ornic_req req;
	union ornic_rsp rsp;

	memset(&req, 0, sizeof(req));
	req.hdr.opcode = ORNIC_CMD_SET_GID;
	req.hdr.obj = cpu_to_le32(which);
	ornic_th_gid_bytes(th->index, which, req.set_gid.gid);
	memcpy(req.set_gid.smac, th->mac, 6);
	req.set_gid.vlan = cpu_to_le16(vlan);
	req.set_gid.valid = 1;
	if (which == ORNIC_TH_V1)
		req.set_gid.type = ORNIC_GID_ROCE_V1;
	ornic_th_cmd(th, &req, &rsp);
}

static void set_port(struct ornic_th *th)
{
	union ornic_req req;
	union ornic_rsp rsp;

	memset(&req, 0, sizeof(req));
	req.hdr.opcode = ORNIC_CMD_SET_PORT;
	req.set_port.mtu = cpu_to_le32(4096);
	req.set_port.up = 1;
	ornic_th_cmd(th, &req, &rsp);
}

/**
 * ornic_th_create - an engine on a new host
 * @seed: of its randomness
 * @index: 1 to 250, its number on the wire
 *
 * The port is up at MTU 4096 and the GIDs of enum ornic_th_gid are set.
 *
 * Return: the harness, or NULL when out of memory.
 */
struct ornic_th *ornic_th_create(u64 seed, u8 index)
{
	struct ornic_th *th = ornic_zalloc(sizeof(*th));
	u32 i;

	if (!th)
		return NULL;
	th->rng = seed;
	th->index = index;
	th->pdn = ORNIC_TH_PD;
	th->now = 1000000;
	th->for_host = true;
	th->tx_window = 64;
	th->budget = 1 << 20;
	th->mac[0] = 2;
	th->mac[5] = index;
	th->tx_tail = &th->tx_head;
	th->eng = ornic_engine_create(&th_ops, th, th->mac);
	if (!th->eng) {
		ornic_free(th);
		return NULL;
	}
	ornic_engine_set_roce_v1(th->eng, true);
	set_port(th);
	for (i = 0; i < ORNIC_TH_GIDS; i++)
		set_gid(th, i);
	return th;
}

/**
 * ornic_th_destroy - the engine with all that it still holds, then the host
 * @th: the harness; NULL is fine
 *
 * Return: how many pieces of memory the engine wrote beside, or did not give back, and
 * how many events it raised with what they do not have; 0 is right.
 */
u32 ornic_th_destroy(struct ornic_th *th)
{
	u32 broken;

	if (!th)
		return 0;
	ornic_engine_destroy(th->eng);
	broken = th->misfits + th->lent;
	while (th->mems) {
		struct ornic_th_mem *m = th->mems;

		th->mems = m->next;
		broken += mem_free(m);
	}
	while (th->nframes)
		ornic_free(th->frames[--th->nframes]);
	ornic_free(th);
	return broken;
}

/**
 * ornic_th_pull - take the oldest frame that was sent
 * @th: the sender
 *
 * Return: the frame, to be given back with ornic_th_put, or NULL.
 */
struct ornic_th_frame *ornic_th_pull(struct ornic_th *th)
{
	struct ornic_th_frame *f = th->tx_head;

	if (!f)
		return NULL;
	th->tx_head = f->next;
	if (!th->tx_head)
		th->tx_tail = &th->tx_head;
	f->next = NULL;
	return f;
}

/**
 * ornic_th_put - the frame has left: its QP may send another
 * @th: the sender
 * @frame: from ornic_th_pull
 */
void ornic_th_put(struct ornic_th *th, struct ornic_th_frame *frame)
{
	struct ornic_th_hqp *hqp;

	for (hqp = th->hqps; hqp; hqp = hqp->next) {
		if (hqp->qpn != frame->qpn || !hqp->in_flight)
			continue;
		hqp->in_flight--;
		if (hqp->stalled) {
			hqp->stalled = false;
			hqp->resched = true;
		}
	}
	put_frame(th, frame);
}

/**
 * ornic_th_run - serve the QPs that asked to be run, once each
 * @th: the harness
 *
 * Return: whether there was one.
 */
bool ornic_th_run(struct ornic_th *th)
{
	struct ornic_th_hqp *hqp;
	bool any = false;

	for (hqp = th->hqps; hqp; hqp = hqp->next) {
		if (!hqp->resched)
			continue;
		any = true;
		hqp->resched = false;
		if (ornic_engine_run(th->eng, hqp->qpn, th->budget) ==
		    ORNIC_RUN_MORE)
			hqp->resched = true;
	}
	return any;
}

/**
 * ornic_th_deadline - the next timer
 * @th: the harness
 *
 * Return: when it fires in ns, 0 if none is set.
 */
u64 ornic_th_deadline(struct ornic_th *th)
{
	struct ornic_th_hqp *hqp;
	u64 when = 0;

	for (hqp = th->hqps; hqp; hqp = hqp->next)
		if (hqp->deadline && (!when || hqp->deadline < when))
			when = hqp->deadline;
	return when;
}

/**
 * ornic_th_expire - fire the timers that are due at harness->now
 * @th: the harness
 *
 * Return: whether one was.
 */
bool ornic_th_expire(struct ornic_th *th)
{
	struct ornic_th_hqp *hqp;
	bool any = false;

	for (hqp = th->hqps; hqp; hqp = hqp->next) {
		if (!hqp->deadline || hqp->deadline > th->now)
			continue;
		any = true;
		hqp->deadline = 0;
		ornic_engine_expire(th->eng, hqp->qpn);
	}
	return any;
}

/**
 * ornic_th_cq_expire - let the timers of CQs fire that are due
 * @th: its host
 *
 * Return: whether there was one.
 */
bool ornic_th_cq_expire(struct ornic_th *th)
{
	struct ornic_th_hcq *hcq;
	bool any = false;

	for (hcq = th->hcqs; hcq; hcq = hcq->next) {
		if (!hcq->deadline || hcq->deadline > th->now)
			continue;
		hcq->deadline = 0;
		ornic_engine_cq_expire(th->eng, hcq->cqn);
		any = true;
	}
	return any;
}
