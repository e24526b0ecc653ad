/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The harness: an engine on a fake host, for suites, simulator and fuzzers.
 *
 * Time is a variable, randomness a seed, DMA addresses are pointers that the
 * harness has handed out, frames land in a list, and everything else goes
 * through the device interface: commands, rings, records and completions, as
 * driver and provider use them. Two harnesses, or one with itself, make a pair.
 *
 * One thread uses a harness at a time. Compiles in the kernel and natively.
 */
#ifndef ORNIC_HARNESS_H
#define ORNIC_HARNESS_H

#include "engine/engine.h"
#include "engine/mem.h"
#include "engine/psn.h"
#include "engine/wire.h"

#define ORNIC_TH_FRAMES 256
#define ORNIC_TH_FRAME_BYTES (ORNIC_TX_HDR_MAX + 4096 + 8)
#define ORNIC_TH_EVENTS 64
#define ORNIC_TH_EVENT_TYPES (ORNIC_EVENT_PKEY_CHANGE + 1)
#define ORNIC_TH_MS 1000000ull
#define ORNIC_TH_PD 0x11

struct ornic_th;

/**
 * struct ornic_th_frame - a frame on its way
 * @qpn: the QP that sent it
 * @when: free for the user of the harness: when it arrives
 * @sl: service level of its path
 */
struct ornic_th_frame {
	struct ornic_th_frame *next;
	u32 qpn;
	u32 len;
	u64 when;
	u8 sl;
	u8 data[ORNIC_TH_FRAME_BYTES];
};

/**
 * struct ornic_th_hqp - the host's area of a QP
 * @deadline: when its timer fires, 0 = never
 * @resched: the engine wants to run
 * @stalled: tx_room said 0; run when frames of it are gone
 * @in_flight: frames of it that are not put back
 */
struct ornic_th_hqp {
	struct ornic_th_hqp *next;
	u64 deadline;
	u32 qpn;
	u32 in_flight;
	bool resched;
	bool stalled;
};

/**
 * struct ornic_th_hcq - the host's area of a CQ
 * @deadline: when its timer fires, 0 = never
 */
struct ornic_th_hcq {
	struct ornic_th_hcq *next;
	u64 deadline;
	u32 cqn;
};

struct ornic_th_mem {
	struct ornic_th_mem *next;
	u8 *raw;
	u64 raw_bytes;
	u8 *ptr;
	u64 bytes;
};

/**
 * struct ornic_th - an engine and its host
 * @now: the time, ns
 * @rng: state of the generator behind the random op
 * @not_random: that returns 0
 * @pdn: PD of what is made next
 * @index: number of the harness, in its MAC and IP addresses
 * @mac: address of its port; the engine knows the first one
 * @tx_window: frames in flight per QP
 * @budget: bytes of work per kick and run
 * @seg_bytes: received packets come in pieces of so many bytes; 0 = one piece
 * @busy_here: what arrives finds a busy CPU, see struct ornic_rx
 * @dm: device memory of @dm_bytes, which a suite may set; 0: none
 * @lends: what arrives is in memory of its own, which the engine may keep
 * @lend_more: ... and which takes so many bytes beside those of the frame
 * @lent: pieces of it that the engine has; @nlent: how often it has kept one
 * @marked: what ornic_th_inject() makes has passed a switch that marks it
 * @peer: a peer engine, NULL = none
 * @direct: where packets of RC need not go, NULL = they do
 * @direct_odds: then they go nevertheless one time in so many; 0 = never
 * @xmit_fail: the next so many frames are refused
 * @xmit_err: with that; 0 = -EIO
 * @frame_fail: for the next so many there is no memory
 * @qp_init_err: what becomes of new QPs; 0 = they are made
 * @largest: bytes of the largest frame that the port takes; 0 = any
 * @relaxed: calls of the relax op
 * @raw_wanted: frames that arrive go to raw packet QPs first
 * @on_raw_wanted: called when that is set or cleared, NULL = nothing
 * @for_host: ... and are such that the host would take
 * @host_frames: frames that raw packet QPs have not taken
 * @meanwhile: what a program of @program's does while the host is called for a
 *	frame, before and after it is written; NULL = nothing
 * @on_xmit: called for each frame while it is sent, NULL = nothing
 * @odps: the ODP MRs
 * @frames: those that there are, @nframes of them; @free: those of no use now
 * @tx_head, @tx_tail: frames sent and not pulled
 * @lost: frames for which there was no room
 * @events: the last events; @nevents: how many there have been
 * @event_count: by type
 * @misfits: events with a vector that is not theirs
 * @trace_count: what the engine told, by enum ornic_trace; not in the kernel
 */
