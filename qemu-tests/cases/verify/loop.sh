# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# shellcheck shell=bash
# This test will check bytes, completions, errors and refusals of all verbs
# on one device, over RoCEv2 on IPv4.

limit=150
full_limit=300

run()
{
	topology loop 4
	verify
}
