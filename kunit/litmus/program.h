/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
// A litmus test as read from its file.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

namespace litmus
{

enum class op { READ, WRITE, EXCHANGE, COMPARE, FENCE, IF };

// What an access orders, or which fence it is.
enum class order { ONCE, ACQUIRE, RELEASE, FULL, MB, WMB, RMB };

// A register of the thread, or a constant.
struct operand {
	bool is_reg = false;
	int value = 0;
};

struct statement {
	op what = op::FENCE;
	order how = order::ONCE;
	int line = 0;
	int reg = -1; // result
	int loc = -1;
	operand a; // stored, or compared (COMPARE, IF)
	operand b; // stored if equal (COMPARE); compared with (IF)
	bool equal = true; // IF: or not
	std::vector<statement> then, otherwise; // IF
};

struct thread {
	std::vector<std::string> regs;
	std::vector<statement> code;
};

// The condition of a final state.
struct condition {
	enum kind { AND, OR, NOT, REG, LOC } what = AND;
	std::vector<condition> parts;
	int thread = -1;
	int index = -1; // register or location
	int value = 0;
};

struct program {
	std::string name;
	std::string result; // "Never" or "Sometimes", of the file's comment
	std::vector<std::string> locs;
	std::map<int, int> init; // others are 0
	std::vector<thread> threads;
	condition exists;
};

/** Parse the file at @path. Throws std::runtime_error with a line number. */
program parse_file(const std::string &path);

/** One barrier, ordered access or dependency less than in a test. */
struct weaker {
	program test;
	std::string what; // is missing, for the report
};

/** Each way to leave out one of them. */
std::vector<weaker> weaken(const program &test);

/**
 * Can the condition of @test hold at the end? By the axioms of the kernel's
 * memory model (tools/memory-model, without RCU, locks and plain accesses).
 */
bool reachable(const program &test);

} // namespace litmus
