/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Congestion control by ECN marks: parameters of a device, state of a QP. What
 * it does is in Documentation/congestion.rst.
 */
#ifndef ORNIC_ENGINE_CC_H
#define ORNIC_ENGINE_CC_H

#include "env.h"

struct ornic_engine;

/* One table: name, initial value, least and largest. */
/* clang-format off */

/*
 * P(id, name, initial, least, most) for each parameter. Those of mlx5's debugfs
 * have its names, units and initial values; enable is ecn/roce_rp/enable and
 * ecn/roce_np/enable of its netdev.
 */
#define ORNIC_CC_PARAMS(P) \
	P(RP_ENABLE, rp_enable, 1, 0, 1)		/* react to CNPs and BECN */ \
	P(CLAMP_TGT_RATE, rp_clamp_tgt_rate, 0, 0, 1)	/* each CNP sets the target rate */ \
	P(CLAMP_TGT_RATE_ATI, rp_clamp_tgt_rate_ati, 1, 0, 1) /* after an increase by time */ \
	P(TIME_RESET, rp_time_reset, 300, 1, 131071)	/* us between increases */ \
	P(BYTE_RESET, rp_byte_reset, 32767, 0, 1 << 30)	/* bytes between them; 0 = never */ \
	P(THRESHOLD, rp_threshold, 1, 1, 31)		/* increases in each stage */ \
	P(AI_RATE, rp_ai_rate, 5, 1, 400000)		/* Mbit/s */ \
	P(MAX_RATE, rp_max_rate, 0, 0, 400000)		/* Mbit/s; 0 = 400 Gbit/s */ \
	P(HAI_RATE, rp_hai_rate, 40, 1, 400000)		/* Mbit/s */ \
	P(MIN_DEC_FAC, rp_min_dec_fac, 50, 1, 100)	/* percent that are left, at least */ \
	P(MIN_RATE, rp_min_rate, 1, 1, 400000)		/* Mbit/s */ \
	P(FIRST_RATE, rp_rate_to_set_on_first_cnp, 0, 0, 400000) /* Mbit/s; 0 = as measured */ \
	P(DCE_TCP_G, rp_dce_tcp_g, 1019, 1, 1023)	/* of 1024: what alpha keeps */ \
	P(DCE_TCP_RTT, rp_dce_tcp_rtt, 55, 1, 131071)	/* us between updates of alpha; mlx5: 1 */ \
	P(MONITOR_PERIOD, rp_rate_reduce_monitor_period, 4, 0, 131071) /* us between cuts */ \
	P(INITIAL_ALPHA, rp_initial_alpha_value, 1023, 1, 1023) /* of 1024 */ \
	P(RTT_ENABLE, rp_rtt_enable, 0, 0, 1)		/* the RTT changes windows */ \
	P(RTT_TARGET, rp_rtt_target, 500, 1, 131071)	/* us */ \
	P(RTT_AI, rp_rtt_ai, 32, 1, 4096)		/* of 256 packets, in an RTT */ \
	P(RTT_BETA, rp_rtt_beta, 25, 1, 100)		/* percent that go at the target */ \
	P(RTT_MIN_DEC_FAC, rp_rtt_min_dec_fac, 50, 1, 100) /* percent that are left, at least */ \
	P(NP_ENABLE, np_enable, 1, 0, 1)		/* tell the peer of marks */ \
	P(MIN_TIME_BETWEEN_CNPS, np_min_time_between_cnps, 50, 0, 131071) /* us */ \
	P(CNP_DSCP, np_cnp_dscp, 48, 0, 63)		/* of CNPs */

#define ORNIC_CC_PARAM_ID(id, name, initial, least, most) ORNIC_CC_##id,

enum ornic_cc_param {
	ORNIC_CC_PARAMS(ORNIC_CC_PARAM_ID)
	ORNIC_CC_PARAM_COUNT
};

/* clang-format on */

struct ornic_cc_param_info {
	const char *name;
	u32 initial;
	u32 least;
	u32 most;
};

