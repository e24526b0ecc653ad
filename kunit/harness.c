// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* The engine's host of the rig: memory, time, frames, events. */
#include "harness.h"

#define GUARD_BYTES 64
#define GUARD 0xa5

/**
 * ornic_rig_random - next number of a generator (splitmix64)
 * @state: its state; any value is a seed
 *
 * Return: 64 random bits, the same for the same seed everywhere.
 */
u64 ornic_rig_random(u64 *state)
{
	u64 z = *state += 0x9e3779b97f4a7c15ull;

	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ull;
	z = (z ^ (z >> 27)) * 0x94d049bb133111ebull;
	return z ^ (z >> 31);
}

static void *op_dma(void *host, u64 addr, u64 len)
{
	struct ornic_rig *rig = host;
	struct ornic_rig_mem *m;

	for (m = rig->mems; m; m = m->next) {
		u64 base = (u64)(uintptr_t)m->ptr;

		if (addr >= base && addr - base < m->bytes &&
		    len <= m->bytes - (addr - base))
			return m->ptr + (addr - base);
	}
	return NULL;
}

static u32 op_tx_room(void *host, void *host_qp)
{
	struct ornic_rig *rig = host;
	struct ornic_rig_hqp *hqp = host_qp;

	if (!hqp->in_flight && rig->tx_window)
		return ORNIC_TX_IDLE;
	if (hqp->in_flight < rig->tx_window)
		return rig->tx_window - hqp->in_flight;
	hqp->stalled = true;
	return 0;
}

/* A frame that the engine described wrongly must not be made. */
static bool tx_sane(const struct ornic_tx *tx)
{
	return tx->hdr_len <= ORNIC_TX_HDR_MAX && tx->payload_len <= 4096 &&
	       tx->body_len == ALIGN(tx->payload_len, 4) + ORNIC_ICRC_LEN;
}

static void meanwhile(struct ornic_rig *rig)
{
	if (rig->meanwhile)
		rig->meanwhile(rig);
}

static int op_tx_frame(void *host, struct ornic_tx *tx)
{
	struct ornic_rig *rig = host;
	struct ornic_rig_frame *f = rig->free;

	if (!tx_sane(tx))
		return -EINVAL;
	if (rig->largest && tx->hdr_len + tx->body_len > rig->largest)
		return -EMSGSIZE;
	if (rig->frame_fail) {
		rig->frame_fail--;
		return -ENOMEM;
	}
	if (!f) {
		rig->lost++;
		return -ENOMEM;
	}
	rig->free = f->next;
	meanwhile(rig);
	tx->frame = f;
	tx->hdr = f->data;
	tx->body = f->data + tx->hdr_len;
	return 0;
}

static int op_xmit(void *host, const struct ornic_tx *tx)
{
	struct ornic_rig *rig = host;
	struct ornic_rig_hqp *hqp = tx->host_qp;
	struct ornic_rig_frame *f = tx->frame;

	meanwhile(rig);
	f->next = NULL;
	if (rig->on_xmit)
		rig->on_xmit(rig);
	if (rig->xmit_fail) {
		rig->xmit_fail--;
		f->next = rig->free;
		rig->free = f;
		return rig->xmit_err ?: -EIO;
	}
	f->len = tx->hdr_len + tx->body_len;
	f->qpn = hqp->qpn;
	f->when = 0;
	hqp->in_flight++;
	*rig->tx_tail = f;
	rig->tx_tail = &f->next;
	return 0;
}

static void op_deadline(void *host, void *host_qp, u64 when)
{
	struct ornic_rig_hqp *hqp = host_qp;

	hqp->deadline = when;
}

static void op_resched(void *host, void *host_qp)
{
	struct ornic_rig_hqp *hqp = host_qp;

	hqp->resched = true;
}

static void op_event(void *host, const struct ornic_eqe *eqe)
{
	struct ornic_rig *rig = host;

	rig->events[rig->nevents++ % ORNIC_RIG_EVENTS] = *eqe;
	if (eqe->type < ORNIC_RIG_EVENT_TYPES)
		rig->event_count[eqe->type]++;
}

static u64 op_now(void *host)
{
	struct ornic_rig *rig = host;

	return rig->now;
}

static u32 op_random(void *host)
{
	struct ornic_rig *rig = host;

	return (u32)ornic_rig_random(&rig->rng);
}

static int op_qp_init(void *host, void *host_qp, u32 qpn)
{
	struct ornic_rig *rig = host;
	struct ornic_rig_hqp *hqp = host_qp;

	hqp->qpn = qpn;
	hqp->next = rig->hqps;
	rig->hqps = hqp;
	return 0;
}

static void op_qp_fini(void *host, void *host_qp)
{
	struct ornic_rig *rig = host;
	struct ornic_rig_hqp **p;

	for (p = &rig->hqps; *p; p = &(*p)->next) {
		if (*p == host_qp) {
			*p = (*p)->next;
			return;
		}
	}
}