struct ornic_th {
	struct ornic_engine *eng;
	u64 now;
	u64 rng;
	bool not_random;
	u32 pdn;
	u8 index;
	u8 mac[6];
	u32 tx_window;
	u32 budget;
	u32 seg_bytes;
	bool busy_here;
	bool lends;
	u32 lend_more;
	u32 lent;
	u32 nlent;
	bool marked;
	u32 xmit_fail;
	int xmit_err;
	void (*on_xmit)(struct ornic_th *th);
	u32 frame_fail;
	int qp_init_err;
	u32 largest;
	u32 relaxed;
	bool raw_wanted;
	void (*on_raw_wanted)(struct ornic_th *th);
	bool for_host;
	u32 host_frames;
	void (*meanwhile)(struct ornic_th *th);
	void *program;
	struct ornic_th *peer;
	struct ornic_th *direct;
	u32 direct_odds;
	u32 lost;
	struct ornic_th_mem *mems;
	u8 *dm;
	u64 dm_bytes;
	struct ornic_th_hqp *hqps;
	struct ornic_th_hcq *hcqs;
	struct ornic_th_qp *qps;
	struct ornic_th_mr *odps;
	struct ornic_th_frame *frames[ORNIC_TH_FRAMES];
	u32 nframes;
	struct ornic_th_frame *free;
	struct ornic_th_frame *tx_head;
	struct ornic_th_frame **tx_tail;
	u32 nevents;
	struct ornic_eqe events[ORNIC_TH_EVENTS];
	u32 event_count[ORNIC_TH_EVENT_TYPES];
	u32 misfits;
	u32 trace_count[ORNIC_TRACE_RETRY + 1];
};

/* GIDs that every harness has: IPv4, IPv6, IPv4 on a VLAN, that of IPv6 for RoCE v1. */
enum ornic_th_gid {
	ORNIC_TH_IPV4,
	ORNIC_TH_IPV6,
	ORNIC_TH_VLAN,
	ORNIC_TH_V1,
	ORNIC_TH_GIDS,
};

#define ORNIC_TH_VLAN_ID 7

/**
 * struct ornic_th_cq - a CQ as the provider sees it
 */
struct ornic_th_cq {
	struct ornic_th *th;
	u32 cqn;
	u32 log_depth;
	u32 consumer;
	u32 arm_seq;
	u8 *mem;
};

/**
 * struct ornic_th_srq - an SRQ as the provider sees it
 */
struct ornic_th_srq {
	struct ornic_th *th;
	u32 srqn;
	u32 log_depth;
	u32 log_stride;
	u32 producer;
	u8 *mem;
};

/**
 * struct ornic_th_mr - an MR and its memory
 * @touch: with @levels 1 the MR names its pages from last to first, but so many at a
 *	time in order, so that they touch
 * @buf: the pages
 * @next: of the ODP MRs of its host
 */
struct ornic_th_mr {
	struct ornic_th_mr *next;
	struct ornic_th *th;
	u32 key;
	u8 levels;
	u8 touch;
	u8 access;
	u64 iova;
	u32 length;
	u32 off0;
	u32 npages;
	u8 *buf;
};

/**
 * struct ornic_th_conn - attributes of a QP on its way to RTS
 * Fields with a meaning of their own: the wire's units (timeout and
 * min_rnr_timer codes, enum ib_mtu); @ece is set with INIT if there is @has_ece, and
 * @pkey_index if it is not 0.
 */
