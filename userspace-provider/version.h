/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Whether the libibverbs of this process is one that this build fits. */
#ifndef ORNIC_VERSION_H
#define ORNIC_VERSION_H

namespace ornic
{

/** True if libibverbs' private structures are laid out as in pabi.h. */
[[nodiscard]] bool library_fits() noexcept;

} // namespace ornic

#endif // ORNIC_VERSION_H
