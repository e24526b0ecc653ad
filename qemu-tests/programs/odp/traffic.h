/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Requests from and to zones, one at a time on a QP, each of them checked. */
#pragma once

#include <memory>
#include <vector>

#include "ends.h"
#include "zone.h"

/* MRs of both ends: one for each zone, and of all memory. */
struct registered {
	registered(const port &client, const port &server,
		   std::span<const std::unique_ptr<zone>> zones);

	struct both {
		mr_ptr client, server;
	};

	std::vector<both> of_zone;
	both of_all;
};

class traffic {
public:
	/* QP @number of @of: it writes to the fields of every @of-th block. */
	traffic(port &client, port &server, size_t number, size_t of);

	/* One request, of a random kind, to a random zone. */
	void one(std::span<const std::unique_ptr<zone>> zones,
		 const registered &mrs);

private:
	enum class way { read, write, send };

	/* Blocks of a zone, and the keys by which the request uses them. */
	struct target {
		zone &in;
		size_t block, blocks;
		view before;
		uint32_t lkey, srv_lkey, rkey;

		[[nodiscard]] uint64_t address() const
		{
			return reinterpret_cast<uint64_t>(before.base +
							  block * block_bytes);
		}
	};

	target choose(zone &z, size_t number, const registered &mrs,
		      size_t blocks);
	[[nodiscard]] size_t choose_block(const zone &z, size_t blocks);
	[[nodiscard]] remote_end peer(const target &t) const;
	[[nodiscard]] ibv_wc wait(ibv_cq *cq) const;
	[[nodiscard]] bool is_done(const target &t, bool receives);
	void take(const target &t);
	void put(target &t);
	void post_put(const target &t, way how);
	void change(target &t);

	pair pair_;
	size_t number_, of_;
	random_numbers random_;
	uint64_t puts_ = 0;
};
