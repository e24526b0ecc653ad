// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause

#include "ends.h"

#include <cstdlib>
#include <fstream>
#include <sstream>

port open_port(const std::string &spec)
{
	const size_t colon = spec.find(':');

	check(colon != std::string::npos, spec + " is no DEVICE:GID-INDEX");
	return { spec.substr(0, colon), std::atoi(spec.c_str() + colon + 1),
		 "ornic" };
}

mr_ptr register_on_demand(const port &on, std::span<const std::byte> range)
{
	mr_ptr mr(ibv_reg_mr(on.pd.get(), const_cast<std::byte *>(range.data()),
			     range.size(), all_access | IBV_ACCESS_ON_DEMAND));

	check(mr != nullptr, "ibv_reg_mr on demand, on " + on.name);
	return mr;
}

mr_ptr register_all_memory(const port &on)
{
	mr_ptr mr(ibv_reg_mr(on.pd.get(), nullptr, SIZE_MAX,
			     all_access | IBV_ACCESS_ON_DEMAND));

	check(mr != nullptr, "ibv_reg_mr of all memory, on " + on.name);
	return mr;
}

uint64_t address_of(std::span<const std::byte> bytes)
{
	return reinterpret_cast<uint64_t>(bytes.data());
}

static void reset(endpoint &e)
{
	ibv_qp_attr attr{};
	ibv_wc wc;

	attr.qp_state = IBV_QPS_RESET;
	check_equal(ibv_modify_qp(e.qp.get(), &attr, IBV_QP_STATE), 0,
		    "modify to RESET");
	for (ibv_cq *cq : { e.send_cq.get(), e.recv_cq.get() })
		while (ibv_poll_cq(cq, 1, &wc) > 0)
			;
	e.psn = (e.psn + 0x10000) & 0xffffff;
}

void reconnect(pair &p)
{
	reset(p.client);
	reset(p.server);
	p.client.to_init();
	p.server.to_init();
	p.server.to_rtr(p.client);
	p.client.to_rtr(p.server);
	p.server.to_rts();
	p.client.to_rts();
}

uint64_t number_in(const std::string &path, const std::string &name)
{
	std::ifstream file(path);
	std::string line, word;
	uint64_t number;

	while (std::getline(file, line)) {
		std::istringstream words(line);

		if (words >> word >> number && word == name)
			return number;
	}
	fail(path + " has no " + name);
}