struct ornic_th_conn {
	struct ornic_av av;
	u32 dest_qpn;
	u32 sq_psn;
	u32 rq_psn;
	u32 qkey;
	u32 ece;
	u32 rate_limit;
	u32 burst;
	bool has_ece;
	u8 mtu;
	u8 access;
	u8 timeout;
	u8 retry_cnt;
	u8 rnr_retry;
	u8 min_rnr_timer;
	u8 max_rd_atomic;
	u8 max_dest_rd_atomic;
	u8 pkey_index;
};

/**
 * struct ornic_th_qpinit - shape of a QP to be made; 0 picks a default
 * @no_sq: it has none, or the device has it, as the SRQ matches tags
 * @tag_srq: TAGS: whose list it changes
 */
struct ornic_th_qpinit {
	u8 type;
	u8 flags;
	u8 sq_log_depth;
	u8 rq_log_depth;
	u8 max_sge;
	u16 max_inline;
	u32 xrcdn;
	bool no_sq;
	const struct ornic_th_srq *srq;
	const struct ornic_th_srq *tag_srq;
};

/**
 * struct ornic_th_qp - a QP as the provider sees it
 * @srqn: XRC initiators: whom requests are for that do not say
 * @sq_tail: WQEs that completions have given back
 */
struct ornic_th_qp {
	struct ornic_th_qp *next;
	struct ornic_th *th;
	struct ornic_th_cq *scq;
	struct ornic_th_cq *rcq;
	struct ornic_th_conn conn;
	u32 qpn;
	u8 type;
	u8 sq_log_depth;
	u8 sq_log_stride;
	u8 rq_log_depth;
	u8 rq_log_stride;
	bool sig_all;
	u16 max_inline;
	u32 srqn;
	u32 sq_producer;
	u32 sq_tail;
	u32 rq_producer;
	u8 *mem;
	u32 mem_bytes;
	u32 rq_offset;
};

/**
 * struct ornic_th_wr - a send work request
 * @srqn: XRC initiators: whom it is for
 * @pkey_index: QP 1
 * @av: UD with ORNIC_WQE_AV: the address
 * @bind_length: BIND_MW, REG_MR and FLUSH: bytes
 * @bind_access: likewise
 * @reg_list: REG_MR: DMA address of the page list
 * @tag: TAG_*: the segment
 */
struct ornic_th_wr {
	u64 wr_id;
	u64 raddr;
	u64 swap_add;
	u64 compare;
	u64 bind_length;
	u32 bind_lkey;
	u8 bind_access;
	u8 reg_shift;
	u32 reg_npages;
	u64 reg_list;
	u8 flush_type;
	u8 flush_level;
	u32 rkey;
	u32 srqn;
	u32 ah;
	u32 dest_qpn;
	u32 dest_qkey;
	u16 pkey_index;
	__be32 imm;
	u8 opcode;
	u8 flags;
	u32 nsge;
	const struct ornic_lsge *sge;
	const void *inline_data;
	u32 inline_len;
	const struct ornic_av *av;
	const struct ornic_seg_tag *tag;
};

/* harness.c: the engine's host */
struct ornic_th *ornic_th_create(u64 seed, u8 index);
u32 ornic_th_destroy(struct ornic_th *th);
u64 ornic_th_random(u64 *state);
u8 *ornic_th_alloc(struct ornic_th *th, u64 bytes);
void ornic_th_free(struct ornic_th *th, u8 *ptr);
int ornic_th_make_frames(struct ornic_th *th, u32 n);
struct ornic_th_frame *ornic_th_pull(struct ornic_th *th);
void ornic_th_put(struct ornic_th *th, struct ornic_th_frame *frame);
void ornic_th_rx(struct ornic_th *th, const void *data, u32 len);
bool ornic_th_run(struct ornic_th *th);
bool ornic_th_cq_expire(struct ornic_th *th);
u64 ornic_th_deadline(struct ornic_th *th);
bool ornic_th_expire(struct ornic_th *th);

