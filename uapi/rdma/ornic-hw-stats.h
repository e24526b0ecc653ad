/* SPDX-License-Identifier: ((GPL-2.0 WITH Linux-syscall-note) OR BSD-2-Clause) */
/* The counters of an ornic device, in the order of QUERY_STATS (ornic-hw.h). */
#ifndef ORNIC_HW_STATS_H
#define ORNIC_HW_STATS_H

/* clang-format off */

enum ornic_stat {
	ORNIC_STAT_KICKS,		/* kicks taken from the host */
	ORNIC_STAT_SEND_WQES,		/* send WQEs executed */
	ORNIC_STAT_RECV_WQES,		/* receive WQEs consumed */
	ORNIC_STAT_CQES,
	ORNIC_STAT_COMP_EVENTS,
	ORNIC_STAT_TX_PACKETS,
	ORNIC_STAT_TX_BYTES,		/* payload */
	ORNIC_STAT_RX_PACKETS,
	ORNIC_STAT_RX_BYTES,
	ORNIC_STAT_LOOP_MSGS,		/* messages that stayed on the device */
	ORNIC_STAT_LOOP_BYTES,
	ORNIC_STAT_RX_ICRC_ERRORS,
	ORNIC_STAT_RX_MALFORMED,	/* bad header, length, opcode, padding */
	ORNIC_STAT_RX_NO_QP,		/* unknown QPN or wrong state or type */
	ORNIC_STAT_RX_BAD_ADDR,		/* addresses not those of the QP */
	ORNIC_STAT_RX_BAD_QKEY,
	ORNIC_STAT_RX_BAD_PKEY,
	ORNIC_STAT_RX_NO_WQE,		/* UC, UD: dropped for want of a WQE */
	ORNIC_STAT_DUPLICATES,		/* duplicate requests */
	ORNIC_STAT_OUT_OF_SEQ,		/* requests ahead of the expected PSN */
	ORNIC_STAT_RNR_NAK_SENT,
	ORNIC_STAT_RNR_NAK_RCVD,
	ORNIC_STAT_SEQ_NAK_SENT,
	ORNIC_STAT_SEQ_NAK_RCVD,
	ORNIC_STAT_ERR_NAK_SENT,	/* invalid request, access, operation */
	ORNIC_STAT_ERR_NAK_RCVD,
	ORNIC_STAT_ACKS_SENT,
	ORNIC_STAT_ACKS_RCVD,
	ORNIC_STAT_TIMEOUTS,		/* ACK timer expiries */
	ORNIC_STAT_RETRIES,		/* go-back-N restarts, any cause */
	ORNIC_STAT_TX_STALLS,		/* QP waited for packets in flight */
	ORNIC_STAT_TX_ERRORS,		/* frames that the port refused */
	ORNIC_STAT_RX_TOO_LONG,		/* UC, UD: longer than the receive */
	ORNIC_STAT_RX_BAD_RKEY,		/* UC: WRITEs with a key that is refused */
	/* Optional ones, all at the end, count only while MODIFY_STATS says so. */
	ORNIC_STAT_RX_SEND_REQUESTS,	/* messages executed for a peer */
	ORNIC_STAT_RX_WRITE_REQUESTS,
	ORNIC_STAT_RX_READ_REQUESTS,
	ORNIC_STAT_RX_ATOMIC_REQUESTS,
	ORNIC_STAT_RX_CE_PACKETS,	/* congestion experienced, RFC 3168 */
	ORNIC_STAT_COUNT
};

#define ORNIC_STATS_OPTIONAL \
	(1ULL << ORNIC_STAT_RX_SEND_REQUESTS | \
	 1ULL << ORNIC_STAT_RX_WRITE_REQUESTS | \
	 1ULL << ORNIC_STAT_RX_READ_REQUESTS | \
	 1ULL << ORNIC_STAT_RX_ATOMIC_REQUESTS | \
	 1ULL << ORNIC_STAT_RX_CE_PACKETS)

/* clang-format on */

#endif /* ORNIC_HW_STATS_H */
