/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The engine: a device with the interface of ornic-hw.h, as a library.
 *
 * Its host (the soft device, ornic-nic, a test) passes in commands, kicks,
 * packets and expired timers, and provides memory translation, frames to
 * send, timers and event delivery. Time and randomness come from the host, so
 * the same inputs give the same outputs bit for bit.
 *
 * Concurrency: every function may be called for different QPs at the same
 * time. ornic_engine_cmd() may sleep; the others may not, and run in process
 * or softirq context with interrupts on. Host ops are called with engine
 * locks held (sq or rq of a QP) unless noted; they must not call back into
 * the engine. Events are the exception: see @event.
 */
#ifndef ORNIC_ENGINE_H
#define ORNIC_ENGINE_H

#include "cc.h"
#include "crc32.h"
#include "env.h"
#include "flow.h"
#include "impair.h"
#include "pages.h"
#include <rdma/ornic-hw.h>

struct ornic_engine;

#define ORNIC_UDP_PORT 4791 /* of RoCEv2, IBTA A17.4.6 */
#define ORNIC_ETH_ROCE_V1 0x8915 /* Ethertype of RoCE v1, IBTA A16 */
#define ORNIC_NXTHDR_BTH 0x1b /* next header of a GRH, IBTA 8.3 */
#define ORNIC_UDP_LEN 8
#define ORNIC_TX_HDR_MAX 128 /* Ethernet, VLAN, IPv6, UDP, RoCE */
#define ORNIC_RX_SEGS 20

/*
 * Is it the GRH of a RoCE v1 packet? It has the format of an IPv6 header (IBTA 8.3) and
 * takes the place of one: @ipv6 is set for both. UDP follows IPv6 in RoCEv2, the BTH
 * follows a GRH.
 */
static inline bool ornic_ip_is_grh(const void *ip, bool ipv6)
{
	return ipv6 && ((const u8 *)ip)[6] == ORNIC_NXTHDR_BTH;
}

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
 * @l3_offset: offset of the IP header in @hdr, or of the GRH
 * @l4_offset: offset of the UDP header in @hdr; after a GRH, of the BTH
 * @ipv6: the IP header is IPv6 or a GRH
 * @raw: an Ethernet frame of a raw packet QP: @hdr is its first bytes, @l3_offset
 *	is that after its type, @l4_offset is @hdr_len, and nothing else is known
 * @sl: service level, also of a frame that has no tag
 * @payload_len: bytes of payload at the start of @body
 * @body_len: 4 to 7 bytes more than @payload_len; the same if @raw
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
	bool raw;
	u8 sl;
	u32 payload_len;
	u32 body_len;
};

/* The BTH of a frame that is complete. */
static inline u8 *ornic_tx_bth(const struct ornic_tx *tx)
{
	u8 *l4 = tx->hdr + tx->l4_offset;

	return ornic_ip_is_grh(tx->hdr + tx->l3_offset, tx->ipv6) ?
		       l4 :
		       l4 + ORNIC_UDP_LEN;
}

/**
 * struct ornic_rx - one packet from the wire
 * @host_rx: the host's own, by which ornic_engine_ops::rx_keep finds the memory of the
 *	packet. NULL: it cannot be kept
 * @ip: its IP header (IPv4 with IHL 5, or IPv6 with UDP next), contiguous
 *	up to the end of the UDP header; or its GRH (IPVer 6, NxtHdr 0x1b)
 * @ipv6: @ip is an IPv6 header or a GRH
 * @busy_here: this CPU is busy: what a response allows the requester to send
 *	is left to ornic_engine_ops::resched
 * @nsegs: pieces in @seg
 * @sl: PCP of a tagged frame, else 0
 * @smac: source MAC, zero if unknown
 * @vlan: VLAN id or ORNIC_VLAN_NONE
 * @len: bytes in @seg in all
 * @seg: what follows the UDP header or the GRH (BTH to ICRC). The host has made the
 *	first piece hold min(@len, 64) bytes.
 *
 * The UDP length, or the PayLen of a GRH, agrees with @len; the host has checked IP
 * and UDP lengths, and that the packet is for this host: of a GRH, by its MAC only.
 */
