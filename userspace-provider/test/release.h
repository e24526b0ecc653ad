/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Releases of rdma-core: what is recorded of them, and playing one. */
#ifndef ORNIC_TEST_RELEASE_H
#define ORNIC_TEST_RELEASE_H

#include <map>
#include <string>
#include <vector>

#include "library.h"

namespace ornic::test
{

using facts = std::map<std::string, std::string>;

/** The releases of which there is a record. */
std::vector<int> recorded_releases();

/** The record of @release. */
facts read_facts(int release);

/** The names of the operations of a release in their order. */
std::vector<std::string> operations_of(const facts &release);

const library_layout &layout_of_release(int release);

/** While it lives, libibverbs has @layout. */
class use_layout {
public:
	explicit use_layout(const library_layout &layout)
		: before_(library)
	{
		library = &layout;
	}
	~use_layout()
	{
		library = before_;
	}
	use_layout(const use_layout &) = delete;
	use_layout &operator=(const use_layout &) = delete;

private:
	const library_layout *before_;
};

} // namespace ornic::test

#endif // ORNIC_TEST_RELEASE_H
