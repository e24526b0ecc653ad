// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause

#include "release.h"

#include <algorithm>
#include <filesystem>
#include <fstream>

namespace ornic::test
{
namespace
{

/* Where no test uses another. */
const library_layout *const newest = library = &library_layouts.back();

std::map<int, std::filesystem::path> records()
{
	std::map<int, std::filesystem::path> found;

	for (const auto &entry :
	     std::filesystem::directory_iterator(ORNIC_ABI_RECORD)) {
		if (entry.path().extension() == ".facts")
			found[std::stoi(entry.path().stem())] = entry.path();
	}
	return found;
}

} // namespace

std::vector<int> recorded_releases()
{
	std::vector<int> releases;

	for (const auto &[release, path] : records())
		releases.push_back(release);
	return releases;
}

facts read_facts(int release)
{
	std::ifstream file(records().at(release));
	facts found;

	for (std::string line; std::getline(file, line);) {
		std::size_t colon = line.find(": ");

		if (colon != std::string::npos)
			found[line.substr(0, colon)] = line.substr(colon + 2);
	}
	return found;
}

std::vector<std::string> operations_of(const facts &release)
{
	std::vector<std::string> names(operation_count);
	std::size_t count = 0;

	for (const auto &[name, value] : release) {
		std::size_t index = 0;

		if (!name.starts_with("op "))
			continue;
		index = std::stoul(name.substr(3));
		names.at(index) = name.substr(name.rfind(' ') + 1);
		++count;
	}
	names.resize(count);
	return names;
}

const library_layout &layout_of_release(int release)
{
	return *std::find_if(library_layouts.begin(), library_layouts.end(),
			     [release](const library_layout &known) {
				     return release >= known.first &&
					    release <= known.last;
			     });
}

} // namespace ornic::test
