/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* An address handle: libibverbs' part and the device's number for it. */
#ifndef ORNIC_ADDRESS_HANDLE_H
#define ORNIC_ADDRESS_HANDLE_H

#include <cstdint>
#include <infiniband/verbs.h>

namespace ornic
{

struct address_handle {
	ibv_ah base;
	std::uint32_t number;
};

/** libibverbs only knows the first member. */
[[nodiscard]] inline address_handle *to_ah(ibv_ah *ah) noexcept
{
	return reinterpret_cast<address_handle *>(ah);
}

} // namespace ornic

#endif // ORNIC_ADDRESS_HANDLE_H
