/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Failing a check leaves the test by an exception; objects made so far are
 * destroyed on the way out, and the next test starts from nothing.
 */
#pragma once

#include <stdexcept>
#include <string>

struct failure : std::runtime_error {
	using std::runtime_error::runtime_error;
};

[[noreturn]] void fail(const std::string &what);

inline void check(bool ok, const std::string &what)
{
	if (!ok)
		fail(what);
}

template <typename A, typename B>
void check_equal(A got, B want, const std::string &what)
{
	if (!(got == static_cast<A>(want)))
		fail(what + ": got " +
		     std::to_string(static_cast<long long>(got)) + ", want " +
		     std::to_string(static_cast<long long>(want)));
}
