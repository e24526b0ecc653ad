/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Tracepoints of the soft device (/sys/kernel/tracing/events/ornic). While one
 * of them is enabled, the engine calls ornic_soft_trace().
 */
#undef TRACE_SYSTEM
#define TRACE_SYSTEM ornic

#if !defined(ORNIC_SOFT_TRACE_H) || defined(TRACE_HEADER_MULTI_READ)
#define ORNIC_SOFT_TRACE_H

#include <linux/tracepoint.h>
#include <linux/types.h>

#ifndef ORNIC_SOFT_TRACE_ONCE
#define ORNIC_SOFT_TRACE_ONCE
#include "compat/compat_trace.h"
#include "engine/engine.h"

/*
 * ornic_soft_trace() - ornic_engine_ops::trace
 * ornic_soft_trace_reg() - a tracepoint is enabled.
 * ornic_soft_trace_unreg() - it is disabled.
 */
int ornic_soft_trace_reg(void);
void ornic_soft_trace_unreg(void);
void ornic_soft_trace(void *host, enum ornic_trace what, u32 qpn, u32 code,
		      u32 a, u32 b);
#endif

/* clang-format off */

/* @format names the three numbers. */
#define ORNIC_TRACE_EVENT(event, format)                                   \
	TRACE_EVENT_FN(event,                                              \
		TP_PROTO(const char *netdev, u32 qpn, u32 code, u32 a,     \
			 u32 b),                                           \
		TP_ARGS(netdev, qpn, code, a, b),                          \
		TP_STRUCT__entry(                                          \
			__string(netdev, netdev)                           \
			__field(u32, qpn)                                  \
			__field(u32, code)                                 \
			__field(u32, a)                                    \
			__field(u32, b)                                    \
		),                                                         \
		TP_fast_assign(                                            \
			ORNIC_ASSIGN_STR(netdev);                          \
			__entry->qpn = qpn;                                \
			__entry->code = code;                              \
			__entry->a = a;                                    \
			__entry->b = b;                                    \
		),                                                         \
		TP_printk("%s qpn=%u " format, __get_str(netdev),          \
			  __entry->qpn, __entry->code, __entry->a,         \
			  __entry->b),                                     \
		ornic_soft_trace_reg, ornic_soft_trace_unreg)

ORNIC_TRACE_EVENT(ornic_kick, "state=%u posted=%u taken=%u");
ORNIC_TRACE_EVENT(ornic_tx, "opcode=%#x psn=%u bytes=%u");
ORNIC_TRACE_EVENT(ornic_rx, "opcode=%#x psn=%u bytes=%u");
ORNIC_TRACE_EVENT(ornic_ack, "syndrome=%#x psn=%u msn=%u");
ORNIC_TRACE_EVENT(ornic_completion, "status_opcode=%#x wqe=%u bytes=%u");
ORNIC_TRACE_EVENT(ornic_retry, "left=%u psn=%u window=%u");

#undef ORNIC_TRACE_EVENT

/* clang-format on */

#endif /* ORNIC_SOFT_TRACE_H */

#undef TRACE_INCLUDE_PATH
#define TRACE_INCLUDE_PATH .
#undef TRACE_INCLUDE_FILE
#define TRACE_INCLUDE_FILE soft_trace
#include <trace/define_trace.h>
