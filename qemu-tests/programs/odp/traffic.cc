// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause

#include "traffic.h"

#include <unistd.h>

#include <chrono>
#include <cstring>

namespace
{

constexpr size_t most_blocks = 4; /* of a request */
/* In the buffers of both ends, whose pages stay: what is taken, and what is put. */
constexpr size_t taken_at = 0, put_at = most_blocks * block_bytes;
constexpr size_t put_bytes = field_bytes - 8;
constexpr uint32_t word_bytes = 8;

constexpr const char *way_names[] = { "READ", "WRITE", "SEND" };

options qp_options()
{
	options o;

	o.buffer = put_at + block_bytes;
	o.qp_access = all_access;
	return o;
}

void count(tally &t, const zone &z, const view &before)
{
	t.all++;
	if (z.is_undisturbed(before))
		t.undisturbed++;
}

} /* namespace */

registered::registered(const port &client, const port &server,
		       std::span<const std::unique_ptr<zone>> zones)
	: of_all{ register_all_memory(client), register_all_memory(server) }
{
	for (const auto &z : zones) {
		const std::span<const std::byte> range(z->home, zone_bytes);

		of_zone.push_back({ register_on_demand(client, range),
				    register_on_demand(server, range) });
	}
}

traffic::traffic(port &client, port &server, size_t number, size_t of)
	: pair_(client, server, qp_options())
	, number_(number)
	, of_(of)
	, random_(100 + number)
{
}

/* The fields of these blocks are written by this QP only. */
size_t traffic::choose_block(const zone &z, size_t blocks)
{
	size_t first = 0, range = zone_blocks;

	if (z.what == kind::late && random_.below(8)) {
		first = z.warm;
		range = zone::warm_blocks;
	}
	range -= blocks - 1;
	return first + random_.below(range / of_) * of_ + number_;
}

traffic::target traffic::choose(zone &z, size_t number, const registered &mrs,
				size_t blocks)
{
	const view before = z.look();
	/* The MR of the zone is at its home. */
	const bool all = before.base != z.home || random_.below(2);
	const registered::both &mr = all ? mrs.of_all : mrs.of_zone[number];

	return { z,
		 choose_block(z, blocks),
		 blocks,
		 before,
		 mr.client->lkey,
		 mr.server->lkey,
		 mr.server->rkey };
}

remote_end traffic::peer(const target &t) const
{
	remote_end end = pair_.server;

	end.rkey = t.rkey;
	end.address = t.address();
	return end;
}

/* Leaves the CPU to the events, unlike endpoint::wait(). */
ibv_wc traffic::wait(ibv_cq *cq) const
{
	const auto end = std::chrono::steady_clock::now() +
			 std::chrono::milliseconds(timeout_ms());
	ibv_wc wc{};

	for (;;) {
		const int got = ibv_poll_cq(cq, 1, &wc);

		check(got >= 0, "ibv_poll_cq");
		if (got)
			return wc;
		check(std::chrono::steady_clock::now() < end,
		      "no completion in time");
		usleep(50);
	}
}

/* False if it was refused. Fails if there is no reason for that. */
bool traffic::is_done(const target &t, bool receives)
{
	ibv_wc wc = wait(pair_.client.send_cq.get());

	if (wc.status == IBV_WC_SUCCESS && receives)
		wc = wait(pair_.server.recv_cq.get());
	if (wc.status == IBV_WC_SUCCESS)
		return true;
	const bool is_refusal = wc.status == IBV_WC_REM_ACCESS_ERR ||
				wc.status == IBV_WC_REM_OP_ERR ||
				wc.status == IBV_WC_LOC_PROT_ERR;
	check(is_refusal && t.in.may_refuse(t.before),
	      std::string(ibv_wc_status_str(wc.status)) + " of zone " +
		      t.in.name() + ", block " + std::to_string(t.block));
	t.in.refused++;
	reconnect(pair_);
	return false;
}

