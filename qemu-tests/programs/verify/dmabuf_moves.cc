// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* MRs on dma-bufs whose exporter moves the memory, or revokes it, under traffic. */

#include <sys/utsname.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <functional>
#include <memory>
#include <thread>

#include "dmabuf.h"
#include "odp.h"
#include "other_process.h"

namespace
{

using clock_type = std::chrono::steady_clock;

/* Of a test; fewer where all takes long. */
unsigned long moves_wanted()
{
	return timeout_ms() > 20000 ? 100 : 1000;
}

class dmabuf_moving : public verify {
protected:
	dmabuf_moving()
	{
		const dma_buffer buffer(exporter::moving, buffer_size);

		need_ornic(on);
		if (!buffer)
			skip("no ornic_dmabuf_exporter");
		need_moves(on, buffer);
	}
};

/* Moves dma-bufs in turn, in a thread of its own. */
class mover {
public:
	explicit mover(std::vector<dma_buffer *> buffers)
		: buffers_(std::move(buffers))
		, thread_([this] { run(); })
	{
	}
	~mover()
	{
		join();
	}
	mover(const mover &) = delete;
	mover &operator=(const mover &) = delete;

	/* How many times it has moved one. Fails if it could not. */
	[[nodiscard]] unsigned long count() const
	{
		check(!failed_, "a dma-buf does not move");
		return count_;
	}
	unsigned long stop()
	{
		join();
		return count();
	}

private:
	void join()
	{
		stop_ = true;
		if (thread_.joinable())
			thread_.join();
	}
	/*
	 * Before the next move, the one with number @n, which took @took. Memory that moves
	 * most of the time is hardly ever used: where a move takes long, so does this.
	 */
	void pause(unsigned long n, clock_type::duration took) const
	{
		const auto end = clock_type::now() + took;

		usleep(n * 37 % 1000);
		while (!stop_ && clock_type::now() < end)
			usleep(1000);
	}
	void run()
	{
		try {
			for (unsigned long n = 0; !stop_; count_ = ++n) {
				const auto begin = clock_type::now();

				buffers_[n % buffers_.size()]->move();
				pause(n, clock_type::now() - begin);
			}
		} catch (const failure &why) {
			std::printf("# move: %s\n", why.what());
			failed_ = true;
		}
	}

	std::vector<dma_buffer *> buffers_;
	std::atomic<unsigned long> count_ = 0;
	std::atomic<bool> stop_ = false, failed_ = false;
	std::thread thread_; /* the last one, as it uses the others */
};

/* QPs that share an MR: each has some of the messages that fill it. */
class lanes {
public:
	explicit lanes(const ports &on)
	{
		for (auto &p : pairs)
			p = std::make_unique<pair>(on.client, on.server);
	}

	/* All messages, between the same places of both MRs. */
	void post(ibv_wr_opcode opcode, const region &from, const region &to)
	{
		for (size_t i = 0; i < messages; i++)
			post(i, opcode, from, to);
	}

	/* One more of each QP. */
	void post_last(ibv_wr_opcode opcode, const region &from,
		       const region &to)
	{
		for (size_t i = 0; i < pairs.size(); i++)
			post(i, opcode, from, to);
	}

	void post_atomic(size_t lane, const ibv_send_wr &wr, const ibv_sge &sge)
	{
		pairs[lane]->client.post(wr, { sge });
		left_++;
	}

	/* Until all that was posted has succeeded. */
	void complete(const std::function<void()> &meanwhile)
	{
		const auto end = clock_type::now() +
				 std::chrono::milliseconds(timeout_ms());

		while (left_) {
			meanwhile();
			for (const auto &p : pairs) {
				reap(p->client.send_cq.get());
				reap(p->server.recv_cq.get());
			}
			check(clock_type::now() < end, "not done in time");
		}
	}

	std::array<std::unique_ptr<pair>, 3> pairs;

private:
	static constexpr size_t messages = 12;
	static constexpr size_t size = mr_size / messages;

