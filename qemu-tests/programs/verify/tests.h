/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#pragma once

#include <gtest/gtest.h>

#include "verbs.h"

/* The two ports of a run: requests go from the client's to the server's. */
struct ports {
	port &client;
	port &server;
};

/* The fixture of all suites; opened by main(). */
class verify : public testing::Test {
public:
	static const ports *opened;
	/* Of path MTUs, 1024 and the largest do. */
	static bool few_mtus;

protected:
	const ports &on = *opened;
};

/* Leaves the test, also from a function that it calls. */
[[noreturn]] void skip(const std::string &why);
/* Skip what rxe, on either side or on the server's, is known to do in its own way. */
void need_ornic(const ports &on);
void need_ornic_server(const ports &on);
