/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The engine: the device behind the interface of ornic-hw.h, as a library.
 *
 * Its host (the soft device, ornic-nic, a test) gives it commands, kicks,
 * packets and expired timers, and gets memory translations, frames to send,
 * deadlines and events. Time and randomness come from the host, so the same
 * inputs give the same outputs bit for bit.
 *
 * Concurrency: every function may be called for different QPs at the same
 * time. ornic_engine_cmd may sleep; the others may not, and run in process or
 * softirq context with interrupts on. Host ops are called with engine locks
 * held (sq or rq of a QP) unless said otherwise; they must not call back into
 * the engine. Events are the exception: see @event.
 */
#ifndef ORNIC_ENGINE_H
#define ORNIC_ENGINE_H

#include "env.h"
#include <rdma/ornic-hw.h>

struct ornic_engine;

#define ORNIC_UDP_PORT 4791 /* of RoCEv2, IBTA A17.4.6 */
#define ORNIC_TX_HDR_MAX 128 /* Ethernet, VLAN, IPv6, UDP, RoCE */
#define ORNIC_RX_SEGS 20

/* A piece of a packet, or of memory that @dma of the host returned. */
struct ornic_frag {
	void *ptr;
	u32 len;
};

/**
 * struct ornic_tx - one frame for the wire
 * @host_qp: the host's own area of the QP that sends (ornic_engine_ops)
 * @frame: for the host, set by ornic_engine_ops::tx_frame
 * @hdr: set by it: @hdr_len bytes for Ethernet to the last RoCE header
 * @body: set by it: @body_len bytes for payload, pad and ICRC, contiguous; it
 *	may or may not follow @hdr
 * @hdr_len: at most ORNIC_TX_HDR_MAX
 * @l3_offset: offset of the IP header in @hdr
 * @l4_offset: offset of the UDP header in @hdr
 * @ipv6: the IP header is IPv6
 * @payload_len: bytes of payload at the start of @body
 * @body_len: 4 to 7 bytes more than @payload_len
 *
 * The payload is a copy, read once, and the ICRC is that of the copy: a program
 * may write to its memory at any time, also while a peer READs it, and gets it
 * back with the completion.
 */
struct ornic_tx {
	void *host_qp;
	void *frame;
	u8 *hdr;
	u8 *body;
	u8 hdr_len;
	u8 l3_offset;
	u8 l4_offset;
	bool ipv6;
	u32 payload_len;
	u32 body_len;
};

/**
 * struct ornic_rx - one packet from the wire
 * @ip: its IP header (IPv4 with IHL 5, or IPv6 with UDP next), contiguous
 *	up to the end of the UDP header
 * @ipv6: @ip is an IPv6 header
 * @busy_here: this CPU has enough to do: what a response lets the requester send
 *	is left to ornic_engine_ops::resched
 * @nsegs: pieces in @seg
 * @sl: PCP of a tagged frame, else 0
 * @smac: source MAC, zero if unknown
 * @vlan: VLAN id or ORNIC_VLAN_NONE
 * @len: bytes in @seg in all
 * @seg: what follows the UDP header (BTH to ICRC). The host has made the
 *	first piece hold min(@len, 64) bytes.
 *
 * The UDP length agrees with @len; the host has checked IP and UDP lengths.
 */
struct ornic_rx {
	const void *ip;
	bool ipv6;
	bool busy_here;
	u8 nsegs;
	u8 sl;
	u8 smac[6];
	u16 vlan;
	u32 len;
	struct ornic_frag seg[ORNIC_RX_SEGS];
};

/* What a trace is about, and what its three numbers are. */
enum ornic_trace {
	ORNIC_TRACE_KICK, /* state; WQEs posted; WQEs taken */
	ORNIC_TRACE_TX, /* BTH opcode; PSN; bytes of payload */
	ORNIC_TRACE_RX, /* likewise */
	ORNIC_TRACE_ACK, /* syndrome of an ACK or NAK that came; PSN; MSN */
	ORNIC_TRACE_COMPLETION, /* status << 8 | opcode; WQE; bytes */
	ORNIC_TRACE_RETRY, /* retries left; PSN that is sent again; window */
};

/* ornic_engine_ops::tx_room: as many as it likes, and none is in flight. */
#define ORNIC_TX_IDLE ((u32)~0u)

