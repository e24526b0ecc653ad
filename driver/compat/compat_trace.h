/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#ifndef ORNIC_COMPAT_TRACE_H
#define ORNIC_COMPAT_TRACE_H

#include "compat_features.h"

/* __string() was given a variable of the same name. */
#if ORNIC_HAVE_ASSIGN_STR_1
#define ORNIC_ASSIGN_STR(field) __assign_str(field)
#else
#define ORNIC_ASSIGN_STR(field) __assign_str(field, field)
#endif

#endif /* ORNIC_COMPAT_TRACE_H */