/* By READ of the zone, or WRITE or SEND from it. */
void traffic::take(const target &t)
{
	const auto how = static_cast<way>(random_.below(3));
	const size_t bytes = t.blocks * block_bytes;
	const ibv_sge from{ t.address(), static_cast<uint32_t>(bytes), t.lkey };
	const endpoint &to = how == way::read ? pair_.client : pair_.server;

	clear(to.at(taken_at, bytes));
	switch (how) {
	case way::read:
		pair_.client.post(rdma(IBV_WR_RDMA_READ, 0, peer(t), 0),
				  { pair_.client.sge(taken_at, bytes) });
		break;
	case way::write:
		pair_.client.post(rdma(IBV_WR_RDMA_WRITE, 0, pair_.server,
				       taken_at),
				  { from });
		break;
	case way::send:
		pair_.server.post_recv(0, taken_at, bytes);
		pair_.client.post(request(IBV_WR_SEND, 0), { from });
	}
	if (!is_done(t, how == way::send))
		return;
	count(t.in.takes, t.in, t.before);
	t.in.check_taken(to.at(taken_at, bytes), t.block, t.before,
			 way_names[static_cast<size_t>(how)]);
}

void traffic::post_put(const target &t, way how)
{
	endpoint &from = how == way::read ? pair_.server : pair_.client;
	const uint64_t field = t.address() + field_offset + word_bytes;
	remote_end to = peer(t);

	t.in.fill_field(from.at(put_at, put_bytes), t.block, puts_);
	to.address = field;
	switch (how) {
	case way::read:
		pair_.client.post(rdma(IBV_WR_RDMA_READ, 0, pair_.server,
				       put_at),
				  { { field, put_bytes, t.lkey } });
		break;
	case way::write:
		pair_.client.post(rdma(IBV_WR_RDMA_WRITE, 0, to, 0),
				  { from.sge(put_at, put_bytes) });
		break;
	case way::send:
		pair_.server.post_recv(0, { { field, put_bytes, t.srv_lkey } });
		pair_.client.post(request(IBV_WR_SEND, 0),
				  { from.sge(put_at, put_bytes) });
	}
}

/* By WRITE, SEND to a receive in the zone, or READ to the zone. */
void traffic::put(target &t)
{
	const auto how = static_cast<way>(random_.below(3));

	puts_++;
	post_put(t, how);
	if (!is_done(t, how == way::send))
		return;
	const std::shared_lock still(t.in.still);

	count(t.in.puts, t.in, t.before);
	t.in.check_put(t.block, puts_, t.before,
		       way_names[static_cast<size_t>(how)]);
	/* All pages are the same again. */
	if (t.in.what == kind::merge)
		t.in.clear_field(t.block);
}

/* An atomic, which must be executed once, on the current page. */
void traffic::change(target &t)
{
	std::shared_lock still(t.in.still, std::try_to_lock);
	if (!still || t.in.look().ended != t.before.ended)
		return;
	const uint64_t had = t.in.counter(t.block);
	still.unlock();

	const uint64_t operand = 1 + random_.below(1000);
	const bool adds = random_.below(2);
	remote_end to = peer(t);

	to.address += field_offset;
	pair_.client.post(adds ? atomic(IBV_WR_ATOMIC_FETCH_AND_ADD, 0, to, 0,
					operand) :
				 atomic(IBV_WR_ATOMIC_CMP_AND_SWP, 0, to, 0,
					had, operand),
			  { pair_.client.sge(taken_at, word_bytes) });
	if (!is_done(t, false))
		return;
	uint64_t got;
	std::memcpy(&got, pair_.client.at(taken_at, word_bytes).data(),
		    word_bytes);
	still.lock();
	count(t.in.atomics, t.in, t.before);
	const bool undisturbed = t.in.is_undisturbed(t.before);
	const uint64_t now = t.in.counter(t.block);
	const uint64_t want = adds ? had + operand : operand;
	const std::string what = "atomic in zone " + t.in.name() + ", block " +
				 std::to_string(t.block);

	/* A page that is new has 0. */
	check(got == had || (!undisturbed && !got), what + ": result");
	check(!undisturbed || now == want, what + ": value");
	if (t.in.what == kind::merge)
		t.in.clear_field(t.block);
}

void traffic::one(std::span<const std::unique_ptr<zone>> zones,
		  const registered &mrs)
{
	const size_t number = random_.below(zones.size());
	zone &z = *zones[number];
	const uint64_t dice = random_.below(8);

	if (dice < 4) {
		take(choose(z, number, mrs, 1 + random_.below(most_blocks)));
		return;
	}
	target t = choose(z, number, mrs, 1);

	if (dice < 7)
		put(t);
	else
		change(t);
}