/**
 * struct ornic_engine_ops - what the host does for the engine
 * @dma: translate DMA address @addr. On success returns a pointer that stays
 *	valid until the object that named the memory is destroyed, good for
 *	@len contiguous bytes; NULL if the range is not DMA memory.
 * @tx_frame: make memory for a frame of @tx->hdr_len and @tx->body_len bytes,
 *	of any content: the engine writes all of it. 0 and @tx->frame, @hdr and
 *	@body are set; or -EMSGSIZE: the port never sends a frame of this size,
 *	which counts as lost; or another -errno: not now. Then the engine makes
 *	the frame anew, after 64 us and later up to 65 ms (@deadline).
 * @xmit: send the frame that @tx_frame made, or drop it; it is the host's again
 *	either way. 0; or -EPERM: a rule of the host's dropped it, which counts
 *	as lost; or another -errno when it was dropped: as for @tx_frame.
 * @tx_room: how many frames of this QP the host takes now. After it returned 0
 *	the host calls ornic_engine_run(@qpn) as soon as there is room again.
 *	This bounds the packets in flight per QP. ORNIC_TX_IDLE says that none
 *	is in flight, so that the next cannot overtake any.
 * @deadline: ornic_engine_expire(@qpn) is wanted at @when (ns, absolute, the
 *	clock of @now). 0: no timer. At most one per QP. May fire late, and may
 *	fire after it was cancelled: the engine checks.
 * @resched: call ornic_engine_run(@qpn) soon, from a worker. Repeated calls
 *	before it runs may be merged.
 * @event: deliver @eqe. Called with no QP or CQ lock of the engine held.
 * @now: time in ns, monotonic
 * @random: 32 random bits; for keys of quality fit for security
 * @qp_init: a QP was made; @host_qp is host_qp_size zeroed bytes of the host's
 *	own. 0 or -errno. May sleep.
 * @qp_fini: the QP goes. Cancels its timer and waits for it, and for a run
 *	that is pending, so that none comes afterwards. May sleep, no lock held.
 * @cq_init: a CQ was made; @host_cq is host_cq_size zeroed bytes of the host's
 *	own. May sleep.
 * @cq_fini: the CQ goes. Cancels its timer and waits for it. May sleep, no lock
 *	held.
 * @cq_deadline: ornic_engine_cq_expire(@cqn) is wanted at @when (ns, absolute),
 *	and no longer at the time that was asked for before. May fire late, or
 *	in vain: the engine checks. Called with the lock of the CQ held.
 * @peer_engine: the engine, other than this one, whose port has the Ethernet
 *	address @mac, if the host lets the two work from memory to memory: what
 *	the one sends to the other is executed at once, in the caller of the
 *	sender, and ops of the other are called while locks of the sender are
 *	held. It stays for the time of the call into the sender. NULL: there is
 *	none; the op itself may be NULL.
 * @trace: something happened to QP @qpn, see enum ornic_trace; engine locks are
 *	held. NULL: nobody wants to know
 * @relax: a command, or ornic_engine_destroy(), takes long: called every few
 *	microseconds of it with no engine lock held. The host may do other work,
 *	calls into this engine for its QPs among it. May sleep. May be NULL.
 * @max_mem: most bytes of memory that a page list may name: a list may name a
 *	page many times, so what the host has does not bound it. 0: no bound but
 *	ORNIC_MAX_MR_BYTES.
 * @host_qp_size: bytes of host_qp, at most 512
 * @host_cq_size: bytes of host_cq, at most 512
 * @num_vectors: completion vectors, at least 1
 */
struct ornic_engine_ops {
	void *(*dma)(void *host, u64 addr, u64 len);
	u32 (*tx_room)(void *host, void *host_qp);
	int (*tx_frame)(void *host, struct ornic_tx *tx);
	int (*xmit)(void *host, const struct ornic_tx *tx);
	void (*deadline)(void *host, void *host_qp, u64 when);
	void (*resched)(void *host, void *host_qp);
	void (*event)(void *host, const struct ornic_eqe *eqe);
	u64 (*now)(void *host);
	u32 (*random)(void *host);
	int (*qp_init)(void *host, void *host_qp, u32 qpn);
	void (*qp_fini)(void *host, void *host_qp);
	void (*cq_init)(void *host, void *host_cq, u32 cqn);
	void (*cq_fini)(void *host, void *host_cq);
	void (*cq_deadline)(void *host, void *host_cq, u64 when);
	struct ornic_engine *(*peer_engine)(void *host, const u8 *mac);
	void (*trace)(void *host, enum ornic_trace what, u32 qpn, u32 code,
		      u32 a, u32 b);
	void (*relax)(void *host);
	u64 max_mem;
	u32 host_qp_size;
	u32 host_cq_size;
	u32 num_vectors;
};

