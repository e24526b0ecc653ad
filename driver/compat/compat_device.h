/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#ifndef ORNIC_COMPAT_DEVICE_H
#define ORNIC_COMPAT_DEVICE_H

#include "compat_features.h"

/* Registering a bus_type may write to it. */
#if ORNIC_HAVE_BUS_CONST
#define ORNIC_BUS_MAY_BE(...) __VA_ARGS__
#else
#define ORNIC_BUS_MAY_BE(...)
#endif

/* The device that is given to the uevent() of a bus_type. */
#if ORNIC_HAVE_UEVENT_CONST
#define ORNIC_UEVENT_MAY_BE(...) __VA_ARGS__
#else
#define ORNIC_UEVENT_MAY_BE(...)
#endif

#if !ORNIC_HAVE_SET_DMA_COHERENT
#define dev_set_dma_coherent(dev) ((dev)->dma_coherent = true)
#endif

#endif /* ORNIC_COMPAT_DEVICE_H */
