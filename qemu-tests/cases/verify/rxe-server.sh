# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# shellcheck shell=bash
# This test will check bytes, completions, errors and refusals of all verbs
# from ornic to rxe, over RoCEv2 on IPv4.

full_only=1
limit=150
full_limit=300

run()
{
	topology rxe-server 4
	verify
}
