// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause

#include "ops.h"

#include <rdma/ib_user_verbs.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <span>

#include "extended.h"
#include "world.h"

namespace
{

/* A field of a specification that a rule names in full. */
struct field {
	uint32_t spec_type;
	uint16_t filter_size;
	uint16_t offset, size;
	std::array<uint8_t, 6> value;
};

constexpr std::size_t num_fields = 5;
constexpr uint32_t drop_action = 0x1001;
constexpr std::size_t max_specs_size = 256;

std::array<field, num_fields> fields_of(const world &w)
{
	return { {
		/* Addresses of Ethernet, IPv4 and IPv6; ports of TCP and UDP */
		{ 0x20, 16, 0, 6, w.netdev_mac },
		{ 0x30, 12, 4, 4, { 10, 0, 0, 1 } },
		{ 0x31, 40, 16, 16, { 0xfc } },
		{ 0x40, 4, 0, 2, { 0x1b, 0x58 } },
		{ 0x41, 4, 0, 2, { 0x12, 0xb7 } },
	} };
}

struct specs {
	std::array<std::byte, max_specs_size> bytes{};
	std::size_t used = 0;
	uint8_t count = 0;

	std::byte *add(uint32_t type, std::size_t body)
	{
		std::byte *const at = bytes.data() + used;
		const auto size = static_cast<uint16_t>(8 + body);

		std::memcpy(at, &type, sizeof(type));
		std::memcpy(at + sizeof(type), &size, sizeof(size));
		used += size;
		count++;
		return at + 8;
	}
};

/* The bits of @which choose them; another @value is another rule. */
specs make_specs(const world &w, uint64_t which, uint64_t value)
{
	specs all;

	for (const field &f : fields_of(w)) {
		if (which & 1) {
			std::byte *const at = all.add(
				f.spec_type, std::size_t{ 2 } * f.filter_size);
			std::byte *const last = at + f.offset + f.size - 1;

			std::memcpy(at + f.offset, f.value.data(),
				    std::min<std::size_t>(f.size,
							  f.value.size()));
			*last ^= static_cast<std::byte>(value);
			std::memset(at + f.filter_size + f.offset, 0xff,
				    f.size);
		}
		which >>= 1;
	}
	if (which & 1)
		all.add(drop_action, 0);
	return all;
}

} /* namespace */

/* create_flow(place, specs + 256 * type + 1024 * flags, value, qp) */
void op_create_flow(world &w, const call &c)
{
	const specs all = make_specs(w, c.arg[1] & 0x3f, c.arg[2]);
	ib_uverbs_create_flow core = {};
	ib_uverbs_create_flow_resp answer = {};

	core.qp_handle = w.place(c, qp, c.arg[3]).handle;
	core.flow_attr.type = static_cast<uint32_t>(c.arg[1] >> 8 & 3);
	core.flow_attr.flags = static_cast<uint32_t>(c.arg[1] >> 10 & 3);
	core.flow_attr.size = static_cast<uint16_t>(all.used);
	core.flow_attr.num_of_specs = all.count;
	core.flow_attr.priority = static_cast<uint16_t>(c.arg[2] >> 8);
	core.flow_attr.port = 1;
	extended_command cmd(IB_USER_VERBS_EX_CMD_CREATE_FLOW);

	cmd.add(core);
	cmd.add(std::span(all.bytes).first(all.used));
	if (cmd.run(w, c, answer))
		w.place(c, flow).handle = answer.flow_handle;
}

/* destroy_flow(place) */
void op_destroy_flow(world &w, const call &c)
{
	ib_uverbs_destroy_flow core = {};
	uint64_t answer = 0;

	core.flow_handle = w.place(c, flow).handle;
	extended_command cmd(IB_USER_VERBS_EX_CMD_DESTROY_FLOW);

	cmd.add(core);
	cmd.run(w, c, answer);
}
