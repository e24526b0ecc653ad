/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#ifndef ORNIC_SOFT_ATTRS_H
#define ORNIC_SOFT_ATTRS_H

struct attribute_group;

extern const struct attribute_group ornic_soft_attr_group;

#endif /* ORNIC_SOFT_ATTRS_H */
