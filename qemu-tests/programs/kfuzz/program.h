/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * A program of the fuzzer: calls, each of which names an operation and its
 * arguments. In text, which is what the log has and what --replay takes,
 *
 *	create_qp(0,2,0,1) modify_qp(0,1,0,0)!7@1
 *
 * runs the second call in thread 1, with its structures damaged by the seed 7.
 */
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <random>
#include <string>
#include <vector>

struct world;

struct call {
	unsigned int op = 0; /* an index of operations() */
	std::array<uint64_t, 4> arg = {};
	uint32_t noise = 0; /* 0: the structures as they should be */
	unsigned int thread = 0;
};

using program = std::vector<call>;
using random_source = std::mt19937_64;

struct operation {
	const char *name;
	void (*run)(world &w, const call &c);
	unsigned int weight; /* how often it is chosen */
};

constexpr unsigned int num_threads = 2;

const std::vector<operation> &operations();

std::string to_text(const program &p);
/* Throws failure if it is not a program. */
program to_program(const std::string &text);

program mutate(random_source &random, const program &p, const program &other);
