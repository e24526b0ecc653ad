/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Whose device is it? What libibverbs does not look at itself. */
#ifndef ORNIC_MATCH_H
#define ORNIC_MATCH_H

namespace ornic
{

/** Is the parent of the RDMA device at @ibdev_path bound to @driver? */
[[nodiscard]] bool parent_has_driver(const char *ibdev_path,
				     const char *driver) noexcept;

} // namespace ornic

#endif // ORNIC_MATCH_H
