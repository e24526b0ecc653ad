/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#pragma once

#include <span>

#include "verbs.h"

/* The two ports of a run: requests go from the client's to the server's. */
struct ports {
	port &client;
	port &server;
};

struct test {
	const char *name;
	void (*run)(const ports &);
};

extern const std::span<const test> transfer_tests;
extern const std::span<const test> order_tests;
extern const std::span<const test> datagram_tests;
extern const std::span<const test> error_tests;
extern const std::span<const test> argument_tests;
extern const std::span<const test> srq_tests;
extern const std::span<const test> xrc_tests;
extern const std::span<const test> cq_tests;
extern const std::span<const test> event_tests;
extern const std::span<const test> key_tests;
extern const std::span<const test> live_tests;
extern const std::span<const test> steady_tests;