static void op_cq_init(void *host, void *host_cq, u32 cqn)
{
	struct ornic_rig *rig = host;
	struct ornic_rig_hcq *hcq = host_cq;

	hcq->cqn = cqn;
	hcq->next = rig->hcqs;
	rig->hcqs = hcq;
}

static void op_cq_fini(void *host, void *host_cq)
{
	struct ornic_rig *rig = host;
	struct ornic_rig_hcq **p;

	for (p = &rig->hcqs; *p; p = &(*p)->next) {
		if (*p == host_cq) {
			*p = (*p)->next;
			return;
		}
	}
}

static void op_cq_deadline(void *host, void *host_cq, u64 when)
{
	struct ornic_rig_hcq *hcq = host_cq;

	hcq->deadline = when;
}

static struct ornic_engine *op_neighbour(void *host, const u8 *mac)
{
	struct ornic_rig *rig = host;

	if (!rig->near || memcmp(mac, rig->near->mac, sizeof(rig->near->mac)))
		return NULL;
	return rig->near->eng;
}

static void op_trace(void *host, enum ornic_trace what, u32 qpn, u32 code,
		     u32 a, u32 b)
{
	struct ornic_rig *rig = host;

	rig->trace_count[what]++;
}

static const struct ornic_engine_ops rig_ops = {
	.dma = op_dma,
	.tx_room = op_tx_room,
	.tx_frame = op_tx_frame,
	.xmit = op_xmit,
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
	.host_cq_size = sizeof(struct ornic_rig_hcq),
	.neighbour = op_neighbour,
	.trace = op_trace,
	.host_qp_size = sizeof(struct ornic_rig_hqp),
	.num_vectors = 2,
};

/**
 * ornic_rig_alloc - DMA memory, zeroed, page aligned, between guards
 * @rig: its host
 * @bytes: size
 *
 * Return: the memory or NULL.
 */
u8 *ornic_rig_alloc(struct ornic_rig *rig, u64 bytes)
{
	struct ornic_rig_mem *m = ornic_zalloc(sizeof(*m));

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
	m->next = rig->mems;
	rig->mems = m;
	return m->ptr;
}

static bool guards_intact(const struct ornic_rig_mem *m)
{
	u32 i;

	for (i = 0; i < GUARD_BYTES; i++)
		if (m->ptr[-1 - (int)i] != GUARD ||
		    m->ptr[m->bytes + i] != GUARD)
			return false;
	return true;
}

static u32 mem_free(struct ornic_rig_mem *m)
{
	u32 broken = !guards_intact(m);

	ornic_vfree(m->raw);
	ornic_free(m);
	return broken;
}

/**
 * ornic_rig_free - give DMA memory back
 * @rig: its host
 * @ptr: from ornic_rig_alloc; its guards are checked, and a broken one stays
 *	registered so that ornic_rig_destroy reports it
 */
void ornic_rig_free(struct ornic_rig *rig, u8 *ptr)
{
	struct ornic_rig_mem **p;

	for (p = &rig->mems; *p; p = &(*p)->next) {
		struct ornic_rig_mem *m = *p;

		if (m->ptr != ptr || !guards_intact(m))
			continue;
		*p = m->next;
		mem_free(m);
		return;
	}
}

static int pool_init(struct ornic_rig *rig)
{
	u32 i;

	rig->pool = ornic_vzalloc(sizeof(*rig->pool) * ORNIC_RIG_FRAMES);
	if (!rig->pool)
		return -ENOMEM;
	for (i = 0; i < ORNIC_RIG_FRAMES; i++) {
		rig->pool[i].next = rig->free;
		rig->free = &rig->pool[i];
	}
	rig->tx_tail = &rig->tx_head;
	return 0;
}

static void set_gid(struct ornic_rig *rig, enum ornic_rig_gid which)
{
	u16 vlan = which == ORNIC_RIG_VLAN ? ORNIC_RIG_VLAN_ID :
					     ORNIC_VLAN_NONE;
	union ornic_req req;
	union ornic_rsp rsp;

	memset(&req, 0, sizeof(req));
	req.hdr.opcode = ORNIC_CMD_SET_GID;
	req.hdr.obj = cpu_to_le32(which);
	ornic_rig_gid_bytes(rig->index, which, req.set_gid.gid);
	memcpy(req.set_gid.smac, rig->mac, 6);
	req.set_gid.vlan = cpu_to_le16(vlan);
	req.set_gid.valid = 1;
	ornic_rig_cmd(rig, &req, &rsp);
}

static void set_port(struct ornic_rig *rig)
{
	union ornic_req req;
	union ornic_rsp rsp;

	memset(&req, 0, sizeof(req));
	req.hdr.opcode = ORNIC_CMD_SET_PORT;
	req.set_port.mtu = cpu_to_le32(4096);
	req.set_port.up = 1;
	ornic_rig_cmd(rig, &req, &rsp);
}

/**
 * ornic_rig_create - an engine on a new host
 * @seed: of its randomness
 * @index: 1 to 250, its number on the wire
 *
 * The port is up at MTU 4096 and the GIDs of enum ornic_rig_gid are set.
 *
 * Return: the rig, or NULL when out of memory.
 */
