/* SPDX-License-Identifier: ((GPL-2.0 WITH Linux-syscall-note) OR BSD-2-Clause) */
/* The counters of an ornic device, in the order of QUERY_STATS (ornic-hw.h). */
#ifndef ORNIC_HW_STATS_H
#define ORNIC_HW_STATS_H

/* One table: names, values and remarks in columns. */
/* clang-format off */

/*
 * ALWAYS(id, name) or OPTIONAL(id, name) for each counter: ORNIC_STAT_id, and
 * the name by which users know it. The enum below, the driver, ornic-nic and
 * the documentation are made from this list. Optional ones, all at the end,
 * count only while MODIFY_STATS says so.
 */
#define ORNIC_STATS(ALWAYS, OPTIONAL) \
	ALWAYS(KICKS, kicks)				/* kicks taken from the host */ \
	ALWAYS(SEND_WQES, send_wqes)			/* send WQEs executed */ \
	ALWAYS(RECV_WQES, recv_wqes)			/* receive WQEs consumed */ \
	ALWAYS(CQES, cqes)				/* completions written */ \
	ALWAYS(COMP_EVENTS, comp_events)		/* completion events raised */ \
	ALWAYS(TX_PACKETS, tx_packets)			/* RoCE packets sent */ \
	ALWAYS(TX_BYTES, tx_bytes)			/* payload */ \
	ALWAYS(RX_PACKETS, rx_packets)			/* RoCE packets received */ \
	ALWAYS(RX_BYTES, rx_bytes)			/* payload */ \
	ALWAYS(LOOP_MSGS, loop_msgs)			/* messages that stayed on the device */ \
	ALWAYS(LOOP_BYTES, loop_bytes)			/* payload of those */ \
	ALWAYS(RX_ICRC_ERRORS, rx_icrc_encapsulated)	/* packets with a bad ICRC */ \
	ALWAYS(RX_MALFORMED, rx_malformed)		/* bad header, length, opcode, padding */ \
	ALWAYS(RX_NO_QP, rx_no_qp)			/* unknown QPN or wrong state or type */ \
	ALWAYS(RX_BAD_ADDR, rx_bad_addr)		/* addresses not those of the QP */ \
	ALWAYS(RX_BAD_QKEY, rx_bad_qkey)		/* UD: Q_Key not that of the QP */ \
	ALWAYS(RX_BAD_PKEY, rx_bad_pkey)		/* P_Key not one of the QP's partition */ \
	ALWAYS(RX_NO_WQE, rx_no_wqe)			/* UC, UD: dropped for want of a WQE */ \
	ALWAYS(DUPLICATES, duplicate_request)		/* packets of them */ \
	ALWAYS(OUT_OF_SEQ, out_of_sequence)		/* requests ahead of the expected PSN */ \
	ALWAYS(RNR_NAK_SENT, rnr_nak_sent)		/* receiver not ready */ \
	ALWAYS(RNR_NAK_RCVD, rnr_nak_retry_err)		/* likewise, from the peer */ \
	ALWAYS(SEQ_NAK_SENT, seq_nak_sent)		/* a request is missing */ \
	ALWAYS(SEQ_NAK_RCVD, packet_seq_err)		/* likewise, from the peer */ \
	ALWAYS(ERR_NAK_SENT, err_nak_sent)		/* invalid request, access, operation */ \
	ALWAYS(ERR_NAK_RCVD, err_nak_rcvd)		/* likewise, from the peer */ \
	ALWAYS(ACKS_SENT, acks_sent)			/* positive ACKs */ \
	ALWAYS(ACKS_RCVD, acks_rcvd)			/* positive ACKs */ \
	ALWAYS(TIMEOUTS, local_ack_timeout_err)		/* ACK timer expiries */ \
	ALWAYS(RETRIES, retries)			/* go-back-N restarts, any cause */ \
	ALWAYS(TX_STALLS, tx_stalls)			/* QP waited for packets in flight */ \
	ALWAYS(TX_ERRORS, tx_errors)			/* frames that the port refused */ \
	ALWAYS(RX_TOO_LONG, rx_too_long)		/* UC, UD: longer than the receive */ \
	ALWAYS(RX_BAD_RKEY, rx_bad_rkey)		/* UC: WRITEs with a key refused */ \
	ALWAYS(RX_BAD_PSN, rx_bad_psn)			/* responses to nothing outstanding */ \
	ALWAYS(IMPLIED_NAK_SEQ_ERR, implied_nak_seq_err) /* READ response is missing */ \
	ALWAYS(ROCE_ADP_RETRANS, roce_adp_retrans)	/* resends before the ACK timeout */ \
	ALWAYS(ROCE_ADP_RETRANS_TO, roce_adp_retrans_to) /* of these, after a probe */ \
	ALWAYS(NP_ECN_MARKED_ROCE_PACKETS, np_ecn_marked_roce_packets) /* CE */ \
	ALWAYS(NP_CNP_SENT, np_cnp_sent)		/* congestion notifications */ \
	ALWAYS(RP_CNP_HANDLED, rp_cnp_handled)		/* likewise, from the peer */ \
	ALWAYS(RP_CNP_IGNORED, rp_cnp_ignored)		/* likewise, while rp_enable is 0 */ \
	ALWAYS(PAGE_FAULTS, page_faults)		/* QP waited for pages on demand */ \
	ALWAYS(DM_BYTES, dm_bytes)			/* of device memory, used through keys */ \
	OPTIONAL(RX_SEND_REQUESTS, rx_send_requests)	/* SENDs of a peer that were executed */ \
	OPTIONAL(RX_WRITE_REQUESTS, rx_write_requests)	/* WRITEs, likewise */ \
	OPTIONAL(RX_READ_REQUESTS, rx_read_requests)	/* READs that were accepted */ \
	OPTIONAL(RX_ATOMIC_REQUESTS, rx_atomic_requests)	/* atomics that were executed */ \
	OPTIONAL(CC_RX_CE_PKTS, cc_rx_ce_pkts)		/* congestion experienced, RFC 3168 */ \
	OPTIONAL(CC_RX_CNP_PKTS, cc_rx_cnp_pkts)	/* CNPs for QPs that exist */ \
	OPTIONAL(CC_TX_CNP_PKTS, cc_tx_cnp_pkts)	/* CNPs */

