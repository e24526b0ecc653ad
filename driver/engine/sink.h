/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Where responses go, sink.c. See proto.h for "sq". */
#ifndef ORNIC_ENGINE_SINK_H
#define ORNIC_ENGINE_SINK_H

#include "qp.h"

/* It has a response of its own, beside ACKs. */
static inline bool ornic_swqe_is_fetch(const struct ornic_swqe *sw)
{
	return sw->kind & ORNIC_OPF_HAS_RESPONSE;
}

/* Does its response bring data? */
static inline bool ornic_swqe_has_sink(const struct ornic_swqe *sw)
{
	return ornic_swqe_is_fetch(sw) &&
	       !(sw->kind & ORNIC_OPF_EMPTY_RESPONSE);
}

/*
 * sq: check that the response of the READ or atomic @sw, from byte @off on, can be written,
 * before it is requested. ORNIC_VERR_PAGE: a page of the first @pages bytes of that is
 * absent; others may be. RCU section.
 */
enum ornic_vendor_err ornic_sink_check(struct ornic_qp *qp,
				       const struct ornic_swqe *sw, u32 off,
				       u32 pages);

/* sq: @sw, whose response is written to its SGEs, is to get its PSNs. */
void ornic_sink_begin(struct ornic_sq *sq, struct ornic_swqe *sw);

/*
 * sq: true if the response of @sw may not be placed now, since an older READ or
 * atomic is to write to the same memory.
 */
noinline bool ornic_sink_must_wait(struct ornic_sq *sq, struct ornic_swqe *sw);

/* sq: true if newer data is where packet @i of @sw belongs: it is not written. */
noinline bool ornic_sink_is_newer(struct ornic_sq *sq,
				  const struct ornic_swqe *sw, u32 i);

#endif /* ORNIC_ENGINE_SINK_H */
