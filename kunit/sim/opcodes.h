// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
// What the opcodes of WQEs have in common.
#pragma once

extern "C" {
#include "pair_fixture.h"
}

namespace sim
{

constexpr u32 grh = ORNIC_GRH_LEN;

inline bool is_fetch(u8 op)
{
	return op == ORNIC_WQE_READ || op == ORNIC_WQE_CAS ||
	       op == ORNIC_WQE_FAA;
}

inline bool is_atomic(u8 op)
{
	return op == ORNIC_WQE_CAS || op == ORNIC_WQE_FAA;
}

inline bool is_on_word(u8 op)
{
	return is_atomic(op) || op == ORNIC_WQE_ATOMIC_WRITE;
}

inline bool is_write(u8 op)
{
	return op == ORNIC_WQE_WRITE || op == ORNIC_WQE_WRITE_IMM;
}

inline bool is_send(u8 op)
{
	return op == ORNIC_WQE_SEND || op == ORNIC_WQE_SEND_IMM ||
	       op == ORNIC_WQE_SEND_INV;
}

// Executed by the sender's device, nothing is sent.
inline bool is_local(u8 op)
{
	return op == ORNIC_WQE_BIND_MW || op == ORNIC_WQE_LOCAL_INV;
}

// Has neither SGEs nor inline bytes.
inline bool is_bare(u8 op)
{
	return is_local(op) || op == ORNIC_WQE_FLUSH;
}

inline u32 next_variant(u32 key)
{
	return (key & ~0xffu) | ((key + 1) & 0xff);
}

inline bool has_imm(u8 op)
{
	return op == ORNIC_WQE_SEND_IMM || op == ORNIC_WQE_WRITE_IMM;
}

} // namespace sim
