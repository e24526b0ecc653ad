/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Whose device is it? What libibverbs does not look at itself. */
#ifndef ORNIC_MATCH_H
#define ORNIC_MATCH_H

namespace ornic
{

/** Of the PCI NIC: the ids of its function may be those of something else. */
inline constexpr char pci_driver[] = "ornic";

/** Of the parent of a soft device, which has no driver. */
inline constexpr char soft_modalias[] = "ornic:soft";

/** Is the parent of the RDMA device at @ibdev_path bound to @driver? */
[[nodiscard]] bool parent_has_driver(const char *ibdev_path,
				     const char *driver) noexcept;

/** Is one of the RDMA devices in the folder @devices ornic's? */
[[nodiscard]] bool has_device(const char *devices) noexcept;

} // namespace ornic

#endif // ORNIC_MATCH_H
