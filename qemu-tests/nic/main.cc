// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
// ornic-nic: see ornic-nic(1), or --help.
#include "base.h"
#include "control.h"
#include "options.h"
#include "supervisor.h"

int main(int argc, char **argv)
{
	nic::options opt = nic::parse_options(argc, argv);

	if (!opt.ask_path.empty())
		return nic::ask(opt.ask_path, opt.ask_what);
	// The workers inherit it.
	nic::select_crc32();
	return nic::supervisor(std::move(opt)).run();
}
