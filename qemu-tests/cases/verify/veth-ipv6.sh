# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# shellcheck shell=bash
# This test will check bytes, completions, errors and refusals of all verbs
# between two namespaces over veth, over RoCEv2 on IPv6.

limit=150
full_limit=300

run()
{
	topology veth 6
	verify
}