extern const struct ornic_cc_param_info ornic_cc_param_infos[];

/**
 * ornic_engine_cc_set - change a parameter of congestion control
 * @eng: the device
 * @which: the parameter
 * @value: in its unit
 *
 * Effective for all QPs from their next packet on.
 *
 * Context: any.
 * Return: 0, or -EINVAL for a value out of range or a parameter that there is not.
 */
int ornic_engine_cc_set(struct ornic_engine *eng, enum ornic_cc_param which,
			u32 value);

/* A parameter; 0 if there is none with this number. */
u32 ornic_engine_cc_get(const struct ornic_engine *eng,
			enum ornic_cc_param which);

/*
 * struct ornic_cc - reaction point of a QP: the rate of its requests and READ
 * responses together, by the law of DCQCN. Nothing is limited until a CNP comes.
 */
struct ornic_cc {
	ornic_lock_t lock; /* a leaf: inside sq or rq */
	bool paced; /* a CNP came: @lock is taken for each packet; a peek is allowed */
	bool grown; /* by time, since the last cut */
	u32 rate; /* kbit/s; 0 = is being measured */
	u32 target; /* kbit/s: what @rate grows to */
	u32 alpha; /* of 2^20: how congested the path is */
	u32 time_stage; /* increases since the last cut, by time, ... */
	u32 byte_stage; /* ... and by what was sent */
	u64 bytes; /* sent since the last one of these */
	u64 next; /* when the next packet may go, ns */
	u64 cut_at; /* when the rate was cut, or the measuring began, ns */
	u64 busy; /* of the time that the rate was used, what is not a stage yet, ns */
	u64 alpha_at; /* when alpha was as it is, ns */
};

/*
 * struct ornic_cc_window - what marks say about the window of a requester whose
 * peer sends them back in its responses: the law of DCTCP. sq.lock
 */
struct ornic_cc_window {
	bool on; /* a mark came back not long ago */
	bool cut; /* the window is smaller since the round trip began */
	u32 end; /* PSN that ends the round trip */
	u32 alpha; /* of 1024: part of the packets that were marked */
	u32 marked; /* in this round trip, ... */
	u32 acked; /* ... of so many */
};

/*
 * struct ornic_delay - what the RTT says about the window of a requester: the law
 * of Swift, delay.c. sq.lock
 */
struct ornic_delay {
	u32 cwnd; /* the window in packets / 256; 0 = was never cut */
	u32 end; /* samples of what was sent before it are older than the last cut */
	u8 ack_early; /* an ACK is asked for so many packets earlier than otherwise */
	u8 nshort; /* windows in a row with a short RTT, up to a limit */
	u8 ncalm; /* samples in a row below the target, up to a limit */
	bool spread; /* the window is less than a packet: @next counts */
	u64 next; /* when the next packet may go, ns */
	u32 ncuts; /* in a row that have not made the RTT shorter, ... */
	u32 first; /* ... @cwnd before them, ... */
	u64 first_rtt; /* ... what the RTT was, ns ... */
	u64 first_at; /* ... and when that was, ns */
	u32 resent; /* packets that went again, ... */
	u32 resent_psn; /* ... and max_psn when that was 0 */
	u64 lossy_until; /* something was lost not long ago, ns */
	u64 crowded_until; /* there was heavy loss not long ago, ns */
	u64 untried_until; /* until then a long RTT is taken for that of the path, ns */
	u64 off_rtt; /* cuts do not make the RTT shorter than this, ns: ... */
	u64 off_until; /* ... it does not count until then, ns */
	u64 reorder_until; /* an ACK was overtaken not long ago, ns */
	u64 before; /* the last sample, ns; 0 = none, or it does not count */
	u64 base; /* least RTT of the last seconds, ns; 0 = none so far */
	u64 base_next; /* ... since the period began that ends at ... */
	u64 base_until; /* ... this time, ns */
};

#endif /* ORNIC_ENGINE_CC_H */
