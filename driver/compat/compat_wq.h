/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#ifndef ORNIC_COMPAT_WQ_H
#define ORNIC_COMPAT_WQ_H

#include <linux/workqueue.h>

#include "compat_features.h"

/* A workqueue without WQ_UNBOUND was per CPU; now it is to be named so. */
#if !ORNIC_HAVE_WQ_PERCPU
#define WQ_PERCPU 0
#define system_percpu_wq system_wq
#define system_dfl_wq system_unbound_wq
#endif

#endif /* ORNIC_COMPAT_WQ_H */