/* harness_cmd.c: objects, rings, completions */
int ornic_th_cmd(struct ornic_th *th, union ornic_req *req,
		 union ornic_rsp *rsp);
int ornic_th_destroy_obj(struct ornic_th *th, u8 opcode, u32 obj);
int ornic_th_destroy_mem(struct ornic_th *th, u8 opcode, u32 obj, u8 *mem);
void ornic_th_gid_bytes(u8 index, enum ornic_th_gid which, u8 *gid);
void ornic_th_av(struct ornic_av *av, u8 index, enum ornic_th_gid which);
int ornic_th_cq_init(struct ornic_th *th, struct ornic_th_cq *cq,
		     u32 log_depth);
int ornic_th_cq_resize(struct ornic_th_cq *cq, u32 log_depth);
int ornic_th_cq_fini(struct ornic_th_cq *cq);
int ornic_th_srq_init(struct ornic_th *th, struct ornic_th_srq *srq,
		      u32 log_depth, u32 max_sge);
int ornic_th_xsrq_init(struct ornic_th *th, struct ornic_th_srq *srq,
		       u32 log_depth, u32 xrcdn, const struct ornic_th_cq *cq);
int ornic_th_tm_srq_init(struct ornic_th *th, struct ornic_th_srq *srq,
			 u32 log_depth, u32 max_tags,
			 const struct ornic_th_cq *cq);
int ornic_th_srq_resize(struct ornic_th_srq *srq, u32 log_depth);
int ornic_th_srq_fini(struct ornic_th_srq *srq);
int ornic_th_srq_limit(struct ornic_th_srq *srq, u32 limit);
int ornic_th_srq_query(struct ornic_th_srq *srq,
		       struct ornic_rsp_query_srq *rsp);
int ornic_th_post_srq(struct ornic_th_srq *srq, u64 wr_id,
		      const struct ornic_lsge *sge, u32 nsge);
void ornic_th_arm(struct ornic_th_cq *cq, enum ornic_arm mode);
bool ornic_th_poll(struct ornic_th_cq *cq, struct ornic_cqe *cqe);
int ornic_th_mr_init(struct ornic_th *th, struct ornic_th_mr *mr, u32 length,
		     u32 off0, u8 levels, u8 access);
int ornic_th_mr_fini(struct ornic_th_mr *mr);
u32 ornic_th_mr_page(const struct ornic_th_mr *mr, u32 i);
u8 *ornic_th_mr_at(const struct ornic_th_mr *mr, u32 off, u32 *run);
void ornic_th_mr_write(const struct ornic_th_mr *mr, u32 off, const void *src,
		       u32 len);
void ornic_th_mr_read(const struct ornic_th_mr *mr, u32 off, void *dst,
		      u32 len);
int ornic_th_mkey(struct ornic_th *th, u8 flags, u32 npages, u8 access,
		  u32 *key);
int ornic_th_mw(struct ornic_th *th, u8 type, u32 *key);
int ornic_th_ah(struct ornic_th *th, const struct ornic_av *av, u32 *ah);
void ornic_th_next_qpn(struct ornic_th *th, u32 qpn);
int ornic_th_qp_init(struct ornic_th *th, struct ornic_th_qp *qp,
		     const struct ornic_th_qpinit *init,
		     struct ornic_th_cq *scq, struct ornic_th_cq *rcq);
int ornic_th_qp_fini(struct ornic_th_qp *qp);
int ornic_th_modify(struct ornic_th_qp *qp, u8 state, u32 mask);
int ornic_th_to(struct ornic_th_qp *qp, u8 state);
int ornic_th_query(struct ornic_th_qp *qp, struct ornic_rsp_query_qp *rsp);
u8 ornic_th_state(struct ornic_th_qp *qp);
u32 ornic_th_sq_psn(struct ornic_th_qp *qp);
u32 ornic_th_rq_psn(struct ornic_th_qp *qp);
int ornic_th_post_send(struct ornic_th_qp *qp, const struct ornic_th_wr *wr);
int ornic_th_post_recv(struct ornic_th_qp *qp, u64 wr_id,
		       const struct ornic_lsge *sge, u32 nsge);