#define ORNIC_STAT_ID(id, name)		ORNIC_STAT_##id,
#define ORNIC_STAT_BIT(id, name)	| 1ULL << ORNIC_STAT_##id
#define ORNIC_STAT_NONE(id, name)

enum ornic_stat {
	ORNIC_STATS(ORNIC_STAT_ID, ORNIC_STAT_ID)
	ORNIC_STAT_COUNT
};

#define ORNIC_STATS_OPTIONAL \
	(0ULL ORNIC_STATS(ORNIC_STAT_NONE, ORNIC_STAT_BIT))

/* ---- Completion counters ------------------------------------------------- */

enum ornic_cntr_entry {
	ORNIC_CNTR_COMPLETIONS		= 0,	/* operations that succeeded */
	ORNIC_CNTR_ERRORS		= 1,	/* operations that did not, flushed ones too */
};

enum ornic_cntr_change {
	ORNIC_CNTR_SET			= 0,	/* to @value */
	ORNIC_CNTR_ADD			= 1,	/* @value to it */
};

/* What a counter of a QP counts; bits of enum ib_uverbs_qp_attach_comp_cntr_op. */
enum ornic_cntr_op {
	ORNIC_CNTR_SEND			= 0,	/* send WQEs: SEND, _IMM, _INV */
	ORNIC_CNTR_RECV			= 1,	/* receive WQEs */
	ORNIC_CNTR_READ			= 2,	/* send WQEs: READ, _INV */
	ORNIC_CNTR_REMOTE_READ		= 3,	/* READs of the peer */
	ORNIC_CNTR_WRITE		= 4,	/* send WQEs: WRITE, _IMM */
	ORNIC_CNTR_REMOTE_WRITE		= 5,	/* WRITEs of the peer */
};

#define ORNIC_CNTR_OPS		6

/* clang-format on */

#endif /* ORNIC_HW_STATS_H */
