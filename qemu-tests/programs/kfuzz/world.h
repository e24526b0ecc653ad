/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * What the calls of a program share: open files, the objects that earlier calls
 * have made, in a few places of each kind, and mapped queues. All threads use it at
 * once, and what is gone stays in its place, so that it is used again.
 */
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "../verify/dma_buffer.h"
#include "nldev.h"
#include "program.h"

enum kind {
	pd,
	mr,
	cq,
	qp,
	srq,
	ah,
	mw,
	xrcd,
	cntr,
	dm,
	flow,
	wq,
	table,
	num_kinds
};

constexpr std::size_t num_places = 4;
constexpr std::size_t num_contexts = 2;
constexpr std::size_t max_operations = 64;
constexpr std::size_t memory_size = 64 * std::size_t{ 4096 };

struct object {
	std::atomic<uint32_t> handle{ 0 };
	std::atomic<uint32_t> number{ 0 }; /* QPN, CQN, SRQN, key or its like */
	std::atomic<uint64_t> offset{ 0 }, size{ 0 }; /* to be mapped */
	std::atomic<std::byte *> ring{ nullptr };
	std::atomic<uint64_t> mapped{ 0 }; /* bytes */
	std::atomic<uint32_t> rq_offset{ 0 }, sq_stride{ 0 }, rq_stride{ 0 };
};

/* A link that is added again counts from 0. */
struct device_counter {
	const char *name;
	uint64_t last = UINT64_MAX;
	bool has_grown = false;
};

struct context_files {
	std::atomic<int> verbs{ -1 }, async{ -1 }, doorbell{ -1 },
		channel{ -1 };
	std::array<std::array<object, num_places>, num_kinds> objects;
};

struct world {
	world(const std::string &device, const std::string &netdev,
	      const std::string &peer_netdev, int gid_index);

	/* Before and after each program. */
	void begin();
	void end();

	/* A call has done what it is for. */
	void count(const call &c, bool ok)
	{
		if (ok)
			done[c.op]++;
	}
	/* Find the counters of the device that have grown since the last time. */
	void read_counters();

	void open_context(std::size_t n);
	void close_context(std::size_t n);

	/* By the first argument of a call: mostly the first context. */
	context_files &files(const call &c)
	{
		return contexts[(c.arg[0] & 31) == 31];
	}
	object &place(const call &c, kind k, uint64_t which)
	{
		return files(c).objects[k][which % num_places];
	}
	object &place(const call &c, kind k)
	{
		return place(c, k, c.arg[0]);
	}

	std::string device, netdev, peer_netdev;
	int gid_index;
	std::array<uint8_t, 16> gid = {};
	std::string verbs_path;
	std::vector<std::string> attributes;
	std::array<context_files, num_contexts> contexts;
	std::atomic<int> cm{ -1 };
	std::array<std::atomic<uint32_t>, num_places> cm_ids{};
	/* The second one belongs to a user without rights. */
	std::array<int, 2> netlink = { -1, -1 };
	std::array<nldev, num_threads> links;
	int wire = -1; /* a packet socket on the other end of the netdev */
	std::array<uint8_t, 6> netdev_mac = {}, peer_mac = {};
	int peer_index = 0;
	std::byte *memory = nullptr; /* of MRs and rings' SGEs */
	dma_buffer dmabuf; /* of a kernel that has udmabuf */
	std::atomic<int> exported{ -1 }; /* a DM as a dma-buf, the last one */

	std::array<std::atomic<uint64_t>, max_operations> done{};
	std::array<device_counter, 5> counters = { {
		{ "kicks" },
		{ "send_wqes" },
		{ "loop_msgs" },
		{ "rx_packets" },
		{ "acks_sent" },
	} };

private:
	void find_verbs();

	int first_free_ = -1; /* of files that programs leave open */
};

/* Forget a mapping, and unmap it. */
void unmap(object &o);

/* Bytes that the noise of a call damages. */
void damage(std::span<std::byte> bytes, uint32_t noise);

/* A load or store of mapped memory, which may be gone by now. */
bool guarded(void (*access)(std::byte *at, uint64_t value), std::byte *at,
	     uint64_t value);