struct ornic_rx {
	void *host_rx;
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
 *	@len contiguous bytes; NULL if the range is not DMA memory. With a key of
 *	all DMA memory the address is of a work request, or a peer's.
 * @run: the same for the one run of a struct ornic_mem without a page list, and for
 *	pages of SET_PAGES, which only commands name. May know memory that @dma does
 *	not, such as what an exporter has mapped for the CPU.
 * @dm: the @len bytes from byte @at on of the device's own memory, good as for @dma;
 *	NULL if it has not all of them. Only commands name it. NULL: it has none
 * @tx_frame: make memory for a frame of @tx->hdr_len and @tx->body_len bytes,
 *	of any content: the engine writes all of it. 0 and @tx->frame, @hdr and
 *	@body are set; or -EMSGSIZE: the port never sends a frame of this size,
 *	which counts as lost; or another -errno: not now. Then the engine makes
 *	the frame anew, after 64 us and later up to 65 ms (@deadline).
 * @xmit: send the frame that @tx_frame made, or drop it; it is the host's again
 *	either way. 0; or -EPERM: a rule of the host's dropped it, which counts
 *	as lost; or another -errno when it was dropped: as for @tx_frame.
 * @tx_drop: free the frame that @tx_frame made, unsent. NULL: the host has no raw
 *	packet QPs
 * @is_own: @mac is the Ethernet address of the port now, which may have been another
 *	one when the engine was made. With @tx_drop; locks of QPs are held
 * @tx_room: how many frames of this QP the host takes now. After it returned 0
 *	the host calls ornic_engine_run(@qpn) as soon as there is room again.
 *	This bounds the packets in flight per QP. ORNIC_TX_IDLE says that none
 *	is in flight, so that the next cannot overtake any.
 * @rx_keep: keep the memory of a packet that is being given to ornic_engine_rx():
 *	@rx->seg stays valid until @rx_free. *@bytes is what memory that takes, as far as
 *	the host knows. Returns what @rx_free gets, or NULL: the engine copies
 *	the packet. Locks of the QP are held. May be NULL
 * @rx_free: @kept, of @rx_keep, is not needed any more. In any context but hard
 *	interrupts; locks of a QP may be held. With @rx_keep
 * @deadline: ornic_engine_expire(@qpn) is wanted at @when (ns, absolute, the
 *	clock of @now). 0: no timer. At most one per QP. May fire late, and may
 *	fire after it was cancelled: the engine checks.
 * @resched: call ornic_engine_run(@qpn) soon, from a worker. Repeated calls
 *	before it runs may be merged.
 * @event: deliver @eqe. Called with no QP or CQ lock of the engine held.
 * @now: time in ns, monotonic
 * @random: 32 random bits; for keys of quality fit for security
 * @raw_wanted: there are flow rules: from now on the host passes frames that arrive
 *	to ornic_engine_find_frame(); or, not @wanted, no longer. Calls are in order,
 *	with a lock held
 * @qp_init: a QP was made; @host_qp is host_qp_size zeroed bytes of the host's
 *	own. 0 or -errno. May sleep.
 * @qp_fini: the QP goes. Cancels its timer and waits for it, and for a run
 *	that is pending, so that none comes afterwards. Called a grace period after the
 *	last ornic_engine_host_qp() that found it. May sleep, no lock held.
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
 *	held, but for its events. It stays for the time of the call into the
 *	sender. NULL: there is none; the op itself may be NULL.
 * @direct: the engine, other than this one, that packets of RC to the Ethernet address
 *	@mac with the IP header or GRH @ip, on VLAN @vlan, with payloads of up to @mtu
 *	bytes would reach, if nobody on their way would see them or treat them as anything
 *	special. Asked for each piece of a message, or packet, under locks of the sender:
 *	the answer may change at any time. It stays for the time of the call, and its ops
 *	are called while locks of the sender are held, but for its events. NULL: packets
 *	go; the op itself may be NULL unless ornic_engine_set_direct() is called.
 * @trace: something happened to QP @qpn, see enum ornic_trace; engine locks are
 *	held. NULL: no tracing
 * @relax: a command or ornic_engine_destroy() takes long: called every few
 *	microseconds of it, or after what is done for one object, with no engine lock
 *	held. The host may do other work, calls into this engine for its QPs among it.
 *	May sleep. May be NULL.
 * @max_mem: most bytes of memory that a page list may name: a list may name a
 *	page many times, so what the host has does not bound it. 0: no bound but
 *	ORNIC_MAX_MR_BYTES.
 * @max_spare: most bytes that the engine takes beside those of objects, because
 *	peers send packets ahead of lost ones, or are far away; a share of the
 *	memory that there is. 0: 16 MiB. At most 1 GiB are used.
 * @paging: the host answers ORNIC_EVENT_PAGE_FAULT, so that there may be ODP MRs
 * @host_qp_size: bytes of host_qp, at most 512
 * @host_cq_size: bytes of host_cq, at most 512
 * @num_vectors: completion vectors, at least 1
 */
struct ornic_engine_ops {
	void *(*dma)(void *host, u64 addr, u64 len);
	void *(*run)(void *host, u64 addr, u64 len);
	void *(*dm)(void *host, u64 at, u64 len);
	u32 (*tx_room)(void *host, void *host_qp);
	int (*tx_frame)(void *host, struct ornic_tx *tx);
	int (*xmit)(void *host, const struct ornic_tx *tx);
	void (*tx_drop)(void *host, const struct ornic_tx *tx);
	bool (*is_own)(void *host, const u8 *mac);
	void (*raw_wanted)(void *host, bool wanted);
	void *(*rx_keep)(void *host, const struct ornic_rx *rx, u32 *bytes);
	void (*rx_free)(void *host, void *kept);
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
	struct ornic_engine *(*direct)(void *host, const u8 *mac,
				       const void *ip, bool ipv6, u16 vlan,
				       u32 mtu);
	void (*trace)(void *host, enum ornic_trace what, u32 qpn, u32 code,
		      u32 a, u32 b);
	void (*relax)(void *host);
	u64 max_mem;
	u64 max_spare;
	bool paging;
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

/**
 * ornic_engine_create - make a device without any objects, its port down
 * @ops: the host's functions, must outlive the device
 * @host: passed to each of them
 * @mac: Ethernet address of the port
 *
 * Context: may sleep.
 * Return: the device, NULL when out of memory.
 */
struct ornic_engine *ornic_engine_create(const struct ornic_engine_ops *ops,
					 void *host, const u8 mac[6]);

/**
 * ornic_engine_destroy - destroy a device and the objects that are left
 * @eng: the device; no call into it is under way or comes later
 *
 * Context: sleeps.
 */
void ornic_engine_destroy(struct ornic_engine *eng);

/**
 * ornic_engine_cmd - execute one command
 * @eng: the device
 * @req: the request; read once, so it may be shared memory
 * @rsp: the response, always filled; zero but for what the command returns
 *
 * Context: may sleep.
 */
void ornic_engine_cmd(struct ornic_engine *eng, const union ornic_req *req,
		      union ornic_rsp *rsp);

/**
 * ornic_engine_kick - the host posted to an SQ and found kick_wanted
 * @eng: the device
 * @qpn: QP; one that does not exist (any more) is idle
 * @budget: bytes of work; each message counts as at least 256
 *
 * Context: process or softirq context, no engine lock held.
 * Return: what is left to do.
 */
enum ornic_run_result ornic_engine_kick(struct ornic_engine *eng, u32 qpn,
					u32 budget);

/**
 * ornic_engine_run - as ornic_engine_kick(), without counting a kick
 * @eng: the device
 * @qpn: QP; one that does not exist (any more) is idle
 * @budget: bytes of work
 *
 * For workers, after @resched, @tx_room and ORNIC_RUN_MORE.
 *
 * Context: process or softirq context, no engine lock held.
 * Return: what is left to do.
 */
enum ornic_run_result ornic_engine_run(struct ornic_engine *eng, u32 qpn,
				       u32 budget);

/**
 * ornic_engine_poll - run the QPs whose SQ record shows new WQEs
 * @eng: the device
 * @budget: bytes of work per QP
 *
 * Looks at all QPs that had work lately and at some of the others in turn, so its
 * cost does not grow with the number of QPs. Needs ornic_engine_set_polling().
 *
 * Context: process context, no engine lock held; one caller at a time. One RCU
 * section for the look, and one per QP that has work.
 * Return: QPs that had work.
 */
u32 ornic_engine_poll(struct ornic_engine *eng, u32 budget);

/**
 * ornic_engine_set_polling - start or stop to poll all SQs
 * @eng: the device
 * @polling: kick_wanted stays clear. Set before the first ornic_engine_poll(),
 *	clear after the last.
 *
 * Every QP is run once, so that the end of the run leaves kick_wanted as it must
 * be now. WQEs posted between the last poll and that run are found by the look at
 * the producer that follows each write of kick_wanted.
 *
 * Context: any but hard interrupts.
 */
void ornic_engine_set_polling(struct ornic_engine *eng, bool polling);

/**
 * ornic_engine_busy_poll - start or stop to poll the SQ of one QP
 * @eng: the device
 * @qpn: QP; one that does not exist (any more) is ignored
 * @on: the host polls ornic_engine_has_work() and runs the QP, and kick_wanted
 *	stays clear. After false the host must run the QP once more: that leaves
 *	kick_wanted as it must be now, and finds what was posted meanwhile.
 *
 * Context: process or softirq context, no engine lock held.
 */
void ornic_engine_busy_poll(struct ornic_engine *eng, u32 qpn, bool on);

/**
 * ornic_engine_has_work - was anything posted to the SQ of a QP?
 * @eng: the device
 * @qpn: QP; one that does not exist (any more) has no work
 * @seen: producer that the caller has seen so far, of any value at first; updated
 *
 * WQEs that wait for the peer do not count: they go on without the caller.
 *
 * Context: any but hard interrupts.
 * Return: whether to run the QP. A peek only: no lock is taken.
 */
bool ornic_engine_has_work(struct ornic_engine *eng, u32 qpn, u32 *seen);

/**
 * ornic_engine_set_loopback - how QPs of this device reach each other
 * @eng: the device
 * @loopback: from memory to memory, the default; else by packets, which only
 *	arrive if a switch reflects them
 *
 * For paths that MODIFY_QP and CREATE_AH make from now on. Multicast is not
 * affected.
 *
 * Context: any.
 */
void ornic_engine_set_loopback(struct ornic_engine *eng, bool loopback);

/* What ornic_engine_set_loopback() set last. */
bool ornic_engine_loopback(const struct ornic_engine *eng);

/**
 * ornic_engine_set_direct - whether ornic_engine_ops.direct may find an engine
 * @eng: the device
 * @on: it may; otherwise it is not asked, and packets cost nothing more. Off by default.
 *
 * Context: any.
 */
void ornic_engine_set_direct(struct ornic_engine *eng, bool on);

/**
 * ornic_engine_set_roce_v1 - whether the device has RoCE v1
 * @eng: the device
 * @on: it reports ORNIC_CAP_ROCE_V1, has GIDs of that type and receives such
 *	packets; off by default, as its GIDs then have the indices that they have on
 *	devices of RoCEv2 only, and the host's rules of IP apply to all packets
 *
 * Context: before the first command and the first packet.
 */
void ornic_engine_set_roce_v1(struct ornic_engine *eng, bool on);

/**
 * ornic_engine_spray_set - over how many paths connections send
 * @eng: the device
 * @paths: UDP source ports of a connection, at most ORNIC_SPRAY_MOST; 0 or 1: one
 *
 * For RC and XRC QPs that are made from now on, and only to peers that repeat
 * selectively. Less than two: QPs that connect from now on, too, have one path. See
 * spray.c.
 *
 * Context: any.
 * Return: 0; -EINVAL if @paths is out of range.
 */
int ornic_engine_spray_set(struct ornic_engine *eng, u32 paths);

/* What ornic_engine_spray_set() set last. */
u32 ornic_engine_spray_get(const struct ornic_engine *eng);

#define ORNIC_PKEY_TABLE_LEN 16

/**
 * ornic_engine_pkey_set - change an entry of the P_Key table
 * @eng: the device
 * @index: entry
 * @pkey: 0: it becomes empty
 *
 * Packets of QPs that use the entry have the new P_Key from now on, and have to match
 * it. QPs whose entry is empty send nothing, and what is posted there fails. Raises
 * ORNIC_EVENT_PKEY_CHANGE.
 *
 * The table belongs to whoever runs the device: no command changes it.
 *
 * Context: may sleep.
 * Return: 0; -EINVAL if @index is out of range, or only the low bits of @pkey are 0.
 */
int ornic_engine_pkey_set(struct ornic_engine *eng, u32 index, u16 pkey);

/* Entry @index, 0 if it is empty; -EINVAL after the last. */
int ornic_engine_pkey_get(const struct ornic_engine *eng, u32 index);

#define ORNIC_RX_PEEK 12

/**
 * struct ornic_rx_peek - what the BTH of a packet says
 * @qpn: the destination
 * @start: the packet is the first of its message
 * @more: other packets of its message follow
 * @request: it is a request, not a response
 */
struct ornic_rx_peek {
	u32 qpn;
	bool start;
	bool more;
	bool request;
};

/**
 * ornic_engine_rx_peek - look at a packet before ornic_engine_rx()
 * @bth: the first ORNIC_RX_PEEK bytes of the BTH
 *
 * Context: any.
 * Return: what is there; nothing of it is checked.
 */
struct ornic_rx_peek ornic_engine_rx_peek(const u8 *bth);

/**
 * ornic_engine_is_peer - does a packet come from the peer of a connected QP?
 * @eng: the device
 * @qpn: QP that it is for; need not exist
 * @ip: its IP header or GRH, as of struct ornic_rx
 * @ipv6: likewise
 *
 * Context: any but hard interrupts.
 * Return: whether addresses, type and state of the QP fit. A hint, read without
 * locks: ICRC and PSN are not checked, and ornic_engine_rx() decides.
 */
bool ornic_engine_is_peer(struct ornic_engine *eng, u32 qpn, const void *ip,
			  bool ipv6);

/**
 * ornic_engine_host_qp - the host's own area of a QP, see struct ornic_engine_ops
 * @eng: the device
 * @qpn: QP, need not exist
 *
 * Context: inside an RCU section, whose end is the end of the result.
 * Return: it, or NULL if there is no such QP; see qp_fini() there.
 */
void *ornic_engine_host_qp(struct ornic_engine *eng, u32 qpn);

/**
 * ornic_engine_sent - has a QP sent something?
 * @eng: the device
 * @qpn: QP, need not exist
 *
 * Context: any but hard interrupts.
 * Return: the PSN after all that was sent, which differs if something new was sent since
 * it was read last. A hint, read without locks; 0 without such a QP or a send queue.
 */
u32 ornic_engine_sent(struct ornic_engine *eng, u32 qpn);

/* What ornic_rx_from_frame() finds in a frame. */
enum ornic_frame {
	ORNIC_FRAME_OTHER, /* not RoCE */
	ORNIC_FRAME_ROCE,
	ORNIC_FRAME_BAD, /* wrong IPv4 checksum: to be dropped */
};

/**
 * ornic_rx_from_frame - find the RoCE packet in an Ethernet frame
 * @rx: out: for ornic_engine_rx(), unless ORNIC_FRAME_OTHER; points into @frame
 * @frame: from the destination address on, without FCS; untrusted
 * @len: its bytes
 *
 * A packet to the port of RoCEv2 whose lengths or IP options are wrong, or one with
 * a GRH whose length is, is ORNIC_FRAME_ROCE without content, so that the engine
 * counts it.
 *
 * Context: any.
 * Return: what it is.
 */
enum ornic_frame ornic_rx_from_frame(struct ornic_rx *rx, const void *frame,
				     u32 len);

/**
 * ornic_engine_rx - one packet from the wire
 * @eng: the device
 * @rx: packet; the caller's again on return, but for what was kept by
 *	ornic_engine_ops::rx_keep
 *
 * Context: softirq or process context, no engine lock held.
 */
void ornic_engine_rx(struct ornic_engine *eng, const struct ornic_rx *rx);

/**
 * ornic_engine_find_frame - which raw packet QPs get a frame that has arrived
 * @eng: the device
 * @head: its first bytes, with the VLAN tag, if it has one: min(length,
 *	ORNIC_FLOW_HEAD) at least
 * @len: how many there are
 * @for_host: the host would take it: for its address, or to a group
 * @hits: out; with @taken the host must not get it. Valid until the RCU section ends:
 *	later a number may be of another QP
 *
 * Context: softirq or process context, in an RCU section.
 */
void ornic_engine_find_frame(struct ornic_engine *eng, const u8 *head, u32 len,
			     bool for_host, struct ornic_flow_hits *hits);

/**
 * ornic_engine_rx_frame - deliver a frame to raw packet QPs
 * @eng: the device
 * @hits: of ornic_engine_find_frame(), in the same RCU section
 * @seg: its bytes, without FCS; the caller's again on return
 * @nsegs: pieces
 *
 * Context: softirq or process context, no engine lock held.
 */
void ornic_engine_rx_frame(struct ornic_engine *eng,
			   const struct ornic_flow_hits *hits,
			   struct ornic_frag *seg, u32 nsegs);

/**
 * ornic_engine_expire - the deadline of a QP has come
 * @eng: the device
 * @qpn: QP; one that does not exist (any more) is ignored
 *
 * Context: softirq or process context, no engine lock held.
 */
void ornic_engine_expire(struct ornic_engine *eng, u32 qpn);

/**
 * ornic_engine_cq_expire - the deadline of a CQ has come
 * @eng: the device
 * @cqn: CQ; one that does not exist (any more) is ignored
 *
 * Context: softirq or process context, no engine lock held.
 */
void ornic_engine_cq_expire(struct ornic_engine *eng, u32 cqn);

/* One counter, summed over all CPUs; 0 if there is no such counter. */
u64 ornic_engine_stat(struct ornic_engine *eng, enum ornic_stat stat);

/* Count a frame that the host could not make out, and gave to no QP. */
void ornic_engine_count_malformed(struct ornic_engine *eng);

/* Count a kick that names no QP, after which the host looks at all of them. */
void ornic_engine_count_kick(struct ornic_engine *eng);

/* The port is up, see SET_PORT. */
bool ornic_engine_port_up(const struct ornic_engine *eng);

/* MTU of the netdev: bytes after the Ethernet header and one tag; 0: not known. */
u32 ornic_engine_netdev_mtu(const struct ornic_engine *eng);

/* Objects that exist, for the host's own statistics. */
struct ornic_engine_counts {
	u32 qps;
	u32 cqs;
	u32 mkeys;
	u32 flows;
};

void ornic_engine_count_objects(const struct ornic_engine *eng,
				struct ornic_engine_counts *counts);

/* True if there is a CQ with this number. */
bool ornic_engine_has_cq(struct ornic_engine *eng, u32 cqn);

/**
 * ornic_engine_pages_get - resolve memory for queues of the host's own
 * @eng: the device
 * @mem: what to resolve, read once
 * @pages: out, to be given to ornic_pages_put()
 *
 * Context: may sleep.
 * Return: 0; -EINVAL, -EFAULT or -ENOMEM, for which nothing is to be put.
 */
int ornic_engine_pages_get(struct ornic_engine *eng,
			   const struct ornic_mem *mem,
			   struct ornic_pages *pages);

#endif /* ORNIC_ENGINE_H */