void ornic_th_kick(struct ornic_th_qp *qp);

/**
 * struct ornic_th_fault - a page fault
 * @key: of the MR
 * @seq: its number
 * @addr: first byte
 * @length: bytes
 * @queue: enum ornic_fault_queue
 * @write: pages are to be written to
 */
struct ornic_th_fault {
	u32 key;
	u32 seq;
	u64 addr;
	u64 length;
	u8 queue;
	bool write;
};

/* harness_odp.c: memory whose pages come and go */
int ornic_th_odp_init(struct ornic_th *th, struct ornic_th_mr *mr, u32 length,
		      u32 off0, u8 access);
int ornic_th_odp_set(const struct ornic_th_mr *mr, u32 page, u32 n, bool write);
int ornic_th_odp_clear(const struct ornic_th_mr *mr, u32 page, u32 n);
const struct ornic_th_mr *ornic_th_odp_find(const struct ornic_th *th, u32 key);
void ornic_th_odp_unlink(const struct ornic_th_mr *mr);
bool ornic_th_fault_take(const struct ornic_th_qp *qp,
			 struct ornic_th_fault *fault);
int ornic_th_fault_end(const struct ornic_th_qp *qp,
		       const struct ornic_th_fault *fault, bool failed);
u32 ornic_th_fault_serve(const struct ornic_th_qp *qp,
			 const struct ornic_th_mr *mr);

/**
 * struct ornic_th_loan - a frame that has arrived, which the engine may keep
 * @refs: who has it: the host while the frame arrives, the engine
 * @bytes: of the frame
 */
struct ornic_th_loan {
	u32 refs;
	u32 bytes;
	u8 data[];
};

/* harness_wire.c: what is on the wire, and pairs */
void *ornic_th_rx_keep(void *host, const struct ornic_rx *rx, u32 *bytes);
void ornic_th_rx_free(void *host, void *kept);
enum ornic_th_verdict {
	ORNIC_TH_PASS,
	ORNIC_TH_DROP,
};

/**
 * struct ornic_th_pair - two harnesses and an ideal wire, or one and itself
 * @a, @b: the harnesses; the same for loopback
 * @filter: sees each frame first, and may change or drop it
 */
struct ornic_th_pair {
	struct ornic_th *a;
	struct ornic_th *b;
	enum ornic_th_verdict (*filter)(struct ornic_th_pair *pair,
					struct ornic_th *from,
					struct ornic_th_frame *frame,
					const struct ornic_pkt *pkt);
	void *ctx;
};

int ornic_th_pair_init(struct ornic_th_pair *pair, u64 seed, bool loop);
u32 ornic_th_pair_fini(struct ornic_th_pair *pair);
void ornic_th_go_direct(struct ornic_th_pair *pair, u32 odds);
void ornic_th_go_by_packets(struct ornic_th_pair *pair);
bool ornic_th_settle(struct ornic_th_pair *pair);
bool ornic_th_advance(struct ornic_th_pair *pair, u64 ns);
void ornic_th_conn_default(struct ornic_th_conn *conn, u8 type);
int ornic_th_connect(struct ornic_th_qp *a, struct ornic_th_qp *b,
		     enum ornic_th_gid which);
int ornic_th_parse(const void *data, u32 len, struct ornic_rx *rx);
bool ornic_th_decode(const struct ornic_th_frame *frame, struct ornic_rx *rx,
		     struct ornic_pkt *pkt);
u32 ornic_th_build(struct ornic_tx *tx, u8 *data, const struct ornic_path *path,
		   const struct ornic_txinfo *info,
		   const struct ornic_frag *frag, u32 nfrags);
int ornic_th_inject(struct ornic_th_qp *qp, struct ornic_txinfo *info,
		    const void *payload, u32 len);

#endif /* ORNIC_HARNESS_H */