/* What a call did and what is left. */
enum ornic_run_result {
	ORNIC_RUN_IDLE, /* nothing left; kick_wanted is set unless polled */
	ORNIC_RUN_MORE, /* budget used up: run again soon */
	ORNIC_RUN_WAIT, /* waits for a packet, a timer or room */
};

/*
 * ornic_engine_create - make a device whose host is @ops, @host; @mac is its
 * Ethernet address. ERR-free: NULL when out of memory. May sleep.
 * ornic_engine_destroy - free it; all objects were destroyed or are now.
 */
struct ornic_engine *ornic_engine_create(const struct ornic_engine_ops *ops,
					 void *host, const u8 mac[6]);
void ornic_engine_destroy(struct ornic_engine *eng);

/* Execute one command; always fills @rsp. May sleep. */
void ornic_engine_cmd(struct ornic_engine *eng, const union ornic_req *req,
		      union ornic_rsp *rsp);

/*
 * ornic_engine_kick - the host of the rings kicked the SQ of @qpn: look at it
 * and do up to @budget bytes worth of work (messages count at least 256).
 * ornic_engine_run - the same without counting a kick, and responder work
 * (READ responses) as well; for workers, after @resched and ORNIC_RUN_MORE.
 */
enum ornic_run_result ornic_engine_kick(struct ornic_engine *eng, u32 qpn,
					u32 budget);
enum ornic_run_result ornic_engine_run(struct ornic_engine *eng, u32 qpn,
				       u32 budget);

/*
 * ornic_engine_poll - for a poll thread: look for SQs whose record shows news,
 * without needing kicks: at those that had some lately, and at some of the
 * others, in turn, so that a look costs the same however many QPs there are.
 * Returns how many QPs did work. One thread calls it. With @polling on,
 * kick_wanted stays clear (ornic_engine_set_polling).
 */
u32 ornic_engine_poll(struct ornic_engine *eng, u32 budget);
void ornic_engine_set_polling(struct ornic_engine *eng, bool polling);

/*
 * ornic_engine_busy_poll - the host polls the SQ of @qpn from now on, so that
 * kick_wanted stays clear; or nobody does any more: run it once then.
 * ornic_engine_has_work - was something posted since @seen was written? With
 * ornic_engine_run() after it that is how to poll it.
 */
void ornic_engine_busy_poll(struct ornic_engine *eng, u32 qpn, bool on);
bool ornic_engine_has_work(struct ornic_engine *eng, u32 qpn, u32 *seen);

/*
 * ornic_engine_set_loopback - new paths between QPs of this device copy from
 * memory to memory, as at first, or make packets that a switch must reflect.
 */
void ornic_engine_set_loopback(struct ornic_engine *eng, bool loopback);
bool ornic_engine_loopback(const struct ornic_engine *eng);

/*
 * Of the ORNIC_RX_PEEK bytes @bth behind the UDP header: the QP that the packet is
 * for, and in @more whether others of its message follow. Nothing is checked.
 */
#define ORNIC_RX_PEEK 12
u32 ornic_engine_rx_peek(const u8 *bth, bool *more);

/*
 * Is a packet with the IP header @ip from the address of @qpn's peer, to its own, and
 * @qpn a connected QP that receives? A hint, read without its locks: ICRC and PSN
 * are not looked at, and ornic_engine_rx() decides.
 */
bool ornic_engine_is_peer(struct ornic_engine *eng, u32 qpn, const void *ip,
			  bool ipv6);

/* One packet from the wire. */
void ornic_engine_rx(struct ornic_engine *eng, const struct ornic_rx *rx);

/* The deadline of @qpn has come. */
void ornic_engine_expire(struct ornic_engine *eng, u32 qpn);

/* The deadline of @cqn has come. */
void ornic_engine_cq_expire(struct ornic_engine *eng, u32 cqn);

/* One counter, summed over all CPUs. */
u64 ornic_engine_stat(struct ornic_engine *eng, enum ornic_stat stat);

#endif /* ORNIC_ENGINE_H */
