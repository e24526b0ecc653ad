// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * ornic_hang DEVICE GID-INDEX: lets the driver wait for a page that never comes, and says
 * so. At the end of its input it ends, and so does the wait.
 */
#include <unistd.h>

#include <cstdio>
#include <cstdlib>

#include "../verify/hung_file.h"
#include "../verify/verbs.h"

namespace
{

void hang(const std::string &device, int gid_index)
{
	const port on(device, gid_index, "ornic");
	const hung_file file(4096);
	const mr_ptr mr(ibv_reg_mr(on.pd.get(), file.bytes().data(),
				   file.bytes().size(),
				   all_access | IBV_ACCESS_ON_DEMAND));
	char byte;

	check(mr != nullptr, "ibv_reg_mr on demand");
	ibv_sge sge{ reinterpret_cast<uint64_t>(file.bytes().data()), 1,
		     mr->lkey };
	check(!ibv_advise_mr(on.pd.get(), IBV_ADVISE_MR_ADVICE_PREFETCH, 0,
			     &sge, 1),
	      "ibv_advise_mr");
	for (int i = 0; !file.waiting(); i++) {
		check(i < timeout_ms(), "nobody has asked for a page");
		usleep(1000);
	}
	std::puts("hung");
	std::fflush(stdout);
	while (read(0, &byte, 1) == 1)
		;
}

} /* namespace */

int main(int argc, char **argv)
{
	if (argc != 3) {
		std::fprintf(stderr, "usage: %s DEVICE GID-INDEX\n", argv[0]);
		return 2;
	}
	try {
		hang(argv[1], std::atoi(argv[2]));
	} catch (const failure &f) {
		std::printf("FAILED: %s\n", f.what());
		return 1;
	}
	return 0;
}