	void post(size_t i, ibv_wr_opcode opcode, const region &from,
		  const region &to)
	{
		const size_t at = i * size;
		const size_t bytes = i + 1 < messages ? size : mr_size - at;
		pair &p = *pairs[i % pairs.size()];

		if (opcode == IBV_WR_SEND) {
			p.server.post_recv(i, { to.sge(at, bytes) });
			left_++;
		}
		p.client.post(rdma(opcode, i, to.end(p.server), at),
			      { from.sge(at, bytes) });
		left_++;
	}

	void reap(ibv_cq *cq)
	{
		ibv_wc wc;

		while (ibv_poll_cq(cq, 1, &wc) > 0) {
			check_wc(wc, IBV_WC_SUCCESS,
				 "message " + std::to_string(wc.wr_id));
			left_--;
		}
	}

	size_t left_ = 0;
};

/* WRITEs, READs and SENDs of all bytes, which must all be right each time. */
void check_traffic(lanes &all, const region &from, const region &to,
		   uint32_t seed, const std::function<void()> &meanwhile)
{
	fill(from.inside(), seed);
	all.post(IBV_WR_RDMA_WRITE, from, to);
	all.complete(meanwhile);
	check_fill(to.inside(), seed, "what was written");
	clear(from.inside());
	all.post(IBV_WR_RDMA_READ, from, to);
	all.complete(meanwhile);
	check_fill(from.inside(), seed, "what was read");
	fill(from.inside(), ~seed);
	all.post(IBV_WR_SEND, from, to);
	all.complete(meanwhile);
	check_fill(to.inside(), ~seed, "what was received");
	from.check_guards();
	to.check_guards();
}

void check_no_stray(const region &r)
{
	check_equal(r.buffer.stray(), 0U, "stray bytes");
}

/* Moves begin when messages are posted, and are over before bytes are looked at. */
TEST_F(dmabuf_moving, dmabuf_moves)
{
	lanes all(on);
	region from(on.client, exporter::moving),
		to(on.server, exporter::moving);
	unsigned long moves = 0;

	for (uint32_t seed = 1; moves < moves_wanted(); seed++) {
		/* At times there must be none, for messages to end. */
		const unsigned long most = moves + 12;
		check_traffic(all, from, to, seed, [&] {
			if (moves < most)
				(moves++ % 2 ? from : to).buffer.move();
			usleep(50);
		});
	}
	check_no_stray(from);
	check_no_stray(to);
}

/* Moves at any time, also while the CPU fills the memory and looks at it. */
TEST_F(dmabuf_moving, dmabuf_moves_meanwhile)
{
	lanes all(on);
	region from(on.client, exporter::moving),
		to(on.server, exporter::moving);
	mover moves({ &from.buffer, &to.buffer });

	for (uint32_t seed = 1; moves.count() < moves_wanted(); seed++)
		check_traffic(all, from, to, seed, [] {});
	moves.stop();
	check_no_stray(from);
	check_no_stray(to);
}

/* Each is executed once, and its result is the only one of its kind. */
TEST_F(dmabuf_moving, dmabuf_moves_atomics)
{
	constexpr size_t each = 16;
	if (!has_atomics && copies_by_cpu(on.server))
		skip(on.server.name + " has no atomics on dma-bufs");
	lanes all(on);
	region to(on.server, exporter::moving, all_access),
		results(on.client, exporter::moving);
	std::vector<uint64_t> seen;

	set_word(to.inside(), 0);
	mover moves({ &to.buffer, &results.buffer });
	while (moves.count() < moves_wanted()) {
		for (size_t i = 0; i < all.pairs.size() * each; i++) {
			const size_t lane = i / each;

			all.post_atomic(lane,
					atomic(IBV_WR_ATOMIC_FETCH_AND_ADD, i,
					       to.end(all.pairs[lane]->server),
					       0, 1),
					results.sge(8 * i, 8));
		}
		all.complete([] {});
		for (size_t i = 0; i < all.pairs.size() * each; i++)
			seen.push_back(
				word_at(results.inside().subspan(8 * i, 8)));
	}
	moves.stop();
	check_equal(word_at(to.inside()), seen.size(), "sum");
	std::sort(seen.begin(), seen.end());
	for (size_t i = 0; i < seen.size(); i++)
		check_equal(seen[i], i, "what was there");
	check_no_stray(to);
	check_no_stray(results);
}

/* Those of both sides on the same dma-buf, of which some come and go. */
TEST_F(dmabuf_moving, dmabuf_moves_of_several_MRs)
{
	constexpr size_t half = buffer_size / 2;
	dma_buffer buffer(exporter::moving, buffer_size);
	pair p(on.client, on.server);
	const long before = buffer.users();
	{
		const mr_ptr from = try_reg(on.client, buffer.fd(), 0, half, 0);
		const mr_ptr to =
			try_reg(on.server, buffer.fd(), half, half, half);
		std::array<mr_ptr, 4> more;
		mover moves({ &buffer });

		check(from && to, "ibv_reg_dmabuf_mr");
		remote_end there = p.server;
		there.rkey = to->rkey;
		there.address = half;
		for (uint32_t i = 0; i < moves_wanted() / 10; i++) {
			const uint64_t at = uint64_t{ 100 } * i;

			more[i % more.size()] =
				try_reg(on.server, buffer.fd(), at, 70000, at);
			check(more[i % more.size()] != nullptr, "another MR");
			fill(buffer.bytes().first(half), i);
			p.client.post(rdma(IBV_WR_RDMA_WRITE, i, there, 0),
				      { { 0, half, from->lkey } });
			check_wc(p.client.wait_send(), IBV_WC_SUCCESS, "WRITE");
			check_fill(buffer.bytes().subspan(half), i, "WRITE");
		}
		moves.stop();
	}
	wait_for_users(buffer, before);
	check_equal(buffer.stray(), 0U, "stray bytes");
}

/* After ibv_dereg_mr() there is no access, whatever is under way. */
TEST_F(dmabuf_moving, dmabuf_moves_and_dereg)
{
	for (useconds_t round = 0; round < 16; round++) {
		pair p(on.client, on.server);
		region to(on.server, exporter::moving);
		mover moves({ &to.buffer });

		post_writes(p, to);
		usleep(round * 500);
		check_dereg(p, to);
		moves.stop();
		check_no_stray(to);
	}
}

/* WRITEs to an MR of its own until it is killed. */
template <typename F> void write_forever(port &mine, int fd, F ready)
{
	const mr_ptr mr = try_reg(mine, fd);
	pair p(mine, mine);
	remote_end there = p.server;

	check(mr != nullptr, "ibv_reg_dmabuf_mr of the child");
	there.rkey = mr->rkey;
	there.address = mr_iova;
	for (uint64_t i = 0;; i++) {
		p.client.post(rdma(IBV_WR_RDMA_WRITE, i, there, 0),
			      { p.client.sge(0, mr_size) });
		check_wc(p.client.wait_send(), IBV_WC_SUCCESS, "WRITE");
		if (i == 10)
			ready();
	}
}

TEST_F(dmabuf_moving, dmabuf_moves_and_its_context_ends)
{
	for (useconds_t round = 0; round < 5; round++) {
		dma_buffer buffer(exporter::moving, buffer_size);
		const long before = buffer.users();
		other_process child(on.server, [&](port &mine, auto ready) {
			write_forever(mine, buffer.fd(), ready);
		});

		check(child.is_ready(), "the child has failed");
		mover moves({ &buffer });
		usleep(10000 + 300 * round);
		check(child.end(), "the child does not end");
		/* A move is a user, too. */
		moves.stop();
		wait_for_users(buffer, before);
		check_equal(buffer.stray(), 0U, "stray bytes");
	}
}

/*
 * Who is told of a move while it maps the memory has nothing of it, and another one that had
 * it maps it again.
 */
TEST_F(dmabuf_moving, dmabuf_moves_when_mapped)
{
	pair p(on.client, on.server);
	region to(on.server, exporter::moving);
	const long users = to.buffer.users();

	to.mr.reset();
	to.buffer.be_restless();
	to.mr = try_reg(on.server, to.buffer.fd());
	if (copies_by_cpu(on.server)) {
		check(!to.mr, "an MR of memory that has moved");
		check_equal(errno, EBUSY, "errno");
		check_equal(to.buffer.users(), users - 1, "users");
		return;
	}
	check(to.mr != nullptr, "ibv_reg_dmabuf_mr");
	fill(p.client.at(0, mr_size), 7);
	p.client.post(rdma(IBV_WR_RDMA_WRITE, 1, to.end(p.server), 0),
		      { p.client.sge(0, mr_size) });
	check_wc(p.client.wait_send(), IBV_WC_SUCCESS, "WRITE");
	check_fill(to.inside(), 7, "what was written");
	to.buffer.move();
	check_no_stray(to);
}

/* ---- Revocation ---------------------------------------------------------- */

/* What an SGE of revoked memory may give, and a remote address in it. */
constexpr ibv_wc_status local_errors[] = { IBV_WC_LOC_PROT_ERR,
					   IBV_WC_LOC_QP_OP_ERR };
constexpr ibv_wc_status remote_errors[] = { IBV_WC_REM_ACCESS_ERR,
					    IBV_WC_REM_OP_ERR };

/*
 * Messages that were done before revocation have succeeded; then there is one of the
 * @errors, and all others are flushed. The last message began after revocation.
 */
void check_fails(ibv_cq *cq, uint64_t last,
		 std::span<const ibv_wc_status> errors,
		 clock_type::time_point end)
{
	bool failed = false;
	ibv_wc wc{};

	for (uint64_t n = 0; n < last; n++) {
		const auto left =
			std::chrono::duration_cast<std::chrono::milliseconds>(
				end - clock_type::now());

		check(endpoint::wait_for(cq, static_cast<int>(left.count()),
					 wc),
		      "no completion in time after revocation");
		if (failed) {
			check_wc(wc, IBV_WC_WR_FLUSH_ERR, "after the error");
		} else if (wc.status != IBV_WC_SUCCESS) {
			check(std::find(errors.begin(), errors.end(),
					wc.status) != errors.end(),
			      ibv_wc_status_str(wc.status));
			failed = true;
		}
	}
	check(failed, "what began after revocation succeeds");
}

/* An MR on it goes, and there is no other one. */
void check_gone(const port &p, region &r)
{
	const long users = r.buffer.users();

	check_no_stray(r);
	usleep(100000);
	check_no_stray(r);
	check_equal(ibv_dereg_mr(r.mr.release()), 0, "ibv_dereg_mr");
	check_equal(r.buffer.users(), users - 1, "users");
	check(!try_reg(p, r.buffer.fd()), "it is registered again");
	check_equal(errno, ENODEV, "errno");
}

/* Memory of the client, or of the server, is revoked in the middle of traffic. */
void revoke_under_traffic(const ports &on, ibv_wr_opcode opcode, bool local,
			  useconds_t pause)
{
	constexpr uint64_t rounds = 3, last = 4 * rounds + 1;
	lanes all(on);
	region from(on.client, exporter::moving),
		to(on.server, exporter::moving);

	fill(from.inside(), 1);
	fill(to.inside(), 2);
	for (uint64_t i = 0; i < rounds; i++)
		all.post(opcode, from, to);
	usleep(pause);
	(local ? from : to).buffer.revoke();
	/* A second, of a fast host. */
	const auto end = clock_type::now() +
			 std::chrono::milliseconds(timeout_ms() / 10);
	all.post_last(opcode, from, to);
	for (const auto &p : all.pairs) {
		if (local) {
			check_fails(p->client.send_cq.get(), last, local_errors,
				    end);
			continue;
		}
		check_fails(p->client.send_cq.get(), last, remote_errors, end);
		if (opcode == IBV_WR_SEND)
			check_fails(p->server.recv_cq.get(), last, local_errors,
				    end);
	}
	check_no_stray(from);
	check_no_stray(to);
	local ? check_gone(on.client, from) : check_gone(on.server, to);
}

constexpr ibv_wr_opcode opcodes[] = { IBV_WR_RDMA_WRITE, IBV_WR_RDMA_READ,
				      IBV_WR_SEND };
/* Microseconds from the first message to revocation */
constexpr useconds_t pauses[] = { 0, 300, 3000, 100000 };

TEST_F(dmabuf_moving, dmabuf_revoked)
{
	for (ibv_wr_opcode opcode : opcodes)
		for (useconds_t pause : pauses)
			revoke_under_traffic(on, opcode, false, pause);
}

TEST_F(dmabuf_moving, dmabuf_revoked_locally)
{
	for (ibv_wr_opcode opcode : opcodes)
		for (useconds_t pause : pauses)
			revoke_under_traffic(on, opcode, true, pause);
}

/* Other MRs of the QPs work, until those of revoked memory are used. */
TEST_F(dmabuf_moving, dmabuf_revoked_beside_others)
{
	pair p(on.client, on.server);
	region revoked(on.server, exporter::moving),
		to(on.server, exporter::moving);

	revoked.buffer.revoke();
	for (uint32_t seed = 1; seed < 4; seed++) {
		fill(p.client.at(0, mr_size), seed);
		p.client.post(rdma(IBV_WR_RDMA_WRITE, 1, to.end(p.server), 0),
			      { p.client.sge(0, mr_size) });
		check_wc(p.client.wait_send(), IBV_WC_SUCCESS, "WRITE");
		check_fill(to.inside(), seed, "WRITE");
		to.buffer.move();
	}
	p.client.post(rdma(IBV_WR_RDMA_WRITE, 1, revoked.end(p.server), 0),
		      { p.client.sge(0, mr_size) });
	check_fails(p.client.send_cq.get(), 1, remote_errors,
		    clock_type::now() +
			    std::chrono::milliseconds(timeout_ms() / 10));
	check_no_stray(to);
	check_gone(on.server, revoked);
}

/* ---- Exporter ------------------------------------------------------------ */

bool has_vmap_lock()
{
	int major = 0, minor = 0;
	utsname kernel{};

	check(!uname(&kernel), "uname");
	check(std::sscanf(kernel.release, "%d.%d", &major, &minor) == 2,
	      kernel.release);
	return major > 6 || (major == 6 && minor >= 2);
}

class dmabuf_moving_exporter : public verify {
protected:
	dmabuf_moving_exporter()
		: buffer(exporter::moving, buffer_size)
	{
		if (!buffer)
			skip("no ornic_dmabuf_exporter");
	}

	dma_buffer buffer;
};

TEST_F(dmabuf_moving_exporter, dmabuf_exporter_moves)
{
	const long users = buffer.users();

	for (uint32_t seed = 1; seed < 10; seed++) {
		fill(buffer.bytes(), seed);
		buffer.move();
		check_fill(buffer.bytes(), seed, "what has moved");
	}
	buffer.revoke();
	check_equal(buffer.stray(), 0U, "stray bytes");
	check_equal(buffer.users(), users, "users");
}

/*
 * Such MRs need page faults of QPs; and of the soft device, which maps them for the CPU
 * under the lock of the exporter, a kernel that lets it.
 */
TEST_F(dmabuf_moving_exporter, dmabuf_moves_are_taken)
{
	for (const port *p : { &on.client, &on.server }) {
		if (p->is_rxe)
			continue;
		const bool may = has_odp(*p, IBV_ODP_SUPPORT) &&
				 (has_vmap_lock() || !copies_by_cpu(*p));
		const mr_ptr mr = try_reg(*p, buffer.fd());

		if (!mr)
			check_equal(errno, EOPNOTSUPP, p->name + ": errno");
		check_equal(mr != nullptr, may, p->name + ": an MR");
	}
}

} /* namespace */
