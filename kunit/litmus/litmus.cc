// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
// Checks litmus tests of the rings, and the model itself:
//
//	ornic_litmus [-v] [--results=FILE] FILE.litmus...
//
// The result must be what the file says. If that is Never, the same condition must
// be reachable without any single one of the test's barriers, ordered accesses and
// control dependencies. Tests in model/ are those of the model: only their result
// counts.
#include <cstdio>
#include <cstring>
#include <stdexcept>

#include "program.h"

namespace
{

bool verbose;
unsigned int passed, failed;

void report(bool ok, const std::string &what)
{
	(ok ? passed : failed)++;
	if (!ok || verbose)
		std::printf("%s %s\n", ok ? "ok" : "not ok", what.c_str());
}

bool is_of_the_model(const std::string &path)
{
	return path.find("/model/") != std::string::npos;
}

void check(const std::string &path)
{
	litmus::program test = litmus::parse_file(path);
	std::string result = litmus::reachable(test) ? "Sometimes" : "Never";

	report(result == test.result, test.name + ": " + result);
	if (is_of_the_model(path))
		return;
	for (const litmus::weaker &w : litmus::weaken(test))
		report(litmus::reachable(w.test),
		       test.name + ": needs " + w.what);
}

bool write_results(const char *path)
{
	std::FILE *file = std::fopen(path, "w");

	if (!file)
		return false;
	std::fprintf(file, "%u passed, %u failed, 0 skipped\n", passed, failed);
	return !std::fclose(file);
}

} // namespace

int main(int argc, char **argv)
{
	const char *results = nullptr;

	for (int i = 1; i < argc; i++) {
		if (!std::strcmp(argv[i], "-v")) {
			verbose = true;
		} else if (!std::strncmp(argv[i], "--results=", 10)) {
			results = argv[i] + 10;
		} else {
			try {
				check(argv[i]);
			} catch (const std::runtime_error &e) {
				report(false, e.what());
			}
		}
	}
	if (results && !write_results(results))
		return 2;
	return failed || !passed;
}