struct ornic_rig *ornic_rig_create(u64 seed, u8 index)
{
	struct ornic_rig *rig = ornic_zalloc(sizeof(*rig));
	u32 i;

	if (!rig)
		return NULL;
	rig->rng = seed;
	rig->index = index;
	rig->pdn = ORNIC_RIG_PD;
	rig->now = 1000000;
	rig->tx_window = 64;
	rig->budget = 1 << 20;
	rig->mac[0] = 2;
	rig->mac[5] = index;
	if (pool_init(rig))
		goto err_free_rig;
	rig->eng = ornic_engine_create(&rig_ops, rig, rig->mac);
	if (!rig->eng)
		goto err_free_pool;
	set_port(rig);
	for (i = 0; i < ORNIC_RIG_GIDS; i++)
		set_gid(rig, i);
	return rig;

err_free_pool:
	ornic_vfree(rig->pool);
err_free_rig:
	ornic_free(rig);
	return NULL;
}

/**
 * ornic_rig_destroy - the engine with all that it still holds, then the host
 * @rig: the rig; NULL is fine
 *
 * Return: how many pieces of memory the engine wrote beside; 0 is right.
 */
u32 ornic_rig_destroy(struct ornic_rig *rig)
{
	u32 broken = 0;

	if (!rig)
		return 0;
	ornic_engine_destroy(rig->eng);
	while (rig->mems) {
		struct ornic_rig_mem *m = rig->mems;

		rig->mems = m->next;
		broken += mem_free(m);
	}
	ornic_vfree(rig->pool);
	ornic_free(rig);
	return broken;
}

/**
 * ornic_rig_pull - take the oldest frame that was sent
 * @rig: the sender
 *
 * Return: the frame, to be given back with ornic_rig_put, or NULL.
 */
struct ornic_rig_frame *ornic_rig_pull(struct ornic_rig *rig)
{
	struct ornic_rig_frame *f = rig->tx_head;

	if (!f)
		return NULL;
	rig->tx_head = f->next;
	if (!rig->tx_head)
		rig->tx_tail = &rig->tx_head;
	f->next = NULL;
	return f;
}

/**
 * ornic_rig_put - the frame has left: its QP may send another
 * @rig: the sender
 * @frame: from ornic_rig_pull
 */
void ornic_rig_put(struct ornic_rig *rig, struct ornic_rig_frame *frame)
{
	struct ornic_rig_hqp *hqp;

	for (hqp = rig->hqps; hqp; hqp = hqp->next) {
		if (hqp->qpn != frame->qpn || !hqp->in_flight)
			continue;
		hqp->in_flight--;
		if (hqp->stalled) {
			hqp->stalled = false;
			hqp->resched = true;
		}
	}
	frame->next = rig->free;
	rig->free = frame;
}

/**
 * ornic_rig_run - serve the QPs that asked to be run, once each
 * @rig: the rig
 *
 * Return: whether there was one.
 */
bool ornic_rig_run(struct ornic_rig *rig)
{
	struct ornic_rig_hqp *hqp;
	bool any = false;

	for (hqp = rig->hqps; hqp; hqp = hqp->next) {
		if (!hqp->resched)
			continue;
		any = true;
		hqp->resched = false;
		if (ornic_engine_run(rig->eng, hqp->qpn, rig->budget) ==
		    ORNIC_RUN_MORE)
			hqp->resched = true;
	}
	return any;
}

/**
 * ornic_rig_deadline - the next timer
 * @rig: the rig
 *
 * Return: when it fires in ns, 0 if none is set.
 */
u64 ornic_rig_deadline(struct ornic_rig *rig)
{
	struct ornic_rig_hqp *hqp;
	u64 when = 0;

	for (hqp = rig->hqps; hqp; hqp = hqp->next)
		if (hqp->deadline && (!when || hqp->deadline < when))
			when = hqp->deadline;
	return when;
}

/**
 * ornic_rig_expire - fire the timers that are due at rig->now
 * @rig: the rig
 *
 * Return: whether one was.
 */
bool ornic_rig_expire(struct ornic_rig *rig)
{
	struct ornic_rig_hqp *hqp;
	bool any = false;

	for (hqp = rig->hqps; hqp; hqp = hqp->next) {
		if (!hqp->deadline || hqp->deadline > rig->now)
			continue;
		any = true;
		hqp->deadline = 0;
		ornic_engine_expire(rig->eng, hqp->qpn);
	}
	return any;
}

/**
 * ornic_rig_cq_expire - let the timers of CQs fire that are due
 * @rig: its host
 *
 * Return: whether there was one.
 */
bool ornic_rig_cq_expire(struct ornic_rig *rig)
{
	struct ornic_rig_hcq *hcq;
	bool any = false;

	for (hcq = rig->hcqs; hcq; hcq = hcq->next) {
		if (!hcq->deadline || hcq->deadline > rig->now)
			continue;
		hcq->deadline = 0;
		ornic_engine_cq_expire(rig->eng, hcq->cqn);
		any = true;
	}
	return any;
}
