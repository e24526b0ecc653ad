# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# shellcheck shell=bash
# This test will check bytes, completions, errors and refusals of all verbs
# from rxe to ornic, over RoCEv2 on IPv4.

limit=150
full_limit=300

run()
{
	topology rxe-client 4
	verify
}
