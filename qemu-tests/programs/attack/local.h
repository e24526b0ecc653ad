/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#pragma once

#include <gtest/gtest.h>

#include "../verify/verbs.h"

/* What main() was told. */
struct settings {
	std::string device;
	int gid_index;
	unsigned int seconds; /* of each misuse */
	uint64_t seed;
};

class attack : public testing::Test {
public:
	static settings told;

protected:
	static port open()
	{
		return { told.device, told.gid_index, "ornic" };
	}
};

/* The value of a counter of the device. */
uint64_t counter(const std::string &device, const std::string &name);
